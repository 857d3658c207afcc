#pragma once

#include <vector>

#include "base/bytes.h"
#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

/// Ranges and multiranges as run-time values. Both begin with their type's oid, so that they can be
/// compared without knowing their type.
namespace swizzle::sql {

/// One bound of a range. Without a value it is infinite, and not inclusive.
struct RangeBound {
  Value value;
  bool inclusive = false;

  [[nodiscard]] bool infinite() const noexcept { return value.is_null(); }
};

/// The interval between two bounds, which refer to the range's bytes.
struct Span {
  RangeBound lower;
  RangeBound upper;
};

/// Orders the bounds of one range type.
class BoundOrder {
 public:
  /// Pre: `range` is a known range type.
  explicit BoundOrder(TypeId range);

  [[nodiscard]] int lowers(const RangeBound& a, const RangeBound& b) const;
  [[nodiscard]] int uppers(const RangeBound& a, const RangeBound& b) const;
  /// Returns a negative number if all values below the upper bound are below the lower one.
  [[nodiscard]] int upper_to_lower(const RangeBound& upper, const RangeBound& lower) const;
  /// True if no value is between the bounds and they do not overlap.
  [[nodiscard]] bool adjacent(const RangeBound& upper, const RangeBound& lower) const;
  [[nodiscard]] int values(const Value& a, const Value& b) const { return compare_(a, b); }

  [[nodiscard]] bool overlap(const Span& a, const Span& b) const;
  [[nodiscard]] bool contains(const Span& a, const Span& b) const;
  [[nodiscard]] bool contains(const Span& a, const Value& element) const;
  /// Compares by the lower bounds, then by the upper ones.
  [[nodiscard]] int spans(const Span& a, const Span& b) const;

 private:
  CompareFunction compare_;
};

/// Decodes a range: u32 type | u8 flags | if both bounds have a value, u32 size of the lower | the
/// bounds in flat form. Throws XX001 if it is malformed.
class RangeView {
 public:
  explicit RangeView(const Value& range);

  [[nodiscard]] TypeId type() const noexcept { return type_; }
  [[nodiscard]] bool empty() const noexcept { return empty_; }
  /// Pre: not empty.
  [[nodiscard]] const Span& span() const noexcept { return span_; }

 private:
  TypeId type_ = TypeId::none;
  bool empty_ = false;
  Span span_;
};

/// Returns the type stored in a range or multirange.
TypeId type_of_range(const Value& value);

/// Builds a range in canonical form: [a,b) for integers and dates. Throws 22000 if the lower bound
/// is above the upper one. Pre: `type` is a range.
Value make_range(Arena& arena, TypeId type, Span span);
Value empty_range(Arena& arena, TypeId type);

/// Decodes a multirange: u32 type | u32 count | u32 end of each range | the ranges.
std::vector<Span> spans_of(const Value& multirange);
/// Builds a multirange in canonical form: sorted, without empty ranges, adjacent ones merged. The
/// spans may be in any order.
Value make_multirange(Arena& arena, TypeId type, std::vector<Span> spans);
/// Pre: the spans are in the form that make_multirange() produces.
Value multirange_from_canonical(Arena& arena, TypeId type, std::vector<Span> spans);

// Orders of the types.
int compare_ranges(const Value& a, const Value& b);
int compare_multiranges(const Value& a, const Value& b);

}  // namespace swizzle::sql
