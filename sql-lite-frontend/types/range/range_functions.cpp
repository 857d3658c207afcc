#include "sql-lite-frontend/types/range/range_functions.h"

#include <algorithm>
#include <array>
#include <optional>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/range/range_operands.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
constexpr SqlState kDataException{"22000"};
constexpr RangeForm kRange = RangeForm::range;
constexpr RangeForm kMultirange = RangeForm::multirange;

/// Applies a test to two operands, each a range or a multirange.
template <class Test, RangeForm left, RangeForm right>
Value test_both(FunctionContext&, Arguments a) {
  const RangeOperand<left> first{a[0]};
  const RangeOperand<right> second{a[1]};
  return Value::from_bool(Test{}(BoundOrder{first.range_type()}, first.spans(), second.spans()));
}

struct Contains {
  bool operator()(const BoundOrder& order, SpanList a, SpanList b) const {
    return spans_contain(order, a, b);
  }
};
struct Overlaps {
  bool operator()(const BoundOrder& order, SpanList a, SpanList b) const {
    return spans_overlap(order, a, b);
  }
};
struct Before {
  bool operator()(const BoundOrder& order, SpanList a, SpanList b) const {
    return !a.empty() && !b.empty() && order.upper_to_lower(a.back().upper, b.front().lower) < 0;
  }
};
/// True if the first does not extend to the right of the second (&<).
struct NotBehind {
  bool operator()(const BoundOrder& order, SpanList a, SpanList b) const {
    return !a.empty() && !b.empty() && order.uppers(a.back().upper, b.back().upper) <= 0;
  }
};
struct NotBefore {
  bool operator()(const BoundOrder& order, SpanList a, SpanList b) const {
    return !a.empty() && !b.empty() && order.lowers(a.front().lower, b.front().lower) >= 0;
  }
};
struct Adjacent {
  bool operator()(const BoundOrder& order, SpanList a, SpanList b) const {
    return !a.empty() && !b.empty() &&
           (order.adjacent(a.back().upper, b.front().lower) ||
            order.adjacent(b.back().upper, a.front().lower));
  }
};
template <class Test>
struct Reversed {
  bool operator()(const BoundOrder& order, SpanList a, SpanList b) const {
    return Test{}(order, b, a);
  }
};

template <RangeForm form>
Value contains_element(FunctionContext&, Arguments a) {
  const RangeOperand<form> range{a[0]};
  return Value::from_bool(spans_contain(BoundOrder{range.range_type()}, range.spans(), a[1]));
}
template <RangeForm form>
Value element_in(FunctionContext& context, Arguments a) {
  const Value turned[] = {a[1], a[0]};
  return contains_element<form>(context, turned);
}

template <RangeForm form>
Value lower(FunctionContext& context, Arguments a) {
  const RangeOperand<form> range{a[0]};
  return range.spans().empty() ? Value::null()
                               : range.spans().front().lower.value.copy_to(context.arena);
}
template <RangeForm form>
Value upper(FunctionContext& context, Arguments a) {
  const RangeOperand<form> range{a[0]};
  return range.spans().empty() ? Value::null()
                               : range.spans().back().upper.value.copy_to(context.arena);
}
template <RangeForm form>
Value is_empty(FunctionContext&, Arguments a) {
  return Value::from_bool(RangeOperand<form>{a[0]}.spans().empty());
}
template <RangeForm form>
Value lower_inclusive(FunctionContext&, Arguments a) {
  const RangeOperand<form> range{a[0]};
  return Value::from_bool(!range.spans().empty() && range.spans().front().lower.inclusive);
}
template <RangeForm form>
Value upper_inclusive(FunctionContext&, Arguments a) {
  const RangeOperand<form> range{a[0]};
  return Value::from_bool(!range.spans().empty() && range.spans().back().upper.inclusive);
}
template <RangeForm form>
Value lower_infinite(FunctionContext&, Arguments a) {
  const RangeOperand<form> range{a[0]};
  return Value::from_bool(!range.spans().empty() && range.spans().front().lower.infinite());
}
template <RangeForm form>
Value upper_infinite(FunctionContext&, Arguments a) {
  const RangeOperand<form> range{a[0]};
  return Value::from_bool(!range.spans().empty() && range.spans().back().upper.infinite());
}

Value range_of(Arena& arena, TypeId type, std::span<const Span> spans) {
  return spans.empty() ? empty_range(arena, type) : make_range(arena, type, spans.front());
}
Span hull(const BoundOrder& order, const Span& a, const Span& b) {
  return {order.lowers(a.lower, b.lower) < 0 ? a.lower : b.lower,
          order.uppers(a.upper, b.upper) > 0 ? a.upper : b.upper};
}

