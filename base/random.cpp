#include "base/random.h"

#include <sys/random.h>

#include <cmath>

#include "base/invariant.h"

namespace swizzle {
namespace {

// log1p(x)/x and expm1(x)/x stay accurate where exponent is near 1 and x near 0.
double log_ratio(double x) noexcept {
  return std::abs(x) > 1e-8 ? std::log1p(x) / x : 1 - x * (0.5 - x / 3);
}
double exp_ratio(double x) noexcept {
  return std::abs(x) > 1e-8 ? std::expm1(x) / x : 1 + x * 0.5 * (1 + x / 3);
}

}  // namespace

// Rejection-inversion after Hörmann and Derflinger (1996): invert the integral of the density,
// which is a hat over the sum, and reject the little that sticks out.
Zipf::Zipf(std::uint64_t count, double exponent) noexcept : count_(count), exponent_(exponent) {
  INVARIANT(count > 0 && exponent > 0);
  integral_first_ = integral(1.5) - 1;
  integral_last_ = integral(static_cast<double>(count) + 0.5);
  shortcut_ = 2 - integral_inverse(integral(2.5) - density(2));
}

double Zipf::integral(double x) const noexcept {
  const double log_x = std::log(x);
  return exp_ratio((1 - exponent_) * log_x) * log_x;
}

double Zipf::integral_inverse(double x) const noexcept {
  const double clipped = std::max(x * (1 - exponent_), -1.0);
  return std::exp(log_ratio(clipped) * x);
}

double Zipf::density(double x) const noexcept {
  return std::exp(-exponent_ * std::log(x));
}

std::uint64_t Zipf::operator()(Random& random) const noexcept {
  for (;;) {
    const double at = integral_last_ + random.unit() * (integral_first_ - integral_last_);
    const double x = integral_inverse(at);
    const double last = static_cast<double>(count_);
    const double rank = std::min(std::max(std::floor(x + 0.5), 1.0), last);
    if (rank - x <= shortcut_ || at >= integral(rank + 0.5) - density(rank)) {
      return std::min(static_cast<std::uint64_t>(rank), count_) - 1;
    }
  }
}

std::uint64_t system_entropy() noexcept {
  std::uint64_t entropy = 0;
  // Eight bytes are never returned in part; only an interruption during the system's boot can fail.
  while (getrandom(&entropy, sizeof entropy, 0) != static_cast<ssize_t>(sizeof entropy)) continue;
  return entropy;
}

}  // namespace swizzle
