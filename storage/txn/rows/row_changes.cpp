#include "storage/txn/rows/row_changes.h"

#include <cstring>

#include "storage/engine_parts.h"
#include "storage/txn/planted_fault.h"
#include "storage/txn/rows/any_tree.h"

namespace swizzle {
namespace {

SettledLeaves::Change change_of(bool removes) noexcept {
  return removes ? SettledLeaves::Change::removal : SettledLeaves::Change::any;
}

}  // namespace

lock::LockId gap_before(TreeId tree, const Node& leaf, std::uint16_t index) noexcept {
  if (index == 0) return {tree, hash_of_key(tree, leaf.low_fence())};
  std::array<std::byte, Node::kMaxKeyBytes> key;
  const auto before = static_cast<std::uint16_t>(index - 1);
  return {tree, hash_of_key(tree, {key.data(), leaf.copy_key(before, key.data())})};
}

/// Returns the lock mode: only an insert or a removal of the key needs the key itself. An insert
/// that finds its key there waits for a transaction that is changing the record, as the next
/// statement of most callers would.
lock::KeyMode RowChange::lock_mode(bool is_live) const noexcept {
  const bool key_stays = wish_ == Wish::update || (wish_ == Wish::insert && is_live);
  return key_stays ? lock::kChangeContent : lock::kWriteKey;
}

LeafChange::Action RowChange::leave_because(Obstacle obstacle, lock::LockId id) noexcept {
  obstacle_ = obstacle;
  obstacle_id_ = id;
  return Action::leave;
}

/// True if the transaction may change the key. A transaction without key locks needs none if no
/// other owner has one: its undo record, which is added before the latch is released, excludes
/// others. It locks a key that it does not change, so that the answer stays true.
bool RowChange::claim(bool is_live, bool is_unmarked) noexcept {
  const lock::LockId id{tree_, hash_};
  bool has_it = false;
  if (transaction_.versions.has_marks()) [[unlikely]] {
    const VersionIndex::Mark mark =
        is_unmarked ? VersionIndex::Mark{} : transaction_.mark_of(tree_, key_, hash_, leaf_);
    if (mark.excludes(key_mode_.key)) {
      holder_ = mark.holder;
      leave_because(Obstacle::transaction);
      return false;
    }
    if (transaction_.marks_rows && is_live != (wish_ == Wish::insert))
      has_it = (mark.is_own && implies(mark.access, key_mode_.key)) ||
               transaction_.locks.is_free(id, key_mode_) ||
               planted(PlantedFault::mark_ignores_locks);
    else
      has_it = transaction_.locks.try_acquire(id, key_mode_);
  } else {
    has_it = transaction_.locks.try_acquire(id, key_mode_);
  }
  if (!has_it) leave_because(Obstacle::key, id);
  return has_it;
}

/// True if the gap that a new key would split is not locked by others. If the transaction itself
/// has locked the gap it must lock the new key's gap too, or the part after the key would be open
/// to others (P7).
bool RowChange::gap_allows(const Node& leaf, Node::Position at) noexcept {
  const lock::LockId gap = gap_before(tree_, leaf, at.index);
  lock::LockOwner& locks = transaction_.locks;
  if (!locks.gap_is_free(gap)) {
    leave_because(Obstacle::gap, gap);
    return false;
  }
  const lock::Access own = locks.held(gap).gap;
  if (own == lock::Access::none || planted(PlantedFault::insert_does_not_inherit)) return true;
  const lock::LockId id{tree_, hash_};
  if (locks.try_acquire(id, {lock::Access::none, own})) return true;
  leave_because(Obstacle::gap, id);
  return false;
}

bool RowChange::is_required(const Node& leaf, Node::Position at) const noexcept {
  if (!required_ || planted(PlantedFault::removal_does_not_compare)) return true;
  if (leaf.is_overflow(at.index) || compare(leaf.value(at.index), *required_) != 0) return false;
  // Another record with the same value may have been inserted here. At other levels the key has
  // been locked since it was read, or is_late() has answered.
  return is_settled_ || transaction_.isolation != Isolation::read_committed ||
         transaction_.engine.versions.fate(tree_, key_, hash_, viewer_) == Tree::Fate::stays;
}

/// At REPEATABLE READ: true if another transaction has changed, or removed, the record that the
/// transaction's snapshot shows.
bool RowChange::is_late(bool is_live) const noexcept {
  if (!keeps_snapshot(transaction_.isolation) || !obeys_snapshot_) return false;
  VersionIndex& versions = transaction_.engine.versions;
  const bool late = is_live ? versions.changed_since(tree_, key_, hash_, leaf_, viewer_)
                            : versions.had_one(tree_, key_, hash_, leaf_, viewer_) ||
                                  versions.had_one(tree_, key_, hash_, leaf_, shown_);
  return late || transaction_.is_too_old();
}

/// True if the snapshot shows a removed record that an insert would replace. A key has one record,
/// so the snapshot would lose the old one, and index entries that it sees would lead to the new
/// one.
bool RowChange::would_hide() const noexcept {
  return keeps_snapshot(transaction_.isolation) && obeys_snapshot_ &&
         transaction_.engine.versions.had_one(tree_, key_, hash_, leaf_, viewer_);
}

/// True if no reader needs an older version of the record, and it has no mark (T17).
bool RowChange::is_settled(const Node& leaf, Node::Position at, bool is_live) const noexcept {
  return transaction_.settled_leaves.has(leaf, at.index,
                                         change_of(is_live && wish_ == Wish::remove)) ||
         leaf.logical_lsn() < transaction_.settled_below();
}

/// True if versions of the key have to be paged in first. Other transactions may swap them out
/// again and again: after a few tries they are read under the latch.
bool RowChange::is_swapped_out() const noexcept {
  constexpr unsigned kMost = 3;
  return reads_back_ < kMost &&
         transaction_.engine.versions.first_swapped_out(hash_, leaf_) != nullptr;
}

/// Tells serializable transactions that have read what changes here. An insert of a new key keeps
/// their marks on both parts of the gap.
bool RowChange::conflicts_allow(const Node& leaf, Node::Position at) noexcept {
  TransactionConflicts& conflicts = transaction_.conflicts;
  const lock::LockId id{tree_, hash_};
  if (at.exact)
    verdict_ = conflicts.writes_key(id);
  else if (conflicts.matter_to_inserts())
    verdict_ = conflicts.inserts(gap_before(tree_, leaf, at.index), id);
  else
    return true;
  return verdict_ == TransactionConflicts::Verdict::fine;
}

LeafChange::Action RowChange::decide(const Node& leaf, Node::Position at) noexcept {
  done_ = false;
  leaf_ = leaf.id();
  const bool is_live = at.exact && !leaf.is_ghost(at.index);
  key_mode_ = lock_mode(is_live);
  is_settled_ = transaction_.marks_rows && is_settled(leaf, at, is_live);
  if (at.exact && is_swapped_out()) [[unlikely]]
    return leave_because(Obstacle::swapped_out);
  // A key that the leaf does not have, not even as a ghost, has no changes of others.
  const bool is_unmarked = is_settled_ || !at.exact || transaction_.is_unmarked(leaf, at.index);
  if (transaction_.engine.options.locking && !claim(is_live, is_unmarked)) return Action::leave;
  if (wish_ == Wish::insert) {
    if (is_live) {
      if (transaction_.conflicts.marks(tree_))
        transaction_.conflicts.read({tree_, hash_}, lock::ReadPart::key);
      return leave_because(Obstacle::none);
    }
    if (at.exact && would_hide()) return leave_because(Obstacle::version);
    if (!at.exact && transaction_.engine.options.locking && !gap_allows(leaf, at))
      return Action::leave;
  } else {
    if (is_late(is_live)) return leave_because(Obstacle::version);
    if (!is_live) return leave_because(Obstacle::none);
    if (!is_required(leaf, at)) return leave_because(Obstacle::none);
  }
  if (!conflicts_allow(leaf, at)) return leave_because(Obstacle::conflict);
  leave_because(Obstacle::none);
  done_ = true;
  switch (wish_) {
    case Wish::insert:
      return Action::insert;
    case Wish::update:
      return Action::update;
    case Wish::remove:
      return Action::remove;
  }
  return Action::leave;
}

void RowChange::logged(const Node& leaf, Node::Position at, Lsn lsn) noexcept {
  UndoLog::Change change{UndoRecord::Kind::inserted, tree_,        hash_, key_, {}, false,
                         transaction_.statement,     previous_lsn_};
  if (wish_ != Wish::insert) {
    change.kind = wish_ == Wish::update ? UndoRecord::Kind::updated : UndoRecord::Kind::removed;
    if (moves_) change.kind = UndoRecord::Kind::moved;
    // Records that the key lock will not be kept. A removal takes the key anyway.
    change.takes_key = transaction_.marks_rows && wish_ == Wish::update &&
                       transaction_.locks.held({tree_, hash_}).key == lock::Access::exclusive;
    change.old_value = leaf.value(at.index);
    change.old_overflow = leaf.is_overflow(at.index);
    if (change.old_overflow) {
      old_overflow_.emplace();
      std::memcpy(old_overflow_->data(), change.old_value.data(), old_overflow_->size());
    }
  }
  if (wish_ != Wish::remove) change.new_bytes = value_.bytes.size();
  UndoRecord& record = transaction_.undo->add(change);
  if (!at.exact)
    transaction_.engine.versions.add_first(record);
  else if (is_settled_)
    transaction_.engine.versions.add_over_settled(record, leaf.id());
  else
    transaction_.engine.versions.add(record, leaf.id());
  if (is_settled_)
    transaction_.settled_leaves.note(leaf, at.index, change_of(wish_ == Wish::remove), lsn);
  previous_lsn_ = lsn;
}

Result<> RowChange::begin(AnyTree& tree, WaitPolicy policy) {
  RETURN_IF_ERROR(transaction_.begin_writing());
  RETURN_IF_ERROR(transaction_.intend(tree_, lock::TableMode::intent_exclusive, policy));
  RETURN_IF_ERROR(tree.birth().require_loaded());
  if (keeps_snapshot(transaction_.isolation)) {
    viewer_ = transaction_.own_viewer(tree.birth());
    shown_ = transaction_.shown_viewer(tree.birth());
  } else if (required_) {
    viewer_ = transaction_.viewer(transaction_.view_of(tree.birth()));
  }
  transaction_.mark_rows_if_many();
  if (transaction_.marks_rows && transaction_.settled_below() != Lsn::none)
    transaction_.settled_leaves.prepare(transaction_.undo->count());
  return {};
}

Result<bool> RowChange::run(AnyTree& tree, WaitPolicy policy) {
  RETURN_IF_ERROR(begin(tree, policy));
  // Makes room before anything changes, since the old value is copied under the leaf's latch.
  const std::size_t old_bytes = wish_ == Wish::insert ? 0 : Node::kMaxInlineBytes;
  RETURN_IF_ERROR(transaction_.undo->prepare(key_.size() + old_bytes));
  transaction_.engine.versions.prefetch(hash_);
  // The other changes have locked the key already.
  if (wish_ == Wish::insert || required_) transaction_.locks.prefetch({tree_, hash_});
  const lock::LockMark before = transaction_.locks.mark();
  while (true) {
    previous_lsn_ = transaction_.slot.chain.last.load(std::memory_order_relaxed);
    ++transaction_.leaf_requests;
    RETURN_IF_ERROR(
        tree.change(key_, &transaction_.slot.chain, *this, &transaction_.hint_for(tree_)));
    if (obstacle_ == Obstacle::none) [[likely]] {
      if (done_ && transaction_.marks_rows) release_marked();
      return done_;
    }
    if (obstacle_ == Obstacle::version) {
      RETURN_IF_ERROR(transaction_.check_snapshot());
      return fail(transaction_.retryable(
          transaction_.engine.versions.conflict(tree_, key_, hash_, viewer_)));
    }
    if (obstacle_ == Obstacle::conflict)
      return fail(transaction_.retryable(lock::SerializableConflicts::error_of(verdict_)));
    if (obstacle_ == Obstacle::swapped_out) {
      ++reads_back_;
      transaction_.engine.versions.page_in(hash_, leaf_);
      continue;
    }
    // Release the key before waiting for a transaction that marks rows: it may need more access to
    // the key, and must not wait for a waiter.
    if (obstacle_ == Obstacle::transaction) transaction_.locks.release_to(before);
    ASSIGN_OR_RETURN(const lock::Acquired acquired, wait_for_obstacle(policy));
    if (acquired == lock::Acquired::skipped) return false;
  }
}

Result<lock::Acquired> RowChange::wait_for_obstacle(WaitPolicy policy) {
  lock::LockOwner& locks = transaction_.locks;
  const lock::LockWait wait = transaction_.wait(policy);
  if (obstacle_ == Obstacle::transaction) return locks.wait_for_transaction(holder_, wait);
  if (obstacle_ == Obstacle::gap)
    return locks.wait_until_free(obstacle_id_, lock::kInsertIntoGap, wait);
  return locks.acquire(obstacle_id_, key_mode_, wait);
}

/// Releases the key lock that the undo record replaces.
void RowChange::release_marked() noexcept {
  const lock::Access access = transaction_.undo->newest()->access();
  transaction_.locks.release_last({tree_, hash_}, {access, lock::Access::none});
}

LeafChange::Action UndoChange::decide(const Node& leaf, Node::Position at) noexcept {
  const auto action_if = [this](bool fits, Action action) {
    fits_ = fits;
    return fits ? action : Action::leave;
  };
  // The rolled back transaction has the key locked, so the record is as that transaction left it,
  // unless the page has lost a write.
  const bool is_live = at.exact && !leaf.is_ghost(at.index);
  switch (undone_) {
    case UndoRecord::Kind::inserted:
      return action_if(is_live, Action::remove);
    case UndoRecord::Kind::updated:
      return action_if(is_live, Action::update);
    case UndoRecord::Kind::removed:
    case UndoRecord::Kind::moved:
    case UndoRecord::Kind::removed_run:
      return action_if(at.exact && !is_live, Action::insert);
    case UndoRecord::Kind::load_begun:  // a load is undone as a whole
      break;
  }
  return Action::leave;
}

void UndoChange::logged(const Node& /*leaf*/, Node::Position /*at*/, Lsn /*lsn*/) noexcept {
  // The leaf is latched until the old state is restored, so no reader misses the version meanwhile.
  if (record_ != nullptr) versions_.undone(*record_);
}

}  // namespace swizzle
