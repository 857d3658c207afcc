#pragma once

#include <span>

#include "sql-lite-frontend/types/function_registry.h"

namespace swizzle::sql {

/// Constructors of a user-defined range or multirange type, with the type's name: from two bounds,
/// optionally with a text like "[)"; from ranges. They have no oid, and live until the end of the
/// process, because an oid keeps its meaning.
std::span<const Function* const> range_makers(TypeId type);

}  // namespace swizzle::sql
