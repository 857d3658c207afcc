#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/inheritance/heir_constraints.h"
#include "sql-lite-frontend/definitions/inheritance/inheritance.h"
#include "sql-lite-frontend/definitions/partitions/alter_partitioned.h"
#include "sql-lite-frontend/definitions/tables/not_null.h"
#include "sql-lite-frontend/definitions/tables/rename_column.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/statement/names/heirs.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/types/check_stack.h"

/// ALTER TABLE of tables that inherit from others, and of those from which others inherit.
namespace swizzle::sql {
namespace {

using HeirAction = ast::AlterTableType;

[[noreturn]] void refuse_in_heirs(std::string message) {
  throw SqlError{sqlstate::invalid_table_definition, std::move(message)};
}

/// Returns the kind of the constraint that ADD CONSTRAINT adds; nothing for other actions.
std::optional<ast::ConstrType> added_kind(const ast::AlterTableCmd& command) {
  if (command.subtype != HeirAction::addconstraint) return std::nullopt;
  return ast::as<ast::Constraint>(command.def).contype;
}

/// Refuses to change a part that the table has from its parents: it is changed there.
void require_own_of_heir(const Relation& relation, const Column* column,
                         const Constraint* constraint, const ast::AlterTableCmd& command) {
  const bool is_inherited = column != nullptr && column->inherit_count > 0;
  switch (command.subtype) {
    case HeirAction::dropcolumn:
      if (is_inherited) {
        refuse_in_heirs(fmt::format("cannot drop inherited column \"{}\"", command.name));
      }
      return;
    case HeirAction::altercolumntype:
      if (!is_inherited) return;
      throw sql_error(sqlstate::invalid_table_definition, "cannot alter inherited column \"{}\"",
                      command.name)
          .at_position(ast::as<ast::ColumnDef>(command.def).location + 1);
    case HeirAction::dropexpression:
      if (is_inherited && column->generated) {
        refuse_in_heirs("cannot drop generation expression from inherited column");
      }
      return;
    case HeirAction::dropconstraint:
      if (constraint != nullptr && constraint->inherit_count > 0) {
        refuse_in_heirs(fmt::format("cannot drop inherited constraint \"{}\" of relation \"{}\"",
                                    command.name, relation.name));
      }
      return;
    default:
      return;
  }
}

/// Refuses actions that cannot be done without the heirs.
void require_with_heirs(StatementContext& session, const Table& table,
                        const ast::AlterTableCmd& command) {
  if (table.relation.children.empty()) return;
  switch (command.subtype) {
    case HeirAction::addcolumn:
      refuse_in_heirs("column must be added to child tables too");
    case HeirAction::altercolumntype:
      refuse_in_heirs(fmt::format(
          "type of inherited column \"{}\" must be changed in child tables too", command.name));
    case HeirAction::dropexpression:
      refuse_in_heirs("ALTER TABLE / DROP EXPRESSION must be applied to child tables too");
    case HeirAction::setexpression:
      refuse_in_heirs("ALTER TABLE / SET EXPRESSION must be applied to child tables too");
    case HeirAction::validateconstraint: {
      const Constraint* const named = table.constraint_named(command.name);
      if (named == nullptr || named->validated || !goes_to_heirs(*named)) return;
      refuse_in_heirs("constraint must be validated on child tables too");
    }
    case HeirAction::addconstraint: {
      const auto& constraint = ast::as<ast::Constraint>(command.def);
      const bool goes_on = constraint.contype == ast::ConstrType::check ||
                           constraint.contype == ast::ConstrType::notnull;
      if (goes_on && !constraint.is_no_inherit) {
        refuse_in_heirs("constraint must be added to child tables too");
      }
      if (constraint.contype != ast::ConstrType::primary) return;
      for (const TablePtr& child : children_of(session, table.relation)) {
        for (const ast::Node* key : constraint.keys) {
          const auto position = child->column_position(ast::string_of(key));
          if (!position || child->relation.columns[*position].not_null) continue;
          refuse_in_heirs(fmt::format("column \"{}\" of table \"{}\" is not marked NOT NULL",
                                      ast::string_of(key), child->relation.name));
        }
      }
      return;
    }
    default:
      return;
  }
}

/// True for actions that are applied to every heir alike.
bool repeats_in_heirs(HeirAction action) {
  switch (action) {
    case HeirAction::altercolumntype:
    case HeirAction::columndefault:
    case HeirAction::dropexpression:
    case HeirAction::setexpression:
    case HeirAction::setstatistics:
    case HeirAction::setstorage:
      return true;
    default:
      return false;
  }
}

/// Requires ownership of all heirs that the action changes, and that no statement uses them.
void require_free_heirs(StatementContext& session, std::span<const TablePtr> all,
                        const ast::AlterTableCmd& command) {
  const auto added = added_kind(command);
  const bool asks =
      repeats_in_heirs(command.subtype) || command.subtype == HeirAction::addcolumn ||
      command.subtype == HeirAction::dropcolumn || command.subtype == HeirAction::setnotnull ||
      command.subtype == HeirAction::dropnotnull || command.subtype == HeirAction::dropconstraint ||
      command.subtype == HeirAction::validateconstraint || added == ast::ConstrType::check ||
      added == ast::ConstrType::notnull;
  if (!asks) return;
  for (const TablePtr& heir : all) {
    session.rights.require_owner(*heir);
    require_unused(session, *heir, "ALTER TABLE");
  }
}

void refuse_identity(const Relation& relation, const ast::AlterTableCmd& command) {
  if (command.subtype != HeirAction::addcolumn || relation.children.empty()) return;
  const auto& definition = ast::as<ast::ColumnDef>(command.def);
  const bool has_identity = std::ranges::any_of(definition.constraints, [](const ast::Node* node) {
    return ast::as<ast::Constraint>(node).contype == ast::ConstrType::identity;
  });
  if (!has_identity) return;
  refuse_in_heirs("cannot recursively add identity column to table that has child tables");
}

/// Gives the children the column that their parent has got; one that a child has is merged with it.
void add_column_to_heirs(StatementContext& session, const Relation& parent, const Column& column) {
  check_stack();
  SilentSink silent;
  for (const TablePtr& child : children_of(session, parent)) {
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, child);
    if (const auto known = locked->column_position(column.name)) {
      Relation relation = locked->relation;
      Column& own = relation.columns[*known];
      require_same_column(relation, own, column);
      count_parent(own);
      if (session.sink_for_notices != nullptr) {
        session.notice(*session.sink_for_notices, Severity::notice, SqlState{"00000"},
                       fmt::format("merging definition of column \"{}\" for child \"{}\"",
                                   column.name, relation.name));
      }
      session.catalog.replace(*session.transaction, *locked, std::move(relation));
      continue;
    }
    TableChange change{session, locked, silent};
    change.inherit_column(column, nullptr);
    add_column_to_heirs(session, change.table()->relation, column);
  }
}

/// The column that the table has got, for its heirs. Its constraints come afterwards.
void give_column_to_heirs(StatementContext& session, const Relation& relation) {
  Column column = relation.columns.back();
  column.not_null = column.not_null_unproven = false;
  column.inherit_count = 1;
  column.also_local = false;
  add_column_to_heirs(session, relation, column);
}

/// The constraints that the table did not have before.
void hand_down_constraints(StatementContext& session, const Relation& before,
                           const Relation& after) {
  const std::vector<Constraint> all = after.constraints;
  for (const Constraint& constraint : all) {
    const bool is_new = std::ranges::find(before.constraints, constraint.oid, &Constraint::oid) ==
                        before.constraints.end();
    if (is_new && goes_to_heirs(constraint)) give_to_heirs(session, after, constraint);
  }
}

/// Drops the column in the children that have it from this parent alone, and in theirs. `only`:
/// leaves it to the children as their own.
void drop_column_in_heirs(StatementContext& session, const Relation& parent,
                          const ast::AlterTableCmd& command, bool only) {
  check_stack();
  SilentSink silent;
  for (const TablePtr& child : children_of(session, parent)) {
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, child);
    const auto position = locked->column_position(command.name);
    if (!position) continue;
    Relation relation = locked->relation;
    Column& own = relation.columns[*position];
    if (own.inherit_count == 0) continue;
    if (!only && own.inherit_count == 1 && !own.also_local) {
      TableChange{session, locked, silent}.apply(command);
      drop_column_in_heirs(session, relation, command, false);
      continue;
    }
    if (only) own.also_local = true;
    discount_parent(own);
    session.catalog.replace(*session.transaction, *locked, std::move(relation));
  }
}

