#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {

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
  // "nan(…)" is accepted by the library, but not by PostgreSQL.
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

/// True if the text is exactly between the number and a neighbour. It reads back, by rounding to
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

/// Appends the shortest digits that read back the same, in the format of printf's %g: plain between
/// 1e-4 and 10^max_plain, else with an exponent.
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

constexpr TypeCodec kFloatCodec{
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

namespace {

// NaN equals itself and is greater than every number.
template <class Float>
int order_floats(Float a, Float b) noexcept {
  if (std::isnan(a) || std::isnan(b))
    return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  return order_of(a, b);
}
int compare_float4(const Value& a, const Value& b) {
  return order_floats(a.as_float4(), b.as_float4());
}
int compare_float8(const Value& a, const Value& b) {
  return order_floats(a.as_float8(), b.as_float8());
}

// A float4 has the hash of the equal float8, so that both can be in one hash join.
std::uint64_t hash_double(double number, std::uint64_t seed) {
  if (number == 0) number = 0;  // -0
  if (std::isnan(number)) number = std::nan("");
  return hash_integer(std::bit_cast<std::uint64_t>(number), seed);
}
std::uint64_t hash_float4(const Value& value, std::uint64_t seed) {
  return hash_double(static_cast<double>(value.as_float4()), seed);
}
std::uint64_t hash_float8(const Value& value, std::uint64_t seed) {
  return hash_double(value.as_float8(), seed);
}

// Maps the bits of IEEE numbers so that they are ordered as the numbers: complements negative ones.
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
  keys::put(key, ordered_bits(std::bit_cast<Bits>(value)));
}

constexpr TypeOrder kFloat4Order{
    .compare = &compare_float4,
    .hash = &hash_float4,
    .put_key = [](std::string& key,
                  const Value& value) { put_float<std::uint32_t>(key, value.as_float4()); },
    .take_key =
        [](Bytes& key, TypeId, Arena&) {
          return Value::from_float4(
              std::bit_cast<float>(plain_bits(keys::take<std::uint32_t>(key))));
        },
    .key_width = 4,
    .position = [](const Value& value) { return std::optional<double>{value.as_float4()}; }};
constexpr TypeOrder kFloat8Order{
    .compare = &compare_float8,
    .hash = &hash_float8,
    .put_key = [](std::string& key,
                  const Value& value) { put_float<std::uint64_t>(key, value.as_float8()); },
    .take_key =
        [](Bytes& key, TypeId, Arena&) {
          return Value::from_float8(
              std::bit_cast<double>(plain_bits(keys::take<std::uint64_t>(key))));
        },
    .key_width = 8,
    .position = [](const Value& value) { return std::optional<double>{value.as_float8()}; }};

}  // namespace

constinit const Type builtin::float4{
    .id = TypeId::float4,
    .array = TypeId::float4_array,
    .name = "float4",
    .sql_name = "real",
    .length = 4,
    .by_value = true,
    .category = 'N',
    .storage = 'p',
    .in_btree_gist = true,
    .shape = Shape::float32,
    .io = kFloatCodec,
    .order = kFloat4Order,
    .family = TypeId::float8,
    .measures = [](std::int32_t) { return TypeMeasures{.precision = 24, .radix = 2}; }};
constinit const Type builtin::float8{
    .id = TypeId::float8,
    .array = TypeId::float8_array,
    .name = "float8",
    .sql_name = "double precision",
    .length = 8,
    .by_value = true,
    .category = 'N',
    .preferred = true,
    .alignment = 'd',
    .storage = 'p',
    .in_btree_gist = true,
    .shape = Shape::float64,
    .io = kFloatCodec,
    .order = kFloat8Order,
    .family = TypeId::float8,
    .measures = [](std::int32_t) { return TypeMeasures{.precision = 53, .radix = 2}; }};

}  // namespace swizzle::sql
