#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/runtime/runtime.h"
#include "storage/buffer/buffer_pool.h"
#include "storage/latch/spin_latch.h"
#include "storage/page/page_read.h"

namespace swizzle {

class PagedPool;

/// A read-ahead of a page into a frame, so far without a waiter.
struct ReadAhead {
  PageRead read;
  PagedPool* pool = nullptr;
  Frame* frame = nullptr;
  Interest interest = Interest::keep;
  ReadAhead* next_free = nullptr;
};

/// The read-aheads in progress of one pool, up to a limit.
class ReadsAhead {
 public:
  static constexpr std::uint32_t kMost = 256;

  ReadsAhead() noexcept {
    for (ReadAhead& read : all_) {
      read.next_free = free_;
      free_ = &read;
    }
  }
  ReadsAhead(const ReadsAhead&) = delete;
  ReadsAhead& operator=(const ReadsAhead&) = delete;
  ~ReadsAhead() { INVARIANT(under_way_.load() == 0); }

  /// Waits for the reads in progress, since they use frames of the pool. Pre: no new ones are
  /// started.
  void drain() noexcept {
    Runtime& runtime = Runtime::current();
    // acquire: observes the reads' last accesses to their frames.
    while (under_way_.load(std::memory_order_acquire) != 0)
      runtime.sleep_until(runtime.now() + std::chrono::microseconds{100});
  }

  /// Returns a free entry; null if `most` are in use.
  ReadAhead* take(std::uint32_t most) noexcept {
    if (under_way_.load(std::memory_order_relaxed) >= most) return nullptr;
    const std::lock_guard hold(mutex_);
    if (free_ == nullptr) return nullptr;
    ReadAhead* const taken = free_;
    free_ = taken->next_free;
    under_way_.fetch_add(1, std::memory_order_relaxed);
    return taken;
  }
  void give(ReadAhead& read) noexcept {
    {
      const std::lock_guard hold(mutex_);
      read.next_free = free_;
      free_ = &read;
    }
    // release: publishes the accesses to the frame to drain().
    under_way_.fetch_sub(1, std::memory_order_release);
  }

 private:
  SpinLatch mutex_;
  ReadAhead* free_ = nullptr;
  std::atomic<std::uint32_t> under_way_{0};
  std::array<ReadAhead, kMost> all_;
};

}  // namespace swizzle
