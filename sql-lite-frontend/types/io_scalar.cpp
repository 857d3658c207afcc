#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "sql-lite-frontend/types/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {

void BinaryReader::too_short() {
  throw SqlError{sqlstate::protocol_violation, "insufficient data left in message"};
}
void BinaryReader::too_long() {
  throw SqlError{sqlstate::invalid_binary_representation, "incorrect binary data format"};
}

void throw_invalid_syntax(TypeId type, std::string_view text) {
  throw_error(sqlstate::invalid_text_representation, "invalid input syntax for type {}: \"{}\"",
              format_type(type), text);
}

void throw_out_of_range(TypeId type) {
  throw_error(sqlstate::numeric_value_out_of_range, "{} out of range", format_type(type));
}

namespace {

/// Nothing but digits and perhaps a minus, few enough that they fit: nearly all that is sent.
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
  // Counted downwards, because the negative side has one number more.
  std::int64_t number = 0;
  std::size_t digits = 0;
  bool overflow = false;
  while (digits < body.size() && is_digit(body[digits])) {
    overflow = overflow || __builtin_mul_overflow(number, 10, &number) ||
               __builtin_sub_overflow(number, body[digits] - '0', &number) ||
               number < std::min(min, -max);
    ++digits;
  }
  if (digits == 0 || (!overflow && digits != body.size())) throw_invalid_syntax(type, text);
  if (!negative && !overflow) {
    overflow = number == std::numeric_limits<std::int64_t>::min();
    if (!overflow) number = -number;
  }
  if (overflow || number < min || number > max)
    throw_error(sqlstate::numeric_value_out_of_range, "value \"{}\" is out of range for type {}",
                text, format_type(type));
  return number;
}

bool parse_boolean(std::string_view text) {
  const std::string_view body = trim_space(text);
  if (is_prefix_ignoring_case(body, "true") || is_prefix_ignoring_case(body, "yes") ||
      equals_ignoring_case(body, "on") || body == "1")
    return true;
  if (is_prefix_ignoring_case(body, "false") || is_prefix_ignoring_case(body, "no") ||
      (body.size() >= 2 && is_prefix_ignoring_case(body, "off")) || body == "0")
    return false;
  throw_invalid_syntax(TypeId::bool_, text);
}

const TypeCodec& boolean_codec() noexcept {
  static constexpr TypeCodec codec{
      [](FunctionContext&, TypeId, std::int32_t, std::string_view text) {
        return Value::from_bool(parse_boolean(text));
      },
      [](FunctionContext&, TypeId, const Value& value, std::string& out) {
        out.push_back(value.as_bool() ? 't' : 'f');
      },
      [](FunctionContext&, TypeId, std::int32_t, Bytes bytes) {
        BinaryReader reader{bytes};
        const bool value = reader.take_bytes(1)[0] != std::byte{0};
        reader.finish();
        return Value::from_bool(value);
      },
      [](FunctionContext&, TypeId, const Value& value, std::string& out) {
        out.push_back(value.as_bool() ? '\1' : '\0');
      }};
  return codec;
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

const TypeCodec& integer_codec() noexcept {
  static constexpr TypeCodec codec{
      [](FunctionContext&, TypeId type, std::int32_t, std::string_view text) {
        const IntegerRange range = range_of(type);
        return Value::from_int(parse_integer(type, text, range.min, range.max));
      },
      [](FunctionContext&, TypeId, const Value& value, std::string& out) {
        append_number(out, value.as_int8());
      },
      receive_integer, send_integer};
  return codec;
}

double parse_float8(std::string_view text, TypeId reported_as) {
  std::string_view body = trim_space(text);
  std::string_view digits = body;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const bool negative = digits.starts_with('-') && digits.data() == body.data();
  const std::string_view unsigned_part = negative ? digits.substr(1) : digits;
  const bool hexadecimal = unsigned_part.starts_with("0x") || unsigned_part.starts_with("0X");
  if (hexadecimal) digits = unsigned_part.substr(2);
  double value = 0;
  const char* last = digits.data() + digits.size();
  const auto [end, error] =
      std::from_chars(digits.data(), last, value,
                      hexadecimal ? std::chars_format::hex : std::chars_format::general);
  const bool sign_twice = digits.starts_with('-') && !negative;
  // "nan(…)" is the library's, not ours.
  if (error == std::errc::invalid_argument || end != last || sign_twice || digits.ends_with(')'))
    throw_invalid_syntax(reported_as, text);
  if (error == std::errc::result_out_of_range)
    throw_error(sqlstate::numeric_value_out_of_range, "\"{}\" is out of range for type {}", text,
                format_type(reported_as));
  return hexadecimal && negative ? -value : value;
}

float parse_float4(std::string_view text) {
  const double wide = parse_float8(text, TypeId::float4);
  std::string_view digits = trim_space(text);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  // Rounding the double would round twice, so the text is read again at its width.
  float value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range || (std::isinf(value) && !std::isinf(wide)))
    throw_error(sqlstate::numeric_value_out_of_range, "\"{}\" is out of range for type real", text);
  return end == digits.data() + digits.size() ? value : static_cast<float>(wide);
}

