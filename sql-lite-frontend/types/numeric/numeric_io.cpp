#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "sql-lite-frontend/types/numeric/number_base.h"
#include "sql-lite-frontend/types/numeric/numeric_decimal.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/bytea.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {
namespace {

using Sign = Decimal::Sign;

[[noreturn]] void invalid_numeric(std::string_view text) {
  throw_error(sqlstate::invalid_text_representation,
              "invalid input syntax for type numeric: \"{}\"", text);
}

struct Parts {
  std::string_view whole;
  std::string_view fraction;
  int exponent = 0;
  bool negative = false;
};

/// Parses "NaN" and the infinities; nothing for any other text.
std::optional<Sign> parse_special(std::string_view body, std::string_view sign) {
  if (equals_ignoring_case(body, "nan") && sign.empty()) return Sign::nan;
  if (equals_ignoring_case(body, "infinity") || equals_ignoring_case(body, "inf"))
    return sign == "-" ? Sign::negative_infinity : Sign::positive_infinity;
  return std::nullopt;
}

std::string_view take_digits(std::string_view& rest) {
  std::size_t count = 0;
  while (count < rest.size() && is_digit(rest[count])) ++count;
  const std::string_view digits = rest.substr(0, count);
  rest.remove_prefix(count);
  return digits;
}

/// Splits "[digits][.digits][e[±]digits]"; nothing unless the whole text has that form.
std::optional<Parts> split(std::string_view rest) {
  Parts parts;
  parts.whole = take_digits(rest);
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    parts.fraction = take_digits(rest);
  }
  if (parts.whole.empty() && parts.fraction.empty()) return std::nullopt;
  if (!rest.empty() && (rest.front() == 'e' || rest.front() == 'E')) {
    rest.remove_prefix(1);
    bool negative = false;
    if (!rest.empty() && (rest.front() == '+' || rest.front() == '-')) {
      negative = rest.front() == '-';
      rest.remove_prefix(1);
    }
    const std::string_view digits = take_digits(rest);
    if (digits.empty()) return std::nullopt;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), parts.exponent);
    if (error != std::errc{} || parts.exponent > INT32_MAX / 2) throw_numeric_overflow();
    if (negative) parts.exponent = -parts.exponent;
  }
  if (!rest.empty()) return std::nullopt;
  return parts;
}

Decimal decimal_from_parts(const Parts& parts) {
  Decimal out;
  out.sign = parts.negative ? Sign::negative : Sign::positive;
  out.scale = std::max(static_cast<int>(parts.fraction.size()) - parts.exponent, 0);
  // Position of the first decimal digit; the digits are then grouped by four around the point.
  const int first = static_cast<int>(parts.whole.size()) - 1 + parts.exponent;
  const int first_group =
      first >= 0 ? first / kDigitsPerDigit : -((-first + kDigitsPerDigit - 1) / kDigitsPerDigit);
  out.weight = first_group;
  int place = first - first_group * kDigitsPerDigit;
  unsigned group = 0;
  const auto feed = [&](char c) {
    group = group * 10 + static_cast<unsigned>(c - '0');
    if (place-- == 0) {
      out.digits.push_back(static_cast<Decimal::Digit>(group));
      group = 0;
      place = kDigitsPerDigit - 1;
    }
  };
  for (const char c : parts.whole) feed(c);
  for (const char c : parts.fraction) feed(c);
  while (place != kDigitsPerDigit - 1) feed('0');
  out.normalize();
  if (out.weight > kMaxNumericWeight || out.scale > kMaxNumericScale) throw_numeric_overflow();
  return out;
}

