// pg_namespace, pg_class, pg_attribute, pg_type and their views.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/definitions/system_catalog/keyed_objects.h"
#include "sql-lite-frontend/definitions/system_catalog/objects.h"
#include "sql-lite-frontend/definitions/system_catalog/privileges.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/statement/names/partition_text.h"
#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {
void schema_rows(Execution& execution, const EmitRow& emit) {
  for (const SchemaPtr& schema : context_of(execution).catalog.schemas()) {
    const Value row[] = {Value::from_oid(schema->oid), text_value(execution, schema->name),
                         Value::from_oid(schema->owner), acl_value(execution, schema->grants)};
    emit(row);
  }
  StatementContext& session = context_of(execution);
  if (session.names.temp_schema == kNoOid) return;
  const Value row[] = {Value::from_oid(session.names.temp_schema),
                       text_value(execution, session.names.schema_name(session.names.temp_schema)),
                       Value::from_oid(session.user), Value::null()};
  emit(row);
}

void table_view_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const ComputedRelation& computed : computed_relations()) {
    if (computed.kind != 'r') continue;
    const Value row[] = {text_value(execution, session.names.schema_name(computed.schema)),
                         text_value(execution, computed.name),
                         text_value(execution, "postgres"),
                         Value::null(),
                         Value::from_bool(true),
                         Value::from_bool(false),
                         Value::from_bool(false),
                         Value::from_bool(false)};
    emit(row);
  }
  for (const TablePtr& table : session.catalog.tables()) {
    const Relation& relation = table->relation;
    if (!is_table(relation.kind)) continue;
    const RolePtr owner = session.catalog.role(relation.owner);
    const Value row[] = {text_value(execution, session.names.schema_name(relation.schema)),
                         text_value(execution, relation.name),
                         text_value(execution, owner ? owner->name : "postgres"),
                         Value::null(),
                         Value::from_bool(!relation.indexes.empty()),
                         Value::from_bool(false),
                         Value::from_bool(false),
                         Value::from_bool(relation.row_security)};
    emit(row);
  }
}

namespace {

/// Columns of pg_class that are not in the Relation.
struct ClassRow {
  Oid oid = kNoOid;
  std::string_view name;
  char kind = 'r';
  std::int64_t pages = 0;
  double tuples = -1;
  std::size_t columns = 0;
  std::size_t checks = 0;
  bool has_index = false;
  bool has_triggers = false;
  bool row_security = false;
  bool forces_row_security = false;
  IndexMethod method = IndexMethod::tree;
  std::span<const std::string> options = {};
  std::span<const Grant> grants = {};
  bool has_parts = false;
  bool is_part = false;
  std::string bound = {};  ///< bound of a partition
};
Oid oid_of(IndexMethod method) noexcept {
  if (method == IndexMethod::excluding || method == IndexMethod::ranges) return 783;
  return method == IndexMethod::inverted ? 2742 : 403;
}

void emit_class(Execution& execution, const EmitRow& emit, const Relation& relation,
                const ClassRow& facts) {
  const char kind = facts.kind;
  const bool is_heap = kind == 'r' || kind == 'm';
  const bool has_storage = is_heap || kind == 'i' || kind == 'S';
  const bool has_rows = is_heap || kind == 'v' || kind == 'c' || kind == 'p';
  constexpr Oid kHeap = 2;
  const bool is_index = kind == 'i' || kind == 'I';
  const Oid access_method = is_heap ? kHeap : (is_index ? oid_of(facts.method) : kNoOid);
  const bool has_identity = is_heap || kind == 'p';
  const Value row[] = {
      Value::from_oid(facts.oid),
      text_value(execution, facts.name),
      Value::from_oid(relation.schema),
      Value::from_oid(has_rows ? relation.row_type : kNoOid),
      Value::from_oid(relation.owner),
      Value::from_oid(access_method),
      Value::from_oid(has_storage ? facts.oid : kNoOid),
      Value::from_int(facts.pages),
      Value::from_float4(static_cast<float>(facts.tuples)),
      flag(facts.has_index),
      letter(static_cast<char>(relation.persistence)),
      letter(kind),
      number(facts.columns),
      number(facts.checks),
      flag(kind == 'v' || kind == 'm'),
      flag(facts.has_triggers),
      flag(facts.row_security),
      flag(facts.forces_row_security),
      flag(kind != 'm' || relation.populated),
      letter(relation.schema == kPgCatalogSchema || !has_identity ? 'n'
                                                                  : relation.replica_identity),
      options_value(execution, facts.options),
      acl_value(execution, facts.grants),
      flag(facts.has_parts),
      flag(facts.is_part),
      facts.bound.empty() ? Value::null() : text_value(execution, facts.bound)};
  emit(row);
}

/// True if pg_class.relhastriggers: in PostgreSQL foreign keys are triggers as well, on both
/// tables.
bool has_any_trigger(StatementContext& session, const Table& table) {
  const auto is_foreign = [](const Constraint& constraint) {
    return constraint.kind == ConstraintKind::foreign_key;
  };
  const Oid oid = table.relation.oid;
  return !table.relation.triggers.empty() ||
         std::ranges::any_of(table.relation.constraints, is_foreign) ||
         std::ranges::any_of(session.catalog.naming<Table>({oid}), [oid](const TablePtr& other) {
           return std::ranges::any_of(other->relation.constraints, [oid](const Constraint& one) {
             return one.kind == ConstraintKind::foreign_key && one.referenced_table == oid;
           });
         });
}

}  // namespace

