#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/relation_noun.h"
#include "sql-lite-frontend/definitions/indexes/beside_writers.h"
#include "sql-lite-frontend/definitions/partitions/partition_parts.h"
#include "sql-lite-frontend/definitions/partitions/partitions.h"
#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/definitions/tables/not_null.h"
#include "sql-lite-frontend/definitions/tables/table_change.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/statement/names/partition_text.h"
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
  if (!relation.parents.empty()) {
    throw SqlError{sqlstate::wrong_object_type, "cannot attach inheritance child as partition"};
  }
  if (!relation.children.empty()) {
    throw SqlError{sqlstate::wrong_object_type, "cannot attach inheritance parent as partition"};
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

namespace {

constexpr std::string_view kFinalizeHint =
    "Use ALTER TABLE ... DETACH PARTITION ... FINALIZE to complete the pending detach operation.";

TablePtr require_partition_of(StatementContext& session, const Table& parent,
                              const ast::PartitionCmd& command) {
  if (!parent.relation.is_partitioned()) {
    throw_not_partitioned(parent.relation, "DETACH PARTITION");
  }
  const NamedRelation found = require_named_relation(session, *command.name);
  if (found.table->relation.partition_of != parent.relation.oid || found.index != nullptr) {
    throw_error(sqlstate::undefined_table, "relation \"{}\" is not a partition of relation \"{}\"",
                command.name->relname, parent.relation.name);
  }
  return found.table;
}

/// Locks the partition and its own partitions against everybody. Returns its newest definition.
TablePtr lock_alone(StatementContext& session, const TablePtr& partition) {
  const TablePtr table = session.catalog.lock_for_change(*session.transaction, partition);
  for (const TablePtr& below : with_partitions(session, table)) {
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, below);
    require_unused(session, *locked, "ALTER TABLE");
  }
  return table;
}

/// Makes the partition a table of its own. Pre: it is locked alone, and its parent does not list it
/// any more.
void make_independent(StatementContext& session, const Table& table) {
  Relation relation = table.relation;
  relation.partition_of = kNoOid;
  relation.partition_bound.reset();
  relation.is_being_detached = false;
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
  session.catalog.replace(*session.transaction, table, std::move(relation));
  for (const Oid trigger : gone) {
    drop_parts(session, *session.catalog.table(table.relation.oid), &Relation::triggers, trigger);
  }
  for (const TablePtr& below : with_partitions(session, session.names.table(table.relation.oid))) {
    session.catalog.replace(*session.transaction, *below, Relation{below->relation});
  }
}

/// Returns the condition that the rows of a partition satisfy, as a constraint to keep; empty if
/// there is none that could stand without the parent.
std::string condition_to_keep(StatementContext& session, const Table& partition) {
  const TablePtr parent = session.names.table(partition.relation.partition_of);
  const bool is_kept = parent && partition.tree && parent->relation.partition_key &&
                       parent->relation.partition_key->strategy != PartitionStrategy::hash;
  return is_kept ? shown_partition_constraint(session, partition) : std::string{};
}

/// Adds a CHECK that all rows are known to satisfy.
void add_proven_check(StatementContext& session, const TablePtr& table,
                      const std::string& condition) {
  Arena arena;
  const auto script =
      parse_script(arena, fmt::format("ALTER TABLE {} ADD CHECK {} NOT VALID",
                                      session.names.qualified_name(*table), condition));
  SilentSink silent;
  TableChange change{session, table, silent};
  const auto& statement = ast::as<ast::AlterTableStmt>(script[0]->stmt);
  change.apply(ast::as<ast::AlterTableCmd>(statement.cmds[0]));
  Relation relation{change.table()->relation};
  Constraint& added = relation.constraints.back();
  const auto same =
      std::ranges::count(relation.constraints, added.check_sql, &Constraint::check_sql);
  added.validated = true;
  // It may have been detached before.
  if (same > 1) relation.constraints.pop_back();
  session.catalog.replace(*session.transaction, *change.table(), std::move(relation));
}

/// Waits for those who use the parent by a definition that has the partition, and ends its
/// detachment. Pre: the parent is locked against changes of its definition.
void finish_detachment(StatementContext& session, Oid parent, Oid partition) {
  value_of(session.transaction->wait_for_holders(lock::RelationId{parent},
                                                 lock::RelationMode::access_exclusive));
  const TablePtr found = session.catalog.table(partition);
  if (!found || !found->relation.is_being_detached) return;
  const TablePtr table = lock_alone(session, found);
  const std::string condition = condition_to_keep(session, *table);
  make_independent(session, *table);
  if (!condition.empty()) {
    add_proven_check(session, session.catalog.table(partition), condition);
  }
}

/// Refuses a second detachment that is not finished, and one of a table with a default partition,
/// whose implied bound would change.
void require_detachable_beside_users(StatementContext& session, const Table& parent) {
  for (const Oid oid : parent.relation.partitions) {
    const TablePtr partition = session.names.table(oid);
    if (!partition || !partition->relation.partition_bound->is_default) continue;
    throw SqlError{sqlstate::object_not_in_prerequisite_state,
                   "cannot detach partitions concurrently when a default partition exists"};
  }
  for (const TablePtr& table : session.catalog.naming<Table>({parent.relation.oid})) {
    const Relation& relation = table->relation;
    if (relation.partition_of != parent.relation.oid || !relation.is_being_detached) continue;
    throw sql_error(sqlstate::object_not_in_prerequisite_state,
                    "partition \"{}\" already pending detach in partitioned table \"{}.{}\"",
                    relation.name, session.names.schema_name(parent.relation.schema),
                    parent.relation.name)
        .with_hint(std::string{kFinalizeHint});
  }
}

}  // namespace

