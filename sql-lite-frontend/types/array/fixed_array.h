#pragma once

#include <cstdint>
#include <span>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

/// Values of a fixed length that are a row of elements, from 0: a point's two numbers, a box's
/// corners. They are read and assigned to as arrays are (`p[0]`), and are none otherwise.
namespace swizzle::sql {

/// Returns the type of the elements of which a value consists, or none. Looks through domains.
TypeId fixed_element(TypeId type) noexcept;

/// NULL where there is no such element. The subscripts are of any number; the value is not NULL.
Value fixed_array_at(TypeId type, const Value& value, std::span<const std::int32_t> subscripts);

/// The value with another element. NULL in the place of either leaves it as it was. Throws 2202E.
Value fixed_array_set(Arena& arena, TypeId type, const Value& value,
                      std::span<const std::int32_t> subscripts, const Value& element);

}  // namespace swizzle::sql
