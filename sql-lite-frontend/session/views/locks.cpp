// pg_locks, and the snapshots for which versions are kept.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/views/providers.h"
#include "storage/statistics.h"

namespace swizzle::sql {
namespace {

using Kind = lock::LockRow::Kind;

/// Returns the relation or index of each tree.
std::map<TreeId, Oid> owners_of_trees(Session::State& session) {
  std::map<TreeId, Oid> owners;
  for (const TablePtr& table : session.catalog.tables()) {
    if (table->relation.kind != RelationKind::table) continue;
    owners[table->relation.tree] = table->relation.oid;
    for (const Index& index : table->relation.indexes) {
      if (index.tree != TreeId::directory) owners[index.tree] = index.oid;
    }
  }
  return owners;
}

std::string_view access_name(lock::Access access) {
  constexpr std::string_view names[lock::kAccesses] = {"", "KeyShare", "Share", "NoKeyExclusive",
                                                       "Exclusive"};
  return names[std::to_underlying(access)];
}

/// Returns pg_locks' mode of a key lock: "ExclusiveLock", "ShareLock", or the name of a gap's lock.
std::string key_mode_name(lock::KeyMode mode) {
  std::string name;
  if (mode.key != lock::Access::none) name = fmt::format("{}Lock", access_name(mode.key));
  if (mode.gap == lock::Access::none) return name;
  return fmt::format("{}{}{}GapLock", name, name.empty() ? "" : ",", access_name(mode.gap));
}

std::string mode_name(const lock::LockRow& row) {
  switch (row.kind) {
    case Kind::key:
    case Kind::transaction:
      return key_mode_name(row.key_mode);
    case Kind::relation:
      return std::string{lock::name(lock::relation_mode_of_content(row.table_mode))};
    case Kind::relation_holders:
      return std::string{lock::name(lock::RelationMode::share)};
    case Kind::relation_rows:
      return std::string{lock::name(lock::relation_mode_of_rows(row.table_mode))};
    case Kind::table:
    case Kind::database:
      break;
  }
  return std::string{lock::name(row.table_mode)};
}

std::string_view type_name(Kind kind) {
  switch (kind) {
    case Kind::key:
      return "tuple";
    case Kind::relation:
    case Kind::relation_rows:
      return "relation";
    case Kind::table:
      return "tree";
    case Kind::transaction:
      return "transactionid";
    case Kind::relation_holders:
      return "virtualxid";
    case Kind::database:
      break;
  }
  return "database";
}

/// Removes relation locks that come with a lock on all rows of the relation: only the latter is
/// shown.
void drop_first_parts(std::vector<lock::LockRow>& rows) {
  std::erase_if(rows, [&](const lock::LockRow& row) {
    if (row.kind != Kind::relation || row.state != lock::LockRow::State::granted) return false;
    return std::ranges::any_of(rows, [&](const lock::LockRow& other) {
      return other.kind == Kind::relation_rows && other.relation == row.relation &&
             other.label == row.label && other.txn == row.txn &&
             lock::parts_of(lock::relation_mode_of_rows(other.table_mode)).content ==
                 row.table_mode;
    });
  });
}

/// Returns the name of a session's transaction, of which it has one at a time.
Value virtual_transaction(Execution& execution, std::int32_t pid) {
  // A prepared transaction belongs to no session.
  return text_value(execution, pid <= 0 ? std::string{"-1/0"} : fmt::format("{}/1", pid));
}

void lock_rows(Execution& execution, const EmitRow& emit) {
  std::vector<lock::LockRow> rows = session_of(execution).shared.engine.locks();
  drop_first_parts(rows);
  const std::map<TreeId, Oid> trees = owners_of_trees(session_of(execution));
  for (const lock::LockRow& row : rows) {
    Value relation = Value::null();
    if (row.kind == Kind::relation || row.kind == Kind::relation_rows) {
      relation = Value::from_oid(raw(row.relation));
    } else if (row.kind != Kind::relation_holders) {
      const auto owner = trees.find(row.tree);
      if (owner != trees.end()) relation = Value::from_oid(owner->second);
    }
    Value since = Value::null();
    if (row.waiting_since) {
      const auto waited = Runtime::current().now() - *row.waiting_since;
      since =
          Value::from_int(SessionContext::system_clock_now() -
                          std::chrono::duration_cast<std::chrono::microseconds>(waited).count());
    }
    const TxnId txn = row.kind == Kind::transaction
                          ? lock::transaction_of(lock::TransactionLock{row.hash})
                          : row.txn;
    const bool has_id = row.kind == Kind::transaction && txn != TxnId::none;
    const Value columns[] = {
        text_value(execution, type_name(row.kind)),
        Value::from_oid(session_of(execution).catalog.of_database().database()),
        relation,
        Value::null(),
        Value::null(),
        Value::null(),
        has_id ? Value::from_oid(static_cast<Oid>(raw(txn))) : Value::null(),
        Value::null(),
        Value::null(),
        Value::null(),
        virtual_transaction(execution, row.label),
        row.label == 0 ? Value::null() : Value::from_int(row.label),
        text_value(execution, mode_name(row)),
        Value::from_bool(row.state == lock::LockRow::State::granted),
        Value::from_bool(row.path == lock::LockRow::Path::private_slot),
        since};
    emit(columns);
  }
}

/// Adds what serializable transactions have read: keys and whole trees.
void read_mark_rows(Execution& execution, const EmitRow& emit) {
  using Of = lock::ReadMarkRow::Of;
  const std::vector<lock::ReadMarkRow> marks = session_of(execution).shared.engine.read_marks();
  if (marks.empty()) return;
  const std::map<TreeId, Oid> trees = owners_of_trees(session_of(execution));
  for (const lock::ReadMarkRow& mark : marks) {
    const auto owner = trees.find(mark.tree);
    const Value columns[] = {
        text_value(execution, mark.of == Of::key    ? "tuple"
                              : mark.of == Of::tree ? "relation"
                                                    : "database"),
        Value::from_oid(session_of(execution).catalog.of_database().database()),
        owner == trees.end() ? Value::null() : Value::from_oid(owner->second),
        Value::null(),
        Value::null(),
        Value::null(),
        Value::null(),
        Value::null(),
        Value::null(),
        Value::null(),
        virtual_transaction(execution, mark.label),
        mark.label == 0 ? Value::null() : Value::from_int(mark.label),
        text_value(execution, "SIReadLock"),
        Value::from_bool(true),
        Value::from_bool(false),
        Value::null()};
    emit(columns);
  }
}

void snapshot_rows(Execution& execution, const EmitRow& emit) {
  Engine& engine = session_of(execution).shared.engine;
  for (const HeldSnapshot& held : engine.snapshots()) {
    const Value row[] = {held.label == 0 ? Value::null() : Value::from_int(held.label),
                         Value::from_int(static_cast<std::int64_t>(raw(held.lsn))),
                         Value::from_int(static_cast<std::int64_t>(held.held_bytes)),
                         Value::from_bool(held.state == HeldSnapshot::State::too_old)};
    emit(row);
  }
}

void version_store_rows(Execution& execution, const EmitRow& emit) {
  const EngineStatistics now = session_of(execution).shared.engine.statistics();
  const Value row[] = {Value::from_int(static_cast<std::int64_t>(now.version_bytes)),
                       Value::from_int(static_cast<std::int64_t>(now.version_file_bytes)),
                       Value::from_int(static_cast<std::int64_t>(now.snapshots_too_old))};
  emit(row);
}

void advisory_lock_rows(Execution& execution, const EmitRow& emit,
                        const std::vector<AdvisoryLocks::Held>& locks, bool granted) {
  for (const AdvisoryLocks::Held& held : locks) {
    const Value columns[] = {
        text_value(execution, "advisory"),
        Value::from_oid(held.key.database),
        Value::null(),
        Value::null(),
        Value::null(),
        Value::null(),
        Value::null(),
        Value::from_oid(static_cast<Oid>(held.key.number >> 32U)),
        Value::from_oid(static_cast<Oid>(held.key.number)),
        Value::from_int(held.key.is_pair ? 2 : 1),
        virtual_transaction(execution, held.session),
        held.session < 0 ? Value::null() : Value::from_int(held.session),
        text_value(execution, held.mode == AdvisoryMode::shared ? "ShareLock" : "ExclusiveLock"),
        Value::from_bool(granted),
        Value::from_bool(false),
        Value::null()};
    emit(columns);
  }
}

/// Adds the locks that a session always holds in PostgreSQL while it reads pg_locks, though the
/// engine needs none: its transaction, by both of its numbers, and the view.
void own_lock_rows(Execution& execution, const EmitRow& emit) {
  constexpr Oid kPgLocks = 12111;
  Session::State& session = session_of(execution);
  const std::int32_t pid = session.options.backend_pid;
  const Value name = virtual_transaction(execution, pid);
  const auto row = [&](std::string_view type, Value relation, Value virtual_id, Value number,
                       std::string_view mode) {
    const Value columns[] = {text_value(execution, type),
                             relation.is_null()
                                 ? Value::null()
                                 : Value::from_oid(session.catalog.of_database().database()),
                             relation,
                             Value::null(),
                             Value::null(),
                             virtual_id,
                             number,
                             Value::null(),
                             Value::null(),
                             Value::null(),
                             name,
                             Value::from_int(pid),
                             text_value(execution, mode),
                             Value::from_bool(true),
                             Value::from_bool(number.is_null()),
                             Value::null()};
    emit(columns);
  };
  const Value none = Value::null();
  row("relation", Value::from_oid(kPgLocks), none, none, "AccessShareLock");
  row("virtualxid", none, name, none, "ExclusiveLock");
  SessionTransaction& transaction = session.transaction;
  // A transaction gets its number with its first write in PostgreSQL.
  if (execution.transaction->id() != TxnId::none || transaction.number != 0) {
    const auto number = static_cast<Oid>(transaction.numbered());
    row("transactionid", none, none, Value::from_oid(number), "ExclusiveLock");
  }
}

void all_lock_rows(Execution& execution, const EmitRow& emit) {
  const AdvisoryLocks& advisory = session_of(execution).shared.advisory_locks;
  lock_rows(execution, emit);
  read_mark_rows(execution, emit);
  advisory_lock_rows(execution, emit, advisory.held(), true);
  advisory_lock_rows(execution, emit, advisory.waited_for(), false);
  own_lock_rows(execution, emit);
}

}  // namespace

std::span<const RowProvider> lock_providers() {
  using enum TypeId;
  static const std::vector<RowProvider> kProviders{
      {kPgCatalogSchema,
       "pg_locks",
       {{"locktype"},
        {"database"},
        {"relation"},
        {"page"},
        {"tuple"},
        {"virtualxid"},
        {"transactionid"},
        {"classid"},
        {"objid"},
        {"objsubid"},
        {"virtualtransaction"},
        {"pid"},
        {"mode"},
        {"granted"},
        {"fastpath"},
        {"waitstart"}},
       all_lock_rows},
      {kPgCatalogSchema,
       "swizzle_snapshots",
       {{"pid", int4}, {"snapshot_lsn", int8}, {"held_bytes", int8}, {"too_old", bool_}},
       snapshot_rows},
      {kPgCatalogSchema,
       "swizzle_version_store",
       {{"bytes", int8}, {"file_bytes", int8}, {"snapshots_given_up", int8}},
       version_store_rows},
  };
  return kProviders;
}

}  // namespace swizzle::sql
