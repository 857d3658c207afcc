#pragma once

#include <atomic>

#include "base/runtime/latch_count.h"
#include "base/runtime/spin_wait.h"
#include "storage/latch/page_pause.h"

namespace swizzle {

/// A latch for a few instructions. Nobody parks under it.
class SpinMutex {
 public:
  void lock() noexcept {
    if (!try_lock()) lock_slow();
  }
  [[nodiscard]] bool try_lock() noexcept {
    page_pause(PagePause::before_mutex);
    if (held_.exchange(true, std::memory_order_acquire)) return false;
    ++latches_held;
    return true;
  }
  void unlock() noexcept {
    held_.store(false, std::memory_order_release);
    --latches_held;
    page_pause(PagePause::after_mutex);
  }

 private:
  void lock_slow() noexcept {
    SpinWait wait;
    do {
      while (held_.load(std::memory_order_relaxed)) wait.once();
    } while (!try_lock());
  }
  std::atomic<bool> held_{false};
};

}  // namespace swizzle
