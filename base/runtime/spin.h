#pragma once

namespace swizzle {

/// Tells the processor that this is a spin loop, so that its sibling thread gets the core for a
/// moment.
inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace swizzle
