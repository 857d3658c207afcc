#pragma once

#include <cstddef>

// GCC announces sanitizers by macros, clang by features.
#if defined(__SANITIZE_ADDRESS__)
#define SWIZZLE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SWIZZLE_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define SWIZZLE_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SWIZZLE_TSAN 1
#endif
#endif

#ifdef SWIZZLE_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef SWIZZLE_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace swizzle {

/// Makes accesses to [at, at + bytes) errors in AddressSanitizer builds, until unpoison().
inline void poison([[maybe_unused]] const void* at, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef SWIZZLE_ASAN
  ASAN_POISON_MEMORY_REGION(at, bytes);
#endif
}

inline void unpoison([[maybe_unused]] const void* at, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef SWIZZLE_ASAN
  ASAN_UNPOISON_MEMORY_REGION(at, bytes);
#endif
}

}  // namespace swizzle
