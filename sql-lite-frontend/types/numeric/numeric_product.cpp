#include "sql-lite-frontend/types/numeric/numeric_product.h"

#include <algorithm>
#include <bit>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/numeric/int128.h"

namespace swizzle::sql {
namespace {

// In this prime field there are roots of unity of order 2^32, 7 generates the multiplicative group,
// and 2^64 equals 2^32 - 1, so that a product of two words is reduced without a division.
constexpr std::uint64_t kModulus = 0xffffffff00000001U;
constexpr std::uint64_t kTwoTo64 = 0xffffffffU;
constexpr std::uint64_t kGenerator = 7;

/// Arithmetic in the field. Operands and results are below the modulus.
struct PrimeField {
  static std::uint64_t add(std::uint64_t a, std::uint64_t b) noexcept {
    std::uint64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) return sum + kTwoTo64;
    return sum >= kModulus ? sum - kModulus : sum;
  }
  static std::uint64_t subtract(std::uint64_t a, std::uint64_t b) noexcept {
    return a >= b ? a - b : a - b + kModulus;
  }
  static std::uint64_t multiply(std::uint64_t a, std::uint64_t b) noexcept {
    const UInt128 product = static_cast<UInt128>(a) * b;
    const auto low = static_cast<std::uint64_t>(product);
    const auto high = static_cast<std::uint64_t>(product >> 64U);
    // low + 2^64 * (high mod 2^32) + 2^96 * (high / 2^32), where 2^96 is -1.
    std::uint64_t out = 0;
    if (__builtin_sub_overflow(low, high >> 32U, &out)) out -= kTwoTo64;
    if (__builtin_add_overflow(out, (high & 0xffffffffU) * kTwoTo64, &out)) out += kTwoTo64;
    return out >= kModulus ? out - kModulus : out;
  }
  static std::uint64_t power(std::uint64_t base, std::uint64_t exponent) noexcept {
    std::uint64_t out = 1;
    for (; exponent != 0; exponent >>= 1U, base = multiply(base, base)) {
      if ((exponent & 1U) != 0) out = multiply(out, base);
    }
    return out;
  }
};

using Residues = std::vector<std::uint64_t>;
enum class TransformDirection : std::uint8_t { forward, backward };

/// Returns the first order/2 powers of a root of unity of that order.
Residues roots_of_unity(std::size_t order, TransformDirection direction) {
  std::uint64_t root = PrimeField::power(kGenerator, (kModulus - 1) / order);
  if (direction == TransformDirection::backward) root = PrimeField::power(root, kModulus - 2);
  Residues out(order / 2);
  std::uint64_t next = 1;
  for (std::uint64_t& word : out) {
    word = next;
    next = PrimeField::multiply(next, root);
  }
  yield_point(2 * order);
  return out;
}

/// Transforms in place. The result is in bit-reversed order, which does not matter to products;
/// transform_back() undoes it.
void transform(Residues& words, const Residues& roots) {
  for (std::size_t half = words.size() / 2, stride = 1; half != 0; half /= 2, stride *= 2) {
    for (std::size_t block = 0; block < words.size(); block += 2 * half) {
      for (std::size_t i = 0; i < half; ++i) {
        std::uint64_t& a = words[block + i];
        std::uint64_t& b = words[block + i + half];
        const std::uint64_t difference = PrimeField::subtract(a, b);
        a = PrimeField::add(a, b);
        b = PrimeField::multiply(difference, roots[i * stride]);
      }
    }
    yield_point(2 * words.size());
  }
}

void transform_back(Residues& words, const Residues& roots) {
  for (std::size_t half = 1, stride = words.size() / 2; stride != 0; half *= 2, stride /= 2) {
    for (std::size_t block = 0; block < words.size(); block += 2 * half) {
      for (std::size_t i = 0; i < half; ++i) {
        std::uint64_t& a = words[block + i];
        std::uint64_t& b = words[block + i + half];
        const std::uint64_t turned = PrimeField::multiply(b, roots[i * stride]);
        b = PrimeField::subtract(a, turned);
        a = PrimeField::add(a, turned);
      }
    }
    yield_point(2 * words.size());
  }
}

Residues residues_of(std::span<const std::uint16_t> digits, std::size_t size) {
  Residues out(digits.begin(), digits.end());
  out.resize(size);
  return out;
}

}  // namespace

std::vector<std::uint64_t> convolve(std::span<const std::uint16_t> left,
                                    std::span<const std::uint16_t> right) {
  const std::size_t terms = left.size() + right.size() - 1;
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(terms, 2));
  const Residues roots = roots_of_unity(size, TransformDirection::forward);
  Residues product = residues_of(left, size);
  transform(product, roots);
  Residues other = residues_of(right, size);
  transform(other, roots);
  const std::uint64_t scale = PrimeField::power(size, kModulus - 2);
  for (std::size_t i = 0; i < size; ++i) {
    product[i] = PrimeField::multiply(PrimeField::multiply(product[i], other[i]), scale);
  }
  transform_back(product, roots_of_unity(size, TransformDirection::backward));
  product.resize(terms);
  return product;
}

}  // namespace swizzle::sql
