#include "sql-lite-frontend/types/numeric/numeric_decimal.h"

#include <algorithm>
#include <vector>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/numeric/numeric_product.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {
namespace {

using Sign = Decimal::Sign;
using Digit = Decimal::Digit;

constexpr int kPowers[] = {1, 10, 100, 1000, 10000};

int floor_divide(int a, int b) noexcept {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

Digit digit_at(const Decimal& d, int position) noexcept {
  const int index = d.weight - position;
  return index >= 0 && index < static_cast<int>(d.digits.size())
             ? d.digits[static_cast<std::size_t>(index)]
             : Digit{0};
}

int lowest_position(const Decimal& d) noexcept {
  return d.weight - static_cast<int>(d.digits.size()) + 1;
}

/// Pre: for subtraction |left| >= |right|.
Decimal combine_magnitudes(const Decimal& left, const Decimal& right, int sign) {
  const int high = std::max(left.weight, right.weight) + 1;
  const int low = std::min(lowest_position(left), lowest_position(right));
  Decimal out;
  out.weight = high;
  out.scale = std::max(left.scale, right.scale);
  out.digits.resize(static_cast<std::size_t>(high - low + 1));
  int carry = 0;
  for (int position = low; position <= high; ++position) {
    int sum = digit_at(left, position) + sign * digit_at(right, position) + carry;
    carry = 0;
    if (sum >= kDecimalBase) {
      sum -= kDecimalBase;
      carry = 1;
    } else if (sum < 0) {
      sum += kDecimalBase;
      carry = -1;
    }
    out.digits[static_cast<std::size_t>(high - position)] = static_cast<Digit>(sum);
  }
  STATEMENT_INVARIANT(carry == 0);
  return out;
}

Decimal add_signed(const Decimal& left, const Decimal& right, bool same_sign) {
  Decimal out;
  if (same_sign) {
    out = combine_magnitudes(left, right, 1);
    out.sign = left.sign;
  } else if (compare_magnitude(left, right) >= 0) {
    out = combine_magnitudes(left, right, -1);
    out.sign = left.sign;
  } else {
    out = combine_magnitudes(right, left, -1);
    out.sign = left.sign == Sign::positive ? Sign::negative : Sign::positive;
  }
  out.normalize();
  return out;
}

}  // namespace

int Decimal::signum() const noexcept {
  if (sign == Sign::nan || sign == Sign::positive_infinity) return 1;
  if (sign == Sign::negative_infinity) return -1;
  if (digits.empty()) return 0;
  return sign == Sign::negative ? -1 : 1;
}

int Decimal::decimal_weight() const {
  STATEMENT_INVARIANT(!digits.empty());
  int length = 0;
  for (int first = digits.front(); first > 0; first /= 10) ++length;
  return weight * kDigitsPerDigit + length - 1;
}

void Decimal::normalize() {
  std::size_t leading = 0;
  while (leading < digits.size() && digits[leading] == 0) ++leading;
  if (leading > 0) {
    digits.erase(digits.begin(), digits.begin() + static_cast<std::ptrdiff_t>(leading));
    weight -= static_cast<int>(leading);
  }
  while (!digits.empty() && digits.back() == 0) digits.pop_back();
  if (digits.empty() && is_finite()) {
    sign = Sign::positive;
    weight = 0;
  }
}

void Decimal::truncate(int to_scale) {
  if (!is_finite()) return;
  scale = std::max(to_scale, 0);
  // The lowest base-10000 position that keeps any digit, and how many of its decimal digits stay.
  const int position = -floor_divide(to_scale + kDigitsPerDigit - 1, kDigitsPerDigit);
  if (position > weight) {
    digits.clear();
    normalize();
    return;
  }
  const auto keep = static_cast<std::size_t>(weight - position + 1);
  if (keep <= digits.size()) {
    digits.resize(keep);
    const int dropped = -position * kDigitsPerDigit - to_scale;
    const int unit = kPowers[dropped];
    digits.back() = static_cast<Digit>(digits.back() / unit * unit);
  }
  normalize();
}

void Decimal::round(int to_scale) {
  if (!is_finite()) return;
  if (!digits.empty()) {
    // Adding half a unit of the last kept place makes truncation round.
    Decimal half;
    const int place = -to_scale - 1;
    half.weight = floor_divide(place, kDigitsPerDigit);
    half.digits.push_back(static_cast<Digit>(5 * kPowers[place - half.weight * kDigitsPerDigit]));
    if (half.weight >= lowest_position(*this)) {
      const int shown = scale;
      const Sign own = sign;
      *this = combine_magnitudes(*this, half, 1);
      sign = own;
      scale = shown;
      normalize();
    }
  }
  truncate(to_scale);
}

Decimal decimal_from_int(Int128 unscaled, int scale) {
  Decimal out;
  out.scale = scale;
  if (unscaled == 0) return out;
  if (unscaled < 0) out.sign = Sign::negative;
  auto rest = unscaled < 0 ? -static_cast<UInt128>(unscaled) : static_cast<UInt128>(unscaled);
  Digit reversed[12];
  std::size_t count = 0;
  // The last digit group is padded with zeros if the scale is not a multiple of four.
  const int fraction = (scale + kDigitsPerDigit - 1) / kDigitsPerDigit;
  const int padding = fraction * kDigitsPerDigit - scale;
  if (padding > 0) {
    const auto part = static_cast<unsigned>(kPowers[kDigitsPerDigit - padding]);
    reversed[count++] = static_cast<Digit>(static_cast<unsigned>(rest % part) *
                                           static_cast<unsigned>(kPowers[padding]));
    rest /= part;
  }
  for (; rest != 0; rest /= kDecimalBase)
    reversed[count++] = static_cast<Digit>(static_cast<unsigned>(rest % kDecimalBase));
  out.weight = static_cast<int>(count) - fraction - 1;
  out.digits.assign(std::make_reverse_iterator(reversed + count),
                    std::make_reverse_iterator(reversed));
  out.normalize();
  return out;
}

int compare_magnitude(const Decimal& left, const Decimal& right) noexcept {
  if (left.digits.empty() || right.digits.empty())
    return static_cast<int>(!left.digits.empty()) - static_cast<int>(!right.digits.empty());
  if (left.weight != right.weight) return left.weight < right.weight ? -1 : 1;
  const std::size_t common = std::min(left.digits.size(), right.digits.size());
  for (std::size_t i = 0; i < common; ++i)
    if (left.digits[i] != right.digits[i]) return left.digits[i] < right.digits[i] ? -1 : 1;
  if (left.digits.size() == right.digits.size()) return 0;
  return left.digits.size() < right.digits.size() ? -1 : 1;
}

int compare(const Decimal& left, const Decimal& right) noexcept {
  const auto rank = [](const Decimal& d) {
    switch (d.sign) {
      case Sign::negative_infinity:
        return -2;
      case Sign::positive_infinity:
        return 2;
      case Sign::nan:
        return 3;
      default:
        return d.signum();
    }
  };
  const int left_rank = rank(left);
  const int right_rank = rank(right);
  if (left_rank != right_rank) return left_rank < right_rank ? -1 : 1;
  if (left_rank == 1) return compare_magnitude(left, right);
  if (left_rank == -1) return compare_magnitude(right, left);
  return 0;
}

Decimal negated(Decimal value) noexcept {
  switch (value.sign) {
    case Sign::positive:
      if (!value.digits.empty()) value.sign = Sign::negative;
      break;
    case Sign::negative:
      value.sign = Sign::positive;
      break;
    case Sign::positive_infinity:
      value.sign = Sign::negative_infinity;
      break;
    case Sign::negative_infinity:
      value.sign = Sign::positive_infinity;
      break;
    case Sign::nan:
      break;
  }
  return value;
}

Decimal add(const Decimal& left, const Decimal& right) {
  return add_signed(left, right, left.sign == right.sign);
}

Decimal subtract(const Decimal& left, const Decimal& right) {
  return add_signed(left, right, left.sign != right.sign);
}

Decimal multiply(const Decimal& left, const Decimal& right) {
  Decimal out;
  out.scale = left.scale + right.scale;
  if (left.digits.empty() || right.digits.empty()) return out;
  out.sign = left.sign == right.sign ? Sign::positive : Sign::negative;
  out.weight = left.weight + right.weight + 1;
  const std::size_t size = left.digits.size() + right.digits.size();
  boost::container::small_vector<std::uint64_t, 80> sums(size, 0);
  if (std::min(left.digits.size(), right.digits.size()) >= kWorthTransforming) {
    std::ranges::copy(convolve(left.digits, right.digits), sums.begin() + 1);
  } else {
    for (std::size_t i = 0; i < left.digits.size(); ++i) {
      yield_point(right.digits.size());
      const std::uint64_t digit = left.digits[i];
      for (std::size_t j = 0; j < right.digits.size(); ++j)
        sums[i + j + 1] += digit * right.digits[j];
    }
  }
  out.digits.resize(size);
  std::uint64_t carry = 0;
  for (std::size_t i = size; i-- > 0;) {
    const std::uint64_t sum = sums[i] + carry;
    carry = sum / kDecimalBase;
    out.digits[i] = static_cast<Digit>(sum % kDecimalBase);
  }
  out.normalize();
  return out;
}

Decimal multiply(const Decimal& left, const Decimal& right, int scale) {
  Decimal out = multiply(left, right);
  out.round(scale);
  return out;
}

namespace {

using Limbs = boost::container::small_vector<std::uint32_t, 96>;

/// Knuth's algorithm D in base 10000. Both operands have the most significant digit first, the
/// divisor no leading zeros. The quotient has dividend.size() - divisor.size() + 1 digits;
/// `dividend` becomes the remainder.
Limbs long_division(Limbs& dividend, Limbs divisor) {
  const std::uint32_t normalizer = kDecimalBase / (divisor[0] + 1);
  const auto scale_by = [](Limbs& limbs, std::uint32_t factor) {
    std::uint32_t carry = 0;
    for (std::size_t i = limbs.size(); i-- > 0;) {
      const std::uint32_t product = limbs[i] * factor + carry;
      limbs[i] = product % kDecimalBase;
      carry = product / kDecimalBase;
    }
    return carry;
  };
  const std::uint32_t overflow = scale_by(dividend, normalizer);
  dividend.insert(dividend.begin(), overflow);
  scale_by(divisor, normalizer);
  const std::size_t n = divisor.size();
  const std::size_t steps = dividend.size() - n;
  Limbs quotient(steps);
  for (std::size_t step = 0; step < steps; ++step) {
    yield_point(3 * n);
    const std::uint32_t head = dividend[step] * kDecimalBase + dividend[step + 1];
    std::uint32_t guess = std::min<std::uint32_t>(head / divisor[0], kDecimalBase - 1);
    if (n > 1) {
      const auto too_large = [&](std::uint32_t q) {
        const std::uint64_t rest = head - std::uint64_t{q} * divisor[0];
        return std::uint64_t{q} * divisor[1] > rest * kDecimalBase + dividend[step + 2];
      };
      while (guess > 0 && too_large(guess)) --guess;
    }
    std::int64_t borrow = 0;
    for (std::size_t i = n; i-- > 0;) {
      std::int64_t digit =
          std::int64_t{dividend[step + i + 1]} - std::int64_t{guess} * divisor[i] + borrow;
      borrow = digit < 0 ? -((-digit + kDecimalBase - 1) / kDecimalBase) : 0;
      digit -= borrow * kDecimalBase;
      dividend[step + i + 1] = static_cast<std::uint32_t>(digit);
    }
    std::int64_t top = std::int64_t{dividend[step]} + borrow;
    while (top < 0) {
      --guess;
      std::uint32_t carry = 0;
      for (std::size_t i = n; i-- > 0;) {
        const std::uint32_t sum = dividend[step + i + 1] + divisor[i] + carry;
        dividend[step + i + 1] = sum % kDecimalBase;
        carry = sum / kDecimalBase;
      }
      top += carry;
    }
    dividend[step] = 0;
    quotient[step] = guess;
  }
  return quotient;
}

}  // namespace

Decimal divide(const Decimal& left, const Decimal& right, int scale, Rounding rounding) {
  STATEMENT_INVARIANT(!right.digits.empty());
  Decimal out;
  out.scale = std::max(scale, 0);
  if (left.digits.empty()) return out;
  out.sign = left.sign == right.sign ? Sign::positive : Sign::negative;
  // Compute one position more than shown, so that the truncated quotient decides the rounding.
  const int lowest = -(floor_divide(scale, kDigitsPerDigit) + 2);
  const int lowest_right = lowest_position(right);
  Limbs divisor(right.digits.begin(), right.digits.end());
  Limbs dividend(left.digits.begin(), left.digits.end());
  // Quotient positions go down to (lowest position of the dividend) - (lowest of the divisor).
  const int wanted = lowest + lowest_right;
  const int have = lowest_position(left);
  if (have > wanted) {
    dividend.resize(dividend.size() + static_cast<std::size_t>(have - wanted), 0);
  } else if (have < wanted) {
    const auto surplus = static_cast<std::size_t>(wanted - have);
    dividend.resize(dividend.size() > surplus ? dividend.size() - surplus : 0);
  }
  if (dividend.size() < divisor.size()) return out.sign = Sign::positive, out;
  const Limbs quotient = long_division(dividend, divisor);
  out.digits.assign(quotient.begin(), quotient.end());
  out.weight = lowest + static_cast<int>(quotient.size()) - 1;
  out.normalize();
  if (rounding == Rounding::half_away)
    out.round(scale);
  else
    out.truncate(scale);
  return out;
}

Decimal modulo(const Decimal& left, const Decimal& right) {
  const Decimal quotient = divide(left, right, 0, Rounding::truncate);
  Decimal out = subtract(left, multiply(quotient, right));
  out.round(std::max(left.scale, right.scale));
  return out;
}

void throw_numeric_overflow() {
  throw SqlError{sqlstate::numeric_value_out_of_range, "value overflows numeric format"};
}

}  // namespace swizzle::sql
