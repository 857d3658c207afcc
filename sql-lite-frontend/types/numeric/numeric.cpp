#include "sql-lite-frontend/types/numeric/numeric.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/numeric/numeric_decimal.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Sign = Decimal::Sign;

// Layout of a block: sign, weight, scale, digit count, 16 bits each; then the digits.
constexpr std::size_t kBlobHeader = 8;

constexpr std::int64_t kPowersOfTen[] = {1,
                                         10,
                                         100,
                                         1000,
                                         10000,
                                         100000,
                                         1000000,
                                         10000000,
                                         100000000,
                                         1000000000,
                                         10000000000,
                                         100000000000,
                                         1000000000000,
                                         10000000000000,
                                         100000000000000,
                                         1000000000000000,
                                         10000000000000000,
                                         100000000000000000,
                                         1000000000000000000};

bool is_small(const Value& value) noexcept {
  return value.kind() == Value::Kind::extended;
}

bool both_small(const Value& left, const Value& right) noexcept {
  return is_small(left) && is_small(right);
}

Sign blob_sign(const Value& value) noexcept {
  return static_cast<Sign>(load<std::uint16_t>(value.as_bytes().data()));
}

[[noreturn]] void division_by_zero() {
  throw SqlError{sqlstate::division_by_zero, "division by zero"};
}

bool fits_small(Int128 unscaled) noexcept {
  return unscaled > INT64_MIN && unscaled <= INT64_MAX;
}

Value from_parts(Arena& arena, Int128 unscaled, std::uint32_t scale) {
  if (scale <= kMaxDecimalScale && fits_small(unscaled)) [[likely]]
    return Value::from_decimal(static_cast<std::int64_t>(unscaled), scale);
  return from_decimal(arena, decimal_from_int(unscaled, static_cast<int>(scale)));
}

/// Both numbers at the larger of the two scales: 64 bits times 10^18 fit 128.
struct Aligned {
  Int128 left;
  Int128 right;
  std::uint32_t scale;
};

Aligned align(const Value& left, const Value& right) noexcept {
  Aligned out{left.decimal_unscaled(), right.decimal_unscaled(),
              std::max(left.decimal_scale(), right.decimal_scale())};
  out.left *= kPowersOfTen[out.scale - left.decimal_scale()];
  out.right *= kPowersOfTen[out.scale - right.decimal_scale()];
  return out;
}

Value special(Arena& arena, Sign sign) {
  Decimal out;
  out.sign = sign;
  return from_decimal(arena, std::move(out));
}

Sign infinity_sign(int sign) noexcept {
  return sign > 0 ? Sign::positive_infinity : Sign::negative_infinity;
}

}  // namespace

bool is_numeric_blob(Bytes bytes) noexcept {
  return bytes.size() >= kBlobHeader &&
         bytes.size() == kBlobHeader + 2 * std::size_t{load<std::uint16_t>(bytes.data() + 6)};
}

bool numeric_is_nan(const Value& value) noexcept {
  return !is_small(value) && blob_sign(value) == Sign::nan;
}

bool numeric_is_infinite(const Value& value) noexcept {
  return !is_small(value) && (blob_sign(value) == Sign::positive_infinity ||
                              blob_sign(value) == Sign::negative_infinity);
}

int numeric_sign(const Value& value) noexcept {
  if (is_small(value))
    return static_cast<int>(value.decimal_unscaled() > 0) -
           static_cast<int>(value.decimal_unscaled() < 0);
  return to_decimal(value).signum();
}

int numeric_scale(const Value& value) noexcept {
  if (is_small(value)) return static_cast<int>(value.decimal_scale());
  return load<std::uint16_t>(value.as_bytes().data() + 4);
}

Value numeric_nan(Arena& arena) {
  return special(arena, Sign::nan);
}
Value numeric_infinity(Arena& arena, int sign) {
  return special(arena, infinity_sign(sign));
}