enum class Gap : std::uint8_t { refused, filled };
template <Gap gap>
Value unite(FunctionContext& context, Arguments a) {
  const RangeView left{a[0]};
  const RangeView right{a[1]};
  if (left.empty()) return a[1];
  if (right.empty()) return a[0];
  const BoundOrder order{left.type()};
  const bool touch = order.overlap(left.span(), right.span()) ||
                     order.adjacent(left.span().upper, right.span().lower) ||
                     order.adjacent(right.span().upper, left.span().lower);
  if (gap == Gap::refused && !touch)
    throw SqlError{kDataException, "result of range union would not be contiguous"};
  return make_range(context.arena, left.type(), hull(order, left.span(), right.span()));
}

Value intersect(FunctionContext& context, Arguments a) {
  const RangeOperand<kRange> left{a[0]};
  const RangeOperand<kRange> right{a[1]};
  const BoundOrder order{left.range_type()};
  return range_of(context.arena, left.range_type(),
                  spans_intersection(order, left.spans(), right.spans()));
}

Value subtract(FunctionContext& context, Arguments a) {
  const RangeOperand<kRange> left{a[0]};
  const RangeOperand<kRange> right{a[1]};
  const BoundOrder order{left.range_type()};
  const auto rest = spans_difference(order, left.spans(), right.spans());
  if (rest.size() > 1)
    throw SqlError{kDataException, "result of range difference would not be contiguous"};
  return range_of(context.arena, left.range_type(), rest);
}

