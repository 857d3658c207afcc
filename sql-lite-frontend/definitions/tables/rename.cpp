#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/definitions/databases/databases.h"
#include "sql-lite-frontend/definitions/inheritance/inheritance.h"
#include "sql-lite-frontend/definitions/publications/publications.h"
#include "sql-lite-frontend/definitions/rights/large_objects.h"
#include "sql-lite-frontend/definitions/rights/policy_definition.h"
#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/definitions/routines/made_objects.h"
#include "sql-lite-frontend/definitions/routines/routine_definition.h"
#include "sql-lite-frontend/definitions/statements.h"
#include "sql-lite-frontend/definitions/subscriptions/subscriptions.h"
#include "sql-lite-frontend/definitions/tables/named_relation.h"
#include "sql-lite-frontend/definitions/tables/not_null.h"
#include "sql-lite-frontend/definitions/tables/rename_column.h"
#include "sql-lite-frontend/definitions/tables/table_builder.h"
#include "sql-lite-frontend/definitions/tables/transfer.h"
#include "sql-lite-frontend/definitions/text/collations.h"
#include "sql-lite-frontend/definitions/text/text_search.h"
#include "sql-lite-frontend/definitions/triggers/event_triggers.h"
#include "sql-lite-frontend/definitions/triggers/trigger_definition.h"
#include "sql-lite-frontend/definitions/types/composite_values.h"
#include "sql-lite-frontend/definitions/types/user_types.h"
#include "sql-lite-frontend/routines/triggers/condition.h"
#include "sql-lite-frontend/statement/object_types.h"
#include "sql-lite-frontend/statement/statement_context.h"

/// RENAME, SET SCHEMA and OWNER TO.
namespace swizzle::sql {
namespace {

/// Renames the index and the constraint that it enforces, if any.
void rename_index(StatementContext& session, const NamedRelation& named,
                  const std::string& new_name) {
  const Oid number = named.index->oid;
  const TablePtr table =
      session.rights.lock_own(named.table, lock::RelationMode::share_update_exclusive);
  Relation relation = table->relation;
  const auto index = std::ranges::find(relation.indexes, number, &Index::oid);
  if (index == relation.indexes.end()) {
    throw_error(sqlstate::undefined_table, "relation \"{}\" does not exist", named.index->name);
  }
  for (Constraint& constraint : relation.constraints) {
    if (constraint.index == number && constraint.kind != ConstraintKind::foreign_key) {
      constraint.name = new_name;
    }
  }
  refuse_relation_name(session, relation.schema, new_name);
  index->name = new_name;
  session.catalog.replace(*session.transaction, *table, std::move(relation));
}

}  // namespace

void rename_object(StatementContext& session, const ast::RenameStmt& statement, ResultSink& sink) {
  const std::string new_name{statement.newname};
  switch (statement.rename_type) {
    case ast::ObjectType::schema: {
      const SchemaPtr schema = session.catalog.schema(statement.subname);
      if (!schema) {
        throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist",
                    statement.subname);
      }
      if (session.catalog.schema(new_name)) {
        throw_error(sqlstate::duplicate_schema, "schema \"{}\" already exists", new_name);
      }
      session.rights.require_owner(*schema);
      session.rights.require_create_on_database();
      require_schema_name(new_name);
      Schema changed = *schema;
      changed.name = new_name;
      session.catalog.replace(*session.transaction, *schema, std::move(changed));
      return;
    }
    case ast::ObjectType::database:
      return rename_database(session, statement.subname, new_name);
    case ast::ObjectType::type:
    case ast::ObjectType::domain:
      return rename_type(session, statement.object, statement.rename_type, new_name);
    case ast::ObjectType::publication:
      return rename_publication(session, ast::string_of(statement.object), new_name);
    case ast::ObjectType::event_trigger:
      return rename_event_trigger(session, ast::string_of(statement.object), new_name);
    case ast::ObjectType::subscription:
      return rename_subscription(session, ast::string_of(statement.object), new_name);
    case ast::ObjectType::collation:
      return rename_collation(session, statement);
    case ast::ObjectType::tsdictionary:
    case ast::ObjectType::tsconfiguration:
      return rename_text_search(session, statement);
    case ast::ObjectType::attribute:
      return rename_attribute(session, statement);
    case ast::ObjectType::domconstraint:
      return rename_domain_check(session, statement);
    case ast::ObjectType::function:
    case ast::ObjectType::procedure:
    case ast::ObjectType::routine:
    case ast::ObjectType::aggregate:
      return rename_routine(session, statement);
    case ast::ObjectType::trigger:
      return rename_trigger(session, statement);
    case ast::ObjectType::policy:
      return rename_policy(session, statement);
    case ast::ObjectType::role: {
      const RolePtr role = session.catalog.role(statement.subname);
      if (!role) {
        throw_error(sqlstate::undefined_object, "role \"{}\" does not exist", statement.subname);
      }
      if (role->oid == session.session_user || role->oid == session.login) {
        throw SqlError{sqlstate::feature_not_supported, "session user cannot be renamed"};
      }
      if (role->oid == session.user) {
        throw SqlError{sqlstate::feature_not_supported, "current user cannot be renamed"};
      }
      require_role_name(role->name);
      require_role_name(statement.newname);
      if (session.catalog.role(new_name)) {
        throw_error(sqlstate::duplicate_object, "role \"{}\" already exists", new_name);
      }
      if (role->superuser && !session.rights.is_superuser(session.user)) {
        refuse_role_change("rename",
                           "Only roles with the SUPERUSER attribute may rename roles with the "
                           "SUPERUSER attribute.");
      }
      if (!may_administer(session, *role)) {
        refuse_role_change("rename",
                           fmt::format("Only roles with the CREATEROLE attribute and the ADMIN "
                                       "option on role \"{}\" may rename this role.",
                                       role->name));
      }
      Role changed = *role;
      changed.name = new_name;
      session.catalog.replace(*session.transaction, *role, std::move(changed));
      return;
    }
    case ast::ObjectType::table:
    case ast::ObjectType::view:
    case ast::ObjectType::matview:
    case ast::ObjectType::sequence:
    case ast::ObjectType::index:
    case ast::ObjectType::column:
    case ast::ObjectType::tabconstraint:
      break;
    default:
      throw SqlError{sqlstate::feature_not_supported, "RENAME of this kind is not supported"};
  }

