#pragma once

#include <atomic>
#include <cstddef>

namespace swizzle {

/// Returns a small number unique to the thread, for choosing stripes, slots and partitions.
inline std::size_t thread_number() noexcept {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

}  // namespace swizzle
