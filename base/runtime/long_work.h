#pragma once

#include <cstddef>
#include <cstdint>

#include "base/runtime/runtime.h"

namespace swizzle {

/// Cooperative scheduling for work whose length depends on input. A reactor's fibers run in turn
/// only if each yields, and a loop without checks cannot be cancelled, so such a loop counts its
/// work:
///
///   for (const Value& element : elements) {
///     yield_point(kPerElement);
///     …
///   }
///
/// A unit is about a nanosecond. Now and then the work rests: its overseer may end it with an
/// exception, and other fibers run. So at this point no shared state may be half changed and no
/// mutex of the operating system held, and the caller must not be noexcept. Under a latch and in a
/// catch block it only counts.
///
/// The count is per thread, not per caller: many short loops rest like one long one.
inline constexpr std::int64_t kWorkBetweenRests = 250'000;
/// A count is only an estimate, and touching memory that the system must clear or read takes
/// unknown time. So on a reactor the clock is read now and then to see if the turn has been long
/// enough.
inline constexpr std::int64_t kWorkBetweenLooks = kWorkBetweenRests / 16;
/// For a step of unknown duration, since it may touch such memory.
inline constexpr std::size_t kUnknownWork = kWorkBetweenLooks / 4;
inline constinit thread_local std::int64_t work_until_look = kWorkBetweenLooks;

void check_interrupts_and_yield();

inline void yield_point(std::size_t units) {
  work_until_look -= static_cast<std::int64_t>(units);
  if (work_until_look < 0) [[unlikely]]
    check_interrupts_and_yield();
}

void yield_without_interrupts() noexcept;

/// The same for work that must come to its end, such as a rollback: other fibers run, but the
/// overseer is not asked. The caller may be noexcept.
inline void unending_yield_point(std::size_t units) noexcept {
  work_until_look -= static_cast<std::int64_t>(units);
  if (work_until_look < 0) [[unlikely]]
    yield_without_interrupts();
}

/// Tells that a reactor's fiber runs from `now` on.
void begin_turn(TimePoint now) noexcept;

}  // namespace swizzle
