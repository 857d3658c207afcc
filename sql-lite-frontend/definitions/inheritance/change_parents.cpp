#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/inheritance/heir_constraints.h"
#include "sql-lite-frontend/definitions/inheritance/inheritance.h"
#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/definitions/tables/not_null.h"
#include "sql-lite-frontend/statement/names/heirs.h"

/// ALTER TABLE … INHERIT and NO INHERIT.
namespace swizzle::sql {
namespace {

constexpr SqlState kConflictingPart{"42P17"};

Column* named_column(Relation& relation, std::string_view name) {
  const auto found = std::ranges::find_if(relation.columns, [&](const Column& column) {
    return !column.dropped && column.name == name;
  });
  return found == relation.columns.end() ? nullptr : &*found;
}

void refuse_partitions_here(const Relation& relation) {
  if (relation.is_partition()) {
    throw SqlError{sqlstate::wrong_object_type, "cannot change inheritance of a partition"};
  }
  if (relation.is_partitioned()) {
    throw SqlError{sqlstate::wrong_object_type, "cannot change inheritance of partitioned table"};
  }
}

/// Refuses tables from which the relation cannot inherit.
void require_possible_parent(StatementContext& session, const Relation& parent,
                             const TablePtr& table) {
  const Relation& relation = table->relation;
  const bool of_temporary = parent.persistence == Persistence::temporary;
  const bool is_temporary = relation.persistence == Persistence::temporary;
  if (of_temporary && !is_temporary) {
    throw_error(sqlstate::wrong_object_type, "cannot inherit from temporary relation \"{}\"",
                parent.name);
  }
  if (is_temporary && !of_temporary) {
    throw SqlError{sqlstate::feature_not_supported,
                   "a temporary table that inherits from a permanent one is not supported"};
  }
  if (parent.is_partitioned()) {
    throw_error(sqlstate::wrong_object_type, "cannot inherit from partitioned table \"{}\"",
                parent.name);
  }
  if (parent.is_partition()) {
    throw SqlError{sqlstate::wrong_object_type, "cannot inherit from a partition"};
  }
  for (const TablePtr& heir : with_heirs(session, table)) {
    if (heir->relation.oid != parent.oid) continue;
    throw SqlError{sqlstate::duplicate_table, "circular inheritance not allowed"}.with_detail(
        fmt::format("\"{}\" is already a child of \"{}\".", parent.name, relation.name));
  }
  for (const Trigger& trigger : relation.triggers) {
    if (!trigger.for_each_row || (trigger.old_table.empty() && trigger.new_table.empty())) continue;
    throw sql_error(sqlstate::object_not_in_prerequisite_state,
                    "trigger \"{}\" prevents table \"{}\" from becoming an inheritance child",
                    trigger.name, relation.name)
        .with_detail(
            "ROW triggers with transition tables are not supported in inheritance hierarchies.");
  }
  if (std::ranges::find(relation.parents, parent.oid) != relation.parents.end()) {
    throw_error(sqlstate::duplicate_table, "relation \"{}\" would be inherited from more than once",
                parent.name);
  }
}

void require_generated_alike(const Column& own, const Column& given) {
  if (given.generated != own.generated) {
    throw_error(sqlstate::datatype_mismatch,
                "column \"{}\" in child table must {}be a generated column", given.name,
                given.generated ? "" : "not ");
  }
  if (!given.generated || given.is_virtual == own.is_virtual) return;
  const auto kind = [](const Column& one) { return one.is_virtual ? "VIRTUAL" : "STORED"; };
  throw sql_error(sqlstate::datatype_mismatch,
                  "column \"{}\" inherits from generated column of different kind", given.name)
      .with_detail(fmt::format("Parent column is {}, child column is {}.", kind(given), kind(own)));
}

void take_parent_columns(const Relation& parent, Relation& relation) {
  for (std::size_t i = 0; i < parent.columns.size(); ++i) {
    const Column& given = parent.columns[i];
    if (given.dropped) continue;
    Column* const own = named_column(relation, given.name);
    if (own == nullptr) {
      throw_error(sqlstate::datatype_mismatch, "child table is missing column \"{}\"", given.name);
    }
    require_same_column(relation, *own, given);
    const Constraint* const not_null = not_null_of(parent, i);
    if (not_null != nullptr && !not_null->no_inherit && !own->not_null) {
      throw_error(sqlstate::datatype_mismatch,
                  "column \"{}\" in child table \"{}\" must be marked NOT NULL", given.name,
                  relation.name);
    }
    require_generated_alike(*own, given);
    count_parent(*own);
  }
}

void take_parent_constraint(const Relation& parent, const Constraint& given, Relation& relation) {
  Constraint* const own = constraint_for(parent, given, relation);
  if (own == nullptr) {
    throw_error(sqlstate::datatype_mismatch, "child table is missing constraint \"{}\"",
                given.name);
  }
  if (given.kind == ConstraintKind::check && own->check_sql != given.check_sql) {
    throw_error(sqlstate::datatype_mismatch,
                "child table \"{}\" has different definition for check constraint \"{}\"",
                relation.name, given.name);
  }
  const auto refuse = [&](std::string_view what) {
    throw_error(kConflictingPart,
                "constraint \"{}\" conflicts with {} constraint on child table \"{}\"", own->name,
                what, relation.name);
  };
  if (own->no_inherit) refuse("non-inherited");
  if (given.validated && own->enforced && !own->validated) refuse("NOT VALID");
  if (given.enforced && !own->enforced) refuse("NOT ENFORCED");
  count_parent(*own);
}

}  // namespace

void require_same_column(const Relation& heir, const Column& own, const Column& given) {
  if (own.type != given.type || own.typmod != given.typmod) {
    throw_error(sqlstate::datatype_mismatch,
                "child table \"{}\" has different type for column \"{}\"", heir.name, given.name);
  }
  if (own.collation != given.collation) {
    throw_error(SqlState{"42P21"}, "child table \"{}\" has different collation for column \"{}\"",
                heir.name, given.name);
  }
}

void add_parent(StatementContext& session, const TablePtr& table, const ast::RangeVar& range) {
  refuse_partitions_here(table->relation);
  const NamedRelation found = require_named_relation(session, range);
  if (found.index != nullptr || !is_table(found.table->relation.kind)) {
    throw sql_error(sqlstate::wrong_object_type,
                    "ALTER action INHERIT cannot be performed on relation \"{}\"", range.relname)
        .with_detail(fmt::format("This operation is not supported for {}.", plural_of(found)));
  }
  session.rights.require_owner(*found.table);
  const bool is_itself = found.table->relation.oid == table->relation.oid;
  const TablePtr parent =
      is_itself ? table
                : session.catalog.lock_for_change(*session.transaction, found.table,
                                                  lock::RelationMode::share_update_exclusive);
  require_possible_parent(session, parent->relation, table);
  Relation relation = table->relation;
  take_parent_columns(parent->relation, relation);
  for (const Constraint& constraint : parent->relation.constraints) {
    if (goes_to_heirs(constraint)) take_parent_constraint(parent->relation, constraint, relation);
  }
  const Oid oid = parent->relation.oid;
  relation.parents.push_back(oid);
  session.catalog.replace(*session.transaction, *table, std::move(relation));
  join_heir(session, oid, table->relation.oid);
}

void remove_parent(StatementContext& session, const TablePtr& table, const ast::RangeVar& range) {
  refuse_partitions_here(table->relation);
  const NamedRelation found = require_named_relation(session, range);
  const TablePtr& parent = found.table;
  const Oid oid = parent->relation.oid;
  Relation relation = table->relation;
  const auto listed = std::ranges::find(relation.parents, oid);
  if (found.index != nullptr || listed == relation.parents.end()) {
    throw_error(sqlstate::undefined_table, "relation \"{}\" is not a parent of relation \"{}\"",
                range.relname, relation.name);
  }
  relation.parents.erase(listed);
  for (const Column& given : parent->relation.columns) {
    Column* const own = given.dropped ? nullptr : named_column(relation, given.name);
    if (own != nullptr && own->inherit_count > 0) discount_parent(*own);
  }
  for (const Constraint& given : parent->relation.constraints) {
    if (!goes_to_heirs(given)) continue;
    Constraint* const own = constraint_for(parent->relation, given, relation);
    if (own != nullptr && own->inherit_count > 0) discount_parent(*own);
  }
  session.catalog.replace(*session.transaction, *table, std::move(relation));
  leave_heir(session, oid, table->relation.oid);
}

}  // namespace swizzle::sql
