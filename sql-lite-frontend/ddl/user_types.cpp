#include "sql-lite-frontend/ddl/user_types.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/bind/binder.h"
#include "sql-lite-frontend/catalog/privileges.h"
#include "sql-lite-frontend/ddl/dependents.h"
#include "sql-lite-frontend/ddl/transfer.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kLongestName = 63;

struct TypeName {
  std::string_view schema;
  std::string_view name;
};

TypeName named(ast::NodeList names) {
  return {names.size() > 1 ? ast::string_of(names[names.size() - 2]) : std::string_view{},
          ast::string_of(names.back())};
}

std::string written(const TypeName& name) {
  return name.schema.empty() ? std::string{name.name}
                             : fmt::format("{}.{}", name.schema, name.name);
}

void require_schema(Session::State& session, const TypeName& name) {
  if (name.schema.empty() || session.schema_exists(name.schema)) return;
  throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", name.schema);
}

bool is_builtin(const TypeName& name) {
  return (name.schema.empty() || name.schema == "pg_catalog") && find_type(name.name) != nullptr;
}

/// Null where there is none of that name at all.
TypePtr find(Session::State& session, const TypeName& name) {
  require_schema(session, name);
  return is_builtin(name) ? nullptr : session.find_user_type(name.schema, name.name);
}

void require_owner(Session::State& session, const UserType& type) {
  if (session.owns(type.owner)) return;
  throw_error(sqlstate::insufficient_privilege, "must be owner of type {}",
              session.user_type_name(type.id()).value_or(type.name));
}

/// Locked for a change that only its owner may make.
TypePtr lock_own_type(Session::State& session, const TypeName& name) {
  const TypePtr found = find(session, name);
  if (!found && is_builtin(name)) {
    if (!session.is_superuser(session.user)) {
      throw_error(sqlstate::insufficient_privilege, "must be owner of type {}",
                  format_type(find_type(name.name)->id));
    }
    throw_error(sqlstate::feature_not_supported, "ALTER TYPE of a built-in type is not supported");
  }
  if (!found) throw_error(sqlstate::undefined_object, "type \"{}\" does not exist", written(name));
  require_owner(session, *found);
  return session.catalog.lock_type(*session.transaction, *found,
                                   lock::RelationMode::access_exclusive);
}

void replace(Session::State& session, const UserType& old, UserType type) {
  session.catalog.replace(*session.transaction, old, std::move(type));
}

/// Relations have types of their own under their names.
void refuse_taken(Session::State& session, Oid schema, std::string_view name) {
  const TablePtr table = session.catalog.table(schema, name);
  if (!table && !session.catalog.type(schema, name)) return;
  throw_error(sqlstate::duplicate_object, "type \"{}\" already exists", name);
}

void require_label(std::string_view label) {
  if (label.size() <= kLongestName) return;
  throw sql_error(sqlstate::invalid_name, "invalid enum label \"{}\"", label)
      .with_detail(fmt::format("Labels must be {} bytes or less.", kLongestName));
}

Oid allocate_type(Session::State& session) {
  const Oid number = session.catalog.allocate_oid();
  if (number >= kUserTypeIds) {
    throw SqlError{sqlstate::program_limit_exceeded, "there are no numbers left for types"};
  }
  return kFirstEnum + number;
}

/// Views keep their text: a label that it names could not be found under another name.
void refuse_views_over(Session::State& session, const UserType& type) {
  for (const TablePtr& table : session.catalog.tables()) {
    const auto& read = table->relation.view_types;
    if (std::ranges::find(read, type.oid, &ViewType::type) == read.end()) continue;
    throw_error(sqlstate::feature_not_supported,
                "renaming a value of type {} is not supported, because {} names the type",
                type.name, described(session, *table));
  }
}

}  // namespace

