#include "sql-lite-frontend/types/range/range.h"

#include <algorithm>
#include <limits>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

// PostgreSQL's flags, also used in the binary form.
constexpr unsigned kEmpty = 0x01;
constexpr unsigned kLowerInclusive = 0x02;
constexpr unsigned kUpperInclusive = 0x04;
constexpr unsigned kLowerInfinite = 0x08;
constexpr unsigned kUpperInfinite = 0x10;

constexpr std::size_t kFlagsAt = sizeof(std::uint32_t);
constexpr std::size_t kRangeHead = kFlagsAt + 1;
constexpr std::size_t kMultirangeHead = 2 * sizeof(std::uint32_t);

[[noreturn]] void corrupt() {
  throw SqlError{sqlstate::data_corrupted, "a stored range is malformed"};
}

template <class T>
void append_raw(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

unsigned flags_of(const Span& span) noexcept {
  return (span.lower.inclusive ? kLowerInclusive : 0U) |
         (span.upper.inclusive ? kUpperInclusive : 0U) |
         (span.lower.infinite() ? kLowerInfinite : 0U) |
         (span.upper.infinite() ? kUpperInfinite : 0U);
}

std::string encoded(TypeId type, const Span& span) {
  const Shape shape = shape_of(range_subtype(type));
  std::string out;
  append_raw(out, raw(type));
  out.push_back(static_cast<char>(flags_of(span)));
  const bool both = !span.lower.infinite() && !span.upper.infinite();
  const std::size_t length_at = out.size();
  if (both) append_raw(out, std::uint32_t{0});
  const std::size_t start = out.size();
  if (!span.lower.infinite()) append_flat(out, shape, span.lower.value);
  if (both) {
    const auto length = static_cast<std::uint32_t>(out.size() - start);
    std::memcpy(out.data() + length_at, &length, sizeof length);
  }
  if (!span.upper.infinite()) append_flat(out, shape, span.upper.value);
  return out;
}

/// True if the range has a canonical function; only built-in ones have.
bool is_discrete(TypeId range, TypeId subtype) noexcept {
  if (is_user_range(range)) return false;
  return subtype == TypeId::int4 || subtype == TypeId::int8 || subtype == TypeId::date;
}

/// The value after one of a discrete subtype.
Value next_value(TypeId subtype, const Value& value) {
  const std::int64_t number = value.as_int8();
  if (subtype == TypeId::date && !is_valid_date(number + 1))
    throw SqlError{sqlstate::datetime_field_overflow, "date out of range"};
  const std::int64_t last =
      subtype == TypeId::int8 ? std::numeric_limits<std::int64_t>::max() : INT32_MAX;
  if (number == last)
    throw_error(sqlstate::numeric_value_out_of_range, "{} out of range",
                subtype == TypeId::int8 ? "bigint" : "integer");
  return Value::from_int(number + 1);
}

/// Infinite dates have no neighbours: they stay as they are.
bool has_next(TypeId subtype, const RangeBound& bound) noexcept {
  return !bound.infinite() && (subtype != TypeId::date || !is_infinite_date(bound.value.as_int4()));
}

Span canonical(TypeId range, Span span) {
  const TypeId subtype = range_subtype(range);
  if (!is_discrete(range, subtype)) return span;
  if (has_next(subtype, span.lower) && !span.lower.inclusive)
    span.lower = {next_value(subtype, span.lower.value), true};
  if (has_next(subtype, span.upper) && span.upper.inclusive)
    span.upper = {next_value(subtype, span.upper.value), false};
  return span;
}

}  // namespace

BoundOrder::BoundOrder(TypeId range) : compare_{ordered(range_bound_type(range))} {}

int BoundOrder::lowers(const RangeBound& a, const RangeBound& b) const {
  if (a.infinite() || b.infinite())
    return static_cast<int>(b.infinite()) - static_cast<int>(a.infinite());
  const int by = compare_(a.value, b.value);
  return by != 0 ? by : static_cast<int>(b.inclusive) - static_cast<int>(a.inclusive);
}

