// Underfull nodes. Included by btree_<mode>.cpp.
#pragma once

#include <algorithm>

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
    ASSIGN_OR_RETURN(LogSpace space, log_.reserve(2 * kPageBytes + 6 * Node::kMaxKeyBytes, 3));
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

/// A parent and two neighbours under it. All are held exclusively; `left` has no foster child.
template <class Pool>
struct BTree<Pool>::Neighbours {
  Frame& parent_frame;
  Frame& left_frame;
  Frame& right_frame;
  std::uint16_t right_index;
  PageRef right_ref;  ///< as the parent has it
  ExclusiveGuard& right_guard;

  [[nodiscard]] Node& parent() const noexcept { return Node::of(parent_frame.page()); }
  [[nodiscard]] Node& left() const noexcept { return Node::of(left_frame.page()); }
  [[nodiscard]] Node& right() const noexcept { return Node::of(right_frame.page()); }

  /// Bytes of a node with these fences that takes the given shares of both nodes' slots.
  [[nodiscard]] std::size_t bytes_with(const Node::Fences& fences, std::uint16_t left_begin,
                                       std::uint16_t left_end, std::uint16_t right_begin,
                                       std::uint16_t right_end) const noexcept {
    // The prefix of a node over another range may be shorter, so its records longer.
    const std::size_t prefix = Node::common_prefix(fences.low, fences.chain_high);
    return left().range_bytes(left_begin, left_end, prefix) +
           right().range_bytes(right_begin, right_end, prefix) + Node::fence_bytes_needed(fences) +
           8;
  }
  /// True if the right node could become the left one's foster child as that is. Redo of the
  /// de-adoption makes it so, even if a merge or a rebalancing follows at once.
  [[nodiscard]] bool can_deadopt() const noexcept {
    const Node::Fences hung{left().low_fence(), left().high_fence(), right().chain_high_fence()};
    return bytes_with(hung, 0, left().count(), 0, 0) + left().owed_bytes() <=
           kPageBytes - Node::kHeaderBytes;
  }
  [[nodiscard]] std::size_t owed_bytes() const noexcept {
    return left().owed_bytes() + right().owed_bytes();
  }
  [[nodiscard]] bool fits_in_one() const noexcept {
    const Node::Fences fences{left().low_fence(), right().high_fence(), right().chain_high_fence()};
    return bytes_with(fences, 0, left().count(), 0, right().count()) + owed_bytes() <=
           kPageBytes - Node::kHeaderBytes;
  }
};

/// How two neighbours share their records out anew: both become images, which the log gets.
struct NewShares {
  alignas(8) std::array<std::byte, kPageBytes> left;
  alignas(8) std::array<std::byte, kPageBytes> right;
  std::array<std::byte, Node::kMaxKeyBytes> separator;
  std::size_t separator_size = 0;

  /// Builds both nodes anew. Of their slots, taken together, number `at` begins the right share.
  /// Returns false if a share does not fit its node.
  template <class Pair>
  bool build(const Pair& pair, std::uint16_t at) noexcept {
    const Node& old_left = pair.left();
    const Node& old_right = pair.right();
    const std::uint16_t from_left = std::min(at, old_left.count());
    const auto from_right = static_cast<std::uint16_t>(at - from_left);
    choose_separator(old_left, old_right, from_left, from_right);
    const Bytes fence{separator.data(), separator_size};
    const KeyBound chain_high = old_right.chain_high_fence();
    // Between the records of the two the left node is the right one's foster parent.
    const Node::Fences left_fences{old_left.low_fence(), KeyBound::at(fence), chain_high};
    const Node::Fences right_fences{fence, old_right.high_fence(), chain_high};
    // It is not known here which of the two has how much of the reservation.
    const std::size_t owed = pair.owed_bytes();
    if (owed > kPageBytes - Node::kHeaderBytes) return false;
    const std::size_t room = kPageBytes - Node::kHeaderBytes - owed;
    if (pair.bytes_with(left_fences, 0, from_left, 0, from_right) > room ||
        pair.bytes_with(right_fences, from_left, old_left.count(), from_right, old_right.count()) >
            room)
      return false;
    Node& new_left = Node::of(left.data());
    new_left.format(old_left.id(), old_left.tree(), old_left.level(), left_fences);
    new_left.append_range(old_left, 0, from_left);
    new_left.append_range(old_right, 0, from_right);
    Node& new_right = Node::of(right.data());
    new_right.format(old_right.id(), old_right.tree(), old_right.level(), right_fences);
    new_right.set_foster(load_ref(old_right.foster_ref()));
    new_right.append_range(old_left, from_left, old_left.count());
    new_right.append_range(old_right, from_right, old_right.count());
    const Lsn logical = std::max(old_left.logical_lsn(), old_right.logical_lsn());
    for (Node* const node : {&new_left, &new_right}) {
      node->set_logical_lsn(logical);
      node->set_owed_bytes(owed);
    }
    return true;
  }