/// Applies the action to all heirs, each of which has the column.
void repeat_in_heirs(StatementContext& session, std::span<const TablePtr> all,
                     const ast::AlterTableCmd& command) {
  SilentSink silent;
  for (const TablePtr& heir : all.subspan(1)) {
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, heir);
    const auto position = locked->column_position(command.name);
    const bool is_of_others =
        command.subtype == HeirAction::altercolumntype && position &&
        locked->relation.columns[*position].inherit_count > parents_among(locked->relation, all);
    if (is_of_others) {
      refuse_in_heirs(fmt::format("cannot alter inherited column \"{}\" of relation \"{}\"",
                                  command.name, locked->relation.name));
    }
    TableChange{session, locked, silent}.apply(command);
  }
}

void validate_in_heirs(StatementContext& session, const Relation& parent,
                       const Constraint& validated) {
  check_stack();
  SilentSink silent;
  for (const TablePtr& child : children_of(session, parent)) {
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, child);
    Relation relation = locked->relation;
    const Constraint* const own = constraint_for(parent, validated, relation);
    if (own == nullptr) continue;
    if (!own->validated) {
      ast::AlterTableCmd command;
      command.subtype = HeirAction::validateconstraint;
      command.name = own->name;
      TableChange{session, locked, silent}.apply(command);
    }
    validate_in_heirs(session, relation, *own);
  }
}

