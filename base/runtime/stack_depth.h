#pragma once

#include <cstddef>
#include <cstdint>

#include "base/runtime/stack_pool.h"

namespace swizzle {

/// Stack that recursion over a client's input leaves free: enough for every function called at the
/// deepest point, libraries and the unwinding of an exception included.
inline constexpr std::size_t kStackReserve = FiberStack::kOpenAtFirst / 2;

namespace detail {
/// Recursion may go on above it. On a thread without a coroutine it is higher than every address at
/// first, so that the first check looks it up.
inline constinit thread_local std::uintptr_t lowest_frame = UINTPTR_MAX;
/// The running coroutine's; null on a thread's own stack.
inline constinit thread_local FiberStack* running_stack = nullptr;
/// Opens more of the stack if there is more. Returns true if there is not.
bool no_more_stack(std::uintptr_t here) noexcept;
}  // namespace detail

/// True if recursion must go no further. Works on every thread, fiber and simulated task. Costs a
/// load and a comparison, so recursive functions check it at each level.
inline bool stack_is_low() noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return here < detail::lowest_frame && detail::no_more_stack(here);
}

/// How many bytes of the stack recursion may still take; 0 when it is low.
std::size_t stack_left() noexcept;
/// True if recursion may take so many bytes. For callers that know their depth beforehand.
bool stack_has(std::size_t bytes) noexcept;

/// Gives the memory below the caller's frame back to the system, on a coroutine.
void release_unused_stack() noexcept;

/// Makes another stack the running one while it lives.
class RunningStack {
 public:
  explicit RunningStack(FiberStack& stack) noexcept
      : previous_(detail::running_stack), previous_lowest_frame_(detail::lowest_frame) {
    detail::running_stack = &stack;
    detail::lowest_frame = reinterpret_cast<std::uintptr_t>(stack.open) + kStackReserve;
  }
  RunningStack(const RunningStack&) = delete;
  RunningStack& operator=(const RunningStack&) = delete;
  ~RunningStack() {
    detail::running_stack = previous_;
    detail::lowest_frame = previous_lowest_frame_;
  }

 private:
  FiberStack* previous_;
  std::uintptr_t previous_lowest_frame_;
};

}  // namespace swizzle
