#include "sql-lite-frontend/types/array/array_order.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/equality.h"
#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

bool has_equality(TypeId type) noexcept {
  const Type& known = value_type(type);
  if (known.shape == Shape::record) return true;
  if (known.shape == Shape::array) {
    return element_type(type) != TypeId::none && has_equality(element_type(type));
  }
  const TypeOrder& order = known.order;
  if (order.compare != nullptr) return order.take_key != nullptr;
  return order.hash != nullptr && order.put_key != nullptr;
}

bool equal_arrays(const Value& left, const Value& right) {
  const ArrayView view{left};
  const bool any = view.size() > 0 && ArrayView{right}.size() > 0;
  const TypeId element = view.element_type();
  if (!any || compare_function(element) != nullptr) return compare_array(left, right) == 0;
  if (!has_equality(element)) {
    throw_error(sqlstate::undefined_function, "could not identify an equality operator for type {}",
                format_type(element));
  }
  std::string left_key;
  std::string right_key;
  put_array_key(left_key, left);
  put_array_key(right_key, right);
  return left_key == right_key;
}

int compare_array(const Value& a, const Value& b) {
  const ArrayView left{a};
  const bool any = left.size() > 0 && ArrayView{b}.size() > 0;
  return compare_array_by(any ? ordered(left.element_type()) : nullptr, a, b);
}

int compare_array_by(CompareFunction function, const Value& a, const Value& b) {
  check_stack();
  const ArrayView left{a};
  const ArrayView right{b};
  const std::size_t common = std::min(left.size(), right.size());
  for (std::size_t i = 0; i < common; ++i)
    if (const int by = compare_with_nulls(function, left.element(i), right.element(i)); by != 0)
      return by;
  if (left.size() != right.size()) return order_of(left.size(), right.size());
  if (left.dimension_count() != right.dimension_count())
    return order_of(left.dimension_count(), right.dimension_count());
  for (std::size_t i = 0; i < left.dimension_count(); ++i)
    if (left.dimension(i).length != right.dimension(i).length)
      return order_of(left.dimension(i).length, right.dimension(i).length);
  for (std::size_t i = 0; i < left.dimension_count(); ++i)
    if (left.dimension(i).lower != right.dimension(i).lower)
      return order_of(left.dimension(i).lower, right.dimension(i).lower);
  return 0;
}

std::uint64_t hash_array(const Value& value, std::uint64_t seed) {
  const ArrayView view{value};
  return hash_array_by(view.size() == 0 ? nullptr : hashed(view.element_type()), value, seed);
}

std::uint64_t hash_array_by(HashFunction function, const Value& value, std::uint64_t seed) {
  check_stack();
  const ArrayView view{value};
  if (view.size() == 0) return hash_integer(0, seed);
  for (std::size_t i = 0; i < view.size(); ++i) {
    const Value element = view.element(i);
    seed = element.is_null() ? hash_integer(kNullHash, seed) : function(element, seed);
  }
  return seed;
}

namespace {

/// `put` appends an element that is not NULL.
template <class Put>
void put_key_of_array(std::string& key, const Value& value, Put put) {
  check_stack();
  const ArrayView view{value};
  for (std::size_t i = 0; i < view.size(); ++i) {
    key.push_back(keys::kArrayElement);
    const Value element = view.element(i);
    key.push_back(element.is_null() ? keys::kNullLast : keys::kPresent);
    if (!element.is_null()) put(element);
  }
  key.push_back(keys::kArrayEnd);
  key.push_back(static_cast<char>(view.dimension_count()));
  for (std::size_t i = 0; i < view.dimension_count(); ++i)
    keys::put_signed32(key, view.dimension(i).length);
  for (std::size_t i = 0; i < view.dimension_count(); ++i)
    keys::put_signed32(key, view.dimension(i).lower);
}

}  // namespace

void put_array_key(std::string& key, const Value& value) {
  const TypeId type = ArrayView{value}.element_type();
  put_key_of_array(key, value, [&](const Value& element) { keys::put_value(key, type, element); });
}

void put_array_key_by(void (*put)(std::string& key, const Value& element), std::string& key,
                      const Value& value) {
  put_key_of_array(key, value, [&](const Value& element) { put(key, element); });
}

Value take_array_key(Bytes& key, TypeId type, Arena& arena) {
  check_stack();
  const TypeId element = element_type(type);
  std::vector<Value> elements;
  while (keys::take<std::uint8_t>(key) == keys::kArrayElement)
    elements.push_back(keys::take<std::uint8_t>(key) == keys::kNullLast
                           ? Value::null()
                           : keys::take_value(key, element, arena));
  const auto count = keys::take<std::uint8_t>(key);
  if (count > kMaxArrayDimensions) keys::corrupt();
  ArrayDimension dimensions[kMaxArrayDimensions];
  for (std::size_t i = 0; i < count; ++i) dimensions[i].length = keys::take_signed32(key);
  for (std::size_t i = 0; i < count; ++i) dimensions[i].lower = keys::take_signed32(key);
  const std::span<const ArrayDimension> shape{dimensions, count};
  for (const ArrayDimension& d : shape)
    if (d.length <= 0) keys::corrupt();
  if (array_size(shape) != elements.size()) keys::corrupt();
  return make_array(arena, element, shape, elements);
}

}  // namespace swizzle::sql
