#include "sql-lite-frontend/definitions/types/user_types.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/catalog/privileges.h"
#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/routines/made_objects.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/definitions/tables/transfer.h"
#include "sql-lite-frontend/definitions/types/type_definition.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/statement/names/in_use.h"
#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {

TypeName type_named(ast::NodeList names) {
  return {names.size() > 1 ? ast::string_of(names[names.size() - 2]) : std::string_view{},
          ast::string_of(names.back())};
}

std::string written(const TypeName& name) {
  return name.schema.empty() ? std::string{name.name}
                             : fmt::format("{}.{}", name.schema, name.name);
}

namespace {

void require_schema(StatementContext& session, const TypeName& name) {
  if (name.schema.empty() || session.names.schema_exists(name.schema)) return;
  throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", name.schema);
}

}  // namespace

const Type* builtin_named(const TypeName& name) {
  return name.schema.empty() || name.schema == "pg_catalog" ? find_built_in_type(name.name)
                                                            : nullptr;
}

TypePtr find_type_named(StatementContext& session, const TypeName& name) {
  require_schema(session, name);
  return builtin_named(name) != nullptr ? nullptr
                                        : session.names.find_user_type(name.schema, name.name);
}

void require_owner(StatementContext& session, const UserType& type) {
  if (session.rights.owns(type.owner)) return;
  throw_error(sqlstate::insufficient_privilege, "must be owner of type {}",
              session.names.user_type_name(type.id()).value_or(type.name));
}

void refuse_row_type(StatementContext& session, const UserType& type) {
  if (!type.is_of_relation()) return;
  throw sql_error(sqlstate::wrong_object_type, "{} is a table's row type",
                  session.names.user_type_name(type.id()).value_or(type.name))
      .with_hint("Use ALTER TABLE instead.");
}

TypePtr lock_own_type(StatementContext& session, const TypeName& name, Shells shells) {
  const TypePtr found = find_type_named(session, name);
  if (found && shells == Shells::refused) refuse_shell(*found, written(name));
  if (const Type* const builtin = builtin_named(name); builtin != nullptr) {
    if (!session.rights.is_superuser(session.user)) {
      throw_error(sqlstate::insufficient_privilege, "must be owner of type {}",
                  format_type(builtin->id));
    }
    throw_error(sqlstate::feature_not_supported, "ALTER TYPE of a built-in type is not supported");
  }
  if (!found) throw_error(sqlstate::undefined_object, "type \"{}\" does not exist", written(name));
  refuse_row_type(session, *found);
  require_owner(session, *found);
  return session.catalog.lock_type(*session.transaction, *found,
                                   lock::RelationMode::access_exclusive);
}

void replace_type(StatementContext& session, const UserType& old, UserType type) {
  session.catalog.replace(*session.transaction, old, std::move(type));
}

void refuse_relation_name(StatementContext& session, Oid schema, std::string_view name) {
  const TypePtr type = session.catalog.type(schema, name);
  if (!session.catalog.table(schema, name) && !session.catalog.table_of_index(schema, name) &&
      !(type && is_composite(type->id()))) {
    return;
  }
  throw_error(sqlstate::duplicate_table, "relation \"{}\" already exists", name);
}

void refuse_taken(StatementContext& session, Oid schema, std::string_view name, TypeOf made) {
  const TablePtr table = session.catalog.table(schema, name);
  if ((table && table->relation.row_type != kNoOid) || session.catalog.type(schema, name)) {
    throw_error(sqlstate::duplicate_object, "type \"{}\" already exists", name);
  }
  if (made == TypeOf::rows) refuse_relation_name(session, schema, name);
}

Oid allocate_type(StatementContext& session, std::uint32_t first) {
  const Oid number = session.catalog.allocate_oid();
  if (number >= kUserTypeIds) {
    throw SqlError{sqlstate::program_limit_exceeded, "there are no numbers left for types"};
  }
  return first + number;
}

