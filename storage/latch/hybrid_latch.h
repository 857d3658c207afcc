#pragma once

#include <atomic>
#include <cstdint>

#include "base/invariant.h"
#include "base/runtime/latch_count.h"
#include "base/runtime/runtime.h"
#include "storage/latch/page_pause.h"

namespace swizzle {

namespace detail {
// GCC 12 cannot follow fences under ThreadSanitizer; there, no reader is optimistic.
#ifdef __SANITIZE_THREAD__
inline void fence_after_page_reads() noexcept {}
inline void fence_before_page_writes() noexcept {}
#else
inline void fence_after_page_reads() noexcept {
  std::atomic_thread_fence(std::memory_order_acquire);
}
inline void fence_before_page_writes() noexcept {
  std::atomic_thread_fence(std::memory_order_release);
}
#endif
}  // namespace detail

/// Version from which an optimistic reader started.
using LatchVersion = std::uint64_t;

/// One word: exclusive bit, shared count, version. Optimistic readers write nothing; they take the
/// version, read, and validate the version afterwards. Every exclusive hold ends with a new
/// version, and versions never go back, so a frame that was reused in between is noticed. A holder
/// must not park; waiting is spinning.
class HybridLatch {
 public:
  HybridLatch() = default;
  HybridLatch(const HybridLatch&) = delete;
  HybridLatch& operator=(const HybridLatch&) = delete;

  /// Spins while it is held exclusively.
  [[nodiscard]] LatchVersion optimistic() const noexcept {
    page_pause(PagePause::before_version);
    const std::uint64_t word = word_.load(std::memory_order_acquire);  // observes the last writer
    if ((word & kExclusive) == 0) [[likely]]
      return word & kVersionMask;
    return optimistic_slow();
  }

  /// True if nothing changed since `version` was taken. Only then may the reader use the values
  /// that it has read.
  [[nodiscard]] bool validate(LatchVersion version) const noexcept {
    page_pause(PagePause::before_validate);
    // Orders the reads of the page before this load; pairs with the release of the version below.
    detail::fence_after_page_reads();
    const std::uint64_t word = word_.load(std::memory_order_relaxed);
    return (word & (kExclusive | kVersionMask)) == version;
  }

  void lock_exclusive() noexcept {
    if (!try_lock_exclusive()) lock_exclusive_slow();
  }
  [[nodiscard]] bool try_lock_exclusive() noexcept {
    page_pause(PagePause::before_latch);
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    return (word & ~kVersionMask) == 0 && begin_exclusive(word, word);
  }
  /// Upgrades an optimistic read to an exclusive hold, if there was no change in between.
  [[nodiscard]] bool try_upgrade(LatchVersion version) noexcept {
    page_pause(PagePause::before_latch);
    return begin_exclusive(version, version);
  }
  /// The same for the only shared holder, which gives up that hold.
  [[nodiscard]] bool try_upgrade_shared(LatchVersion version) noexcept {
    page_pause(PagePause::before_latch);
    if (!begin_exclusive(version | kSharedOne, version)) return false;
    --latches_held;
    return true;
  }
  void unlock_exclusive() noexcept {
    // Publishes the changes together with the new version.
    word_.store(next_version(), std::memory_order_release);
    --latches_held;
    page_pause(PagePause::after_unlatch);
  }
  /// Ends an exclusive hold under which nothing changed: optimistic readers stay valid.
  void unlock_exclusive_unchanged() noexcept {
    word_.store(word_.load(std::memory_order_relaxed) & kVersionMask, std::memory_order_release);
    --latches_held;
    page_pause(PagePause::after_unlatch);
  }
  [[nodiscard]] bool is_exclusive() const noexcept {
    return (word_.load(std::memory_order_relaxed) & kExclusive) != 0;
  }

  void lock_shared() noexcept {
    if (!try_lock_shared()) lock_shared_slow();
  }
  [[nodiscard]] bool try_lock_shared() noexcept {
    page_pause(PagePause::before_latch);
    std::uint64_t word = word_.load(std::memory_order_relaxed);
    while ((word & kExclusive) == 0) {
      INVARIANT((word & kSharedMask) != kSharedMask);
      if (word_.compare_exchange_weak(word, word + kSharedOne, std::memory_order_acquire,
                                      std::memory_order_relaxed)) {
        ++latches_held;
        return true;
      }
    }
    return false;
  }
  void unlock_shared() noexcept {
    word_.fetch_sub(kSharedOne, std::memory_order_release);
    --latches_held;
    page_pause(PagePause::after_unlatch);
  }

  /// The version that unlock_exclusive() will leave. Pre: held exclusively.
  [[nodiscard]] LatchVersion next_version() const noexcept {
    return (version() + 1) & kVersionMask;
  }
  /// Returns the version while held, for a holder that goes on optimistically afterwards.
  [[nodiscard]] LatchVersion version() const noexcept {
    return word_.load(std::memory_order_relaxed) & kVersionMask;
  }

 private:
  static constexpr std::uint64_t kExclusive = std::uint64_t{1} << 63U;
  static constexpr std::uint64_t kSharedOne = std::uint64_t{1} << 48U;
  static constexpr std::uint64_t kSharedMask = ((std::uint64_t{1} << 14U) - 1) << 48U;
  static constexpr std::uint64_t kVersionMask = kSharedOne - 1;

  bool begin_exclusive(std::uint64_t expected, LatchVersion version) noexcept {
    if (!word_.compare_exchange_strong(expected, version | kExclusive, std::memory_order_acquire,
                                       std::memory_order_relaxed))
      return false;
    // An optimistic reader that sees any of our writes must also see the bit.
    detail::fence_before_page_writes();
    ++latches_held;
    return true;
  }
  LatchVersion optimistic_slow() const noexcept;
  void lock_exclusive_slow() noexcept;
  void lock_shared_slow() noexcept;

  std::atomic<std::uint64_t> word_{0};
};
static_assert(sizeof(HybridLatch) == 8);

}  // namespace swizzle