/// Reads the digits of a whole number in base 2, 8 or 16, which underscores may separate.
Decimal decimal_in_base(std::string_view text, std::string_view digits, int base) {
  constexpr std::int64_t kMostInStep = INT64_MAX / 16;
  Decimal out;
  std::int64_t number = 0;
  std::int64_t factor = 1;
  const auto add_step = [&] {
    out = add(multiply(out, decimal_from_int(factor)), decimal_from_int(number));
    if (out.weight > kMaxNumericWeight) throw_numeric_overflow();
    number = 0;
    factor = 1;
  };
  if (digits.empty()) invalid_numeric(text);
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] == '_') ++i;
    const int digit = i < digits.size() ? hex_digit(digits[i]) : -1;
    if (digit < 0 || digit >= base) invalid_numeric(text);
    number = number * base + digit;
    factor *= base;
    if (factor > kMostInStep) add_step();
  }
  add_step();
  return out;
}

/// Removes underscores, each of which must stand between two digits.
std::string without_underscores(std::string_view text, std::string_view body) {
  std::string out;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '_') {
      out.push_back(body[i]);
    } else if (i == 0 || i + 1 == body.size() || !is_digit(body[i - 1]) || !is_digit(body[i + 1])) {
      invalid_numeric(text);
    }
  }
  return out;
}

}  // namespace

Value numeric_from_text(Arena& arena, std::string_view text) {
  std::string_view body = trim_space(text);
  std::string_view sign;
  if (!body.empty() && (body.front() == '-' || body.front() == '+')) {
    sign = body.substr(0, 1);
    body.remove_prefix(1);
  }
  std::string plain;
  std::string_view digits = body;
  if (const int base = take_base(digits); base != 10) {
    Decimal number = decimal_in_base(text, digits, base);
    return from_decimal(arena, sign == "-" ? negated(std::move(number)) : std::move(number));
  }
  if (body.contains('_')) {
    plain = without_underscores(text, body);
    body = plain;
  }
  const auto parts = split(body);
  if (!parts) {
    const auto special = parse_special(body, sign);
    if (!special) invalid_numeric(text);
    Decimal out;
    out.sign = *special;
    return from_decimal(arena, std::move(out));
  }
  const bool negative = sign == "-";
  if (parts->exponent == 0 && parts->whole.size() + parts->fraction.size() <= 18) {
    std::int64_t number = 0;
    for (const char c : parts->whole) number = number * 10 + (c - '0');
    for (const char c : parts->fraction) number = number * 10 + (c - '0');
    return Value::from_decimal(negative ? -number : number,
                               static_cast<std::uint32_t>(parts->fraction.size()));
  }
  Parts all = *parts;
  all.negative = negative;
  return from_decimal(arena, decimal_from_parts(all));
}

namespace {

void append_small(std::string& out, std::int64_t number, std::uint32_t scale) {
  char digits[24];
  auto magnitude =
      number < 0 ? -static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
  char* at = digits + sizeof digits;
  std::uint32_t written = 0;
  while (magnitude != 0 || written <= scale) {
    if (written == scale && scale > 0) *--at = '.';
    *--at = static_cast<char>('0' + magnitude % 10);
    magnitude /= 10;
    ++written;
  }
  if (number < 0) *--at = '-';
  out.append(at, static_cast<std::size_t>(digits + sizeof digits - at));
}

void append_group(std::string& out, unsigned digit) {
  out.push_back(static_cast<char>('0' + digit / 1000));
  out.push_back(static_cast<char>('0' + digit / 100 % 10));
  out.push_back(static_cast<char>('0' + digit / 10 % 10));
  out.push_back(static_cast<char>('0' + digit % 10));
}

void append_decimal(std::string& out, const Decimal& d) {
  const auto digit_at = [&d](int position) -> unsigned {
    const int index = d.weight - position;
    return index >= 0 && index < static_cast<int>(d.digits.size())
               ? d.digits[static_cast<std::size_t>(index)]
               : 0U;
  };
  if (d.sign == Sign::negative) out.push_back('-');
  if (d.weight < 0 || d.digits.empty()) {
    out.push_back('0');
  } else {
    fmt::format_to(std::back_inserter(out), "{}", d.digits[0]);
    for (int position = d.weight - 1; position >= 0; --position)
      append_group(out, digit_at(position));
  }
  if (d.scale == 0) return;
  out.push_back('.');
  const std::size_t end = out.size() + static_cast<std::size_t>(d.scale);
  for (int position = -1; out.size() < end; --position) append_group(out, digit_at(position));
  out.resize(end);
}

}  // namespace

