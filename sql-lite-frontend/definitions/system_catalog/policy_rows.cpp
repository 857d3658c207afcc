#include "sql-lite-frontend/definitions/system_catalog/keyed_objects.h"
#include "sql-lite-frontend/definitions/system_catalog/objects.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/statement/names/shown_policy.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/array/array.h"

namespace swizzle::sql {
namespace {

Value condition_value(Execution& execution, const TablePtr& table,
                      const PolicyCondition& condition) {
  if (!condition.is_given()) return Value::null();
  return text_value(execution, shown_policy_condition(context_of(execution), table, condition));
}

}  // namespace

void policy_rows(Execution& execution, const EmitRow& emit) {
  for (const TablePtr& table : tables_for(context_of(execution), emit.key)) {
    for (const Policy& policy : table->relation.policies) {
      std::vector<Value> roles;
      for (const Oid role : policy.roles) roles.push_back(Value::from_oid(role));
      const Value row[] = {Value::from_oid(policy.oid),
                           text_value(execution, policy.name),
                           Value::from_oid(table->relation.oid),
                           letter(policy.command),
                           flag(policy.permissive),
                           make_array(execution.row_arena, TypeId::oid, roles),
                           condition_value(execution, table, policy.using_rows),
                           condition_value(execution, table, policy.check)};
      emit(row);
    }
  }
}

}  // namespace swizzle::sql
