// LOCK TABLE.
#include <fmt/format.h>

#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/session/commands/statements.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/names/heirs.h"

namespace swizzle::sql {
namespace {

void lock_relation(Session::State& session, const Table& table, lock::RelationMode mode,
                   WaitPolicy wait) {
  const Oid oid = table.relation.oid;
  Result<bool> locked = session.transaction->lock_relation(lock::RelationId{oid}, mode, wait);
  if (!locked && wait == WaitPolicy::no_wait &&
      locked.error().state() == sqlstate::lock_not_available) {
    throw_error(sqlstate::lock_not_available, "could not obtain lock on relation \"{}\"",
                table.relation.name);
  }
  value_of(std::move(locked));
}

/// Returns the table once it is locked: while we waited the name may have become another table's.
TablePtr lock_named(Session::State& session, const ast::RangeVar& range, lock::RelationMode mode,
                    WaitPolicy wait) {
  Arena arena;
  Binder binder{session.names, arena};
  TablePtr table = binder.require_relation(range);
  for (;;) {
    const RelationKind kind = table->relation.kind;
    if (kind == RelationKind::sequence || kind == RelationKind::materialized) {
      throw sql_error(sqlstate::wrong_object_type, "cannot lock relation \"{}\"",
                      table->relation.name)
          .with_detail(
              fmt::format("This operation is not supported for {}.", plural_of({table, nullptr})));
    }
    session.rights.require_lock(table, mode);
    if (table->computed != nullptr) return table;
    lock_relation(session, *table, mode, wait);
    TablePtr now = binder.require_relation(range);
    const bool is_it = now->relation.oid == table->relation.oid;
    table = std::move(now);
    if (is_it) return table;
  }
}

/// Locks the table and its partitions or heirs.
void lock_whole(Session::State& session, const TablePtr& table, lock::RelationMode mode,
                WaitPolicy wait) {
  if (!table->relation.has_parts()) return lock_relation(session, *table, mode, wait);
  for (const TablePtr& one : with_parts(session, table)) {
    lock_relation(session, *one, mode, wait);
  }
}

/// The relations that a view reads, other views' included, each as the view that reads it may.
void lock_below(Session::State& session, const Table& view, lock::RelationMode mode,
                WaitPolicy wait) {
  const StatementPtr query =
      session.plans.parse("SELECT FROM " + session.names.qualified_name(view), {});
  const auto plan = session.plans.make(*query)->plan;
  for (const RelationAccess& access : plan->accesses) {
    const RelationKind kind = access.table->relation.kind;
    const bool may_be_locked = is_table(kind) || kind == RelationKind::view;
    if (access.table->relation.oid == view.relation.oid || !may_be_locked) continue;
    session.rights.require_lock(access.table, mode, access.as_role);
    if (access.table->computed == nullptr) lock_whole(session, access.table, mode, wait);
  }
}

}  // namespace

void lock_table(Session::State& session, const ast::LockStmt& statement) {
  const lock::RelationMode mode{static_cast<std::uint8_t>(statement.mode)};
  const WaitPolicy wait = statement.nowait ? WaitPolicy::no_wait : WaitPolicy::wait;
  for (const ast::Node* node : statement.relations) {
    const auto& range = ast::as<ast::RangeVar>(node);
    const TablePtr table = lock_named(session, range, mode, wait);
    if (table->relation.has_parts() && range.inh) lock_whole(session, table, mode, wait);
    if (table->relation.kind == RelationKind::view) lock_below(session, *table, mode, wait);
  }
}

}  // namespace swizzle::sql
