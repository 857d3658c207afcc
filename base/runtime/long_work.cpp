#include "base/runtime/long_work.h"

#include "base/runtime/park_rules.h"

namespace swizzle {
namespace {

constexpr Duration kLongestWork{kWorkBetweenRests};

thread_local std::int64_t work_until_rest = kWorkBetweenRests;
/// Set on a reactor's thread only. Elsewhere the system, or the simulation, schedules.
thread_local TimePoint turn_began{};

bool is_time_to_rest() noexcept {
  work_until_rest -= kWorkBetweenLooks - work_until_look;
  work_until_look = kWorkBetweenLooks;
  const bool is_long_turn =
      turn_began != TimePoint{} && std::chrono::steady_clock::now() - turn_began >= kLongestWork;
  if (work_until_rest > 0 && !is_long_turn) return false;
  work_until_rest = kWorkBetweenRests;
  return may_park();
}

/// A thread of its own goes on: the system takes the processor from it in time. On a busy machine a
/// yield would cost it milliseconds.
void let_others_run() noexcept {
  Runtime& runtime = Runtime::current();
  if (!runtime.owns_its_thread()) runtime.yield();
  // Other fibers have changed the counts of this thread meanwhile.
  work_until_rest = kWorkBetweenRests;
  work_until_look = kWorkBetweenLooks;
}

}  // namespace

void check_interrupts_and_yield() {
  if (!is_time_to_rest()) return;
  Overseer* const overseer = Runtime::current().parker().overseer;
  // A fiber without an overseer has not allowed waits at this point.
  if (overseer == nullptr) return;
  overseer->look();
  let_others_run();
}

void yield_without_interrupts() noexcept {
  // Only a reactor's thread has other fibers waiting for it.
  if (is_time_to_rest() && turn_began != TimePoint{}) let_others_run();
}

void begin_turn(TimePoint now) noexcept {
  turn_began = now;
}

}  // namespace swizzle
