#pragma once

#include <thread>

#include "base/runtime/runtime.h"

namespace swizzle {

/// Between two tries, without anything in hand.
inline void let_others_run() noexcept {
  std::this_thread::yield();
  Runtime::current().relax();
}

/// For waits of nanoseconds on somebody who cannot park: whoever holds a latch, another inserter of
/// the log between two lines of code, a waker that has not let go yet. If its thread has lost the
/// processor, spinning on would only keep it from coming back, for as long as the scheduler lets
/// us.
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
