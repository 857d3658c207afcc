#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/definitions/partitions/partition_parts.h"
#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/definitions/triggers/trigger_definition.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/identifiers.h"

/// ALTER and DROP of triggers.
namespace swizzle::sql {
namespace {

using Names = ast::NodeList;

/// Returns the table in a trigger's name: all parts but the last.
ast::RangeVar table_in(Names object) {
  ast::RangeVar range;
  const Names names = object.first(object.size() - 1);
  range.relname = ast::string_of(names.back());
  if (names.size() > 1) range.schemaname = ast::string_of(names[names.size() - 2]);
  range.location = -1;
  return range;
}

std::vector<Trigger>::iterator require_trigger(Relation& relation, std::string_view name) {
  const auto found = std::ranges::find(relation.triggers, name, &Trigger::name);
  if (found != relation.triggers.end()) return found;
  throw_error(sqlstate::undefined_object, "trigger \"{}\" for table \"{}\" does not exist", name,
              relation.name);
}

TablePtr own_table(StatementContext& session, const ast::RangeVar& range, lock::RelationMode mode) {
  const NamedRelation found = require_named_relation(session, range);
  require_alterable(session, found);
  return session.rights.lock_own(found.table, mode);
}

/// Locks the table. Checks that the trigger exists before the ownership of the table; the error
/// then calls the table a relation, as in PostgreSQL.
TablePtr own_table_of(StatementContext& session, const ast::RangeVar& range,
                      std::string_view trigger, lock::RelationMode mode) {
  Relation relation = require_named_relation(session, range).table->relation;
  require_trigger(relation, trigger);
  if (!session.rights.owns(relation.owner)) {
    throw_error(sqlstate::insufficient_privilege, "must be owner of relation {}", relation.name);
  }
  return own_table(session, range, mode);
}

}  // namespace

std::string described(StatementContext& session, const Table& table, const Trigger& trigger) {
  return fmt::format(
      "trigger {} on {} {}", quote_identifier(trigger.name),
      table.relation.kind == RelationKind::view ? "view" : "table",
      session.names.name_of(TypeId::regclass, table.relation.oid).value_or(table.relation.name));
}

namespace {

/// Refuses a partition's trigger that belongs to its parent's.
void refuse_part(StatementContext& session, const Table& table, const Trigger& trigger) {
  if (trigger.parent == kNoOid) return;
  const TablePtr parent = session.names.table(table.relation.partition_of);
  if (!parent) return;
  const auto& all = parent->relation.triggers;
  const auto whole = std::ranges::find(all, trigger.parent, &Trigger::oid);
  if (whole == all.end()) return;
  const std::string of_parent = described(session, *parent, *whole);
  throw sql_error(sqlstate::dependent_objects_still_exist, "cannot drop {} because {} requires it",
                  described(session, table, trigger), of_parent)
      .with_hint(fmt::format("You can drop {} instead.", of_parent));
}

}  // namespace

void drop_trigger(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink) {
  for (const ast::Node* node : statement.objects) {
    const Names object = ast::as<ast::List>(node).items;
    const std::string_view name = ast::string_of(object.back());
    const ast::RangeVar range = table_in(object);
    const auto skip = [&](std::string_view missing) { notice_missing(session, sink, missing); };
    if (statement.missing_ok) {
      if (!range.schemaname.empty() && !session.names.schema_exists(range.schemaname)) {
        skip(fmt::format("schema \"{}\"", range.schemaname));
        continue;
      }
      const auto found = find_named_relation(session, range);
      if (!found) {
        skip(fmt::format("relation \"{}{}{}\"", range.schemaname,
                         range.schemaname.empty() ? "" : ".", range.relname));
        continue;
      }
      const auto& triggers = found->table->relation.triggers;
      if (std::ranges::find(triggers, name, &Trigger::name) == triggers.end()) {
        skip(fmt::format("trigger \"{}\" for relation \"{}\"", name, range.relname));
        continue;
      }
    }
    const TablePtr table = own_table_of(session, range, name, lock::RelationMode::access_exclusive);
    Relation relation = table->relation;
    const auto trigger = require_trigger(relation, name);
    refuse_part(session, *table, *trigger);
    const Oid oid = trigger->oid;
    relation.triggers.erase(trigger);
    drop_parts(session, *session.catalog.replace(*session.transaction, *table, std::move(relation)),
               &Relation::triggers, oid);
  }
}

void rename_trigger(StatementContext& session, const ast::RenameStmt& statement) {
  const TablePtr table =
      own_table(session, *statement.relation, lock::RelationMode::access_exclusive);
  Relation relation = table->relation;
  const auto trigger = require_trigger(relation, statement.subname);
  if (std::ranges::find(relation.triggers, statement.newname, &Trigger::name) !=
      relation.triggers.end()) {
    throw_error(sqlstate::duplicate_object, "trigger \"{}\" for relation \"{}\" already exists",
                statement.newname, relation.name);
  }
  if (trigger->parent != kNoOid) {
    const TablePtr parent = session.names.table(relation.partition_of);
    throw sql_error(sqlstate::feature_not_supported, "cannot rename trigger \"{}\" on table \"{}\"",
                    trigger->name, relation.name)
        .with_hint(fmt::format("Rename the trigger on the partitioned table \"{}\" instead.",
                               parent ? parent->relation.name : ""));
  }
  const Oid oid = trigger->oid;
  const auto rename = [&](Relation& of, std::vector<Trigger>::iterator part) {
    part->name = statement.newname;
    std::ranges::sort(of.triggers, {}, &Trigger::name);
  };
  rename(relation, trigger);
  change_parts(session, *session.catalog.replace(*session.transaction, *table, std::move(relation)),
               &Relation::triggers, oid, rename);
}

void comment_on_trigger(StatementContext& session, Names object, std::string_view text) {
  const std::string_view name = ast::string_of(object.back());
  const TablePtr table =
      own_table_of(session, table_in(object), name, lock::RelationMode::share_update_exclusive);
  Relation relation = table->relation;
  require_trigger(relation, name)->comment = text;
  session.catalog.replace(*session.transaction, *table, std::move(relation));
}

bool enable_triggers(StatementContext& session, const ast::AlterTableCmd& command,
                     Relation& relation) {
  using Action = ast::AlterTableType;
  const auto set_all = [&](char enabled) {
    for (Trigger& trigger : relation.triggers) trigger.enabled = enabled;
  };
  // ALL includes the triggers of foreign keys and deferrable keys, which only superusers may
  // disable.
  const auto leave_keys = [&](bool leaves) {
    const bool has_references =
        !session.names.referencing_tables(relation.oid).empty() ||
        std::ranges::any_of(relation.constraints, [](const Constraint& constraint) {
          return constraint.kind == ConstraintKind::foreign_key;
        });
    const auto deferrable =
        std::ranges::find_if(relation.constraints, [](const Constraint& constraint) {
          return constraint.deferrable && constraint.kind != ConstraintKind::foreign_key;
        });
    if (leaves && deferrable != relation.constraints.end()) {
      throw_error(sqlstate::feature_not_supported,
                  "DISABLE TRIGGER ALL is not supported for a table with the deferrable key \"{}\"",
                  deferrable->name);
    }
    if (has_references && !session.rights.is_superuser(session.user)) {
      throw_error(sqlstate::insufficient_privilege,
                  "permission denied: \"RI_ConstraintTrigger\" is a system trigger");
    }
    relation.leaves_keys = leaves;
  };
  switch (command.subtype) {
    case Action::enabletrig:
      require_trigger(relation, command.name)->enabled = 'O';
      return true;
    case Action::enablealwaystrig:
      require_trigger(relation, command.name)->enabled = 'A';
      return true;
    case Action::enablereplicatrig:
      require_trigger(relation, command.name)->enabled = 'R';
      return true;
    case Action::disabletrig:
      require_trigger(relation, command.name)->enabled = 'D';
      return true;
    case Action::enabletrigall:
      leave_keys(false);
      set_all('O');
      return true;
    case Action::enabletriguser:
      set_all('O');
      return true;
    case Action::disabletrigall:
      leave_keys(true);
      set_all('D');
      return true;
    case Action::disabletriguser:
      set_all('D');
      return true;
    default:
      return false;
  }
}

}  // namespace swizzle::sql
