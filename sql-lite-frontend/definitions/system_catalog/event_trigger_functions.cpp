// pg_event_trigger, and the functions that tell event triggers what has happened.
#include <array>

#include "sql-lite-frontend/definitions/system_catalog/functions.h"
#include "sql-lite-frontend/definitions/system_catalog/object_identity.h"
#include "sql-lite-frontend/definitions/system_catalog/objects.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/definitions/system_catalog/rows_cursor.h"
#include "sql-lite-frontend/statement/event_trigger_context.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
constexpr SqlState kProtocolViolated{"39P03"};

const EventTriggerContext& require_event(StatementContext& session, std::string_view event,
                                         std::string_view function, std::string_view kind) {
  const EventTriggerContext* const context = session.event_trigger;
  if (context == nullptr || context->event != event) {
    throw_error(kProtocolViolated, "{} can only be called in {} function", function, kind);
  }
  return *context;
}

Value text_or_null(Arena& arena, std::string_view text) {
  return text.empty() ? Value::null() : make_text(arena, text);
}

Value text_array(Arena& arena, const std::vector<std::string>& texts) {
  std::vector<Value> values;
  for (const std::string& text : texts) values.push_back(make_text(arena, text));
  return make_array(arena, TypeId::text, values);
}

std::unique_ptr<SetCursor> dropped_objects(FunctionContext& context, Arguments /*arguments*/) {
  const EventTriggerContext& event =
      require_event(context_of(context), "sql_drop", "pg_event_trigger_dropped_objects()",
                    "a sql_drop event trigger");
  constexpr std::array kTypes{TypeId::oid,   TypeId::oid,   TypeId::int4,       TypeId::bool_,
                              TypeId::bool_, TypeId::bool_, TypeId::text,       TypeId::text,
                              TypeId::text,  TypeId::text,  TypeId::text_array, TypeId::text_array};
  Arena& arena = context.arena;
  std::vector<Value> rows;
  for (const EventTriggerContext::Dropped& one : event.dropped) {
    const std::array row{Value::from_oid(one.catalog),    Value::from_oid(one.object),
                         Value::from_int(one.part),       Value::from_bool(one.original),
                         Value::from_bool(!one.original), Value::from_bool(one.is_temporary),
                         make_text(arena, one.type),      text_or_null(arena, one.schema),
                         text_or_null(arena, one.name),   make_text(arena, one.identity),
                         text_array(arena, one.names),    text_array(arena, one.arguments)};
    rows.push_back(make_record(arena, kTypes, row));
  }
  return rows_cursor(std::move(rows));
}

bool is_of_extension(StatementContext& session, Oid object) {
  for (const ExtensionPtr& extension : session.catalog.all_made<Extension>()) {
    for (const Extension::Member& member : extension->members) {
      if (member.object == object) return true;
    }
  }
  return false;
}

Value rewritten_table(Execution& execution, Arguments /*arguments*/) {
  return Value::from_oid(require_event(context_of(execution), "table_rewrite",
                                       "pg_event_trigger_table_rewrite_oid()",
                                       "a table_rewrite event trigger")
                             .rewritten);
}

Value rewrite_reason(Execution& execution, Arguments /*arguments*/) {
  return Value::from_int(require_event(context_of(execution), "table_rewrite",
                                       "pg_event_trigger_table_rewrite_reason()",
                                       "a table_rewrite event trigger")
                             .rewrite_reason);
}

std::unique_ptr<SetCursor> defined_objects(FunctionContext& context, Arguments /*arguments*/) {
  StatementContext& session = context_of(context);
  const EventTriggerContext& event = require_event(
      session, "ddl_command_end", "pg_event_trigger_ddl_commands()", "an event trigger");
  constexpr std::array kTypes{TypeId::oid,  TypeId::oid,   TypeId::int4,
                              TypeId::text, TypeId::text,  TypeId::text,
                              TypeId::text, TypeId::bool_, TypeId::pg_ddl_command};
  Arena& arena = context.arena;
  std::vector<Value> rows;
  for (const EventTriggerContext::Defined& one : event.defined) {
    std::array row{Value::null(), Value::null(), Value::null(), make_text(arena, one.tag),
                   Value::null(), Value::null(), Value::null(), Value::from_bool(false),
                   Value::null()};
    if (one.catalog == kNoOid) {
      row[4] = make_text(arena, one.kind);
    } else {
      const ObjectIdentity identity = identity_of(session, one.catalog, one.object, one.part);
      // A trigger of the same event may have dropped it.
      if (identity.identity.empty()) continue;
      row[0] = Value::from_oid(one.catalog);
      row[1] = Value::from_oid(one.object);
      row[2] = Value::from_int(one.part);
      row[4] = make_text(arena, identity.type);
      row[5] = identity.schema ? make_text(arena, *identity.schema) : Value::null();
      row[6] = make_text(arena, identity.identity);
      row[7] = Value::from_bool(is_of_extension(session, one.object));
    }
    rows.push_back(make_record(arena, kTypes, row));
  }
  return rows_cursor(std::move(rows));
}

}  // namespace

void event_trigger_rows(Execution& execution, const EmitRow& emit) {
  for (const EventTriggerPtr& trigger : context_of(execution).catalog.all_made<EventTrigger>()) {
    const Value row[] = {
        Value::from_oid(trigger->oid),
        text_value(execution, trigger->name),
        text_value(execution, trigger->event),
        Value::from_oid(trigger->owner),
        Value::from_oid(trigger->function),
        letter(trigger->enabled),
        trigger->tags.empty() ? Value::null() : text_array(execution.row_arena, trigger->tags)};
    emit(row);
  }
}

std::span<const SessionEntry> event_trigger_functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"pg_event_trigger_table_rewrite_oid", rewritten_table},
      {"pg_event_trigger_table_rewrite_reason", rewrite_reason}};
  return kFunctions;
}

std::span<const SetEntry> event_trigger_sets() {
  static constexpr SetEntry kSets[] = {{"pg_event_trigger_ddl_commands()", defined_objects},
                                       {"pg_event_trigger_dropped_objects()", dropped_objects}};
  return kSets;
}

}  // namespace swizzle::sql
