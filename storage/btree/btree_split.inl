// Splits and root growth. Included by btree_<mode>.cpp.
#pragma once

#include "storage/btree/btree.h"

namespace swizzle {

/// Rebuilds `node` without its slots from `index` on: they are the foster child's, which begins at
/// `separator`. Used by the running system and by redo.
inline void shrink_to_left_half(Node& node, std::uint16_t index, Bytes separator,
                                PageRef foster) noexcept {
  node.rebuild({node.low_fence(), KeyBound::at(separator), node.chain_high_fence()}, foster, index);
}

/// The fences of the halves of a node that is cut at `separator`.
inline Node::Fences left_fences(const Node& node, Bytes separator) noexcept {
  return {node.low_fence(), KeyBound::at(separator), node.chain_high_fence()};
}
inline Node::Fences right_fences(const Node& node, Bytes separator) noexcept {
  return {separator, node.high_fence(), node.chain_high_fence()};
}

/// True if each half has room for its records and for what a rollback may put back. A short record
/// may not make up for the fences, which grow by two long keys when a node is cut.
inline bool both_hold(const Node& node, std::uint16_t index, Bytes separator) noexcept {
  // Usually the records that leave make up for the new fence, and the longer half need not be
  // checked.
  const std::size_t prefix = node.prefix().size();
  const std::size_t total = node.used_bytes() - Node::fence_bytes_needed(node.fences());
  const std::size_t shorter = index <= node.count() / 2
                                  ? node.range_bytes(0, index, prefix)
                                  : node.range_bytes(index, node.count(), prefix);
  const std::size_t new_fence = separator.size() + 8;
  if (shorter >= new_fence && total >= shorter + new_fence) return true;
  const auto holds = [&](const Node::Fences& fences, std::uint16_t begin, std::uint16_t end) {
    const std::size_t then = Node::common_prefix(fences.low, fences.chain_high);
    return node.range_bytes(begin, end, then) + Node::fence_bytes_needed(fences) + 8 +
               node.owed_bytes() <=
           kPageBytes - Node::kHeaderBytes;
  };
  return holds(left_fences(node, separator), 0, index) &&
         holds(right_fences(node, separator), index, node.count());
}

/// Chooses where to cut: near the middle of the bytes, or near the end if the page has grown there.
/// If records come in ascending order in the middle of the page, the records after them move away,
/// and the next ones come at the page's end. Records alone always fit when cut in the middle (see
/// node.h's assertion), but with the bytes that rollbacks may put back they may not.
template <class Pool>
typename BTree<Pool>::SplitPoint BTree<Pool>::choose_split(const Frame& frame, Bytes incoming,
                                                           SplitReason reason) const noexcept {
  const Node& node = Node::of(frame.page());
  const std::uint16_t count = node.count();
  INVARIANT(count >= 2);
  const Node::Position at = node.lower_bound(incoming);
  if (reason == SplitReason::full && node.is_leaf() && !at.exact && at.index < count &&
      frame.inserts.goes_on_at(at.index)) {
    const SplitPoint point = cut_behind_run(node, at.index, incoming);
    if (both_hold(node, point.index, point.key())) return point;
  }
  const std::size_t total = node.used_bytes() - Node::fence_bytes_needed(node.fences());
  // Number of bytes that stay in the left node.
  std::size_t wanted = total / 2;
  if (frame.inserts.grows_at_end() && at.index == count) wanted = total * 9 / 10;
  if (frame.inserts.grows_at_begin() && at.index == 0) wanted = total / 10;
  // Separates the writers that contend for the leaf.
  if (reason == SplitReason::contended)
    wanted =
        std::clamp(node.range_bytes(0, at.index, node.prefix().size()), total / 10, total * 9 / 10);
  if (wanted != total / 2) {
    const SplitPoint point = cut_near(node, wanted, total / 50);
    if (both_hold(node, point.index, point.key())) return point;
  }
  const SplitPoint middle = cut_near(node, total / 2, total / 20);
  if (node.owed_bytes() == 0 || both_hold(node, middle.index, middle.key())) [[likely]]
    return middle;
  return cut_for_owed(node);
}

/// Cuts so that about `wanted` bytes stay left: among the cuts near it, the one with the shortest
/// separator.
template <class Pool>
typename BTree<Pool>::SplitPoint BTree<Pool>::cut_near(const Node& node, std::size_t wanted,
                                                       std::size_t tolerance) const noexcept {
  const std::uint16_t count = node.count();
  SplitPoint point{};
  std::array<std::byte, Node::kMaxKeyBytes> before;
  std::array<std::byte, Node::kMaxKeyBytes> after;
  std::size_t left = 0;
  std::size_t best_length = Node::kMaxKeyBytes + 1;
  for (std::uint16_t i = 1; i < count; ++i) {
    left += node.footprint_of(static_cast<std::uint16_t>(i - 1));
    const bool last_chance = best_length > Node::kMaxKeyBytes && left >= wanted;
    const bool near = left + tolerance >= wanted && left <= wanted + tolerance;
    if (!near && !last_chance && !(best_length > Node::kMaxKeyBytes && i + 1 == count)) continue;
    const Bytes low{before.data(), node.copy_key(static_cast<std::uint16_t>(i - 1), before.data())};
    const Bytes high{after.data(), node.copy_key(i, after.data())};
    // A branch child's low fence is its slot's key; a leaf separator is cut to the prefix that
    // distinguishes the neighbours.
    std::size_t length = high.size();
    if (node.is_leaf() && ghosts_.may_cut_before(node, i)) {
      const std::size_t common = Node::common_prefix(low, KeyBound::at(high));
      length = common + 1;
    }
    if (length < best_length) {
      best_length = length;
      point.index = i;
      point.separator_length = static_cast<std::uint16_t>(length);
      std::memcpy(point.separator.data(), high.data(), length);
    }
  }
  INVARIANT(point.index > 0);
  return point;
}

/// Cuts before slot `index`; `before` is the last key that stays left. A branch child's low fence
/// is its slot's key; a leaf separator is cut to the prefix that distinguishes the neighbours.
template <class Pool>
typename BTree<Pool>::SplitPoint BTree<Pool>::cut_between(const Node& node, Bytes before,
                                                          std::uint16_t index) const noexcept {
  SplitPoint point{};
  point.index = index;
  std::size_t length = node.copy_key(index, point.separator.data());
  if (node.is_leaf() && ghosts_.may_cut_before(node, index))
    length = Node::common_prefix(before, KeyBound::at({point.separator.data(), length})) + 1;
  point.separator_length = static_cast<std::uint16_t>(length);
  return point;
}

/// Cuts before `incoming`, which has no slot yet and would come before slot `index`.
template <class Pool>
typename BTree<Pool>::SplitPoint BTree<Pool>::cut_behind_run(const Node& leaf, std::uint16_t index,
                                                             Bytes incoming) const noexcept {
  SplitPoint point = cut_between(leaf, incoming, index);
  point.behind_run = true;
  return point;
}

/// Cuts a leaf so that the fuller half has the most room left, counting the bytes that rollbacks
/// may put back. These may all belong into one half that is small now, far from the middle of the
/// records. Both halves fit: the fuller one has at most half of one page's content, half a record
/// and one fence.
template <class Pool>
typename BTree<Pool>::SplitPoint BTree<Pool>::cut_for_owed(const Node& leaf) const noexcept {
  const std::uint16_t count = leaf.count();
  const std::size_t prefix = leaf.prefix().size();
  const std::size_t all = leaf.range_bytes(0, count, prefix) + ghosts_.owed_bytes(leaf, 0, count);
  SplitPoint best{};
  std::size_t least = SIZE_MAX;
  std::array<std::byte, Node::kMaxKeyBytes> before;
  std::size_t left = 0;
  for (std::uint16_t i = 1; i < count; ++i) {
    const auto last = static_cast<std::uint16_t>(i - 1);
    left += leaf.range_bytes(last, i, prefix) + ghosts_.owed_bytes(leaf, last, i);
    const Bytes low{before.data(), leaf.copy_key(last, before.data())};
    const SplitPoint point = cut_between(leaf, low, i);
    const Node::Fences of_right = right_fences(leaf, point.key());
    // The keys of the right half may share a longer prefix, which is not stored with each of them.
    const std::size_t spared =
        (count - i) * (Node::common_prefix(of_right.low, of_right.chain_high) - prefix);
    const std::size_t fuller =
        std::max(left + Node::fence_bytes_needed(left_fences(leaf, point.key())),
                 all - left - spared + Node::fence_bytes_needed(of_right));
    if (fuller >= least) continue;
    least = fuller;
    best = point;
  }
  return best;
}

/// Moves the upper part of `frame` to a new node, which becomes its foster child and takes over its
/// foster chain. Pre: `frame` is held exclusively.
template <class Pool>
void BTree<Pool>::split(Frame& frame, Preparation& prepared, Bytes incoming,
                        SplitReason reason) noexcept {
  Node& node = Node::of(frame.page());
  const SplitPoint point = choose_split(frame, incoming, reason);
  Frame& new_frame = prepared.page.latch();
  Node& right = Node::of(new_frame.page());
  right.format(prepared.page.id(), id(), node.level(),
               {point.key(), node.high_fence(), node.chain_high_fence()});
  right.set_foster(load_ref(node.foster_ref()));
  right.append_range(node, point.index, node.count());
  right.set_logical_lsn(node.logical_lsn());
  right.set_owed_bytes(node.owed_bytes());
  new_frame.inserts = frame.inserts.split();
  if (point.behind_run) frame.inserts.ends_at_run();

  {
    const PageStore::MarksGuard marks(pool_.store());
    const payload::PageImagePayload image(new_frame.page());
    std::array<std::byte, 2> index;
    store(index.data(), point.index);
    log_change(prepared.space, RecordKind::node_split, frame, &new_frame,
               std::array<Bytes, 2>{image.span(), index});
    prepared.page.publish();
  }
  if (right.is_leaf()) ghosts_.records_moved(node.id(), right.id());
  const PageRef foster = pool_.adopt_new(frame, new_frame);
  right.for_each_ref([&](PageRef* moved) { pool_.moved(load_ref(moved), new_frame); });
  shrink_to_left_half(node, point.index, point.key(), foster);
  new_frame.latch.unlock_exclusive();
  counters_.splits.fetch_add(1, std::memory_order_relaxed);
  if (node.level() > 0) counters_.branch_latches.fetch_add(2, std::memory_order_relaxed);
}

/// Splits a leaf for which writers contend. Leaves small ones alone: there they contend for a key.
template <class Pool>
bool BTree<Pool>::is_contended(const Frame& frame) noexcept {
  return frame.contention.load(std::memory_order_relaxed) >= kContended &&
         Node::of(frame.page()).used_bytes() > kPageBytes / 2 && Node::of(frame.page()).count() > 2;
}

template <class Pool>
Result<> BTree<Pool>::split_contended(Bytes key) {
  Preparation prepared;
  RETURN_IF_ERROR(prepare_new_page(prepared, 0, 1, root_.page));
  Descent descent(*this, key, 0);
  RETURN_IF_ERROR(descent.run());
  ExclusiveGuard hold = ExclusiveGuard::upgrade(descent.guard);
  if (!hold) return {};
  Frame& frame = descent.frame();
  if (!is_contended(frame)) {
    hold.release_unchanged();
    return {};
  }
  frame.contention.store(0, std::memory_order_relaxed);
  split(frame, prepared, key, SplitReason::contended);
  counters_.contention_splits.fetch_add(1, std::memory_order_relaxed);
  return {};
}

/// Formats the root as a branch over the one node that has taken its content.
inline void make_branch_root(Node& root, PageRef child) noexcept {
  const PageId id = root.id();
  const TreeId tree = root.tree();
  const Lsn lsn = root.lsn();
  const Lsn logical = root.logical_lsn();
  const auto level = static_cast<std::uint8_t>(root.level() + 1);
  root.format(id, tree, level, {{}, KeyBound::infinite(), KeyBound::infinite()});
  root.insert_branch(0, {}, child);
  root.set_lsn(lsn);
  root.set_logical_lsn(logical);
}

/// Moves the root's content down into a new node, so that the root's page id stays. Pre: `frame` is
/// the root's and held exclusively.
template <class Pool>
void BTree<Pool>::grow_root(Frame& frame, Preparation& prepared) noexcept {
  Node& root = Node::of(frame.page());
  INVARIANT(root.id() == root_.page);
  Frame& new_frame = prepared.page.latch();
  Node& child = Node::of(new_frame.page());
  child.format(prepared.page.id(), id(), root.level(), root.fences());
  child.set_foster(load_ref(root.foster_ref()));
  child.append_range(root, 0, root.count());
  child.set_logical_lsn(root.logical_lsn());
  child.set_owed_bytes(root.owed_bytes());
  new_frame.inserts = frame.inserts;
  {
    const PageStore::MarksGuard marks(pool_.store());
    const payload::PageImagePayload image(new_frame.page());
    log_change(prepared.space, RecordKind::root_grown, frame, &new_frame,
               std::array<Bytes, 1>{image.span()});
    prepared.page.publish();
  }
  if (child.is_leaf()) ghosts_.records_moved(root.id(), child.id());
  const PageRef reference = pool_.adopt_new(frame, new_frame);
  child.for_each_ref([&](PageRef* moved) { pool_.moved(load_ref(moved), new_frame); });
  make_branch_root(root, reference);
  new_frame.latch.unlock_exclusive();
  counters_.root_growths.fetch_add(1, std::memory_order_relaxed);
  counters_.branch_latches.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace swizzle
