#pragma once

#include "base/runtime/spin_latch.h"
#include "storage/latch/page_pause.h"

namespace swizzle {

struct SpinLatchPauses {
  static void before_lock() noexcept { page_pause(PagePause::before_mutex); }
  static void after_unlock() noexcept { page_pause(PagePause::after_mutex); }
};

/// Spin latch of pool, trees and transactions. Schedule exploration (tests) switches threads at it.
using SpinLatch = BasicSpinLatch<SpinLatchPauses>;

}  // namespace swizzle
