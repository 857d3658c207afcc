#pragma once

#include <cstddef>
#include <cstdint>

namespace swizzle {

/// The machine's memory nodes. Where the system does not tell, there is one.
class Numa {
 public:
  [[nodiscard]] static std::uint32_t node_count() noexcept;
  /// The node of the processor that runs the caller; 0 where there is only one.
  [[nodiscard]] static std::uint32_t node_of_caller() noexcept;
  /// Has the system take the memory of [begin, begin + bytes) from `node`, if it can: a wish, since
  /// memory of another node works too. Pre: nothing there was touched; page-aligned.
  static void prefer(std::byte* begin, std::size_t bytes, std::uint32_t node) noexcept;
};

}  // namespace swizzle
