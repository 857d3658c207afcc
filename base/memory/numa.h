#pragma once

#include <cstddef>
#include <cstdint>

namespace swizzle {

/// The machine's memory nodes. One node if the system does not tell.
class Numa {
 public:
  [[nodiscard]] static std::uint32_t node_count() noexcept;
  /// The node of the processor that runs the caller; 0 if there is only one.
  [[nodiscard]] static std::uint32_t node_of_caller() noexcept;
  /// Prefers memory of `node` for [begin, begin + bytes). Only a preference, since memory of
  /// another node works too. Pre: the memory was not touched yet; page-aligned.
  static void prefer(std::byte* begin, std::size_t bytes, std::uint32_t node) noexcept;
};

}  // namespace swizzle
