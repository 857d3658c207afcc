#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"

namespace swizzle {

/// Limit of what tidying a leaf may log. A merge logs the image of the merged leaf.
enum class TidyEffort : std::uint8_t {
  /// Removes ghosts if they are a quarter of the leaf, and merges pairs whose image is small.
  light,
  /// Removes all removable ghosts, and merges every pair that leaves some free room.
  thorough,
};

/// Result of tidying one leaf.
struct TidiedLeaf {
  std::uint32_t ghosts_removed = 0;
  std::uint32_t ghosts_left = 0;  ///< still needed by a snapshot or a lock, or too few
  std::uint32_t pages_freed = 0;
  /// A later visit may do more: a ghost was needed, or a merge would have logged too much.
  bool has_more = false;
  /// High fence of the leaf, where the walk continues; nothing at the right end of the tree.
  std::optional<std::vector<std::byte>> next;
};

/// Result of discarding the records of a range in one leaf.
struct DiscardedLeaf {
  std::uint32_t records = 0;
  /// High fence of the leaf, where the walk continues; nothing at the end of the range.
  std::optional<std::vector<std::byte>> next;
};

}  // namespace swizzle
