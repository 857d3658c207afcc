#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/runtime/runtime.h"

namespace swizzle {

/// Histogram of durations, in steps of about a factor of two. One thread at a time records; any
/// thread reads.
class DurationHistogram {
 public:
  static constexpr std::array<std::uint32_t, 20> kBoundsUs{
      5,       10,      20,        50,        100,       200,       500,
      1'000,   2'000,   5'000,     10'000,    20'000,    50'000,    100'000,
      200'000, 500'000, 1'000'000, 2'000'000, 5'000'000, 10'000'000};

  /// The recorded durations. The last step counts those above all bounds.
  struct Counts {
    std::array<std::uint64_t, kBoundsUs.size() + 1> steps{};
    std::uint64_t sum_ns = 0;

    [[nodiscard]] std::uint64_t total() const noexcept {
      std::uint64_t sum = 0;
      for (const std::uint64_t step : steps) sum += step;
      return sum;
    }
    Counts& operator+=(const Counts& other) noexcept {
      for (std::size_t i = 0; i < steps.size(); ++i) steps[i] += other.steps[i];
      sum_ns += other.sum_ns;
      return *this;
    }
  };

  void record(Duration duration) noexcept {
    const std::int64_t ns = duration.count() < 0 ? 0 : duration.count();
    std::size_t step = 0;
    while (step < kBoundsUs.size() && ns > std::int64_t{kBoundsUs[step]} * 1'000) ++step;
    add(steps_[step], 1);
    add(sum_ns_, static_cast<std::uint64_t>(ns));
  }

  [[nodiscard]] Counts counts() const noexcept {
    Counts counts;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      counts.steps[i] = steps_[i].load(std::memory_order_relaxed);
    }
    counts.sum_ns = sum_ns_.load(std::memory_order_relaxed);
    return counts;
  }

 private:
  /// With one writer a load and a store are enough, and cheaper than an addition that locks the
  /// bus.
  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t what) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + what, std::memory_order_relaxed);
  }

  std::array<std::atomic<std::uint64_t>, kBoundsUs.size() + 1> steps_{};
  std::atomic<std::uint64_t> sum_ns_{0};
};

}  // namespace swizzle
