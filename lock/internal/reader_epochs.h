#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace swizzle::lock {

/// Tells when no reader can see an unlinked entry any more. Readers of concurrently changed lists
/// enter before the first read and leave after the last; they never park inside. The epoch is a
/// plain counter: it advances independently of the log, of commits and of locks (pitfall 3).
///
/// Readers are counted, not registered, so any number of fibers of one thread may be inside.
class ReaderEpochs {
 public:
  class Reading {
   public:
    explicit Reading(std::atomic<std::uint64_t>& count) noexcept : count_(&count) {}
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    // Release: this reader's reads come before the reuse, which waits for the count to be zero.
    ~Reading() { count_->fetch_sub(1, std::memory_order_release); }

   private:
    std::atomic<std::uint64_t>* count_;
  };

  /// `hint` spreads readers over cache lines; any number will do.
  [[nodiscard]] Reading enter(std::uint32_t hint) noexcept {
    Stripe& stripe = stripes_[hint % kStripes];
    for (;;) {
      const std::uint64_t epoch = epoch_.load(std::memory_order_seq_cst);
      auto& count = stripe.readers[epoch % 2];
      // All four operations on epoch and counts are seq_cst: either an advance sees this reader,
      // or the reader sees the advance and counts itself anew.
      count.fetch_add(1, std::memory_order_seq_cst);
      if (epoch_.load(std::memory_order_seq_cst) == epoch) return Reading{count};
      count.fetch_sub(1, std::memory_order_release);
    }
  }

  /// Returns the stamp of an entry that was unlinked before the call.
  [[nodiscard]] std::uint64_t now() const noexcept {
    return epoch_.load(std::memory_order_seq_cst);
  }

  /// True if every reader that was inside at `stamp` has left.
  [[nodiscard]] bool is_past(std::uint64_t stamp) const noexcept {
    // Acquire: orders the readers' reads, which advance() has collected, before the reuse.
    return epoch_.load(std::memory_order_seq_cst) >= stamp + 2;
  }

  /// Advances if the readers of the epoch before this one have left. Two successful advances make
  /// everything stamped before them reusable.
  bool try_advance() noexcept;

 private:
  static constexpr std::size_t kStripes = 16;
  struct alignas(64) Stripe {
    std::array<std::atomic<std::uint64_t>, 2> readers{};
  };

  alignas(64) std::atomic<std::uint64_t> epoch_{2};
  std::array<Stripe, kStripes> stripes_{};
};

}  // namespace swizzle::lock
