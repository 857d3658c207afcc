#pragma once

#include "base/runtime/stack_depth.h"

namespace swizzle::sql {

/// Throws SqlError 54001.
[[noreturn]] void throw_stack_too_deep();

/// Called at every level of a recursion over a client's input, however deep: text, trees, plans,
/// values.
inline void check_stack() {
  if (stack_is_low()) [[unlikely]]
    throw_stack_too_deep();
}

/// Checks that the stack suffices for recursion over a chain of `levels`, made of a client's list:
/// steps over one another in a plan, say.
inline void check_stack_for(std::size_t levels) {
  constexpr std::size_t kBytesPerLevel = 1024;
  if (!stack_has(levels * kBytesPerLevel)) throw_stack_too_deep();
}

}  // namespace swizzle::sql
