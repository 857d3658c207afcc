// Changing one record. Included by btree_<mode>.cpp.
#pragma once

#include "base/common_bytes.h"
#include "storage/btree/btree.h"

namespace swizzle {

template <class Pool>
BTree<Pool>::BTree(Pool& pool, TreeLog& log, GhostKeeper& ghosts, TreeId id, PageId root)
    : pool_(pool), log_(log), ghosts_(ghosts), root_(id, root) {
  pool_.register_root(root_);
}

template <class Pool>
BTree<Pool>::~BTree() {
  pool_.unregister_root(root_);
}

template <class Pool>
Result<std::unique_ptr<BTree<Pool>>> BTree<Pool>::create(Pool& pool, TreeLog& log,
                                                         GhostKeeper& ghosts, TreeId id,
                                                         TransactionChain* creator) {
  ASSIGN_OR_RETURN(NewPage page, pool.new_page(std::nullopt));
  ASSIGN_OR_RETURN(LogSpace space, log.reserve(kPageBytes, 1));
  auto tree = std::make_unique<BTree>(pool, log, ghosts, id, page.id());

  Frame& frame = page.latch();
  Node& root = Node::of(frame.page());
  root.format(page.id(), id, 0, {{}, KeyBound::infinite(), KeyBound::infinite()});
  {
    const PageStore::MarksGuard marks(pool.store());
    const payload::PageImagePayload image(frame.page());
    const std::array<Bytes, 1> parts{image.span()};
    TreeLog::Change change{RecordKind::page_image, creator, &frame, nullptr, id};
    stamp(frame, log.append(space, change, parts));
    page.publish();
  }
  const ExclusiveGuard holder(tree->root_.latch);
  store_ref(&tree->root_.reference, pool.adopt_new(tree->root_, frame));
  frame.latch.unlock_exclusive();
  return tree;
}

template <class Pool>
void BTree<Pool>::stamp(Frame& frame, Lsn lsn) noexcept {
  Node::of(frame.page()).set_lsn(lsn);
  frame.mark_dirty(lsn);
}

template <class Pool>
Lsn BTree<Pool>::log_change(LogSpace& space, RecordKind kind, Frame& page, Frame* page2,
                            std::span<const Bytes> payload) noexcept {
  const TreeLog::Change change{kind, nullptr, &page, page2, id()};
  const Lsn lsn = log_.append(space, change, payload);
  stamp(page, lsn);
  if (page2 != nullptr) stamp(*page2, lsn);
  return lsn;
}

template <class Pool>
Result<typename BTree<Pool>::Preparation> BTree<Pool>::prepare(std::size_t payload_bytes,
                                                               std::size_t records,
                                                               wal::ReservePurpose purpose) {
  ASSIGN_OR_RETURN(LogSpace space, log_.reserve(payload_bytes, records, purpose));
  return Preparation{std::move(space), NewPage{}};
}

template <class Pool>
Result<> BTree<Pool>::prepare_new_page(Preparation& prepared, std::size_t payload_bytes,
                                       std::size_t records, PageId near,
                                       wal::ReservePurpose purpose) {
  // The new page's image, and a removal of ghosts before it.
  constexpr std::size_t kStructureBytes = kPageBytes + 2 * Node::kMaxSlots;
  prepared.space = LogSpace{};
  ASSIGN_OR_RETURN(prepared.page, pool_.new_page(near));
  ASSIGN_OR_RETURN(prepared.space,
                   log_.reserve(payload_bytes + kStructureBytes, records + 2, purpose));
  return {};
}

template <class Pool>
Result<> BTree<Pool>::change(Bytes key, TransactionChain* transaction, LeafChange& change,
                             LeafHint* hint) {
  INVARIANT(!key.empty() && key.size() <= Node::kMaxKeyBytes);
  const std::size_t payload_bytes =
      payload::kMaxHeadBytes + key.size() + change.max_value_bytes() + Node::kMaxInlineBytes;
  // A rollback must find room where new work must not.
  const auto purpose =
      transaction != nullptr && transaction->is_undoing.load(std::memory_order_relaxed)
          ? wal::ReservePurpose::completion
          : wal::ReservePurpose::growth;
  ASSIGN_OR_RETURN(Preparation prepared, prepare(payload_bytes, 1, purpose));
  Descent descent(*this, key, 0);
  descent.hint = hint;
  bool contended = false;
  while (true) {
    RETURN_IF_ERROR(descent.run());
    ExclusiveGuard hold = ExclusiveGuard::upgrade(descent.guard);
    if (!hold) {
      descent.frame().contention.fetch_add(1, std::memory_order_relaxed);
      descent.disturbed();
      continue;
    }
    Frame& frame = descent.frame();
    contended = is_contended(frame);
    if (change_latched(frame, key, transaction, change, prepared.space) == Outcome::done) {
      if (hint != nullptr) hint->remember(id(), key, frame, frame.latch.next_version());
      break;
    }
    if (prepared.page) {
      // If removing ghosts made room, the new page is kept for the next try, or given back.
      if (remove_ghosts(frame, prepared.space) == 0) split(frame, prepared, key);
      prepared.space = LogSpace{};
      hold.release();
      ASSIGN_OR_RETURN(prepared, prepare(payload_bytes, 1, purpose));
      continue;
    }
    const PageId near = Node::of(frame.page()).id();
    hold.release_unchanged();
    RETURN_IF_ERROR(prepare_new_page(prepared, payload_bytes, 1, near, purpose));
  }
  prepared = Preparation{};
  if (contended) [[unlikely]]
    // An error (a full log, no free page) leaves the leaf for another writer.
    if (!split_contended(key)) counters_.adoptions_refused.fetch_add(1, std::memory_order_relaxed);
  if (descent.saw_foster) [[unlikely]]
    tidy_after(descent, key);
  return {};
}

template <class Pool>
typename BTree<Pool>::Outcome BTree<Pool>::change_latched(Frame& frame, Bytes key,
                                                          TransactionChain* transaction,
                                                          LeafChange& change, LogSpace& space) {
  Node& leaf = Node::of(frame.page());
  const Node::Position at = leaf.lower_bound(key);
  const LeafChange::Action action = change.decide(leaf, at);
  using Action = LeafChange::Action;
  if (action == Action::leave) return Outcome::done;
  const bool has_value = action == Action::insert || action == Action::update;
  if (has_value) {
    const std::size_t bytes = change.value().bytes.size();
    INVARIANT(key.size() + bytes <= Node::kMaxInlineBytes);
    if (!may_grow(leaf, leaf.growth(at, key.size(), bytes), transaction))
      return Outcome::needs_node;
  }
  apply(frame, key, at, transaction, change, action, space);
  return Outcome::done;
}

/// True if the leaf can grow without using the room reserved for rollbacks. The leaf's reservation
/// is only an upper bound, so if it is in the way the exact bytes are counted. A rollback therefore
/// never needs a new page, which there may not be.
template <class Pool>
bool BTree<Pool>::may_grow(Node& leaf, std::size_t growth,
                           const TransactionChain* transaction) noexcept {
  const std::size_t free = leaf.free_bytes();
  if (growth == 0 || growth + leaf.owed_bytes() <= free) [[likely]]
    return true;
  if (growth > free) return false;
  if (transaction != nullptr && transaction->is_undoing.load(std::memory_order_relaxed))
    return true;
  leaf.set_owed_bytes(ghosts_.owed_bytes(leaf, 0, leaf.count()));
  return growth + leaf.owed_bytes() <= free;
}

template <class Pool>
void BTree<Pool>::note_length(Node& leaf, const TransactionChain* transaction, std::size_t before,
                               std::size_t after) noexcept {
  if (transaction == nullptr || after == before) return;
  leaf.note_length(transaction->is_undoing.load(std::memory_order_relaxed)
                       ? Node::ChangedBy::rollback
                       : Node::ChangedBy::transaction,
                   before, after);
}

namespace detail {

/// Returns the changed part of a value: both values without the bytes that they share at the ends.
inline payload::LeafUpdate difference(Bytes key, Bytes old_value, bool old_overflow,
                                      LeafChange::Value value) noexcept {
  const std::size_t front = common_front(old_value, value.bytes);
  const std::size_t back = common_back(old_value.subspan(front), value.bytes.subspan(front));
  return {key,
          static_cast<std::uint16_t>(front),
          old_value.subspan(front, old_value.size() - front - back),
          value.bytes.subspan(front, value.bytes.size() - front - back),
          old_overflow,
          value.overflow};
}

}  // namespace detail

template <class Pool>
void BTree<Pool>::apply(Frame& frame, Bytes key, Node::Position at, TransactionChain* transaction,
                        LeafChange& change, LeafChange::Action action, LogSpace& space) noexcept {
  using Action = LeafChange::Action;
  Node& leaf = Node::of(frame.page());
  const auto log = [&](RecordKind kind, std::span<const Bytes> parts) {
    const TreeLog::Change record{kind, transaction, &frame, nullptr, id()};
    const Lsn lsn = log_.append(space, record, parts);
    change.logged(leaf, at, lsn);
    stamp(frame, lsn);
    leaf.set_logical_lsn(lsn);
  };
  const LeafChange::Value value =
      action == Action::insert || action == Action::update ? change.value() : LeafChange::Value{};
  switch (action) {
    case Action::leave:
      break;
    case Action::insert: {
      INVARIANT(!at.exact || leaf.is_ghost(at.index));
      const payload::Head head = head_of(payload::LeafRow{key, value.bytes, value.overflow});
      log(RecordKind::leaf_insert, std::array<Bytes, 3>{head.span(), key, value.bytes});
      const Node::Flags flags{Node::Ghost::no, value.overflow};
      frame.inserts.note(at.index, leaf.count());
      if (at.exact) {
        note_length(leaf, transaction, leaf.value(at.index).size(), value.bytes.size());
        leaf.replace_value(at.index, value.bytes, flags);
      } else {
        leaf.insert_leaf(at.index, key, value.bytes, flags);
      }
      break;
    }
    case Action::update: {
      INVARIANT(at.exact && !leaf.is_ghost(at.index));
      const Bytes old_value = leaf.value(at.index);
      const payload::LeafUpdate update =
          detail::difference(key, old_value, leaf.is_overflow(at.index), value);
      const payload::Head head = head_of(update);
      log(RecordKind::leaf_update,
          std::array<Bytes, 4>{head.span(), key, update.old_part, update.new_part});
      note_length(leaf, transaction, old_value.size(), value.bytes.size());
      leaf.replace_value(at.index, value.bytes, {Node::Ghost::no, value.overflow});
      break;
    }
    case Action::remove: {
      INVARIANT(at.exact && !leaf.is_ghost(at.index));
      const Bytes old_value = leaf.value(at.index);
      const payload::Head head =
          head_of(payload::LeafRow{key, old_value, leaf.is_overflow(at.index)});
      log(RecordKind::leaf_remove, std::array<Bytes, 3>{head.span(), key, old_value});
      leaf.set_ghost(at.index, Node::Ghost::yes);
      break;
    }
  }
}

template <class Pool>
Result<> BTree<Pool>::remove(LeafRemovals& removals, TransactionChain* transaction,
                             LeafHint* hint) {
  const Bytes key = removals.first_key();
  ASSIGN_OR_RETURN(LogSpace space, log_.reserve(removals.max_payload_bytes(), 1));
  Descent descent(*this, key, 0);
  descent.hint = hint;
  while (true) {
    RETURN_IF_ERROR(descent.run());
    const ExclusiveGuard hold = ExclusiveGuard::upgrade(descent.guard);
    if (!hold) {
      descent.frame().contention.fetch_add(1, std::memory_order_relaxed);
      descent.disturbed();
      continue;
    }
    Frame& frame = descent.frame();
    remove_latched(frame, removals, transaction, space);
    if (hint != nullptr) hint->remember(id(), key, frame, frame.latch.next_version());
    break;
  }
  space = LogSpace{};
  if (descent.saw_foster) [[unlikely]]
    tidy_after(descent, key);
  return {};
}

template <class Pool>
void BTree<Pool>::remove_latched(Frame& frame, LeafRemovals& removals,
                                 TransactionChain* transaction, LogSpace& space) noexcept {
  Node& leaf = Node::of(frame.page());
  const std::array<Bytes, 1> payload{removals.decide(leaf)};
  if (payload.front().empty()) return;
  const TreeLog::Change record{RecordKind::leaf_removals, transaction, &frame, nullptr, id()};
  const Lsn lsn = log_.append(space, record, payload);
  removals.logged(leaf, lsn);
  stamp(frame, lsn);
  leaf.set_logical_lsn(lsn);
  for (const std::uint16_t slot : removals.slots()) leaf.set_ghost(slot, Node::Ghost::yes);
}

template <class Pool>
std::uint32_t BTree<Pool>::remove_ghosts(Frame& frame, LogSpace& space) noexcept {
  Node& leaf = Node::of(frame.page());
  if (leaf.ghost_count() == 0) return 0;
  std::array<std::uint16_t, Node::kMaxSlots> removable;
  std::uint16_t count = 0;
  for (std::uint16_t i = 0; i < leaf.count(); ++i)
    if (leaf.is_ghost(i) && ghosts_.may_remove(leaf, i)) removable[count++] = i;
  if (count == 0) return 0;
  const std::array<Bytes, 1> parts{std::as_bytes(std::span(removable.data(), count))};
  log_change(space, RecordKind::ghosts_removed, frame, nullptr, parts);
  for (std::uint16_t i = count; i > 0; --i) leaf.erase(removable[i - 1U]);
  counters_.ghosts_removed.fetch_add(count, std::memory_order_relaxed);
  return count;
}

template <class Pool>
Result<> BTree<Pool>::tidy(Bytes key) {
  std::size_t left = 0;
  {
    ASSIGN_OR_RETURN(LogSpace space, log_.reserve(2 * Node::kMaxSlots, 1));
    Descent descent(*this, key, 0);
    while (true) {
      RETURN_IF_ERROR(descent.run());
      ExclusiveGuard hold = ExclusiveGuard::upgrade(descent.guard);
      if (!hold) {
        descent.disturbed();
        continue;
      }
      const std::uint32_t removed = remove_ghosts(descent.frame(), space);
      left = descent.node().used_bytes();
      if (removed == 0) hold.release_unchanged();
      break;
    }
  }
  if (left >= kUnderfullBytes) return {};
  RETURN_IF_ERROR(merge_underfull(key, 0));
  RETURN_IF_ERROR(lower_root());
  return {};
}

}  // namespace swizzle