  const auto found_relation =
      find_to_change(session, *statement.relation, statement.missing_ok, sink);
  if (!found_relation) return;
  const NamedRelation& named = *found_relation;
  const bool is_part = statement.rename_type == ast::ObjectType::column ||
                       statement.rename_type == ast::ObjectType::tabconstraint;
  if (is_part && named.table->relation.kind == RelationKind::sequence) {
    throw sql_error(sqlstate::wrong_object_type, "cannot rename columns of relation \"{}\"",
                    named.table->relation.name)
        .with_detail("This operation is not supported for sequences.");
  }
  require_alterable(session, named);
  if (!is_part) {
    if (const SchemaPtr schema = session.catalog.schema(named.table->relation.schema)) {
      session.rights.require(*schema, privilege::kCreate);
    }
    // ALTER INDEX renames a table as well, and ALTER TABLE an index.
    if (statement.rename_type != ast::ObjectType::index) {
      require_named_kind(named, statement.rename_type);
    }
  }
  if (named.index != nullptr) {
    if (is_part) {
      throw SqlError{sqlstate::feature_not_supported,
                     "renaming columns of an index is not supported"};
    }
    return rename_index(session, named, new_name);
  }
  const TablePtr table = session.rights.lock_own(named.table);
  Relation relation = table->relation;
  if (statement.rename_type == ast::ObjectType::column) {
    const auto position = table->column_position(statement.subname);
    if (!position) {
      refuse_to_change_system_column("rename", statement.subname);
      throw_error(sqlstate::undefined_column, "column \"{}\" does not exist", statement.subname);
    }
    if (table->column_position(new_name)) {
      throw_error(sqlstate::duplicate_column, "column \"{}\" of relation \"{}\" already exists",
                  new_name, relation.name);
    }
    require_renameable(session, relation, *position, statement.relation->inh);
    rename_column(session, table, relation, *position, new_name);
  } else if (statement.rename_type == ast::ObjectType::tabconstraint) {
    const auto found =
        std::ranges::find(relation.constraints, statement.subname, &Constraint::name);
    if (found == relation.constraints.end()) {
      throw_error(sqlstate::undefined_object, "constraint \"{}\" for table \"{}\" does not exist",
                  statement.subname, relation.name);
    }
    const bool is_shared = !found->no_inherit && (found->kind == ConstraintKind::check ||
                                                  found->kind == ConstraintKind::not_null);
    const bool has_parts = !relation.partitions.empty() || !relation.children.empty();
    if (is_shared && !statement.relation->inh && has_parts) {
      throw_error(sqlstate::invalid_table_definition,
                  "inherited constraint \"{}\" must be renamed in child tables too", found->name);
    }
    if (found->is_inherited() && is_shared) {
      throw_error(sqlstate::invalid_table_definition, "cannot rename inherited constraint \"{}\"",
                  found->name);
    }
    const bool of_index = found->index != kNoOid && found->kind != ConstraintKind::foreign_key;
    if (of_index) refuse_relation_name(session, relation.schema, new_name);
    if (table->constraint_named(new_name) != nullptr) {
      throw_error(sqlstate::duplicate_object,
                  "constraint \"{}\" for relation \"{}\" already exists", new_name, relation.name);
    }
    found->name = new_name;
    for (Index& index : relation.indexes) {
      if (index.oid == found->index && found->kind != ConstraintKind::foreign_key) {
        index.name = new_name;
      }
    }
  } else {
    refuse_relation_name(session, relation.schema, new_name);
    relation.name = new_name;
  }
  const TypeId rows{relation.row_type};
  session.catalog.replace(*session.transaction, *table, std::move(relation));
  if (statement.rename_type == ast::ObjectType::column) {
    rename_column_below(session, *table, statement.subname, new_name);
    rename_column_in_heirs(session, table, statement.subname, new_name);
  } else if (statement.rename_type == ast::ObjectType::tabconstraint) {
    link_old_not_nulls(session, *table);
    rename_constraint_below(session, *table, statement.subname, new_name);
    rename_constraint_in_heirs(session, table, statement.subname, new_name);
  }
  if (statement.rename_type == ast::ObjectType::column) {
    if (const TypePtr type = session.names.user_type(rows))
      require_field_unnamed(session, *type, statement.subname);
  }
}