// For multiranges.
using Combination = std::vector<Span> (*)(const BoundOrder&, SpanList, SpanList);
template <Combination combination>
Value combine(FunctionContext& context, Arguments a) {
  const RangeOperand<kMultirange> left{a[0]};
  const RangeOperand<kMultirange> right{a[1]};
  return make_multirange(context.arena, type_of_range(a[0]),
                         combination(BoundOrder{left.range_type()}, left.spans(), right.spans()));
}
std::vector<Span> both(const BoundOrder&, SpanList a, SpanList b) {
  std::vector<Span> all{a.begin(), a.end()};
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

Value merge_multirange(FunctionContext& context, Arguments a) {
  const RangeOperand<kMultirange> multirange{a[0]};
  const SpanList spans = multirange.spans();
  if (spans.empty()) return empty_range(context.arena, multirange.range_type());
  return make_range(context.arena, multirange.range_type(),
                    {spans.front().lower, spans.back().upper});
}
Value multirange_of_one(FunctionContext& context, Arguments a) {
  const RangeOperand<kRange> range{a[0]};
  return multirange_from_canonical(context.arena, multirange_of_range(range.range_type()),
                                   {range.spans().begin(), range.spans().end()});
}

class RangesOf final : public SetCursor {
 public:
  explicit RangesOf(const Value& multirange)
      : type_{range_of_multirange(type_of_range(multirange))}, spans_{spans_of(multirange)} {}
  std::optional<Value> next(FunctionContext& context) override {
    if (at_ == spans_.size()) return std::nullopt;
    return make_range(context.arena, type_, spans_[at_++]);
  }

 private:
  TypeId type_;
  std::vector<Span> spans_;
  std::size_t at_ = 0;
};
std::unique_ptr<SetCursor> unnest(FunctionContext&, Arguments a) {
  return std::make_unique<RangesOf>(a[0]);
}

/// Aggregate state: the values so far, as a list from the last to the first.
template <RangeForm form>
struct Collection {
  struct Part {
    Value value;
    Part* before = nullptr;
  };
  Part* last = nullptr;

  void take(Arena& arena, const Value& value) {
    last = new (arena.allocate(sizeof(Part))) Part{value.copy_to(arena), last};
  }
  void step(FunctionContext&, Arena& arena, Arguments a) { take(arena, a[0]); }
  [[nodiscard]] Value final(FunctionContext& context) const {
    if (last == nullptr) return Value::null();
    std::vector<Span> spans;
    for (const Part* part = last; part != nullptr; part = part->before) {
      const RangeOperand<form> operand{part->value};
      spans.insert(spans.end(), operand.spans().begin(), operand.spans().end());
    }
    const TypeId range = RangeOperand<form>{last->value}.range_type();
    return make_multirange(context.arena, multirange_of_range(range), std::move(spans));
  }
};

template <ScalarFunction meet>
struct Intersection {
  Value common;
  void step(FunctionContext& context, Arena& arena, Arguments a) {
    const std::array<Value, 2> pair{common, a[0]};
    common = (common.is_null() ? a[0] : meet(context, Arguments{pair})).copy_to(arena);
  }
  [[nodiscard]] Value final(FunctionContext& context) const {
    return common.copy_to(context.arena);
  }
};

#define SWIZZLE_RANGE_TEST(name, test)                                               \
  {name "(anyrange,anymultirange)", &test_both<test, kRange, kMultirange>},          \
      {name "(anymultirange,anyrange)", &test_both<test, kMultirange, kRange>}, {    \
    name "(anymultirange,anymultirange)", &test_both<test, kMultirange, kMultirange> \
  }
#define SWIZZLE_RANGE_PARTS(form, type)                                                        \
  {"lower(" type ")", &lower<form>}, {"upper(" type ")", &upper<form>},                        \
      {"isempty(" type ")", &is_empty<form>}, {"lower_inc(" type ")", &lower_inclusive<form>}, \
      {"upper_inc(" type ")", &upper_inclusive<form>},                                         \
      {"lower_inf(" type ")", &lower_infinite<form>},                                          \
      {"upper_inf(" type ")", &upper_infinite<form>},                                          \
      {"@>(" type ",anyelement)", &contains_element<form>}, {                                  \
    "<@(anyelement," type ")", &element_in<form>                                               \
  }

constexpr ScalarEntry kRangeScalars[] = {
    SWIZZLE_COMPARISONS_OF("anyrange", compare_ranges),
    {"range_cmp(anyrange,anyrange)", &order_of_two<&compare_ranges>},
    SWIZZLE_RANGE_PARTS(kRange, "anyrange"),
    {"@>(anyrange,anyrange)", &test_both<Contains, kRange, kRange>},
    {"<@(anyrange,anyrange)", &test_both<Reversed<Contains>, kRange, kRange>},
    {"&&(anyrange,anyrange)", &test_both<Overlaps, kRange, kRange>},
    {"<<(anyrange,anyrange)", &test_both<Before, kRange, kRange>},
    {">>(anyrange,anyrange)", &test_both<Reversed<Before>, kRange, kRange>},
    {"&<(anyrange,anyrange)", &test_both<NotBehind, kRange, kRange>},
    {"&>(anyrange,anyrange)", &test_both<NotBefore, kRange, kRange>},
    {"-|-(anyrange,anyrange)", &test_both<Adjacent, kRange, kRange>},
    {"+(anyrange,anyrange)", &unite<Gap::refused>},
    {"-(anyrange,anyrange)", &subtract},
    {"*(anyrange,anyrange)", &intersect},
    {"range_merge(anyrange,anyrange)", &unite<Gap::filled>},
    {"multirange(anyrange)", &multirange_of_one},
    {"hash_range(anyrange)", &hash_range_of},
    {"hash_range_extended(anyrange,int8)", &hash_range_of},
};
constexpr AggregateEntry kRangeAggregates[] = {
    {"range_agg(anyrange)", aggregate_of<Collection<kRange>>()},
    {"range_intersect_agg(anyrange)", aggregate_of<Intersection<&intersect>>()},
};

constexpr ScalarEntry kMultirangeScalars[] = {
    SWIZZLE_COMPARISONS_OF("anymultirange", compare_multiranges),
    {"multirange_cmp(anymultirange,anymultirange)", &order_of_two<&compare_multiranges>},
    SWIZZLE_RANGE_PARTS(kMultirange, "anymultirange"),
    SWIZZLE_RANGE_TEST("@>", Contains),
    SWIZZLE_RANGE_TEST("<@", Reversed<Contains>),
    SWIZZLE_RANGE_TEST("&&", Overlaps),
    SWIZZLE_RANGE_TEST("<<", Before),
    SWIZZLE_RANGE_TEST(">>", Reversed<Before>),
    SWIZZLE_RANGE_TEST("&<", NotBehind),
    SWIZZLE_RANGE_TEST("&>", NotBefore),
    SWIZZLE_RANGE_TEST("-|-", Adjacent),
    {"+(anymultirange,anymultirange)", &combine<&both>},
    {"-(anymultirange,anymultirange)", &combine<&spans_difference>},
    {"*(anymultirange,anymultirange)", &combine<&spans_intersection>},
    {"range_merge(anymultirange)", &merge_multirange},
    {"hash_multirange(anymultirange)", &hash_multirange_of},
    {"hash_multirange_extended(anymultirange,int8)", &hash_multirange_of},
};
constexpr SetEntry kMultirangeSets[] = {{"unnest(anymultirange)", &unnest}};
constexpr AggregateEntry kMultirangeAggregates[] = {
    {"range_agg(anymultirange)", aggregate_of<Collection<kMultirange>>()},
    {"range_intersect_agg(anymultirange)",
     aggregate_of<Intersection<&combine<&spans_intersection>>>()},
};

struct Inclusive {
  bool lower;
  bool upper;
};
Inclusive read_flags(const Value& flags) {
  if (flags.is_null())
    throw SqlError{kDataException, "range constructor flags argument must not be null"};
  const std::string_view text = flags.as_text();
  const bool fits =
      text.size() == 2 && (text[0] == '[' || text[0] == '(') && (text[1] == ']' || text[1] == ')');
  if (!fits)
    throw SqlError{sqlstate::syntax_error, "invalid range bound flags"}.with_hint(
        "Valid values are \"[]\", \"[)\", \"(]\", and \"()\".");
  return {text[0] == '[', text[1] == ']'};
}

}  // namespace

