#pragma once

#include <thread>

#include "base/runtime/runtime.h"

namespace swizzle {

/// Yields the processor between two tries. Pre: the caller holds nothing.
inline void let_others_run() noexcept {
  std::this_thread::yield();
  Runtime::current().relax();
}

/// For waits of nanoseconds for a thread that cannot park: the holder of a latch, another inserter
/// of the log, a waker. If that thread has lost the processor, spinning would only keep it from
/// running, so after a while the wait yields.
class SpinWait {
 public:
  void once() noexcept {
    constexpr unsigned kSpinsPerYield = 64;
    if (++spins_ % kSpinsPerYield == 0) {
      std::this_thread::yield();
    }
    Runtime::current().relax();
  }

 private:
  unsigned spins_ = 0;
};

}  // namespace swizzle
