#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/relation_noun.h"
#include "sql-lite-frontend/definitions/partitions/partition_parts.h"
#include "sql-lite-frontend/definitions/partitions/partitions.h"
#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/definitions/tables/not_null.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/statement/names/partitions.h"

/// ATTACH PARTITION and DETACH PARTITION.
namespace swizzle::sql {
namespace {

/// Refuses relations that cannot be a partition: no table, a partition already, an ancestor, or of
/// another persistence.
void require_attachable(StatementContext& session, const Table& parent, const Table& table) {
  const Relation& relation = table.relation;
  if (table.computed != nullptr || !is_table(relation.kind)) {
    const TablePtr named = session.names.table(relation.oid);
    throw sql_error(sqlstate::wrong_object_type,
                    "ALTER action ATTACH PARTITION cannot be performed on relation \"{}\"",
                    relation.name)
        .with_detail(
            fmt::format("This operation is not supported for {}.", plural_of({named, nullptr})));
  }
  if (relation.is_partition()) {
    throw_error(sqlstate::wrong_object_type, "\"{}\" is already a partition", relation.name);
  }
  for (const TablePtr& below : with_partitions(session, session.names.table(relation.oid))) {
    if (below->relation.oid != parent.relation.oid) continue;
    throw SqlError{sqlstate::duplicate_table, "circular inheritance not allowed"}.with_detail(
        fmt::format("\"{}\" is already a child of \"{}\".", parent.relation.name, relation.name));
  }
  const bool parent_temporary = parent.relation.persistence == Persistence::temporary;
  const bool temporary = relation.persistence == Persistence::temporary;
  if (parent_temporary != temporary) {
    throw_error(sqlstate::wrong_object_type,
                "cannot attach a {} relation as partition of {} "
                "relation \"{}\"",
                temporary ? "temporary" : "permanent", temporary ? "permanent" : "temporary",
                parent.relation.name);
  }
}

const Column* column_named(const Relation& relation, std::string_view name) {
  const auto found = std::ranges::find_if(relation.columns, [&](const Column& column) {
    return !column.dropped && column.name == name;
  });
  return found == relation.columns.end() ? nullptr : &*found;
}

/// Throws unless the relation has the parent's columns, in any order.
void require_same_columns(const Relation& parent, const Relation& relation) {
  for (const Column& column : relation.columns) {
    if (column.dropped || column_named(parent, column.name) != nullptr) continue;
    throw sql_error(sqlstate::datatype_mismatch,
                    "table \"{}\" contains column \"{}\" not found in parent \"{}\"", relation.name,
                    column.name, parent.name)
        .with_detail("The new partition may contain only the columns present in parent.");
  }
  for (const Column& column : parent.columns) {
    if (column.dropped) continue;
    const Column* own = column_named(relation, column.name);
    if (own == nullptr) {
      throw_error(sqlstate::datatype_mismatch, "child table is missing column \"{}\"", column.name);
    }
    if (own->type != column.type || own->typmod != column.typmod) {
      throw_error(sqlstate::datatype_mismatch,
                  "child table \"{}\" has different type for column \"{}\"", relation.name,
                  column.name);
    }
    if (own->collation != column.collation) {
      throw_error(SqlState{"42P21"}, "child table \"{}\" has different collation for column \"{}\"",
                  relation.name, column.name);
    }
    if (column.not_null && !own->not_null) {
      throw_error(sqlstate::datatype_mismatch,
                  "column \"{}\" in child table \"{}\" must be marked NOT NULL", column.name,
                  relation.name);
    }
    if (column.generated && !own->generated) {
      throw_error(sqlstate::datatype_mismatch,
                  "column \"{}\" in child table must be a generated column", column.name);
    }
    if (!column.generated && own->generated) {
      throw_error(sqlstate::datatype_mismatch,
                  "column \"{}\" in child table must not be a generated column", column.name);
    }
    if (column.generated && column.is_virtual != own->is_virtual) {
      const auto kind = [](const Column& one) { return one.is_virtual ? "VIRTUAL" : "STORED"; };
      throw sql_error(sqlstate::datatype_mismatch,
                      "column \"{}\" inherits from generated column of different kind", column.name)
          .with_detail(
              fmt::format("Parent column is {}, child column is {}.", kind(column), kind(*own)));
    }
    // Stored expressions are canonical, and name columns.
    if (column.generated && column.default_sql != own->default_sql) {
      throw_error(sqlstate::datatype_mismatch,
                  "column \"{}\" in child table has a conflicting generation expression",
                  column.name);
    }
  }
}

void take_checks(const Relation& parent, Relation& relation) {
  for (const Constraint& constraint : parent.constraints) {
    if (constraint.kind != ConstraintKind::check) continue;
    const auto own = std::ranges::find_if(relation.constraints, [&](const Constraint& one) {
      return one.kind == ConstraintKind::check && one.name == constraint.name;
    });
    if (own == relation.constraints.end()) {
      throw_error(sqlstate::datatype_mismatch, "child table is missing constraint \"{}\"",
                  constraint.name);
    }
    if (own->check_sql != constraint.check_sql) {
      throw_error(sqlstate::datatype_mismatch,
                  "child table \"{}\" has different definition for check constraint \"{}\"",
                  relation.name, constraint.name);
    }
    if (own->no_inherit) {
      throw_error(SqlState{"42P17"},
                  "constraint \"{}\" conflicts with non-inherited constraint on child table "
                  "\"{}\"",
                  own->name, relation.name);
    }
    if (constraint.enforced && !own->enforced) {
      throw_error(SqlState{"42P17"},
                  "constraint \"{}\" conflicts with NOT ENFORCED constraint on child table \"{}\"",
                  own->name, relation.name);
    }
    if (own->enforced && !own->validated) {
      throw_error(SqlState{"42P17"},
                  "constraint \"{}\" conflicts with NOT VALID constraint on child table \"{}\"",
                  own->name, relation.name);
    }
    own->parent = constraint.oid;
  }
}

void refuse_row_transition_tables(const Relation& relation) {
  for (const Trigger& trigger : relation.triggers) {
    if (!trigger.for_each_row || (trigger.old_table.empty() && trigger.new_table.empty())) continue;
    throw sql_error(sqlstate::wrong_object_type,
                    "trigger \"{}\" prevents table \"{}\" from becoming a partition", trigger.name,
                    relation.name)
        .with_detail("ROW triggers with transition tables are not supported on partitions.");
  }
}

}  // namespace

void throw_not_partitioned(const Relation& relation, std::string_view action) {
  throw sql_error(sqlstate::wrong_object_type,
                  "ALTER action {} cannot be performed on relation \"{}\"", action, relation.name)
      .with_detail("This operation is not supported for tables.");
}

void attach_partition(StatementContext& session, const TablePtr& parent,
                      const ast::PartitionCmd& command) {
  if (!parent->relation.is_partitioned()) {
    throw_not_partitioned(parent->relation, "ATTACH PARTITION");
  }
  const NamedRelation found = require_named_relation(session, *command.name);
  if (found.index != nullptr) {
    throw sql_error(sqlstate::wrong_object_type, "cannot open relation \"{}\"",
                    command.name->relname)
        .with_detail("This operation is not supported for indexes.");
  }
  session.rights.require_owner(*found.table);
  const TablePtr table = session.catalog.lock_for_change(*session.transaction, found.table);
  require_unused(session, *table, "ALTER TABLE");
  require_attachable(session, *parent, *table);
  for (const TablePtr& below : with_partitions(session, table)) {
    session.catalog.lock_for_change(*session.transaction, below);
    require_unused(session, *below, "ALTER TABLE");
  }
  Relation relation = table->relation;
  require_same_columns(parent->relation, relation);
  take_checks(parent->relation, relation);
  take_not_nulls(parent->relation, relation);
  refuse_row_transition_tables(relation);
  PartitionBound bound = read_partition_bound(session, *parent, *command.bound);
  require_free_bound(session, *parent, relation.name, bound, *command.bound);
  check_rows_within(session, table, *parent, bound);
  check_default_rows(session, *parent, bound);
  for (Column& column : relation.columns) column.inherited = !column.dropped;
  relation.partition_of = parent->relation.oid;
  relation.partition_bound = std::move(bound);
  session.catalog.replace(*session.transaction, *table, std::move(relation));
  const TablePtr joined = join_parent(session, parent, table->relation.oid);
  inherit_indexes(session, joined, table->relation.oid);
  // The partitions below are within the bound, too, and plans that write to them must be made
  // again.
  for (const TablePtr& below : with_partitions(session, session.names.table(table->relation.oid))) {
    session.catalog.replace(*session.transaction, *below, Relation{below->relation});
  }
}

void detach_partition(StatementContext& session, const TablePtr& parent,
                      const ast::PartitionCmd& command) {
  if (command.concurrent) {
    throw SqlError{sqlstate::feature_not_supported,
                   "ALTER TABLE … DETACH PARTITION CONCURRENTLY is not supported"};
  }
  if (!parent->relation.is_partitioned()) {
    throw_not_partitioned(parent->relation, "DETACH PARTITION");
  }
  const NamedRelation found = require_named_relation(session, *command.name);
  if (found.table->relation.partition_of != parent->relation.oid || found.index != nullptr) {
    throw_error(sqlstate::undefined_table, "relation \"{}\" is not a partition of relation \"{}\"",
                command.name->relname, parent->relation.name);
  }
  TablePtr table = session.catalog.lock_for_change(*session.transaction, found.table);
  for (const TablePtr& below : with_partitions(session, table)) {
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, below);
    require_unused(session, *locked, "ALTER TABLE");
  }
  leave_parent(session, table->relation);
  table = session.catalog.table(table->relation.oid);
  Relation relation = table->relation;
  relation.partition_of = kNoOid;
  relation.partition_bound.reset();
  for (Column& column : relation.columns) column.inherited = false;
  for (Constraint& constraint : relation.constraints) {
    constraint.parent = kNoOid;
    constraint.also_local = false;
  }
  for (Index& index : relation.indexes) index.parent = kNoOid;
  std::vector<Oid> gone;
  for (const Trigger& trigger : relation.triggers) {
    if (trigger.parent != kNoOid) gone.push_back(trigger.oid);
  }
  std::erase_if(relation.triggers, [](const Trigger& one) { return one.parent != kNoOid; });
  session.catalog.replace(*session.transaction, *table, std::move(relation));
  for (const Oid trigger : gone) {
    drop_parts(session, *session.catalog.table(table->relation.oid), &Relation::triggers, trigger);
  }
  for (const TablePtr& below : with_partitions(session, session.names.table(table->relation.oid))) {
    session.catalog.replace(*session.transaction, *below, Relation{below->relation});
  }
}

}  // namespace swizzle::sql