namespace {

bool append_special(std::string& out, double value) {
  if (std::isnan(value))
    out += "NaN";
  else if (std::isinf(value))
    out += value > 0 ? "Infinity" : "-Infinity";
  else
    return false;
  return true;
}

/// Whether the text is exactly between the number and a neighbour. It reads back, by rounding to
/// even, but PostgreSQL prints one digit more then. Only large numbers have such short texts.
template <class Float>
bool is_halfway(const char* text, Float value) {
  if (std::fabs(value) < std::ldexp(Float{1}, std::numeric_limits<Float>::digits)) return false;
  const long double exact = value;
  const long double read = std::strtold(text, nullptr);
  if (read == exact) return false;
  const Float next = std::nextafter(value, read > exact ? std::numeric_limits<Float>::infinity()
                                                        : -std::numeric_limits<Float>::infinity());
  return read - exact == (static_cast<long double>(next) - exact) / 2;
}

/// The shortest digits that read back the same, laid out as printf's %g would with enough digits:
/// plain between 1e-4 and 10^max_plain, else with an exponent.
template <class Float>
void append_shortest(std::string& out, Float value, int max_plain) {
  char text[64];
  char* end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  *end = '\0';
  std::string_view all{text, static_cast<std::size_t>(end - text)};
  std::size_t e = all.find('e');
  for (auto decimals = static_cast<int>(std::count_if(text, text + e, is_digit));
       is_halfway(text, value); ++decimals) {
    end =
        std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, decimals).ptr;
    *end = '\0';
    all = {text, static_cast<std::size_t>(end - text)};
    e = all.find('e');
  }
  int exponent = 0;
  const char* digits_of_exponent = all.data() + e + (all[e + 1] == '+' ? 2 : 1);
  std::from_chars(digits_of_exponent, end, exponent);
  if (exponent < -4 || exponent >= max_plain) {
    out += all;
    return;
  }
  std::string digits;
  for (const char c : all.substr(0, e)) {
    if (c == '-') out.push_back('-');
    if (is_digit(c)) digits.push_back(c);
  }
  if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    out += digits;
    return;
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    out += digits;
    out.append(whole - digits.size(), '0');
    return;
  }
  out.append(digits, 0, whole);
  out.push_back('.');
  out.append(digits, whole);
}

void append_rounded(std::string& out, double value, int digits) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value,
                                          std::chars_format::general, digits < 1 ? 1 : digits);
  out.append(text, static_cast<std::size_t>(end - text));
}

}  // namespace

void append_float8(std::string& out, double value, int extra_float_digits) {
  if (append_special(out, value)) return;
  if (extra_float_digits > 0) return append_shortest(out, value, 15);
  append_rounded(out, value, 15 + extra_float_digits);
}

void append_float4(std::string& out, float value, int extra_float_digits) {
  if (append_special(out, static_cast<double>(value))) return;
  if (extra_float_digits > 0) return append_shortest(out, value, 6);
  append_rounded(out, static_cast<double>(value), 6 + extra_float_digits);
}

