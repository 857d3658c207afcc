#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "base/bytes.h"
#include "base/random.h"

namespace swizzle::bench {

/// Record sizes of the papers: LeanStore's have 8-byte keys and 120-byte values, those of the
/// in-memory paper 20 and 20.
struct RecordShape {
  std::size_t key_bytes = 8;
  std::size_t value_bytes = 120;
};
inline constexpr RecordShape kEightAndOneTwenty{8, 120};
inline constexpr RecordShape kTwentyAndTwenty{20, 20};
inline constexpr std::size_t kMaxRecordBytes = 128;

/// Spacing of the keys: 0, 1, 2 …, or spread over the 64-bit space.
enum class KeyOrder : std::uint8_t { dense, scattered };

/// Maps record numbers to key numbers. Both orders are ascending, so records can be loaded sorted;
/// scattered numbers are random within equal slices of the space.
class KeySpace {
 public:
  KeySpace(std::uint64_t count, KeyOrder order) noexcept
      : slice_(order == KeyOrder::dense ? 1 : UINT64_MAX / count) {}
  [[nodiscard]] std::uint64_t operator()(std::uint64_t index) const noexcept {
    return slice_ == 1 ? index : index * slice_ + scramble(index) % slice_;
  }

 private:
  std::uint64_t slice_;
};

/// Key of a record: its number, big-endian, so that memcmp orders it. Longer keys have leading
/// zeros, as decimal or composite keys share a prefix.
class Key {
 public:
  Key(RecordShape shape, std::uint64_t number) noexcept : size_(shape.key_bytes) {
    store_big_endian(bytes_.data() + size_ - 8, number);
  }
  [[nodiscard]] Bytes bytes() const noexcept { return {bytes_.data(), size_}; }

 private:
  std::array<std::byte, 24> bytes_{};
  std::size_t size_;
};

/// Value derived from its record, so that wrong answers are noticed.
class Value {
 public:
  Value(RecordShape shape, std::uint64_t number) noexcept : size_(shape.value_bytes) {
    std::uint64_t state = number;
    for (std::size_t at = 0; at + 8 <= bytes_.size(); at += 8) {
      store(bytes_.data() + at, split_mix(state));
    }
  }
  [[nodiscard]] Bytes bytes() const noexcept { return {bytes_.data(), size_}; }

 private:
  std::array<std::byte, kMaxRecordBytes> bytes_{};
  std::size_t size_;
};

/// True if `value` begins as Value(shape, number) does.
inline bool belongs_to(Bytes value, std::uint64_t number) noexcept {
  return value.size() >= 8 && load<std::uint64_t>(value.data()) == split_mix(number);
}

/// A bijection on [0, count), which gives a random order without an array and spreads Zipf's hot
/// ranks over all pages. Walks a four-round Feistel network on the next power of four until the
/// result is in range.
class Permutation {
 public:
  Permutation(std::uint64_t count, std::uint64_t seed) noexcept;
  [[nodiscard]] std::uint64_t operator()(std::uint64_t index) const noexcept {
    do {
      index = shuffle(index);
    } while (index >= count_);
    return index;
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  [[nodiscard]] std::uint64_t shuffle(std::uint64_t value) const noexcept {
    std::uint64_t left = value >> half_bits_;
    std::uint64_t right = value & mask_;
    for (const std::uint64_t key : keys_) {
      const std::uint64_t mixed = ((right + key) * 0x9E3779B97F4A7C15U) >> 32;
      left = std::exchange(right, left ^ (mixed & mask_));
    }
    return (left << half_bits_) | right;
  }

  std::uint64_t count_;
  unsigned half_bits_;
  std::uint64_t mask_;
  std::array<std::uint64_t, 4> keys_{};
};

/// Generator of record numbers. Skew 0 is uniform; a higher skew is Zipf's exponent, with hot ranks
/// spread over the key space.
class Picker {
 public:
  Picker(std::uint64_t count, double skew, std::uint64_t seed) noexcept
      : random_(seed), zipf_(count, skew > 0 ? skew : 1), spread_(count, 42), skewed_(skew > 0) {}
  std::uint64_t operator()() noexcept {
    return skewed_ ? spread_(zipf_(random_)) : random_.below(spread_.count());
  }
  [[nodiscard]] Random& random() noexcept { return random_; }

 private:
  Random random_;
  Zipf zipf_;
  Permutation spread_;
  bool skewed_;
};

/// A window of the key space that moves by a share of its width each period, and wraps around.
class DriftingWindow {
 public:
  DriftingWindow(std::uint64_t count, std::uint64_t width, double moved_share) noexcept
      : count_(count), width_(width), moved_(moved_share) {}
  [[nodiscard]] std::uint64_t pick(Random& random, std::uint64_t period) const noexcept {
    const auto step = static_cast<std::uint64_t>(static_cast<double>(width_) * moved_);
    return (period * step + random.below(width_)) % count_;
  }

 private:
  std::uint64_t count_;
  std::uint64_t width_;
  double moved_;
};

}  // namespace swizzle::bench
