#pragma once

#include <atomic>

#include "base/runtime/latch_count.h"
#include "base/runtime/spin_wait.h"

namespace swizzle {

/// No schedule is explored around the latch.
struct NoPauses {
  static void before_lock() noexcept {}
  static void after_unlock() noexcept {}
};

/// A latch for a few instructions. No fiber parks under it. `Pauses` says where a schedule
/// explorer may take the processor away.
template <class Pauses>
class BasicSpinLatch {
 public:
  void lock() noexcept {
    if (!try_lock()) lock_slow();
  }
  [[nodiscard]] bool try_lock() noexcept {
    Pauses::before_lock();
    if (held_.exchange(true, std::memory_order_acquire)) return false;
    ++latches_held;
    return true;
  }
  void unlock() noexcept {
    held_.store(false, std::memory_order_release);
    --latches_held;
    Pauses::after_unlock();
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
