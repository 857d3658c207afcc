#pragma once

#include "base/runtime/stack_depth.h"

namespace swizzle::sql {

/// Throws SqlError 54001.
[[noreturn]] void throw_stack_too_deep();

/// Must be called at every level of a recursion whose depth a client determines: text, trees,
/// plans, values.
inline void check_stack() {
  if (stack_is_low()) [[unlikely]]
    throw_stack_too_deep();
}

/// Checks that the stack suffices for a later recursion over `levels` levels, e.g. a chain of plan
/// nodes made from a client's list.
inline void check_stack_for(std::size_t levels) {
  constexpr std::size_t kBytesPerLevel = 1024;
  if (!stack_has(levels * kBytesPerLevel)) throw_stack_too_deep();
}

}  // namespace swizzle::sql
