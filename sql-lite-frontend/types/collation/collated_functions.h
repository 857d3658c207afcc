#pragma once

#include <cstdint>

#include "sql-lite-frontend/types/function_registry.h"

/// Variants of functions and operators for texts whose collation is not the order of bytes.
/// Functions whose result does not depend on it have no variant.
namespace swizzle::sql {

/// Returns the variant of the function, which lives until the end of the process.
const Function& under_collation(const Function& function, std::uint32_t collation);
const Operator& under_collation(const Operator& op, std::uint32_t collation);

/// Returns the variant of a function for a type ordered by its database (citext): each call
/// provides the locale. Null if the locale makes no difference.
ScalarFunction as_database_orders(const Function& function);

}  // namespace swizzle::sql
