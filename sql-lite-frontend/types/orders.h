#pragma once

#include "sql-lite-frontend/types/type.h"

/// Orders that several types share, and building blocks for orders of single types.
namespace swizzle::sql {

int compare_signed(const Value& a, const Value& b);
int compare_unsigned(const Value& a, const Value& b);
int compare_bytes(const Value& a, const Value& b);
std::uint64_t hash_scalar(const Value& value, std::uint64_t seed);
std::uint64_t hash_whole(const Value& value, std::uint64_t seed);

template <class T>
int order_of(T a, T b) noexcept {
  return static_cast<int>(a > b) - static_cast<int>(a < b);
}

namespace keys {

/// Throws XX002: malformed key.
[[noreturn]] void corrupt();

template <class T>
void put(std::string& key, T value) {
  const T swapped = std::byteswap(value);
  char bytes[sizeof swapped];
  std::memcpy(bytes, &swapped, sizeof swapped);
  key.append(bytes, sizeof swapped);
}
template <class T>
T take(Bytes& key) {
  if (key.size() < sizeof(T)) corrupt();
  const T value = load_big_endian<T>(key.data());
  key = key.subspan(sizeof(T));
  return value;
}

// Flipping the sign bit puts negative numbers before the others.
inline void put_signed64(std::string& key, std::int64_t value) {
  put(key, static_cast<std::uint64_t>(value) ^ 1ULL << 63U);
}
inline std::int64_t take_signed64(Bytes& key) {
  return static_cast<std::int64_t>(take<std::uint64_t>(key) ^ 1ULL << 63U);
}
inline void put_signed32(std::string& key, std::int32_t value) {
  put(key, static_cast<std::uint32_t>(value) ^ 1U << 31U);
}
inline std::int32_t take_signed32(Bytes& key) {
  return static_cast<std::int32_t>(take<std::uint32_t>(key) ^ 1U << 31U);
}

/// Appends arbitrary bytes: a zero byte is escaped with 0xff, and the terminator is smaller.
void put_bytes(std::string& key, std::string_view bytes);
Value take_bytes(Bytes& key, TypeId type, Arena& arena);
/// Appends text, which has no zero bytes, verbatim with a zero byte as terminator.
void put_text(std::string& key, std::string_view text);
Value take_text(Bytes& key, TypeId type, Arena& arena);

// Encoders of whole values.
void put_byte(std::string& key, const Value& value);
Value take_byte(Bytes& key, TypeId type, Arena& arena);
void put_int16(std::string& key, const Value& value);
Value take_int16(Bytes& key, TypeId type, Arena& arena);
void put_int32(std::string& key, const Value& value);
Value take_int32(Bytes& key, TypeId type, Arena& arena);
void put_uint32(std::string& key, const Value& value);
Value take_uint32(Bytes& key, TypeId type, Arena& arena);
void put_int64(std::string& key, const Value& value);
Value take_int64(Bytes& key, TypeId type, Arena& arena);
void put_uint64(std::string& key, const Value& value);
Value take_uint64(Bytes& key, TypeId type, Arena& arena);
void put_whole_bytes(std::string& key, const Value& value);
void put_whole_text(std::string& key, const Value& value);

/// Appends any value by its type, as a part of an array or a row. Pre: not NULL.
void put_value(std::string& key, TypeId type, const Value& value);
Value take_value(Bytes& key, TypeId type, Arena& arena);

// Markers before a part that may be NULL, before an array's elements, and after the last one.
inline constexpr char kNullFirst = 0x00;
inline constexpr char kPresent = 0x01;
inline constexpr char kNullLast = 0x02;
inline constexpr char kArrayEnd = 0x00;
inline constexpr char kArrayElement = 0x01;

}  // namespace keys

/// Returns the first eight bytes as a number with the same order.
std::uint64_t first_bytes(Bytes bytes) noexcept;
std::uint64_t head_of_integer(const Value& value);
std::uint64_t head_of_bytes(const Value& value);
std::optional<double> position_of_integer(const Value& value);

/// Order of fixed-width values that are their own key.
constexpr TypeOrder integer_order(void (*put)(std::string&, const Value&),
                                  Value (*take)(Bytes&, TypeId, Arena&), std::uint8_t width) {
  return {.compare = &compare_signed,
          .hash = &hash_scalar,
          .put_key = put,
          .take_key = take,
          .key_width = width,
          .key_keeps_value = true,
          .is_integer = true,
          .head = &head_of_integer,
          .position = &position_of_integer};
}

inline constexpr TypeOrder kByteOrder = integer_order(&keys::put_byte, &keys::take_byte, 1);
inline constexpr TypeOrder kInt16Order = integer_order(&keys::put_int16, &keys::take_int16, 2);
inline constexpr TypeOrder kInt32Order = integer_order(&keys::put_int32, &keys::take_int32, 4);
inline constexpr TypeOrder kUint32Order = integer_order(&keys::put_uint32, &keys::take_uint32, 4);
inline constexpr TypeOrder kInt64Order = integer_order(&keys::put_int64, &keys::take_int64, 8);
inline constexpr TypeOrder kUint64Order{.compare = &compare_unsigned,
                                        .hash = &hash_scalar,
                                        .put_key = &keys::put_uint64,
                                        .take_key = &keys::take_uint64,
                                        .key_width = 8,
                                        .key_keeps_value = true};
inline constexpr TypeOrder kBytesOrder{.compare = &compare_bytes,
                                       .hash = &hash_whole,
                                       .put_key = &keys::put_whole_bytes,
                                       .take_key = &keys::take_bytes,
                                       .key_keeps_value = true,
                                       .head = &head_of_bytes};
inline constexpr TypeOrder kTextOrder{.compare = &compare_bytes,
                                      .hash = &hash_whole,
                                      .put_key = &keys::put_whole_text,
                                      .take_key = &keys::take_text,
                                      .key_keeps_value = true,
                                      .head = &head_of_bytes};

/// Removes the comparison, for types with equality alone.
constexpr TypeOrder without_comparison(TypeOrder order) {
  order.compare = nullptr;
  return order;
}
/// Removes equality too, for types such as json; keys remain for comparing values in print.
constexpr TypeOrder without_equality(TypeOrder order) {
  order.compare = nullptr;
  order.hash = nullptr;
  return order;
}

}  // namespace swizzle::sql
