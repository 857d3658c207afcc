#include "sql-lite-frontend/types/key_codec.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "sql-lite-frontend/types/array.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/datetime.h"
#include "sql-lite-frontend/types/int128.h"
#include "sql-lite-frontend/types/json_key.h"
#include "sql-lite-frontend/types/numeric.h"
#include "sql-lite-frontend/types/record.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

// In front of a column that may be NULL.
constexpr char kNullFirst = 0x00;
constexpr char kPresent = 0x01;
constexpr char kNullLast = 0x02;
// In an array, in front of each element and behind the last.
constexpr char kArrayEnd = 0x00;
constexpr char kArrayElement = 0x01;
// In bytea a zero byte is followed by this, the end by something smaller.
constexpr char kEscapedZero = static_cast<char>(0xff);
constexpr char kBytesEnd = 0x01;

[[noreturn]] void corrupt_key() {
  throw SqlError{sqlstate::index_corrupted, "an index key does not have its columns' form"};
}

template <class T>
void put(std::string& key, T value) {
  const T swapped = std::byteswap(value);
  char bytes[sizeof swapped];
  std::memcpy(bytes, &swapped, sizeof swapped);
  key.append(bytes, sizeof swapped);
}

template <class T>
T take(Bytes& key) {
  if (key.size() < sizeof(T)) corrupt_key();
  const T value = load_big_endian<T>(key.data());
  key = key.subspan(sizeof(T));
  return value;
}

// Flipping the sign bit puts negative numbers before the others.
void put_signed(std::string& key, std::int64_t value) {
  put(key, static_cast<std::uint64_t>(value) ^ 1ULL << 63);
}
std::int64_t take_signed(Bytes& key) {
  return static_cast<std::int64_t>(take<std::uint64_t>(key) ^ 1ULL << 63);
}
void put_signed32(std::string& key, std::int32_t value) {
  put(key, static_cast<std::uint32_t>(value) ^ 1U << 31);
}
std::int32_t take_signed32(Bytes& key) {
  return static_cast<std::int32_t>(take<std::uint32_t>(key) ^ 1U << 31);
}

// IEEE numbers order as their bits do once negative ones are complemented.
template <class Bits>
Bits ordered_bits(Bits bits) noexcept {
  constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
template <class Bits>
Bits plain_bits(Bits bits) noexcept {
  constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  return (bits & kSign) != 0 ? bits & ~kSign : ~bits;
}
template <class Bits, class Float>
void put_float(std::string& key, Float value) {
  if (std::isnan(value)) value = std::numeric_limits<Float>::quiet_NaN();
  if (value == 0) value = 0;
  put(key, ordered_bits(std::bit_cast<Bits>(value)));
}

void put_bytes(std::string& key, std::string_view bytes) {
  for (const char c : bytes) {
    key.push_back(c);
    if (c == '\0') key.push_back(kEscapedZero);
  }
  key.push_back('\0');
  key.push_back(kBytesEnd);
}

Value take_bytes(Bytes& key, Arena& arena) {
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
    if (next != kEscapedZero) corrupt_key();
    out.push_back('\0');
  }
  corrupt_key();
}

// Text holds no zero byte, so one ends it and the characters stand as they are.
Value take_text(Bytes& key) {
  const auto end = std::ranges::find(key, std::byte{0});
  if (end == key.end()) corrupt_key();
  const auto size = static_cast<std::size_t>(end - key.begin());
  const Value out = Value::from_bytes(key.first(size));
  key = key.subspan(size + 1);
  return out;
}

void put_interval(std::string& key, const Interval& interval) {
  const Int128 total =
      (Int128{interval.months} * 30 + interval.days) * kMicrosPerDay + interval.microseconds;
  const auto bits = static_cast<UInt128>(total);
  put(key, static_cast<std::uint64_t>(bits >> 64) ^ 1ULL << 63);
  put(key, static_cast<std::uint64_t>(bits));
}

/// An interval equal to the one that went in, though perhaps divided otherwise.
Value take_interval(Bytes& key, Arena& arena) {
  const auto high = take<std::uint64_t>(key) ^ 1ULL << 63;
  const auto bits = static_cast<UInt128>(high) << 64 | take<std::uint64_t>(key);
  const auto total = static_cast<Int128>(bits);
  Interval out;
  const Int128 days = total / kMicrosPerDay;
  out.microseconds = static_cast<std::int64_t>(total % kMicrosPerDay);
  out.months = static_cast<std::int32_t>(days / 30);
  out.days = static_cast<std::int32_t>(days % 30);
  return make_interval(arena, out);
}

