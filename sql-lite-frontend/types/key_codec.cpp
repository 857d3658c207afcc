#include "sql-lite-frontend/types/key_codec.h"

#include <algorithm>

#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/statement_invariant.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

/// Decodes a value of a descending column from a complemented copy of the key.
Value take_descending(Bytes& key, TypeId type, Arena& arena) {
  std::byte* copy = arena.allocate(key.size(), 1);
  std::ranges::transform(key, copy, [](std::byte b) { return ~b; });
  Bytes rest{copy, key.size()};
  const Value out = keys::take_value(rest, type, arena);
  key = key.subspan(key.size() - rest.size());
  return out;
}

/// Takes the NULL marker; returns true if the column is NULL.
bool take_null_marker(Bytes& key, NullsOrder nulls) {
  if (nulls == NullsOrder::absent) return false;
  const char marker = static_cast<char>(keys::take<std::uint8_t>(key));
  if (marker == keys::kPresent) return false;
  if (marker != (nulls == NullsOrder::first ? keys::kNullFirst : keys::kNullLast)) keys::corrupt();
  return true;
}

}  // namespace

void append_key(std::string& key, const KeyColumn& column, const Value& value) {
  if (value.is_null()) {
    STATEMENT_INVARIANT(column.nulls != NullsOrder::absent);
    return key.push_back(column.nulls == NullsOrder::first ? keys::kNullFirst : keys::kNullLast);
  }
  if (column.nulls != NullsOrder::absent) key.push_back(keys::kPresent);
  const std::size_t start = key.size();
  keys::put_value(key, column.type, value);
  if (column.direction == SortDirection::descending)
    for (std::size_t i = start; i < key.size(); ++i)
      key[i] = static_cast<char>(~static_cast<unsigned char>(key[i]));
}

bool is_indexable(TypeId type) noexcept {
  const Type& known = value_type(type);
  if (known.order.compare == nullptr || known.order.take_key == nullptr) return false;
  // The fields of an anonymous row are unknown, so its keys could not be compared.
  if (known.shape == Shape::record) return is_composite(base_type(type));
  if (known.shape != Shape::array) return true;
  return element_type(type) != TypeId::none && is_indexable(element_type(type));
}

bool key_keeps_value(TypeId type) noexcept {
  const Type& known = value_type(type);
  if (known.shape != Shape::array) return known.order.key_keeps_value;
  return element_type(type) != TypeId::none && key_keeps_value(element_type(type));
}

Value take_key(Bytes& key, const KeyColumn& column, Arena& arena) {
  if (take_null_marker(key, column.nulls)) return Value::null();
  return column.direction == SortDirection::ascending ? keys::take_value(key, column.type, arena)
                                                      : take_descending(key, column.type, arena);
}

void skip_key(Bytes& key, const KeyColumn& column) {
  if (take_null_marker(key, column.nulls)) return;
  if (const std::size_t width = value_type(column.type).order.key_width; width != 0) {
    if (key.size() < width) keys::corrupt();
    key = key.subspan(width);
    return;
  }
  Arena scratch{256};
  if (column.direction == SortDirection::ascending)
    keys::take_value(key, column.type, scratch);
  else
    take_descending(key, column.type, scratch);
}

std::string key_successor(std::string_view key) {
  std::string out{key};
  while (!out.empty() && static_cast<unsigned char>(out.back()) == 0xff) out.pop_back();
  if (!out.empty()) out.back() = static_cast<char>(static_cast<unsigned char>(out.back()) + 1);
  return out;
}

}  // namespace swizzle::sql
