#include "storage/latch/hybrid_latch.h"

#include "base/runtime/spin_wait.h"

namespace swizzle {
namespace {

/// Spins until `attempt` succeeds. Holders never park, so the wait is short.
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

void HybridLatch::update_to_exclusive() noexcept {
  spin_until([&] {
    const std::uint64_t word = word_.load(std::memory_order_relaxed);
    if ((word & kSharedMask) != 0) return false;
    std::uint64_t expected = word;
    return word_.compare_exchange_strong(expected, (word & kVersionMask) | kExclusive,
                                         std::memory_order_acquire, std::memory_order_relaxed);
  });
  detail::fence_before_page_writes();
}

}  // namespace swizzle
