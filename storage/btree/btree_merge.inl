// Underfull nodes. Included by btree_<mode>.cpp.
#pragma once

#include "storage/btree/btree.h"

namespace swizzle {

/// Merges the node of `key` at `child_level` with a neighbour under the same parent, or moves
/// records over from it, if all three can be had without waiting. Otherwise leaves it: an underfull
/// node costs room, not correctness.
template <class Pool>
Result<> BTree<Pool>::merge_underfull(Bytes key, std::uint8_t child_level) {
  const auto parent_level = static_cast<std::uint8_t>(child_level + 1);
  bool parent_is_underfull = false;
  {
    ASSIGN_OR_RETURN(LogSpace space, log_.reserve(kPageBytes + 3 * Node::kMaxKeyBytes, 2));
    Descent descent(*this, key, parent_level);
    RETURN_IF_ERROR(descent.run());
    if (descent.node().level() < parent_level) return {};  // the tree is this one node
    ExclusiveGuard hold = ExclusiveGuard::upgrade(descent.guard);
    if (!hold) return {};
    counters_.branch_latches.fetch_add(1, std::memory_order_relaxed);
    merge_latched(descent.frame(), key, space);
    const Node& parent = descent.node();
    parent_is_underfull = parent.used_bytes() < kUnderfullBytes;
  }
  if (parent_is_underfull) return merge_underfull(key, parent_level);
  return {};
}

/// Two neighbours whose records become one node's, or are shared out anew. Pre: all held
/// exclusively; `left` has no foster child.
template <class Pool>
class Pair {
 public:
  Pair(Node& left, Node& right) noexcept : left_(left), right_(right) {}

  /// The prefix of a node over both ranges may be shorter, so its records longer.
  [[nodiscard]] bool fits_in_one() const noexcept {
    const Node::Fences fences{left_.low_fence(), right_.high_fence(), right_.chain_high_fence()};
    const std::size_t prefix = Node::common_prefix(fences.low, fences.chain_high);
    const std::size_t needed = left_.range_bytes(0, left_.count(), prefix) +
                               right_.range_bytes(0, right_.count(), prefix) +
                               Node::fence_bytes_needed(fences) + 8;
    return needed <= kPageBytes - Node::kHeaderBytes;
  }
  /// Builds the one node in `into`, with left's identity.
  void merge_into(std::byte* into) const noexcept {
    Node& merged = Node::of(into);
    merged.format(left_.id(), left_.tree(), left_.level(),
                  {left_.low_fence(), right_.high_fence(), right_.chain_high_fence()});
    merged.set_foster(load_ref(right_.foster_ref()));
    merged.append_range(left_, 0, left_.count());
    merged.append_range(right_, 0, right_.count());
    merged.set_logical_lsn(std::max(left_.logical_lsn(), right_.logical_lsn()));
    merged.set_lsn(left_.lsn());
  }

 private:
  Node& left_;
  Node& right_;
};

/// Pre: `parent` is held exclusively.
template <class Pool>
void BTree<Pool>::merge_latched(Frame& parent_frame, Bytes key, LogSpace& space) noexcept {
  Node& parent = Node::of(parent_frame.page());
  if (parent.count() < 2) return;
  std::uint16_t left_index = parent.child_index(key);
  if (left_index + 1 == parent.count()) --left_index;
  const auto right_index = static_cast<std::uint16_t>(left_index + 1);
  const Hold left_hold = pool_.follow(load_ref(parent.child_ref(left_index)));
  const Hold right_hold = pool_.follow(load_ref(parent.child_ref(right_index)));
  if (left_hold.frame() == nullptr || right_hold.frame() == nullptr) return;
  Frame& left_frame = *left_hold.frame();
  Frame& right_frame = *right_hold.frame();
  const ExclusiveGuard left_guard = ExclusiveGuard::try_lock(left_frame.latch);
  if (!left_guard) return;
  ExclusiveGuard right_guard = ExclusiveGuard::try_lock(right_frame.latch);
  if (!right_guard) return;
  Node& left = Node::of(left_frame.page());
  Node& right = Node::of(right_frame.page());
  const Pair<Pool> pair(left, right);
  if (left.has_foster() || !pair.fits_in_one()) return;
  if (left.is_leaf() && !ghosts_.may_join_at(id(), right.low_fence())) return;

  // First the right child becomes the left one's foster child, then the pair becomes one: each
  // record has two pages at most, and the tree is whole between them.
  alignas(8) std::array<std::byte, kPageBytes> merged;
  pair.merge_into(merged.data());
  const Bytes separator = right.low_fence();
  const PageId right_page = right.id();
  const payload::Deadoption deadoption{separator, right_page, right.chain_high_fence()};
  const payload::Head head = head_of(deadoption);
  const PageStore::MarksGuard marks(pool_.store());
  log_change(space, RecordKind::child_deadopted, parent_frame, &left_frame,
             std::array<Bytes, 3>{head.span(), separator, deadoption.chain_high.key});
  parent.erase(right_index);
  {
    const payload::PageImagePayload image(merged.data());
    const Lsn lsn = log_change(space, RecordKind::nodes_merged, left_frame, &right_frame,
                               std::array<Bytes, 1>{image.span()});
    std::memcpy(left_frame.page(), merged.data(), kPageBytes);
    stamp(left_frame, lsn);
  }
  Node::of(left_frame.page()).for_each_ref([&](PageRef* moved) {
    pool_.moved(load_ref(moved), left_frame);
  });
  right_guard.hand_over();
  pool_.free_page(right_frame);
  counters_.merges.fetch_add(1, std::memory_order_relaxed);
  counters_.branch_latches.fetch_add(left.is_leaf() ? 0U : 2U, std::memory_order_relaxed);
}

}  // namespace swizzle
