// The part of LockOwner that waits (rule L3).
#include <algorithm>
#include <chrono>
#include <mutex>

#include "base/runtime/latch_count.h"
#include "lock/internal/deadlock_search.h"
#include "lock/internal/manager_parts.h"
#include "lock/internal/pause_point.h"
#include "lock/lock_owner.h"

namespace swizzle::lock {
namespace {

using Verdict = DeadlockSearch::Verdict;

// Delay before the next look at a cycle that another member has to break.
constexpr Duration kLookAgain = std::chrono::milliseconds{2};

TimePoint after(TimePoint start, Duration duration) noexcept {
  return duration < TimePoint::max() - start ? start + duration : TimePoint::max();
}

// Publishes a wait to others, from the moment it may have to sleep until it has ended.
class PublishedWait {
 public:
  PublishedWait(Seat& seat, Entry& entry, Runtime& runtime) noexcept
      : seat_(seat), parker_(runtime.parker()) {
    // While this owner is ready but does not run yet, all requests for its locks wait, so it runs
    // first.
    parker_.set_wakeup_priority(WakeupPriority::high);
    seat.suspect.store(false, std::memory_order_relaxed);
    seat.waiting_since.store(runtime.now().time_since_epoch().count(), std::memory_order_relaxed);
    seat.parker.store(&parker_, std::memory_order_seq_cst);
    // Comes before the second look at the predecessors: a release that this look misses finds a
    // waiter, and the parker to wake.
    entry.state.store(EntryState::waiting, std::memory_order_seq_cst);
    seat.waiting.store(&entry, std::memory_order_seq_cst);
  }
  PublishedWait(const PublishedWait&) = delete;
  PublishedWait& operator=(const PublishedWait&) = delete;
  ~PublishedWait() {
    seat_.waiting.store(nullptr, std::memory_order_seq_cst);
    seat_.parker.store(nullptr, std::memory_order_seq_cst);
    parker_.set_wakeup_priority(WakeupPriority::normal);
  }

 private:
  Seat& seat_;
  Parker& parker_;
};

}  // namespace

Result<LockOwner::WaitEnd> LockOwner::wait_for(Entry& entry, TimePoint deadline) {
  assert_no_latch_held();
  parts_.counters.waits.fetch_add(1, std::memory_order_relaxed);
  parts_.counters.waits_by_mode[std::to_underlying(entry.mode)].fetch_add(
      1, std::memory_order_relaxed);
  if (doing_ != nullptr) {
    constexpr std::size_t kEnoughToRecognise = 1024;
    const std::lock_guard hold(seat_.doing_latch);
    seat_.doing.assign(*doing_, 0, kEnoughToRecognise);
  }
  Result<WaitEnd> outcome;
  {
    const PublishedWait published{seat_, entry, Runtime::current()};
    outcome = wait_published(entry, deadline);
    pause_point(PausePoint::before_withdraw);
  }
  // seq_cst: is_free() under a latch sees the lock before we read the leaf again.
  if (outcome && *outcome == WaitEnd::granted)
    entry.state.store(EntryState::active, std::memory_order_seq_cst);
  return outcome;
}

Result<LockOwner::WaitEnd> LockOwner::wait_published(Entry& entry, TimePoint deadline) {
  Runtime& runtime = Runtime::current();
  auto& counters = parts_.counters;
  const TimePoint started = runtime.now();
  TimePoint next_search = after(started, deadlock_timeout_);
  for (;;) {
    pause_point(PausePoint::after_publish);
    if (!parts_.is_blocked(entry)) return WaitEnd::granted;
    pause_point(PausePoint::before_sleep);
    if (seat_.cancelled.load(std::memory_order_seq_cst)) {
      counters.cancellations.fetch_add(1, std::memory_order_relaxed);
      return fail(sqlstate::query_canceled, "canceling statement due to user request");
    }
    if (seat_.give_way.load(std::memory_order_acquire) == &entry) {
      seat_.give_way.store(nullptr, std::memory_order_relaxed);
      seat_.gave_way.fetch_add(1, std::memory_order_relaxed);
      return WaitEnd::gives_way;
    }
    const TimePoint now = runtime.now();
    if (now >= deadline) {
      counters.timeouts.fetch_add(1, std::memory_order_relaxed);
      return fail(sqlstate::lock_not_available, "canceling statement due to lock timeout");
    }
    const bool due = now >= next_search;
    if (due || seat_.suspect.exchange(false, std::memory_order_acquire)) {
      DeadlockSearch search{parts_, seat_};
      const auto verdict = is_waited_for(entry) ? search.run() : Verdict::no_deadlock;
      if (verdict == Verdict::victim) {
        counters.deadlocks.fetch_add(1, std::memory_order_relaxed);
        return fail(search.error());
      }
      // One search is enough if it finds nothing: a waiter's blockers only become fewer, and an
      // owner that closes a cycle searches too.
      if (verdict == Verdict::others_turn) {
        next_search = after(now, kLookAgain);
      } else if (due) {
        next_search = TimePoint::max();
      }
    }
    runtime.parker().park_until(std::min(deadline, next_search));
  }
}

// A cycle through this owner needs an owner that waits for it. On a hot key most waiters block no
// other owner, and a search would visit the whole queue. An owner that begins to wait after this
// check searches itself, and sees that we wait.
bool LockOwner::is_waited_for(const Entry& waiting) const noexcept {
  constexpr std::size_t kFewHeld = 256;
  if (held_count_ > kFewHeld || parts_.table->has_followers(waiting)) return true;
  if (own_ != nullptr && parts_.table->has_followers(*own_)) return true;
  for (std::uint32_t i = 0; i < slots_used_; ++i) {
    if ((seat_.intents[i].load(std::memory_order_seq_cst) & intent::kWanted) != 0) return true;
  }
  for (const Entry* entry = newest_; entry != nullptr; entry = entry->previous) {
    if (parts_.table->has_followers(*entry)) return true;
  }
  return false;
}

}  // namespace swizzle::lock
