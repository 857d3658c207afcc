#include "sql-lite-frontend/routines/triggers/show_trigger.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/routines/triggers/builtin_triggers.h"
#include "sql-lite-frontend/routines/triggers/condition.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

std::string shown_events(const Table& table, const Trigger& trigger) {
  std::string text;
  const auto add = [&](TriggerEvent event, std::string_view word) {
    if (!trigger.fires_on(event)) return;
    if (!text.empty()) text += " OR ";
    text += word;
    if (event != TriggerEvent::update || trigger.columns.empty()) return;
    std::string_view before = " OF ";
    for (const std::int16_t number : trigger.columns) {
      text += before;
      text += quote_identifier(table.relation.columns[static_cast<std::size_t>(number - 1)].name);
      before = ", ";
    }
  };
  add(TriggerEvent::insert, "INSERT");
  add(TriggerEvent::remove, "DELETE");
  add(TriggerEvent::update, "UPDATE");
  add(TriggerEvent::truncate, "TRUNCATE");
  return text;
}

std::string_view shown_time(TriggerTime time) {
  if (time == TriggerTime::before) return "BEFORE";
  return time == TriggerTime::after ? "AFTER" : "INSTEAD OF";
}

std::string shown_function(StatementContext& session, const Trigger& trigger) {
  if (const auto* builtin = find_builtin_trigger_function(trigger.function)) {
    return std::string{builtin->name};
  }
  const auto internal =
      std::ranges::find(internal_function_names(), trigger.function, &FunctionName::oid);
  if (internal != internal_function_names().end()) return quote_identifier(internal->name);
  const RoutinePtr routine = session.catalog.routine(trigger.function);
  if (!routine) return fmt::format("{}", trigger.function);
  std::string name = quote_identifier(routine->name);
  if (!session.names.is_visible(*routine)) {
    name = quote_identifier(session.names.schema_name(routine->schema)) + "." + name;
  }
  return name;
}

}  // namespace

std::int16_t trigger_type_bits(const Trigger& trigger) {
  int bits = 0;
  if (trigger.for_each_row) bits |= 1;
  if (trigger.time == TriggerTime::before) bits |= 1 << 1;
  if (trigger.time == TriggerTime::instead_of) bits |= 1 << 6;
  if (trigger.fires_on(TriggerEvent::insert)) bits |= 1 << 2;
  if (trigger.fires_on(TriggerEvent::remove)) bits |= 1 << 3;
  if (trigger.fires_on(TriggerEvent::update)) bits |= 1 << 4;
  if (trigger.fires_on(TriggerEvent::truncate)) bits |= 1 << 5;
  return static_cast<std::int16_t>(bits);
}

std::string shown_trigger(StatementContext& session, const TablePtr& table, const Trigger& trigger,
                          bool pretty) {
  std::string text = fmt::format(
      "CREATE {}TRIGGER {} {} {} ON {} ", trigger.constraint != kNoOid ? "CONSTRAINT " : "",
      quote_identifier(trigger.name), shown_time(trigger.time), shown_events(*table, trigger),
      pretty ? *session.names.name_of(TypeId::regclass, table->relation.oid)
             : session.names.qualified_name(*table));
  if (trigger.constraint != kNoOid) {
    if (const TablePtr referenced = session.names.table(trigger.referenced_table)) {
      text += "FROM " + *session.names.name_of(TypeId::regclass, referenced->relation.oid) + " ";
    }
    if (!trigger.deferrable) text += "NOT ";
    text += "DEFERRABLE INITIALLY ";
    text += trigger.initially_deferred ? "DEFERRED " : "IMMEDIATE ";
  }
  if (!trigger.old_table.empty() || !trigger.new_table.empty()) {
    text += "REFERENCING ";
    if (!trigger.old_table.empty()) {
      text += "OLD TABLE AS " + quote_identifier(trigger.old_table) + " ";
    }
    if (!trigger.new_table.empty()) {
      text += "NEW TABLE AS " + quote_identifier(trigger.new_table) + " ";
    }
  }
  text += trigger.for_each_row ? "FOR EACH ROW " : "FOR EACH STATEMENT ";
  if (!trigger.when_sql.empty()) {
    std::string condition = shown_condition(session, table, trigger, pretty);
    text += "WHEN " + condition + " ";
  }
  text += "EXECUTE FUNCTION " + shown_function(session, trigger) + "(";
  for (std::size_t i = 0; i < trigger.arguments.size(); ++i) {
    if (i > 0) text += ", ";
    text += quote_literal(trigger.arguments[i]);
  }
  return text + ")";
}

}  // namespace swizzle::sql
