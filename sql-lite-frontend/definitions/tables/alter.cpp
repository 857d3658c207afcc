#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>

#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/indexes/inverted_index.h"
#include "sql-lite-frontend/definitions/partitions/partition_parts.h"
#include "sql-lite-frontend/definitions/publications/publications.h"
#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/tables/alter_constraint.h"
#include "sql-lite-frontend/definitions/tables/alter_targets.h"
#include "sql-lite-frontend/definitions/tables/column_hints.h"
#include "sql-lite-frontend/definitions/tables/not_null.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/definitions/tables/relation_options.h"
#include "sql-lite-frontend/definitions/tables/table_change.h"
#include "sql-lite-frontend/definitions/tables/transfer.h"
#include "sql-lite-frontend/definitions/triggers/trigger_definition.h"
#include "sql-lite-frontend/definitions/types/composite_values.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/statement/names/partitions.h"
#include "sql-lite-frontend/statement/refusals.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/user_types.h"

/// ALTER TABLE.
namespace swizzle::sql {
namespace {

/// Makes the column one of those that keep their place only.
void drop_column_definition(Relation& relation, std::size_t position) {
  Column& column = relation.columns[position];
  column.dropped = true;
  // Its domain may be dropped, but rows keep its place.
  column.type = base_type(column.type);
  column.not_null = false;
  column.name = fmt::format("........pg.dropped.{}........", position + 1);
  column.default_sql.clear();
  column.identity = 0;
  column.generated = column.is_virtual = false;
  column.grants.clear();
}

}  // namespace

/// New keys need trees and entries, a new primary key the whole table in another order.
void TableChange::finish_builder(TableBuilder& builder, Relation relation, std::size_t old_indexes,
                                 std::size_t old_constraints) {
  for (Relation& sequence : builder.sequences) create_relation(session_, std::move(sequence));
  if (relation.is_partitioned()) {
    // Its partitions have the objects that it defines.
    replace(std::move(relation));
    announce_foreign_keys(session_, table_->relation, old_constraints);
    return;
  }
  const bool new_order =
      table_->row_order() == nullptr && std::ranges::any_of(relation.indexes, &Index::orders_rows);
  if (new_order) {
    rewrite(std::move(relation), {});
  } else {
    for (std::size_t i = old_indexes; i < relation.indexes.size(); ++i) {
      relation.indexes[i].tree =
          value_of(session_.shared.engine.create_tree(*session_.transaction));
    }
    const std::size_t indexes = relation.indexes.size();
    replace(std::move(relation));
    for (std::size_t i = old_indexes; i < indexes; ++i) fill_index(session_, table_, i);
  }
  announce_foreign_keys(session_, table_->relation, old_constraints);
  validate_constraints(session_, table_, old_constraints);
}

void TableChange::add_constraint(const ast::Constraint& constraint) {
  if (constraint.contype == ast::ConstrType::notnull) return add_not_null(constraint);
  Relation relation = table_->relation;
  const std::size_t indexes = relation.indexes.size();
  const std::size_t constraints = relation.constraints.size();
  TableBuilder builder{session_, relation};
  builder.add_constraint(constraint);
  builder.finish();
  finish_builder(builder, std::move(relation), indexes, constraints);
}

void TableChange::add_column(const ast::AlterTableCmd& command) {
  const auto& definition = ast::as<ast::ColumnDef>(command.def);
  if (table_->column_position(definition.colname)) {
    if (!command.missing_ok) {
      throw_error(sqlstate::duplicate_column, "column \"{}\" of relation \"{}\" already exists",
                  definition.colname, table_->relation.name);
    }
    session_.notice(sink_, Severity::notice, sqlstate::duplicate_column,
                    fmt::format("column \"{}\" of relation \"{}\" already exists, skipping",
                                definition.colname, table_->relation.name));
    return;
  }
  refuse_system_column(definition.colname);
  Relation relation = table_->relation;
  const std::size_t indexes = relation.indexes.size();
  const std::size_t constraints = relation.constraints.size();
  TableBuilder builder{session_, relation};
  builder.add_column(definition);
  builder.finish();
  fill_column(builder, std::move(relation), indexes, constraints);
}

/// A column that the table's parent has got: that of a partition, or one of its parents.
void TableChange::inherit_column(const Column& given, const Constraint* not_null) {
  Relation relation = table_->relation;
  if (table_->column_position(given.name)) {
    throw_error(sqlstate::duplicate_column, "column \"{}\" of relation \"{}\" already exists",
                given.name, relation.name);
  }
  const std::size_t indexes = relation.indexes.size();
  const std::size_t constraints = relation.constraints.size();
  Column& column = relation.columns.emplace_back(given);
  column.inherited = relation.is_partition();
  column.missing.reset();
  column.statistics_target.reset();
  column.options.clear();
  column.comment.clear();
  column.grants.clear();
  if (not_null != nullptr) {
    Constraint& copy = relation.constraints.emplace_back(*not_null);
    copy.oid = session_.catalog.allocate_oid();
    copy.parent = not_null->oid;
    copy.comment.clear();
    copy.columns = {static_cast<std::int16_t>(relation.columns.size())};
  }
  TableBuilder builder{session_, relation};
  fill_column(builder, std::move(relation), indexes, constraints);
}

/// The last column is new: the rows get what its definition says.
void TableChange::fill_column(TableBuilder& builder, Relation relation, std::size_t indexes,
                              std::size_t constraints) {
  const std::size_t position = relation.columns.size() - 1;
  Column& column = relation.columns[position];
  if (const TypePtr rows = session_.names.user_type(TypeId{relation.row_type})) {
    refuse_in_itself(session_, *rows, column.type);
    if (!column.default_sql.empty() || is_domain(column.type)) refuse_columns_of(session_, *rows);
  }
  const AttributeEdit edit{.dropped = {}, .added = column.expression_type()};

  const std::unique_ptr<Scratch> scratch = session_.new_scratch();
  Binder binder{session_.names, scratch->arena};
  const TablePtr shape = provisional_table(relation);
  ExprPtr fill;
  const Slot first = binder.new_slots(relation.columns.size());
  if (!column.default_sql.empty() && !column.is_virtual) {
    for (Relation& sequence : builder.sequences) create_relation(session_, std::move(sequence));
    builder.sequences.clear();
    fill = binder.coerce_to_column(
        binder.bind_table_expression(column.default_sql, *shape, first,
                                     column.generated ? Clause::generated : Clause::column_default),
        column);
  } else if (is_domain(column.type)) {
    fill = binder.type_default(column);
  }
  scratch->execution.slots.resize(binder.slot_count());
  scratch->execution.transaction = session_.transaction.get();
  // A domain refuses a value only where there is a row.
  const bool orders_rows =
      table_->row_order() == nullptr && std::ranges::any_of(relation.indexes, &Index::orders_rows);
  const bool per_row =
      fill && (column.generated || is_volatile(*fill) || is_domain(column.type) || orders_rows);
  if (!per_row) {
    // Old rows say what the default is now, without being touched.
    if (fill) {
      const Value value = fill->eval(scratch->execution);
      if (!value.is_null()) {
        std::string flat;
        append_flat(flat, shape_of(column.type), value);
        column.missing = std::move(flat);
      }
    }
    finish_builder(builder, std::move(relation), indexes, constraints);
    if (!fill) edit_rows_elsewhere(session_, *table_, edit);
    return;
  }
  // First the column, filled row by row; then its keys and checks over the filled table.
  Relation with_column = relation;
  with_column.indexes.resize(indexes);
  const auto is_not_null = [](const Constraint& one) {
    return one.kind == ConstraintKind::not_null;
  };
  const auto first_new = static_cast<std::ptrdiff_t>(constraints);
  // The column's NOT NULL is checked as it is filled; the other constraints come below.
  with_column.constraints.erase(
      std::remove_if(with_column.constraints.begin() + first_new, with_column.constraints.end(),
                     [&](const Constraint& one) { return !is_not_null(one); }),
      with_column.constraints.end());
  rewrite(std::move(with_column),
          [&](Execution& execution, std::span<const Value> old_row, std::span<Value> new_row) {
            std::ranges::copy(old_row, new_row.begin());
            for (std::size_t i = 0; i < old_row.size(); ++i) {
              scratch->execution.slots[first + i] = old_row[i];
            }
            new_row[position] = fill->eval(scratch->execution).copy_to(execution.row_arena);
          });
  Relation finished = table_->relation;
  finished.indexes.insert(finished.indexes.end(),
                          relation.indexes.begin() + static_cast<std::ptrdiff_t>(indexes),
                          relation.indexes.end());
  std::copy_if(relation.constraints.begin() + first_new, relation.constraints.end(),
               std::back_inserter(finished.constraints),
               [&](const Constraint& one) { return !is_not_null(one); });
  finish_builder(builder, std::move(finished), indexes, constraints);
}

void TableChange::drop_column(const ast::AlterTableCmd& command) {
  const auto position = table_->column_position(command.name);
  if (!position) {
    refuse_to_change_system_column("drop", command.name);
    if (!command.missing_ok) require_column(command.name);
    notice_missing(
        session_, sink_,
        fmt::format("column \"{}\" of relation \"{}\"", command.name, table_->relation.name));
    return;
  }
  drop_published_column(session_, *table_, *position, command.behavior, sink_);
  const auto number = static_cast<std::int16_t>(*position + 1);
  drop_dependents(session_, dependents_of_column(session_, table_, *position),
                  fmt::format("column {} of {}", command.name, described(session_, *table_)),
                  command.behavior, sink_);
  table_ = session_.names.table(table_->relation.oid);
  Relation relation = table_->relation;
  const auto goes = [&](const Index& index) { return index_reads(index, *position); };
  const bool was_order = std::ranges::any_of(
      relation.indexes, [&](const Index& index) { return index.orders_rows() && goes(index); });
  for (const Index& index : relation.indexes) {
    // To write the table anew replaces all of them.
    if (!was_order && goes(index)) drop_index_tree(session_, index);
  }
  std::erase_if(relation.indexes, goes);
  std::erase_if(relation.constraints, [&](const Constraint& constraint) {
    const bool lost_index = constraint.kind == ConstraintKind::exclusion &&
                            std::ranges::find(relation.indexes, constraint.index, &Index::oid) ==
                                relation.indexes.end();
    return lost_index || std::ranges::find(constraint.columns, number) != constraint.columns.end();
  });
  drop_column_definition(relation, *position);
  for (const TablePtr& other : session_.catalog.sequences_of(relation.oid)) {
    if (other->relation.sequence->owner_column == number) session_.drop_relation(other);
  }
  const auto& before = table_->relation.columns;
  const auto place =
      std::count_if(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(*position),
                    [](const Column& column) { return !column.dropped; });
  if (was_order) {
    rewrite(std::move(relation), {});
  } else {
    replace(std::move(relation));
  }
  edit_rows_elsewhere(
      session_, *table_,
      {.dropped = static_cast<std::size_t>(place), .name = std::string{command.name}});
}

/// True if the column is part of the index: as a column, in an expression, in its predicate.
bool TableChange::index_reads(const Index& index, std::size_t position) const {
  const auto number = static_cast<std::int16_t>(position + 1);
  if (std::ranges::find(index.included, number) != index.included.end()) return true;
  Arena arena;
  Binder binder{session_.names, arena};
  const Slot first = binder.new_slots(table_->relation.columns.size());
  for (const IndexColumn& column : index.columns) {
    if (column.column == number) return true;
    if (column.column == 0) {
      binder.bind_table_expression(column.expression_sql, *table_, first, Clause::index_expression);
    }
  }
  if (!index.predicate_sql.empty()) {
    binder.bind_table_expression(index.predicate_sql, *table_, first, Clause::index_predicate);
  }
  return binder.is_used(first + static_cast<Slot>(position));
}

void TableChange::drop_constraint(const ast::AlterTableCmd& command) {
  Relation relation = table_->relation;
  const auto found = std::ranges::find(relation.constraints, command.name, &Constraint::name);
  if (found == relation.constraints.end()) {
    if (!command.missing_ok) {
      throw_error(sqlstate::undefined_object, "constraint \"{}\" of relation \"{}\" does not exist",
                  command.name, relation.name);
    }
    notice_missing(
        session_, sink_,
        fmt::format("constraint \"{}\" of relation \"{}\"", command.name, relation.name));
    return;
  }
  const Constraint constraint = *found;
  if (constraint.kind == ConstraintKind::not_null) {
    const auto position = static_cast<std::size_t>(constraint.columns.front() - 1);
    require_may_be_null(position, sqlstate::object_not_in_prerequisite_state);
    relation.columns[position].not_null = false;
  }
  relation.constraints.erase(found);
  const bool is_key = constraint.kind == ConstraintKind::primary_key ||
                      constraint.kind == ConstraintKind::unique ||
                      constraint.kind == ConstraintKind::exclusion;
  if (!is_key) {
    replace(std::move(relation));
    return;
  }
  std::vector<Dependent> dependents;
  for (Dependent& dependent : dependents_of_key(session_, *table_, constraint)) {
    // The table's own foreign keys to the key go with it, in the same definition.
    if (dependent.table->relation.oid == relation.oid &&
        command.behavior == ast::DropBehavior::cascade) {
      std::erase_if(relation.constraints,
                    [&](const Constraint& c) { return c.oid == dependent.oid; });
    } else {
      dependents.push_back(std::move(dependent));
    }
  }
  drop_dependents(session_, dependents,
                  fmt::format("constraint {} on {}", constraint.name, described(session_, *table_)),
                  command.behavior, sink_);
  const auto index = std::ranges::find(relation.indexes, constraint.index, &Index::oid);
  const bool was_order = index->orders_rows();
  drop_index_tree(session_, *index);
  relation.indexes.erase(index);
  if (was_order) {
    rewrite(std::move(relation), {});
  } else {
    replace(std::move(relation));
  }
}

/// Changes the owner, also of sequences that belong to the table's columns.
void TableChange::change_owner(const ast::RoleSpec& named) {
  const Relation& relation = table_->relation;
  const RolePtr owner = require_new_owner(session_, named, relation.owner, relation.schema);
  if (!owner) return;
  const auto& own = relation.sequence;
  if (const TablePtr of = own ? session_.names.table(own->owner_table) : nullptr) {
    throw sql_error(sqlstate::feature_not_supported, "cannot change owner of sequence \"{}\"",
                    relation.name)
        .with_detail(fmt::format("Sequence \"{}\" is linked to table \"{}\".", relation.name,
                                 of->relation.name));
  }
  table_ = give_relation(session_, *table_, owner->oid);
  for (const TablePtr& other : session_.catalog.sequences_of(table_->relation.oid)) {
    const TablePtr locked = session_.catalog.lock_for_change(*session_.transaction, other);
    give_relation(session_, *locked, owner->oid);
  }
}

void TableChange::apply(const ast::AlterTableCmd& command) {
  using Action = ast::AlterTableType;
  switch (command.subtype) {
    case Action::addcolumn:
      return add_column(command);
    case Action::dropcolumn:
      return drop_column(command);
    case Action::addconstraint:
      return add_constraint(ast::as<ast::Constraint>(command.def));
    case Action::dropconstraint:
      return drop_constraint(command);
    case Action::altercolumntype:
      return alter_type(command);
    case Action::columndefault:
      return set_default(command);
    case Action::setnotnull:
      return set_not_null(command);
    case Action::dropnotnull:
      return drop_not_null(command);
    case Action::addidentity:
      return add_identity(command);
    case Action::setidentity:
      return change_identity(command);
    case Action::dropidentity:
      return drop_identity(command);
    case Action::dropexpression:
      return drop_expression(command);
    case Action::setexpression:
      return set_expression(command);
    case Action::validateconstraint: {
      Relation relation = table_->relation;
      const auto found = std::ranges::find(relation.constraints, command.name, &Constraint::name);
      if (found == relation.constraints.end()) {
        throw_error(sqlstate::undefined_object,
                    "constraint \"{}\" of relation \"{}\" does not exist", command.name,
                    relation.name);
      }
      const auto position = static_cast<std::size_t>(found - relation.constraints.begin());
      if (!found->enforced) {
        throw SqlError{sqlstate::object_not_in_prerequisite_state,
                       "cannot validate NOT ENFORCED constraint"};
      }
      if (found->kind == ConstraintKind::not_null) {
        validate_not_null(session_, table_, found->oid);
        return look_again();
      }
      found->validated = true;
      const Oid oid = found->oid;
      const bool is_divided =
          found->kind == ConstraintKind::foreign_key && relation.is_partitioned();
      replace(std::move(relation));
      if (!is_divided) return validate_constraints(session_, table_, position);
      validate_foreign_keys_below(session_, *table_, oid);
      return look_again();
    }
    case Action::alterconstraint:
      alter_constraint(session_, table_, ast::as<ast::ATAlterConstraint>(command.def));
      return look_again();
    case Action::changeowner:
      return change_owner(*command.newowner);
    case Action::replicaidentity:
      return set_replica_identity(ast::as<ast::ReplicaIdentityStmt>(command.def));
    case Action::setlogged:
      return set_logged(true);
    case Action::setunlogged:
      return set_logged(false);
    case Action::setreloptions:
    case Action::resetreloptions:
      return change_options(command);
    case Action::setstatistics:
    case Action::setstorage:
    case Action::setoptions:
    case Action::resetoptions:
      return set_hint(command);
    default:
      if (Relation relation = table_->relation; enable_triggers(session_, command, relation)) {
        return replace(std::move(relation));
      }
      if (Relation relation = table_->relation; set_row_security(command, relation)) {
        return replace(std::move(relation));
      }
      throw_error(sqlstate::feature_not_supported, "ALTER TABLE … {} is not supported",
                  alter_form_name(command.subtype));
  }
}

/// Keeps a hint for a planner and a storage that are not ours.
void TableChange::set_hint(const ast::AlterTableCmd& command) {
  if (command.name.empty()) {
    throw SqlError{sqlstate::feature_not_supported, "cannot refer to non-index column by number"};
  }
  const std::size_t position = require_column(command.name);
  Relation relation = table_->relation;
  set_column_hint(session_, command, relation.columns[position], sink_);
  replace(std::move(relation));
}

void TableChange::change_options(const ast::AlterTableCmd& command) {
  const auto& named = ast::as<ast::List>(command.def).items;
  Relation relation = table_->relation;
  if (command.subtype == ast::AlterTableType::resetreloptions) {
    reset_options(relation.options, named);
  } else {
    const bool view = relation.kind == RelationKind::view;
    set_options(relation.options, view ? view_options(named) : storage_options(named));
  }
  replace(std::move(relation));
}

}  // namespace swizzle::sql