const TypeCodec& float_codec() noexcept {
  static constexpr TypeCodec codec{
      [](FunctionContext&, TypeId type, std::int32_t, std::string_view text) {
        return type == TypeId::float4 ? Value::from_float4(parse_float4(text))
                                      : Value::from_float8(parse_float8(text));
      },
      [](FunctionContext& context, TypeId type, const Value& value, std::string& out) {
        const int digits = context.session.format.extra_float_digits;
        if (type == TypeId::float4)
          append_float4(out, value.as_float4(), digits);
        else
          append_float8(out, value.as_float8(), digits);
      },
      [](FunctionContext&, TypeId type, std::int32_t, Bytes bytes) {
        BinaryReader reader{bytes};
        const Value value =
            type == TypeId::float4
                ? Value::from_float4(std::bit_cast<float>(reader.take<std::uint32_t>()))
                : Value::from_float8(std::bit_cast<double>(reader.take<std::uint64_t>()));
        reader.finish();
        return value;
      },
      [](FunctionContext&, TypeId type, const Value& value, std::string& out) {
        if (type == TypeId::float4)
          append_big_endian(out, std::bit_cast<std::uint32_t>(value.as_float4()));
        else
          append_big_endian(out, std::bit_cast<std::uint64_t>(value.as_float8()));
      }};
  return codec;
}

const TypeCodec& char_codec() noexcept {
  static constexpr TypeCodec codec{
      [](FunctionContext&, TypeId, std::int32_t, std::string_view text) {
        return Value::from_int(text.empty() ? 0 : static_cast<unsigned char>(text.front()));
      },
      [](FunctionContext&, TypeId, const Value& value, std::string& out) {
        if (value.as_int4() != 0) out.push_back(static_cast<char>(value.as_int4()));
      },
      [](FunctionContext&, TypeId, std::int32_t, Bytes bytes) {
        BinaryReader reader{bytes};
        const auto value = std::to_integer<unsigned char>(reader.take_bytes(1)[0]);
        reader.finish();
        return Value::from_int(value);
      },
      [](FunctionContext&, TypeId, const Value& value, std::string& out) {
        out.push_back(static_cast<char>(value.as_int4()));
      }};
  return codec;
}

const TypeCodec& tid_codec() noexcept {
  static constexpr TypeCodec codec{
      [](FunctionContext&, TypeId type, std::int32_t, std::string_view text) {
        const std::string_view body = trim_space(text);
        const std::size_t comma = body.find(',');
        if (!body.starts_with('(') || !body.ends_with(')') || comma == std::string_view::npos)
          throw_invalid_syntax(type, text);
        std::uint32_t block = 0;
        std::uint16_t offset = 0;
        const char* end = body.data() + body.size() - 1;
        const char* middle = body.data() + comma;
        const auto first = std::from_chars(body.data() + 1, middle, block);
        const auto second = std::from_chars(middle + 1, end, offset);
        if (first.ptr != middle || second.ptr != end || first.ec != std::errc{} ||
            second.ec != std::errc{})
          throw_invalid_syntax(type, text);
        return Value::from_int(static_cast<std::int64_t>(block) << 16 | offset);
      },
      [](FunctionContext&, TypeId, const Value& value, std::string& out) {
        out += fmt::format("({},{})", value.as_int8() >> 16, value.as_int8() & 0xffff);
      },
      [](FunctionContext&, TypeId, std::int32_t, Bytes bytes) {
        BinaryReader reader{bytes};
        const std::int64_t block = reader.take<std::uint32_t>();
        const std::int64_t offset = reader.take<std::uint16_t>();
        reader.finish();
        return Value::from_int(block << 16 | offset);
      },
      [](FunctionContext&, TypeId, const Value& value, std::string& out) {
        append_big_endian(out, static_cast<std::uint32_t>(value.as_int8() >> 16));
        append_big_endian(out, static_cast<std::uint16_t>(value.as_int8() & 0xffff));
      }};
  return codec;
}

}  // namespace swizzle::sql
