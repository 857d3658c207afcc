#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>

#include "base/bytes.h"
#include "sql-lite-frontend/types/numeric/numeric.h"

namespace swizzle::sql {

/// The computing form of a numeric: digits in base 10000, most significant first.
/// value = sign × Σ digits[i] × 10000^(weight - i), shown with `scale` decimals.
/// Sign::nan and the infinities have no digits.
struct Decimal {
  enum class Sign : std::uint16_t {
    positive = 0x0000,
    negative = 0x4000,
    nan = 0xC000,
    positive_infinity = 0xD000,
    negative_infinity = 0xF000,
  };
  using Digit = std::uint16_t;
  using Digits = boost::container::small_vector<Digit, 40>;

  Sign sign = Sign::positive;
  int weight = 0;
  int scale = 0;
  Digits digits;

  [[nodiscard]] bool is_zero() const noexcept { return is_finite() && digits.empty(); }
  [[nodiscard]] bool is_finite() const noexcept {
    return sign == Sign::positive || sign == Sign::negative;
  }
  [[nodiscard]] bool is_nan() const noexcept { return sign == Sign::nan; }
  [[nodiscard]] bool is_infinite() const noexcept { return !is_finite() && !is_nan(); }
  /// -1, 0, 1; NaN is 1.
  [[nodiscard]] int signum() const noexcept;
  /// Decimal position of the first digit: 0 for 1..9, 2 for 100..999. Pre: not zero.
  [[nodiscard]] int decimal_weight() const;

  /// No zero digits at either end; zero is positive with weight 0.
  void normalize();
  /// Half away from zero; `to_scale` may be negative. Sets the scale (at least 0).
  void round(int to_scale);
  void truncate(int to_scale);
};

inline constexpr int kDecimalBase = 10000;
inline constexpr int kDigitsPerDigit = 4;

Decimal decimal_from_int(Int128 unscaled, int scale = 0);
Decimal to_decimal(const Value& value);
/// Demotes to the small form where it fits. Throws 22003 where PostgreSQL's format overflows.
Value from_decimal(Arena& arena, Decimal decimal);

int compare_magnitude(const Decimal& left, const Decimal& right) noexcept;
// The overload below would hide that of bytes from the files behind this header.
using swizzle::compare;
int compare(const Decimal& left, const Decimal& right) noexcept;
/// Finite operands; the result's scale is the larger one.
Decimal add(const Decimal& left, const Decimal& right);
Decimal subtract(const Decimal& left, const Decimal& right);
Decimal negated(Decimal value) noexcept;
/// Exact; the scales add up.
Decimal multiply(const Decimal& left, const Decimal& right);
/// Exact product rounded to `scale`.
Decimal multiply(const Decimal& left, const Decimal& right, int scale);
enum class Rounding : std::uint8_t { truncate, half_away };
/// Pre: the divisor is not zero.
Decimal divide(const Decimal& left, const Decimal& right, int scale,
               Rounding rounding = Rounding::half_away);
/// Pre: the divisor is not zero. left - right × trunc(left / right).
Decimal modulo(const Decimal& left, const Decimal& right);

Decimal square_root(const Decimal& value, int scale);
Decimal exponential(const Decimal& value, int scale);
Decimal natural_logarithm(const Decimal& value, int scale);

/// 22003: more digits than a numeric can have.
[[noreturn]] void throw_numeric_overflow();

}  // namespace swizzle::sql
