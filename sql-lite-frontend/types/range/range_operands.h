#pragma once

#include <span>
#include <vector>

#include "sql-lite-frontend/types/range/range.h"

namespace swizzle::sql {

/// A range counts as a list of at most one span, so that one function serves ranges and
/// multiranges.
enum class RangeForm : std::uint8_t { range, multirange };

template <RangeForm form>
class RangeOperand;

template <>
class RangeOperand<RangeForm::range> {
 public:
  explicit RangeOperand(const Value& value) : view_{value} {}
  [[nodiscard]] std::span<const Span> spans() const noexcept {
    return {&view_.span(), view_.empty() ? 0U : 1U};
  }
  [[nodiscard]] TypeId range_type() const noexcept { return view_.type(); }

 private:
  RangeView view_;
};

template <>
class RangeOperand<RangeForm::multirange> {
 public:
  explicit RangeOperand(const Value& value)
      : spans_{spans_of(value)}, type_{range_of_multirange(type_of_range(value))} {}
  [[nodiscard]] std::span<const Span> spans() const noexcept { return spans_; }
  [[nodiscard]] TypeId range_type() const noexcept { return type_; }

 private:
  std::vector<Span> spans_;
  TypeId type_;
};

using SpanList = std::span<const Span>;

// Both lists are sorted, and their spans do not touch.
bool spans_contain(const BoundOrder& order, SpanList a, SpanList b);
bool spans_contain(const BoundOrder& order, SpanList a, const Value& element);
bool spans_overlap(const BoundOrder& order, SpanList a, SpanList b);
std::vector<Span> spans_intersection(const BoundOrder& order, SpanList a, SpanList b);
std::vector<Span> spans_difference(const BoundOrder& order, SpanList a, SpanList b);

}  // namespace swizzle::sql
