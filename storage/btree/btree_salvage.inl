// Passing over pages that cannot be read. Included by btree_<mode>.cpp.
#pragma once

#include <memory>

#include "storage/btree/btree.h"
#include "storage/btree/damage.h"

namespace swizzle {

/// Asks the lowest branch on the way that can be read.
template <class Pool>
Result<std::optional<std::vector<std::byte>>> BTree<Pool>::behind_unreadable(Bytes key) {
  /// No tree of any database has more levels.
  constexpr std::uint8_t kMostLevels = 24;
  const auto copy = std::make_unique<LeafCopy>();
  for (std::uint8_t level = 1; level < kMostLevels; ++level) {
    auto copied = copy_node(key, level, *copy);
    if (!copied && !is_unreadable(copied.error())) return fail(std::move(copied).error());
    if (!copied) continue;
    const Node& branch = copy->node();
    if (branch.level() < level) break;
    const auto next = detail::key_behind(branch, static_cast<std::uint16_t>(branch.child_index(key) + 1));
    if (!next || compare(*next, key) <= 0) break;
    return next;
  }
  return std::nullopt;
}

}  // namespace swizzle
