#pragma once

#include <cstdint>
#include <string_view>

#include "sql-lite-frontend/bind/scope.h"

namespace swizzle::sql {

/// What of the FROM clause is called so, `schema` perhaps empty; null: nothing. Throws 42P09 where
/// tables of different schemas stand beside each other under that name.
const ScopeItem* find_item(const Scope& scope, std::string_view schema, std::string_view alias,
                           std::int32_t location);

}  // namespace swizzle::sql
