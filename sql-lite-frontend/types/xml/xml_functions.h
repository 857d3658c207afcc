#pragma once

#include <memory>
#include <span>

#include "sql-lite-frontend/types/function_registry.h"

namespace swizzle::sql::xml {

/// xpath(path, value [, namespaces]).
Value xpath(FunctionContext& context, std::span<const Value> arguments);
Value xpath_exists(FunctionContext& context, std::span<const Value> arguments);

/// XMLTABLE as a set-returning function. Arguments: the document, the rows' path, an array of
/// namespace prefixes and one of their addresses; then, for each column of the call's row shape,
/// its path and its default as text; last, one letter for each column: 'o' for FOR ORDINALITY, 'n'
/// for NOT NULL.
const Function& table_function();

}  // namespace swizzle::sql::xml