Value construct_range(FunctionContext& context, Arguments a) {
  const Inclusive inclusive = a.size() > 2 ? read_flags(a[2]) : Inclusive{true, false};
  return make_range(context.arena, context.call.result,
                    {{a[0], inclusive.lower}, {a[1], inclusive.upper}});
}

Value construct_multirange(FunctionContext& context, Arguments a) {
  std::vector<Span> spans;
  if (!a.empty()) {
    const ArrayView array{a[0]};
    if (array.dimension_count() > 1)
      throw SqlError{SqlState{"21000"},
                     "multiranges cannot be constructed from multidimensional arrays"};
    for (std::size_t i = 0; i < array.size(); ++i) {
      const Value range = array.element(i);
      if (range.is_null())
        throw SqlError{sqlstate::null_value_not_allowed,
                       "multirange values cannot contain null members"};
      const RangeView view{range};
      if (!view.empty()) spans.push_back(view.span());
    }
  }
  return make_multirange(context.arena, context.call.result, std::move(spans));
}

namespace {

// subtype_diff functions of the built-in ranges.
template <std::int64_t divisor>
Value difference(FunctionContext&, Arguments a) {
  const double by = static_cast<double>(a[0].as_int8()) - static_cast<double>(a[1].as_int8());
  return Value::from_float8(by / static_cast<double>(divisor));
}
Value numeric_difference(FunctionContext& context, Arguments a) {
  return Value::from_float8(numeric_to_double(numeric_subtract(context.arena, a[0], a[1])));
}
/// Returns the range itself, because ranges are always kept in their canonical form.
Value canonical(FunctionContext&, Arguments a) {
  return a[0];
}

}  // namespace

constinit const FunctionsOfType kRangeFunctions{.scalars = kRangeScalars,
                                                .aggregates = kRangeAggregates};
constinit const FunctionsOfType kMultirangeFunctions{
    .scalars = kMultirangeScalars, .sets = kMultirangeSets, .aggregates = kMultirangeAggregates};

#define SWIZZLE_RANGE_MAKERS(range, multirange, subtype, difference, ...) \
  namespace {                                                             \
  constexpr ScalarEntry k_##range##_scalars[] = {                         \
      {#range "(" #subtype "," #subtype ")", &construct_range},           \
      {#range "(" #subtype "," #subtype ",text)", &construct_range},      \
      {#multirange "()", &construct_multirange},                          \
      {#multirange "(_" #range ")", &construct_multirange},               \
      {#multirange "(" #range ")", &multirange_of_one},                   \
      {#range "_subdiff(" #subtype "," #subtype ")", &difference},        \
      __VA_ARGS__};                                                       \
  }                                                                       \
  constinit const FunctionsOfType k_##range##_functions{.scalars = k_##range##_scalars};

#define SWIZZLE_CANONICAL(range) {#range "_canonical(" #range ")", &canonical}

SWIZZLE_RANGE_MAKERS(int4range, int4multirange, int4, difference<1>, SWIZZLE_CANONICAL(int4range))
SWIZZLE_RANGE_MAKERS(int8range, int8multirange, int8, difference<1>, SWIZZLE_CANONICAL(int8range))
SWIZZLE_RANGE_MAKERS(daterange, datemultirange, date, difference<1>, SWIZZLE_CANONICAL(daterange))
SWIZZLE_RANGE_MAKERS(numrange, nummultirange, numeric, numeric_difference)
SWIZZLE_RANGE_MAKERS(tsrange, tsmultirange, timestamp, difference<kMicrosPerSecond>)
SWIZZLE_RANGE_MAKERS(tstzrange, tstzmultirange, timestamptz, difference<kMicrosPerSecond>)

}  // namespace swizzle::sql
