// Tree: operations of a transaction on single records.
#include <cstring>

#include "storage/engine_parts.h"
#include "storage/txn/rows/overflow.h"
#include "storage/txn/rows/point_read.h"
#include "storage/txn/rows/row_changes.h"
#include "storage/txn/transaction_access.h"

namespace swizzle {
namespace {

/// Returns the key lock of a locking read.
lock::KeyMode lock_of(ReadMode mode) noexcept {
  switch (mode) {
    case ReadMode::for_key_share:
      return lock::kKeepKey;
    case ReadMode::snapshot:  // at SERIALIZABLE
    case ReadMode::for_share:
      return lock::kReadKey;
    case ReadMode::for_no_key_update:
      return lock::kChangeContent;
    case ReadMode::for_update:
      break;
  }
  return lock::kWriteKey;
}

/// Takes the locks of a SERIALIZABLE read: on the key, or, if it does not exist, on the gap in
/// which it would be.
class LockForRead final : public LeafVisitor {
 public:
  LockForRead(TransactionState& transaction, TreeId tree) noexcept
      : transaction_(transaction), tree_(tree) {}
  void visit(const Node& leaf, Node::Position at) noexcept override {
    blocked_ = false;
    if (at.exact) return;  // The key's own lock, which the caller has, suffices.
    gap_ = gap_before(tree_, leaf, at.index);
    blocked_ = !transaction_.locks.try_acquire(gap_, lock::kReadGap);
  }
  [[nodiscard]] bool blocked() const noexcept { return blocked_; }
  [[nodiscard]] lock::LockId gap() const noexcept { return gap_; }