Decimal to_decimal(const Value& value) {
  if (is_small(value))
    return decimal_from_int(value.decimal_unscaled(), static_cast<int>(value.decimal_scale()));
  const Bytes blob = value.as_bytes();
  Decimal out;
  out.sign = blob_sign(value);
  out.weight = load<std::int16_t>(blob.data() + 2);
  out.scale = load<std::uint16_t>(blob.data() + 4);
  const std::size_t count = load<std::uint16_t>(blob.data() + 6);
  out.digits.resize(count);
  if (count > 0) std::memcpy(out.digits.data(), blob.data() + kBlobHeader, count * 2);
  return out;
}

Value from_decimal(Arena& arena, Decimal decimal) {
  if (decimal.is_finite()) {
    decimal.normalize();
    if (decimal.weight > kMaxNumericWeight) throw_numeric_overflow();
    if (decimal.scale > kMaxNumericScale) decimal.round(kMaxNumericScale);
    const int lowest = decimal.weight - static_cast<int>(decimal.digits.size()) + 1;
    // 19 decimal digits reach into six groups of four at most, whatever their alignment.
    const bool candidate = decimal.scale <= static_cast<int>(kMaxDecimalScale) &&
                           decimal.weight <= 4 && decimal.digits.size() <= 6;
    if (candidate) {
      Int128 unscaled = 0;
      for (const auto digit : decimal.digits) unscaled = unscaled * kDecimalBase + digit;
      // Digits beyond the scale are zero, so both directions are exact.
      int shift = decimal.scale + lowest * kDigitsPerDigit;
      for (; shift > 0 && unscaled <= INT64_MAX; --shift) unscaled *= 10;
      for (; shift < 0; ++shift) unscaled /= 10;
      if (shift == 0 && unscaled <= INT64_MAX) {
        const auto number = static_cast<std::int64_t>(unscaled);
        return Value::from_decimal(decimal.sign == Sign::negative ? -number : number,
                                   static_cast<std::uint32_t>(decimal.scale));
      }
    }
  }
  const std::size_t size = kBlobHeader + decimal.digits.size() * 2;
  std::byte* blob = arena.allocate(size);
  store(blob, static_cast<std::uint16_t>(decimal.sign));
  store(blob + 2, static_cast<std::int16_t>(decimal.weight));
  store(blob + 4, static_cast<std::uint16_t>(decimal.is_finite() ? decimal.scale : 0));
  store(blob + 6, static_cast<std::uint16_t>(decimal.digits.size()));
  if (!decimal.digits.empty())
    std::memcpy(blob + kBlobHeader, decimal.digits.data(), decimal.digits.size() * 2);
  return Value::from_bytes({blob, size});
}

Value numeric_from_int(std::int64_t value) {
  return Value::from_decimal(value, 0);
}

Value numeric_from_int128(Arena& arena, Int128 unscaled, int scale) {
  return from_parts(arena, unscaled, static_cast<std::uint32_t>(scale));
}

int numeric_compare(const Value& left, const Value& right) {
  if (both_small(left, right)) [[likely]] {
    if (left.decimal_scale() == right.decimal_scale()) {
      const std::int64_t a = left.decimal_unscaled();
      const std::int64_t b = right.decimal_unscaled();
      return static_cast<int>(a > b) - static_cast<int>(a < b);
    }
    const Aligned both = align(left, right);
    return static_cast<int>(both.left > both.right) - static_cast<int>(both.left < both.right);
  }
  return compare(to_decimal(left), to_decimal(right));
}

std::uint64_t numeric_hash(const Value& value, std::uint64_t seed) {
  // Strip trailing zeros, so that 1.0, 1.00 and the block form of 1.000…0 hash alike.
  Decimal d = to_decimal(value);
  if (!d.is_finite()) return hash_integer(static_cast<std::uint64_t>(d.sign), seed);
  d.normalize();
  const auto head = static_cast<std::uint64_t>(static_cast<std::uint32_t>(d.weight)) << 1 |
                    static_cast<std::uint64_t>(d.sign == Sign::negative);
  const Bytes digits = std::as_bytes(std::span{d.digits.data(), d.digits.size()});
  return hash_bytes(digits, hash_integer(head, seed));
}