namespace {

UserType new_type_or_shell(StatementContext& session, const TypeName& name) {
  if (name.schema == "pg_temp") {
    throw SqlError{sqlstate::feature_not_supported, "temporary types are not supported"};
  }
  ast::RangeVar where;
  where.schemaname = name.schema;
  where.relname = name.name;
  where.location = -1;
  UserType type;
  type.schema = session.names.creation_schema(where);
  type.name = name.name;
  type.owner = session.user;
  if (const SchemaPtr schema = session.catalog.schema(type.schema)) {
    session.rights.require(*schema, privilege::kCreate);
  }
  return type;
}

}  // namespace

namespace {

/// Makes room for the type that the name was for, which gets its comment. Nothing where there is no
/// shell.
std::optional<std::string> end_shell(StatementContext& session, Oid schema, std::string_view name) {
  const TypePtr shell = session.catalog.type(schema, name);
  if (!shell || !shell->is_shell()) return std::nullopt;
  require_owner(session, *shell);
  const TypePtr locked =
      session.catalog.lock_type(*session.transaction, *shell, lock::RelationMode::access_exclusive);
  session.catalog.remove(*session.transaction, *locked);
  return locked->comment;
}

}  // namespace

UserType new_type(StatementContext& session, const TypeName& name, TypeOf made) {
  UserType type = new_type_or_shell(session, name);
  if (auto comment = end_shell(session, type.schema, type.name)) type.comment = *std::move(comment);
  refuse_taken(session, type.schema, type.name, made);
  type.grants = grants_of_new(session.catalog.of_database(), *session.transaction, type.owner,
                              type.schema, GrantedOn::type);
  return type;
}

void create_shell_type(StatementContext& session, const ast::DefineStmt& statement) {
  if (!session.rights.is_superuser(session.user)) {
    throw SqlError{sqlstate::insufficient_privilege, "must be superuser to create a base type"};
  }
  const TypeName name = type_named(statement.defnames);
  UserType type = new_type_or_shell(session, name);
  const TypePtr known = session.catalog.type(type.schema, type.name);
  if (!statement.definition.empty()) {
    if (known && known->is_shell()) {
      throw SqlError{sqlstate::feature_not_supported,
                     "CREATE TYPE with functions in C is not supported"};
    }
    if (known) throw_error(sqlstate::duplicate_object, "type \"{}\" already exists", type.name);
    throw sql_error(sqlstate::duplicate_object, "type \"{}\" does not exist", type.name)
        .with_hint(
            "Create the type as a shell type, then create its I/O functions, then do a full "
            "CREATE TYPE.");
  }
  refuse_taken(session, type.schema, type.name);
  type.oid = session.catalog.allocate_oid();
  session.catalog.create(*session.transaction, std::move(type));
}

void refuse_shell(const UserType& type, std::string_view name) {
  if (type.is_shell()) throw_error(sqlstate::undefined_object, "type \"{}\" is only a shell", name);
}

void require_domain(StatementContext& session, const UserType& type) {
  if (is_domain(type.id())) return;
  throw_error(sqlstate::wrong_object_type, "{} is not a domain",
              session.names.user_type_name(type.id()).value_or(type.name));
}

TypePtr lock_own_domain(StatementContext& session, const TypeName& name) {
  const TypePtr found = find_type_named(session, name);
  if (found) refuse_shell(*found, written(name));
  if (const Type* const builtin = builtin_named(name); builtin != nullptr) {
    throw_error(sqlstate::wrong_object_type, "{} is not a domain", format_type(builtin->id));
  }
  if (found) require_domain(session, *found);
  return lock_own_type(session, name);
}

namespace {

/// Locks the type. ALTER DOMAIN accepts only domains.
TypePtr lock_named(StatementContext& session, const ast::Node* names, ast::ObjectType kind,
                   Shells shells = Shells::refused) {
  const TypeName name = type_named(ast::as<ast::List>(names).items);
  return kind == ast::ObjectType::domain ? lock_own_domain(session, name)
                                         : lock_own_type(session, name, shells);
}

}  // namespace

