// Emptying a tree. Included by btree_<mode>.cpp.
#pragma once

#include <numeric>

#include "storage/btree/btree.h"
#include "storage/btree/damage.h"

namespace swizzle {

/// Formats `node` as a node without children: a branch without any, or, if it is a root, an empty
/// leaf. Used by the running system and by redo.
inline void forget_children(Node& node, payload::AfterFreeing after) noexcept {
  alignas(8) std::array<std::byte, kPageBytes> copy;
  std::memcpy(copy.data(), &node, kPageBytes);
  const Node& old = Node::of(copy.data());
  if (after == payload::AfterFreeing::empty_leaf) {
    node.format(old.id(), old.tree(), 0,
                {old.low_fence(), KeyBound::infinite(), KeyBound::infinite()});
  } else {
    node.format(old.id(), old.tree(), old.level(), old.fences());
    node.set_foster(load_ref(old.foster_ref()));
    // A descent that comes here restarts.
    store_ref(node.child_ref(0), PageRef{});
  }
  node.set_lsn(old.lsn());
}

/// Frees children before their parents. The record that frees them also removes them from the
/// parent, so a crash in between leaves a smaller tree, and no page that is in use but unreachable.
template <class Pool>
class BTree<Pool>::Clearing {
 public:
  Clearing(BTree& tree, const GoesOn& goes_on) noexcept : tree_(tree), goes_on_(goes_on) {}

  Result<GivenUp> run() {
    LeafCopy root;
    RETURN_IF_ERROR(tree_.copy_node({}, kRootLevel, root));
    const std::uint8_t level = root.node().level();
    if (level == 0 && root.node().count() == 0 && !root.node().has_foster()) return given_up_;
    RETURN_IF_ERROR(clear_chain({}, level));
    RETURN_IF_ERROR(free_below({}, level, payload::AfterFreeing::empty_leaf));
    return given_up_;
  }

 private:
  /// Frees the nodes below the one that begins at `low`, and below its foster children.
  Result<> clear_chain(Bytes low, std::uint8_t level) {
    if (level == 0) return {};
    const auto copy = std::make_unique<LeafCopy>();
    // It is counted when its parent's children are collected.
    ASSIGN_OR_RETURN(const bool is_readable, try_copy(low, level, *copy));
    if (!is_readable) return {};
    const Node& node = copy->node();
    if (level > 1) {
      std::array<std::byte, Node::kMaxKeyBytes> key;
      for (std::uint16_t i = 0; i < node.count(); ++i)
        RETURN_IF_ERROR(clear_chain({key.data(), node.copy_key(i, key.data())},
                                    static_cast<std::uint8_t>(level - 1)));
    }
    const bool is_root = node.id() == tree_.root_.page;
    if (node.count() > 0 && !is_root)
      RETURN_IF_ERROR(free_below(low, level, payload::AfterFreeing::childless));
    if (node.has_foster()) RETURN_IF_ERROR(clear_chain(node.high_fence().key, level));
    return {};
  }

  /// The page of the node that begins at `low`, as its referrer has it, and of its foster children.
  Result<> collect_chain(PageId page, Bytes low, std::uint8_t level, std::vector<PageId>& pages) {
    std::vector<std::byte> from(low.begin(), low.end());
    while (true) {
      pages.push_back(page);
      ASSIGN_OR_RETURN(const bool is_readable, try_copy(from, level, scratch_));
      if (!is_readable) {
        // A page that still lacks changes may become readable, and redo may be using it, so it
        // stays in use.
        if (tree_.pool_.store().lacks_changes(page)) pages.pop_back();
        ++given_up_.nodes;
        return {};
      }
      const Node& node = scratch_.node();
      if (!node.has_foster()) return {};
      page = load_ref(node.foster_ref()).page();
      const Bytes next = node.high_fence().key;
      from.assign(next.begin(), next.end());
    }
  }

  /// Pre: the children of the node at `low` have no children.
  Result<> free_below(Bytes low, std::uint8_t level, payload::AfterFreeing after) {
    const auto copy = std::make_unique<LeafCopy>();
    RETURN_IF_ERROR(tree_.copy_node(low, level, *copy));
    const Node& node = copy->node();
    std::vector<PageId> pages;
    std::array<std::byte, Node::kMaxKeyBytes> key;
    if (level > 0)
      for (std::uint16_t i = 0; i < node.count(); ++i)
        RETURN_IF_ERROR(collect_chain(load_ref(node.child_ref(i)).page(),
                                      {key.data(), node.copy_key(i, key.data())},
                                      static_cast<std::uint8_t>(level - 1), pages));
    if (after == payload::AfterFreeing::empty_leaf && node.has_foster())
      RETURN_IF_ERROR(collect_chain(load_ref(node.foster_ref()).page(), node.high_fence().key,
                                    level, pages));
    return tree_.free_children(low, level, after, pages);
  }

