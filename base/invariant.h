#pragma once

#include <source_location>

namespace swizzle::detail {
[[noreturn]] void invariant_failed(
    const char* condition, std::source_location at = std::source_location::current()) noexcept;
}  // namespace swizzle::detail

/// Our own bug if it is false: the process aborts. Always on. The condition has no side effects and
/// never judges a system call or bytes from the wire or the disk; those are a Result.
#define INVARIANT(cond) ((cond) ? static_cast<void>(0) : ::swizzle::detail::invariant_failed(#cond))

/// The same for conditions that walk a page; on where SWIZZLE_SLOW_INVARIANTS is (preset dev).
#ifdef SWIZZLE_SLOW_INVARIANTS
#define INVARIANT_SLOW(cond) INVARIANT(cond)
#else
#define INVARIANT_SLOW(cond) static_cast<void>(sizeof(!(cond)))  // still type-checked, never run
#endif
