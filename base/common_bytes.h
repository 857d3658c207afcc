#pragma once

#include <bit>

#include "base/bytes.h"

namespace swizzle {

/// Returns the length of two values' common prefix. Compares eight bytes at a time, because every
/// update compares rows.
inline std::size_t common_front(Bytes a, Bytes b) noexcept {
  const std::size_t most = a.size() < b.size() ? a.size() : b.size();
  std::size_t count = 0;
  for (; count + 8 <= most; count += 8) {
    const auto differ =
        load<std::uint64_t>(a.data() + count) ^ load<std::uint64_t>(b.data() + count);
    if (differ != 0) return count + static_cast<std::size_t>(std::countr_zero(differ)) / 8;
  }
  while (count < most && a[count] == b[count]) ++count;
  return count;
}

/// Returns the length of the common suffix.
inline std::size_t common_back(Bytes a, Bytes b) noexcept {
  const std::size_t most = a.size() < b.size() ? a.size() : b.size();
  const std::byte* end_of_a = a.data() + a.size();
  const std::byte* end_of_b = b.data() + b.size();
  std::size_t count = 0;
  for (; count + 8 <= most; count += 8) {
    const auto differ =
        load<std::uint64_t>(end_of_a - count - 8) ^ load<std::uint64_t>(end_of_b - count - 8);
    if (differ != 0) return count + static_cast<std::size_t>(std::countl_zero(differ)) / 8;
  }
  while (count < most && end_of_a[-static_cast<std::ptrdiff_t>(count) - 1] ==
                             end_of_b[-static_cast<std::ptrdiff_t>(count) - 1])
    ++count;
  return count;
}

}  // namespace swizzle