int BoundOrder::uppers(const RangeBound& a, const RangeBound& b) const {
  if (a.infinite() || b.infinite())
    return static_cast<int>(a.infinite()) - static_cast<int>(b.infinite());
  const int by = compare_(a.value, b.value);
  return by != 0 ? by : static_cast<int>(a.inclusive) - static_cast<int>(b.inclusive);
}

int BoundOrder::upper_to_lower(const RangeBound& upper, const RangeBound& lower) const {
  if (upper.infinite() || lower.infinite()) return 1;
  const int by = compare_(upper.value, lower.value);
  if (by != 0) return by;
  return upper.inclusive && lower.inclusive ? 0 : -1;
}

bool BoundOrder::adjacent(const RangeBound& upper, const RangeBound& lower) const {
  if (upper.infinite() || lower.infinite()) return false;
  return compare_(upper.value, lower.value) == 0 && upper.inclusive != lower.inclusive;
}

bool BoundOrder::overlap(const Span& a, const Span& b) const {
  return upper_to_lower(a.upper, b.lower) >= 0 && upper_to_lower(b.upper, a.lower) >= 0;
}

bool BoundOrder::contains(const Span& a, const Span& b) const {
  return lowers(a.lower, b.lower) <= 0 && uppers(a.upper, b.upper) >= 0;
}

bool BoundOrder::contains(const Span& a, const Value& element) const {
  const RangeBound bound{element, true};
  return contains(a, Span{bound, bound});
}

int BoundOrder::spans(const Span& a, const Span& b) const {
  const int by = lowers(a.lower, b.lower);
  return by != 0 ? by : uppers(a.upper, b.upper);
}

TypeId type_of_range(const Value& value) {
  const Bytes bytes = value.as_bytes();
  if (bytes.size() < sizeof(std::uint32_t)) corrupt();
  return TypeId{load<std::uint32_t>(bytes.data())};
}

RangeView::RangeView(const Value& range) {
  const Bytes bytes = range.as_bytes();
  if (bytes.size() < kRangeHead) corrupt();
  type_ = type_of_range(range);
  const TypeId subtype = range_subtype(type_);
  if (subtype == TypeId::none) corrupt();
  const unsigned flags = std::to_integer<unsigned>(bytes[kFlagsAt]);
  empty_ = (flags & kEmpty) != 0;
  if (empty_) return;
  const Shape shape = shape_of(subtype);
  const bool has_lower = (flags & kLowerInfinite) == 0;
  const bool has_upper = (flags & kUpperInfinite) == 0;
  Bytes rest = bytes.subspan(kRangeHead);
  Bytes lower = rest;
  if (has_lower && has_upper) {
    if (rest.size() < sizeof(std::uint32_t)) corrupt();
    const std::size_t length = load<std::uint32_t>(rest.data());
    rest = rest.subspan(sizeof(std::uint32_t));
    if (length > rest.size()) corrupt();
    lower = rest.first(length);
    rest = rest.subspan(length);
  }
  if (has_lower) span_.lower = {read_flat(shape, lower), (flags & kLowerInclusive) != 0};
  if (has_upper) span_.upper = {read_flat(shape, rest), (flags & kUpperInclusive) != 0};
}

Value empty_range(Arena& arena, TypeId type) {
  std::string out;
  append_raw(out, raw(type));
  out.push_back(static_cast<char>(kEmpty));
  return make_text(arena, out);
}