 private:
  void choose_separator(const Node& old_left, const Node& old_right, std::uint16_t from_left,
                        std::uint16_t from_right) noexcept {
    const auto copy = [&](std::uint16_t at, std::byte* into) {
      return at < old_left.count()
                 ? old_left.copy_key(at, into)
                 : old_right.copy_key(static_cast<std::uint16_t>(at - old_left.count()), into);
    };
    const auto at = static_cast<std::uint16_t>(from_left + from_right);
    separator_size = copy(at, separator.data());
    if (!old_left.is_leaf()) return;  // a branch child's low fence is its slot's key
    std::array<std::byte, Node::kMaxKeyBytes> before;
    const std::size_t size = copy(static_cast<std::uint16_t>(at - 1), before.data());
    separator_size = Node::common_prefix({before.data(), size},
                                         KeyBound::at({separator.data(), separator_size})) +
                     1;
  }
};

/// Turns the right child, which leaves the parent, into the left one's foster child. The next step
/// changes these two alone, so that each record has two pages at most, and the tree is whole
/// between the steps.
template <class Pool>
void BTree<Pool>::deadopt(Neighbours& pair, LogSpace& space) noexcept {
  const payload::Deadoption deadoption{pair.right().low_fence(), pair.right().id(),
                                       pair.right().chain_high_fence()};
  const payload::Head head = head_of(deadoption);
  log_change(space, RecordKind::child_deadopted, pair.parent_frame, &pair.left_frame,
             std::array<Bytes, 3>{head.span(), deadoption.key, deadoption.chain_high.key});
  pair.parent().erase(pair.right_index);
}

/// Post: the right page is free.
template <class Pool>
void BTree<Pool>::merge_pair(Neighbours& pair, LogSpace& space) noexcept {
  Node& left = pair.left();
  const Node& right = pair.right();
  alignas(8) std::array<std::byte, kPageBytes> both;
  Node& merged = Node::of(both.data());
  merged.format(left.id(), left.tree(), left.level(),
                {left.low_fence(), right.high_fence(), right.chain_high_fence()});
  merged.set_foster(load_ref(right.foster_ref()));
  merged.append_range(left, 0, left.count());
  merged.append_range(right, 0, right.count());
  merged.set_logical_lsn(std::max(left.logical_lsn(), right.logical_lsn()));
  merged.set_owed_bytes(pair.owed_bytes());
  const PageStore::MarksGuard marks(pool_.store());
  deadopt(pair, space);
  {
    const payload::PageImagePayload image(both.data());
    const Lsn lsn = log_change(space, RecordKind::nodes_merged, pair.left_frame, &pair.right_frame,
                               std::array<Bytes, 1>{image.span()});
    std::memcpy(pair.left_frame.page(), both.data(), kPageBytes);
    stamp(pair.left_frame, lsn);
  }
  if (left.is_leaf()) ghosts_.records_moved(right.id(), left.id());
  left.for_each_ref([&](PageRef* moved) { pool_.moved(load_ref(moved), pair.left_frame); });
  pair.right_guard.hand_over();
  pool_.free_page(pair.right_frame);
  counters_.merges.fetch_add(1, std::memory_order_relaxed);
}

