#pragma once

#include <array>
#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "lock/lock_owner.h"
#include "storage/btree/leaf_hint.h"
#include "storage/engine.h"
#include "storage/txn/loads/tree_birth.h"
#include "storage/txn/planted_fault.h"
#include "storage/txn/restart/prepared_transactions.h"
#include "storage/txn/restart/restart_losers.h"
#include "storage/txn/tidying/key_ranges.h"
#include "storage/txn/transaction_conflicts.h"
#include "storage/txn/versions/settled_leaves.h"
#include "storage/txn/versions/transaction_registry.h"
#include "storage/txn/versions/version_index.h"

namespace swizzle {

class AnyTree;
class UndoChange;
struct EngineParts;

/// Places of keys that were prefetched, so that the look-ups need not descend again. As a rule they
/// come in the same order.
struct ExpectedKeys {
  TreeId tree{};
  std::size_t next = 0;
  std::size_t count = 0;
  std::array<LeafHint, 16> leaves;
};

/// A transaction's working state. Kept for reuse, so that beginning one allocates nothing.
struct TransactionState {
  struct FreeMemory {
    void operator()(void* memory) const noexcept { ::operator delete(memory); }
  };

  TransactionState(EngineParts& of, TransactionSlot& in, lock::LockManager& manager,
                   lock::SerializableConflicts& all, VersionIndex& index)
      : engine(of), slot(in), locks(manager), conflicts(all), versions(index) {}

  EngineParts& engine;
  TransactionSlot& slot;
  lock::LockOwner locks;
  TransactionConflicts conflicts;
  VersionIndex& versions;
  std::unique_ptr<UndoLog> undo;  ///< null until the first write
  /// Memory for the next Transaction that owns this, or null.
  std::unique_ptr<void, FreeMemory> handle;
  Isolation isolation = Isolation::read_committed;
  Access access = Access::read_write;
  Duration lock_timeout{};
  bool is_open = false;
  /// True if the layer above has said that it will write nothing that others can read.
  bool reads_only = false;
  /// True if it marks records that it changes from now on, and keeps no locks for them
  /// (EngineOptions::row_lock_limit).
  bool marks_rows = false;
  /// Leaves that it has visited: a row that is read for update is updated next. They outlive
  /// transactions.
  std::array<LeafHint, 16> hints;
  /// Keys of the last calls of Tree::prefetch().
  std::array<ExpectedKeys, 2> expected;
  std::size_t expectations = 0;
  /// Leaves that it has changed and that were settled before.
  SettledLeaves settled_leaves;
  /// Number of large values that it has written, by which they are numbered.
  std::uint64_t large_values = 0;
  /// Number of undo records that it had when it noted a change for the logical log last, as far as
  /// that is not taken back; 0: it has noted none.
  std::uint64_t noted_position = 0;
  /// Damage that reads have passed over (EngineOptions::salvage), the first of it.
  std::vector<std::string> passed_over;
  static constexpr std::size_t kMostPassedOver = 100;
  /// True if reads pass over this error, which is noted then.
  bool pass_over(const Error& error);
  /// Leaves it has asked trees for, not yet added to the pool of transactions' count.
  std::uint64_t leaf_requests = 0;
  /// Trees to free once the transaction has committed, each with the length of the undo log at its
  /// drop: a rollback behind that point takes the drop back.
  struct DroppedTree {
    TreeId id;
    std::uint64_t undo_records;
  };
  std::vector<DroppedTree> dropped;
  /// Trees that it has created, as far as that is not undone: other transactions cannot reach them.
  std::vector<TreeId> created;
  std::vector<AnyTree*> loads;
  /// Keys of inserts that a rollback has turned into ghosts.
  KeyRanges undone_inserts;

  /// 0: begin_statement() was never called, so every operation is a statement of its own.
  std::uint32_t statement = 0;
  /// Statements behind it have its number, read, and may not write.
  static constexpr std::uint32_t kLastStatement = UINT32_MAX;
  void count_statement() noexcept { statement += statement == kLastStatement ? 0 : 1; }
  /// Present view of reads: of the running statement, or of an inner one.
  ReadView now;
  /// Number of views that inner statements have put aside, with which their outer ones go on.
  std::uint32_t outer_views = 0;
  /// The moments of views that are read beside later statements, and up to which of them versions
  /// are no longer kept.
  std::multiset<Lsn> held_views;
  Lsn given_up = Lsn::none;
  /// Snapshot of a transaction at REPEATABLE READ, once it is taken: changes since are concurrent
  /// updates.
  ReadView own;

  /// Counts the locks, unless null, in steps: `counted_locks` are counted, and more are once so
  /// many are held.
  LockMemory* lock_memory = nullptr;
  std::size_t counted_locks = 0;
  std::size_t count_locks_at = SIZE_MAX;

  /// Function given to Transaction::before_release().
  std::function<void()> publish;
  /// Entry among the prepared transactions; null: it is not prepared.
  PreparedTransactions::Entry* prepared = nullptr;

