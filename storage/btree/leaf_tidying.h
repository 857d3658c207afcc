#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"

namespace swizzle {

/// How much tidying of a leaf may log. A merge logs the image of the merged leaf.
enum class TidyEffort : std::uint8_t {
  /// Removes ghosts where they are a quarter of the leaf, and merges pairs whose image is small.
  light,
  /// Removes all ghosts that can go, and merges each pair that leaves the merged leaf some room.
  thorough,
};

/// Result of tidying one leaf.
struct TidiedLeaf {
  std::uint32_t ghosts_removed = 0;
  std::uint32_t ghosts_left = 0;  ///< a snapshot or a lock needs them, or they are few
  std::uint32_t pages_freed = 0;
  /// A later visit may do more: a ghost was still needed, or a merge would have logged too much.
  bool has_more = false;
  /// The leaf's high fence, where the walk goes on; nothing at the right end of the tree.
  std::optional<std::vector<std::byte>> next;
};

/// Result of discarding the records of a range in one leaf.
struct DiscardedLeaf {
  std::uint32_t records = 0;
  /// The leaf's high fence, where the walk goes on; nothing at the end of the range.
  std::optional<std::vector<std::byte>> next;
};

}  // namespace swizzle
