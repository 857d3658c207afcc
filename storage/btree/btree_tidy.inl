// Leaves are rid of ghosts and merged in the background. Included by btree_<mode>.cpp.
#pragma once

#include <algorithm>

#include "storage/btree/btree.h"

namespace swizzle {

/// Counts on a copy how many ghosts a latched visit could remove, which checks each ghost again.
template <class Pool>
typename BTree<Pool>::GhostShare BTree<Pool>::removable_ghosts(const Node& leaf) noexcept {
  GhostShare share;
  if (leaf.ghost_count() == 0) return share;
  for (std::uint16_t i = 0; i < leaf.count(); ++i) {
    if (!leaf.is_ghost(i)) continue;
    if (ghosts_.may_remove(leaf, i)) {
      ++share.removable;
      share.removable_bytes += leaf.footprint_of(i);
    } else {
      ++share.needed;
    }
  }
  return share;
}

template <class Pool>
bool BTree<Pool>::is_worth_removing(const GhostShare& share, const Node& leaf,
                                    TidyEffort effort) noexcept {
  if (share.removable == 0) return false;
  if (effort != TidyEffort::light) return true;
  return share.removable * 4U >= leaf.count() || share.removable_bytes * 4 >= leaf.used_bytes() ||
         leaf.used_bytes() - share.removable_bytes < kSparseBytes;
}

template <class Pool>
Result<TidiedLeaf> BTree<Pool>::tidy_leaf(Bytes key, TidyEffort effort, LeafCopy& copy) {
  TidiedLeaf tidied;
  RETURN_IF_ERROR(copy_leaf(key, copy));
  const Node& leaf = copy.node();
  const KeyBound high = leaf.high_fence();
  if (!high.is_infinite()) tidied.next.emplace(high.key.begin(), high.key.end());
  const GhostShare share = removable_ghosts(leaf);
  std::size_t left = leaf.used_bytes();
  tidied.ghosts_left = leaf.ghost_count();
  if (is_worth_removing(share, leaf, effort)) {
    ASSIGN_OR_RETURN(LogSpace space, log_.reserve(2 * Node::kMaxSlots, 1));
    Descent descent(*this, key, 0);
    while (true) {
      RETURN_IF_ERROR(descent.run());
      ExclusiveGuard hold = ExclusiveGuard::upgrade(descent.guard);
      if (!hold) {
        descent.disturbed();
        continue;
      }
      tidied.ghosts_removed = remove_ghosts(descent.frame(), space);
      left = descent.node().used_bytes();
      tidied.ghosts_left = descent.node().ghost_count();
      if (tidied.ghosts_removed == 0) hold.release_unchanged();
      break;
    }
  } else {
    // By then the few may have become many.
    tidied.has_more = share.removable != 0;
  }
  if (share.needed != 0 && share.needed * 4U >= leaf.count()) tidied.has_more = true;
  if (left < kSparseBytes) {
    ASSIGN_OR_RETURN(const Merged merged, merge_sparse(key, effort));
    if (merged == Merged::done) tidied.pages_freed = 1;
    if (merged == Merged::later) tidied.has_more = true;
    ASSIGN_OR_RETURN(const bool is_lower, lower_root());
    if (is_lower) ++tidied.pages_freed;
  }
  return tidied;
}

/// Returns how full the child is, or nothing if its page is absent. Only an estimate: the child is
/// not latched afterwards.
template <class Pool>
std::optional<std::size_t> BTree<Pool>::used_bytes_of(const ReadGuard& parent, PageRef ref) {
  if (!parent.valid()) return std::nullopt;
  const Hold hold = pool_.follow(ref);
  if (hold.frame() == nullptr) return std::nullopt;
  ReadGuard guard(hold.frame()->latch);
  if (!parent.valid()) return std::nullopt;
  const std::size_t used = Node::of(hold.frame()->page()).used_bytes();
  if (!guard.valid()) return std::nullopt;
  return std::min(used, kPageBytes);
}

/// Merges the leaf of `key` with a neighbour under the same parent, the one that makes the smaller
/// leaf with it, if both are in memory and free.
template <class Pool>
Result<typename BTree<Pool>::Merged> BTree<Pool>::merge_sparse(Bytes key, TidyEffort effort) {
  // The parent's latch would disturb descents, so it is taken only where a merge is likely.
  const std::size_t most = effort == TidyEffort::light ? kCheapMergeBytes : kRoomyMergeBytes;
  Neighbour with = Neighbour::right;
  bool is_likely = false;
  {
    Descent descent(*this, key, 1);
    RETURN_IF_ERROR(descent.run());
    const Node& parent = descent.node();
    if (parent.is_leaf()) return Merged::no;  // the tree is this one node
    const std::uint16_t index = parent.child_index(key);
    bool is_disturbed = false;
    const auto used_at = [&](int at) -> std::optional<std::size_t> {
      if (at < 0 || at >= parent.count()) return std::nullopt;
      const PageRef ref = load_ref(parent.child_ref(static_cast<std::uint16_t>(at)));
      const auto used = used_bytes_of(descent.guard, ref);
      is_disturbed = is_disturbed || (!used && descent.guard.valid() &&
                                      pool_.follow(ref).frame() != nullptr);
      return used;
    };
    const auto own = used_at(index);
    const auto left = used_at(index - 1);
    const auto right = used_at(index + 1);
    const bool is_true = descent.guard.valid();
    descent.guard.release();
    // No other hint names the leaf again, so it must be tried later.
    if (!is_true || is_disturbed) return Merged::later;
    if (!own || (!left && !right)) return Merged::no;
    const std::size_t pair = *own + std::min(left.value_or(kPageBytes), right.value_or(kPageBytes));
    if (left && (!right || *left <= *right)) with = Neighbour::left;
    // Merges an almost empty leaf even if the merged one is then full.
    const bool is_empty = *own < kUnderfullBytes && effort != TidyEffort::light;
    if (pair > most && !is_empty) {
      const bool may_later = pair <= kRoomyMergeBytes || *own < kUnderfullBytes;
      return may_later && effort == TidyEffort::light ? Merged::later : Merged::no;
    }
    is_likely = pair <= kRoomyMergeBytes;
  }
  ASSIGN_OR_RETURN(const bool merged, merge_with(key, with));
  if (merged) return Merged::done;
  // A latch, or a lock on the fence, was held and will soon be released.
  return is_likely ? Merged::later : Merged::no;
}

template <class Pool>
Result<bool> BTree<Pool>::merge_with(Bytes key, Neighbour with) {
  bool merged = false;
  bool parent_is_underfull = false;
  {
    ASSIGN_OR_RETURN(LogSpace space, log_.reserve(2 * kPageBytes + 6 * Node::kMaxKeyBytes, 3));
    Descent descent(*this, key, 1);
    RETURN_IF_ERROR(descent.run());
    const Node& parent = descent.node();
    if (parent.is_leaf()) return false;
    ExclusiveGuard hold = ExclusiveGuard::upgrade(descent.guard);
    if (!hold) return false;
    counters_.branch_latches.fetch_add(1, std::memory_order_relaxed);
    const int index = parent.child_index(key);
    const int left_index = with == Neighbour::left ? index - 1 : index;
    // Others may have changed the parent since the estimate.
    if (left_index >= 0 && left_index + 1 < parent.count())
      merged = merge_children(descent.frame(), static_cast<std::uint16_t>(left_index),
                              TooMuchForOne::leave, space);
    if (!merged) hold.release_unchanged();
    parent_is_underfull = merged && parent.used_bytes() < kUnderfullBytes;
  }
  if (parent_is_underfull) RETURN_IF_ERROR(merge_underfull(key, 1));
  return merged;
}

/// True if the leaf of `key` would have to be read from the data file.
template <class Pool>
Result<bool> BTree<Pool>::is_leaf_absent(Bytes key) {
  Descent descent(*this, key, 1);
  while (true) {
    RETURN_IF_ERROR(descent.run());
    const Node& parent = descent.node();
    if (parent.is_leaf()) return false;
    const PageRef ref = load_ref(parent.child_ref(parent.child_index(key)));
    if (descent.guard.valid()) {
      const bool is_absent = pool_.follow(ref).frame() == nullptr;
      descent.guard.release();
      return is_absent;
    }
    descent.disturbed();
  }
}

}  // namespace swizzle
