#pragma once

#include <vector>

#include "base/bytes.h"
#include "sql-lite-frontend/types/arena.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/type_id.h"

/// Ranges and multiranges as run-time values. Both say in front of which type they are, so that
/// they can be compared where only the value is known.
namespace swizzle::sql {

/// One end of a range. Without a value it is infinite, and not inclusive.
struct RangeBound {
  Value value;
  bool inclusive = false;

  [[nodiscard]] bool infinite() const noexcept { return value.is_null(); }
};

/// Values between two bounds. Bounds refer to the range's bytes.
struct Span {
  RangeBound lower;
  RangeBound upper;
};

/// Orders the bounds of one range type.
class BoundOrder {
 public:
  /// Pre: it is a range type that is known.
  explicit BoundOrder(TypeId range);

  [[nodiscard]] int lowers(const RangeBound& a, const RangeBound& b) const;
  [[nodiscard]] int uppers(const RangeBound& a, const RangeBound& b) const;
  /// Negative where everything below the upper bound lies before the lower one.
  [[nodiscard]] int upper_to_lower(const RangeBound& upper, const RangeBound& lower) const;
  /// True if nothing lies between the bounds, and they do not overlap.
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

/// Reads a range: u32 its type | u8 flags | where both bounds have a value u32 bytes of the lower |
/// the bounds in flat form. XX001 for malformed bytes.
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

/// The type in front of a range or multirange.
TypeId type_of_range(const Value& value);

/// Makes a range in canonical form: whole numbers and days as [a,b). 22000 if the lower bound is
/// above the upper one. Pre: `type` is a range.
Value make_range(Arena& arena, TypeId type, Span span);
Value empty_range(Arena& arena, TypeId type);

/// The ranges of a multirange: u32 its type | u32 count | u32 end of each | the ranges.
std::vector<Span> spans_of(const Value& multirange);
/// Makes a multirange in canonical form: in order, without empty spans, with adjacent ones joined.
/// The spans may come in any order.
Value make_multirange(Arena& arena, TypeId type, std::vector<Span> spans);
/// Pre: the spans are as make_multirange() would leave them.
Value multirange_from_canonical(Arena& arena, TypeId type, std::vector<Span> spans);

// As the types' order.
int compare_ranges(const Value& a, const Value& b);
int compare_multiranges(const Value& a, const Value& b);

}  // namespace swizzle::sql