void detach_beside_users(StatementContext& session, const TablePtr& parent,
                         const ast::PartitionCmd& command) {
  constexpr std::string_view kCommand = "ALTER TABLE ... DETACH CONCURRENTLY";
  prevent_in_routine(session, kCommand);
  session.transaction.prevent_in_block(kCommand);
  const TablePtr found = require_partition_of(session, *parent, command);
  require_detachable_beside_users(session, *parent);
  const TablePtr partition = session.catalog.lock_for_change(
      *session.transaction, found, lock::RelationMode::share_update_exclusive);
  Relation left{parent->relation};
  std::erase(left.partitions, partition->relation.oid);
  session.catalog.replace(*session.transaction, *parent, std::move(left));
  Relation relation{partition->relation};
  relation.is_being_detached = true;
  session.catalog.replace(*session.transaction, *partition, std::move(relation));
  commit_and_lock(session, parent->relation.oid);
  finish_detachment(session, parent->relation.oid, partition->relation.oid);
}

void finish_detachment(StatementContext& session, const TablePtr& parent,
                       const ast::PartitionCmd& command) {
  const TablePtr partition = require_partition_of(session, *parent, command);
  if (!partition->relation.is_being_detached) {
    throw sql_error(sqlstate::object_not_in_prerequisite_state,
                    "cannot complete detaching partition \"{}\"", partition->relation.name)
        .with_detail("There's no pending concurrent detach.");
  }
  finish_detachment(session, parent->relation.oid, partition->relation.oid);
}

void detach_partition(StatementContext& session, const TablePtr& parent,
                      const ast::PartitionCmd& command) {
  const TablePtr found = require_partition_of(session, *parent, command);
  if (found->relation.is_being_detached) {
    throw sql_error(sqlstate::object_not_in_prerequisite_state, "cannot detach partition \"{}\"",
                    found->relation.name)
        .with_detail("The partition is being detached concurrently or has an unfinished detach.")
        .with_hint(std::string{kFinalizeHint});
  }
  const TablePtr table = lock_alone(session, found);
  leave_parent(session, table->relation);
  make_independent(session, *session.catalog.table(table->relation.oid));
}

}  // namespace swizzle::sql
