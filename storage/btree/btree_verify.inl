// Checking a whole tree. Included by btree_<mode>.cpp.
#pragma once

#include <fmt/format.h>

#include "storage/btree/btree.h"

namespace swizzle {

/// Walks by keys and works on copies, since pages may be replaced while it goes on.
template <class Pool>
class BTree<Pool>::Inspection {
 public:
  explicit Inspection(BTree& tree) noexcept : tree_(tree) {}

  Result<> run() { return visit({}, KeyBound::infinite(), kRootLevel); }
  std::vector<std::string> violations;
  std::vector<PageId> pages;

 private:
  /// The node that begins at `low`, its foster children and everything below them.
  Result<> visit(Bytes low, const KeyBound& chain_high, std::uint8_t level) {
    const auto copy = std::make_unique<LeafCopy>();
    RETURN_IF_ERROR(tree_.copy_node(low, level, *copy));
    const Node& node = copy->node();
    if (std::string violation = node.verify(); !violation.empty()) {
      violations.push_back(std::move(violation));
      return {};
    }
    const auto expect = [&](bool holds, const char* rule, std::string_view what) {
      if (!holds)
        violations.push_back(fmt::format("{} violated on page {}: {}", rule, raw(node.id()), what));
    };
    expect(node.tree() == tree_.id(), "B5", "it belongs to another tree");
    expect(level == kRootLevel || node.level() == level, "B5",
           "its level is not one below its parent's");
    expect(compare(node.low_fence(), low) == 0, "B6", "its low fence is not what its parent has");
    expect(node.chain_high_fence() == chain_high, "B6",
           "its chain does not end where its parent says");
    if (!violations.empty()) return {};
    if (node.has_foster()) RETURN_IF_ERROR(visit(node.high_fence().key, chain_high, node.level()));
    if (!node.is_leaf()) RETURN_IF_ERROR(visit_children(node));
    pages.push_back(node.id());
    return {};
  }

  Result<> visit_children(const Node& node) {
    std::array<std::byte, Node::kMaxKeyBytes> low;
    std::array<std::byte, Node::kMaxKeyBytes> next;
    for (std::uint16_t i = 0; i < node.count(); ++i) {
      const auto after = static_cast<std::uint16_t>(i + 1);
      const KeyBound high = after < node.count()
                                ? KeyBound::at({next.data(), node.copy_key(after, next.data())})
                                : node.high_fence();
      RETURN_IF_ERROR(visit({low.data(), node.copy_key(i, low.data())}, high,
                            static_cast<std::uint8_t>(node.level() - 1)));
    }
    return {};
  }

  BTree& tree_;
};

template <class Pool>
Result<std::vector<std::string>> BTree<Pool>::verify() {
  Inspection inspection(*this);
  RETURN_IF_ERROR(inspection.run());
  return std::move(inspection.violations);
}

template <class Pool>
Result<std::vector<PageId>> BTree<Pool>::pages() {
  Inspection inspection(*this);
  RETURN_IF_ERROR(inspection.run());
  if (!inspection.violations.empty())
    return fail(sqlstate::index_corrupted, inspection.violations.front());
  return std::move(inspection.pages);
}

}  // namespace swizzle
