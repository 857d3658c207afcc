#include "sql-lite-frontend/types/array/array.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sql-lite-frontend/types/array/accumulate.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

constexpr std::uint32_t kNullBit = 0x80000000U;
constexpr std::size_t kHeaderBytes = 12;
constexpr std::size_t kMaxElements = kMaxFieldBytes / sizeof(std::uint64_t);

[[noreturn]] void corrupt_array() {
  throw SqlError{sqlstate::data_corrupted, "a stored array does not have an array's form"};
}

[[noreturn]] void too_large() {
  throw_error(sqlstate::program_limit_exceeded, "array size exceeds the maximum allowed ({})",
              kMaxElements);
}

[[noreturn]] void wrong_subscripts(std::string_view what) {
  throw SqlError{sqlstate::array_subscript_error, std::string{what}};
}

void append_word(std::string& out, std::uint32_t word) {
  char bytes[sizeof word];
  std::memcpy(bytes, &word, sizeof word);
  out.append(bytes, sizeof word);
}

}  // namespace

ArrayView::ArrayView(const Value& array) : bytes_{array.as_bytes()} {
  if (bytes_.size() < kHeaderBytes) corrupt_array();
  element_type_ = TypeId{load<std::uint32_t>(bytes_.data())};
  shape_ = shape_of(element_type_);
  dimensions_ = load<std::uint32_t>(bytes_.data() + 4);
  count_ = load<std::uint32_t>(bytes_.data() + 8);
  if (dimensions_ > kMaxArrayDimensions || count_ > kMaxElements) corrupt_array();
  offsets_start_ = kHeaderBytes + dimensions_ * sizeof(ArrayDimension);
  elements_start_ = offsets_start_ + count_ * std::size_t{4};
  if (elements_start_ > bytes_.size()) corrupt_array();
}

ArrayDimension ArrayView::dimension(std::size_t index) const {
  STATEMENT_INVARIANT(index < dimensions_);
  return load<ArrayDimension>(bytes_.data() + kHeaderBytes + index * sizeof(ArrayDimension));
}

bool ArrayView::has_nulls() const noexcept {
  for (std::size_t i = 0; i < count_; ++i)
    if ((load<std::uint32_t>(bytes_.data() + offsets_start_ + i * 4) & kNullBit) != 0) return true;
  return false;
}

Value ArrayView::element(std::size_t index) const {
  STATEMENT_INVARIANT(index < count_);
  const std::byte* offsets = bytes_.data() + offsets_start_;
  const auto end = load<std::uint32_t>(offsets + index * 4);
  if ((end & kNullBit) != 0) return Value::null();
  const std::uint32_t begin =
      index == 0 ? 0 : load<std::uint32_t>(offsets + (index - 1) * 4) & ~kNullBit;
  if (begin > end || end > bytes_.size() - elements_start_) corrupt_array();
  return read_flat(shape_, bytes_.subspan(elements_start_ + begin, end - begin));
}

Value ArrayView::at(std::span<const std::int32_t> subscripts) const {
  if (subscripts.size() != dimensions_ || dimensions_ == 0) return Value::null();
  std::size_t index = 0;
  for (std::size_t i = 0; i < dimensions_; ++i) {
    const ArrayDimension d = dimension(i);
    const std::int64_t offset = std::int64_t{subscripts[i]} - d.lower;
    if (offset < 0 || offset >= d.length) return Value::null();
    index = index * static_cast<std::size_t>(d.length) + static_cast<std::size_t>(offset);
  }
  return element(index);
}

std::size_t array_size(std::span<const ArrayDimension> dimensions) {
  std::size_t size = dimensions.empty() ? 0 : 1;
  for (const ArrayDimension& d : dimensions) {
    if (d.length == 0) return 0;
    size *= static_cast<std::size_t>(d.length);
    if (size > kMaxElements) too_large();
  }
  return size;
}

