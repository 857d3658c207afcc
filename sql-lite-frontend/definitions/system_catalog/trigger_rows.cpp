#include "sql-lite-frontend/definitions/system_catalog/keyed_objects.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/routines/triggers/condition.h"
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

}  // namespace

void trigger_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const TablePtr& table : tables_for(session, emit.key)) {
    for (const Trigger& trigger : table->relation.triggers) {
      std::vector<Value> columns;
      for (const std::int16_t number : trigger.columns) columns.push_back(Value::from_int(number));
      const Value row[] = {
          Value::from_oid(trigger.oid),
          Value::from_oid(table->relation.oid),
          Value::from_oid(trigger.parent),
          text_value(execution, trigger.name),
          Value::from_oid(trigger.function),
          Value::from_int(trigger_type_bits(trigger)),
          letter(trigger.enabled),
          flag(false),
          Value::from_oid(trigger.referenced_table),
          Value::from_oid(kNoOid),
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
  }
}

}  // namespace swizzle::sql
