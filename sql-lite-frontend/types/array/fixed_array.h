#pragma once

#include <cstdint>
#include <span>

#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

/// Types of fixed length that consist of elements of one type, counted from 0: a point's two
/// numbers, a box's corners. They can be read and assigned with subscripts (`p[0]`), but are not
/// arrays otherwise.
namespace swizzle::sql {

/// Returns the element type, or none. Looks through domains.
TypeId fixed_element(TypeId type) noexcept;

/// Returns the element; NULL if there is none. Any number of subscripts is allowed; the value is
/// not NULL.
Value fixed_array_at(TypeId type, const Value& value, std::span<const std::int32_t> subscripts);

/// Returns the value with an element replaced. A NULL value or element leaves it unchanged. Throws
/// 2202E.
Value fixed_array_set(Arena& arena, TypeId type, const Value& value,
                      std::span<const std::int32_t> subscripts, const Value& element);

}  // namespace swizzle::sql
