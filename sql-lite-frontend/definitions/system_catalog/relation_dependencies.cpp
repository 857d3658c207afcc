#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/definitions/system_catalog/dependency_row.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/user_types.h"

/// Dependencies of relations: of their columns, constraints, indexes, triggers, policies, queries.
namespace swizzle::sql {
namespace {

using ColumnsRead = std::map<Oid, std::set<std::int16_t>>;

/// Columns that a view's query reads, by relation, and the tables whose other columns it may show
/// only because it groups by their primary keys.
struct QueryReads {
  ColumnsRead columns;
  std::set<Oid> needed_keys;
};

/// Binds the view's query to find its reads. Nothing if the query is no longer valid.
std::optional<QueryReads> reads_of(StatementContext& session, const Table& view) {
  constexpr std::size_t kWorkOfView = 100'000;
  yield_point(kWorkOfView);
  QueryReads reads;
  try {
    Arena arena;
    Binder binder{session.names, arena};
    binder.read_view(view);
    reads.needed_keys.insert(binder.needed_keys().begin(), binder.needed_keys().end());
    for (const Binder::RelationRead& read : binder.relations_read()) {
      std::set<std::int16_t>& of = reads.columns[read.table->relation.oid];
      const std::size_t count = read.has_slots ? read.table->relation.columns.size() : 0;
      for (std::size_t i = 0; i < count; ++i) {
        if (binder.is_used(read.first_slot + static_cast<Slot>(i)))
          of.insert(static_cast<std::int16_t>(i + 1));
      }
    }
  } catch (const SqlError&) {
    return std::nullopt;
  }
  return reads;
}

/// The same of expressions over one table's columns.
std::vector<std::int16_t> columns_in(StatementContext& session, const Table& table,
                                     std::span<const std::string_view> expressions) {
  std::vector<std::int16_t> columns;
  try {
    Arena arena;
    Binder binder{session.names, arena};
    const std::size_t count = table.relation.columns.size();
    const Slot first = binder.new_slots(count);
    for (const std::string_view sql : expressions) {
      if (!sql.empty()) binder.bind_table_expression(sql, table, first, Clause::index_expression);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (binder.is_used(first + static_cast<Slot>(i)))
        columns.push_back(static_cast<std::int16_t>(i + 1));
    }
  } catch (const SqlError&) {
    columns.clear();
  }
  return columns;
}

void emit_defaults(const EmitRow& emit, StatementContext& session, const Table& table) {
  const Relation& relation = table.relation;
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    const Column& column = relation.columns[i];
    if (!has_default_row(column)) continue;
    const ObjectAddress value{class_id::pg_attrdef, default_oid(relation, i)};
    emit_dependency(emit, value,
                    {class_id::pg_class, relation.oid, static_cast<std::int64_t>(i) + 1},
                    column.generated ? Dependency::internal : Dependency::automatic);
    emit_calls(emit, value, column.default_sql);
    if (!column.generated) continue;
    const std::string_view expression = column.default_sql;
    for (const std::int16_t read : columns_in(session, table, std::span{&expression, 1}))
      emit_dependency(emit, value, {class_id::pg_class, relation.oid, read}, Dependency::normal);
  }
}

void emit_rule(const EmitRow& emit, StatementContext& session, const Table& table) {
  const Relation& view = table.relation;
  const ObjectAddress rule{class_id::pg_rewrite, rule_oid(view)};
  emit_dependency(emit, rule, {class_id::pg_class, view.oid}, Dependency::internal);
  emit_dependency(emit, rule, {class_id::pg_class, view.oid}, Dependency::normal);
  const auto reads = reads_of(session, table);
  for (const ViewName& name : view.view_names) {
    // System relations always exist.
    if (name.relation < kFirstUserOid) continue;
    // The row of a function: its composite type is no relation.
    if (name.name.empty() && !session.catalog.table(name.relation)) continue;
    const auto known = reads ? reads->columns.find(name.relation) : ColumnsRead::const_iterator{};
    std::vector<std::int16_t> read;
    if (reads && known != reads->columns.end()) {
      // Whole rows have columns that came after the view, too.
      std::ranges::copy_if(known->second, std::back_inserter(read), [&](std::int16_t column) {
        return std::ranges::find(name.columns, column, &ViewColumn::number) != name.columns.end();
      });
    }
    emit_columns(emit, rule, name.relation, read, Dependency::normal);
  }
  // Makes pg_dump emit the key before the view.
  for (const Oid grouped : reads ? reads->needed_keys : std::set<Oid>{}) {
    const TablePtr owner = session.catalog.table(grouped);
    if (!owner) continue;
    for (const Constraint& key : owner->relation.constraints) {
      if (key.kind != ConstraintKind::primary_key) continue;
      emit_dependency(emit, rule, {class_id::pg_constraint, key.oid}, Dependency::normal);
    }
  }
  for (const ViewType& named : view.view_types) {
    if (named.type < kCollations) emit_collation(emit, rule, named.type);
  }
  std::vector<Oid> named;
  for (const ViewRoutine& called : view.view_routines) {
    if (std::ranges::find(named, called.routine) != named.end()) continue;
    named.push_back(called.routine);
    emit_called(emit, rule, called);
  }
}

void emit_policy(const EmitRow& emit, const Relation& table, const Policy& policy) {
  const ObjectAddress address{class_id::pg_policy, policy.oid};
  emit_dependency(emit, address, {class_id::pg_class, table.oid}, Dependency::automatic);
  for (const PolicyCondition* condition : {&policy.using_rows, &policy.check}) {
    for (const ViewName& name : condition->names) {
      if (name.relation < kFirstUserOid || name.relation == table.oid) continue;
      emit_dependency(emit, address, {class_id::pg_class, name.relation}, Dependency::normal);
    }
    for (const ViewType& named : condition->types) {
      if (named.type < kCollations) emit_collation(emit, address, named.type);
    }
    for (const ViewRoutine& called : condition->routines) emit_called(emit, address, called);
  }
}

void emit_constraint(const EmitRow& emit, const Relation& relation, const Constraint& constraint) {
  const ObjectAddress address{class_id::pg_constraint, constraint.oid};
  emit_columns(emit, address, relation.oid, constraint.columns, Dependency::automatic);
  if (constraint.kind == ConstraintKind::check && !constraint.columns.empty())
    emit_columns(emit, address, relation.oid, constraint.columns, Dependency::normal);
  emit_calls(emit, address, constraint.check_sql);
  if (constraint.kind == ConstraintKind::foreign_key) {
    emit_columns(emit, address, constraint.referenced_table, constraint.referenced_columns,
                 Dependency::normal);
    if (constraint.index != kNoOid)
      emit_dependency(emit, address, {class_id::pg_class, constraint.index}, Dependency::normal);
  } else if (constraint.index != kNoOid) {
    emit_dependency(emit, {class_id::pg_class, constraint.index}, address, Dependency::internal);
  }
}

void emit_index(const EmitRow& emit, StatementContext& session, const Table& table,
                const Index& index) {
  const Relation& relation = table.relation;
  const ObjectAddress address{class_id::pg_class, index.oid};
  const bool is_of_constraint = std::ranges::find(relation.constraints, index.oid,
                                                  &Constraint::index) != relation.constraints.end();
  std::vector<std::int16_t> columns;
  if (!is_of_constraint) {
    for (const IndexColumn& column : index.columns)
      if (column.column > 0) columns.push_back(column.column);
    columns.insert(columns.end(), index.included.begin(), index.included.end());
    std::ranges::sort(columns);
    columns.erase(std::ranges::unique(columns).begin(), columns.end());
    emit_columns(emit, address, relation.oid, columns, Dependency::automatic);
    if (index.parent != kNoOid) {
      emit_dependency(emit, address, {class_id::pg_class, index.parent},
                      Dependency::partition_of_index);
      emit_dependency(emit, address, {class_id::pg_class, relation.oid},
                      Dependency::partition_of_table);
    }
  }
  std::vector<std::string_view> expressions{index.predicate_sql};
  for (const IndexColumn& column : index.columns) expressions.push_back(column.expression_sql);
  if (std::ranges::any_of(expressions, [](std::string_view sql) { return !sql.empty(); })) {
    for (const std::int16_t column : columns_in(session, table, expressions)) {
      if (std::ranges::find(columns, column) != columns.end()) continue;
      emit_dependency(emit, address, {class_id::pg_class, relation.oid, column},
                      Dependency::automatic);
    }
  }
  for (const IndexColumn& column : index.columns) {
    emit_calls(emit, address, column.expression_sql);
    emit_collation(emit, address, column.collation);
  }
  emit_calls(emit, address, index.predicate_sql);
}

}  // namespace

