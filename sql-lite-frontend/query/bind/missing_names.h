#pragma once

#include <string_view>

#include "sql-lite-frontend/query/bind/scope.h"

/// Errors for unknown names, with suggestions for the intended name.
namespace swizzle::sql {

/// 42P01; `schema` may be empty.
[[noreturn]] void throw_missing_table(const Scope& scope, std::string_view schema,
                                      std::string_view table, std::int32_t location);

/// 42703; `table` is empty for an unqualified column.
[[noreturn]] void throw_missing_column(const Scope& scope, std::string_view table,
                                       std::string_view column, std::int32_t location);

/// Throws 42P10 for a LATERAL reference to an item that an outer join does not allow it to read.
void require_lateral(const ScopeItem& item, std::int32_t location);

}  // namespace swizzle::sql