void append_numeric(std::string& out, const Value& value) {
  if (value.kind() == Value::Kind::extended)
    return append_small(out, value.decimal_unscaled(), value.decimal_scale());
  const Decimal d = to_decimal(value);
  switch (d.sign) {
    case Sign::nan:
      out += "NaN";
      return;
    case Sign::positive_infinity:
      out += "Infinity";
      return;
    case Sign::negative_infinity:
      out += "-Infinity";
      return;
    default:
      append_decimal(out, d);
  }
}

Value numeric_receive(Arena& arena, Bytes bytes) {
  const auto word = [&bytes](std::size_t index) {
    return load_big_endian<std::uint16_t>(bytes.data() + index * 2);
  };
  if (bytes.size() < 8)
    throw SqlError{sqlstate::invalid_binary_representation, "insufficient data left in message"};
  const std::size_t count = word(0);
  if (bytes.size() < 8 + count * 2)
    throw SqlError{sqlstate::invalid_binary_representation, "insufficient data left in message"};
  if (bytes.size() > 8 + count * 2)
    throw SqlError{sqlstate::invalid_binary_representation,
                   "incorrect binary data format in bind parameter"};
  Decimal out;
  out.weight = static_cast<std::int16_t>(word(1));
  out.sign = static_cast<Sign>(word(2));
  out.scale = word(3);
  switch (out.sign) {
    case Sign::positive:
    case Sign::negative:
      break;
    case Sign::nan:
    case Sign::positive_infinity:
    case Sign::negative_infinity:
      return from_decimal(arena, std::move(out));
    default:
      throw SqlError{sqlstate::invalid_binary_representation,
                     "invalid sign in external \"numeric\" value"};
  }
  if (out.scale > kMaxNumericScale)
    throw SqlError{sqlstate::invalid_binary_representation,
                   "invalid scale in external \"numeric\" value"};
  for (std::size_t i = 0; i < count; ++i) {
    if (word(4 + i) >= kDecimalBase)
      throw SqlError{sqlstate::invalid_binary_representation,
                     "invalid digit in external \"numeric\" value"};
    out.digits.push_back(word(4 + i));
  }
  out.normalize();
  out.truncate(out.scale);
  return from_decimal(arena, std::move(out));
}

void numeric_send(const Value& value, std::string& out) {
  const Decimal d = to_decimal(value);
  const auto word = [&out](unsigned bits) {
    out.push_back(static_cast<char>(bits >> 8 & 0xff));
    out.push_back(static_cast<char>(bits & 0xff));
  };
  word(static_cast<unsigned>(d.digits.size()));
  word(static_cast<std::uint16_t>(d.weight));
  word(static_cast<std::uint16_t>(d.sign));
  // For an infinity, PostgreSQL sends a bit of its sign as the scale.
  constexpr unsigned kScaleOfInfinity = 0x20;
  word(d.is_infinite() ? kScaleOfInfinity : static_cast<unsigned>(d.scale));
  for (const auto digit : d.digits) word(digit);
}

Value numeric_from_double(Arena& arena, double value, int significant_digits) {
  if (std::isnan(value)) return numeric_nan(arena);
  if (std::isinf(value)) return numeric_infinity(arena, value > 0 ? 1 : -1);
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value,
                                          std::chars_format::general, significant_digits);
  return numeric_from_text(arena, {text, static_cast<std::size_t>(end - text)});
}

