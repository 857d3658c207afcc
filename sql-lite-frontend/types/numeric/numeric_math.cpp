#include <algorithm>
#include <cmath>

#include "sql-lite-frontend/types/numeric/numeric_decimal.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {
namespace {

using Sign = Decimal::Sign;

// PostgreSQL shows at least 16 significant digits and at most 1000 decimals in such results.
constexpr int kSignificantDigits = 16;
constexpr int kMaxDisplayScale = 1000;
constexpr int kMaxResultScale = 2000;
constexpr double kLogOfTen = 2.302585092994046;
constexpr double kTenthLog = 0.434294481903252;

const Decimal& one() {
  static const Decimal value = decimal_from_int(1);
  return value;
}

int display_scale(int wanted, int at_least) {
  return std::min(std::max({wanted, at_least, 0}), kMaxDisplayScale);
}

/// Approximate value: mantissa and decimal exponent, so that huge numbers do not overflow a double.
struct Approximation {
  double mantissa = 0;
  int exponent = 0;
};

Approximation approximate(const Decimal& value) {
  Approximation out{0, value.weight * kDigitsPerDigit};
  const std::size_t count = std::min<std::size_t>(value.digits.size(), 4);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out.exponent -= kDigitsPerDigit;
    out.mantissa = out.mantissa * kDecimalBase + value.digits[i];
  }
  if (value.sign == Sign::negative) out.mantissa = -out.mantissa;
  return out;
}

double to_double(const Decimal& value) {
  const Approximation a = approximate(value);
  return a.mantissa * std::pow(10.0, a.exponent);
}

/// Returns the approximate decimal position of the first digit of ln(value).
int logarithm_weight(const Decimal& value) {
  if (value.signum() <= 0) return 0;
  const Decimal distance = subtract(value, one());
  const bool near_one = compare_magnitude(distance, decimal_from_int(1, 1)) <= 0;
  if (near_one) {
    if (distance.digits.empty()) return 0;
    return distance.weight * kDigitsPerDigit +
           static_cast<int>(std::log10(static_cast<double>(distance.digits[0])));
  }
  const Approximation a = approximate(value);
  return static_cast<int>(std::log10(std::fabs(std::log(a.mantissa) + a.exponent * kLogOfTen)));
}

Decimal nan_decimal() {
  Decimal out;
  out.sign = Sign::nan;
  return out;
}

Decimal infinity_decimal(int sign) {
  Decimal out;
  out.sign = sign > 0 ? Sign::positive_infinity : Sign::negative_infinity;
  return out;
}

}  // namespace

namespace {

Decimal power_of_ten(int exponent) {
  constexpr int kUnits[] = {1, 10, 100, 1000};
  Decimal power;
  power.weight = exponent >= 0 ? exponent / kDigitsPerDigit
                               : -((-exponent + kDigitsPerDigit - 1) / kDigitsPerDigit);
  power.digits.push_back(
      static_cast<Decimal::Digit>(kUnits[exponent - power.weight * kDigitsPerDigit]));
  power.scale = std::max(0, -exponent);
  return power;
}

}  // namespace

Decimal square_root(const Decimal& value, int scale) {
  Decimal out;
  out.scale = std::max(scale, 0);
  if (value.is_zero()) return out;
  const int working_scale = scale + 8;
  Approximation a = approximate(value);
  if (a.exponent % 2 != 0) {
    a.exponent -= 1;
    a.mantissa *= 10;
  }
  // The first estimate has some 15 digits; each Newton step doubles them.
  out = decimal_from_int(static_cast<Int128>(std::sqrt(a.mantissa) * 1e8), 8);
  out = multiply(out, power_of_ten(a.exponent / 2));
  const Decimal two = decimal_from_int(2);
  const int precision = std::max(working_scale + out.decimal_weight(), 1);
  for (int correct = 7; correct <= precision && !out.digits.empty(); correct *= 2)
    out = divide(add(out, divide(value, out, working_scale)), two, working_scale);
  // Undo rounding up: rounded a second time, a root just below a half would become the next number.
  if (compare(multiply(out, out), value) > 0) out = subtract(out, power_of_ten(-working_scale));
  out.round(scale);
  return out;
}

