#pragma once

#include <optional>
#include <span>

#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

namespace swizzle::sql {

inline constexpr int kMaxArrayDimensions = 6;

/// Values from which an array is built; they take several times the array's size, so they are
/// counted.
using CountedValues = CountedVector<Value>;
/// Returns an empty list that is charged to the arena's account.
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
  /// Returns the element at the subscripts; NULL if there are too few or too many, or one is out of
  /// bounds.
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
/// Builds a one-dimensional array with lower bound 1.
Value make_array(Arena& arena, TypeId element_type, std::span<const Value> elements);

/// Bounds of a slice array[lower:upper, …]; an absent bound is that of the dimension.
struct SliceBound {
  std::optional<std::int32_t> lower;
  std::optional<std::int32_t> upper;
};
Value array_slice(Arena& arena, const Value& array, std::span<const SliceBound> bounds);

/// UPDATE t SET a[i] = x. Extends one-dimensional arrays as PostgreSQL does, with NULLs in between.
/// `array` may be NULL. Throws 2202E.
Value array_set_element(Arena& arena, TypeId element_type, const Value& array,
                        std::span<const std::int32_t> subscripts, const Value& element);

/// UPDATE t SET a[lower:upper, …] = x. Assigns the elements of `source` in order, regardless of its
/// shape; surplus elements are ignored. Bounds outside of the array extend it if it is
/// one-dimensional. `array` may be NULL. Throws 2202E.
Value array_set_slice(Arena& arena, TypeId element_type, const Value& array,
                      std::span<const SliceBound> bounds, const Value& source);

/// ARRAY[a, b] of arrays: adds a dimension. NULL counts as an empty array. Throws 2202E.
Value array_of_arrays(Arena& arena, TypeId element_type, std::span<const Value> arrays);

/// Returns the product of the dimensions' lengths. Throws 54000 if it is too large.
std::size_t array_size(std::span<const ArrayDimension> dimensions);

}  // namespace swizzle::sql
