#include "storage/btree/node_layout.h"

#include "storage/btree/node.h"

namespace swizzle {

PageLayout node_layout() noexcept {
  return {[](std::byte* page, PageLayout::RefVisitor visit, void* context) {
    Node::of(page).for_each_ref([&](PageRef* reference) { visit(context, reference); });
  }};
}

bool has_space_to_give_back(const std::byte* page) noexcept {
  const Node& node = Node::of(page);
  if (!node.is_leaf()) return false;
  if (node.ghost_count() != 0) return true;
  // The only leaf of a tree has nobody to be merged with.
  const bool is_only = node.low_fence().empty() && node.chain_high_fence().is_infinite();
  constexpr std::size_t kAlmostEmptyBytes = kPageBytes / 4;
  return !is_only && node.used_bytes() < kAlmostEmptyBytes;
}

}  // namespace swizzle
