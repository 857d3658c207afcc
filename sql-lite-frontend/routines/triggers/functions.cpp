#include "sql-lite-frontend/routines/functions.h"

#include "sql-lite-frontend/routines/triggers/show_trigger.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// Functions that describe triggers.
namespace swizzle::sql {
namespace {

Value trigger_definition(Execution& execution, std::span<const Value> arguments) {
  const bool pretty = arguments.size() > 1 && arguments[1].as_bool();
  StatementContext& session = context_of(execution);
  for (const TablePtr& table : session.catalog.naming<Table>({arguments[0].as_oid()})) {
    for (const Trigger& trigger : table->relation.triggers) {
      if (trigger.oid != arguments[0].as_oid()) continue;
      const std::string shown = shown_trigger(session, table, trigger, pretty);
      return Value::from_text(shown).copy_to(execution.row_arena);
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
