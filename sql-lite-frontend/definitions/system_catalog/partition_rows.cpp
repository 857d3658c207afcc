// pg_inherits and pg_partitioned_table.
#include <algorithm>

#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/catalog/partition_map.h"
#include "sql-lite-frontend/definitions/system_catalog/keyed_objects.h"
#include "sql-lite-frontend/definitions/system_catalog/objects.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/statement/names/definitions.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/collation/collated.h"

namespace swizzle::sql {
namespace {

/// Returns an int2vector or oidvector, whose subscripts begin at 0.
Value counted_from_zero(Execution& execution, TypeId element, std::span<const Value> values) {
  const ArrayDimension dimension{static_cast<std::int32_t>(values.size()), 0};
  return make_array(execution.row_arena, element, {&dimension, 1}, values);
}

Oid default_partition(StatementContext& session, const Relation& relation) {
  for (const Oid oid : relation.partitions) {
    const TablePtr partition = session.names.table(oid);
    if (partition && partition->relation.partition_bound->is_default) return oid;
  }
  return kNoOid;
}

}  // namespace

void inheritance_rows(Execution& execution, const EmitRow& emit) {
  const auto emit_pair = [&](Oid part, Oid whole, bool is_being_detached = false,
                             std::int64_t place = 1) {
    if (whole == kNoOid) return;
    const Value row[] = {Value::from_oid(part), Value::from_oid(whole), Value::from_int(place),
                         flag(is_being_detached)};
    emit(row);
  };
  for (const TablePtr& table : tables_for(context_of(execution), emit.key)) {
    emit_pair(table->relation.oid, table->relation.partition_of, table->relation.is_being_detached);
    std::int64_t place = 0;
    for (const Oid parent : table->relation.parents) {
      emit_pair(table->relation.oid, parent, false, ++place);
    }
    for (const Index& index : table->relation.indexes) emit_pair(index.oid, index.parent);
  }
}

void partitioned_table_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const TablePtr& table : tables_for(session, emit.key)) {
    const Relation& relation = table->relation;
    if (!relation.partition_key) continue;
    std::vector<Value> columns;
    std::vector<Value> classes;
    std::vector<Value> collations;
    std::string expressions;
    for (const PartitionColumn& column : relation.partition_key->columns) {
      columns.push_back(Value::from_int(column.column));
      classes.push_back(Value::from_oid(operator_class(column.type, column.operator_class)));
      const bool has_own = column.collation != kNoOid && !follows_database(column.type);
      collations.push_back(Value::from_oid(has_own ? shown_number(column.collation)
                                                   : default_collation(column.type)));
      if (column.column != 0) continue;
      if (!expressions.empty()) expressions += ", ";
      expressions += printed_expression(session, *table, column.expression_sql);
    }
    const Value row[] = {Value::from_oid(relation.oid),
                         letter(static_cast<char>(relation.partition_key->strategy)),
                         number(columns.size()),
                         Value::from_oid(default_partition(session, relation)),
                         counted_from_zero(execution, TypeId::int2, columns),
                         counted_from_zero(execution, TypeId::oid, classes),
                         counted_from_zero(execution, TypeId::oid, collations),
                         expressions.empty() ? Value::null() : text_value(execution, expressions)};
    emit(row);
  }
}

}  // namespace swizzle::sql