/// Rebalances two nodes that do not fit into one page, if one has less than half the bytes of the
/// other.
template <class Pool>
void BTree<Pool>::rebalance_pair(Neighbours& pair, LogSpace& space) noexcept {
  const Node& left = pair.left();
  const Node& right = pair.right();
  const std::size_t left_bytes = left.range_bytes(0, left.count(), 0);
  const std::size_t right_bytes = right.range_bytes(0, right.count(), 0);
  if (std::max(left_bytes, right_bytes) < 2 * std::min(left_bytes, right_bytes)) return;
  if (left.count() == 0 || right.count() == 0) return;
  // Finds the slot with half of the bytes before it.
  const auto total = static_cast<std::uint16_t>(left.count() + right.count());
  std::uint16_t at = 0;
  for (std::size_t before = 0; before < (left_bytes + right_bytes) / 2; ++at) {
    const auto next = static_cast<std::uint16_t>(at + 1);
    before += at < left.count()
                  ? left.range_bytes(at, next, 0)
                  : right.range_bytes(static_cast<std::uint16_t>(at - left.count()),
                                      static_cast<std::uint16_t>(next - left.count()), 0);
  }
  at = std::clamp<std::uint16_t>(at, 1, static_cast<std::uint16_t>(total - 1));
  if (at == left.count()) return;
  // The gap in which the new fence would stand may be locked.
  const bool in_left = at < left.count();
  if (left.is_leaf() &&
      !ghosts_.may_cut_before(in_left ? left : right,
                              in_left ? at : static_cast<std::uint16_t>(at - left.count())))
    return;
  NewShares shares;
  if (!shares.build(pair, at)) return;
  const Bytes separator{shares.separator.data(), shares.separator_size};
  // The longer separator may not fit where the old one stood.
  if (separator.size() > right.low_fence().size() && !pair.parent().has_room(separator.size(), 0))
    return;

  deadopt(pair, space);
  Node::of(shares.left.data()).set_foster(PageRef{right.id()});
  {
    const payload::PageImagePayload left_image(shares.left.data());
    const payload::PageImagePayload right_image(shares.right.data());
    const Lsn lsn =
        log_change(space, RecordKind::nodes_rebalanced, pair.left_frame, &pair.right_frame,
                   std::array<Bytes, 2>{left_image.span(), right_image.span()});
    std::memcpy(pair.left_frame.page(), shares.left.data(), kPageBytes);
    std::memcpy(pair.right_frame.page(), shares.right.data(), kPageBytes);
    stamp(pair.left_frame, lsn);
    stamp(pair.right_frame, lsn);
  }
  if (left.is_leaf()) {
    ghosts_.records_moved(left.id(), right.id());
    ghosts_.records_moved(right.id(), left.id());
  }
  for (Frame* frame : {&pair.left_frame, &pair.right_frame})
    Node::of(frame->page()).for_each_ref([&](PageRef* moved) {
      if (load_ref(moved).is_swizzled()) pool_.moved(load_ref(moved), *frame);
    });
  readopt(pair, separator, space);
  counters_.rebalances.fetch_add(1, std::memory_order_relaxed);
}

/// Gives the right node back to the parent, under its new separator.
template <class Pool>
void BTree<Pool>::readopt(Neighbours& pair, Bytes separator, LogSpace& space) noexcept {
  const payload::Head head = head_of(payload::KeyAndPage{separator, pair.right().id()});
  log_change(space, RecordKind::foster_adopted, pair.parent_frame, &pair.left_frame,
             std::array<Bytes, 2>{head.span(), separator});
  pair.parent().insert_branch(pair.right_index, separator, pair.right_ref);
  pair.left().drop_foster();
}

/// Pre: `parent` is held exclusively.
template <class Pool>
void BTree<Pool>::merge_latched(Frame& parent_frame, Bytes key, LogSpace& space) noexcept {
  Node& parent = Node::of(parent_frame.page());
  if (parent.count() < 2) return;
  std::uint16_t left_index = parent.child_index(key);
  if (left_index + 1 == parent.count()) --left_index;
  merge_children(parent_frame, left_index, TooMuchForOne::rebalance, space);
}

