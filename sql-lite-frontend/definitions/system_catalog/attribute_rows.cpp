// pg_attribute.
#include <fmt/format.h>

#include "sql-lite-frontend/definitions/system_catalog/keyed_objects.h"
#include "sql-lite-frontend/definitions/system_catalog/objects.h"
#include "sql-lite-frontend/definitions/system_catalog/privileges.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/statement/names/definitions.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {
namespace {

/// attcollation.
Oid collation_of(const Column& column) {
  return column.collation != kNoOid ? column.collation : default_collation(column.type);
}

/// attstorage.
char storage_of(const Column& column, const Type* type) {
  if (column.storage != 0) return column.storage;
  return type != nullptr ? type->storage : 'p';
}

/// Values of a row of pg_attribute that its Column does not have.
struct AttributeRow {
  Oid relation = kNoOid;
  std::int64_t number = 0;
  std::string_view name;
};

void emit_attribute(Execution& execution, const EmitRow& emit, const Column& column,
                    const AttributeRow& facts) {
  const Type* type = find_type(column.type);
  const Value row[] = {
      Value::from_oid(facts.relation),
      text_value(execution, facts.name),
      Value::from_oid(column.dropped ? 0 : raw(column.type)),
      column.statistics_target ? Value::from_int(*column.statistics_target) : Value::null(),
      Value::from_int(type != nullptr ? type->length : -1),
      Value::from_int(facts.number),
      Value::from_int(is_array(column.type) ? 1 : 0),
      Value::from_int(column.typmod),
      flag(type != nullptr && type->by_value),
      letter(type != nullptr ? type->alignment : 'i'),
      letter(storage_of(column, type)),
      letter(0),
      flag(column.not_null),
      flag(!column.default_sql.empty() && column.identity == 0),
      flag(column.missing.has_value()),
      letter(column.identity),
      letter(column.generated ? (column.is_virtual ? 'v' : 's') : 0),
      flag(column.dropped),
      flag(column.inherit_count > 0 ? column.also_local : !column.inherited),
      Value::from_oid(collation_of(column)),
      acl_value(execution, column.grants),
      Value::from_int(column.inherited ? 1 : column.inherit_count),
      options_value(execution, column.options)};
  emit(row);
}

void index_attributes(Execution& execution, const EmitRow& emit, const Table& table,
                      const Index& index) {
  const Relation& relation = table.relation;
  std::int64_t number = 0;
  for (const IndexColumn& part : index.columns) {
    ++number;
    Column column;
    column.type = part.type;
    column.statistics_target = part.statistics_target;
    // As in PostgreSQL, the name is that of the function if the expression is a call.
    std::string label = part.expression_sql.substr(0, part.expression_sql.find('('));
    if (label.empty() || label.size() == part.expression_sql.size()) label = "expr";
    // A user's function stands in the stored text by its number.
    if (label.starts_with("\"#"))
      label = name_of_expression(context_of(execution), table, part.expression_sql);
    if (part.column != 0) {
      const Column& indexed = relation.columns[static_cast<std::size_t>(part.column) - 1];
      column.type = indexed.type;
      column.typmod = indexed.typmod;
      label = indexed.name;
    }
    if (!follows_database(column.type)) column.collation = shown_number(part.collation);
    emit_attribute(execution, emit, column, {index.oid, number, label});
  }
  for (const std::int16_t included : index.included) {
    const Column& indexed = relation.columns[static_cast<std::size_t>(included) - 1];
    Column column;
    column.type = indexed.type;
    column.typmod = indexed.typmod;
    column.collation = indexed.collation;
    emit_attribute(execution, emit, column, {index.oid, ++number, indexed.name});
  }
}

/// The columns that rows have besides those of their relation.
void system_attributes(Execution& execution, const EmitRow& emit, Oid relation) {
  static constexpr std::pair<std::string_view, TypeId> kColumns[] = {
      {"ctid", TypeId::tid}, {"xmin", TypeId::xid}, {"cmin", TypeId::cid},
      {"xmax", TypeId::xid}, {"cmax", TypeId::cid}, {"tableoid", TypeId::oid}};
  std::int64_t number = 0;
  for (const auto& [label, type] : kColumns) {
    Column column;
    column.type = type;
    column.not_null = true;
    emit_attribute(execution, emit, column, {relation, --number, label});
  }
}

void sequence_attributes(Execution& execution, const EmitRow& emit, Oid sequence) {
  const std::pair<std::string_view, TypeId> columns[] = {
      {"last_value", TypeId::int8}, {"log_cnt", TypeId::int8}, {"is_called", TypeId::bool_}};
  std::int64_t number = 0;
  for (const auto& [label, type] : columns) {
    Column column;
    column.type = type;
    column.not_null = true;
    emit_attribute(execution, emit, column, {sequence, ++number, label});
  }
}

}  // namespace

void attribute_rows(Execution& execution, const EmitRow& emit) {
  for (const TablePtr& table : tables_for(context_of(execution), emit.key)) {
    const Relation& relation = table->relation;
    if (relation.kind == RelationKind::sequence) {
      sequence_attributes(execution, emit, relation.oid);
      system_attributes(execution, emit, relation.oid);
      continue;
    }
    std::int64_t number = 0;
    for (const Column& column : relation.columns) {
      ++number;
      const std::string dropped = fmt::format("........pg.dropped.{}........", number);
      emit_attribute(execution, emit, column,
                     {relation.oid, number, column.dropped ? dropped : column.name});
    }
    if (relation.kind != RelationKind::view) system_attributes(execution, emit, relation.oid);
    for (const Index& index : relation.indexes) {
      index_attributes(execution, emit, *table, index);
    }
  }
  for (const TypePtr& type : types_for(context_of(execution), emit.key)) {
    std::int64_t number = 0;
    for (const Column& attribute : type->attributes) {
      emit_attribute(execution, emit, attribute, {type->relation, ++number, attribute.name});
    }
  }
  for (const ComputedRelation& computed : computed_relations()) {
    std::int64_t number = 0;
    for (const ComputedRelation::ColumnSpec& spec : computed.columns) {
      Column column;
      column.type = spec.type;
      column.not_null = spec.not_null;
      emit_attribute(execution, emit, column, {computed.oid, ++number, spec.name});
    }
  }
}

}  // namespace swizzle::sql
