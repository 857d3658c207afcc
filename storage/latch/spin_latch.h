#pragma once

#include "base/runtime/spin_latch.h"
#include "storage/latch/page_pause.h"

namespace swizzle {

struct SpinLatchPauses {
  static void before_lock() noexcept { page_pause(PagePause::before_mutex); }
  static void after_unlock() noexcept { page_pause(PagePause::after_mutex); }
};

/// The short latches of pool, trees and transactions: schedules are explored around them.
using SpinLatch = BasicSpinLatch<SpinLatchPauses>;

}  // namespace swizzle