namespace {

Value array_of_elements(Arena& arena, TypeId element_type,
                        std::span<const ArrayDimension> dimensions,
                        std::span<const Value> elements) {
  if (elements.empty()) dimensions = {};
  STATEMENT_INVARIANT(array_size(dimensions) == elements.size());
  STATEMENT_INVARIANT(dimensions.size() <= kMaxArrayDimensions);
  for (const ArrayDimension& d : dimensions) {
    std::int32_t behind = 0;
    if (__builtin_add_overflow(d.lower, d.length, &behind))
      throw_error(sqlstate::program_limit_exceeded, "array lower bound is too large: {}", d.lower);
  }
  const Shape shape = shape_of(element_type);
  std::string out;
  MemoryShare share;
  const std::size_t expected = kHeaderBytes + dimensions.size_bytes() + elements.size() * 12;
  share.set(arena.account(), expected);
  out.reserve(expected);
  // A value has the base type; only expressions have domains.
  append_word(out, raw(base_type(element_type)));
  append_word(out, static_cast<std::uint32_t>(dimensions.size()));
  append_word(out, static_cast<std::uint32_t>(elements.size()));
  for (const ArrayDimension& d : dimensions) {
    append_word(out, static_cast<std::uint32_t>(d.length));
    append_word(out, static_cast<std::uint32_t>(d.lower));
  }
  const std::size_t offsets = out.size();
  out.resize(offsets + elements.size() * 4);
  const std::size_t start = out.size();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    yield_point(8);
    if (!elements[i].is_null()) append_flat(out, shape, elements[i]);
    share.set(arena.account(), out.capacity());
    if (out.size() > kMaxFieldBytes)
      throw_error(sqlstate::program_limit_exceeded, "array size exceeds the maximum allowed ({})",
                  kMaxFieldBytes);
    const std::uint32_t end =
        static_cast<std::uint32_t>(out.size() - start) | (elements[i].is_null() ? kNullBit : 0U);
    std::memcpy(out.data() + offsets + i * 4, &end, 4);
  }
  std::byte* const bytes = arena.allocate(out.size(), 1);
  copy_long(bytes, as_bytes(std::string_view{out}));
  return Value::from_bytes({bytes, out.size()});
}

}  // namespace

Value make_array(Arena& arena, TypeId element_type, std::span<const ArrayDimension> dimensions,
                 std::span<const Value> elements) {
  return for_bytes(elements.size_bytes(),
                   [&] { return array_of_elements(arena, element_type, dimensions, elements); });
}

Value make_array(Arena& arena, TypeId element_type, std::span<const Value> elements) {
  const ArrayDimension dimension{static_cast<std::int32_t>(elements.size()), 1};
  return make_array(arena, element_type, {&dimension, 1}, elements);
}

Value array_slice(Arena& arena, const Value& array, std::span<const SliceBound> bounds) {
  const ArrayView view{array};
  const std::size_t dimensions = view.dimension_count();
  const Value empty = make_array(arena, view.element_type(), {}, {});
  if (dimensions == 0 || bounds.size() > dimensions) return empty;
  ArrayDimension source[kMaxArrayDimensions];
  ArrayDimension result[kMaxArrayDimensions];
  std::size_t first[kMaxArrayDimensions];
  for (std::size_t i = 0; i < dimensions; ++i) {
    source[i] = view.dimension(i);
    const std::int64_t own_upper = std::int64_t{source[i].lower} + source[i].length - 1;
    std::int64_t lower = source[i].lower;
    std::int64_t upper = own_upper;
    if (i < bounds.size()) {
      lower = std::max<std::int64_t>(lower, bounds[i].lower.value_or(source[i].lower));
      if (bounds[i].upper) upper = std::min<std::int64_t>(upper, *bounds[i].upper);
    }
    if (lower > upper) return empty;
    first[i] = static_cast<std::size_t>(lower - source[i].lower);
    result[i] = {static_cast<std::int32_t>(upper - lower + 1), 1};
  }
  const std::span<const ArrayDimension> shape{result, dimensions};
  CountedValues elements(array_size(shape), CountedAllocator<Value>{arena.account()});
  for (std::size_t n = 0; n < elements.size(); ++n) {
    yield_point(10);
    std::size_t rest = n;
    std::size_t index = 0;
    std::size_t stride = 1;
    for (std::size_t i = dimensions; i-- > 0;) {
      const auto length = static_cast<std::size_t>(result[i].length);
      index += (first[i] + rest % length) * stride;
      rest /= length;
      stride *= static_cast<std::size_t>(source[i].length);
    }
    elements[n] = view.element(index);
  }
  return make_array(arena, view.element_type(), shape, elements);
}

