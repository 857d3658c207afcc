#include <algorithm>
#include <bit>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/functions/text/text_lists.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_builder.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

constexpr SqlState kDataException{"22000"};

CountedValues elements_of(const Arena& arena, const ArrayView& view) {
  CountedValues out(view.size(), CountedAllocator<Value>{arena.account()});
  for (std::size_t i = 0; i < out.size(); ++i) {
    yield_point(4);
    out[i] = view.element(i);
  }
  return out;
}

std::vector<ArrayDimension> dimensions_of(const ArrayView& view) {
  std::vector<ArrayDimension> out(view.dimension_count());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = view.dimension(i);
  return out;
}

CompareFunction comparator(TypeId type) {
  const CompareFunction function = compare_function(type);
  if (function == nullptr)
    throw_error(sqlstate::undefined_function, "could not identify an equality operator for type {}",
                format_type(type));
  return function;
}

bool same(CompareFunction compare, const Value& a, const Value& b) {
  yield_point(8);
  if (a.is_null() || b.is_null()) return a.is_null() && b.is_null();
  return compare(a, b) == 0;
}

TypeId result_element(const FunctionContext& context) {
  return element_type(context.call.result);
}

Value one_element(FunctionContext& context, const Value& element) {
  return make_array(context.arena, result_element(context), {&element, 1});
}

void require_one_dimension(const ArrayView& view) {
  if (view.dimension_count() > 1)
    throw SqlError{kDataException, "argument must be empty or one-dimensional array"};
}

Value append(FunctionContext& context, Arguments a) {
  if (a[0].is_null() || ArrayView{a[0]}.size() == 0) return one_element(context, a[1]);
  const ArrayView view{a[0]};
  require_one_dimension(view);
  CountedValues elements = elements_of(context.arena, view);
  elements.push_back(a[1]);
  const ArrayDimension d{static_cast<std::int32_t>(elements.size()), view.dimension(0).lower};
  return make_array(context.arena, view.element_type(), {&d, 1}, elements);
}

Value prepend(FunctionContext& context, Arguments a) {
  if (a[1].is_null() || ArrayView{a[1]}.size() == 0) return one_element(context, a[0]);
  const ArrayView view{a[1]};
  require_one_dimension(view);
  CountedValues elements = elements_of(context.arena, view);
  elements.insert(elements.begin(), a[0]);
  const ArrayDimension d{static_cast<std::int32_t>(elements.size()), view.dimension(0).lower};
  return make_array(context.arena, view.element_type(), {&d, 1}, elements);
}

[[noreturn]] void cannot_concatenate(std::string detail) {
  throw SqlError{sqlstate::array_subscript_error, "cannot concatenate incompatible arrays"}
      .with_detail(std::move(detail));
}

// Concatenates arrays of the same number of dimensions, or an array and a slice of it.
Value concatenate(FunctionContext& context, Arguments a) {
  if (a[0].is_null()) return a[1];
  if (a[1].is_null()) return a[0];
  const ArrayView left{a[0]};
  const ArrayView right{a[1]};
  if (right.dimension_count() == 0) return a[0];
  if (left.dimension_count() == 0) return a[1];
  std::vector<ArrayDimension> l = dimensions_of(left);
  const std::vector<ArrayDimension> r = dimensions_of(right);
  std::vector<ArrayDimension> out;
  const auto inner_match = [](std::span<const ArrayDimension> x,
                              std::span<const ArrayDimension> y) {
    return std::ranges::equal(x, y);
  };
  const std::string inner =
      "Arrays with differing element dimensions are not compatible for concatenation.";
  const std::string outer =
      "Arrays with differing dimensions are not compatible for concatenation.";
  if (l.size() == r.size()) {
    if (!inner_match(std::span{l}.subspan(1), std::span{r}.subspan(1))) cannot_concatenate(inner);
    out = l;
    out[0].length += r[0].length;
  } else if (l.size() + 1 == r.size()) {
    if (!inner_match(l, std::span{r}.subspan(1))) cannot_concatenate(outer);
    out = r;
    ++out[0].length;
  } else if (l.size() == r.size() + 1) {
    if (!inner_match(std::span{l}.subspan(1), r)) cannot_concatenate(outer);
    out = l;
    ++out[0].length;
  } else {
    cannot_concatenate(
        fmt::format("Arrays of {} and {} dimensions are not compatible for concatenation.",
                    l.size(), r.size()));
  }
  CountedValues elements = elements_of(context.arena, left);
  const CountedValues more = elements_of(context.arena, right);
  elements.insert(elements.end(), more.begin(), more.end());
  return make_array(context.arena, left.element_type(), out, elements);
}

