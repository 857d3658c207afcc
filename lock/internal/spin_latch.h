#pragma once

#include <atomic>

#include "base/runtime/latch_count.h"
#include "base/runtime/spin_wait.h"

namespace swizzle::lock {

/// Protects a few instructions. Never on the path of the RAW table's requests. A leaf: nothing else
/// is latched and nobody parks under it.
class SpinLatch {
 public:
  void lock() noexcept {
    SpinWait wait;
    while (taken_.exchange(true, std::memory_order_acquire)) {  // sees what the last holder wrote
      do {
        wait.once();
      } while (taken_.load(std::memory_order_relaxed));
    }
    ++latches_held;
  }
  void unlock() noexcept {
    --latches_held;
    taken_.store(false, std::memory_order_release);  // publishes what the holder wrote
  }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace swizzle::lock