/// SET NOT NULL of the table without its heirs makes a constraint that is the table's alone.
void keep_from_heirs(StatementContext& session, TableChange& change, const Relation& before) {
  const TablePtr table = change.table();
  Relation relation = table->relation;
  bool changes = false;
  for (Constraint& constraint : relation.constraints) {
    const bool is_new = std::ranges::find(before.constraints, constraint.oid, &Constraint::oid) ==
                        before.constraints.end();
    if (is_new && constraint.kind == ConstraintKind::not_null) {
      constraint.no_inherit = changes = true;
    }
  }
  if (changes) session.catalog.replace(*session.transaction, *table, std::move(relation));
  change.look_again();
}

/// ALTER CONSTRAINT … [NO] INHERIT, as far as children are concerned.
void share_altered(StatementContext& session, const Relation& before, const Relation& after) {
  for (const Constraint& constraint : before.constraints) {
    const auto now = std::ranges::find(after.constraints, constraint.oid, &Constraint::oid);
    if (now == after.constraints.end() || now->no_inherit == constraint.no_inherit) continue;
    const Constraint changed = *now;
    if (changed.no_inherit) {
      leave_to_heirs(session, after, changed);
    } else {
      give_to_heirs(session, after, changed);
    }
  }
}

/// Returns a copy of the constraint that DROP NOT NULL, DROP or VALIDATE CONSTRAINT is about.
std::optional<Constraint> constraint_meant(const Table& table, const ast::AlterTableCmd& command) {
  const Constraint* found = nullptr;
  if (command.subtype == HeirAction::dropnotnull || command.subtype == HeirAction::setnotnull) {
    const auto position = table.column_position(command.name);
    if (position) found = not_null_of(table.relation, *position);
  } else {
    found = table.constraint_named(command.name);
  }
  if (found == nullptr || !goes_to_heirs(*found)) return std::nullopt;
  return *found;
}

