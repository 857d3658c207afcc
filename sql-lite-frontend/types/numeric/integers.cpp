#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/numeric/number_base.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/text/bytea.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {

namespace {

/// Fast path for nearly all input: only digits and an optional minus, too few to overflow.
std::optional<std::int64_t> parse_plain_integer(std::string_view text) noexcept {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > std::numeric_limits<std::int64_t>::digits10) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return negative ? -number : number;
}

}  // namespace

std::int64_t parse_integer(TypeId type, std::string_view text, std::int64_t min, std::int64_t max) {
  const auto plain = parse_plain_integer(text);
  if (plain && *plain >= min && *plain <= max) return *plain;
  std::string_view body = trim_space(text);
  const bool negative = body.starts_with('-');
  if (negative || body.starts_with('+')) body.remove_prefix(1);
  const int base = take_base(body);
  // Accumulate downwards, because the negative range is larger by one.
  std::int64_t number = 0;
  std::size_t at = 0;
  bool overflow = false;
  while (at < body.size() && !overflow) {
    // An underscore stands before a digit, and not first in a decimal number.
    if (body[at] == '_' && (base != 10 || at > 0)) ++at;
    const int digit = at < body.size() ? hex_digit(body[at]) : -1;
    if (digit < 0 || digit >= base) throw_invalid_syntax(type, text);
    overflow = __builtin_mul_overflow(number, base, &number) ||
               __builtin_sub_overflow(number, digit, &number) || number < std::min(min, -max);
    ++at;
  }
  if (at == 0) throw_invalid_syntax(type, text);
  if (!negative && !overflow) {
    overflow = number == std::numeric_limits<std::int64_t>::min();
    if (!overflow) number = -number;
  }
  if (overflow || number < min || number > max)
    throw_error(sqlstate::numeric_value_out_of_range, "value \"{}\" is out of range for type {}",
                text, format_type(type));
  return number;
}

namespace {

struct IntegerRange {
  std::int64_t min;
  std::int64_t max;
};

IntegerRange range_of(TypeId type) noexcept {
  if (type == TypeId::int2) return {INT16_MIN, INT16_MAX};
  if (type == TypeId::int4) return {INT32_MIN, INT32_MAX};
  return {INT64_MIN, INT64_MAX};
}

void append_number(std::string& out, std::int64_t number) {
  char digits[24];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, static_cast<std::size_t>(end - digits));
}

Value receive_integer(FunctionContext&, TypeId type, std::int32_t, Bytes bytes) {
  BinaryReader reader{bytes};
  std::int64_t value = 0;
  if (type == TypeId::int2)
    value = reader.take<std::int16_t>();
  else if (type == TypeId::int4)
    value = reader.take<std::int32_t>();
  else
    value = reader.take<std::int64_t>();
  reader.finish();
  return Value::from_int(value);
}

void send_integer(FunctionContext&, TypeId type, const Value& value, std::string& out) {
  if (type == TypeId::int2)
    append_big_endian(out, value.as_int2());
  else if (type == TypeId::int4)
    append_big_endian(out, value.as_int4());
  else
    append_big_endian(out, value.as_int8());
}

}  // namespace

constexpr TypeCodec kIntegerCodec{
    [](FunctionContext&, TypeId type, std::int32_t, std::string_view text) {
      const IntegerRange range = range_of(type);
      return Value::from_int(parse_integer(type, text, range.min, range.max));
    },
    [](FunctionContext&, TypeId, const Value& value, std::string& out) {
      append_number(out, value.as_int8());
    },
    receive_integer, send_integer};

namespace {

constexpr int kBitsPerByte = 8;

template <std::int16_t Bytes>
TypeMeasures integer_measures(std::int32_t) {
  return {.precision = Bytes * kBitsPerByte, .radix = 2, .scale = 0};
}

constexpr Type integer_type(TypeId id, TypeId array, std::string_view name,
                            std::string_view sql_name, std::int16_t length, char alignment,
                            Shape shape, TypeOrder order, TypeMeasures (*measures)(std::int32_t)) {
  return {.id = id,
          .array = array,
          .name = name,
          .sql_name = sql_name,
          .length = length,
          .by_value = true,
          .category = 'N',
          .alignment = alignment,
          .storage = 'p',
          .in_btree_gist = true,
          .shape = shape,
          .io = kIntegerCodec,
          .order = order,
          .family = TypeId::int8,
          .measures = measures};
}

}  // namespace

constinit const Type builtin::int2 =
    integer_type(TypeId::int2, TypeId::int2_array, "int2", "smallint", 2, 's', Shape::int16,
                 kInt16Order, &integer_measures<2>);
constinit const Type builtin::int4 =
    integer_type(TypeId::int4, TypeId::int4_array, "int4", "integer", 4, 'i', Shape::int32,
                 kInt32Order, &integer_measures<4>);
constinit const Type builtin::int8 =
    integer_type(TypeId::int8, TypeId::int8_array, "int8", "bigint", 8, 'd', Shape::int64,
                 kInt64Order, &integer_measures<8>);

}  // namespace swizzle::sql
