#include "storage/txn/restart/restart_prepared.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "storage/engine_parts.h"
#include "storage/recovery/records/prepared_record.h"
#include "storage/recovery/records/record_effects.h"
#include "storage/txn/restart/restart_changes.h"
#include "storage/txn/transaction_state.h"

namespace swizzle {
namespace {

/// Reads the record at `at`, and those before it that belong to it.
Result<std::pair<PreparedRecord, PreparedKept>> read_prepared(EngineParts& engine, Lsn at) {
  wal::Reader reader = engine.log->reader(wal::ReadPattern::random);
  ASSIGN_OR_RETURN(const wal::Record record, reader.read(at));
  ASSIGN_OR_RETURN(PreparedRecord prepared, payload::decode_prepared(record.payload));
  PreparedKept kept;
  Lsn before = record.header.txn_prev;
  while (kept.items() < prepared.kept_items && before != Lsn::none) {
    ASSIGN_OR_RETURN(const wal::Record part, reader.read(before));
    if (kind_of(part.header) != RecordKind::prepared_kept) break;
    RETURN_IF_ERROR(payload::decode_kept(part.payload, kept));
    before = part.header.txn_prev;
  }
  if (kept.items() != prepared.kept_items)
    return fail(sqlstate::data_corrupted,
                fmt::format("the log record at {} of prepared transaction \"{}\" misses what was "
                            "to be kept for it",
                            raw(at), prepared.gid));
  return std::pair{std::move(prepared), std::move(kept)};
}

/// A transaction that was prepared at SERIALIZABLE: others do not know what it has read.
Result<> join_conflicts(TransactionState& state) {
  if (!state.conflicts.join_prepared()) return fail(sqlstate::out_of_memory, "out of memory");
  state.undo->serial.store(state.conflicts.id(), std::memory_order_relaxed);
  return {};
}

Result<> take_up(EngineParts& engine, const ActiveTransaction& of) {
  ASSIGN_OR_RETURN(const auto known, read_prepared(engine, of.last));
  const auto& [prepared, kept] = known;
  ASSIGN_OR_RETURN(auto state, state_of_unended(engine, of, prepared.began_at));
  state->slot.is_prepared.store(true, std::memory_order_relaxed);
  std::unique_ptr<UndoLog> backward = engine.transactions->take_undo();
  ChangesBackward changes(engine, *backward);
  auto taken = changes.read(of.last);
  if (taken) taken = ChangesForward(*state, kept, changes.found()).take_all(*backward);
  engine.transactions->give_undo(std::move(backward));
  if (engine.options.locking)
    for (const lock::HeldLock& lock : kept.locks)
      if (taken) taken = state->locks.retake(lock);
  const auto is_on_database = [](const lock::HeldLock& lock) {
    return lock.kind == lock::LockRow::Kind::database;
  };
  if (taken && std::ranges::any_of(kept.locks, is_on_database)) taken = join_conflicts(*state);
  if (!taken) {
    state->abandon();
    return taken;
  }
  auto place = engine.prepared.reserve({.gid = prepared.gid,
                                        .id = of.id,
                                        .prepared_at_us = prepared.prepared_at_us,
                                        .note = prepared.note});
  if (!place) {
    state->abandon();
    return fail(std::move(place).error());
  }
  state->slot.is_prepared_empty.store(state->undo->count() == 0, std::memory_order_relaxed);
  engine.prepared.put(**place, std::move(state));
  spdlog::info("transaction {} is prepared and waits as \"{}\"", raw(of.id), prepared.gid);
  return {};
}

}  // namespace

Result<std::vector<PreparedTransaction>> list_prepared(EngineParts& engine,
                                                       std::span<const ActiveTransaction> active) {
  std::vector<PreparedTransaction> all;
  wal::Reader reader = engine.log->reader(wal::ReadPattern::random);
  for (const ActiveTransaction& each : active) {
    ASSIGN_OR_RETURN(const wal::Record last, reader.read(each.last));
    if (kind_of(last.header) != RecordKind::transaction_prepared) continue;
    ASSIGN_OR_RETURN(PreparedRecord prepared, payload::decode_prepared(last.payload));
    all.push_back({.gid = std::move(prepared.gid),
                   .id = each.id,
                   .prepared_at_us = prepared.prepared_at_us,
                   .note = std::move(prepared.note)});
  }
  std::ranges::sort(all, {}, &PreparedTransaction::gid);
  return all;
}

Result<> take_up_prepared(EngineParts& engine, std::span<const ActiveTransaction> prepared) {
  for (const ActiveTransaction& each : prepared) RETURN_IF_ERROR(take_up(engine, each));
  return {};
}

}  // namespace swizzle