Value dimension_count(FunctionContext&, Arguments a) {
  const ArrayView view{a[0]};
  if (view.dimension_count() == 0) return Value::null();
  return Value::from_int(static_cast<std::int64_t>(view.dimension_count()));
}
Value show_dimensions(FunctionContext& context, Arguments a) {
  const ArrayView view{a[0]};
  if (view.dimension_count() == 0) return Value::null();
  std::string out;
  for (const ArrayDimension& d : dimensions_of(view))
    out += fmt::format("[{}:{}]", d.lower, d.lower + d.length - 1);
  return make_text(context.arena, out);
}
template <std::int64_t (*F)(const ArrayDimension&)>
Value of_dimension(FunctionContext&, Arguments a) {
  const ArrayView view{a[0]};
  const std::int32_t n = a[1].as_int4();
  if (n < 1 || static_cast<std::size_t>(n) > view.dimension_count()) return Value::null();
  return Value::from_int(F(view.dimension(static_cast<std::size_t>(n - 1))));
}
std::int64_t length_of(const ArrayDimension& d) {
  return d.length;
}
std::int64_t lower_of(const ArrayDimension& d) {
  return d.lower;
}
std::int64_t upper_of(const ArrayDimension& d) {
  return std::int64_t{d.lower} + d.length - 1;
}
Value cardinality(FunctionContext&, Arguments a) {
  return Value::from_int(static_cast<std::int64_t>(ArrayView{a[0]}.size()));
}

void require_searchable(const ArrayView& view) {
  if (view.dimension_count() > 1)
    throw SqlError{sqlstate::feature_not_supported,
                   "searching for elements in multidimensional arrays is not supported"};
}

Value position(FunctionContext&, Arguments a) {
  if (a[0].is_null()) return Value::null();
  if (a.size() > 2 && a[2].is_null())
    throw SqlError{sqlstate::null_value_not_allowed, "initial position must not be null"};
  const ArrayView view{a[0]};
  require_searchable(view);
  if (view.size() == 0) return Value::null();
  const CompareFunction compare = comparator(view.element_type());
  const std::int64_t lower = view.dimension(0).lower;
  const std::int64_t first = a.size() > 2 ? std::max<std::int64_t>(a[2].as_int4(), lower) : lower;
  for (auto i = static_cast<std::size_t>(first - lower); i < view.size(); ++i)
    if (same(compare, view.element(i), a[1]))
      return Value::from_int(lower + static_cast<std::int64_t>(i));
  return Value::null();
}
Value positions(FunctionContext& context, Arguments a) {
  if (a[0].is_null()) return Value::null();
  const ArrayView view{a[0]};
  require_searchable(view);
  CountedValues found = counted_values(context.arena);
  if (view.size() > 0) {
    const CompareFunction compare = comparator(view.element_type());
    for (std::size_t i = 0; i < view.size(); ++i)
      if (same(compare, view.element(i), a[1]))
        found.push_back(Value::from_int(view.dimension(0).lower + static_cast<std::int64_t>(i)));
  }
  return make_array(context.arena, TypeId::int4, found);
}

