#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace swizzle {

/// One step of SplitMix64: turns a counter or a weak seed into well mixed bits.
constexpr std::uint64_t split_mix(std::uint64_t& state) noexcept {
  state += 0x9E3779B97F4A7C15U;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
  return mixed ^ (mixed >> 31);
}

/// xoshiro256**: fast, and good enough for everything but secrets, which come from OpenSSL. A seed
/// gives the same numbers in all versions, so that recorded seeds stay valid. Not thread-safe.
class Random {
 public:
  using result_type = std::uint64_t;

  explicit constexpr Random(std::uint64_t seed) noexcept {
    for (auto& word : state_) word = split_mix(seed);
  }

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return UINT64_MAX; }

  constexpr std::uint64_t operator()() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Uniform in [0, bound). Pre: bound > 0.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    // Lemire's multiplication; the rejected sliver keeps it exactly uniform.
    auto product = wide_multiply((*this)(), bound);
    if (product.low < bound) {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (product.low < threshold) product = wide_multiply((*this)(), bound);
    }
    return product.high;
  }

  /// Uniform in [low, high], both included. Pre: low <= high.
  constexpr std::uint64_t between(std::uint64_t low, std::uint64_t high) noexcept {
    const std::uint64_t width = high - low + 1;
    return width == 0 ? (*this)() : low + below(width);
  }

  /// Uniform in [0, 1).
  constexpr double unit() noexcept { return static_cast<double>((*this)() >> 11) * 0x1.0p-53; }

  /// True once in `odds` times on average. Pre: odds > 0.
  constexpr bool one_in(std::uint64_t odds) noexcept { return below(odds) == 0; }

  /// Returns a generator that is statistically independent of this one.
  constexpr Random split() noexcept { return Random{(*this)()}; }

 private:
  struct Product {
    std::uint64_t high;
    std::uint64_t low;
  };
  static constexpr Product wide_multiply(std::uint64_t a, std::uint64_t b) noexcept {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
  }

  std::array<std::uint64_t, 4> state_{};
};

/// Numbers in [0, count) with Zipf's distribution: rank r comes with probability proportional to
/// 1 / (r + 1)^exponent. Rejection-inversion: constant time, no table, any exponent > 0.
class Zipf {
 public:
  Zipf(std::uint64_t count, double exponent) noexcept;
  std::uint64_t operator()(Random& random) const noexcept;

 private:
  [[nodiscard]] double integral(double x) const noexcept;
  [[nodiscard]] double integral_inverse(double x) const noexcept;
  [[nodiscard]] double density(double x) const noexcept;

  std::uint64_t count_;
  double exponent_;
  double integral_first_;
  double integral_last_;
  double shortcut_;
};

/// Maps neighbouring ranks to distant numbers, so that hot keys do not share pages. A bijection.
constexpr std::uint64_t scramble(std::uint64_t value) noexcept {
  return split_mix(value);
}

/// Returns seed material from the operating system.
std::uint64_t system_entropy() noexcept;

}  // namespace swizzle
