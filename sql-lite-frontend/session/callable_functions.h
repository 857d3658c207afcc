#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/function_registry.h"

/// What SQL can call by pg_proc's names and numbers, whoever runs it: the types' functions and
/// those that know the session.
namespace swizzle::sql {

/// pg_proc's rows, by number.
std::span<const Function* const> callable_functions();
/// Null when there is none.
const Function* find_callable_function(std::uint32_t oid);
std::vector<const Function*> callable_functions_named(std::string_view name);
/// Whether PostgreSQL has several of that name, so that it does not say which one is meant.
bool is_ambiguous_function(std::string_view name);

/// Functions that only superusers may call, unlike all others.
bool is_for_superusers(std::string_view name);

}  // namespace swizzle::sql