  /// Returns false if the page cannot be read.
  Result<bool> try_copy(Bytes low, std::uint8_t level, LeafCopy& into) {
    RETURN_IF_ERROR(look_up());
    // The page will not be needed again.
    auto copied = tree_.copy_node(low, level, into, Interest::once);
    if (copied) return true;
    if (!is_unreadable(copied.error())) return fail(std::move(copied).error());
    if (given_up_.first.empty()) given_up_.first = copied.error().message();
    return false;
  }

  /// Yields after so many pages.
  Result<> look_up() {
    constexpr std::uint32_t kBetweenLooks = 32;
    if (!goes_on_ || ++pages_since_look_ < kBetweenLooks) return {};
    pages_since_look_ = 0;
    if (goes_on_()) return {};
    return fail(sqlstate::query_canceled, "the tree is not empty yet");
  }

  BTree& tree_;
  const GoesOn& goes_on_;
  std::uint32_t pages_since_look_ = 0;
  LeafCopy scratch_;
  GivenUp given_up_;
};

template <class Pool>
Result<> BTree<Pool>::copy_node(Bytes key, std::uint8_t level, LeafCopy& into,
                                Interest interest) {
  Descent descent(*this, key, level);
  descent.interest = interest;
  do {
    RETURN_IF_ERROR(descent.run());
    std::memcpy(into.page.data(), &descent.node(), kPageBytes);
    // Check before following an address in it. Frames keep their pages until the version changes.
    if (!descent.guard.valid()) continue;
    unswizzle_copy(pool_.layout(), into.page.data());
  } while (!descent.guard.valid());
  return {};
}

template <class Pool>
Result<> BTree<Pool>::free_children(Bytes low, std::uint8_t level, payload::AfterFreeing after,
                                    std::span<const PageId> pages) {
  const auto first_word = static_cast<std::uint64_t>(after);
  ASSIGN_OR_RETURN(LogSpace space, log_.reserve(pages.size_bytes() + sizeof first_word, 1,
                                                wal::ReservePurpose::completion));
  Descent descent(*this, low, level);
  ExclusiveGuard hold;
  do {
    RETURN_IF_ERROR(descent.run());
    hold = ExclusiveGuard::upgrade(descent.guard);
  } while (!hold);
  Frame& frame = descent.frame();
  Node& node = Node::of(frame.page());
  const PageStore::MarksGuard marks(pool_.store());
  log_change(space, RecordKind::children_freed, frame, nullptr,
             std::array<Bytes, 2>{std::as_bytes(std::span(&first_word, 1)), std::as_bytes(pages)});
  if (!node.is_leaf())
    for (std::uint16_t i = 0; i < node.count(); ++i) pool_.drop_swizzled(node.child_ref(i));
  if (after == payload::AfterFreeing::empty_leaf) pool_.drop_swizzled(node.foster_ref());
  pool_.drop_unswizzled(pages);
  forget_children(node, after);
  for (const PageId page : pages) pool_.store().mark_free(page);
  return {};
}

template <class Pool>
Result<DiscardedLeaf> BTree<Pool>::discard(Bytes low, Bytes high) {
  DiscardedLeaf discarded;
  std::size_t left = 0;
  Descent descent(*this, low, 0);
  {
    ASSIGN_OR_RETURN(LogSpace space, log_.reserve(2 * Node::kMaxSlots, 1));
    ExclusiveGuard hold;
    do {
      RETURN_IF_ERROR(descent.run());
      hold = ExclusiveGuard::upgrade(descent.guard);
      if (!hold) descent.disturbed();
    } while (!hold);
    Frame& frame = descent.frame();
    Node& leaf = Node::of(frame.page());
    const std::uint16_t begin = leaf.lower_bound(low).index;
    const KeyBound fence = leaf.high_fence();
    const bool goes_on = !fence.is_infinite() && compare(fence.key, high) < 0;
    if (goes_on) discarded.next.emplace(fence.key.begin(), fence.key.end());
    // A key outside of the fences has no position in the leaf.
    const std::uint16_t end = goes_on ? leaf.count() : leaf.lower_bound(high).index;
    if (begin < end) {
      discarded.records = static_cast<std::uint32_t>(end - begin);
      std::array<std::uint16_t, Node::kMaxSlots> slots;
      std::iota(slots.begin(), slots.begin() + discarded.records, begin);
      const std::array<Bytes, 1> parts{
          std::as_bytes(std::span(slots.data(), discarded.records))};
      log_change(space, RecordKind::records_discarded, frame, nullptr, parts);
      for (std::uint16_t i = end; i > begin; --i) leaf.erase(static_cast<std::uint16_t>(i - 1));
    }
    left = leaf.used_bytes();
    if (begin >= end) hold.release_unchanged();
  }
  if (descent.saw_foster) tidy_after(descent, low);
  // Merges with the next leaf, which still has its values: the one before is empty already, so the
  // image of both is small.
  if (discarded.records != 0 && left < kSparseBytes) {
    RETURN_IF_ERROR(merge_sparse(low, TidyEffort::light));
    RETURN_IF_ERROR(lower_root());
  }
  return discarded;
}

template <class Pool>
Result<GivenUp> BTree<Pool>::clear(const GoesOn& goes_on) {
  return std::make_unique<Clearing>(*this, goes_on)->run();
}

}  // namespace swizzle