/// The child number `left_index` and the one after it. Pre: `parent` is held exclusively.
template <class Pool>
bool BTree<Pool>::merge_children(Frame& parent_frame, std::uint16_t left_index,
                                 TooMuchForOne otherwise, LogSpace& space) noexcept {
  Node& parent = Node::of(parent_frame.page());
  const auto right_index = static_cast<std::uint16_t>(left_index + 1);
  const PageRef right_ref = load_ref(parent.child_ref(right_index));
  const Hold left_hold = pool_.follow(load_ref(parent.child_ref(left_index)));
  const Hold right_hold = pool_.follow(right_ref);
  if (left_hold.frame() == nullptr || right_hold.frame() == nullptr) return false;
  Frame& left_frame = *left_hold.frame();
  Frame& right_frame = *right_hold.frame();
  const ExclusiveGuard left_guard = ExclusiveGuard::try_lock(left_frame.latch);
  if (!left_guard) return false;
  ExclusiveGuard right_guard = ExclusiveGuard::try_lock(right_frame.latch);
  // A page that no descent has compared may be old, or another's: merging would log it as right.
  if (!right_guard || !left_frame.is_compared() || !right_frame.is_compared()) return false;
  Neighbours pair{parent_frame, left_frame, right_frame, right_index, right_ref, right_guard};
  const Node& left = pair.left();
  if (left.has_foster() || !pair.can_deadopt()) return false;
  if (left.is_leaf() && !ghosts_.may_join_at(id(), pair.right().low_fence())) return false;
  counters_.branch_latches.fetch_add(left.is_leaf() ? 0U : 2U, std::memory_order_relaxed);
  const bool fits = pair.fits_in_one();
  if (fits)
    merge_pair(pair, space);
  else if (otherwise == TooMuchForOne::rebalance)
    rebalance_pair(pair, space);
  return fits;
}

/// Makes a root with one child take over that child's content, level by level. Merges leave such
/// roots. Returns false if nothing was done.
template <class Pool>
Result<bool> BTree<Pool>::lower_root() {
  for (bool is_lower = false;; is_lower = true) {
    // The latch would disturb every descent, so it is taken only where it is needed.
    {
      Descent look(*this, Bytes{}, kRootLevel);
      RETURN_IF_ERROR(look.run());
      const bool has_one_child = !look.node().is_leaf() && look.node().count() == 1;
      if (!look.guard.valid() || !has_one_child) return is_lower;
    }
    ASSIGN_OR_RETURN(LogSpace space, log_.reserve(kPageBytes, 1));
    Descent descent(*this, Bytes{}, kRootLevel);
    RETURN_IF_ERROR(descent.run());
    ExclusiveGuard hold = ExclusiveGuard::upgrade(descent.guard);
    if (!hold) return is_lower;
    if (take_in_only_child(descent.frame(), space)) continue;
    hold.release_unchanged();
    return is_lower;
  }
}

/// Frees the only child of the root, which gets its content, if the child can be had without
/// waiting. The root's page stays, as it does in grow_root(). No fence moves, so no gap changes.
/// Pre: `root_frame` is held exclusively.
template <class Pool>
bool BTree<Pool>::take_in_only_child(Frame& root_frame, LogSpace& space) noexcept {
  Node& root = Node::of(root_frame.page());
  if (root.is_leaf() || root.count() != 1 || root.has_foster()) return false;
  const Hold child_hold = pool_.follow(load_ref(root.child_ref(0)));
  if (child_hold.frame() == nullptr) return false;
  Frame& child_frame = *child_hold.frame();
  ExclusiveGuard child_guard = ExclusiveGuard::try_lock(child_frame.latch);
  if (!child_guard) return false;
  const Node& child = Node::of(child_frame.page());
  // A page that no descent has compared may be old, or another's. While a tree is loaded its right
  // edge is open.
  const bool has_all_keys = !child.has_foster() && child.low_fence().empty() &&
                            child.high_fence().is_infinite() &&
                            child.chain_high_fence().is_infinite();
  if (!child_frame.is_compared() || !has_all_keys) {
    child_guard.release_unchanged();
    return false;
  }
  alignas(8) std::array<std::byte, kPageBytes> bytes;
  Node& lower = Node::of(bytes.data());
  lower.format(root.id(), id(), child.level(), child.fences());
  lower.append_range(child, 0, child.count());
  lower.set_logical_lsn(std::max(root.logical_lsn(), child.logical_lsn()));
  lower.set_owed_bytes(child.owed_bytes());
  const PageStore::MarksGuard marks(pool_.store());
  {
    const payload::PageImagePayload image(bytes.data());
    const Lsn lsn = log_change(space, RecordKind::nodes_merged, root_frame, &child_frame,
                               std::array<Bytes, 1>{image.span()});
    std::memcpy(root_frame.page(), bytes.data(), kPageBytes);
    stamp(root_frame, lsn);
  }
  root_frame.inserts = child_frame.inserts;
  if (root.is_leaf()) ghosts_.records_moved(child.id(), root.id());
  root.for_each_ref([&](PageRef* moved) { pool_.moved(load_ref(moved), root_frame); });
  child_guard.hand_over();
  pool_.free_page(child_frame);
  counters_.root_shrinks.fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace swizzle