Decimal exponential(const Decimal& value, int scale) {
  double approximation = to_double(value);
  if (std::fabs(approximation) >= kMaxResultScale * 3) {
    if (approximation > 0) throw_numeric_overflow();
    Decimal zero;
    zero.scale = scale;
    return zero;
  }
  const int result_weight = static_cast<int>(approximation * kTenthLog);
  int halvings = 0;
  Decimal x = value;
  for (; std::fabs(approximation) > 0.01; approximation /= 2) ++halvings;
  const int digits = std::max(1, result_weight + scale) + static_cast<int>(halvings * 0.302) + 10;
  if (halvings > 0) {
    const Decimal divisor = decimal_from_int(Int128{1} << halvings);
    x = divide(value, divisor, digits + 4);
  }
  Decimal sum = add(one(), x);
  Decimal term = x;
  for (int n = 2;; ++n) {
    term = divide(multiply(term, x, digits + 4), decimal_from_int(n), digits + 4);
    if (term.digits.empty()) break;
    sum = add(sum, term);
  }
  for (; halvings > 0; --halvings) {
    sum = multiply(sum, sum);
    sum.round(std::max(digits - sum.decimal_weight(), scale));
  }
  sum.round(scale);
  return sum;
}

Decimal natural_logarithm(const Decimal& value, int scale) {
  STATEMENT_INVARIANT(value.signum() > 0);
  Decimal x = value;
  int roots = 0;
  const Decimal low = decimal_from_int(9, 1);
  const Decimal high = decimal_from_int(11, 1);
  // Each square root halves the logarithm, so its error is doubled once per root on the way back.
  constexpr int kGuard = 12;
  constexpr int kRootGuard = 24;
  while (compare(x, low) <= 0 || compare(x, high) >= 0) {
    x = square_root(x, scale + kGuard + kRootGuard + std::max(0, -x.decimal_weight()));
    ++roots;
  }
  const int working = scale + kGuard + static_cast<int>(roots * 0.302) + 2;
  const Decimal ratio = divide(subtract(x, one()), add(x, one()), working);
  const Decimal square = multiply(ratio, ratio, working);
  Decimal sum = ratio;
  Decimal power = ratio;
  for (int n = 3;; n += 2) {
    power = multiply(power, square, working);
    const Decimal term = divide(power, decimal_from_int(n), working);
    if (term.digits.empty()) break;
    sum = add(sum, term);
  }
  Decimal out = multiply(sum, decimal_from_int(Int128{2} << roots));
  out.round(scale);
  return out;
}

Value numeric_square_root(Arena& arena, const Value& value) {
  const Decimal x = to_decimal(value);
  if (x.is_nan() || x.sign == Sign::positive_infinity) return value;
  if (x.signum() < 0)
    throw SqlError{sqlstate::invalid_argument_for_power,
                   "cannot take square root of a negative number"};
  const int weight = (x.weight + 1) * kDigitsPerDigit / 2 - 1;
  return from_decimal(arena, square_root(x, display_scale(kSignificantDigits - weight, x.scale)));
}

Value numeric_exponential(Arena& arena, const Value& value) {
  const Decimal x = to_decimal(value);
  if (x.sign == Sign::negative_infinity) return Value::from_decimal(0, 0);
  if (!x.is_finite()) return value;
  const double weight =
      std::clamp(to_double(x) * kTenthLog, -double{kMaxResultScale}, double{kMaxResultScale});
  const int scale = display_scale(kSignificantDigits - static_cast<int>(weight), x.scale);
  return from_decimal(arena, exponential(x, scale));
}

namespace {

void require_positive_for_logarithm(const Decimal& x) {
  if (x.signum() == 0)
    throw SqlError{sqlstate::invalid_argument_for_logarithm, "cannot take logarithm of zero"};
  if (x.signum() < 0)
    throw SqlError{sqlstate::invalid_argument_for_logarithm,
                   "cannot take logarithm of a negative number"};
}

}  // namespace

Value numeric_natural_logarithm(Arena& arena, const Value& value) {
  const Decimal x = to_decimal(value);
  if (x.is_nan()) return value;
  require_positive_for_logarithm(x);
  if (x.is_infinite()) return value;
  const int scale = display_scale(kSignificantDigits - logarithm_weight(x), x.scale);
  return from_decimal(arena, natural_logarithm(x, scale));
}