namespace {

/// As make_range(); returns false if the range is empty.
bool make_canonical(TypeId type, Span& span) {
  if (span.lower.infinite()) span.lower.inclusive = false;
  if (span.upper.infinite()) span.upper.inclusive = false;
  if (span.lower.infinite() || span.upper.infinite()) {
    span = canonical(type, span);
    return true;
  }
  const BoundOrder order{type};
  const int by = order.values(span.lower.value, span.upper.value);
  if (by > 0)
    throw SqlError{SqlState{"22000"},
                   "range lower bound must be less than or equal to range upper bound"};
  if (by == 0 && !(span.lower.inclusive && span.upper.inclusive)) return false;
  span = canonical(type, span);
  // (1,2) of whole numbers has become [2,2).
  const int left = order.values(span.lower.value, span.upper.value);
  return left < 0 || (left == 0 && span.lower.inclusive && span.upper.inclusive);
}

}  // namespace

Value make_range(Arena& arena, TypeId type, Span span) {
  return make_canonical(type, span) ? make_text(arena, encoded(type, span))
                                    : empty_range(arena, type);
}

std::vector<Span> spans_of(const Value& multirange) {
  const Bytes bytes = multirange.as_bytes();
  if (bytes.size() < kMultirangeHead) corrupt();
  const std::size_t count = load<std::uint32_t>(bytes.data() + sizeof(std::uint32_t));
  if ((bytes.size() - kMultirangeHead) / sizeof(std::uint32_t) < count) corrupt();
  const std::size_t start = kMultirangeHead + count * sizeof(std::uint32_t);
  std::vector<Span> spans;
  spans.reserve(count);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < count; ++i) {
    yield_point(10);
    const std::size_t end =
        load<std::uint32_t>(bytes.data() + kMultirangeHead + i * sizeof(std::uint32_t));
    if (end < begin || end > bytes.size() - start) corrupt();
    const RangeView view{Value::from_bytes(bytes.subspan(start + begin, end - begin))};
    if (view.empty()) corrupt();
    spans.push_back(view.span());
    begin = end;
  }
  return spans;
}

Value multirange_from_canonical(Arena& arena, TypeId type, std::vector<Span> spans) {
  const TypeId range = range_of_multirange(type);
  std::string head;
  append_raw(head, raw(type));
  append_raw(head, static_cast<std::uint32_t>(spans.size()));
  std::string body;
  for (const Span& span : spans) {
    yield_point(20);
    body += encoded(range, span);
    append_raw(head, static_cast<std::uint32_t>(body.size()));
  }
  return make_text(arena, head + body);
}

Value make_multirange(Arena& arena, TypeId type, std::vector<Span> spans) {
  const BoundOrder order{range_of_multirange(type)};
  std::ranges::sort(spans, [&](const Span& a, const Span& b) {
    yield_point(10);
    return order.spans(a, b) < 0;
  });
  std::vector<Span> joined;
  for (const Span& span : spans) {
    yield_point(10);
    if (!joined.empty()) {
      Span& last = joined.back();
      if (order.overlap(last, span) || order.adjacent(last.upper, span.lower)) {
        // Of bounds that are equal and look otherwise (1.0 and 1.00), as PostgreSQL, the later.
        if (order.lowers(last.lower, span.lower) == 0) last.lower = span.lower;
        if (order.uppers(last.upper, span.upper) <= 0) last.upper = span.upper;
        continue;
      }
    }
    joined.push_back(span);
  }
  return multirange_from_canonical(arena, type, std::move(joined));
}

int compare_ranges(const Value& a, const Value& b) {
  check_stack();
  const RangeView left{a};
  const RangeView right{b};
  if (left.empty() || right.empty())
    return static_cast<int>(right.empty()) - static_cast<int>(left.empty());
  return BoundOrder{left.type()}.spans(left.span(), right.span());
}

int compare_multiranges(const Value& a, const Value& b) {
  check_stack();
  const std::vector<Span> left = spans_of(a);
  const std::vector<Span> right = spans_of(b);
  const std::size_t common = std::min(left.size(), right.size());
  if (common > 0) {
    const BoundOrder order{range_of_multirange(type_of_range(a))};
    for (std::size_t i = 0; i < common; ++i)
      if (const int by = order.spans(left[i], right[i]); by != 0) return by;
  }
  return order_of(left.size(), right.size());
}

}  // namespace swizzle::sql