void rename_type(StatementContext& session, const ast::Node* names, ast::ObjectType kind,
                 const std::string& new_name) {
  const TypePtr type = lock_named(session, names, kind);
  const SchemaPtr schema = session.catalog.schema(type->schema);
  if (schema) session.rights.require(*schema, privilege::kCreate);
  if (is_composite(type->id())) refuse_relation_name(session, type->schema, new_name);
  refuse_taken(session, type->schema, new_name);
  UserType changed = *type;
  changed.name = new_name;
  replace_type(session, *type, std::move(changed));
}

namespace {

/// Returns the multirange of a range type or vice versa: both are created and dropped together.
TypePtr partner_of(StatementContext& session, const UserType& type) {
  if (is_user_range(type.id())) return session.names.user_type(multirange_of_range(type.id()));
  return nullptr;
}

void refuse_row_type_alone(StatementContext& session, const UserType& type) {
  if (!type.is_of_relation()) return;
  const std::string name = session.names.user_type_name(type.id()).value_or(type.name);
  const TablePtr table = session.names.table(type.relation);
  const std::string owner = table ? described(session, *table) : name;
  throw sql_error(sqlstate::dependent_objects_still_exist,
                  "cannot drop type {} because {} requires it", name, owner)
      .with_hint(fmt::format("You can drop {} instead.", owner));
}

void refuse_multirange_alone(StatementContext& session, const UserType& type) {
  if (!is_user_multirange(type.id())) return;
  const std::string name = session.names.user_type_name(type.id()).value_or(type.name);
  const std::string range =
      session.names.user_type_name(range_of_multirange(type.id())).value_or("");
  throw sql_error(sqlstate::dependent_objects_still_exist,
                  "cannot drop type {} because type {} requires it", name, range)
      .with_hint(fmt::format("You can drop type {} instead.", range));
}

}  // namespace

void set_type_owner(StatementContext& session, const ast::AlterOwnerStmt& statement) {
  const TypePtr type =
      lock_named(session, statement.object, statement.object_type, Shells::allowed);
  if (is_user_multirange(type->id())) {
    const std::string range =
        session.names.user_type_name(range_of_multirange(type->id())).value_or("");
    throw sql_error(sqlstate::wrong_object_type, "cannot alter multirange type {}",
                    session.names.user_type_name(type->id()).value_or(type->name))
        .with_hint(fmt::format(
            "You can alter type {}, which will alter the multirange type as well.", range));
  }
  const RolePtr owner = require_new_owner(session, *statement.newowner, type->owner, type->schema);
  if (!owner) return;
  UserType changed = *type;
  if (!changed.grants.empty()) {
    AccessList list{changed.grants, changed.owner, GrantedOn::type, kEveryoneOnType};
    list.change_owner(owner->oid);
    changed.grants = list.grants();
  }
  changed.owner = owner->oid;
  replace_type(session, *type, std::move(changed));
  if (const TypePtr partner = partner_of(session, *type)) {
    UserType with_it = *partner;
    with_it.owner = owner->oid;
    replace_type(session, *partner, std::move(with_it));
  }
}

void set_type_schema(StatementContext& session, const ast::AlterObjectSchemaStmt& statement) {
  const TypePtr type = lock_named(session, statement.object, statement.object_type);
  const SchemaPtr schema = require_new_schema(session, statement.newschema);
  if (schema->oid == type->schema) return;
  if (session.catalog.type(schema->oid, type->name) ||
      session.catalog.table(schema->oid, type->name)) {
    throw_error(sqlstate::duplicate_object, "type \"{}\" already exists in schema \"{}\"",
                type->name, schema->name);
  }
  UserType changed = *type;
  changed.schema = schema->oid;
  replace_type(session, *type, std::move(changed));
}

