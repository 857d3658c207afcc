// Building a tree from sorted records. Included by btree_<mode>.cpp.
#pragma once

#include "storage/btree/btree.h"

namespace swizzle {

template <class Pool>
Result<bool> BTree<Pool>::is_blank() {
  bool blank = false;
  Descent descent(*this, Bytes{}, kRootLevel);
  do {
    RETURN_IF_ERROR(descent.run());
    const Node& root = descent.node();
    blank = root.is_leaf() && root.count() == 0 && !root.has_foster();
  } while (!descent.guard.valid());
  return blank;
}

template <class Pool>
Result<TreeId> BTree<Pool>::owner_of_root() {
  TreeId owner{};
  Descent descent(*this, Bytes{}, kRootLevel);
  descent.expects = Descent::Expects::anything;
  // The page may belong to another tree by now, in which it must stay with the changes that the
  // disk lacks. A page read with Interest::once gets no address in this tree's root holder.
  descent.interest = Interest::once;
  do {
    RETURN_IF_ERROR(descent.run());
    owner = descent.node().tree();
  } while (!descent.guard.valid());
  return owner;
}

/// Fills a new leaf. Its records have no versions: the tree's birth decides which snapshots see
/// them.
inline void fill_leaf(Node& leaf, PageId page, TreeId tree, const LeafContent& content) noexcept {
  leaf.format(page, tree, 0, {content.low, content.high, content.high});
  leaf.fill_leaf(content.records);
}

template <class Pool>
Result<> BTree<Pool>::append_leaf(const LeafContent& content) {
  if (content.low.empty() && content.high.is_infinite()) return fill_root(content);
  PageId near = root_.page;
  while (true) {
    Preparation prepared;
    RETURN_IF_ERROR(prepare_new_page(prepared, kPageBytes, 1, near));
    Descent descent(*this, content.low, 1);
    RETURN_IF_ERROR(descent.run());
    ExclusiveGuard hold = ExclusiveGuard::upgrade(descent.guard);
    if (!hold) continue;
    Frame& frame = descent.frame();
    Node& parent = Node::of(frame.page());
    if (parent.is_leaf()) {
      root_from_leaf(frame, prepared, content);
      return {};
    }
    if (parent.has_room(content.low.size(), 0)) {
      append_child(frame, prepared, content);
      return {};
    }
    near = parent.id();
    hold.release_unchanged();
    prepared = Preparation{};
    RETURN_IF_ERROR(split_last_parent(content.low));
  }
}

/// Loads a tree of one leaf: its records go into the root.
template <class Pool>
Result<> BTree<Pool>::fill_root(const LeafContent& content) {
  ASSIGN_OR_RETURN(LogSpace space, log_.reserve(kPageBytes, 1));
  Descent descent(*this, Bytes{}, kRootLevel);
  while (true) {
    RETURN_IF_ERROR(descent.run());
    const ExclusiveGuard hold = ExclusiveGuard::upgrade(descent.guard);
    if (!hold) continue;
    Frame& frame = descent.frame();
    Node& root = Node::of(frame.page());
    const Lsn lsn = root.lsn();
    INVARIANT(root.is_leaf() && root.count() == 0);
    fill_leaf(root, root_.page, id(), content);
    root.set_lsn(lsn);
    const payload::PageImagePayload image(frame.page());
    log_change(space, RecordKind::page_image, frame, nullptr, std::array<Bytes, 1>{image.span()});
    return {};
  }
}

/// Adds the first leaf: the empty root becomes a branch over it. Pre: `frame` is the root's and
/// held.
template <class Pool>
void BTree<Pool>::root_from_leaf(Frame& frame, Preparation& prepared,
                                 const LeafContent& content) noexcept {
  Node& root = Node::of(frame.page());
  INVARIANT(root.id() == root_.page && root.count() == 0);
  Frame& new_frame = prepared.page.latch();
  fill_leaf(Node::of(new_frame.page()), prepared.page.id(), id(), content);
  {
    const PageStore::MarksGuard marks(pool_.store());
    const payload::PageImagePayload image(new_frame.page());
    log_change(prepared.space, RecordKind::root_grown, frame, &new_frame,
               std::array<Bytes, 1>{image.span()});
    prepared.page.publish();
  }
  make_branch_root(root, pool_.adopt_new(frame, new_frame));
  new_frame.latch.unlock_exclusive();
  counters_.root_growths.fetch_add(1, std::memory_order_relaxed);
}

/// Adds a leaf. Pre: `parent_frame` is the rightmost node above the leaves, held, with room.
template <class Pool>
void BTree<Pool>::append_child(Frame& parent_frame, Preparation& prepared,
                               const LeafContent& content) noexcept {
  Node& parent = Node::of(parent_frame.page());
  INVARIANT(parent.lower_bound(content.low).index == parent.count());
  Frame& new_frame = prepared.page.latch();
  fill_leaf(Node::of(new_frame.page()), prepared.page.id(), id(), content);
  {
    const PageStore::MarksGuard marks(pool_.store());
    const payload::PageImagePayload image(new_frame.page());
    log_change(prepared.space, RecordKind::child_appended, parent_frame, &new_frame,
               std::array<Bytes, 1>{image.span()});
    prepared.page.publish();
  }
  parent_frame.inserts.note(parent.count(), parent.count());
  parent.insert_branch(parent.count(), content.low, pool_.adopt_new(parent_frame, new_frame));
  // A large load is not expected to be read at once.
  new_frame.usage.store(0, std::memory_order_relaxed);
  new_frame.latch.unlock_exclusive();
}

/// Makes room for one more child at the right edge.
template <class Pool>
Result<> BTree<Pool>::split_last_parent(Bytes key) {
  Preparation prepared;
  RETURN_IF_ERROR(prepare_new_page(prepared, 0, 1, root_.page));
  {
    Descent descent(*this, key, 1);
    RETURN_IF_ERROR(descent.run());
    const ExclusiveGuard hold = ExclusiveGuard::upgrade(descent.guard);
    if (!hold) return {};  // the caller tries again
    split(descent.frame(), prepared, key);
  }
  prepared = Preparation{};
  return adopt(key, 1, Insistence::until_adopted);
}

}  // namespace swizzle