Value numeric_logarithm(Arena& arena, const Value& base_value, const Value& value) {
  const Decimal base = to_decimal(base_value);
  const Decimal x = to_decimal(value);
  if (base.is_nan() || x.is_nan()) return numeric_nan(arena);
  require_positive_for_logarithm(base);
  require_positive_for_logarithm(x);
  if (base.is_infinite() && x.is_infinite()) return numeric_nan(arena);
  if (base.is_infinite()) return Value::from_decimal(0, 0);
  if (x.is_infinite()) return value;
  const int base_weight = logarithm_weight(base);
  const int x_weight = logarithm_weight(x);
  const int scale =
      display_scale(kSignificantDigits - (x_weight - base_weight), std::max(base.scale, x.scale));
  const int base_scale = std::max(scale + (x_weight - base_weight) - base_weight + 8, 0);
  const int x_scale = std::max(scale + (x_weight - base_weight) - x_weight + 8, 0);
  const Decimal divisor = natural_logarithm(base, base_scale);
  if (divisor.is_zero()) throw SqlError{sqlstate::division_by_zero, "division by zero"};
  return from_decimal(arena, divide(natural_logarithm(x, x_scale), divisor, scale));
}

namespace {

/// `exponent_scale`: digits that the exponent shows after its point.
Decimal power_of_integer(const Decimal& base, std::int64_t exponent, int exponent_scale) {
  double weight = 0;
  if (!base.digits.empty()) {
    const Approximation a = approximate(base);
    weight = static_cast<double>(exponent) * (std::log10(std::fabs(a.mantissa)) + a.exponent);
  }
  if (weight > (kMaxNumericWeight + 1) * double{kDigitsPerDigit}) throw_numeric_overflow();
  Decimal out;
  if (weight + 1 < -kMaxDisplayScale) {
    out.scale = kMaxDisplayScale;
    return out;
  }
  const int scale = display_scale(kSignificantDigits - static_cast<int>(weight),
                                  std::max(base.scale, exponent_scale));
  if (base.digits.empty() && exponent < 0)
    throw SqlError{sqlstate::division_by_zero, "division by zero"};
  if (exponent == 0 || base.digits.empty()) {
    out = exponent == 0 ? one() : Decimal{};
    out.scale = scale;
    return out;
  }
  const auto magnitude =
      exponent < 0 ? -static_cast<std::uint64_t>(exponent) : static_cast<std::uint64_t>(exponent);
  const int digits = std::max(1, 1 + scale + static_cast<int>(weight)) +
                     static_cast<int>(std::log(static_cast<double>(magnitude))) + 10;
  const auto trim = [digits](Decimal& d) {
    if (!d.digits.empty()) d.round(std::max(digits - d.decimal_weight(), 0));
  };
  Decimal square = base;
  out = one();
  for (std::uint64_t rest = magnitude; rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) {
      out = multiply(out, square);
      trim(out);
    }
    if (rest > 1) {
      square = multiply(square, square);
      trim(square);
      if (square.digits.empty()) break;
    }
  }
  if (exponent < 0) {
    if (out.digits.empty()) throw_numeric_overflow();
    return divide(one(), out, scale);
  }
  out.round(scale);
  return out;
}

Decimal power_of_any(const Decimal& base, const Decimal& exponent) {
  const int log_weight = logarithm_weight(base);
  int scale = std::max(8 - log_weight, 0);
  double weight = to_double(multiply(natural_logarithm(base, scale), exponent, scale));
  if (std::fabs(weight) > kMaxResultScale * 3.01) {
    if (weight > 0) throw_numeric_overflow();
    Decimal zero;
    zero.scale = kMaxDisplayScale;
    return zero;
  }
  weight *= kTenthLog;
  scale = display_scale(kSignificantDigits - static_cast<int>(weight),
                        std::max(base.scale, exponent.scale));
  const int digits = std::max(scale + static_cast<int>(weight), 0);
  const int working = std::max(digits - log_weight + 10, 0) + std::max(0, exponent.weight + 1) * 4;
  return exponential(multiply(natural_logarithm(base, working), exponent, working), scale);
}

/// Returns the results that involve NaN or an infinity, as POSIX defines pow().
Decimal power_of_special(const Decimal& base, const Decimal& exponent) {
  if (exponent.is_zero() || compare(base, one()) == 0) return one();
  if (base.is_nan() || exponent.is_nan()) return nan_decimal();
  const bool integral =
      exponent.is_finite() && static_cast<int>(exponent.digits.size()) <= exponent.weight + 1;
  const bool odd = integral && !exponent.digits.empty() &&
                   static_cast<int>(exponent.digits.size()) == exponent.weight + 1 &&
                   exponent.digits.back() % 2 == 1;
  if (base.is_zero()) {
    if (exponent.signum() < 0)
      throw SqlError{sqlstate::invalid_argument_for_power,
                     "zero raised to a negative power is undefined"};
    return Decimal{};
  }
  if (exponent.is_infinite()) {
    Decimal size = base;
    if (size.sign == Sign::negative) size.sign = Sign::positive;
    if (size.sign == Sign::negative_infinity) size.sign = Sign::positive_infinity;
    const int order = compare(size, one());
    if (order == 0) return one();
    return (order > 0) == (exponent.signum() > 0) ? infinity_decimal(1) : Decimal{};
  }
  if (base.signum() > 0) return exponent.signum() > 0 ? infinity_decimal(1) : Decimal{};
  if (!integral)
    throw SqlError{sqlstate::invalid_argument_for_power,
                   "a negative number raised to a non-integer power yields a complex result"};
  if (exponent.signum() < 0) return Decimal{};
  return infinity_decimal(odd ? -1 : 1);
}

}  // namespace