bool has_default_row(const Column& column) noexcept {
  return !column.dropped && !column.default_sql.empty() && column.identity == 0;
}

Oid default_oid(const Relation& relation, std::size_t position) noexcept {
  return relation.oid + static_cast<Oid>(position) + 1;
}

Oid rule_oid(const Relation& view) noexcept {
  return view.oid;
}

void emit_relation(const EmitRow& emit, StatementContext& session, const Table& table) {
  const Relation& relation = table.relation;
  emit_schema(emit, {class_id::pg_class, relation.oid}, relation.schema);
  // Makes pg_dump emit the relation before objects that refer to its row type.
  if (relation.row_type != kNoOid && relation.kind != RelationKind::sequence) {
    emit_dependency(emit, {class_id::pg_type, relation.row_type},
                    {class_id::pg_class, relation.oid}, Dependency::internal);
    emit_dependency(emit, {class_id::pg_type, relation.array_type},
                    {class_id::pg_type, relation.row_type}, Dependency::internal);
  }
  if (relation.sequence && relation.sequence->owner_table != kNoOid) {
    emit_dependency(
        emit, {class_id::pg_class, relation.oid},
        {class_id::pg_class, relation.sequence->owner_table, relation.sequence->owner_column},
        relation.sequence->identity ? Dependency::internal : Dependency::automatic);
  }
  for (std::size_t i = 0; i < relation.columns.size(); ++i) {
    const Column& column = relation.columns[i];
    if (column.dropped) continue;
    emit_collation(emit, {class_id::pg_class, relation.oid, static_cast<std::int64_t>(i) + 1},
                   column.collation);
    if (!is_user_type(column.type)) continue;
    emit_dependency(emit, {class_id::pg_class, relation.oid, static_cast<std::int64_t>(i) + 1},
                    {class_id::pg_type, raw(column.type)}, Dependency::normal);
  }
  const ObjectAddress own{class_id::pg_class, relation.oid};
  if (relation.is_partition()) {
    emit_dependency(emit, own, {class_id::pg_class, relation.partition_of}, Dependency::automatic);
  }
  for (const Oid parent : relation.parents) {
    emit_dependency(emit, own, {class_id::pg_class, parent}, Dependency::normal);
  }
  if (relation.partition_key) {
    for (const PartitionColumn& column : relation.partition_key->columns) {
      if (column.column == 0) continue;
      emit_dependency(emit, {class_id::pg_class, relation.oid, column.column}, own,
                      Dependency::internal);
    }
  }
  for (const Constraint& constraint : relation.constraints)
    emit_constraint(emit, relation, constraint);
  for (const Index& index : relation.indexes) emit_index(emit, session, table, index);
  for (const Trigger& trigger : relation.triggers) {
    const ObjectAddress address{class_id::pg_trigger, trigger.oid};
    emit_dependency(emit, address, {class_id::pg_proc, trigger.function}, Dependency::normal);
    emit_dependency(emit, address, {class_id::pg_class, relation.oid}, Dependency::automatic);
    emit_calls(emit, address, trigger.when_sql);
  }
  for (const Policy& policy : relation.policies) emit_policy(emit, relation, policy);
  emit_defaults(emit, session, table);
  if (has_query(relation.kind)) emit_rule(emit, session, table);
}

}  // namespace swizzle::sql