void comment_on_type(StatementContext& session, const UserType& type, const std::string& text) {
  if (type.is_of_relation()) {
    throw SqlError{sqlstate::feature_not_supported,
                   "comments on a table's row type are not supported"};
  }
  require_owner(session, type);
  const TypePtr locked = session.catalog.lock_type(*session.transaction, type,
                                                   lock::RelationMode::share_update_exclusive);
  UserType changed = *locked;
  changed.comment = text;
  replace_type(session, *locked, std::move(changed));
}

void drop_types(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink) {
  const bool wants_domain = statement.remove_type == ast::ObjectType::domain;
  std::vector<TypePtr> types;
  for (const ast::Node* node : statement.objects) {
    const TypeName name = type_named(ast::as<ast::TypeName>(node).names);
    if (const Type* const builtin = builtin_named(name); builtin != nullptr) {
      throw_error(sqlstate::dependent_objects_still_exist,
                  "cannot drop type {} because it is required by the database system",
                  format_type(builtin->id));
    }
    if (statement.missing_ok && !name.schema.empty() && !session.names.schema_exists(name.schema)) {
      notice_missing(session, sink, fmt::format("schema \"{}\"", name.schema));
      continue;
    }
    const TypePtr type = find_type_named(session, name);
    if (!type && !statement.missing_ok) {
      throw_error(sqlstate::undefined_object, "type \"{}\" does not exist", written(name));
    }
    if (!type) {
      notice_missing(session, sink, fmt::format("type \"{}\"", written(name)));
      continue;
    }
    if (wants_domain && !is_domain(type->id())) {
      throw_error(sqlstate::wrong_object_type, "\"{}\" is not a domain", written(name));
    }
    const SchemaPtr schema = session.catalog.schema(type->schema);
    if (!schema || !session.rights.owns(schema->owner)) require_owner(session, *type);
    refuse_multirange_alone(session, *type);
    refuse_row_type_alone(session, *type);
    refuse_extension_member(
        session, {class_id::pg_type, type->oid},
        "type " + session.names.user_type_name(type->id()).value_or(type->name));
    TypePtr locked = session.catalog.lock_type(*session.transaction, *type,
                                               lock::RelationMode::access_exclusive);
    if (std::ranges::find(types, locked) == types.end()) types.push_back(std::move(locked));
  }
  if (!types.empty()) {
    const std::string what =
        types.size() == 1 ? "type " + session.names.user_type_name(types[0]->id()).value_or("")
                          : std::string{kSeveralObjects};
    for (std::size_t i = 0; i < types.size(); ++i) {
      const TypePtr partner = partner_of(session, *types[i]);
      if (partner) types.push_back(partner);
    }
    drop_dependents(session, dependents_of_types(session, types), what, statement.behavior, sink);
    for (const TypePtr& type : types) session.catalog.remove(*session.transaction, *type);
  }
}

void hold_type(StatementContext& session, TypeId type) {
  if (!is_user_type(type)) return;
  const TypeId held = without_array(type);
  const TypePtr known = session.names.user_type(held);
  if (!known) {
    throw_error(sqlstate::undefined_object, "type \"{}\" does not exist", format_type(held));
  }
  require_type_usage(session, held);
  if (!known->is_of_relation()) {
    session.catalog.lock_type(*session.transaction, *known, lock::RelationMode::access_share);
    return;
  }
  session.catalog.lock(*session.transaction, known->relation, lock::RelationMode::access_share);
  if (session.names.user_type(held)) return;
  throw_error(sqlstate::undefined_object, "type \"{}\" does not exist", known->name);
}

void refuse_type_name(StatementContext& session, Oid schema, std::string_view name) {
  static_cast<void>(end_shell(session, schema, name));
  const TypePtr type = session.catalog.type(schema, name);
  if (!type) return;
  if (is_composite(type->id())) refuse_relation_name(session, schema, name);
  throw sql_error(sqlstate::duplicate_object, "type \"{}\" already exists", name)
      .with_hint(
          "A relation has an associated type of the same name, so you must use a name that doesn't "
          "conflict with any existing type.");
}

}  // namespace swizzle::sql
