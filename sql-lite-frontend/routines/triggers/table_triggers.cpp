#include "sql-lite-frontend/routines/triggers/table_triggers.h"

#include "sql-lite-frontend/query/bound/statement_services.h"
#include "sql-lite-frontend/routines/triggers/condition.h"

namespace swizzle::sql {
namespace {

/// A statement's condition reads no columns.
bool condition_holds(StatementContext& session, Scratch& scratch, const TablePtr& table,
                     const Trigger& trigger) {
  if (trigger.when_sql.empty()) return true;
  Binder binder{session.names, scratch.arena};
  Scope scope = condition_scope(binder, table, {});
  const ExprPtr condition = binder.bind_stored(trigger.when_sql, scope);
  scratch.execution.slots.resize(binder.slot_count());
  return holds(*condition, scratch.execution);
}

}  // namespace

void fire_for_truncate(StatementContext& session, std::span<const TablePtr> tables,
                       TriggerTime time) {
  for (const TablePtr& before : tables) {
    // Looked up again, because TRUNCATE creates a new version of the table.
    const TablePtr table = session.names.table(before->relation.oid);
    if (!table) continue;
    for (const Trigger& trigger : table->relation.triggers) {
      if (trigger.time != time || !trigger.fires_on(TriggerEvent::truncate)) continue;
      if (!session.may_fire(trigger)) continue;
      const std::unique_ptr<Scratch> scratch = session.new_scratch();
      scratch->execution.transaction = session.transaction.get();
      if (!condition_holds(session, *scratch, table, trigger)) continue;
      session.fire(scratch->execution, trigger, table, TriggerEvent::truncate, {});
    }
  }
}

}  // namespace swizzle::sql
