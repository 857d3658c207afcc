#pragma once

#include <cstdint>

#include "sql-lite-frontend/types/function_registry.h"

/// What functions and operators do with texts whose collation is not that of bytes. Those that do
/// the same under any are themselves.
namespace swizzle::sql {

/// Lives as long as the process, as built-in functions do.
const Function& under_collation(const Function& function, std::uint32_t collation);
const Operator& under_collation(const Operator& op, std::uint32_t collation);

/// What the function does for a type that follows its database (citext), which says with each call
/// by which locale it is; null where that makes no difference.
ScalarFunction as_database_orders(const Function& function);

}  // namespace swizzle::sql
