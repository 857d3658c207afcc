#include "sql-lite-frontend/definitions/tables/rename_column.h"

#include <algorithm>

#include "sql-lite-frontend/catalog/old_not_nulls.h"
#include "sql-lite-frontend/definitions/partitions/partition_parts.h"
#include "sql-lite-frontend/definitions/publications/publications.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/triggers/trigger_definition.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/routines/triggers/condition.h"
#include "sql-lite-frontend/types/check_stack.h"

/// ALTER TABLE … RENAME COLUMN.
namespace swizzle::sql {
namespace {

/// Returns the stored expressions that may name columns.
std::vector<std::string*> stored_texts(Relation& relation) {
  std::vector<std::string*> stored;
  for (Column& column : relation.columns) {
    if (column.generated) stored.push_back(&column.default_sql);
  }
  for (Constraint& constraint : relation.constraints) {
    if (constraint.kind == ConstraintKind::check) stored.push_back(&constraint.check_sql);
  }
  for (Index& index : relation.indexes) {
    for (IndexColumn& column : index.columns) {
      if (column.column == 0) stored.push_back(&column.expression_sql);
    }
    if (!index.predicate_sql.empty()) stored.push_back(&index.predicate_sql);
  }
  if (relation.partition_key) {
    for (PartitionColumn& column : relation.partition_key->columns) {
      if (column.column == 0) stored.push_back(&column.expression_sql);
    }
  }
  return stored;
}

}  // namespace

void rename_column(StatementContext& session, const TablePtr& table, Relation& relation,
                   std::size_t position, const std::string& new_name) {
  if (keeps_rows(relation.kind) || relation.is_partitioned()) refuse_system_column(new_name);
  Arena arena;
  Binder binder{session.names, arena};
  // Bind them with the old name and print them with the new one.
  const std::vector<std::string*> stored = stored_texts(relation);
  std::vector<ExprPtr> bound;
  const Slot first = binder.new_slots(relation.columns.size());
  for (const std::string* sql : stored) {
    bound.push_back(binder.bind_table_expression(*sql, *table, first, Clause::check));
  }
  for (Trigger& trigger : relation.triggers) {
    if (trigger.when_sql.empty()) continue;
    trigger.when_sql = renamed_condition(session, table, trigger, position, new_name);
  }
  rename_published_column(session, table, position, new_name);
  relation.columns[position].name = new_name;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    ExprPrinter printer{.out = {}, .is_kept = true};
    walk(*bound[i], [&](Expr& part) {
      auto* column = dynamic_cast<SlotExpr*>(&part);
      if (column != nullptr && column->slot() == first + position) column->rename(new_name);
    });
    printer.print(*bound[i]);
    *stored[i] = std::move(printer.out);
  }
}

void require_renameable(StatementContext& session, const Relation& relation, std::size_t position,
                        bool with_partitions) {
  const Column& column = relation.columns[position];
  const bool is_of_partition =
      relation.is_partition() && column.inherited && session.names.table(relation.partition_of);
  if (is_of_partition || column.inherit_count > 0) {
    throw_error(sqlstate::invalid_table_definition, "cannot rename inherited column \"{}\"",
                column.name);
  }
  if (with_partitions || (relation.partitions.empty() && relation.children.empty())) return;
  throw_error(sqlstate::invalid_table_definition,
              "inherited column \"{}\" must be renamed in child tables too", column.name);
}

void rename_column_below(StatementContext& session, const Table& table, std::string_view name,
                         const std::string& new_name) {
  check_stack();
  for (const Oid oid : table.relation.partitions) {
    const TablePtr partition =
        session.catalog.lock_for_change(*session.transaction, session.names.table(oid));
    session.rights.require_owner(*partition);
    const auto position = partition->column_position(name);
    if (!position) continue;
    Relation relation = partition->relation;
    rename_column(session, partition, relation, *position, new_name);
    session.catalog.replace(*session.transaction, *partition, std::move(relation));
    rename_column_below(session, *partition, name, new_name);
  }
}

void rename_constraint_below(StatementContext& session, const Table& table, std::string_view name,
                             const std::string& new_name) {
  const Constraint* const renamed = table.constraint_named(name);
  if (renamed == nullptr ||
      (renamed->kind != ConstraintKind::check && renamed->kind != ConstraintKind::not_null)) {
    return;
  }
  const auto rename = [&](Relation& relation, std::vector<Constraint>::iterator part) {
    session.rights.require_owner(*session.names.table(relation.oid));
    if (part->name != name && !is_of_old_record(*part)) {
      throw_error(sqlstate::undefined_object, "constraint \"{}\" for table \"{}\" does not exist",
                  name, relation.name);
    }
    const bool is_taken = std::ranges::find(relation.constraints, new_name, &Constraint::name) !=
                          relation.constraints.end();
    if (is_taken) {
      throw_error(sqlstate::duplicate_object,
                  "constraint \"{}\" for relation \"{}\" already exists", new_name, relation.name);
    }
    part->name = new_name;
  };
  change_parts(session, table, &Relation::constraints, renamed->oid, rename);
}

}  // namespace swizzle::sql
