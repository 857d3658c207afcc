#include <algorithm>
#include <string>

#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {
namespace {

constexpr std::uint8_t kBigNumeric = 0xff;

[[noreturn]] void corrupt_value() {
  throw SqlError{sqlstate::data_corrupted, "a stored value does not have its type's form"};
}

template <class T>
void append_raw(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

// Writes only the bytes that a small number needs: 12.50 takes three.
void append_flat_numeric(std::string& out, const Value& value) {
  if (value.kind() == Value::Kind::bytes) {
    out.push_back(static_cast<char>(kBigNumeric));
    out.append(value.as_text());
    return;
  }
  out.push_back(static_cast<char>(value.decimal_scale()));
  std::int64_t rest = value.decimal_unscaled();
  if (rest == 0) return;
  while (true) {
    const auto low = static_cast<std::int8_t>(rest & 0xff);
    out.push_back(static_cast<char>(low));
    if (rest == low) return;  // the sign of the last byte is the number's
    rest >>= 8;
  }
}

Value read_flat_numeric(Bytes bytes) {
  if (bytes.empty()) corrupt_value();
  const auto scale = static_cast<std::uint8_t>(bytes[0]);
  const Bytes rest = bytes.subspan(1);
  if (scale == kBigNumeric) {
    if (!is_numeric_blob(rest)) corrupt_value();
    return Value::from_bytes(rest);
  }
  if (scale > kMaxDecimalScale || rest.size() > 8) corrupt_value();
  if (rest.empty()) return Value::from_decimal(0, scale);
  std::uint64_t bits = 0;
  for (std::size_t i = rest.size(); i-- > 0;)
    bits = bits << 8 | std::to_integer<std::uint64_t>(rest[i]);
  const unsigned unused = 64 - 8 * static_cast<unsigned>(rest.size());
  const auto number = static_cast<std::int64_t>(bits << unused) >> unused;
  return Value::from_decimal(number, scale);
}

}  // namespace

std::size_t flat_width(Shape shape) noexcept {
  switch (shape) {
    case Shape::boolean:
    case Shape::char8:
      return 1;
    case Shape::int16:
      return 2;
    case Shape::int32:
    case Shape::uint32:
    case Shape::float32:
      return 4;
    case Shape::int64:
    case Shape::uint64:
    case Shape::float64:
      return 8;
    case Shape::timetz:
      return 12;
    case Shape::interval:
    case Shape::uuid:
      return 16;
    default:
      return 0;
  }
}

Shape shape_of(TypeId type) noexcept {
  return value_type(type).shape;
}

void append_flat(std::string& out, Shape shape, const Value& value) {
  switch (shape) {
    case Shape::boolean:
    case Shape::char8:
      return out.push_back(static_cast<char>(value.as_int4()));
    case Shape::int16:
      return append_raw(out, value.as_int2());
    case Shape::int32:
    case Shape::uint32:
    case Shape::float32:
      return append_raw(out, value.as_oid());
    case Shape::int64:
    case Shape::uint64:
    case Shape::float64:
      return append_raw(out, value.as_int8());
    case Shape::timetz:
      append_raw(out, value.as_timetz().microseconds);
      return append_raw(out, value.as_timetz().zone_seconds);
    case Shape::numeric:
      return append_flat_numeric(out, value);
    default:
      out.append(value.as_text());
  }
}

Value read_flat(Shape shape, Bytes bytes) {
  const std::size_t width = flat_width(shape);
  if (width != 0 && bytes.size() != width) corrupt_value();
  switch (shape) {
    case Shape::boolean:
    case Shape::char8:
      return Value::from_int(std::to_integer<std::uint8_t>(bytes[0]));
    case Shape::int16:
      return Value::from_int(load<std::int16_t>(bytes.data()));
    case Shape::int32:
      return Value::from_int(load<std::int32_t>(bytes.data()));
    case Shape::uint32:
    case Shape::float32:
      return Value::from_oid(load<std::uint32_t>(bytes.data()));
    case Shape::int64:
    case Shape::uint64:
    case Shape::float64:
      return Value::from_int(load<std::int64_t>(bytes.data()));
    case Shape::timetz:
      return Value::from_timetz(
          {load<std::int64_t>(bytes.data()), load<std::int32_t>(bytes.data() + 8)});
    case Shape::numeric:
      return read_flat_numeric(bytes);
    default:
      return Value::from_bytes(bytes);
  }
}

}  // namespace swizzle::sql
