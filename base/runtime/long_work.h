#pragma once

#include <cstddef>
#include <cstdint>

#include "base/runtime/runtime.h"

namespace swizzle {

/// Work that input can lengthen. A reactor's fibers take turns only where one of them lets go, and
/// nobody can end a loop that does not look up; so such a loop says how much it does:
///
///   for (const Value& element : elements) {
///     count_work(kPerElement);
///     …
///
/// A unit is about a nanosecond. Now and then the work rests: its overseer may end it with an
/// exception, and others run. So state that others could change must not be half done here, no
/// mutex of the operating system held, and the caller not be noexcept. Under a latch and in a catch
/// block it only counts.
///
/// The count is the thread's, not the caller's: many short loops rest like one long one.
inline constexpr std::int64_t kWorkBetweenRests = 250'000;
/// A count is a guess, and memory that the system has yet to clear or to read takes what it takes:
/// on a reactor the clock is asked now and then whether the turn has been long enough.
inline constexpr std::int64_t kWorkBetweenLooks = kWorkBetweenRests / 16;
/// For a step of which nobody can tell how long it takes, since it may touch such memory.
inline constexpr std::size_t kUnknownWork = kWorkBetweenLooks / 4;
inline constinit thread_local std::int64_t work_until_look = kWorkBetweenLooks;

void look_up_from_work();

inline void count_work(std::size_t units) {
  work_until_look -= static_cast<std::int64_t>(units);
  if (work_until_look < 0) [[unlikely]]
    look_up_from_work();
}

void look_up_from_unended_work() noexcept;

/// The same for what must come to its end, a rollback say: others run, and nobody is asked whether
/// it is to go on. The caller may be noexcept.
inline void count_unended_work(std::size_t units) noexcept {
  work_until_look -= static_cast<std::int64_t>(units);
  if (work_until_look < 0) [[unlikely]]
    look_up_from_unended_work();
}

/// A reactor's fiber has the thread from `now` on.
void begin_turn(TimePoint now) noexcept;

}  // namespace swizzle