Value numeric_add(Arena& arena, const Value& left, const Value& right) {
  if (both_small(left, right)) [[likely]] {
    const Aligned both = align(left, right);
    return from_parts(arena, both.left + both.right, both.scale);
  }
  const Decimal a = to_decimal(left);
  const Decimal b = to_decimal(right);
  if (a.is_finite() && b.is_finite()) return from_decimal(arena, add(a, b));
  if (a.is_nan() || b.is_nan()) return special(arena, Sign::nan);
  if (a.is_infinite() && b.is_infinite() && a.sign != b.sign) return special(arena, Sign::nan);
  return special(arena, a.is_infinite() ? a.sign : b.sign);
}

Value numeric_negate(Arena& arena, const Value& value) {
  if (is_small(value))
    return from_parts(arena, -Int128{value.decimal_unscaled()}, value.decimal_scale());
  return from_decimal(arena, negated(to_decimal(value)));
}

Value numeric_absolute(Arena& arena, const Value& value) {
  return numeric_sign(value) < 0 ? numeric_negate(arena, value) : value;
}

Value numeric_subtract(Arena& arena, const Value& left, const Value& right) {
  if (both_small(left, right)) [[likely]] {
    const Aligned both = align(left, right);
    return from_parts(arena, both.left - both.right, both.scale);
  }
  return numeric_add(arena, left, numeric_negate(arena, right));
}

Value numeric_multiply(Arena& arena, const Value& left, const Value& right) {
  if (both_small(left, right)) [[likely]]
    return from_parts(arena, Int128{left.decimal_unscaled()} * right.decimal_unscaled(),
                      left.decimal_scale() + right.decimal_scale());
  const Decimal a = to_decimal(left);
  const Decimal b = to_decimal(right);
  if (a.is_finite() && b.is_finite()) {
    Decimal out = multiply(a, b);
    if (out.scale > kMaxNumericScale) out.round(kMaxNumericScale);
    return from_decimal(arena, std::move(out));
  }
  if (a.is_nan() || b.is_nan()) return special(arena, Sign::nan);
  const int sign = a.signum() * b.signum();
  return special(arena, sign == 0 ? Sign::nan : infinity_sign(sign));
}

namespace {

/// Returns a scale that gives 16 significant digits, and is not below either operand's.
int quotient_scale(const Decimal& left, const Decimal& right) {
  const int left_weight = left.digits.empty() ? 0 : left.weight;
  const int left_first = left.digits.empty() ? 0 : left.digits[0];
  int weight = left_weight - right.weight;
  if (left_first <= right.digits[0]) --weight;
  const int scale = std::max({16 - weight * kDigitsPerDigit, left.scale, right.scale, 0});
  return std::min(scale, 1000);
}

/// Returns the quotient if an operand is NaN or infinite; nothing if none is.
std::optional<Value> special_quotient(Arena& arena, const Decimal& a, const Decimal& b) {
  if (a.is_nan() || b.is_nan()) return special(arena, Sign::nan);
  if (a.is_infinite()) {
    if (b.is_infinite()) return special(arena, Sign::nan);
    if (b.signum() == 0) division_by_zero();
    return special(arena, infinity_sign(a.signum() * b.signum()));
  }
  if (b.is_infinite()) return Value::from_decimal(0, 0);
  return std::nullopt;
}

}  // namespace

Value numeric_divide(Arena& arena, const Value& left, const Value& right) {
  const Decimal a = to_decimal(left);
  const Decimal b = to_decimal(right);
  if (const auto out = special_quotient(arena, a, b)) return *out;
  if (b.digits.empty()) division_by_zero();
  const int scale = quotient_scale(a, b);
  if (both_small(left, right)) {
    // Most divisions fit 128 bits: shift the dividend, divide, round half away from zero.
    const int shift =
        scale + static_cast<int>(right.decimal_scale()) - static_cast<int>(left.decimal_scale());
    Int128 dividend = left.decimal_unscaled();
    bool fits = shift >= 0 && shift <= 36;
    if (fits && shift > 18) {
      dividend *= kPowersOfTen[18];
      fits = !__builtin_mul_overflow(dividend, Int128{kPowersOfTen[shift - 18]}, &dividend);
    } else if (fits) {
      dividend *= kPowersOfTen[shift];
    }
    if (fits) {
      const Int128 divisor = right.decimal_unscaled();
      Int128 quotient = dividend / divisor;
      Int128 rest = dividend % divisor;
      const bool negative = (dividend < 0) != (divisor < 0);
      if (rest < 0) rest = -rest;
      if (rest * 2 >= (divisor < 0 ? -divisor : divisor)) quotient += negative ? -1 : 1;
      return from_parts(arena, quotient, static_cast<std::uint32_t>(scale));
    }
  }
  return from_decimal(arena, divide(a, b, scale));
}