/// ALTER SCHEMA … OWNER TO; tables have their own form, in ALTER TABLE.
void change_owner(StatementContext& session, const ast::AlterOwnerStmt& statement) {
  if (statement.object_type == ast::ObjectType::database) {
    return own_database(session, ast::string_of(statement.object),
                        *role_of(session, *statement.newowner));
  }
  if (statement.object_type == ast::ObjectType::type ||
      statement.object_type == ast::ObjectType::domain) {
    return set_type_owner(session, statement);
  }
  if (statement.object_type == ast::ObjectType::collation) {
    return set_collation_owner(session, statement);
  }
  if (is_text_search(statement.object_type)) {
    return set_text_search_owner(session, statement);
  }
  if (statement.object_type == ast::ObjectType::publication) {
    return set_publication_owner(session, statement);
  }
  if (statement.object_type == ast::ObjectType::event_trigger) {
    return set_event_trigger_owner(session, statement);
  }
  if (statement.object_type == ast::ObjectType::largeobject) {
    return set_large_object_owner(session, statement);
  }
  if (statement.object_type == ast::ObjectType::subscription) {
    return set_subscription_owner(session, statement);
  }
  if (statement.object_type == ast::ObjectType::operator_) {
    return set_operator_owner(session, statement);
  }
  if (is_routine(statement.object_type)) {
    return set_routine_owner(session, statement);
  }
  if (statement.object_type != ast::ObjectType::schema) {
    throw_error(sqlstate::feature_not_supported, "ALTER {} OWNER is not supported",
                object_type_name(statement.object_type));
  }
  const std::string_view name = ast::string_of(statement.object);
  const SchemaPtr schema = session.catalog.schema(name);
  if (!schema) {
    throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", name);
  }
  const RolePtr new_owner = role_of(session, *statement.newowner);
  if (new_owner->oid == schema->owner) return;
  session.rights.require_owner(*schema);
  session.rights.require_set_role(*new_owner);
  // Checked for the current role, which must be able to create such a schema.
  session.rights.require_create_on_database();
  Schema changed = *schema;
  changed.owner = new_owner->oid;
  if (!changed.grants.empty()) {
    AccessList list{changed.grants, schema->owner, GrantedOn::schema};
    list.change_owner(changed.owner);
    changed.grants = list.grants();
  }
  session.catalog.replace(*session.transaction, *schema, std::move(changed));
}

