#include "sql-lite-frontend/definitions/system_catalog/keyed_objects.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/routines/triggers/condition.h"
#include "sql-lite-frontend/routines/triggers/internal_triggers.h"
#include "sql-lite-frontend/routines/triggers/show_trigger.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/array/array.h"

namespace swizzle::sql {
namespace {

/// Returns pg_trigger.tgargs: each argument followed by a zero byte.
Value argument_bytes(Execution& execution, const Trigger& trigger) {
  std::string bytes;
  for (const std::string& argument : trigger.arguments) {
    bytes += argument;
    bytes += '\0';
  }
  return make_bytes(execution.row_arena, as_bytes(bytes));
}

/// Returns an int2vector, whose subscripts begin at 0.
Value vector_value(Execution& execution, std::span<const Value> values) {
  const ArrayDimension dimension{static_cast<std::int32_t>(values.size()), 0};
  return make_array(execution.row_arena, TypeId::int2, {&dimension, 1}, values);
}

Value name_or_null(Execution& execution, const std::string& name) {
  return name.empty() ? Value::null() : text_value(execution, name);
}

/// Values of a row of pg_trigger that its Trigger does not have.
struct TriggerRow {
  bool is_internal = false;
  Oid index = kNoOid;
};

void emit_trigger(Execution& execution, const EmitRow& emit, const TablePtr& table,
                  const Trigger& trigger, const TriggerRow& facts) {
  StatementContext& session = context_of(execution);
  std::vector<Value> columns;
  for (const std::int16_t number : trigger.columns) columns.push_back(Value::from_int(number));
  const Value row[] = {Value::from_oid(trigger.oid),
                       Value::from_oid(table->relation.oid),
                       Value::from_oid(trigger.parent),
                       text_value(execution, trigger.name),
                       Value::from_oid(trigger.function),
                       Value::from_int(trigger_type_bits(trigger)),
                       letter(trigger.enabled),
                       flag(facts.is_internal),
                       Value::from_oid(trigger.referenced_table),
                       Value::from_oid(facts.index),
                       Value::from_oid(trigger.constraint),
                       flag(trigger.deferrable),
                       flag(trigger.initially_deferred),
                       number(trigger.arguments.size()),
                       vector_value(execution, columns),
                       argument_bytes(execution, trigger),
                       trigger.when_sql.empty()
                           ? Value::null()
                           : text_value(execution, shown_condition(session, table, trigger, false)),
                       name_or_null(execution, trigger.old_table),
                       name_or_null(execution, trigger.new_table)};
  emit(row);
}

/// Tables whose triggers may have the key.
std::vector<TablePtr> tables_with_trigger(StatementContext& session, const RowKey& key) {
  const Oid constraint = constraint_of_internal_trigger(key.number);
  if (constraint == kNoOid) return tables_for(session, key);
  std::vector<TablePtr> found;
  for (const TablePtr& table : tables_with_part(session, constraint)) {
    found.push_back(table);
    for (const Constraint& one : table->relation.constraints) {
      const bool is_beside = one.oid == constraint && one.referenced_table != kNoOid &&
                             one.referenced_table != table->relation.oid;
      const TablePtr referenced = is_beside ? session.names.table(one.referenced_table) : nullptr;
      if (referenced) found.push_back(referenced);
    }
  }
  return found;
}

}  // namespace

void trigger_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const TablePtr& table : tables_with_trigger(session, emit.key)) {
    for (const Trigger& trigger : table->relation.triggers)
      emit_trigger(execution, emit, table, trigger, {});
    for (const InternalTrigger& internal : internal_triggers(session, *table))
      emit_trigger(execution, emit, table, internal.trigger, {true, internal.index});
  }
}

}  // namespace swizzle::sql