Value numeric_divide_truncated(Arena& arena, const Value& left, const Value& right) {
  const Decimal a = to_decimal(left);
  const Decimal b = to_decimal(right);
  if (const auto out = special_quotient(arena, a, b)) return *out;
  if (b.digits.empty()) division_by_zero();
  return from_decimal(arena, divide(a, b, 0, Rounding::truncate));
}

Value numeric_modulo(Arena& arena, const Value& left, const Value& right) {
  if (both_small(left, right)) {
    const Aligned both = align(left, right);
    if (both.right == 0) division_by_zero();
    return from_parts(arena, both.left % both.right, both.scale);
  }
  const Decimal a = to_decimal(left);
  const Decimal b = to_decimal(right);
  if (a.is_nan() || b.is_nan()) return special(arena, Sign::nan);
  if (a.is_infinite()) {
    if (b.signum() == 0) division_by_zero();
    return special(arena, Sign::nan);
  }
  if (b.is_infinite()) return left;
  if (b.digits.empty()) division_by_zero();
  return from_decimal(arena, modulo(a, b));
}

Value numeric_round(Arena& arena, const Value& value, int scale) {
  // One place beyond the largest weight: rounding there may give a number that is too large.
  scale = std::clamp(scale, -(kMaxNumericWeight + 1) * kDigitsPerDigit - 1, kMaxNumericScale);
  if (is_small(value) && scale >= 0) {
    const int dropped = static_cast<int>(value.decimal_scale()) - scale;
    if (dropped == 0) return value;
    if (dropped > 0) {
      const std::int64_t unit = kPowersOfTen[dropped];
      std::int64_t quotient = value.decimal_unscaled() / unit;
      const std::int64_t rest = value.decimal_unscaled() % unit;
      if (rest >= unit - unit / 2) ++quotient;
      if (rest <= -(unit - unit / 2)) --quotient;
      return Value::from_decimal(quotient, static_cast<std::uint32_t>(scale));
    }
    if (-dropped <= 18 && scale <= static_cast<int>(kMaxDecimalScale))
      return from_parts(arena, Int128{value.decimal_unscaled()} * kPowersOfTen[-dropped],
                        static_cast<std::uint32_t>(scale));
  }
  Decimal out = to_decimal(value);
  out.round(scale);
  return from_decimal(arena, std::move(out));
}

Value numeric_truncate(Arena& arena, const Value& value, int scale) {
  scale = std::clamp(scale, -(kMaxNumericWeight + 1) * kDigitsPerDigit, kMaxNumericScale);
  Decimal out = to_decimal(value);
  out.truncate(scale);
  return from_decimal(arena, std::move(out));
}

Value numeric_floor(Arena& arena, const Value& value) {
  const Value whole = numeric_truncate(arena, value, 0);
  if (numeric_sign(value) < 0 && numeric_compare(whole, value) != 0)
    return numeric_subtract(arena, whole, numeric_from_int(1));
  return whole;
}

Value numeric_ceiling(Arena& arena, const Value& value) {
  const Value whole = numeric_truncate(arena, value, 0);
  if (numeric_sign(value) > 0 && numeric_compare(whole, value) != 0)
    return numeric_add(arena, whole, numeric_from_int(1));
  return whole;
}

int numeric_minimum_scale(const Value& value) {
  const Decimal d = to_decimal(value);
  if (!d.is_finite() || d.digits.empty()) return 0;
  const int lowest = d.weight - static_cast<int>(d.digits.size()) + 1;
  int scale = -lowest * kDigitsPerDigit;
  for (int last = d.digits.back(); last % 10 == 0; last /= 10) --scale;
  return std::max(scale, 0);
}