namespace {

CountedValues all_elements(const Arena& arena, const ArrayView& view) {
  CountedValues elements(view.size(), CountedAllocator<Value>{arena.account()});
  for (std::size_t i = 0; i < elements.size(); ++i) {
    yield_point(4);
    elements[i] = view.element(i);
  }
  return elements;
}

// Only one-dimensional arrays can be extended, at either end; gaps are filled with NULLs.
Value set_in_one_dimension(Arena& arena, const ArrayView& view, std::int32_t subscript,
                           const Value& element) {
  ArrayDimension d = view.dimension(0);
  CountedValues elements = all_elements(arena, view);
  const std::int64_t offset = std::int64_t{subscript} - d.lower;
  if (offset < 0) {
    if (-offset > static_cast<std::int64_t>(kMaxElements)) too_large();
    elements.insert(elements.begin(), static_cast<std::size_t>(-offset), Value::null());
    d.lower = subscript;
    elements[0] = element;
  } else {
    if (offset > static_cast<std::int64_t>(kMaxElements)) too_large();
    if (static_cast<std::size_t>(offset) >= elements.size())
      elements.resize(static_cast<std::size_t>(offset) + 1);
    elements[static_cast<std::size_t>(offset)] = element;
  }
  d.length = static_cast<std::int32_t>(elements.size());
  return make_array(arena, view.element_type(), {&d, 1}, elements);
}

}  // namespace

Value array_set_element(Arena& arena, TypeId element_type, const Value& array,
                        std::span<const std::int32_t> subscripts, const Value& element) {
  if (array.is_null() || ArrayView{array}.dimension_count() == 0) {
    ArrayDimension dimensions[kMaxArrayDimensions];
    if (subscripts.size() > kMaxArrayDimensions)
      wrong_subscripts("wrong number of array subscripts");
    for (std::size_t i = 0; i < subscripts.size(); ++i) dimensions[i] = {1, subscripts[i]};
    return make_array(arena, element_type, {dimensions, subscripts.size()}, {&element, 1});
  }
  const ArrayView view{array};
  if (view.dimension_count() != subscripts.size())
    wrong_subscripts("wrong number of array subscripts");
  if (subscripts.size() == 1) return set_in_one_dimension(arena, view, subscripts[0], element);
  std::size_t index = 0;
  ArrayDimension dimensions[kMaxArrayDimensions];
  for (std::size_t i = 0; i < subscripts.size(); ++i) {
    dimensions[i] = view.dimension(i);
    const std::int64_t offset = std::int64_t{subscripts[i]} - dimensions[i].lower;
    if (offset < 0 || offset >= dimensions[i].length)
      wrong_subscripts("array subscript out of range");
    index =
        index * static_cast<std::size_t>(dimensions[i].length) + static_cast<std::size_t>(offset);
  }
  CountedValues elements = all_elements(arena, view);
  elements[index] = element;
  return make_array(arena, element_type, {dimensions, subscripts.size()}, elements);
}

namespace {

/// Inclusive on both ends.
struct Range {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
  [[nodiscard]] std::int64_t length() const noexcept { return upper - lower + 1; }
};

Value slice_of_nothing(Arena& arena, TypeId element_type, std::span<const SliceBound> bounds,
                       const ArrayView& source) {
  ArrayDimension dimensions[kMaxArrayDimensions];
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (!bounds[i].lower || !bounds[i].upper) {
      throw SqlError{sqlstate::array_subscript_error,
                     "array slice subscript must provide both boundaries"}
          .with_detail(
              "When assigning to a slice of an empty array value, slice boundaries must be fully "
              "specified.");
    }
    const Range range{*bounds[i].lower, *bounds[i].upper};
    if (range.length() < 0 || range.length() > INT32_MAX) too_large();
    dimensions[i] = {static_cast<std::int32_t>(range.length()), *bounds[i].lower};
  }
  const std::span<const ArrayDimension> shape{dimensions, bounds.size()};
  const std::size_t size = array_size(shape);
  if (source.size() < size) wrong_subscripts("source array too small");
  CountedValues elements = all_elements(arena, source);
  elements.resize(size);
  return make_array(arena, element_type, shape, elements);
}

Range range_of(const SliceBound& bound, const ArrayDimension& d) {
  Range range{d.lower, std::int64_t{d.lower} + d.length - 1};
  if (bound.lower) range.lower = *bound.lower;
  if (bound.upper) range.upper = *bound.upper;
  if (range.lower > range.upper) wrong_subscripts("upper bound cannot be less than lower bound");
  return range;
}

/// Makes room for the range with NULLs at either end.
void extend(CountedValues& elements, ArrayDimension& d, const Range& range) {
  const std::int64_t before = std::max<std::int64_t>(0, d.lower - range.lower);
  const std::int64_t upper = std::max(range.upper, std::int64_t{d.lower} + d.length - 1);
  const std::int64_t length = upper - (d.lower - before) + 1;
  if (length > static_cast<std::int64_t>(kMaxElements)) too_large();
  elements.insert(elements.begin(), static_cast<std::size_t>(before), Value::null());
  elements.resize(static_cast<std::size_t>(length));
  d.lower -= static_cast<std::int32_t>(before);
  d.length = static_cast<std::int32_t>(length);
}

}  // namespace

