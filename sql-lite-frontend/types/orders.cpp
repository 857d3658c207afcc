#include "sql-lite-frontend/types/orders.h"

#include <algorithm>

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

int compare_signed(const Value& a, const Value& b) {
  return order_of(a.as_int8(), b.as_int8());
}
int compare_unsigned(const Value& a, const Value& b) {
  return order_of(static_cast<std::uint64_t>(a.as_int8()), static_cast<std::uint64_t>(b.as_int8()));
}
int compare_bytes(const Value& a, const Value& b) {
  return compare(a.as_bytes(), b.as_bytes());
}

std::uint64_t hash_scalar(const Value& value, std::uint64_t seed) {
  return hash_integer(static_cast<std::uint64_t>(value.as_int8()), seed);
}
std::uint64_t hash_whole(const Value& value, std::uint64_t seed) {
  return hash_bytes(value.as_bytes(), seed);
}

std::uint64_t first_bytes(Bytes bytes) noexcept {
  std::uint64_t head = 0;
  if (!bytes.empty()) std::memcpy(&head, bytes.data(), std::min(bytes.size(), sizeof head));
  return std::byteswap(head);
}
std::uint64_t head_of_integer(const Value& value) {
  return static_cast<std::uint64_t>(value.as_int8()) ^ std::uint64_t{1} << 63U;
}
std::uint64_t head_of_bytes(const Value& value) {
  return first_bytes(value.as_bytes());
}
std::optional<double> position_of_integer(const Value& value) {
  return static_cast<double>(value.as_int8());
}

namespace keys {

void corrupt() {
  throw SqlError{sqlstate::index_corrupted, "an index key does not have its columns' form"};
}

namespace {
constexpr char kEscapedZero = static_cast<char>(0xff);
constexpr char kBytesEnd = 0x01;
}  // namespace

void put_bytes(std::string& key, std::string_view bytes) {
  for (const char c : bytes) {
    key.push_back(c);
    if (c == '\0') key.push_back(kEscapedZero);
  }
  key.push_back('\0');
  key.push_back(kBytesEnd);
}

Value take_bytes(Bytes& key, TypeId, Arena& arena) {
  std::string out;
  for (std::size_t i = 0; i + 1 < key.size(); ++i) {
    const char c = static_cast<char>(key[i]);
    if (c != '\0') {
      out.push_back(c);
      continue;
    }
    ++i;
    const char next = static_cast<char>(key[i]);
    if (next == kBytesEnd) {
      key = key.subspan(i + 1);
      return make_text(arena, out);
    }
    if (next != kEscapedZero) corrupt();
    out.push_back('\0');
  }
  corrupt();
}

void put_text(std::string& key, std::string_view text) {
  key.append(text);
  key.push_back('\0');
}

Value take_text(Bytes& key, TypeId, Arena&) {
  const auto end = std::ranges::find(key, std::byte{0});
  if (end == key.end()) corrupt();
  const auto size = static_cast<std::size_t>(end - key.begin());
  const Value out = Value::from_bytes(key.first(size));
  key = key.subspan(size + 1);
  return out;
}

void put_byte(std::string& key, const Value& value) {
  key.push_back(static_cast<char>(value.as_int4()));
}
Value take_byte(Bytes& key, TypeId, Arena&) {
  return Value::from_int(take<std::uint8_t>(key));
}
void put_int16(std::string& key, const Value& value) {
  put(key, static_cast<std::uint16_t>(static_cast<std::uint16_t>(value.as_int2()) ^ 0x8000U));
}
Value take_int16(Bytes& key, TypeId, Arena&) {
  return Value::from_int(static_cast<std::int16_t>(take<std::uint16_t>(key) ^ 0x8000U));
}
void put_int32(std::string& key, const Value& value) {
  put_signed32(key, value.as_int4());
}
Value take_int32(Bytes& key, TypeId, Arena&) {
  return Value::from_int(take_signed32(key));
}
void put_uint32(std::string& key, const Value& value) {
  put(key, value.as_oid());
}
Value take_uint32(Bytes& key, TypeId, Arena&) {
  return Value::from_oid(take<std::uint32_t>(key));
}
void put_int64(std::string& key, const Value& value) {
  put_signed64(key, value.as_int8());
}
Value take_int64(Bytes& key, TypeId, Arena&) {
  return Value::from_int(take_signed64(key));
}
void put_uint64(std::string& key, const Value& value) {
  put(key, static_cast<std::uint64_t>(value.as_int8()));
}
Value take_uint64(Bytes& key, TypeId, Arena&) {
  return Value::from_int(static_cast<std::int64_t>(take<std::uint64_t>(key)));
}
void put_whole_bytes(std::string& key, const Value& value) {
  put_bytes(key, value.as_text());
}
void put_whole_text(std::string& key, const Value& value) {
  put_text(key, value.as_text());
}

void put_value(std::string& key, TypeId type, const Value& value) {
  const TypeOrder& order = value_type(type).order;
  if (order.put_key == nullptr)
    throw_error(sqlstate::undefined_object,
                "data type {} has no default operator class for access method \"btree\"",
                format_type(type));
  order.put_key(key, value);
}

Value take_value(Bytes& key, TypeId type, Arena& arena) {
  const Type& known = value_type(type);
  if (known.order.take_key == nullptr) corrupt();
  return known.order.take_key(key, type, arena);
}

}  // namespace keys

}  // namespace swizzle::sql
