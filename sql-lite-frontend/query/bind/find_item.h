#pragma once

#include <cstdint>
#include <string_view>

#include "sql-lite-frontend/query/bind/scope.h"

namespace swizzle::sql {

/// Returns the item of the FROM clause with that name; `schema` may be empty. Null if there is
/// none. Throws 42P09 if tables of different schemas have that name.
const ScopeItem* find_item(const Scope& scope, std::string_view schema, std::string_view alias,
                           std::int32_t location);

}  // namespace swizzle::sql