double numeric_to_double(const Value& value) {
  if (value.kind() == Value::Kind::extended && value.decimal_scale() == 0)
    return static_cast<double>(value.decimal_unscaled());
  if (numeric_is_nan(value)) return std::nan("");
  if (numeric_is_infinite(value)) return numeric_sign(value) * HUGE_VAL;
  std::string text;
  append_numeric(text, value);
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error == std::errc::result_out_of_range && text.find_first_of("123456789") <= 310)
    throw_error(sqlstate::numeric_value_out_of_range,
                "\"{}\" is out of range for type double precision", text);
  return out;
}

namespace {

// First byte of a key. Positive numbers with a weight in [-20, 80] take one byte for class and
// weight; negative numbers are the complement of the positive ones.
constexpr unsigned kZero = 0x80;
constexpr unsigned kTiny = 0x81;
constexpr unsigned kFirstWeight = 0x82;
constexpr int kLowWeight = -20;
constexpr int kHighWeight = 80;
constexpr unsigned kHuge = kFirstWeight + unsigned{kHighWeight - kLowWeight} + 1;
constexpr unsigned kInfinite = kHuge + 1;
constexpr unsigned kNan = kHuge + 2;

}  // namespace

void append_numeric_key(std::string& key, const Value& value) {
  Decimal d = to_decimal(value);
  d.normalize();
  const auto put = [&key](unsigned byte) { key.push_back(static_cast<char>(byte & 0xff)); };
  if (d.is_nan()) return put(kNan);
  if (d.is_infinite()) return put(d.signum() > 0 ? kInfinite : ~kInfinite);
  if (d.digits.empty()) return put(kZero);
  const unsigned flip = d.sign == Sign::negative ? 0xffU : 0U;
  const auto put_word = [&](unsigned word) {
    put(word >> 8 ^ flip);
    put((word & 0xff) ^ flip);
  };
  if (d.weight >= kLowWeight && d.weight <= kHighWeight) {
    put((kFirstWeight + static_cast<unsigned>(d.weight - kLowWeight)) ^ flip);
  } else {
    put((d.weight < 0 ? kTiny : kHuge) ^ flip);
    put_word(static_cast<unsigned>(d.weight + 0x8000));
  }
  // The low bit is set if digits follow, so that longer numbers sort after their prefixes.
  for (std::size_t i = 0; i < d.digits.size(); ++i)
    put_word(d.digits[i] * 2U + (i + 1 < d.digits.size() ? 1U : 0U));
}

Value take_numeric_key(Bytes& key, Arena& arena) {
  const auto take = [&key]() -> unsigned {
    if (key.empty()) throw SqlError{sqlstate::index_corrupted, "malformed numeric key"};
    const auto byte = std::to_integer<unsigned>(key.front());
    key = key.subspan(1);
    return byte;
  };
  unsigned head = take();
  Decimal out;
  if (head == kZero) return Value::from_decimal(0, 0);
  const unsigned flip = head < kZero ? 0xffU : 0U;
  head ^= flip;
  if (head == kNan) return numeric_nan(arena);
  if (head == kInfinite) return numeric_infinity(arena, flip == 0 ? 1 : -1);
  const auto take_word = [&] {
    const unsigned high = take() ^ flip;
    return high << 8 | (take() ^ flip);
  };
  if (head == kTiny || head == kHuge)
    out.weight = static_cast<int>(take_word()) - 0x8000;
  else
    out.weight = static_cast<int>(head - kFirstWeight) + kLowWeight;
  out.sign = flip == 0 ? Sign::positive : Sign::negative;
  for (bool more = true; more;) {
    const unsigned word = take_word();
    out.digits.push_back(static_cast<Decimal::Digit>(word / 2));
    more = word % 2 == 1;
  }
  Value value = from_decimal(arena, out);
  const int lowest = out.weight - static_cast<int>(out.digits.size()) + 1;
  out.scale = std::max(0, -lowest * kDigitsPerDigit);
  value = from_decimal(arena, out);
  return numeric_trim_scale(arena, value);
}

}  // namespace swizzle::sql
