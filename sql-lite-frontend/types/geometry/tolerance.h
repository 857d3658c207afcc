#pragma once

#include <cmath>

/// Comparison and arithmetic of geometric values as in PostgreSQL: numbers are equal if they differ
/// by at most 1e-6; overflow, underflow (22003) and division by zero (22012) are errors.
namespace swizzle::sql::geometry {

inline constexpr double kTolerance = 1.0e-06;

inline bool is_zero(double a) noexcept {
  return std::fabs(a) <= kTolerance;
}
inline bool same(double a, double b) noexcept {
  return a == b || std::fabs(a - b) <= kTolerance;
}
inline bool less(double a, double b) noexcept {
  return a + kTolerance < b;
}
inline bool at_most(double a, double b) noexcept {
  return a <= b + kTolerance;
}
inline bool greater(double a, double b) noexcept {
  return a > b + kTolerance;
}
inline bool at_least(double a, double b) noexcept {
  return a + kTolerance >= b;
}

// Exact comparisons: NaN equals itself and is greater than every number.
inline bool exactly_same(double a, double b) noexcept {
  return std::isnan(a) ? std::isnan(b) : a == b;
}
inline bool exactly_less(double a, double b) noexcept {
  return !std::isnan(a) && (std::isnan(b) || a < b);
}
inline double least(double a, double b) noexcept {
  return exactly_less(a, b) ? a : b;
}
inline double greatest(double a, double b) noexcept {
  return exactly_less(b, a) ? a : b;
}

[[noreturn]] void refuse_overflow();
[[noreturn]] void refuse_underflow();
[[noreturn]] void refuse_zero_division();

inline double plus(double a, double b) {
  const double sum = a + b;
  if (std::isinf(sum) && !std::isinf(a) && !std::isinf(b)) [[unlikely]]
    refuse_overflow();
  return sum;
}
inline double minus(double a, double b) {
  const double difference = a - b;
  if (std::isinf(difference) && !std::isinf(a) && !std::isinf(b)) [[unlikely]]
    refuse_overflow();
  return difference;
}
inline double times(double a, double b) {
  const double product = a * b;
  if (std::isinf(product) && !std::isinf(a) && !std::isinf(b)) [[unlikely]]
    refuse_overflow();
  if (product == 0 && a != 0 && b != 0) [[unlikely]]
    refuse_underflow();
  return product;
}
inline double over(double a, double b) {
  if (b == 0 && !std::isnan(a)) [[unlikely]]
    refuse_zero_division();
  const double ratio = a / b;
  if (std::isinf(ratio) && !std::isinf(a)) [[unlikely]]
    refuse_overflow();
  if (ratio == 0 && a != 0 && !std::isinf(b)) [[unlikely]]
    refuse_underflow();
  return ratio;
}

/// Length of the hypotenuse of a right triangle with these sides.
double hypotenuse(double a, double b);

}  // namespace swizzle::sql::geometry
