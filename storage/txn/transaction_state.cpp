#include "storage/txn/transaction_state.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "base/runtime/asked_to_end.h"
#include "base/runtime/long_work.h"
#include "storage/btree/damage.h"
#include "storage/engine_parts.h"
#include "storage/txn/loads/tree_factory.h"
#include "storage/txn/loads/tree_load.h"
#include "storage/txn/rows/row_changes.h"
#include "storage/txn/undo/give_up_leaf.h"
#include "storage/txn/undo/patient_rollback.h"

namespace swizzle {

namespace {

/// An entry, its place in the owner's own table, and what growing that takes.
constexpr std::size_t kBytesPerLock = 128;

/// True if undoing one more part of the record completes its undo.
bool is_last_of(const UndoRecord& record) noexcept {
  return record.kind != UndoRecord::Kind::removed_run || RemovedRun(record).left() <= 1;
}

}  // namespace

void TransactionState::begin(Isolation with, Access for_access) noexcept {
  isolation = with;
  access = engine.replay_gate != nullptr ? Access::read_only : for_access;
  lock_timeout = Duration::zero();
  is_open = true;
  marks_rows = false;
  reads_only = false;
  large_values = 0;
  noted_position = 0;
  publish = nullptr;
  prepared = nullptr;
  dropped.clear();
  created.clear();
  loads.clear();
  statement = 0;
  now = own = {};
  outer_views = 0;
  settled_view_ = Lsn::none;
  given_up = Lsn::none;
  INVARIANT(held_views.empty());
  locks.clear_cancel();
  locks.set_deadlock_timeout(Duration::zero());
  // Elsewhere what is locked was to be locked key by key, and its table stays open to writers.
  locks.begin(TxnId::none, locks_reads() ? lock::LockOwner::Escalation::when_due
                                         : lock::LockOwner::Escalation::never);
}

bool TransactionState::pass_over(const Error& error) {
  if (!engine.options.salvage || !is_unreadable(error)) return false;
  if (passed_over.size() == kMostPassedOver) return true;
  spdlog::warn("passed over: {}{}{}", error.message(), error.detail().empty() ? "" : "; ",
               error.detail());
  passed_over.push_back(error.message());
  return true;
}

void TransactionState::take_snapshot(ReadView& view) {
  // A lock may tell its holder that other transactions have committed, whatever they had locked.
  if (locks.locks_held() != 0) view.sees = ReadView::Sees::latest;
  engine.registry->take_snapshot(view, slot, locks.read_watermark());
  // It may show commits that are not durable yet: the transaction's end waits for them, and its
  // later reads are no older.
  if (view.sees == ReadView::Sees::latest) locks.note_read(Lsn{raw(view.lsn) - 1});
}

void TransactionState::take_own() {
  if (own.is_taken) [[likely]]
    return;
  join_conflicts();
  take_snapshot(own);
  conflicts.took_snapshot(own.lsn);
}

void TransactionState::join_conflicts() noexcept {
  if (isolation != Isolation::serializable_snapshot || conflicts.is_on()) return;
  conflicts.join(reads_only, slot.label.load(std::memory_order_relaxed));
  if (undo != nullptr) undo->serial.store(conflicts.id(), std::memory_order_relaxed);
}

void TransactionState::take_view() {
  if (keeps_snapshot(isolation) && now.sees == ReadView::Sees::durable) {
    take_own();
    now.lsn = own.lsn;
    now.all_visible_lsn = own.all_visible_lsn;
    now.is_taken = true;
    return;
  }
  take_snapshot(now);
}

void TransactionState::begin_statement() noexcept {
  count_statement();
  if (!keeps_snapshot(isolation)) {
    release_snapshot();
    now.sees = ReadView::Sees::durable;
  }
  now.statement = statement;
}

ReadView TransactionState::begin_inner(ReadView::Sees sees) {
  const bool has_own = keeps_snapshot(isolation);
  // The transaction's snapshot is not younger than anything that is looked at in it.
  if (has_own) take_own();
  const ReadView outer = now;
  if (outer.is_taken) ++outer_views;
  count_statement();
  now = {.statement = statement, .sees = has_own ? sees : ReadView::Sees::latest};
  return outer;
}

void TransactionState::end_inner(const ReadView& outer) noexcept {
  now = outer;
  if (outer.is_taken) {
    --outer_views;
    return;
  }
  keep_what_is_seen();
}

ReadView TransactionState::hold_view() {
  const ReadView held = view();
  held_views.insert(held.lsn);
  return held;
}

void TransactionState::release_view(const ReadView& view) noexcept {
  held_views.erase(held_views.find(view.lsn));
  keep_what_is_seen();
}

/// The slot keeps versions for the oldest view that may still be read by.
void TransactionState::keep_what_is_seen() noexcept {
  // Nothing is older than the first.
  if (own.is_taken || outer_views != 0) return;
  // Statements to come are no worse off for views that have been given up.
  const bool gives_up = !now.is_taken && TransactionRegistry::is_too_old(slot);
  if (gives_up && !held_views.empty()) given_up = *held_views.rbegin();
  Lsn oldest = now.is_taken ? now.lsn : Lsn::max;
  const auto held = held_views.upper_bound(given_up);
  if (held != held_views.end()) oldest = std::min(oldest, *held);
  if (oldest == Lsn::max) {
    TransactionRegistry::release_snapshot(slot);
  } else {
    TransactionRegistry::raise_snapshot(slot, oldest);
  }
}

void TransactionState::release_snapshot() noexcept {
  if (!now.is_taken && !own.is_taken) return;
  now.is_taken = own.is_taken = false;
  keep_what_is_seen();
}

void TransactionState::end_operation() noexcept {
  if (statement == 0 && isolation == Isolation::read_committed) release_snapshot();
}

lock::LockWait TransactionState::wait(WaitPolicy policy) const noexcept {
  switch (policy) {
    case WaitPolicy::wait:
      break;
    case WaitPolicy::no_wait:
      return lock::kNoWait;
    case WaitPolicy::skip:
      return lock::kSkipLocked;
  }
  return {lock::IfBlocked::wait, lock_timeout};
}

Result<> TransactionState::count_locks() {
  while (counted_locks <= locks.locks_held()) {
    RETURN_IF_ERROR(lock_memory->take(kLocksCountedTogether * kBytesPerLock));
    counted_locks += kLocksCountedTogether;
  }
  count_locks_at = counted_locks;
  return {};
}

void TransactionState::forget_counted_locks() noexcept {
  if (counted_locks != 0) lock_memory->give_back(counted_locks * kBytesPerLock);
  counted_locks = 0;
  count_locks_at = SIZE_MAX;
  lock_memory = nullptr;
}

Result<> TransactionState::intend(TreeId tree, lock::TableMode intent, WaitPolicy policy) {
  if (locks.locks_held() >= count_locks_at) [[unlikely]]
    RETURN_IF_ERROR(count_locks());
  if (!engine.options.locking || locks.has_table(tree, intent)) [[likely]]
    return {};
  // To skip a locked row is not to skip the table.
  if (policy == WaitPolicy::skip) policy = WaitPolicy::wait;
  if (engine.losers.count() != 0) [[unlikely]]
    RETURN_IF_ERROR(wait_for_losers(tree, RestartLosers::Changed::many_rows, policy));
  if (auto acquired = locks.acquire_table(tree, intent, wait(policy)); !acquired) [[unlikely]]
    return fail(std::move(acquired).error());
  return {};
}

Result<> TransactionState::wait_for_losers(TreeId tree, RestartLosers::Changed what,
                                           WaitPolicy policy) {
  while (true) {
    const lock::TransactionLock holder = engine.losers.holder_of(tree, what);
    if (holder == lock::TransactionLock::none) return {};
    if (auto waited = locks.wait_for_transaction(holder, wait(policy)); !waited)
      return fail(std::move(waited).error());
  }
}

Error TransactionState::retryable(Error error) {
  engine.log->flush_to(engine.log->tail());
  return error;
}

Result<> TransactionState::check_snapshot() const {
  if (!is_too_old()) [[likely]]
    return {};
  return fail(Error{sqlstate::snapshot_too_old, "snapshot too old"}.with_hint(
      "The versions kept for open snapshots had reached version_store_size, and their files "
      "version_store_file_limit; this was the oldest."));
}

Result<> TransactionState::begin_writing() {
  if (statement == kLastStatement) [[unlikely]]
    return fail(sqlstate::program_limit_exceeded,
                "cannot have more than 2^32-2 commands in a transaction");
  if (undo != nullptr) [[likely]]
    return {};
  if (access == Access::read_only)
    return fail(sqlstate::read_only_transaction, "cannot write in a read-only transaction");
  become_writer();
  return {};
}

void TransactionState::become_writer() {
  if (undo != nullptr) return;
  join_conflicts();
  undo = engine.transactions->take_undo();
  undo->serial.store(conflicts.id(), std::memory_order_relaxed);
  engine.registry->begin_writing(slot);
  slot.outcome.store(UndoLog::kActive, std::memory_order_relaxed);
  slot.chain.last.store(Lsn::none, std::memory_order_relaxed);
  slot.chain.first.store(Lsn::none, std::memory_order_relaxed);
  slot.chain.changes->clear();
  undo->report_to(&slot.chain.changes->reported_undo_bytes);
  const TxnId id = engine.registry->next_id();
  slot.chain.id.store(id, std::memory_order_release);
  // Its age decides deadlocks.
  locks.identify(id);
}

void TransactionState::mark_rows_if_many() {
  if (marks_rows || undo->count() < engine.options.row_lock_limit || !engine.options.locking)
      [[likely]]
    return;
  // A serializable transaction has read the rows that it writes, and they must stay locked when the
  // change is undone.
  if (locks_reads()) return;
  locks.lock_transaction(undo->covers);
  versions.begin_marking();
  marks_rows = true;
}

/// Writers below a view's all-visible LSN have committed below the view. If no snapshot is older
/// than the view, and what it shows is durable, every reader sees the changes below that LSN: now
/// and, since oldest snapshots only move up, for ever. None: unknown.
Lsn TransactionState::settled_below() noexcept {
  constexpr std::uint32_t kAskAgainAfter = 256;
  // Without a log no two states of a leaf differ by their LSN.
  if (!now.is_taken || !engine.log->enabled()) return Lsn::none;
  if (settled_view_ == now.lsn && (settled_below_ != Lsn::none || settled_uses_ < kAskAgainAfter)) {
    ++settled_uses_;
    return settled_below_;
  }
  settled_view_ = now.lsn;
  settled_uses_ = 0;
  const bool is_oldest = engine.registry->version_horizon() >= now.lsn ||
                         planted(PlantedFault::settled_beside_older_snapshot);
  settled_below_ = is_oldest ? now.all_visible_lsn : Lsn::none;
  return settled_below_;
}

void TransactionState::undo_to(std::uint64_t position) noexcept {
  if (undo == nullptr) return;
  const UnendedScope to_its_end;
  slot.chain.is_undoing.store(true, std::memory_order_relaxed);
  while (undo->count() > position) {
    undo->page_in(undo->newest());
    slot.chain.undo_next = undo->newest()->previous_lsn;
    undo_newest_in_the_end();
    undo->drop_newest();
    unending_yield_point(kUnknownWork);
  }
  slot.chain.is_undoing.store(false, std::memory_order_relaxed);
}

/// Rolls back without giving up.
void TransactionState::undo_newest_in_the_end() noexcept {
  PatientRollback patience;
  while (true) {
    const auto undone = undo_newest();
    if (undone) return;
    const Error& error = undone.error();
    if (!is_unreadable(error)) {
      patience.wait_out(error);
      continue;
    }
    UndoRecord& record = *undo->newest();
    report_row_given_up(record.tree, error);
    if (is_last_of(record)) {
      if (record.is_version()) engine.versions.remove(record);
      return;
    }
    engine.versions.undone(record);
  }
}

Result<> TransactionState::undo_newest() {
  UndoRecord& record = *undo->newest();
  if (record.is_version()) engine.versions.page_in_before(record);
  if (record.kind == UndoRecord::Kind::load_begun) {
    ASSIGN_OR_RETURN(AnyTree* const loaded, undo_load(engine, slot.chain, record.tree));
    std::erase(loads, loaded);
    return {};
  }
  if (record.tree == TreeId::directory && record.kind == UndoRecord::Kind::inserted) {
    RETURN_IF_ERROR(engine.trees->destroy_created(record.key()));
    std::erase(created, tree_of_directory_key(record.key()));
  }
  ASSIGN_OR_RETURN(AnyTree* const tree, engine.trees->find(record.tree));
  if (record.kind == UndoRecord::Kind::removed_run) return undo_run(record, *tree);
  UndoChange change(record.kind, {record.old_value(), record.old_overflow}, engine.versions,
                    &record);
  RETURN_IF_ERROR(undo_by(change, *tree, record.key()));
  if (record.kind == UndoRecord::Kind::inserted) note_undone_insert(record);
  return {};
}

Result<> TransactionState::undo_by(UndoChange& change, AnyTree& tree, Bytes key) {
  RETURN_IF_ERROR(tree.change(key, &slot.chain, change));
  if (change.fits()) return {};
  return give_up_leaf(engine, tree, key,
                      Error{sqlstate::data_corrupted,
                            fmt::format("tree {} does not have what transaction {} left there",
                                        raw(tree.id()), raw(slot.chain.id.load()))});
}

/// The record is a ghost now. The tidier hears of it when its lock is released.
void TransactionState::note_undone_insert(const UndoRecord& record) noexcept {
  try {
    undone_inserts.add(record.tree, record.key(), record.key());
  } catch (const std::bad_alloc&) {
    // Such ghosts are found by the next scan or insert that meets them.
    undone_inserts.clear();
  }
}

/// The last one first. Until the first is back, a restart's undo comes to their log record again.
Result<> TransactionState::undo_run(UndoRecord& record, AnyTree& tree) {
  const RemovedRun run(record);
  for (std::uint32_t left = run.left(); left != 0; --left) {
    slot.chain.undo_next = left == 1 ? record.previous_lsn : run.lsn();
    UndoChange change(record.kind, {}, engine.versions, &record);
    RETURN_IF_ERROR(undo_by(change, tree, run.key(left - 1)));
    unending_yield_point(kUnknownWork);
  }
  return {};
}

void TransactionState::take_back_noted(std::uint64_t position) noexcept {
  if (noted_position <= position) return;
  noted_position = position;
  auto space = engine.log->reserve(sizeof position, 1, wal::ReservePurpose::completion);
  if (!space) panic("a rollback cannot be logged", space.error());
  wal::RecordHeader header;
  header.kind = static_cast<wal::RecordKind>(RecordKind::changes_taken_back);
  header.txn = slot.chain.id.load(std::memory_order_relaxed);
  header.txn_prev = slot.chain.last.load(std::memory_order_relaxed);
  std::array<std::byte, sizeof position> payload;
  store(payload.data(), position);
  engine.log->append(*space, header, Bytes{payload});
}

void TransactionState::adopt_view(const ReadView& view) noexcept {
  own.lsn = view.lsn;
  own.all_visible_lsn = view.all_visible_lsn;
  own.is_taken = true;
  own.sees = ReadView::Sees::durable;
  const std::uint32_t of_statement = now.statement;
  now = own;
  now.statement = of_statement;
  engine.registry->adopt_snapshot(slot, view.lsn);
}

bool TransactionState::is_loading() const noexcept {
  return std::ranges::any_of(loads, [](AnyTree* tree) { return tree->birth().is_loading(); });
}

Lsn TransactionState::append_end(RecordKind kind, LogSpace& space, Lsn& end) noexcept {
  wal::RecordHeader header;
  header.kind = static_cast<wal::RecordKind>(kind);
  header.txn = slot.chain.id.load(std::memory_order_relaxed);
  header.txn_prev = slot.chain.last.load(std::memory_order_relaxed);
  // The time is for recovery to a point in time.
  std::array<std::byte, 8> time;
  store(time.data(), Runtime::current().wall_clock_us());
  const wal::Appended appended = engine.log->append(space, header, Bytes{time});
  end = appended.end;
  return appended.lsn;
}

Result<Lsn> TransactionState::commit(Transaction::Durability durability) {
  if (is_loading()) [[unlikely]] {
    rollback();
    return fail(sqlstate::internal_error, "a transaction commits in the middle of a load");
  }
  if (conflicts.is_on()) [[unlikely]]
    if (auto may = conflicts.before_commit(); !may) {
      rollback();
      return fail(retryable(std::move(may).error()));
    }
  const bool is_writer = undo != nullptr && slot.chain.first.load() != Lsn::none;
  Lsn end = locks.read_watermark();
  Lsn commit_lsn = Lsn::none;
  if (is_writer) {
    auto space = engine.log->reserve(16, 1, wal::ReservePurpose::completion);
    if (!space) {
      if (prepared == nullptr) rollback();
      return fail(std::move(space).error());
    }
    // From here to the stores below, readers that ask wait.
    slot.is_asynchronous.store(durability != Transaction::Durability::synchronous,
                               std::memory_order_relaxed);
    undo->outcome.store(UndoLog::kCommitting, std::memory_order_seq_cst);
    slot.outcome.store(UndoLog::kCommitting, std::memory_order_seq_cst);
    commit_lsn = append_end(RecordKind::transaction_committed, *space, end);
    undo->outcome.store(raw(commit_lsn), std::memory_order_release);
    slot.outcome.store(raw(commit_lsn), std::memory_order_release);
    for (AnyTree* const tree : loads) tree->birth().committed(commit_lsn);
  }
  if (publish) [[unlikely]] {
    if (is_writer) engine.log->flush_to(end);
    publish();
    publish = nullptr;
  }
  if (conflicts.is_on()) [[unlikely]]
    conflicts.committed(commit_lsn, engine.registry->visible_end());
  // Early lock release: a reader of our writes waits for our record too.
  INVARIANT(held_views.empty());
  release_snapshot();
  locks.release_all(commit_lsn);
  switch (durability) {
    case Transaction::Durability::synchronous:
      if (end != Lsn::none) engine.log->flush_to(is_writer ? end : Lsn{raw(end) + 1});
      break;
    case Transaction::Durability::asynchronous:
      if (is_writer) engine.registry->acknowledge_asynchronous(commit_lsn, end);
      [[fallthrough]];
    case Transaction::Durability::unforced:
      // A reader with a higher all-visible LSN may see the commit before it is durable, so unforced
      // commits are for rows that only their writers read, as positions of sequences. Changes
      // without locks are protected by their marks alone, so they must be durable before the marks
      // end.
      if (is_writer && marks_rows)
        engine.log->flush_to(end);
      else if (is_writer)
        engine.log->flush_soon(end);
      break;
  }
  finish(commit_lsn);
  return commit_lsn;
}

void TransactionState::rollback() noexcept {
  if (conflicts.is_on()) [[unlikely]]
    conflicts.rolled_back(engine.registry->visible_end());
  undo_to(0);
  if (undo != nullptr && slot.chain.first.load() != Lsn::none) {
    auto space = engine.log->reserve(16, 1, wal::ReservePurpose::completion);
    if (!space) panic("a rollback cannot be logged", space.error());
    Lsn end{};
    slot.outcome.store(UndoLog::kCommitting, std::memory_order_seq_cst);
    const Lsn lsn = append_end(RecordKind::transaction_ended, *space, end);
    slot.outcome.store(raw(lsn), std::memory_order_release);
  }
  INVARIANT(held_views.empty());
  release_snapshot();
  locks.release_all(Lsn::none);
  finish(Lsn::none);
}

void TransactionState::abandon() noexcept {
  if (std::exchange(marks_rows, false)) versions.end_marking();
  locks.release_all(Lsn::none);
  conflicts.abandon();
  undo = nullptr;
  is_open = false;
}

void TransactionState::forget() noexcept {
  for (UndoRecord* at = undo->newest(); at != nullptr; at = at->previous)
    if (at->is_version()) versions.remove(*at);
  for (AnyTree* const tree : loads) tree->birth().undone();
  locks.release_all(Lsn::none);
  finish(Lsn::none);
}

/// `outcome` is the commit record's LSN, or none.
void TransactionState::finish(Lsn outcome) noexcept {
  if (std::exchange(marks_rows, false)) {
    versions.end_marking();
    settled_leaves.clear();
  }
  if (undo != nullptr) {
    slot.chain.id.store(TxnId::none, std::memory_order_release);
    slot.begin.store(0, std::memory_order_seq_cst);
    slot.is_prepared.store(false, std::memory_order_relaxed);
    slot.is_prepared_empty.store(false, std::memory_order_relaxed);
    undo->release_space();
    if (outcome != Lsn::none)
      engine.transactions->retire_undo(std::move(undo));
    else
      engine.transactions->give_undo(std::move(undo));
    undo = nullptr;
  }
  if (lock_memory != nullptr) forget_counted_locks();
  if (!undone_inserts.is_empty()) [[unlikely]]
    engine.tidier->hint(std::move(undone_inserts));
  is_open = false;
}

}  // namespace swizzle