Value remove(FunctionContext& context, Arguments a) {
  if (a[0].is_null()) return Value::null();
  const ArrayView view{a[0]};
  if (view.dimension_count() > 1)
    throw SqlError{sqlstate::feature_not_supported,
                   "removing elements from multidimensional arrays is not supported"};
  if (view.size() == 0) return a[0];
  const CompareFunction compare = comparator(view.element_type());
  CountedValues kept = elements_of(context.arena, view);
  std::erase_if(kept, [&](const Value& v) { return same(compare, v, a[1]); });
  if (kept.size() == view.size()) return a[0];
  const ArrayDimension d{static_cast<std::int32_t>(kept.size()), view.dimension(0).lower};
  return make_array(context.arena, view.element_type(), {&d, 1}, kept);
}
Value replace(FunctionContext& context, Arguments a) {
  if (a[0].is_null()) return Value::null();
  const ArrayView view{a[0]};
  if (view.size() == 0) return a[0];
  const CompareFunction compare = comparator(view.element_type());
  CountedValues elements = elements_of(context.arena, view);
  for (Value& v : elements)
    if (same(compare, v, a[1])) v = a[2];
  return make_array(context.arena, view.element_type(), dimensions_of(view), elements);
}

Value fill(FunctionContext& context, Arguments a) {
  if (a[1].is_null() || (a.size() > 2 && a[2].is_null()))
    throw SqlError{sqlstate::null_value_not_allowed,
                   "dimension array or low bound array cannot be null"};
  const auto require_flat = [](const ArrayView& array) {
    if (array.dimension_count() <= 1) return;
    throw SqlError{sqlstate::array_subscript_error, "wrong number of array subscripts"}.with_detail(
        "Dimension array must be one dimensional.");
  };
  const ArrayView lengths{a[1]};
  require_flat(lengths);
  std::vector<ArrayDimension> dimensions;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const Value length = lengths.element(i);
    if (length.is_null())
      throw SqlError{sqlstate::null_value_not_allowed, "dimension values cannot be null"};
    dimensions.push_back({length.as_int4(), 1});
  }
  if (a.size() > 2) {
    const ArrayView lowers{a[2]};
    require_flat(lowers);
    if (lowers.size() != dimensions.size())
      throw SqlError{sqlstate::array_subscript_error, "wrong number of array subscripts"}
          .with_detail("Low bound array has different size than dimensions array.");
    for (std::size_t i = 0; i < dimensions.size(); ++i)
      dimensions[i].lower = lowers.element(i).as_int4();
  }
  if (dimensions.size() > kMaxArrayDimensions)
    throw_error(sqlstate::program_limit_exceeded,
                "number of array dimensions ({}) exceeds the maximum allowed ({})",
                dimensions.size(), kMaxArrayDimensions);
  for (const ArrayDimension& d : dimensions)
    if (d.length < 0)
      throw_error(sqlstate::program_limit_exceeded, "array size exceeds the maximum allowed ({})",
                  kMaxFieldBytes / 8);
  const std::size_t size = array_size(dimensions);
  return for_bytes(size * sizeof(Value), [&] {
    constexpr std::size_t kAtOnce = 100'000;
    CountedValues elements = counted_values(context.arena);
    elements.reserve(size);
    while (elements.size() < size) {
      elements.resize(std::min(size, elements.size() + kAtOnce), a[0]);
      yield_point(kAtOnce);
    }
    return make_array(context.arena, result_element(context), dimensions, elements);
  });
}

Value trim(FunctionContext& context, Arguments a) {
  const ArrayView view{a[0]};
  const std::int32_t count = a[1].as_int4();
  const std::int32_t length = view.dimension_count() == 0 ? 0 : view.dimension(0).length;
  if (count < 0 || count > length)
    throw_error(sqlstate::array_subscript_error,
                "number of elements to trim must be between 0 and {}", length);
  if (view.dimension_count() == 0) return a[0];
  const SliceBound bound{std::nullopt, view.dimension(0).lower + length - count - 1};
  return array_slice(context.arena, a[0], {&bound, 1});
}

