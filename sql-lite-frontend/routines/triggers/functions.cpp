#include "sql-lite-frontend/routines/functions.h"

#include <optional>

#include "sql-lite-frontend/routines/triggers/internal_triggers.h"
#include "sql-lite-frontend/routines/triggers/show_trigger.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// Functions that describe triggers.
namespace swizzle::sql {
namespace {

/// Shows a trigger of a constraint: on the constraint's table or on the one it refers to.
template <class Show>
Value internal_definition(StatementContext& session, Oid number, const Show& show) {
  const auto on = [&](const TablePtr& table) -> std::optional<Value> {
    if (!table) return std::nullopt;
    for (const InternalTrigger& internal : internal_triggers(session, *table)) {
      if (internal.trigger.oid == number) return show(table, internal.trigger);
    }
    return std::nullopt;
  };
  const Oid constraint = constraint_of_internal_trigger(number);
  for (const TablePtr& table : session.catalog.naming<Table>({constraint})) {
    if (const auto shown = on(table)) return *shown;
    for (const Constraint& one : table->relation.constraints) {
      if (one.oid != constraint || one.referenced_table == kNoOid) continue;
      if (const auto shown = on(session.names.table(one.referenced_table))) return *shown;
    }
  }
  return Value::null();
}

Value trigger_definition(Execution& execution, std::span<const Value> arguments) {
  const bool pretty = arguments.size() > 1 && arguments[1].as_bool();
  StatementContext& session = context_of(execution);
  const auto shown = [&](const TablePtr& table, const Trigger& trigger) {
    return Value::from_text(shown_trigger(session, table, trigger, pretty))
        .copy_to(execution.row_arena);
  };
  if (constraint_of_internal_trigger(arguments[0].as_oid()) != kNoOid)
    return internal_definition(session, arguments[0].as_oid(), shown);
  for (const TablePtr& table : session.catalog.naming<Table>({arguments[0].as_oid()})) {
    for (const Trigger& trigger : table->relation.triggers) {
      if (trigger.oid != arguments[0].as_oid()) continue;
      return shown(table, trigger);
    }
  }
  return Value::null();
}

Value present_depth(Execution& execution, std::span<const Value> /*arguments*/) {
  return Value::from_int(context_of(execution).trigger_depth);
}

}  // namespace

std::span<const SessionEntry> trigger_functions() {
  static constexpr SessionEntry kFunctions[] = {{"pg_get_triggerdef", trigger_definition},
                                                {"pg_trigger_depth", present_depth}};
  return kFunctions;
}

}  // namespace swizzle::sql
