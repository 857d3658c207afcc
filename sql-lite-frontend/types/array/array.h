#pragma once

#include <optional>
#include <span>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

inline constexpr int kMaxArrayDimensions = 6;

/// Values on their way into an array: many times as large as there.
using CountedValues = CountedVector<Value>;
/// An empty list that counts where the arena does.
inline CountedValues counted_values(const Arena& arena) {
  return CountedValues{CountedAllocator<Value>{arena.account()}};
}

struct ArrayDimension {
  std::int32_t length = 0;
  std::int32_t lower = 1;
  friend constexpr bool operator==(const ArrayDimension&, const ArrayDimension&) = default;
};

/// Reads an array value: u32 element type | u32 dimension count | u32 element count |
/// dimensions | u32 end offset per element (top bit: NULL) | elements in flat form.
/// Elements are found in constant time and refer to the array's bytes.
class ArrayView {
 public:
  /// Throws SqlError XX001 on malformed bytes.
  explicit ArrayView(const Value& array);

  [[nodiscard]] TypeId element_type() const noexcept { return element_type_; }
  [[nodiscard]] std::size_t dimension_count() const noexcept { return dimensions_; }
  [[nodiscard]] ArrayDimension dimension(std::size_t index) const;
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool has_nulls() const noexcept;
  /// Returns an element, in row-major order.
  [[nodiscard]] Value element(std::size_t index) const;
  /// The element at the subscripts, NULL if there is none (too few, too many, out of bounds).
  [[nodiscard]] Value at(std::span<const std::int32_t> subscripts) const;

 private:
  Bytes bytes_;
  TypeId element_type_;
  Shape shape_;
  std::uint32_t dimensions_;
  std::uint32_t count_;
  std::size_t offsets_start_;
  std::size_t elements_start_;
};

/// Builds an array in `arena`. Pre: the dimensions' lengths multiply to elements.size(); an empty
/// array has no dimensions.
Value make_array(Arena& arena, TypeId element_type, std::span<const ArrayDimension> dimensions,
                 std::span<const Value> elements);
/// One dimension from 1.
Value make_array(Arena& arena, TypeId element_type, std::span<const Value> elements);

/// array[lower:upper, …]; an absent bound is the dimension's own.
struct SliceBound {
  std::optional<std::int32_t> lower;
  std::optional<std::int32_t> upper;
};
Value array_slice(Arena& arena, const Value& array, std::span<const SliceBound> bounds);

/// For UPDATE t SET a[i] = x: extends one-dimensional arrays as PostgreSQL does, with NULLs in
/// between. `array` may be NULL. Throws 2202E.
Value array_set_element(Arena& arena, TypeId element_type, const Value& array,
                        std::span<const std::int32_t> subscripts, const Value& element);

/// For UPDATE t SET a[lower:upper, …] = x: the elements of `source` in their order, whatever its
/// shape; those that it has too many are left. Bounds outside extend a one-dimensional array, as an
/// element does. `array` may be NULL. Throws 2202E.
Value array_set_slice(Arena& arena, TypeId element_type, const Value& array,
                      std::span<const SliceBound> bounds, const Value& source);

/// ARRAY[a, b] of arrays: one dimension more. NULL is as an empty one. Throws 2202E.
Value array_of_arrays(Arena& arena, TypeId element_type, std::span<const Value> arrays);

/// The product of the lengths. Throws 54000 if too large.
std::size_t array_size(std::span<const ArrayDimension> dimensions);

}  // namespace swizzle::sql