/// Changes the heirs as the action has changed the table, which was `before`.
void follow_in_heirs(StatementContext& session, TableChange& change, const Table& before,
                     const ast::AlterTableCmd& command, std::span<const TablePtr> all, bool only) {
  const Relation& relation = before.relation;
  const auto named = constraint_meant(before, command);
  switch (command.subtype) {
    case HeirAction::addcolumn:
      if (change.table()->relation.columns.size() > relation.columns.size()) {
        give_column_to_heirs(session, change.table()->relation);
      }
      return hand_down_constraints(session, relation, change.table()->relation);
    case HeirAction::dropcolumn:
      if (before.column_position(command.name)) {
        drop_column_in_heirs(session, relation, command, only);
      }
      return;
    case HeirAction::dropconstraint:
    case HeirAction::dropnotnull:
      if (named) drop_in_heirs(session, relation, *named, only);
      return;
    case HeirAction::validateconstraint:
      if (named && !only) validate_in_heirs(session, relation, *named);
      return;
    case HeirAction::setnotnull:
      if (only) return keep_from_heirs(session, change, relation);
      if (named && !named->validated) return validate_in_heirs(session, relation, *named);
      return hand_down_constraints(session, relation, change.table()->relation);
    case HeirAction::addconstraint:
      if (!only) hand_down_constraints(session, relation, change.table()->relation);
      return;
    case HeirAction::alterconstraint:
      return share_altered(session, relation, change.table()->relation);
    default:
      if (!only && repeats_in_heirs(command.subtype)) repeat_in_heirs(session, all, command);
      return;
  }
}

}  // namespace

std::int16_t parents_among(const Relation& heir, std::span<const TablePtr> tables) {
  return static_cast<std::int16_t>(std::ranges::count_if(heir.parents, [&](Oid parent) {
    return std::ranges::any_of(
        tables, [parent](const TablePtr& table) { return table->relation.oid == parent; });
  }));
}

void alter_heirs(StatementContext& session, TableChange& change, const ast::AlterTableCmd& command,
                 bool only) {
  refuse_to_divide(*change.table(), command);
  const TablePtr before = change.table();
  const auto position = before->column_position(command.name);
  require_own_of_heir(before->relation, position ? &before->relation.columns[*position] : nullptr,
                      before->constraint_named(command.name), command);
  const std::vector<TablePtr> all = with_heirs(session, before);
  if (only) {
    require_with_heirs(session, *before, command);
  } else {
    require_free_heirs(session, all, command);
    refuse_identity(before->relation, command);
  }
  change.apply(command);
  change.look_again();
  if (before->relation.children.empty()) return;
  follow_in_heirs(session, change, *before, command, all, only);
  change.look_again();
}

void rename_column_in_heirs(StatementContext& session, const TablePtr& table, std::string_view name,
                            const std::string& new_name) {
  const std::vector<TablePtr> all = with_heirs(session, table);
  for (const TablePtr& heir : std::span{all}.subspan(1)) {
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, heir);
    session.rights.require_owner(*locked);
    const auto position = locked->column_position(name);
    if (!position) continue;
    Relation relation = locked->relation;
    if (relation.columns[*position].inherit_count > parents_among(relation, all)) {
      refuse_in_heirs(fmt::format("cannot rename inherited column \"{}\"", name));
    }
    if (locked->column_position(new_name)) {
      throw_error(sqlstate::duplicate_column, "column \"{}\" of relation \"{}\" already exists",
                  new_name, relation.name);
    }
    rename_column(session, locked, relation, *position, new_name);
    session.catalog.replace(*session.transaction, *locked, std::move(relation));
  }
}

void rename_constraint_in_heirs(StatementContext& session, const TablePtr& table,
                                std::string_view name, const std::string& new_name) {
  const Constraint* const renamed = table->constraint_named(name);
  if (renamed == nullptr || !goes_to_heirs(*renamed)) return;
  const std::vector<TablePtr> all = with_heirs(session, table);
  for (const TablePtr& heir : std::span{all}.subspan(1)) {
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, heir);
    session.rights.require_owner(*locked);
    Relation relation = locked->relation;
    const auto own = std::ranges::find(relation.constraints, name, &Constraint::name);
    if (own == relation.constraints.end()) {
      throw_error(sqlstate::undefined_object, "constraint \"{}\" for table \"{}\" does not exist",
                  name, relation.name);
    }
    if (own->inherit_count > parents_among(relation, all)) {
      refuse_in_heirs(fmt::format("cannot rename inherited constraint \"{}\"", name));
    }
    if (locked->constraint_named(new_name) != nullptr) {
      throw_error(sqlstate::duplicate_object,
                  "constraint \"{}\" for relation \"{}\" already exists", new_name, relation.name);
    }
    own->name = new_name;
    session.catalog.replace(*session.transaction, *locked, std::move(relation));
  }
}

}  // namespace swizzle::sql
