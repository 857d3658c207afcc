// Two-phase commit: prepares, keeps and finishes transactions.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/runtime/long_work.h"
#include "storage/engine_parts.h"
#include "storage/recovery/records/prepared_record.h"
#include "storage/txn/transaction_access.h"
#include "storage/txn/transaction_state.h"
#include "storage/txn/versions/removed_runs.h"

namespace swizzle {
namespace {

struct LockIdHash {
  std::size_t operator()(const lock::LockId& id) const noexcept {
    return id.hash ^ raw(id.tree) * std::uint64_t{0x9E3779B97F4A7C15};
  }
};
using ChangedLocks = std::unordered_map<lock::LockId, lock::Access, LockIdHash>;

/// Returns the facts that a restart cannot derive from the log records of the changes.
PreparedKept kept_of(const TransactionState& state) {
  PreparedKept kept{.locks = state.locks.held_locks(), .traits = {}};
  if (state.undo == nullptr) return kept;
  const auto is_key = [](const lock::HeldLock& lock) {
    return lock.kind == lock::LockRow::Kind::key;
  };
  const bool has_keys = std::ranges::any_of(kept.locks, is_key);
  ChangedLocks changed;
  std::uint64_t younger = 0;
  for (const UndoRecord* record = state.undo->newest(); record != nullptr;
       record = record->previous) {
    state.undo->page_in(record);
    unending_yield_point(kUnknownWork);
    if (record->kind == UndoRecord::Kind::removed_run) {
      younger += RemovedRun(*record).left();
      continue;
    }
    const bool is_move = record->kind == UndoRecord::Kind::moved;
    if (is_move || record->takes_key) kept.traits.push_back({younger, is_move, record->takes_key});
    ++younger;
    if (has_keys && record->is_version()) {
      lock::Access& access = changed[{record->tree, record->key_hash}];
      access = combine(access, record->access());
    }
  }
  // The lock of a changed key follows from the change itself.
  std::erase_if(kept.locks, [&](const lock::HeldLock& lock) {
    if (!is_key(lock)) return false;
    const auto found = changed.find({TreeId{lock.place}, lock.hash});
    return found != changed.end() &&
           implies(lock::KeyMode{found->second, lock::Access::none}, lock.key_mode);
  });
  return kept;
}

/// Logs one record and returns its LSN.
Result<Lsn> log_one(TransactionState& state, RecordKind kind, Bytes payload) {
  EngineParts& engine = state.engine;
  ASSIGN_OR_RETURN(LogSpace space,
                   engine.tree_log->reserve(payload.size(), 1, wal::ReservePurpose::growth));
  // As for load_begun: no page is latched, so a checkpoint must wait for the marks instead.
  // Otherwise it could begin after the record without knowing the transaction.
  const PageStore::MarksGuard marks(*engine.store);
  return engine.tree_log->append(space, {kind, &state.slot.chain, nullptr, nullptr, TreeId{}},
                                 std::array{payload});
}

/// Durable on return.
Result<> log_prepared(TransactionState& state, PreparedRecord record) {
  const PreparedKept kept = kept_of(state);
  record.kept_items = kept.items();
  for (const auto& portion : payload::encode_kept(kept))
    RETURN_IF_ERROR(log_one(state, RecordKind::prepared_kept, portion));
  const std::vector<std::byte> head = payload::encode_prepared(record);
  ASSIGN_OR_RETURN(const Lsn lsn, log_one(state, RecordKind::transaction_prepared, head));
  state.engine.log->flush_record(lsn);
  return {};
}

Result<> check_preparable(const TransactionState& state, std::string_view gid, Bytes note) {
  if (state.prepared != nullptr || state.is_loading())
    return fail(sqlstate::internal_error, "a transaction is prepared in the middle of something");
  if (!state.engine.log->enabled())
    return fail(sqlstate::object_not_in_prerequisite_state,
                "a transaction cannot be prepared without a log");
  if (gid.size() > Transaction::kMostGidBytes)
    return fail(sqlstate::invalid_parameter_value,
                fmt::format("transaction identifier \"{}\" is too long", gid));
  if (note.size() > payload::kMostNoteBytes)
    return fail(sqlstate::program_limit_exceeded, "too much to be kept of a prepared transaction");
  return {};
}

}  // namespace

Result<> Transaction::prepare(std::string_view gid, Bytes note, std::size_t most_at_once) {
  TransactionState& state = *state_;
  INVARIANT(state.is_open && !state.publish);
  RETURN_IF_ERROR(check_preparable(state, gid, note));
  if (state.conflicts.is_on()) RETURN_IF_ERROR(state.conflicts.before_commit());
  PreparedTransactions& all = state.engine.prepared;
  state.become_writer();
  // By this lock, which it keeps over a restart, take_up_prepared() knows it as serializable.
  if (state.conflicts.is_on())
    RETURN_IF_ERROR(state.locks.acquire_database(lock::TableMode::intent_shared));
  PreparedTransaction shown{.gid = std::string{gid},
                            .id = id(),
                            .prepared_at_us = Runtime::current().wall_clock_us(),
                            .note = {note.begin(), note.end()}};
  PreparedRecord record{.prepared_at_us = shown.prepared_at_us,
                        .gid = shown.gid,
                        .note = shown.note,
                        .kept_items = 0,
                        .began_at = Lsn::none};
  ASSIGN_OR_RETURN(PreparedTransactions::Entry* const entry,
                   all.reserve(std::move(shown), most_at_once));
  if (auto logged = log_prepared(state, std::move(record)); !logged) {
    all.forget(*entry);
    return logged;
  }
  INVARIANT(state.held_views.empty());
  state.release_snapshot();
  state.locks.clear_cancel();
  state.work_for(0, nullptr);
  if (state.lock_memory != nullptr) state.forget_counted_locks();
  const bool is_empty = state.undo == nullptr || state.undo->count() == 0;
  state.slot.is_prepared_empty.store(is_empty, std::memory_order_relaxed);
  state.slot.is_prepared.store(true, std::memory_order_relaxed);
  all.put(*entry, std::move(state_));
  return {};
}

TxnId Transaction::take_id() {
  state_->become_writer();
  return id();
}

const PreparedTransaction& Transaction::prepared_as() const noexcept {
  return state_->prepared->shown;
}

std::vector<PreparedTransaction> Engine::prepared() const {
  const bool are_the_primarys = parts_->replay_gate != nullptr;
  return are_the_primarys ? parts_->prepared_there : parts_->prepared.list();
}

Result<std::unique_ptr<Transaction>> Engine::take_prepared(std::string_view gid) {
  ASSIGN_OR_RETURN(auto state, parts_->prepared.take(gid));
  return TransactionAccess::handle(std::move(state));
}

std::vector<Engine::ChangedKey> Engine::changed_keys(const Transaction& transaction, TreeId tree) {
  const TransactionState& state = *transaction.state_;
  std::map<std::vector<std::byte>, bool> found;
  if (state.undo == nullptr) return {};
  for (const UndoRecord* record = state.undo->newest(); record != nullptr;
       record = record->previous) {
    state.undo->page_in(record);
    unending_yield_point(kUnknownWork);
    if (record->tree != tree || !record->is_version()) continue;
    // The newest record decides, so the oldest is noted last.
    const auto note = [&](Bytes key) {
      found[{key.begin(), key.end()}] = record->kind == UndoRecord::Kind::inserted;
    };
    if (record->kind != UndoRecord::Kind::removed_run) {
      note(record->key());
      continue;
    }
    const RemovedRun run(*record);
    for (std::uint32_t i = 0; i < run.left(); ++i) note(run.key(i));
  }
  std::vector<ChangedKey> keys;
  keys.reserve(found.size());
  for (auto& [key, is_new] : found) keys.push_back({key, is_new});
  return keys;
}

}  // namespace swizzle
