#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "sql-lite-frontend/definitions/indexes/inverted_index.h"
#include "sql-lite-frontend/definitions/inheritance/inheritance.h"
#include "sql-lite-frontend/definitions/partitions/alter_partitioned.h"
#include "sql-lite-frontend/definitions/partitions/partitions.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/tables/alter_targets.h"
#include "sql-lite-frontend/definitions/tables/column_hints.h"
#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/definitions/tables/relation_options.h"
#include "sql-lite-frontend/definitions/tables/table_change.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/statement/refusals.h"

/// ALTER TABLE, and the like for indexes, views and sequences: which parts it has, and their order.
namespace swizzle::sql {
namespace {

/// Applies the actions to an index: of those that exist, only hints are accepted, and have no
/// effect.
void alter_index(StatementContext& session, const NamedRelation& found, ast::NodeList actions,
                 ResultSink& sink) {
  const Index& index = *found.index;
  for (const ast::Node* node : actions) {
    const auto& action = ast::as<ast::AlterTableCmd>(node);
    if (action.subtype == ast::AlterTableType::setstatistics) {
      const TablePtr table =
          session.rights.lock_own(found.table, lock::RelationMode::share_update_exclusive);
      Relation relation = table->relation;
      const auto changed = std::ranges::find(relation.indexes, index.oid, &Index::oid);
      if (changed == relation.indexes.end()) {
        throw_error(sqlstate::undefined_table, "relation \"{}\" does not exist", index.name);
      }
      set_index_statistics(session, action, *table, *changed, sink);
      session.catalog.replace(*session.transaction, *table, std::move(relation));
      continue;
    }
    const bool is_inverted = index.method == IndexMethod::inverted;
    if (is_inverted && action.subtype == ast::AlterTableType::setreloptions) {
      check_index_options(index.method, ast::as<ast::List>(action.def).items);
      continue;
    }
    if (is_inverted && action.subtype == ast::AlterTableType::resetreloptions) continue;
    throw_error(sqlstate::feature_not_supported, "ALTER INDEX … {} is not supported",
                alter_form_name(action.subtype));
  }
}

bool attaches_index(ast::NodeList actions) {
  return std::ranges::any_of(actions, [](const ast::Node* node) {
    return ast::as<ast::AlterTableCmd>(node).subtype == ast::AlterTableType::attachpartition;
  });
}

void attach_part(StatementContext& session, const NamedRelation& found, ast::NodeList actions) {
  const Oid index = found.index->oid;
  const std::string name = found.index->name;
  const TablePtr table = session.rights.lock_own(found.table);
  if (!table->relation.is_partitioned()) {
    throw_error(sqlstate::wrong_object_type, "index \"{}\" is not a partitioned index", name);
  }
  for (const ast::Node* node : actions) {
    const auto& action = ast::as<ast::AlterTableCmd>(node);
    attach_index(session, table, index, ast::as<ast::PartitionCmd>(action.def));
  }
}

/// The time at which PostgreSQL carries out a part of ALTER TABLE: drops, before changes, before
/// additions, so that the parts may be written in any order.
int turn_of(const ast::AlterTableCmd& command) {
  using Action = ast::AlterTableType;
  enum Turn : std::uint8_t { drop, change_type, add_column, attributes, add_key, add_other, rest };
  switch (command.subtype) {
    case Action::dropcolumn:
    case Action::dropconstraint:
    case Action::dropnotnull:
    case Action::dropidentity:
    case Action::dropexpression:
      return drop;
    case Action::setexpression:
      return add_column;
    case Action::columndefault:
      return command.def != nullptr ? add_other : drop;
    case Action::altercolumntype:
      return change_type;
    case Action::addcolumn:
      return add_column;
    case Action::setnotnull:
      return attributes;
    case Action::addconstraint: {
      const ast::ConstrType type = ast::as<ast::Constraint>(command.def).contype;
      const bool is_key = type == ast::ConstrType::primary || type == ast::ConstrType::unique;
      return is_key ? add_key : add_other;
    }
    case Action::addidentity:
      return add_other;
    default:
      return rest;
  }
}

/// The lock that PostgreSQL takes for a part of ALTER TABLE.
lock::RelationMode lock_mode_of(const ast::AlterTableCmd& command, RelationKind kind) {
  using Action = ast::AlterTableType;
  using enum lock::RelationMode;
  switch (command.subtype) {
    // Changes that concern writers alone.
    case Action::enabletrig:
    case Action::enablealwaystrig:
    case Action::enablereplicatrig:
    case Action::enabletrigall:
    case Action::enabletriguser:
    case Action::disabletrig:
    case Action::disabletrigall:
    case Action::disabletriguser:
      return share_row_exclusive;
    case Action::addconstraint: {
      const bool is_foreign =
          ast::as<ast::Constraint>(command.def).contype == ast::ConstrType::foreign;
      return is_foreign ? share_row_exclusive : access_exclusive;
    }
    // Changes that concern neither readers nor writers.
    case Action::setstatistics:
    case Action::setoptions:
    case Action::resetoptions:
    case Action::clusteron:
    case Action::dropcluster:
    case Action::validateconstraint:
      return share_update_exclusive;
    case Action::setreloptions:
    case Action::resetreloptions:
      // A view's options may change which rows are visible.
      return kind == RelationKind::view ? access_exclusive : share_update_exclusive;
    default:
      return access_exclusive;
  }
}

/// Returns the strongest lock mode of all actions.
lock::RelationMode lock_mode_of(const ast::AlterTableStmt& statement, const Relation& relation) {
  if (statement.cmds.size() == 1 && relation.is_partitioned() &&
      detaches_beside_users(ast::as<ast::AlterTableCmd>(statement.cmds[0]))) {
    return lock::RelationMode::share_update_exclusive;
  }
  // A change of a partition, or of a parent, changes other tables, too.
  if (relation.has_parts() || relation.is_partition()) return lock::RelationMode::access_exclusive;
  // Only these three modes occur; each is stronger than the one before.
  lock::RelationMode strongest = lock::RelationMode::share_update_exclusive;
  for (const ast::Node* node : statement.cmds)
    strongest = std::max(strongest, lock_mode_of(ast::as<ast::AlterTableCmd>(node), relation.kind));
  return strongest;
}

void refuse_type_twice(ast::Items<ast::AlterTableCmd> commands) {
  std::set<std::string_view> names;
  for (const ast::AlterTableCmd* command : commands) {
    const bool is_new = command->subtype != ast::AlterTableType::altercolumntype ||
                        names.insert(command->name).second;
    if (is_new) continue;
    throw_error(sqlstate::feature_not_supported, "cannot alter type of column \"{}\" twice",
                std::string_view{command->name});
  }
}

/// Applies an action to the table and, unless `only`, to its partitions or heirs.
void apply_action(StatementContext& session, TableChange& change, const ast::AlterTableCmd& command,
                  bool only) {
  const TablePtr table = change.table();
  const Relation& relation = table->relation;
  if (command.subtype == ast::AlterTableType::addinherit) {
    add_parent(session, table, ast::as<ast::RangeVar>(command.def));
    return change.look_again();
  }
  if (command.subtype == ast::AlterTableType::dropinherit) {
    remove_parent(session, table, ast::as<ast::RangeVar>(command.def));
    return change.look_again();
  }
  if (relation.is_partitioned() || relation.is_partition()) {
    return alter_divided(session, change, command, only);
  }
  if (!relation.parents.empty() || !relation.children.empty()) {
    return alter_heirs(session, change, command, only);
  }
  refuse_to_divide(*table, command);
  change.apply(command);
}

}  // namespace

void alter_table(StatementContext& session, const ast::AlterTableStmt& statement,
                 ResultSink& sink) {
  if (statement.objtype == ast::ObjectType::type) return alter_composite(session, statement, sink);
  const auto found = find_to_change(session, *statement.relation, statement.missing_ok, sink);
  if (!found) return;
  require_alterable(session, *found);
  require_named_kind(*found, statement.objtype);
  for (const ast::Node* node : statement.cmds) {
    require_target(*found, ast::as<ast::AlterTableCmd>(node));
  }
  if (found->index != nullptr) {
    if (attaches_index(statement.cmds)) {
      attach_part(session, *found, statement.cmds);
    } else {
      alter_index(session, *found, statement.cmds, sink);
    }
    return;
  }
  const TablePtr table =
      session.rights.lock_own(found->table, lock_mode_of(statement, found->table->relation));
  require_unused(session, *table, "ALTER TABLE");
  TableChange change{session, table, sink};
  std::vector<const ast::AlterTableCmd*> commands;
  for (const ast::Node* node : statement.cmds) {
    commands.push_back(&ast::as<ast::AlterTableCmd>(node));
  }
  std::ranges::stable_sort(commands, {}, [](const auto* command) { return turn_of(*command); });
  refuse_type_twice(commands);
  for (const ast::AlterTableCmd* command : commands) {
    apply_action(session, change, *command, !statement.relation->inh);
  }
}

}  // namespace swizzle::sql
