#pragma once

#include <span>

#include "sql-lite-frontend/types/function_registry.h"

namespace swizzle::sql {

/// The functions that have the name of a range or multirange that a user made, and make values of
/// it: of two bounds, of two bounds and a text as "[)"; of ranges. They have no number. They stay
/// as long as the process: a type's number means the same type for good.
std::span<const Function* const> range_makers(TypeId type);

}  // namespace swizzle::sql
