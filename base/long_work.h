#pragma once

#include <cstddef>
#include <cstdint>

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
inline constinit thread_local std::int64_t work_until_rest = kWorkBetweenRests;

void rest_from_work();

inline void count_work(std::size_t units) {
  work_until_rest -= static_cast<std::int64_t>(units);
  if (work_until_rest < 0) [[unlikely]]
    rest_from_work();
}

}  // namespace swizzle