 private:
  TransactionState& transaction_;
  TreeId tree_;
  lock::LockId gap_{};
  bool blocked_ = false;
};

Result<> lock_gap_of(TransactionState& state, AnyTree& tree, Bytes key, WaitPolicy wait) {
  LockForRead visitor(state, tree.id());
  while (true) {
    RETURN_IF_ERROR(tree.read(key, visitor));
    if (!visitor.blocked()) return {};
    ASSIGN_OR_RETURN(const lock::Acquired acquired,
                     state.locks.acquire(visitor.gap(), lock::kReadGap, state.wait(wait)));
    // With WaitPolicy::skip, rows that the gap's holder inserts are skipped as well.
    if (acquired == lock::Acquired::skipped) return {};
  }
}

/// A write of one record.
struct Write {
  Bytes key;
  Bytes value;
  RowChange::Wish wish;
  WaitPolicy wait = WaitPolicy::wait;
  bool obeys_snapshot = true;
};

/// Writes one record. A large value is written to the overflow tree first, and a replaced one is
/// removed there.
Result<bool> write(TransactionState& state, AnyTree& tree, const Write& wanted) {
  const Bytes key = wanted.key;
  const Bytes value = wanted.value;
  RETURN_IF_ERROR(check_record(key, value));
  LeafChange::Value stored{value, false};
  StoredAddress address;
  Transaction::Mark mark{};
  if (is_too_large_inline(key, value)) {
    RETURN_IF_ERROR(state.begin_writing());
    mark.undo_position = state.undo->count();
    ASSIGN_OR_RETURN(address, write_overflow(state, tree.id(), value));
    stored = {address, true};
  }
  RowChange change(state, tree.id(), key, wanted.wish, stored);
  if (!wanted.obeys_snapshot) change.ignore_snapshot();
  ASSIGN_OR_RETURN(const bool done, change.run(tree, wanted.wait));
  if (!done && stored.overflow) state.undo_to(mark.undo_position);
  if (change.old_overflow() && done)
    RETURN_IF_ERROR(remove_overflow(state, tree.id(), *change.old_overflow()));
  return done;
}

Result<bool> remove_moved(TransactionState& state, AnyTree& tree, Bytes key) {
  RowChange change(state, tree.id(), key, RowChange::Wish::remove, {});
  change.mark_moved();
  ASSIGN_OR_RETURN(const bool done, change.run(tree));
  if (change.old_overflow() && done)
    RETURN_IF_ERROR(remove_overflow(state, tree.id(), *change.old_overflow()));
  return done;
}

struct LockingRead {
  Bytes key;
  ReadMode mode;
  WaitPolicy wait;
  bool obeys_snapshot = true;
};

/// REPEATABLE READ: 40001 if the record in the transaction's snapshot has been changed since, or,
/// if only the key must stay, has been removed.
Result<> require_unchanged(TransactionState& state, AnyTree& tree, std::uint64_t hash,
                           const LockingRead& wanted, PageId leaf, bool found) {
  VersionIndex& versions = state.engine.versions;
  const Viewer viewer = state.own_viewer(tree.birth());
  const auto is_late = [&] {
    if (!found)
      return versions.had_one(tree.id(), wanted.key, hash, leaf, viewer) ||
             versions.had_one(tree.id(), wanted.key, hash, leaf, state.shown_viewer(tree.birth()));
    if (wanted.mode != ReadMode::for_key_share)
      return versions.changed_since(tree.id(), wanted.key, hash, leaf, viewer);
    return versions.fate(tree.id(), wanted.key, hash, viewer) != Tree::Fate::stays;
  };
  const bool late = is_late();
  RETURN_IF_ERROR(state.check_snapshot());
  if (!late) return {};
  return fail(state.retryable(versions.conflict(tree.id(), wanted.key, hash, viewer)));
}

enum class Locked : std::uint8_t { found, absent, skipped };

/// Locks the key and reads its record. If the record is marked by another transaction (row locks
/// without key locks), releases the lock while it waits, because the other may need the key again.
Result<Locked> lock_and_read(TransactionState& state, AnyTree& tree, const LockingRead& wanted,
                             lock::LockId id, lock::KeyMode mode, PointRead& read) {
  read.expect_marks(mode.key);
  while (true) {
    const lock::LockMark before = state.locks.mark();
    ASSIGN_OR_RETURN(lock::Acquired acquired,
                     state.locks.acquire(id, mode, state.wait(wanted.wait)));
    if (acquired == lock::Acquired::skipped) return Locked::skipped;
    if (state.locks_reads()) RETURN_IF_ERROR(lock_gap_of(state, tree, wanted.key, wanted.wait));
    ASSIGN_OR_RETURN(const bool found, read.run(tree));
    if (!read.holder()) [[likely]]
      return found ? Locked::found : Locked::absent;
    state.locks.release_to(before);
    ASSIGN_OR_RETURN(acquired,
                     state.locks.wait_for_transaction(*read.holder(), state.wait(wanted.wait)));
    if (acquired == lock::Acquired::skipped) return Locked::skipped;
  }
}

Result<bool> get_locked(TransactionState& state, AnyTree& tree, const LockingRead& wanted,
                        ValueBuffer& into) {
  // SERIALIZABLE reads the record itself, so a lock on the key's existence is not enough.
  const bool keeps = wanted.mode == ReadMode::for_key_share && !state.locks_reads();
  const lock::KeyMode mode = keeps ? lock::kKeepKey : combine(lock_of(wanted.mode), lock::kReadKey);
  const bool hides_own = wanted.mode == ReadMode::snapshot && state.hides_own();
  const auto newest =
      hides_own ? PointRead::Which::newest_before_statement : PointRead::Which::newest;
  const auto which = keeps ? PointRead::Which::committed : newest;
  const lock::LockId id{tree.id(), hash_of_key(tree.id(), wanted.key)};
  state.locks.prefetch(id);
  RETURN_IF_ERROR(state.intend(tree.id(),
                               lock::may_write(mode.key) ? lock::TableMode::intent_exclusive
                                                         : lock::TableMode::intent_shared,
                               wanted.wait));
  const lock::LockMark before = state.locks.mark();
  PointRead read(state, tree.id(), wanted.key, which, into);
  ASSIGN_OR_RETURN(const Locked locked, lock_and_read(state, tree, wanted, id, mode, read));
  if (locked == Locked::skipped) return false;
  const bool found = locked == Locked::found;
  if (keeps_snapshot(state.isolation) && wanted.obeys_snapshot)
    RETURN_IF_ERROR(require_unchanged(state, tree, id.hash, wanted, read.leaf(), found));
  if (!found) {
    if (!state.locks_reads()) state.locks.release_to(before);
    return false;
  }
  if (keeps) {
    // Replacing a large value removes its chunks, so lock it against changes.
    if (!read.is_overflow()) return true;
    return get_locked(state, tree,
                      {wanted.key, ReadMode::for_share, wanted.wait, wanted.obeys_snapshot}, into);
  }
  if (read.is_overflow()) RETURN_IF_ERROR(read_overflow(state, tree.id(), newest, into));
  return true;
}

}  // namespace

Result<bool> Tree::get(Transaction& transaction, Bytes key, ValueBuffer& into, ReadMode mode,
                       WaitPolicy wait) const {
  TransactionState& state = TransactionAccess::state(transaction);
  AnyTree& tree = *static_cast<AnyTree*>(tree_);
  if (key.empty()) return false;
  const bool locks = mode != ReadMode::snapshot || state.locks_reads();
  if (locks && state.engine.options.locking)
    return get_locked(state, tree, {key, mode, wait, obeys_snapshot_}, into);
  PointRead read(state, id_, key, PointRead::Which::visible, into);
  auto found = read.run(tree);
  if (found && *found && read.is_overflow())
    if (auto large = read_overflow(state, id_, PointRead::Which::visible, into); !large)
      found = fail(std::move(large).error());
  state.end_operation();
  if (!found && state.pass_over(found.error())) return false;
  return found;
}

Result<> Tree::lock_key(Transaction& transaction, Bytes key) {
  TransactionState& state = TransactionAccess::state(transaction);
  if (!state.engine.options.locking) return {};
  RETURN_IF_ERROR(state.intend(id_, lock::TableMode::intent_exclusive, WaitPolicy::wait));
  const lock::LockId id{id_, hash_of_key(id_, key)};
  while (true) {
    const lock::LockMark before = state.locks.mark();
    RETURN_IF_ERROR(state.locks.acquire(id, lock::kWriteKey, state.wait(WaitPolicy::wait)));
    if (!state.versions.has_marks()) return {};
    ValueBuffer ignored;
    PointRead read(state, id_, key, PointRead::Which::newest, ignored);
    read.expect_marks(lock::Access::exclusive);
    RETURN_IF_ERROR(read.run(*static_cast<AnyTree*>(tree_)));
    if (!read.holder()) return {};
    state.locks.release_to(before);
    RETURN_IF_ERROR(state.locks.wait_for_transaction(*read.holder(), state.wait(WaitPolicy::wait)));
  }
}

Result<> Tree::wait_for_writer(Transaction& transaction, Bytes key) const {
  TransactionState& state = TransactionAccess::state(transaction);
  if (!state.engine.options.locking) return {};
  RETURN_IF_ERROR(state.intend(id_, lock::TableMode::intent_shared, WaitPolicy::wait));
  const lock::LockWait wait = state.wait(WaitPolicy::wait);
  RETURN_IF_ERROR(state.locks.wait_until_free({id_, hash_of_key(id_, key)}, lock::kReadKey, wait));
  if (!state.versions.has_marks()) return {};
  ValueBuffer ignored;
  PointRead read(state, id_, key, PointRead::Which::newest, ignored);
  read.expect_marks(lock::Access::shared);
  RETURN_IF_ERROR(read.run(*static_cast<AnyTree*>(tree_)));
  if (read.holder()) RETURN_IF_ERROR(state.locks.wait_for_transaction(*read.holder(), wait));
  return {};
}

void Tree::prefetch(Transaction& transaction, std::span<const Bytes> keys,
                    ReadMode mode) const noexcept {
  TransactionState& state = TransactionAccess::state(transaction);
  if (mode != ReadMode::snapshot && state.engine.options.locking) {
    for (const Bytes key : keys) {
      const lock::LockId id{id_, hash_of_key(id_, key)};
      state.locks.prefetch(id);
      if (mode == ReadMode::for_update) state.engine.versions.prefetch(id.hash);
    }
  }
  AnyTree& tree = *static_cast<AnyTree*>(tree_);
  const std::uint32_t loads = tree.birth().loads();
  const bool is_loading = tree.birth().is_loading();
  ExpectedKeys& expected = state.expect_keys_of(id_);
  const std::size_t found = tree.prefetch(keys, expected.leaves);
  // The last leaf of a tree that is being loaded need not cover the key if more leaves follow.
  if (!is_loading && tree.birth().loads() == loads) expected.count = found;
}

Tree::Fate Tree::trace(Transaction& transaction, Bytes key, KeyPath& path,
                       ValueBuffer& moved_to) const {
  TransactionState& state = TransactionAccess::state(transaction);
  const auto view = state.view_of(static_cast<AnyTree*>(tree_)->birth());
  const std::uint64_t hash = hash_of_key(id_, key);
  state.engine.versions.page_in(hash, PageId::none);
  return state.engine.versions.trace(id_, key, hash, state.viewer(view), path, [&](Bytes to) {
    const MutableBytes room = moved_to.prepare(to.size());
    std::copy(to.begin(), to.end(), room.begin());
  });
}

bool Tree::changed_since_snapshot(Transaction& transaction, Bytes key) const {
  TransactionState& state = TransactionAccess::state(transaction);
  if (!keeps_snapshot(state.isolation)) return false;
  const Viewer viewer = state.own_viewer(static_cast<AnyTree*>(tree_)->birth());
  return state.engine.versions.changed_since(id_, key, hash_of_key(id_, key), PageId::none, viewer);
}

bool Tree::is_visible(Transaction& transaction) const {
  TransactionState& state = TransactionAccess::state(transaction);
  // A snapshot not yet taken will be recent enough.
  if (!keeps_snapshot(state.isolation) || !state.own.is_taken) return true;
  const TreeBirth& birth = static_cast<AnyTree*>(tree_)->birth();
  // A reader of a closed tree waits, then sees it whole.
  return birth.is_closed() || state.view_of(birth) == TransactionState::TreeView::whole;
}

Result<bool> Tree::insert(Transaction& transaction, Bytes key, Bytes value, WaitPolicy wait) {
  return write(TransactionAccess::state(transaction), *static_cast<AnyTree*>(tree_),
               {key, value, RowChange::Wish::insert, wait, obeys_snapshot_});
}

Result<bool> Tree::update(Transaction& transaction, Bytes key, Bytes value) {
  return write(TransactionAccess::state(transaction), *static_cast<AnyTree*>(tree_),
               {key, value, RowChange::Wish::update, WaitPolicy::wait, obeys_snapshot_});
}

Result<bool> Tree::move(Transaction& transaction, Bytes from, Bytes to, Bytes value) {
  TransactionState& state = TransactionAccess::state(transaction);
  AnyTree& tree = *static_cast<AnyTree*>(tree_);
  ASSIGN_OR_RETURN(const bool inserted, write(state, tree, {to, value, RowChange::Wish::insert}));
  if (!inserted) return false;
  // The next undo record is the removal; the one before it tells where the record is.
  ASSIGN_OR_RETURN(const bool removed, remove_moved(state, tree, from));
  INVARIANT(removed);
  return true;
}

Result<bool> Tree::remove(Transaction& transaction, Bytes key) {
  return write(TransactionAccess::state(transaction), *static_cast<AnyTree*>(tree_),
               {key, {}, RowChange::Wish::remove, WaitPolicy::wait, obeys_snapshot_});
}

}  // namespace swizzle
