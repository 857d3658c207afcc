#include <algorithm>
#include <numeric>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/functions/numbers/random_numbers.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Reordering of arrays. With several dimensions the outermost counts: its slices move as a whole.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using Places = CountedVector<std::size_t>;

std::size_t slices_of(const ArrayView& view) {
  return view.dimension_count() == 0 ? 0 : static_cast<std::size_t>(view.dimension(0).length);
}

Places all_places(const FunctionContext& context, std::size_t count) {
  Places places(count, CountedAllocator<std::size_t>{context.arena.account()});
  std::iota(places.begin(), places.end(), std::size_t{0});
  return places;
}

/// Returns the slices at these places, concatenated, numbered from `lower`.
Value take_slices(FunctionContext& context, const ArrayView& view,
                  std::span<const std::size_t> places, std::int32_t lower) {
  if (places.empty()) return make_array(context.arena, view.element_type(), {});
  const std::size_t width = view.size() / slices_of(view);
  CountedValues elements = counted_values(context.arena);
  elements.reserve(places.size() * width);
  for (const std::size_t place : places) {
    yield_point(4 * width);
    for (std::size_t i = 0; i < width; ++i) elements.push_back(view.element(place * width + i));
  }
  std::vector<ArrayDimension> dimensions(view.dimension_count());
  for (std::size_t i = 0; i < dimensions.size(); ++i) dimensions[i] = view.dimension(i);
  dimensions[0] = {static_cast<std::int32_t>(places.size()), lower};
  return make_array(context.arena, view.element_type(), dimensions, elements);
}

Value reversed(FunctionContext& context, Arguments a) {
  const ArrayView view{a[0]};
  if (slices_of(view) < 2) return a[0];
  Places places = all_places(context, slices_of(view));
  std::ranges::reverse(places);
  return take_slices(context, view, places, view.dimension(0).lower);
}

/// Keeps a random sample of `count` places, in random order.
void draw(SessionContext& session, Places& places, std::size_t count) {
  for (std::size_t i = 0; i < count && i + 1 < places.size(); ++i) {
    yield_point(8);
    std::swap(places[i], places[i + random_up_to(session, places.size() - 1 - i)]);
  }
  places.resize(count);
}

Value shuffled(FunctionContext& context, Arguments a) {
  const ArrayView view{a[0]};
  if (slices_of(view) < 2) return a[0];
  Places places = all_places(context, slices_of(view));
  draw(context.session, places, places.size());
  return take_slices(context, view, places, view.dimension(0).lower);
}

Value sample(FunctionContext& context, Arguments a) {
  const ArrayView view{a[0]};
  const std::size_t slices = slices_of(view);
  const std::int32_t wanted = a[1].as_int4();
  if (wanted < 0 || static_cast<std::size_t>(wanted) > slices)
    throw_error(sqlstate::invalid_parameter_value, "sample size must be between 0 and {}", slices);
  Places places = all_places(context, slices);
  draw(context.session, places, static_cast<std::size_t>(wanted));
  return take_slices(context, view, places, 1);
}

/// Orders slices as arrays are ordered: element by element, with NULL after all values. NULL
/// elements of a one-dimensional array go where the call says.
class SliceOrder {
 public:
  SliceOrder(const ArrayView& view, CompareFunction compare, bool descending, bool nulls_first)
      : view_{&view},
        compare_{compare},
        width_{view.size() / slices_of(view)},
        descending_{descending},
        nulls_first_{nulls_first} {}

  bool operator()(std::size_t left, std::size_t right) const {
    if (view_->dimension_count() == 1) {
      const bool left_null = view_->element(left).is_null();
      const bool right_null = view_->element(right).is_null();
      if (left_null || right_null) return left_null != right_null && left_null == nulls_first_;
    }
    const int by = by_elements(left, right);
    return descending_ ? by > 0 : by < 0;
  }

 private:
  [[nodiscard]] int by_elements(std::size_t left, std::size_t right) const {
    for (std::size_t i = 0; i < width_; ++i) {
      yield_point(16);
      const Value a = view_->element(left * width_ + i);
      const Value b = view_->element(right * width_ + i);
      if (a.is_null() && b.is_null()) continue;
      if (a.is_null() || b.is_null()) return a.is_null() ? 1 : -1;
      if (const int by = compare_(a, b); by != 0) return by;
    }
    return 0;
  }

  const ArrayView* view_;
  CompareFunction compare_;
  std::size_t width_;
  bool descending_;
  bool nulls_first_;
};

Value sorted(FunctionContext& context, Arguments a) {
  const ArrayView view{a[0]};
  if (slices_of(view) < 2) return a[0];
  const CompareFunction compare = compare_function(element_type(context.call.arguments[0]));
  if (compare == nullptr)
    throw_error(sqlstate::feature_not_supported,
                "could not identify a comparison function for type {}",
                format_type(view.element_type()));
  const bool descending = a.size() > 1 && a[1].as_bool();
  const bool nulls_first = a.size() > 2 ? a[2].as_bool() : descending;
  Places places = all_places(context, slices_of(view));
  std::ranges::stable_sort(places, SliceOrder{view, compare, descending, nulls_first});
  return take_slices(context, view, places, view.dimension(0).lower);
}

constexpr ScalarEntry kArrayOrderEntries[] = {
    {"array_reverse(anyarray)", &reversed},   {"array_shuffle(anyarray)", &shuffled},
    {"array_sample(anyarray,int4)", &sample}, {"array_sort(anyarray)", &sorted},
    {"array_sort(anyarray,bool)", &sorted},   {"array_sort(anyarray,bool,bool)", &sorted},
};

}  // namespace

std::span<const ScalarEntry> array_order_functions() {
  return kArrayOrderEntries;
}

}  // namespace swizzle::sql
