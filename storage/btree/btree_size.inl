// Number of pages of a tree. Included by btree_<mode>.cpp.
#pragma once

#include <memory>
#include <string>

#include "storage/btree/btree.h"

namespace swizzle {

/// Walks the branch levels from fence to fence on copies of nodes, since nodes may be replaced
/// meanwhile; leaves are counted from their parents.
template <class Pool>
Result<std::uint64_t> BTree<Pool>::count_pages(Bytes low, const KeyBound& high) {
  const auto copy = std::make_unique<LeafCopy>();
  const auto counts = [&](Bytes begin) { return compare(begin, low) >= 0 && high.is_above(begin); };
  RETURN_IF_ERROR(copy_node({}, kRootLevel, *copy));
  const std::uint8_t root_level = copy->node().level();
  if (root_level == 0) return counts({}) ? 1 : 0;
  std::uint64_t pages = 0;
  std::array<std::byte, Node::kMaxKeyBytes> key;
  for (std::uint8_t level = root_level; level > 0; --level) {
    std::vector<std::byte> from{low.begin(), low.end()};
    for (;;) {
      RETURN_IF_ERROR(copy_node(from, level, *copy));
      const Node& node = copy->node();
      // The tree has become lower meanwhile.
      if (node.level() < level) break;
      if (counts(node.low_fence())) ++pages;
      for (std::uint16_t i = 0; level == 1 && i < node.count(); ++i) {
        if (counts({key.data(), node.copy_key(i, key.data())})) ++pages;
      }
      const KeyBound next = node.high_fence();
      if (next.is_infinite() || !high.is_above(next.key)) break;
      from.assign(next.key.begin(), next.key.end());
    }
  }
  return pages;
}

}  // namespace swizzle