/// Set of an array's elements, for membership tests. NULL equals nothing, not even NULL.
class ElementSet {
 public:
  ElementSet(const Arena& arena, const ArrayView& array)
      : compare_{comparator(array.element_type())},
        hash_{array.size() > kFew ? hash_function(array.element_type()) : nullptr} {
    elements_ = elements_of(arena, array);
    std::erase_if(elements_, [](const Value& element) { return element.is_null(); });
    if (hash_ == nullptr) return;
    count_in(places_, arena.account());
    places_.resize(std::bit_ceil(elements_.size() * 2 + 2), kFree);
    for (std::uint32_t i = 0; i < elements_.size(); ++i) {
      yield_point(kWorkOfHash);
      std::uint32_t& place = places_[place_of(elements_[i])];
      if (place == kFree) place = i;
    }
  }
  [[nodiscard]] bool contains(const Value& value) const {
    if (value.is_null()) return false;
    if (hash_ != nullptr) {
      yield_point(kWorkOfHash);
      return places_[place_of(value)] != kFree;
    }
    return std::ranges::any_of(elements_, [&](const Value& element) {
      yield_point(4);
      return compare_(element, value) == 0;
    });
  }

 private:
  static constexpr std::size_t kFew = 16;
  static constexpr std::size_t kWorkOfHash = 40;
  static constexpr std::uint32_t kFree = UINT32_MAX;

  /// Returns the place of an equal element, or the free place for the value.
  [[nodiscard]] std::size_t place_of(const Value& value) const {
    const std::size_t mask = places_.size() - 1;
    std::size_t at = hash_(value, 0) & mask;
    while (places_[at] != kFree && compare_(elements_[places_[at]], value) != 0) {
      at = (at + 1) & mask;
    }
    return at;
  }

  CompareFunction compare_;
  HashFunction hash_;
  CountedValues elements_;
  CountedVector<std::uint32_t> places_;
};

bool contains(const Arena& arena, const ArrayView& all, const ArrayView& wanted) {
  if (wanted.size() == 0) return true;
  const ElementSet elements{arena, all};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!elements.contains(wanted.element(i))) return false;
  }
  return true;
}
Value contains_array(FunctionContext& context, Arguments a) {
  return Value::from_bool(contains(context.arena, ArrayView{a[0]}, ArrayView{a[1]}));
}
Value contained_in(FunctionContext& context, Arguments a) {
  return Value::from_bool(contains(context.arena, ArrayView{a[1]}, ArrayView{a[0]}));
}
Value have_common_elements(FunctionContext& context, Arguments a) {
  const ArrayView left{a[0]};
  const ArrayView right{a[1]};
  if (left.size() == 0 || right.size() == 0) return Value::from_bool(false);
  const ElementSet elements{context.arena, right};
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (elements.contains(left.element(i))) return Value::from_bool(true);
  }
  return Value::from_bool(false);
}