void class_rows(Execution& execution, const EmitRow& emit) {
  StatementContext& session = context_of(execution);
  for (const TablePtr& table : tables_for(session, emit.key)) {
    const Relation& relation = table->relation;
    const auto checks = static_cast<std::size_t>(
        std::ranges::count(relation.constraints, ConstraintKind::check, &Constraint::kind));
    ClassRow row{.oid = relation.oid,
                 .name = relation.name,
                 .kind = static_cast<char>(relation.kind),
                 .pages = relation.estimated_pages,
                 .tuples = relation.estimated_rows,
                 .columns = relation.columns.size(),
                 .checks = checks,
                 .has_index = !relation.indexes.empty(),
                 .has_triggers = has_any_trigger(session, *table),
                 .row_security = relation.row_security,
                 .forces_row_security = relation.forces_row_security,
                 .options = relation.options,
                 .grants = relation.grants,
                 .has_parts = !relation.partitions.empty() || !relation.children.empty(),
                 .is_part = relation.is_partition()};
    const TablePtr parent =
        relation.is_partition() ? session.names.table(relation.partition_of) : nullptr;
    if (parent) row.bound = shown_partition_bound(session, *parent, *relation.partition_bound);
    if (relation.kind == RelationKind::sequence) row.columns = 3;
    emit_class(execution, emit, relation, row);
    for (const Index& index : relation.indexes) {
      emit_class(execution, emit, relation,
                 {.oid = index.oid,
                  .name = index.name,
                  .kind = relation.is_partitioned() ? 'I' : 'i',
                  .pages = index.estimated_pages,
                  .tuples = std::max(relation.estimated_rows, 0.0),
                  .columns = index.columns.size() + index.included.size(),
                  .method = index.method,
                  .has_parts = !relation.partitions.empty(),
                  .is_part = index.parent != kNoOid});
    }
  }
  for (const TypePtr& type : types_for(session, emit.key)) {
    if (!is_composite(type->id())) continue;
    Relation rows;
    rows.schema = type->schema;
    rows.owner = type->owner;
    rows.row_type = type->oid;
    emit_class(execution, emit, rows,
               {.oid = type->relation,
                .name = type->name,
                .kind = 'c',
                .tuples = -1,
                .columns = type->attributes.size()});
  }
  Relation system;
  for (const ComputedRelation& computed : computed_relations()) {
    system.schema = computed.schema;
    emit_class(execution, emit, system,
               {.oid = computed.oid,
                .name = computed.name,
                .kind = computed.kind,
                .columns = computed.columns.size()});
  }
}

}  // namespace swizzle::sql