/// ALTER TABLE, VIEW or SEQUENCE … SET SCHEMA: moves indexes and owned sequences too.
void change_schema(StatementContext& session, const ast::AlterObjectSchemaStmt& statement,
                   ResultSink& sink) {
  using Object = ast::ObjectType;
  if (statement.object_type == Object::type || statement.object_type == Object::domain) {
    return set_type_schema(session, statement);
  }
  if (statement.object_type == Object::collation) {
    return set_collation_schema(session, statement);
  }
  if (is_text_search(statement.object_type)) {
    return set_text_search_schema(session, statement);
  }
  if (statement.object_type == Object::operator_) {
    return set_operator_schema(session, statement);
  }
  if (statement.object_type == Object::extension) {
    return set_extension_schema(session, statement);
  }
  if (is_routine(statement.object_type)) {
    return set_routine_schema(session, statement);
  }
  if (statement.object_type != Object::table && statement.object_type != Object::view &&
      statement.object_type != Object::matview && statement.object_type != Object::sequence) {
    throw_error(sqlstate::feature_not_supported, "ALTER {} SET SCHEMA is not supported",
                object_type_name(statement.object_type));
  }
  const auto found = find_to_change(session, *statement.relation, statement.missing_ok, sink);
  if (!found) return;
  require_alterable(session, *found);
  require_named_kind(*found, statement.object_type);
  if (found->index != nullptr) {
    throw sql_error(sqlstate::wrong_object_type, "cannot change schema of index \"{}\"",
                    found->index->name)
        .with_hint("Change the schema of the table instead.");
  }
  const TablePtr table = found->table;
  if (const auto& sequence = table->relation.sequence;
      sequence && sequence->owner_table != kNoOid) {
    const TablePtr owner_table = session.names.table(sequence->owner_table);
    throw SqlError{sqlstate::feature_not_supported,
                   "cannot move an owned sequence into another schema"}
        .with_detail(fmt::format("Sequence \"{}\" is linked to table \"{}\".", table->relation.name,
                                 owner_table ? owner_table->relation.name : ""));
  }
  const SchemaPtr schema = require_new_schema(session, statement.newschema);
  if (schema->oid == table->relation.schema) return;
  const auto move = [&](const TablePtr& one) {
    const TablePtr locked = session.rights.lock_own(one);
    if (session.catalog.table(schema->oid, locked->relation.name)) {
      throw_error(sqlstate::duplicate_table, "relation \"{}\" already exists in schema \"{}\"",
                  locked->relation.name, schema->name);
    }
    if (locked->relation.row_type != kNoOid &&
        session.catalog.type(schema->oid, locked->relation.name)) {
      throw_error(sqlstate::duplicate_object, "type \"{}\" already exists in schema \"{}\"",
                  locked->relation.name, schema->name);
    }
    Relation relation = locked->relation;
    relation.schema = schema->oid;
    session.catalog.replace(*session.transaction, *locked, std::move(relation));
  };
  move(table);
  for (const TablePtr& sequence : session.catalog.sequences_of(table->relation.oid)) move(sequence);
}

}  // namespace swizzle::sql
