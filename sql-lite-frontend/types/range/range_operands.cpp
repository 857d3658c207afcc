#include "sql-lite-frontend/types/range/range_operands.h"

#include <algorithm>

#include "base/runtime/long_work.h"

namespace swizzle::sql {
namespace {

/// Returns the first span that does not end before `span` begins; null if all do.
const Span* first_reaching(const BoundOrder& order, SpanList spans, const Span& span) {
  const auto found = std::ranges::partition_point(spans, [&](const Span& candidate) {
    yield_point(5);
    return order.upper_to_lower(candidate.upper, span.lower) < 0;
  });
  return found == spans.end() ? nullptr : &*found;
}

RangeBound lower_after(const RangeBound& upper) {
  return {upper.value, !upper.inclusive};
}
RangeBound upper_before(const RangeBound& lower) {
  return {lower.value, !lower.inclusive};
}

}  // namespace

bool spans_contain(const BoundOrder& order, SpanList a, SpanList b) {
  return std::ranges::all_of(b, [&](const Span& span) {
    const Span* const candidate = first_reaching(order, a, span);
    return candidate != nullptr && order.contains(*candidate, span);
  });
}

bool spans_contain(const BoundOrder& order, SpanList a, const Value& element) {
  const RangeBound bound{element, true};
  const Span* const candidate = first_reaching(order, a, {bound, bound});
  return candidate != nullptr && order.contains(*candidate, element);
}

bool spans_overlap(const BoundOrder& order, SpanList a, SpanList b) {
  if (a.size() < b.size()) std::swap(a, b);
  return std::ranges::any_of(b, [&](const Span& span) {
    const Span* const candidate = first_reaching(order, a, span);
    return candidate != nullptr && order.overlap(*candidate, span);
  });
}

std::vector<Span> spans_intersection(const BoundOrder& order, SpanList a, SpanList b) {
  std::vector<Span> common;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    yield_point(10);
    if (order.overlap(a[i], b[j])) {
      common.push_back({order.lowers(a[i].lower, b[j].lower) >= 0 ? a[i].lower : b[j].lower,
                        order.uppers(a[i].upper, b[j].upper) <= 0 ? a[i].upper : b[j].upper});
    }
    if (order.uppers(a[i].upper, b[j].upper) < 0)
      ++i;
    else
      ++j;
  }
  return common;
}

std::vector<Span> spans_difference(const BoundOrder& order, SpanList a, SpanList b) {
  std::vector<Span> left;
  std::size_t j = 0;
  for (Span span : a) {
    while (j < b.size() && order.upper_to_lower(b[j].upper, span.lower) < 0) ++j;
    bool rest = true;
    for (std::size_t k = j; rest && k < b.size() && order.overlap(span, b[k]); ++k) {
      yield_point(10);
      if (order.lowers(span.lower, b[k].lower) < 0)
        left.push_back({span.lower, upper_before(b[k].lower)});
      rest = order.uppers(span.upper, b[k].upper) > 0;
      if (rest) span.lower = lower_after(b[k].upper);
    }
    if (rest) left.push_back(span);
  }
  return left;
}

}  // namespace swizzle::sql