  void begin(Isolation with, Access for_access) noexcept;
  /// See Transaction::work_for().
  void work_for(lock::OwnerLabel label, const std::string* doing) noexcept {
    slot.label.store(label, std::memory_order_relaxed);
    locks.work_for(label, doing);
  }

  [[nodiscard]] LeafHint& hint_for(TreeId tree) noexcept { return hints[raw(tree) % hints.size()]; }

  /// For a read of `key`.
  [[nodiscard]] LeafHint& hint_for(TreeId tree, Bytes key) noexcept {
    LeafHint& hint = hint_for(tree);
    for (ExpectedKeys& keys : expected) {
      if (keys.tree != tree || keys.next == keys.count) continue;
      const LeafHint& leaf = keys.leaves[keys.next];
      if (leaf.nearness(tree, key) != LeafHint::Nearness::same) continue;
      hint = leaf;
      ++keys.next;
    }
    return hint;
  }
  /// Returns an entry for the tree's expected keys, in place of the older one.
  [[nodiscard]] ExpectedKeys& expect_keys_of(TreeId tree) noexcept {
    ExpectedKeys& keys = expected[expectations++ % expected.size()];
    keys.tree = tree;
    keys.next = keys.count = 0;
    return keys;
  }

  /// Returns the view of a read that begins now.
  const ReadView& view() {
    if (!now.is_taken) [[unlikely]]
      take_view();
    return now;
  }
  void begin_statement() noexcept;
  /// Takes the transaction's snapshot unless it is taken. Pre: the level keeps one.
  void take_own();
  /// At SERIALIZABLE by snapshot: takes part in the conflicts from now on.
  void join_conflicts() noexcept;
  [[nodiscard]] ReadView begin_inner(ReadView::Sees sees);
  void end_inner(const ReadView& outer) noexcept;
  [[nodiscard]] ReadView hold_view();
  void release_view(const ReadView& view) noexcept;
  /// An operation ended; where it was its own statement, its snapshot goes.
  void end_operation() noexcept;
  void release_snapshot() noexcept;

  /// True if all changes up to `changed` are visible: no version need be looked up.
  [[nodiscard]] bool is_all_visible(Lsn changed) const noexcept {
    if (planted(PlantedFault::shortcut_takes_the_snapshot)) return changed < now.lsn;
    return changed < now.all_visible_lsn;
  }
  [[nodiscard]] Viewer viewer() const noexcept { return {now.lsn, undo.get(), now.statement}; }
  /// Part of a tree that a snapshot read sees if it begins now.
  enum class TreeView : std::uint8_t {
    whole,
    own_changes,  ///< it was loaded later, and the transaction may have written to it since
    nothing,
  };
  [[nodiscard]] TreeView view_of(const TreeBirth& birth) {
    view();
    if (birth.is_visible_to(viewer())) [[likely]]
      return TreeView::whole;
    return undo != nullptr && !birth.is_loading() ? TreeView::own_changes : TreeView::nothing;
  }
  [[nodiscard]] Viewer viewer(TreeView of) noexcept {
    return {now.lsn, undo.get(), now.statement,
            of == TreeView::whole ? Viewer::Unversioned::visible : Viewer::Unversioned::hidden,
            conflicts.is_on() ? &conflicts : nullptr};
  }
  /// Returns the viewer by which concurrent updates are detected at REPEATABLE READ.
  [[nodiscard]] Viewer own_viewer(const TreeBirth& birth) {
    if (!own.is_taken) [[unlikely]]
      take_own();
    Viewer viewer{own.lsn, undo.get(), 0};
    if (!birth.is_visible_to(viewer)) [[unlikely]]
      viewer.unversioned = Viewer::Unversioned::hidden;
    return viewer;
  }
  /// Returns the viewer for a record that is not there any more: the view of the running statement,
  /// which is younger than the transaction's snapshot if it runs within another.
  [[nodiscard]] Viewer shown_viewer(const TreeBirth& birth) {
    Viewer viewer = own_viewer(birth);
    if (!now.is_taken || now.lsn <= own.lsn) return viewer;
    viewer.snapshot = now.lsn;
    viewer.unversioned =
        birth.is_visible_to(viewer) ? Viewer::Unversioned::visible : Viewer::Unversioned::hidden;
    return viewer;
  }
  /// At SERIALIZABLE, where reads see the newest: whether the statement that reads has written
  /// something, which it does not see.
  [[nodiscard]] bool hides_own() const noexcept {
    const UndoRecord* const newest = undo != nullptr ? undo->newest() : nullptr;
    return newest != nullptr && now.statement != 0 && newest->statement >= now.statement;
  }
  /// If it hides_own(): returns the part of a tree that a read of the newest sees.
  [[nodiscard]] TreeView newest_view_of(const TreeBirth& birth) const noexcept {
    const Viewer viewer{Lsn::max, undo.get(), now.statement};
    return birth.is_visible_to(viewer) ? TreeView::whole : TreeView::own_changes;
  }
  [[nodiscard]] Viewer viewer_of_newest(TreeView of) const noexcept {
    return {Lsn::max, undo.get(), now.statement,
            of == TreeView::whole ? Viewer::Unversioned::visible : Viewer::Unversioned::hidden};
  }
  [[nodiscard]] bool locks_reads() const noexcept { return isolation == Isolation::serializable; }
  [[nodiscard]] lock::LockWait wait(WaitPolicy policy) const noexcept;

