#include "wal/internal/consolidation_array.h"

#include "base/invariant.h"
#include "base/runtime/spin_wait.h"
#include "base/runtime/thread_number.h"

namespace swizzle::wal {
namespace {

constexpr std::uint64_t kOneMember = std::uint64_t{1} << 32U;
constexpr std::uint64_t kReady = std::uint64_t{1} << 62U;
constexpr std::uint64_t kClosed = std::uint64_t{1} << 63U;
constexpr std::uint64_t kPhases = kReady | kClosed;

std::uint64_t bytes_of(std::uint64_t state) noexcept {
  return state & (kOneMember - 1);
}
std::uint32_t members_of(std::uint64_t state) noexcept {
  return static_cast<std::uint32_t>((state & ~kPhases) >> 32U);
}

}  // namespace

ConsolidationArray::ConsolidationArray(std::size_t slots) noexcept : slot_count_(slots) {
  INVARIANT(slots >= 1 && slots <= kMaxSlots);
}

std::uint64_t ConsolidationArray::allot(std::atomic<std::uint64_t>& tail,
                                        std::size_t bytes) noexcept {
  if (mutex_.try_lock()) {
    const std::lock_guard guard{mutex_, std::adopt_lock};
    return tail.fetch_add(bytes, std::memory_order_acq_rel);
  }
  const std::size_t first = thread_number();
  for (std::size_t tried = 0; tried < slot_count_; ++tried) {
    Slot& slot = slots_[(first + tried) % slot_count_];
    std::uint64_t state = slot.state.load(std::memory_order_relaxed);
    while ((state & kPhases) == 0) {
      // Acquire and release: the members' credits, and the cleared room that they stand for, happen
      // before the leader takes the group's range.
      if (!slot.state.compare_exchange_weak(state, state + kOneMember + bytes,
                                            std::memory_order_acq_rel, std::memory_order_relaxed)) {
        continue;
      }
      const bool leads = state == 0;
      return (leads ? lead(slot, tail) : follow(slot)) + bytes_of(state);
    }
  }
  return allot_alone(tail, bytes);
}

std::uint64_t ConsolidationArray::allot_alone(std::atomic<std::uint64_t>& tail,
                                              std::size_t bytes) noexcept {
  const std::lock_guard guard{mutex_};
  return tail.fetch_add(bytes, std::memory_order_acq_rel);
}

std::uint64_t ConsolidationArray::lead(Slot& slot, std::atomic<std::uint64_t>& tail) noexcept {
  std::uint64_t group = 0;
  std::uint64_t base = 0;
  {
    // The group grows while its leader waits here: the longer the wait, the larger the group.
    const std::lock_guard guard{mutex_};
    group = slot.state.exchange(kClosed, std::memory_order_acq_rel);
    base = tail.fetch_add(bytes_of(group), std::memory_order_acq_rel);
  }
  if (members_of(group) == 1) {
    slot.state.store(0, std::memory_order_release);
    return base;
  }
  groups_.fetch_add(1, std::memory_order_relaxed);
  members_.fetch_add(members_of(group), std::memory_order_relaxed);
  slot.base.store(base, std::memory_order_relaxed);
  slot.members_left.store(members_of(group), std::memory_order_relaxed);
  // Release: publishes base and members_left to the followers.
  slot.state.store(kReady, std::memory_order_release);
  leave(slot);
  return base;
}

std::uint64_t ConsolidationArray::follow(Slot& slot) noexcept {
  SpinWait wait;
  // Acquire: sees the base that belongs to this phase.
  while (slot.state.load(std::memory_order_acquire) != kReady) wait.once();
  const std::uint64_t base = slot.base.load(std::memory_order_relaxed);
  leave(slot);
  return base;
}

void ConsolidationArray::leave(Slot& slot) noexcept {
  // Acquire and release: all members read `base` before the slot opens again.
  if (slot.members_left.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    slot.state.store(0, std::memory_order_release);
  }
}

}  // namespace swizzle::wal
