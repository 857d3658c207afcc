// The part of LockOwner that waits (rule L3).
#include <algorithm>
#include <chrono>

#include "base/latch_count.h"
#include "lock/internal/deadlock_search.h"
#include "lock/internal/manager_parts.h"
#include "lock/internal/pause_point.h"
#include "lock/lock_owner.h"

namespace swizzle::lock {
namespace {

// How soon to look again at a cycle that another member has to break.
constexpr Duration kLookAgain = std::chrono::milliseconds{2};

TimePoint after(TimePoint start, Duration duration) noexcept {
  return duration < TimePoint::max() - start ? start + duration : TimePoint::max();
}

}  // namespace

Result<> LockOwner::wait_for(Entry& entry, Duration lock_timeout) {
  assert_no_latch_held();
  parts_.counters.waits.fetch_add(1, std::memory_order_relaxed);
  Runtime& runtime = Runtime::current();
  seat_.suspect.store(false, std::memory_order_relaxed);
  seat_.waiting_since.store(runtime.now().time_since_epoch().count(), std::memory_order_relaxed);
  seat_.parker.store(&runtime.parker(), std::memory_order_seq_cst);
  // The write that the second look at the predecessors comes after: a release that this look misses
  // finds a waiter, and the parker to wake.
  entry.state.store(EntryState::waiting, std::memory_order_seq_cst);
  seat_.waiting.store(&entry, std::memory_order_seq_cst);

  Result<> outcome = wait_published(entry, lock_timeout);

  seat_.waiting.store(nullptr, std::memory_order_seq_cst);
  // seq_cst: is_free() under a latch sees the lock before we read the leaf again.
  if (outcome) entry.state.store(EntryState::active, std::memory_order_seq_cst);
  pause_point(PausePoint::before_withdraw);
  // Nobody who comes later finds the parker; whoever has it lets go of it within a few
  // instructions.
  seat_.parker.store(nullptr, std::memory_order_seq_cst);
  while (seat_.wakers.load(std::memory_order_seq_cst) != 0) runtime.relax();
  return outcome;
}

Result<> LockOwner::wait_published(Entry& entry, Duration lock_timeout) {
  Runtime& runtime = Runtime::current();
  auto& counters = parts_.counters;
  const TimePoint started = runtime.now();
  const TimePoint deadline =
      lock_timeout == Duration::zero() ? TimePoint::max() : after(started, lock_timeout);
  TimePoint next_search = after(started, deadlock_timeout_);
  for (;;) {
    pause_point(PausePoint::after_publish);
    if (!parts_.is_blocked(entry)) return {};
    pause_point(PausePoint::before_sleep);
    if (seat_.cancelled.load(std::memory_order_seq_cst)) {
      counters.cancellations.fetch_add(1, std::memory_order_relaxed);
      return fail(sqlstate::query_canceled, "canceling statement due to user request");
    }
    const TimePoint now = runtime.now();
    if (now >= deadline) {
      counters.timeouts.fetch_add(1, std::memory_order_relaxed);
      return fail(sqlstate::lock_not_available, "canceling statement due to lock timeout");
    }
    const bool due = now >= next_search;
    if (due || seat_.suspect.exchange(false, std::memory_order_acquire)) {
      DeadlockSearch search{parts_, seat_};
      const auto verdict = search.run();
      if (verdict == DeadlockSearch::Verdict::victim) {
        counters.deadlocks.fetch_add(1, std::memory_order_relaxed);
        return fail(search.error());
      }
      // One search is enough if it finds nothing: a waiter's blockers only become fewer, and
      // whoever closes a cycle searches for himself.
      if (verdict == DeadlockSearch::Verdict::others_turn) {
        next_search = after(now, kLookAgain);
      } else if (due) {
        next_search = TimePoint::max();
      }
    }
    runtime.parker().park_until(std::min(deadline, next_search));
  }
}

}  // namespace swizzle::lock