void create_enum(Session::State& session, const ast::CreateEnumStmt& statement, ResultSink& sink) {
  const TypeName name = named(statement.type_name);
  ast::RangeVar where;
  where.schemaname = name.schema;
  where.relname = name.name;
  where.location = -1;
  if (name.schema == "pg_temp") {
    throw SqlError{sqlstate::feature_not_supported, "temporary types are not supported"};
  }
  UserType type;
  type.schema = session.creation_schema(where);
  type.name = name.name;
  type.owner = session.user;
  if (const SchemaPtr schema = session.catalog.schema(type.schema)) {
    session.require(*schema, privilege::kCreate);
  }
  refuse_taken(session, type.schema, type.name);
  const std::vector<std::int64_t> positions = spread_positions(statement.vals.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::string_view label = ast::string_of(statement.vals[i]);
    require_label(label);
    if (std::ranges::find(type.labels, label, &EnumLabel::name) != type.labels.end()) {
      throw_error(sqlstate::duplicate_object, "enum label \"{}\" already exists", label);
    }
    type.labels.push_back({session.catalog.allocate_oid(), std::string{label}, positions[i]});
  }
  type.oid = allocate_type(session);
  session.catalog.create(*session.transaction, std::move(type));
  sink.command_complete("CREATE TYPE");
}

namespace {

void rename_label(Session::State& session, const UserType& type,
                  const ast::AlterEnumStmt& statement) {
  UserType changed = type;
  const auto label = std::ranges::find(changed.labels, statement.old_val, &EnumLabel::name);
  if (label == changed.labels.end()) {
    throw_error(sqlstate::invalid_parameter_value, "\"{}\" is not an existing enum label",
                statement.old_val);
  }
  if (std::ranges::find(changed.labels, statement.new_val, &EnumLabel::name) !=
      changed.labels.end()) {
    throw_error(sqlstate::duplicate_object, "enum label \"{}\" already exists", statement.new_val);
  }
  refuse_views_over(session, type);
  label->name = statement.new_val;
  replace(session, type, std::move(changed));
}

void add_label(Session::State& session, const UserType& type, const ast::AlterEnumStmt& statement,
               ResultSink& sink) {
  if (std::ranges::find(type.labels, statement.new_val, &EnumLabel::name) != type.labels.end()) {
    if (!statement.skip_if_new_val_exists) {
      throw_error(sqlstate::duplicate_object, "enum label \"{}\" already exists",
                  statement.new_val);
    }
    return session.notice(
        sink, Severity::notice, sqlstate::duplicate_object,
        fmt::format("enum label \"{}\" already exists, skipping", statement.new_val));
  }
  UserType changed = type;
  auto place = changed.labels.end();
  if (!statement.new_val_neighbor.empty()) {
    place = std::ranges::find(changed.labels, statement.new_val_neighbor, &EnumLabel::name);
    if (place == changed.labels.end()) {
      throw_error(sqlstate::invalid_parameter_value, "\"{}\" is not an existing enum label",
                  statement.new_val_neighbor);
    }
    if (statement.new_val_is_after) ++place;
  }
  const EnumLabel* before = place == changed.labels.begin() ? nullptr : &*(place - 1);
  const EnumLabel* after = place == changed.labels.end() ? nullptr : &*place;
  changed.labels.insert(place, {session.catalog.allocate_oid(), std::string{statement.new_val},
                                position_between(before, after)});
  replace(session, type, std::move(changed));
}

}  // namespace

void alter_enum(Session::State& session, const ast::AlterEnumStmt& statement, ResultSink& sink) {
  const TypeName name = named(statement.type_name);
  if (is_builtin(name)) {
    throw_error(sqlstate::wrong_object_type, "{} is not an enum",
                format_type(find_type(name.name)->id));
  }
  const TypePtr type = lock_own_type(session, name);
  require_label(statement.new_val);
  if (!statement.old_val.empty()) {
    rename_label(session, *type, statement);
  } else {
    add_label(session, *type, statement, sink);
  }
  sink.command_complete("ALTER TYPE");
}

void rename_type(Session::State& session, const ast::Node* names, const std::string& new_name) {
  const TypePtr type = lock_own_type(session, named(ast::as<ast::List>(names).items));
  const SchemaPtr schema = session.catalog.schema(type->schema);
  if (schema) session.require(*schema, privilege::kCreate);
  refuse_taken(session, type->schema, new_name);
  UserType changed = *type;
  changed.name = new_name;
  replace(session, *type, std::move(changed));
}