void put_plain(std::string& key, TypeId type, const Value& value);
Value take_plain(Bytes& key, TypeId type, Arena& arena);

void put_array(std::string& key, const Value& value) {
  const ArrayView view{value};
  for (std::size_t i = 0; i < view.size(); ++i) {
    key.push_back(kArrayElement);
    const Value element = view.element(i);
    key.push_back(element.is_null() ? kNullLast : kPresent);
    if (!element.is_null()) put_plain(key, view.element_type(), element);
  }
  key.push_back(kArrayEnd);
  key.push_back(static_cast<char>(view.dimension_count()));
  for (std::size_t i = 0; i < view.dimension_count(); ++i)
    put_signed32(key, view.dimension(i).length);
  for (std::size_t i = 0; i < view.dimension_count(); ++i)
    put_signed32(key, view.dimension(i).lower);
}

/// Good for comparing, not for an index: what is in a record is known with each value only.
void put_record(std::string& key, const Value& value) {
  const RecordView view{value};
  for (std::size_t i = 0; i < view.size(); ++i) {
    const Value field = view.field(i);
    key.push_back(field.is_null() ? kNullLast : kPresent);
    if (!field.is_null()) put_plain(key, view.type(i), field);
  }
}

Value take_array(Bytes& key, TypeId element, Arena& arena) {
  std::vector<Value> elements;
  while (take<std::uint8_t>(key) == kArrayElement)
    elements.push_back(take<std::uint8_t>(key) == kNullLast ? Value::null()
                                                            : take_plain(key, element, arena));
  const auto count = take<std::uint8_t>(key);
  if (count > kMaxArrayDimensions) corrupt_key();
  ArrayDimension dimensions[kMaxArrayDimensions];
  for (std::size_t i = 0; i < count; ++i) dimensions[i].length = take_signed32(key);
  for (std::size_t i = 0; i < count; ++i) dimensions[i].lower = take_signed32(key);
  const std::span<const ArrayDimension> shape{dimensions, count};
  for (const ArrayDimension& d : shape)
    if (d.length <= 0) corrupt_key();
  if (array_size(shape) != elements.size()) corrupt_key();
  return make_array(arena, element, shape, elements);
}

void put_plain(std::string& key, TypeId type, const Value& value) {
  check_stack();
  switch (shape_of(type)) {
    case Shape::boolean:
    case Shape::char8:
      return key.push_back(static_cast<char>(value.as_int4()));
    case Shape::int16:
      return put(key,
                 static_cast<std::uint16_t>(static_cast<std::uint16_t>(value.as_int2()) ^ 0x8000U));
    case Shape::int32:
      return put_signed32(key, value.as_int4());
    case Shape::uint32:
      return put(key, value.as_oid());
    case Shape::int64:
      return put_signed(key, value.as_int8());
    case Shape::uint64:
      return put(key, static_cast<std::uint64_t>(value.as_int8()));
    case Shape::float32:
      return put_float<std::uint32_t>(key, value.as_float4());
    case Shape::float64:
      return put_float<std::uint64_t>(key, value.as_float8());
    case Shape::timetz: {
      const TimeTz time = value.as_timetz();
      put_signed(key, time.microseconds + time.zone_seconds * kMicrosPerSecond);
      return put_signed32(key, time.zone_seconds);
    }
    case Shape::interval:
      return put_interval(key, value.as_interval());
    case Shape::uuid:
      key.append(value.as_text());
      return;
    case Shape::text: {
      if (base_type(type) == TypeId::jsonb) return append_jsonb_key(key, value.as_text());
      std::string_view text = value.as_text();
      if (base_type(type) == TypeId::bpchar) text = text.substr(0, text.find_last_not_of(' ') + 1);
      key.append(text);
      return key.push_back('\0');
    }
    case Shape::bytes:
      return put_bytes(key, value.as_text());
    case Shape::numeric:
      return append_numeric_key(key, value);
    case Shape::array:
      return put_array(key, value);
    case Shape::record:
      return put_record(key, value);
    case Shape::none:
      break;
  }
  throw_error(sqlstate::undefined_object,
              "data type {} has no default operator class for access method \"btree\"",
              format_type(type));
}

