#pragma once

#include <atomic>

#include "base/runtime/runtime.h"

namespace swizzle::wal {

/// Wakes one task for more work. The flag, and not the parker alone, remembers that: whatever the
/// task does between two waits, a file transfer for one, uses up its parker's pending wake.
class WakeFlag {
 public:
  /// By the task, before it waits.
  void attach() noexcept { parker_.store(&Runtime::current().parker()); }

  void raise() noexcept {
    raised_.store(true);
    // Not attached yet: the task will find the flag raised.
    if (Parker* const parker = parker_.load()) parker->unpark();
  }

  /// Until raised, which it is no more afterwards.
  void wait() noexcept {
    while (!raised_.exchange(false)) parker_.load(std::memory_order_relaxed)->park();
  }

 private:
  std::atomic<bool> raised_{false};
  std::atomic<Parker*> parker_{nullptr};
};

}  // namespace swizzle::wal
