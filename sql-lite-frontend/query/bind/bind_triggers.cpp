#include <algorithm>

#include "sql-lite-frontend/query/bind/trigger_scope.h"

/// Finds the triggers that a statement may fire.
namespace swizzle::sql {
namespace {

/// Returns true if UPDATE OF matches: the statement sets one of the columns, or a column from which
/// one of them is generated.
bool assigns_any(const WriteStatement& write, const Trigger& trigger) {
  const auto is_of = [&](const Assignment& assignment) {
    const auto number = static_cast<std::int16_t>(assignment.position + 1);
    return std::ranges::find(trigger.columns, number) != trigger.columns.end();
  };
  return std::ranges::any_of(write.assignments, is_of) ||
         std::ranges::any_of(write.generated, is_of);
}

}  // namespace

Scope condition_scope(Binder& binder, const TablePtr& table, const ConditionSlots& slots) {
  Scope scope = binder.table_scope(table, "old", slots.old_row);
  Scope added = binder.table_scope(table, "new", slots.new_row);
  scope.items.push_back(std::move(added.items[0]));
  scope.from_slots.push_back(added.from_slots[0]);
  scope.clause = Clause::trigger_when;
  return scope;
}

void Binder::bind_triggers(WriteStatement& write) {
  const Relation& relation = write.table->relation;
  for (const Trigger& trigger : relation.triggers) {
    if (trigger.enabled == 'D') continue;
    // The leaves fire their own: the partitions have copies of the trigger.
    if (write.partitions.tree && trigger.for_each_row) continue;
    for (const TriggerEvent event :
         {TriggerEvent::insert, TriggerEvent::update, TriggerEvent::remove}) {
      if (!trigger.fires_on(event) || !write.does(event)) continue;
      const bool updates = event == TriggerEvent::update;
      if (updates && !trigger.columns.empty() && !assigns_any(write, trigger)) continue;
      FiredTriggers::Fired fired{&trigger, event, nullptr};
      if (!trigger.when_sql.empty()) {
        if (write.triggers.new_slot == 0) {
          write.triggers.old_slot = new_slots(relation.columns.size());
          write.triggers.new_slot = new_slots(relation.columns.size());
        }
        Scope scope =
            condition_scope(*this, write.table, {write.triggers.old_slot, write.triggers.new_slot});
        fired.when = bind_stored(trigger.when_sql, scope);
      }
      const bool assigns = updates && trigger.for_each_row && trigger.time == TriggerTime::before;
      write.triggers.may_assign |= assigns;
      write.triggers.fired.push_back(std::move(fired));
    }
  }
  if (!write.triggers.may_assign) return;
  // A trigger may change any column of a key.
  write.assigned_key_columns.clear();
  for (const Index& index : relation.indexes) {
    if (!index.is_immediate_key() || !index.predicate_sql.empty()) continue;
    for (const IndexColumn& column : index.columns) {
      if (column.column == 0) continue;
      write.assigned_key_columns.push_back(static_cast<std::size_t>(column.column - 1));
    }
  }
}

}  // namespace swizzle::sql
