#pragma once

#include <string>
#include <string_view>

#include "sql-lite-frontend/types/function_context.h"

namespace swizzle::sql {

struct Typed {
  TypeId type = TypeId::unknown;
  Value value;
};

/// Parses and evaluates scalar SQL expressions for the tests: literals, casts, calls (named and
/// variadic arguments), ARRAY[…], prefix and binary operators. All binary operators have one
/// precedence, so the tests use parentheses.
Typed evaluate_expression(FunctionContext& context, std::string_view text);

/// Returns "type<TAB>value" as PostgreSQL prints them, or "!SQLSTATE message". Newlines show as
/// .
std::string answer_expression(FunctionContext& context, std::string_view text);

/// Returns the rows of a set-returning call, joined by ';'.
std::string answer_set(FunctionContext& context, std::string_view text);

/// Returns the result of an aggregate, `name(element_type)`, over the elements of an array literal.
std::string answer_aggregate(FunctionContext& context, std::string_view name,
                             std::string_view element_type, std::string_view array);

}  // namespace swizzle::sql
