#include "sql-lite-frontend/definitions/partitions/alter_partitioned.h"

#include <algorithm>

#include "sql-lite-frontend/definitions/partitions/partition_parts.h"
#include "sql-lite-frontend/definitions/partitions/partitions.h"
#include "sql-lite-frontend/definitions/tables/not_null.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/statement/names/partitions.h"
#include "sql-lite-frontend/types/check_stack.h"

namespace swizzle::sql {
namespace {

using DividedAction = ast::AlterTableType;

[[noreturn]] void refuse_definition(std::string message) {
  throw SqlError{sqlstate::invalid_table_definition, std::move(message)};
}

bool is_in_key(const Table& table, std::string_view name) {
  if (!table.relation.partition_key) return false;
  const auto position = table.column_position(name);
  if (!position) return false;
  const auto number = static_cast<std::int16_t>(*position + 1);
  const auto& columns = table.relation.partition_key->columns;
  return std::ranges::find(columns, number, &PartitionColumn::column) != columns.end();
}

/// True if an expression of the partition key reads the column.
bool is_in_key_expression(StatementContext& session, const Table& table, std::string_view name) {
  const auto position = table.column_position(name);
  if (!table.relation.partition_key || !position) return false;
  Arena arena;
  Binder binder{session.names, arena};
  const Slot first = binder.new_slots(table.relation.columns.size());
  for (const PartitionColumn& part : table.relation.partition_key->columns) {
    if (part.column != 0) continue;
    binder.bind_table_expression(part.expression_sql, table, first, Clause::partition_key);
  }
  return binder.is_used(first + static_cast<Slot>(*position));
}

/// Refuses to change a column of the partition key.
void require_not_key(StatementContext& session, const TablePtr& table, std::string_view name,
                     std::string_view verb) {
  for (const TablePtr& one : with_partitions(session, table)) {
    if (!is_in_key(*one, name) && !is_in_key_expression(session, *one, name)) continue;
    throw_error(sqlstate::invalid_table_definition,
                "cannot {} column \"{}\" because it is part of the partition key of relation "
                "\"{}\"",
                verb, name, one->relation.name);
  }
}

/// Refuses to change a part that a partition has from its parent: it is changed there.
void require_own(const Table& table, const ast::AlterTableCmd& command) {
  const Relation& relation = table.relation;
  if (!relation.is_partition()) return;
  const auto column = table.column_position(command.name);
  const bool is_inherited = column && relation.columns[*column].inherited;
  switch (command.subtype) {
    case DividedAction::addcolumn:
      throw SqlError{sqlstate::wrong_object_type, "cannot add column to a partition"};
    case DividedAction::dropcolumn:
      if (!is_inherited) return;
      throw_error(sqlstate::invalid_table_definition, "cannot drop inherited column \"{}\"",
                  command.name);
    case DividedAction::altercolumntype:
      if (!is_inherited) return;
      throw_error(sqlstate::invalid_table_definition, "cannot alter inherited column \"{}\"",
                  command.name);
    case DividedAction::dropexpression:
      if (!is_inherited || !relation.columns[*column].generated) return;
      throw SqlError{sqlstate::invalid_table_definition,
                     "cannot drop generation expression from inherited column"};
    case DividedAction::dropconstraint: {
      const Constraint* constraint = table.constraint_named(command.name);
      if (constraint == nullptr || constraint->parent == kNoOid) return;
      throw_error(sqlstate::invalid_table_definition,
                  "cannot drop inherited constraint \"{}\" of relation \"{}\"", command.name,
                  relation.name);
    }
    default:
      return;
  }
}

void require_nullable_in_parent(StatementContext& session, const Table& table,
                                std::string_view column) {
  const TablePtr parent = session.names.table(table.relation.partition_of);
  const auto position = parent ? parent->column_position(column) : std::nullopt;
  if (!position || !parent->relation.columns[*position].not_null) return;
  throw_error(sqlstate::invalid_table_definition,
              "column \"{}\" is marked NOT NULL in parent table", column);
}

/// True for actions that change a column of every table separately.
bool changes_column(DividedAction action) {
  switch (action) {
    case DividedAction::dropcolumn:
    case DividedAction::altercolumntype:
    case DividedAction::columndefault:
    case DividedAction::dropexpression:
    case DividedAction::setexpression:
    case DividedAction::setstatistics:
    case DividedAction::setstorage:
      return true;
    default:
      return false;
  }
}

bool is_check(const Constraint* constraint) {
  return constraint != nullptr && constraint->kind == ConstraintKind::check;
}
bool is_not_null(const Constraint* constraint) {
  return constraint != nullptr && constraint->kind == ConstraintKind::not_null;
}

/// Requires ownership of all partitions: the owner of the whole need not own each of them, because
/// a partition may have changed hands or have been another's before.
void require_own_parts(StatementContext& session, const TablePtr& table,
                       const ast::AlterTableCmd& command) {
  const auto adds_check = [&] {
    if (command.subtype != DividedAction::addconstraint) return false;
    const ast::ConstrType type = ast::as<ast::Constraint>(command.def).contype;
    return type == ast::ConstrType::check || type == ast::ConstrType::notnull;
  };
  const bool asks = changes_column(command.subtype) ||
                    command.subtype == DividedAction::setnotnull ||
                    command.subtype == DividedAction::dropnotnull ||
                    command.subtype == DividedAction::addcolumn || adds_check() ||
                    (command.subtype == DividedAction::dropconstraint &&
                     (is_check(table->constraint_named(command.name)) ||
                      is_not_null(table->constraint_named(command.name))));
  if (!asks) return;
  for (const TablePtr& one : with_partitions(session, table)) session.rights.require_owner(*one);
}

/// Refuses actions that cannot be done to the partitioned table alone.
void require_not_only(const Table& table, const ast::AlterTableCmd& command) {
  const Relation& relation = table.relation;
  if (!relation.is_partitioned() || relation.partitions.empty()) return;
  switch (command.subtype) {
    case DividedAction::addcolumn:
      refuse_definition("column must be added to child tables too");
    case DividedAction::dropcolumn:
      throw SqlError{sqlstate::invalid_table_definition,
                     "cannot drop column from only the partitioned table when partitions exist"}
          .with_hint("Do not specify the ONLY keyword.");
    case DividedAction::altercolumntype:
      throw_error(sqlstate::invalid_table_definition,
                  "type of inherited column \"{}\" must be changed in child tables too",
                  command.name);
    case DividedAction::setnotnull:
      throw SqlError{sqlstate::invalid_table_definition,
                     "constraint must be added to child tables too"}
          .with_hint("Do not specify the ONLY keyword.");
    case DividedAction::dropconstraint:
      if (table.constraint_named(command.name) == nullptr ||
          is_not_null(table.constraint_named(command.name))) {
        return;
      }
      throw SqlError{sqlstate::invalid_table_definition,
                     "cannot remove constraint from only the partitioned table when partitions "
                     "exist"}
          .with_hint("Do not specify the ONLY keyword.");
    case DividedAction::dropexpression:
      throw SqlError{sqlstate::feature_not_supported,
                     "ALTER TABLE / DROP EXPRESSION must be applied to child tables too"};
    case DividedAction::validateconstraint:
      refuse_definition("constraint must be validated on child tables too");
    case DividedAction::addconstraint: {
      const auto& constraint = ast::as<ast::Constraint>(command.def);
      if (constraint.contype == ast::ConstrType::check ||
          constraint.contype == ast::ConstrType::notnull) {
        refuse_definition("constraint must be added to child tables too");
      }
      return;
    }
    default:
      return;
  }
}

void refuse_for_partitioned(const Relation& relation, const ast::AlterTableCmd& command) {
  if (!relation.is_partitioned()) return;
  switch (command.subtype) {
    case DividedAction::setreloptions:
      throw SqlError{sqlstate::wrong_object_type,
                     "cannot specify storage parameters for a partitioned table"}
          .with_hint("Specify storage parameters for its leaf partitions instead.");
    case DividedAction::addcolumn: {
      const auto& definition = ast::as<ast::ColumnDef>(command.def);
      const bool has_identity =
          std::ranges::any_of(definition.constraints, [](const ast::Node* node) {
            return ast::as<ast::Constraint>(node).contype == ast::ConstrType::identity;
          });
      if (!has_identity || relation.partitions.empty()) return;
      refuse_definition("cannot recursively add identity column to table that has child tables");
    }
    default:
      return;
  }
}

/// True for actions that are applied to every partition separately.
bool reaches_partitions(const Table& table, const ast::AlterTableCmd& command) {
  // The foreign key of a partition may have another name.
  return changes_column(command.subtype) || (command.subtype == DividedAction::validateconstraint &&
                                             is_check(table.constraint_named(command.name)));
}

bool has_part(const Table& partition, Oid constraint) {
  const auto& all = partition.relation.constraints;
  return std::ranges::find(all, constraint, &Constraint::parent) != all.end();
}

/// The parent's constraints and keys that it did not have.
void hand_down(StatementContext& session, const Relation& before, const TablePtr& parent,
               bool only) {
  if (only) return;
  const auto is_new = [](const auto& list, Oid oid) {
    return std::ranges::find(list, oid, [](const auto& one) { return one.oid; }) == list.end();
  };
  for (const Oid oid : parent->relation.partitions) {
    for (const Constraint& constraint : parent->relation.constraints) {
      if (!is_new(before.constraints, constraint.oid)) continue;
      const TablePtr partition = session.names.table(oid);
      if (constraint.kind == ConstraintKind::check) give_check(session, constraint, partition);
      if (constraint.kind == ConstraintKind::not_null && !has_part(*partition, constraint.oid)) {
        give_not_null(session, parent->relation, constraint, partition);
      }
      if (constraint.kind == ConstraintKind::foreign_key) {
        give_foreign_key(session, parent->relation, constraint, partition);
      }
    }
    for (const Index& index : parent->relation.indexes) {
      if (!is_new(before.indexes, index.oid)) continue;
      give_index(session, parent, index,
                 session.catalog.lock_for_change(*session.transaction, session.names.table(oid)));
    }
  }
}

/// The column that the parent has got, for all below it.
void hand_down_column(StatementContext& session, const TablePtr& parent, const Column& column) {
  SilentSink silent;
  for (const TablePtr& one : with_partitions(session, parent)) {
    if (one->relation.oid == parent->relation.oid) continue;
    TableChange change{session, session.catalog.lock_for_change(*session.transaction, one), silent};
    // The partitions above come before those below.
    const TablePtr above = session.names.table(one->relation.partition_of);
    const auto place = above->column_position(column.name);
    change.inherit_column(column, place ? not_null_of(above->relation, *place) : nullptr);
  }
}

void drop_not_null_below(StatementContext& session, const Table& table,
                         const Constraint& constraint, bool only) {
  if (only) return leave_not_nulls_below(session, table, constraint.oid);
  drop_not_nulls_below(session, table, constraint.oid);
}

void drop_constraint_below(StatementContext& session, const Table& table, std::string_view name,
                           bool only) {
  const Constraint* constraint = table.constraint_named(name);
  if (constraint == nullptr) return;
  const bool is_key =
      constraint->index != kNoOid && constraint->kind != ConstraintKind::foreign_key;
  if (constraint->kind == ConstraintKind::not_null) {
    drop_not_null_below(session, table, *constraint, only);
  } else if (is_key) {
    drop_parts_of_index(session, table, constraint->index);
  } else {
    drop_parts(session, table, &Relation::constraints, constraint->oid);
  }
}

/// The triggers that partitions have because the table has them are switched with it.
void switch_triggers_below(StatementContext& session, const Table& table) {
  check_stack();
  for (const Oid oid : table.relation.partitions) {
    const TablePtr partition =
        session.catalog.lock_for_change(*session.transaction, session.names.table(oid));
    Relation relation = partition->relation;
    for (Trigger& trigger : relation.triggers) {
      const auto of_parent =
          std::ranges::find(table.relation.triggers, trigger.parent, &Trigger::oid);
      if (of_parent != table.relation.triggers.end()) trigger.enabled = of_parent->enabled;
    }
    switch_triggers_below(
        session, *session.catalog.replace(*session.transaction, *partition, std::move(relation)));
  }
}

bool switches_triggers(DividedAction action) {
  switch (action) {
    case DividedAction::enabletrig:
    case DividedAction::enablealwaystrig:
    case DividedAction::enablereplicatrig:
    case DividedAction::disabletrig:
    case DividedAction::enabletrigall:
    case DividedAction::disabletrigall:
    case DividedAction::enabletriguser:
    case DividedAction::disabletriguser:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool detaches_beside_users(const ast::AlterTableCmd& command) {
  if (command.subtype == DividedAction::detachpartitionfinalize) return true;
  return command.subtype == DividedAction::detachpartition &&
         ast::as<ast::PartitionCmd>(command.def).concurrent;
}

void refuse_to_divide(const Table& table, const ast::AlterTableCmd& command) {
  if (command.subtype != DividedAction::attachpartition &&
      command.subtype != DividedAction::detachpartition &&
      command.subtype != DividedAction::detachpartitionfinalize) {
    return;
  }
  throw_not_partitioned(table.relation, command.subtype == DividedAction::attachpartition
                                            ? "ATTACH PARTITION"
                                            : "DETACH PARTITION");
}

void alter_divided(StatementContext& session, TableChange& change,
                   const ast::AlterTableCmd& command, bool only) {
  const TablePtr table = change.table();
  require_own(*table, command);
  refuse_for_partitioned(table->relation, command);
  if (only) {
    require_not_only(*table, command);
  } else {
    require_own_parts(session, table, command);
  }
  if (command.subtype == DividedAction::dropnotnull) {
    require_nullable_in_parent(session, *table, command.name);
  }
  if (command.subtype == DividedAction::dropcolumn) {
    require_not_key(session, table, command.name, "drop");
  }
  if (command.subtype == DividedAction::altercolumntype) {
    require_not_key(session, table, command.name, "alter");
  }
  if (!table->relation.is_partitioned()) {
    refuse_to_divide(*table, command);
    return change.apply(command);
  }
  if (detaches_beside_users(command)) {
    const auto& partition = ast::as<ast::PartitionCmd>(command.def);
    if (command.subtype == DividedAction::detachpartition)
      detach_beside_users(session, table, partition);
    else
      finish_detachment(session, table, partition);
    return change.look_again();
  }
  for (const TablePtr& below : with_partitions(session, table)) {
    require_unused(session, *below, "ALTER TABLE");
  }
  link_old_not_nulls(session, *table);
  if (command.subtype == DividedAction::attachpartition) {
    attach_partition(session, table, ast::as<ast::PartitionCmd>(command.def));
    return change.look_again();
  }
  if (command.subtype == DividedAction::detachpartition) {
    detach_partition(session, table, ast::as<ast::PartitionCmd>(command.def));
    return change.look_again();
  }
  change.apply(command);
  if (command.subtype == DividedAction::dropconstraint) {
    drop_constraint_below(session, *table, command.name, only);
  }
  if (command.subtype == DividedAction::dropnotnull) {
    const auto position = table->column_position(command.name);
    const Constraint* gone = position ? not_null_of(table->relation, *position) : nullptr;
    if (gone != nullptr) drop_not_null_below(session, *table, *gone, only);
  }
  if (reaches_partitions(*table, command) && !only) {
    SilentSink silent;
    for (const TablePtr& one : with_partitions(session, table)) {
      if (one->relation.oid == table->relation.oid) continue;
      TableChange{session, session.catalog.lock_for_change(*session.transaction, one), silent}
          .apply(command);
    }
  }
  change.look_again();
  const TablePtr changed = change.table();
  if (changed->relation.columns.size() > table->relation.columns.size()) {
    hand_down_column(session, changed, changed->relation.columns.back());
  }
  hand_down(session, table->relation, changed, only);
  if (switches_triggers(command.subtype) && !only) switch_triggers_below(session, *changed);
  change.look_again();
}

}  // namespace swizzle::sql
