#include "storage/latch/hybrid_latch.h"

#include "base/runtime/spin_wait.h"

namespace swizzle {
namespace {

/// Spins until `attempt` succeeds. The wait is short, because holders never park.
template <class Attempt>
void spin_until(Attempt attempt) noexcept {
  SpinWait wait;
  while (!attempt()) wait.once();
}

}  // namespace

LatchVersion HybridLatch::optimistic_slow() const noexcept {
  std::uint64_t word = 0;
  spin_until([&] {
    word = word_.load(std::memory_order_acquire);
    return (word & kExclusive) == 0;
  });
  return word & kVersionMask;
}

void HybridLatch::lock_exclusive_slow() noexcept {
  spin_until([&] { return try_lock_exclusive(); });
}

void HybridLatch::lock_shared_slow() noexcept {
  spin_until([&] { return try_lock_shared(); });
}

}  // namespace swizzle