Value array_set_slice(Arena& arena, TypeId element_type, const Value& array,
                      std::span<const SliceBound> bounds, const Value& source) {
  const Value old = array.is_null() ? make_array(arena, element_type, {}, {}) : array;
  if (source.is_null()) return old;
  const ArrayView view{old};
  const ArrayView news{source};
  const std::size_t count = view.dimension_count();
  if (count == 0) return slice_of_nothing(arena, element_type, bounds, news);
  if (count < bounds.size()) wrong_subscripts("wrong number of array subscripts");
  CountedValues elements = all_elements(arena, view);
  ArrayDimension dimensions[kMaxArrayDimensions];
  ArrayDimension span[kMaxArrayDimensions];
  Range ranges[kMaxArrayDimensions];
  for (std::size_t i = 0; i < count; ++i) {
    dimensions[i] = view.dimension(i);
    ranges[i] = range_of(i < bounds.size() ? bounds[i] : SliceBound{}, dimensions[i]);
    if (count == 1) extend(elements, dimensions[0], ranges[0]);
    const std::int64_t end = std::int64_t{dimensions[i].lower} + dimensions[i].length;
    if (ranges[i].lower < dimensions[i].lower || ranges[i].upper >= end) {
      wrong_subscripts("array subscript out of range");
    }
    span[i].length = static_cast<std::int32_t>(ranges[i].length());
  }
  const std::size_t size = array_size({span, count});
  if (size > news.size()) wrong_subscripts("source array too small");
  for (std::size_t n = 0; n < size; ++n) {
    std::size_t rest = n;
    std::size_t index = 0;
    std::size_t stride = 1;
    for (std::size_t i = count; i-- > 0;) {
      const auto length = static_cast<std::size_t>(span[i].length);
      const auto first = static_cast<std::size_t>(ranges[i].lower - dimensions[i].lower);
      index += (first + rest % length) * stride;
      rest /= length;
      stride *= static_cast<std::size_t>(dimensions[i].length);
    }
    elements[index] = news.element(n);
  }
  return make_array(arena, element_type, {dimensions, count}, elements);
}

void require_accumulable(const Value* first, const Value& array) {
  if (array.is_null())
    throw SqlError{sqlstate::null_value_not_allowed, "cannot accumulate null arrays"};
  const ArrayView view{array};
  if (first == nullptr && view.dimension_count() == 0)
    throw SqlError{sqlstate::array_subscript_error, "cannot accumulate empty arrays"};
  if (first == nullptr) return;
  const ArrayView wanted{*first};
  bool same = wanted.dimension_count() == view.dimension_count();
  for (std::size_t i = 0; same && i < view.dimension_count(); ++i)
    same = wanted.dimension(i) == view.dimension(i);
  if (!same)
    throw SqlError{sqlstate::array_subscript_error,
                   "cannot accumulate arrays of different dimensionality"};
}

namespace {

[[noreturn]] void refuse_other_dimensions() {
  throw SqlError{sqlstate::array_subscript_error,
                 "multidimensional arrays must have array expressions with matching dimensions"};
}

}  // namespace

Value array_of_arrays(Arena& arena, TypeId element_type, std::span<const Value> arrays) {
  CountedValues elements = counted_values(arena);
  ArrayDimension dimensions[kMaxArrayDimensions];
  std::size_t inner = 0;
  std::size_t empty = 0;
  for (const Value& array : arrays) {
    // NULL is none of them, as an array without elements is.
    const std::size_t count = array.is_null() ? 0 : ArrayView{array}.dimension_count();
    if (count == 0) {
      ++empty;
      continue;
    }
    const ArrayView view{array};
    if (inner == 0) {
      inner = count;
      if (inner + 1 > kMaxArrayDimensions)
        throw_error(sqlstate::program_limit_exceeded,
                    "number of array dimensions ({}) exceeds the maximum allowed ({})", inner + 1,
                    kMaxArrayDimensions);
      for (std::size_t i = 0; i < inner; ++i) dimensions[i + 1] = view.dimension(i);
    }
    bool same = count == inner;
    for (std::size_t i = 0; same && i < inner; ++i) same = view.dimension(i) == dimensions[i + 1];
    if (!same) refuse_other_dimensions();
    for (std::size_t i = 0; i < view.size(); ++i) elements.push_back(view.element(i));
  }
  if (inner == 0) return make_array(arena, element_type, {}, {});
  if (empty > 0) refuse_other_dimensions();
  dimensions[0] = {static_cast<std::int32_t>(arrays.size()), 1};
  return make_array(arena, element_type, {dimensions, inner + 1}, elements);
}

}  // namespace swizzle::sql
