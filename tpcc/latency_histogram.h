#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace swizzle::tpcc {

/// Counts latencies in buckets whose width is a 32nd of their size, so that every percentile is
/// right within 3 %, from nanoseconds to hours, in 6 KiB. Not thread-safe: one per session.
class LatencyHistogram {
 public:
  void record(std::uint64_t nanoseconds) noexcept {
    ++counts_[std::min(bucket_of(nanoseconds), counts_.size() - 1)];
    ++count_;
    highest_ = std::max(highest_, nanoseconds);
    sum_ += nanoseconds;
  }

  void add(const LatencyHistogram& other) noexcept {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    highest_ = std::max(highest_, other.highest_);
    sum_ += other.sum_;
  }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t highest() const noexcept { return highest_; }
  [[nodiscard]] double mean() const noexcept {
    return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }

  /// The latency that `share` (0 to 1) of all did not exceed.
  [[nodiscard]] std::uint64_t percentile(double share) const noexcept {
    const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(count_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > wanted) return std::min(upper_bound(i), highest_);
    }
    return highest_;
  }

 private:
  static constexpr unsigned kFineBits = 5;
  static constexpr std::size_t kFine = std::size_t{1} << kFineBits;

  static std::size_t bucket_of(std::uint64_t value) noexcept {
    if (value < kFine) return value;
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - kFineBits - 1;
    return (shift + 1) * kFine + ((value >> shift) & (kFine - 1));
  }
  static std::uint64_t upper_bound(std::size_t bucket) noexcept {
    if (bucket < kFine) return bucket;
    const std::size_t shift = bucket / kFine - 1;
    return ((kFine + bucket % kFine + 1) << shift) - 1;
  }

  std::array<std::uint32_t, kFine * 42> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t highest_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace swizzle::tpcc
