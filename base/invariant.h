#pragma once

#include <cstdint>
#include <source_location>

namespace swizzle::detail {
/// Seed of the simulation that runs on this thread, for the report of a failure; 0: none.
inline thread_local std::uint64_t failing_seed = 0;

[[noreturn]] void invariant_failed(
    const char* condition, std::source_location at = std::source_location::current()) noexcept;
}  // namespace swizzle::detail

/// Aborts the process if the condition, which only a bug of ours can violate, is false. Always on.
/// The condition has no side effects and never judges a system call or bytes from the wire or the
/// disk; those are a Result.
#define INVARIANT(cond) ((cond) ? static_cast<void>(0) : ::swizzle::detail::invariant_failed(#cond))

/// The same for conditions that walk a page; on if SWIZZLE_SLOW_INVARIANTS is set (preset dev).
#ifdef SWIZZLE_SLOW_INVARIANTS
#define INVARIANT_SLOW(cond) INVARIANT(cond)
#else
#define INVARIANT_SLOW(cond) static_cast<void>(sizeof(!(cond)))  // still type-checked, never run
#endif
