#include "sql-lite-frontend/types/array/fixed_array.h"

#include <optional>
#include <string>

#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

/// Returns the element's offset in the value, if there is one.
std::optional<std::size_t> place_of_element(TypeId type, const Value& value,
                                            std::span<const std::int32_t> subscripts) {
  const auto width = static_cast<std::size_t>(type_info(fixed_element(type)).length);
  if (subscripts.size() != 1 || subscripts[0] < 0) return std::nullopt;
  const std::size_t at = static_cast<std::size_t>(subscripts[0]) * width;
  if (at + width > value.as_bytes().size()) return std::nullopt;
  return at;
}

}  // namespace

TypeId fixed_element(TypeId type) noexcept {
  const Type& info = value_type(base_type(type));
  return info.shape == Shape::bytes && info.length > 0 ? info.element : TypeId::none;
}

Value fixed_array_at(TypeId type, const Value& value, std::span<const std::int32_t> subscripts) {
  const auto at = place_of_element(type, value, subscripts);
  if (!at) return Value::null();
  const Type& element = type_info(fixed_element(type));
  const Bytes bytes = value.as_bytes().subspan(*at, static_cast<std::size_t>(element.length));
  return read_flat(element.shape, bytes);
}

Value fixed_array_set(Arena& arena, TypeId type, const Value& value,
                      std::span<const std::int32_t> subscripts, const Value& element) {
  if (value.is_null() || element.is_null()) return value;
  if (subscripts.size() != 1)
    throw SqlError{sqlstate::array_subscript_error, "wrong number of array subscripts"};
  const auto at = place_of_element(type, value, subscripts);
  if (!at) throw SqlError{sqlstate::array_subscript_error, "array subscript out of range"};
  std::string changed{value.as_text()};
  std::string part;
  append_flat(part, type_info(fixed_element(type)).shape, element);
  changed.replace(*at, part.size(), part);
  return make_text(arena, changed);
}

}  // namespace swizzle::sql