Value numeric_power(Arena& arena, const Value& base_value, const Value& exponent_value) {
  Decimal base = to_decimal(base_value);
  const Decimal exponent = to_decimal(exponent_value);
  if (!base.is_finite() || !exponent.is_finite())
    return from_decimal(arena, power_of_special(base, exponent));
  if (base.is_zero() && exponent.signum() < 0)
    throw SqlError{sqlstate::invalid_argument_for_power,
                   "zero raised to a negative power is undefined"};
  const bool integral = static_cast<int>(exponent.digits.size()) <= exponent.weight + 1;
  if (base.signum() < 0 && !integral && !exponent.digits.empty())
    throw SqlError{sqlstate::invalid_argument_for_power,
                   "a negative number raised to a non-integer power yields a complex result"};
  if (exponent.digits.empty() || (integral && exponent.weight < 3)) {
    std::int64_t number = 0;
    for (int i = 0; i <= exponent.weight; ++i)
      number = number * kDecimalBase + (i < static_cast<int>(exponent.digits.size())
                                            ? exponent.digits[static_cast<std::size_t>(i)]
                                            : 0);
    if (exponent.digits.empty()) number = 0;
    if (exponent.sign == Sign::negative) number = -number;
    if (number >= INT32_MIN && number <= INT32_MAX)
      return from_decimal(arena, power_of_integer(base, number, exponent.scale));
  }
  if (base.is_zero()) {
    Decimal zero;
    zero.scale = kSignificantDigits;
    return from_decimal(arena, zero);
  }
  const bool odd = static_cast<int>(exponent.digits.size()) == exponent.weight + 1 &&
                   exponent.digits.back() % 2 == 1;
  const bool negative = base.signum() < 0 && odd;
  base.sign = Sign::positive;
  Decimal out = power_of_any(base, exponent);
  return from_decimal(arena, negative ? negated(std::move(out)) : std::move(out));
}

Value numeric_gcd(Arena& arena, const Value& left, const Value& right) {
  Decimal a = to_decimal(left);
  Decimal b = to_decimal(right);
  if (!a.is_finite() || !b.is_finite()) return numeric_nan(arena);
  const int scale = std::max(a.scale, b.scale);
  a.sign = b.sign = Sign::positive;
  while (!b.digits.empty()) {
    Decimal rest = modulo(a, b);
    a = std::move(b);
    b = std::move(rest);
  }
  a.scale = scale;
  return from_decimal(arena, std::move(a));
}

Value numeric_lcm(Arena& arena, const Value& left, const Value& right) {
  const Decimal a = to_decimal(left);
  const Decimal b = to_decimal(right);
  if (!a.is_finite() || !b.is_finite()) return numeric_nan(arena);
  Decimal out;
  if (!a.digits.empty() && !b.digits.empty()) {
    const Decimal common = to_decimal(numeric_gcd(arena, left, right));
    out = multiply(divide(a, common, 0, Rounding::truncate), b);
    out.sign = Sign::positive;
  }
  out.scale = std::max(a.scale, b.scale);
  return from_decimal(arena, std::move(out));
}

namespace {

/// Returns first × … × last. Multiplies halves of similar length, so that few products are of long
/// numbers.
Decimal product_of(std::int64_t first, std::int64_t last) {
  constexpr std::int64_t kFew = 8;
  if (last - first < kFew) {
    Decimal out = one();
    for (; first <= last; ++first) out = multiply(out, decimal_from_int(first));
    return out;
  }
  const std::int64_t middle = first + (last - first) / 2;
  return multiply(product_of(first, middle), product_of(middle + 1, last));
}

}  // namespace

Value numeric_factorial(Arena& arena, std::int64_t number) {
  if (number < 0)
    throw SqlError{sqlstate::numeric_value_out_of_range,
                   "factorial of a negative number is undefined"};
  if (number > 32177) throw_numeric_overflow();
  return from_decimal(arena, product_of(2, number));
}

}  // namespace swizzle::sql
