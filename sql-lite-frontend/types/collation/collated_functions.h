#pragma once

#include <cstdint>

#include "sql-lite-frontend/types/function_registry.h"

/// Variants of functions and operators for texts whose collation is not the order of bytes.
/// Functions whose result does not depend on it have no variant.
namespace swizzle::sql {

/// Lives as long as the process, as built-in functions do.
const Function& under_collation(const Function& function, std::uint32_t collation);
const Operator& under_collation(const Operator& op, std::uint32_t collation);

/// Returns the variant of the function for a type that follows its database (citext), to which each
/// call gives the locale; null if the locale makes no difference.
ScalarFunction as_database_orders(const Function& function);

}  // namespace swizzle::sql