void set_type_owner(Session::State& session, const ast::AlterOwnerStmt& statement) {
  const TypePtr type = lock_own_type(session, named(ast::as<ast::List>(statement.object).items));
  const RolePtr owner = require_new_owner(session, *statement.newowner, type->owner, type->schema);
  if (!owner) return;
  UserType changed = *type;
  changed.owner = owner->oid;
  replace(session, *type, std::move(changed));
}

void set_type_schema(Session::State& session, const ast::AlterObjectSchemaStmt& statement) {
  const TypePtr type = lock_own_type(session, named(ast::as<ast::List>(statement.object).items));
  const SchemaPtr schema = require_new_schema(session, statement.newschema);
  if (schema->oid == type->schema) return;
  if (session.catalog.type(schema->oid, type->name) ||
      session.catalog.table(schema->oid, type->name)) {
    throw_error(sqlstate::duplicate_object, "type \"{}\" already exists in schema \"{}\"",
                type->name, schema->name);
  }
  UserType changed = *type;
  changed.schema = schema->oid;
  replace(session, *type, std::move(changed));
}

void comment_on_type(Session::State& session, const UserType& type, const std::string& text) {
  require_owner(session, type);
  const TypePtr locked = session.catalog.lock_type(*session.transaction, type,
                                                   lock::RelationMode::share_update_exclusive);
  UserType changed = *locked;
  changed.comment = text;
  replace(session, *locked, std::move(changed));
}

void drop_types(Session::State& session, const ast::DropStmt& statement, ResultSink& sink) {
  const bool wants_domain = statement.remove_type == ast::ObjectType::domain;
  std::vector<TypePtr> types;
  for (const ast::Node* node : statement.objects) {
    const TypeName name = named(ast::as<ast::TypeName>(node).names);
    if (is_builtin(name)) {
      throw_error(sqlstate::dependent_objects_still_exist,
                  "cannot drop type {} because it is required by the database system",
                  format_type(find_type(name.name)->id));
    }
    if (statement.missing_ok && !name.schema.empty() && !session.schema_exists(name.schema)) {
      session.notice(sink, Severity::notice, SqlState{"00000"},
                     fmt::format("schema \"{}\" does not exist, skipping", name.schema));
      continue;
    }
    const TypePtr type = find(session, name);
    if (!type && !statement.missing_ok) {
      throw_error(sqlstate::undefined_object, "type \"{}\" does not exist", written(name));
    }
    if (!type) {
      session.notice(sink, Severity::notice, SqlState{"00000"},
                     fmt::format("type \"{}\" does not exist, skipping", written(name)));
      continue;
    }
    if (wants_domain) {
      throw_error(sqlstate::wrong_object_type, "\"{}\" is not a domain", written(name));
    }
    const SchemaPtr schema = session.catalog.schema(type->schema);
    if (!schema || !session.owns(schema->owner)) require_owner(session, *type);
    types.push_back(session.catalog.lock_type(*session.transaction, *type,
                                              lock::RelationMode::access_exclusive));
  }
  if (!types.empty()) {
    const std::string what = types.size() == 1
                                 ? "type " + session.user_type_name(types[0]->id()).value_or("")
                                 : std::string{"desired object(s)"};
    drop_dependents(session, dependents_of_types(session, types), what, statement.behavior, sink);
    for (const TypePtr& type : types) session.catalog.remove(*session.transaction, *type);
  }
  sink.command_complete(wants_domain ? "DROP DOMAIN" : "DROP TYPE");
}

void hold_type(Session::State& session, TypeId type) {
  const TypeId held = is_enum_array(type) ? enum_of_array(type) : type;
  if (!is_enum(held)) return;
  const TypePtr known = session.user_type(held);
  if (!known) {
    throw_error(sqlstate::undefined_object, "type \"{}\" does not exist", format_type(held));
  }
  session.catalog.lock_type(*session.transaction, *known, lock::RelationMode::access_share);
}

void refuse_type_name(Session::State& session, Oid schema, std::string_view name) {
  if (!session.catalog.type(schema, name)) return;
  throw sql_error(sqlstate::duplicate_object, "type \"{}\" already exists", name)
      .with_hint(
          "A relation has an associated type of the same name, so you must use a name that doesn't "
          "conflict with any existing type.");
}

}  // namespace swizzle::sql