/// How many of the ascending thresholds are at or below the operand.
Value bucket_of(FunctionContext&, Arguments a) {
  const ArrayView thresholds{a[1]};
  if (thresholds.dimension_count() > 1)
    throw SqlError{sqlstate::array_subscript_error, "thresholds must be one-dimensional array"};
  if (thresholds.has_nulls())
    throw SqlError{sqlstate::null_value_not_allowed, "thresholds array must not contain NULLs"};
  if (thresholds.size() == 0) return Value::from_int(0);
  const CompareFunction compare = comparator(thresholds.element_type());
  std::size_t low = 0;
  std::size_t high = thresholds.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (compare(a[0], thresholds.element(middle)) < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return Value::from_int(static_cast<std::int64_t>(low));
}

Value to_string(FunctionContext& context, Arguments a) {
  if (a[0].is_null() || a[1].is_null()) return Value::null();
  const ArrayView view{a[0]};
  const bool show_nulls = a.size() > 2 && !a[2].is_null();
  TextBuilder out{context.arena};
  bool first = true;
  for (std::size_t i = 0; i < view.size(); ++i) {
    yield_point(20);
    const Value v = view.element(i);
    if (v.is_null() && !show_nulls) continue;
    if (!first) out += a[1].as_text();
    first = false;
    if (v.is_null())
      out += a[2].as_text();
    else
      out += to_text(context, view.element_type(), v);
  }
  return out.finish();
}

Value from_string(FunctionContext& context, Arguments a) {
  if (a[0].is_null()) return Value::null();
  return make_array(context.arena, TypeId::text, split_text(context.arena, a));
}

constexpr ScalarEntry kArraysEntries[] = {
    {"array_append(anycompatiblearray,anycompatible)", &append},
    {"||(anycompatiblearray,anycompatible)", &append},
    {"array_prepend(anycompatible,anycompatiblearray)", &prepend},
    {"||(anycompatible,anycompatiblearray)", &prepend},
    {"array_cat(anycompatiblearray,anycompatiblearray)", &concatenate},
    {"||(anycompatiblearray,anycompatiblearray)", &concatenate},
    {"array_ndims(anyarray)", &dimension_count},
    {"array_dims(anyarray)", &show_dimensions},
    {"array_length(anyarray,int4)", &of_dimension<length_of>},
    {"array_lower(anyarray,int4)", &of_dimension<lower_of>},
    {"array_upper(anyarray,int4)", &of_dimension<upper_of>},
    {"cardinality(anyarray)", &cardinality},
    {"array_position(anycompatiblearray,anycompatible)", &position},
    {"array_position(anycompatiblearray,anycompatible,int4)", &position},
    {"array_positions(anycompatiblearray,anycompatible)", &positions},
    {"array_remove(anycompatiblearray,anycompatible)", &remove},
    {"array_replace(anycompatiblearray,anycompatible,anycompatible)", &replace},
    {"array_fill(anyelement,_int4)", &fill},
    {"array_fill(anyelement,_int4,_int4)", &fill},
    {"trim_array(anyarray,int4)", &trim},
    {"@>(anyarray,anyarray)", &contains_array},
    {"<@(anyarray,anyarray)", &contained_in},
    {"&&(anyarray,anyarray)", &have_common_elements},
    {"width_bucket(anycompatible,anycompatiblearray)", &bucket_of},
    {"array_to_string(anyarray,text)", &to_string},
    {"array_to_string(anyarray,text,text)", &to_string},
    {"string_to_array(text,text)", &from_string},
    {"string_to_array(text,text,text)", &from_string},
};

}  // namespace

std::span<const ScalarEntry> array_functions() {
  return kArraysEntries;
}

CountedVector<Value> split_text(const Arena& arena, std::span<const Value> a) {
  const std::string_view text = a[0].as_text();
  CountedValues out = counted_values(arena);
  const auto add = [&](std::string_view part) {
    yield_point(20);
    if (out.size() == out.capacity()) require_room_for(2 * out.size(), sizeof(Value));
    const bool null = a.size() > 2 && !a[2].is_null() && part == a[2].as_text();
    out.push_back(null ? Value::null() : Value::from_text(part));
  };
  if (text.empty()) return out;
  if (a[1].is_null()) {
    for (std::size_t at = 0; at < text.size(); at += utf8_length(text[at]))
      add(text.substr(at, utf8_length(text[at])));
    return out;
  }
  const std::string_view separator = a[1].as_text();
  std::size_t at = 0;
  while (!separator.empty()) {
    const std::size_t found = find_long(text, separator, at);
    if (found == std::string_view::npos) break;
    add(text.substr(at, found - at));
    at = found + separator.size();
  }
  add(text.substr(at));
  return out;
}

}  // namespace swizzle::sql