Value numeric_trim_scale(Arena& arena, const Value& value) {
  Decimal d = to_decimal(value);
  if (d.is_finite()) d.scale = numeric_minimum_scale(value);
  return from_decimal(arena, std::move(d));
}

std::int32_t numeric_typmod(int precision, int scale) {
  return ((precision << 16) | (scale & 0x7ff)) + 4;
}

Value numeric_apply_typmod(Arena& arena, const Value& value, std::int32_t typmod) {
  if (typmod < 4) return value;
  const int precision = (typmod - 4) >> 16 & 0xffff;
  const int scale = (((typmod - 4) & 0x7ff) ^ 1024) - 1024;
  if (numeric_is_nan(value)) return value;
  if (numeric_is_infinite(value))
    throw SqlError{sqlstate::numeric_value_out_of_range, "numeric field overflow"}.with_detail(
        fmt::format("A field with precision {}, scale {} cannot hold an infinite value.", precision,
                    scale));
  Value out = numeric_round(arena, value, scale);
  const int whole_digits = precision - scale;
  if (is_small(out) && scale >= 0 && precision <= 18) {
    const std::int64_t limit = kPowersOfTen[precision];
    if (out.decimal_unscaled() < limit && out.decimal_unscaled() > -limit) return out;
  } else {
    const Decimal d = to_decimal(out);
    if (d.digits.empty() || d.decimal_weight() < whole_digits) return out;
  }
  throw SqlError{sqlstate::numeric_value_out_of_range, "numeric field overflow"}.with_detail(
      fmt::format(
          "A field with precision {}, scale {} must round to an absolute value less than {}{}.",
          precision, scale, whole_digits != 0 ? "10^" : "", whole_digits != 0 ? whole_digits : 1));
}

std::int64_t numeric_to_int(const Value& value, std::int64_t min, std::int64_t max,
                            std::string_view type_name) {
  if (numeric_is_nan(value))
    throw_error(sqlstate::feature_not_supported, "cannot convert NaN to {}", type_name);
  if (numeric_is_infinite(value))
    throw_error(sqlstate::feature_not_supported, "cannot convert infinity to {}", type_name);
  Arena scratch{64};
  const Value whole = numeric_round(scratch, value, 0);
  if (!is_small(whole) || whole.decimal_unscaled() < min || whole.decimal_unscaled() > max) {
    // The magnitude of -2^63 does not fit 64 bits, so the number arrives as a block.
    if (min == INT64_MIN && numeric_compare(whole, numeric_from_int(INT64_MIN)) == 0)
      return INT64_MIN;
    throw_error(sqlstate::numeric_value_out_of_range, "{} out of range", type_name);
  }
  return whole.decimal_unscaled();
}

void NumericSum::add_integer(std::int64_t value) noexcept {
  // 2^63 values below 2^63 fit 126 bits, so a sum without decimals cannot overflow.
  unscaled_ += value;
}

void NumericSum::spill(Arena& arena, const Value& value) {
  rest_ = has_rest_ ? numeric_add(arena, rest_, value) : value.copy_to(arena);
  has_rest_ = true;
}

void NumericSum::add(Arena& arena, const Value& value) {
  if (is_small(value)) [[likely]] {
    if (value.decimal_scale() > scale_) {
      Int128 scaled = 0;
      if (__builtin_mul_overflow(unscaled_, Int128{kPowersOfTen[value.decimal_scale() - scale_]},
                                 &scaled))
        return spill(arena, value);
      unscaled_ = scaled;
      scale_ = value.decimal_scale();
    }
    const Int128 term =
        Int128{value.decimal_unscaled()} * kPowersOfTen[scale_ - value.decimal_scale()];
    Int128 sum = 0;
    if (!__builtin_add_overflow(unscaled_, term, &sum)) [[likely]] {
      unscaled_ = sum;
      return;
    }
  }
  spill(arena, value);
}

void NumericSum::subtract(Arena& arena, const Value& value) {
  add(arena, numeric_negate(arena, value));
}

Value NumericSum::total(Arena& arena) const {
  const Value sum = numeric_from_int128(arena, unscaled_, static_cast<int>(scale_));
  return has_rest_ ? numeric_add(arena, sum, rest_) : sum;
}

}  // namespace swizzle::sql