  /// Takes an intent lock on the tree, before keys of it are locked, so that a lock on the whole
  /// tree excludes them.
  Result<> intend(TreeId tree, lock::TableMode intent, WaitPolicy policy);
  /// Waits until no transaction of before the start has such changes in the tree that are not
  /// undone. May wait; fails as a lock does.
  Result<> wait_for_losers(TreeId tree, RestartLosers::Changed what,
                           WaitPolicy policy = WaitPolicy::wait);
  void count_locks_in(LockMemory& memory) noexcept {
    lock_memory = &memory;
    count_locks_at = kLocksCountedTogether;
  }
  /// Fails as LockMemory::take() does.
  Result<> count_locks();
  /// They have been released, or belong to another session's memory no longer.
  void forget_counted_locks() noexcept;
  /// Returns the error, which is 40001, once all that has committed so far is durable: a snapshot
  /// shows what is, and the next try of the transaction shall see what this one has missed.
  [[nodiscard]] Error retryable(Error error);
  /// 40001 if the transaction must not go on at SERIALIZABLE by snapshot. Call after reads, without
  /// latches.
  Result<> check_conflicts() {
    if (!conflicts.is_on()) [[likely]]
      return {};
    auto checked = conflicts.check();
    if (checked) [[likely]]
      return checked;
    return fail(retryable(std::move(checked).error()));
  }
  /// 72000 when versions that the snapshot may need were given up.
  [[nodiscard]] Result<> check_snapshot() const;
  [[nodiscard]] bool is_too_old() const noexcept {
    return TransactionRegistry::is_too_old(slot) || (given_up != Lsn::none && now.lsn <= given_up);
  }

  /// Makes the transaction a writer. 25006 when it is read-only.
  Result<> begin_writing();
  /// The same, whatever it may do: gives it a number and an undo log.
  void become_writer();
  void mark_rows_if_many();
  /// The point below which all changes are settled (T17); none: it cannot be said.
  [[nodiscard]] Lsn settled_below() noexcept;
  /// True if the record has no mark: the transactions that changed the leaf below the view's
  /// all-visible LSN have ended. False: unknown. Call as mark_of().
  [[nodiscard]] bool is_unmarked(const Node& leaf, std::uint16_t index) const noexcept {
    return (now.is_taken && is_all_visible(leaf.logical_lsn())) ||
           settled_leaves.has(leaf, index, SettledLeaves::Change::any);
  }
  /// Returns the mark of another transaction that has the key because of its changes there, without
  /// a lock. Call with the key locked, under the leaf's latch, or validate the leaf's version
  /// afterwards. Pre: versions.has_marks().
  [[nodiscard]] VersionIndex::Mark mark_of(TreeId tree, Bytes key, std::uint64_t hash,
                                           PageId leaf) noexcept {
    if (planted(PlantedFault::mark_not_asked_for)) return {};
    const VersionIndex::Mark mark = versions.mark_of(tree, key, hash, leaf, undo.get());
    // It may not be durable yet, and no lock has said so.
    locks.note_read(mark.commit);
    return mark;
  }
  /// Tells the logical log that the notes behind `position` are undone, if there are any.
  void take_back_noted(std::uint64_t position) noexcept;
  /// See LogicalLog::adopt_view().
  void adopt_view(const ReadView& view) noexcept;
  /// Parks where it lacks something, for as long as it takes.
  void undo_to(std::uint64_t position) noexcept;
  [[nodiscard]] bool is_loading() const noexcept;
  /// The commit record's LSN; none if nothing was written.
  Result<Lsn> commit(Transaction::Durability durability);
  void rollback() noexcept;
  /// On a standby: takes the versions of another server's transaction out of the index, and the
  /// state may be reused. Pre: no view is open.
  void forget() noexcept;
  /// Releases its memory, and writes nothing to the log. Called when the engine goes.
  void abandon() noexcept;

 private:
  static constexpr std::size_t kLocksCountedTogether = 1024;

  void take_snapshot(ReadView& view);
  void keep_what_is_seen() noexcept;
  void take_view();
  void undo_newest_in_the_end() noexcept;
  Result<> undo_newest();
  Result<> undo_run(UndoRecord& record, AnyTree& tree);
  Result<> undo_by(UndoChange& change, AnyTree& tree, Bytes key);
  void note_undone_insert(const UndoRecord& record) noexcept;
  void finish(Lsn outcome) noexcept;
  Lsn append_end(RecordKind kind, LogSpace& space, Lsn& end) noexcept;

  /// Cached result of settled_below() for a view, and the number of its uses, after some of which
  /// it is computed anew.
  Lsn settled_view_ = Lsn::none;
  Lsn settled_below_ = Lsn::none;
  std::uint32_t settled_uses_ = 0;
};

}  // namespace swizzle
