#include "base/runtime/stack_depth.h"

#include <pthread.h>

#include <algorithm>

#include "base/invariant.h"

namespace swizzle {
namespace {

/// Returns the end of the calling thread's own stack. The main thread's may grow up to the limit
/// that the process has now.
std::uintptr_t lowest_of_thread() noexcept {
  pthread_attr_t attributes;
  const int failed = pthread_getattr_np(pthread_self(), &attributes);
  INVARIANT(failed == 0);
  void* lowest = nullptr;
  std::size_t bytes = 0;
  std::size_t guard = 0;
  pthread_attr_getstack(&attributes, &lowest, &bytes);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<std::uintptr_t>(lowest) + guard;
}

}  // namespace

bool detail::no_more_stack(std::uintptr_t here) noexcept {
  if (lowest_frame == UINTPTR_MAX) lowest_frame = lowest_of_thread() + kStackReserve;
  // In steps, because each is a system call.
  constexpr std::size_t kStep = 4 * kStackReserve;
  while (here < lowest_frame) {
    const std::size_t missing = lowest_frame - here;
    if (running_stack == nullptr || !running_stack->open_more(std::max(missing, kStep))) {
      return true;
    }
    lowest_frame = reinterpret_cast<std::uintptr_t>(running_stack->open) + kStackReserve;
  }
  return false;
}

std::size_t stack_left() noexcept {
  if (stack_is_low()) return 0;
  std::uintptr_t floor = detail::lowest_frame;
  if (detail::running_stack != nullptr) {
    floor = reinterpret_cast<std::uintptr_t>(detail::running_stack->lowest) + kStackReserve;
  }
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) - floor;
}

void release_unused_stack() noexcept {
  FiberStack* const stack = detail::running_stack;
  if (stack == nullptr) return;
  constexpr std::size_t kSpare = std::size_t{8} << 10;
  stack->give_back_below(static_cast<const std::byte*>(__builtin_frame_address(0)) - kSpare);
  detail::lowest_frame = reinterpret_cast<std::uintptr_t>(stack->open) + kStackReserve;
}

bool stack_has(std::size_t bytes) noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (stack_is_low() || bytes > stack_left()) return false;
  return here - bytes >= detail::lowest_frame || !detail::no_more_stack(here - bytes);
}

}  // namespace swizzle