Value take_plain(Bytes& key, TypeId type, Arena& arena) {
  check_stack();
  switch (shape_of(type)) {
    case Shape::boolean:
    case Shape::char8:
      return Value::from_int(take<std::uint8_t>(key));
    case Shape::int16:
      return Value::from_int(static_cast<std::int16_t>(take<std::uint16_t>(key) ^ 0x8000U));
    case Shape::int32:
      return Value::from_int(take_signed32(key));
    case Shape::uint32:
      return Value::from_oid(take<std::uint32_t>(key));
    case Shape::int64:
      return Value::from_int(take_signed(key));
    case Shape::uint64:
      return Value::from_int(static_cast<std::int64_t>(take<std::uint64_t>(key)));
    case Shape::float32:
      return Value::from_float4(std::bit_cast<float>(plain_bits(take<std::uint32_t>(key))));
    case Shape::float64:
      return Value::from_float8(std::bit_cast<double>(plain_bits(take<std::uint64_t>(key))));
    case Shape::timetz: {
      const std::int64_t instant = take_signed(key);
      const std::int32_t zone = take_signed32(key);
      return Value::from_timetz({instant - zone * kMicrosPerSecond, zone});
    }
    case Shape::interval:
      return take_interval(key, arena);
    case Shape::uuid: {
      if (key.size() < 16) corrupt_key();
      const Value out = Value::from_bytes(key.first(16));
      key = key.subspan(16);
      return out;
    }
    case Shape::text:
      return base_type(type) == TypeId::jsonb ? take_jsonb_key(key, arena) : take_text(key);
    case Shape::bytes:
      return take_bytes(key, arena);
    case Shape::numeric:
      return take_numeric_key(key, arena);
    case Shape::array:
      return take_array(key, element_type(type), arena);
    default:
      corrupt_key();
  }
}

/// A descending column is complemented; its value has to be copied to be read.
Value take_descending(Bytes& key, TypeId type, Arena& arena) {
  std::byte* copy = arena.allocate(key.size(), 1);
  std::ranges::transform(key, copy, [](std::byte b) { return ~b; });
  Bytes rest{copy, key.size()};
  const Value out = take_plain(rest, type, arena);
  key = key.subspan(key.size() - rest.size());
  return out;
}

/// Takes the marker; whether the column is NULL.
bool take_null_marker(Bytes& key, NullsOrder nulls) {
  if (nulls == NullsOrder::absent) return false;
  const char marker = static_cast<char>(take<std::uint8_t>(key));
  if (marker == kPresent) return false;
  if (marker != (nulls == NullsOrder::first ? kNullFirst : kNullLast)) corrupt_key();
  return true;
}

}  // namespace

void append_key(std::string& key, const KeyColumn& column, const Value& value) {
  if (value.is_null()) {
    INVARIANT(column.nulls != NullsOrder::absent);
    return key.push_back(column.nulls == NullsOrder::first ? kNullFirst : kNullLast);
  }
  if (column.nulls != NullsOrder::absent) key.push_back(kPresent);
  const std::size_t start = key.size();
  put_plain(key, column.type, value);
  if (column.direction == SortDirection::descending)
    for (std::size_t i = start; i < key.size(); ++i)
      key[i] = static_cast<char>(~static_cast<unsigned char>(key[i]));
}

bool is_indexable(TypeId type) noexcept {
  if (compare_function(type) == nullptr) return false;
  const Shape shape = shape_of(type);
  if (shape == Shape::array)
    return element_type(type) != TypeId::none && is_indexable(element_type(type));
  return shape != Shape::record;
}

bool key_keeps_value(TypeId type) noexcept {
  type = base_type(type);
  if (type == TypeId::bpchar || type == TypeId::jsonb) return false;
  switch (shape_of(type)) {
    case Shape::numeric:
    case Shape::float32:
    case Shape::float64:
    case Shape::interval:
    case Shape::record:
    case Shape::none:
      return false;
    case Shape::array:
      return element_type(type) != TypeId::none && key_keeps_value(element_type(type));
    default:
      return true;
  }
}

Value take_key(Bytes& key, const KeyColumn& column, Arena& arena) {
  if (take_null_marker(key, column.nulls)) return Value::null();
  return column.direction == SortDirection::ascending ? take_plain(key, column.type, arena)
                                                      : take_descending(key, column.type, arena);
}

void skip_key(Bytes& key, const KeyColumn& column) {
  if (take_null_marker(key, column.nulls)) return;
  if (const std::size_t width = flat_width(shape_of(column.type)); width != 0) {
    if (key.size() < width) corrupt_key();
    key = key.subspan(width);
    return;
  }
  Arena scratch{256};
  if (column.direction == SortDirection::ascending)
    take_plain(key, column.type, scratch);
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
