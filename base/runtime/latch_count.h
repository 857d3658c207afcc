#pragma once

#include "base/invariant.h"

namespace swizzle {

/// Number of latches that the running thread holds. Fibers never change threads and never park
/// under a latch, so it serves them too (rule R-1; every park asserts that it is zero).
inline thread_local int latches_held = 0;

inline void assert_no_latch_held() noexcept {
  INVARIANT(latches_held == 0);
}

}  // namespace swizzle
