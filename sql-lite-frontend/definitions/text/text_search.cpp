// Common part of text search dictionaries and configurations.
#include "sql-lite-frontend/definitions/text/text_search.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/text_dictionary.h"
#include "sql-lite-frontend/definitions/routines/definition_options.h"
#include "sql-lite-frontend/definitions/routines/made_objects.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/definitions/tables/transfer.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/text/identifiers.h"

namespace swizzle::sql {
namespace {

template <class Object>
constexpr TypeId kTypeOf = builtin_id::regdictionary;
template <>
constexpr TypeId kTypeOf<UserTextConfig> = builtin_id::regconfig;
template <class Object>
constexpr Oid kClassOf = class_id::pg_ts_dict;
template <>
constexpr Oid kClassOf<UserTextConfig> = class_id::pg_ts_config;

template <class Object>
std::string_view kind_of() {
  return text_search_kind(static_cast<const Object*>(nullptr));
}

std::string_view written_schema(ast::NodeList names) {
  return names.size() > 1 ? ast::string_of(names[names.size() - 2]) : std::string_view{};
}
std::string written_name(ast::NodeList names) {
  std::string text;
  for (const ast::Node* name : names) {
    if (!text.empty()) text += ".";
    text += ast::string_of(name);
  }
  return text;
}
ast::NodeList written_names(const ast::Node* object) {
  return ast::as<ast::List>(object).items;
}

template <class Object>
Oid find_written(StatementContext& session, ast::NodeList names) {
  return session.names.find_text_search(kTypeOf<Object>, written_schema(names),
                                        ast::string_of(names.back()));
}
template <class Object>
Oid require_written(StatementContext& session, ast::NodeList names) {
  const Oid found = find_written<Object>(session, names);
  if (found == kNoOid) throw_no_text_search(kind_of<Object>(), written_name(names));
  return found;
}

template <class Object>
CheckedShared<const Object> lock_own(StatementContext& session, ast::NodeList names,
                                     std::string_view shown) {
  const Oid found = require_written<Object>(session, names);
  const auto made = session.catalog.made<Object>(found);
  const bool may =
      made ? session.rights.owns(made->owner) : session.rights.is_superuser(session.user);
  if (!may) {
    throw_error(sqlstate::insufficient_privilege, "must be owner of text search {} {}",
                kind_of<Object>(), shown);
  }
  if (!made) {
    throw_error(sqlstate::feature_not_supported,
                "changing a built-in text search {} is not supported", kind_of<Object>());
  }
  session.catalog.lock(*session.transaction, found, lock::RelationMode::access_exclusive);
  // The object may have been dropped or changed while this waited for the lock.
  auto newest = session.catalog.made<Object>(found);
  if (!newest) throw_no_text_search(kind_of<Object>(), written_name(names));
  return newest;
}
template <class Object>
CheckedShared<const Object> lock_own(StatementContext& session, ast::NodeList names) {
  return lock_own<Object>(session, names, written_name(names));
}

template <class Object>
void refuse_taken_in(StatementContext& session, Oid schema, std::string_view name) {
  if (!session.catalog.made_named<Object>(schema, name)) return;
  throw_error(sqlstate::duplicate_object, "text search {} \"{}\" already exists in schema \"{}\"",
              kind_of<Object>(), name, session.names.schema_name(schema));
}

template <class Object>
void refuse_taken(StatementContext& session, const Object& made, std::string_view prefix,
                  std::string_view catalog) {
  if (!session.catalog.made_named<Object>(made.schema, made.name)) return;
  const std::string index = fmt::format("{}_{}name_index", catalog, prefix);
  SqlError error = sql_error(sqlstate::unique_violation,
                             "duplicate key value violates unique constraint \"{}\"", index)
                       .with_detail(fmt::format("Key ({0}name, {0}namespace)=({1}, {2}) already "
                                                "exists.",
                                                prefix, made.name, made.schema));
  error.fields().schema = "pg_catalog";
  error.fields().table = catalog;
  error.fields().constraint = index;
  throw error;
}

template <class Object>
void drop_written(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink) {
  std::vector<CheckedShared<const Object>> gone;
  for (const ast::Node* node : statement.objects) {
    const ast::NodeList names = written_names(node);
    const std::string_view schema = written_schema(names);
    if (statement.missing_ok && !schema.empty() && !session.names.schema_exists(schema)) {
      notice_missing(session, sink, fmt::format("schema \"{}\"", schema));
      continue;
    }
    const Oid found = statement.missing_ok ? find_written<Object>(session, names)
                                           : require_written<Object>(session, names);
    if (found == kNoOid) {
      notice_missing(session, sink,
                     fmt::format("text search {} \"{}\"", kind_of<Object>(), written_name(names)));
      continue;
    }
    const auto made = session.catalog.made<Object>(found);
    if (!made) {
      const auto shown = session.names.shown_text_search(kTypeOf<Object>, found);
      throw_error(sqlstate::dependent_objects_still_exist,
                  "cannot drop text search {} {} because it is required by the database system",
                  kind_of<Object>(), shown.value_or(""));
    }
    const SchemaPtr place = session.catalog.schema(made->schema);
    const bool owns_schema = place && session.rights.owns(place->owner);
    if (!owns_schema && !session.rights.owns(made->owner)) {
      throw_error(sqlstate::insufficient_privilege, "must be owner of text search {} {}",
                  kind_of<Object>(), written_name(names));
    }
    refuse_extension_member(session, {kClassOf<Object>, found}, described(session, *made));
    session.catalog.lock(*session.transaction, found, lock::RelationMode::access_exclusive);
    if (std::ranges::find(gone, made) == gone.end()) gone.push_back(made);
  }
  std::vector<Dependent> dependents;
  for (const auto& made : gone) {
    for (Dependent& dependent : dependents_of_text_search(session, *made)) {
      add_once(dependents, std::move(dependent));
    }
  }
  if (gone.empty()) return;
  const std::string what =
      gone.size() == 1 ? described(session, *gone[0]) : std::string{kSeveralObjects};
  drop_dependents(session, dependents, what, statement.behavior, sink);
  for (const auto& made : gone) {
    if (const auto now = session.catalog.made<Object>(made->oid))
      session.catalog.remove(*session.transaction, *now);
  }
}

template <class Object>
void rename_written(StatementContext& session, const ast::RenameStmt& statement) {
  const ast::NodeList names = written_names(statement.object);
  // PostgreSQL's message has the name without its schema.
  const auto made = lock_own<Object>(session, names, ast::string_of(names.back()));
  if (const SchemaPtr schema = session.catalog.schema(made->schema))
    session.rights.require(*schema, privilege::kCreate);
  refuse_taken_in<Object>(session, made->schema, statement.newname);
  Object changed = *made;
  changed.name = statement.newname;
  session.catalog.replace(*session.transaction, *made, std::move(changed));
}

template <class Object>
void give_written(StatementContext& session, const ast::AlterOwnerStmt& statement) {
  const ast::NodeList names = written_names(statement.object);
  const auto made = lock_own<Object>(session, names, ast::string_of(names.back()));
  const RolePtr owner = require_new_owner(session, *statement.newowner, made->owner, made->schema);
  if (!owner) return;
  Object changed = *made;
  changed.owner = owner->oid;
  session.catalog.replace(*session.transaction, *made, std::move(changed));
}

template <class Object>
void move_written(StatementContext& session, const ast::AlterObjectSchemaStmt& statement) {
  const ast::NodeList names = written_names(statement.object);
  const auto made = lock_own<Object>(session, names, ast::string_of(names.back()));
  const SchemaPtr schema = require_new_schema(session, statement.newschema);
  if (schema->oid == made->schema) return;
  refuse_taken_in<Object>(session, schema->oid, made->name);
  Object changed = *made;
  changed.schema = schema->oid;
  session.catalog.replace(*session.transaction, *made, std::move(changed));
}

template <class Object>
bool comment_on_written(StatementContext& session, ast::NodeList names, std::string_view text,
                        Oid& number) {
  number = require_written<Object>(session, names);
  if (!session.catalog.made<Object>(number)) {
    if (session.rights.is_superuser(session.user)) return false;
    throw_error(sqlstate::insufficient_privilege, "must be owner of text search {} {}",
                kind_of<Object>(), written_name(names));
  }
  const auto made = lock_own<Object>(session, names);
  Object changed = *made;
  changed.comment = text;
  session.catalog.replace(*session.transaction, *made, std::move(changed));
  return true;
}

template <class Object>
std::string described_object(StatementContext& session, const Object& object) {
  const auto shown = session.names.shown_text_search(kTypeOf<Object>, object.oid);
  return fmt::format("text search {} {}", kind_of<Object>(), shown.value_or(object.name));
}

template <class Object>
void reassign(StatementContext& session, Oid owner, Oid heir) {
  for (const auto& made : session.catalog.all_made<Object>()) {
    if (made->owner != owner) continue;
    Object changed = *made;
    changed.owner = heir;
    session.catalog.replace(*session.transaction, *made, std::move(changed));
  }
}

}  // namespace

Oid require_text_config(StatementContext& session, ast::NodeList names) {
  return require_written<UserTextConfig>(session, names);
}
Oid require_text_dictionary(StatementContext& session, ast::NodeList names) {
  return require_written<UserTextDictionary>(session, names);
}
UserTextConfigPtr lock_own_text_config(StatementContext& session, ast::NodeList names) {
  return lock_own<UserTextConfig>(session, names);
}
UserTextDictionaryPtr lock_own_text_dictionary(StatementContext& session, ast::NodeList names) {
  return lock_own<UserTextDictionary>(session, names);
}

void refuse_taken_text_search(StatementContext& session, const UserTextDictionary& made) {
  refuse_taken(session, made, "dict", "pg_ts_dict");
}
void refuse_taken_text_search(StatementContext& session, const UserTextConfig& made) {
  refuse_taken(session, made, "cfg", "pg_ts_config");
}

Oid place_of_text_search(StatementContext& session, ast::NodeList names) {
  const Oid place = place_of_definition(session, names);
  if (place == session.names.temp_schema) {
    throw SqlError{sqlstate::feature_not_supported,
                   "temporary objects of text search are not supported"};
  }
  return place;
}

void drop_text_search(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink) {
  if (statement.remove_type == ast::ObjectType::tsconfiguration) {
    return drop_written<UserTextConfig>(session, statement, sink);
  }
  drop_written<UserTextDictionary>(session, statement, sink);
}

void rename_text_search(StatementContext& session, const ast::RenameStmt& statement) {
  const bool is_config = statement.rename_type == ast::ObjectType::tsconfiguration;
  if (is_config) return rename_written<UserTextConfig>(session, statement);
  rename_written<UserTextDictionary>(session, statement);
}

void set_text_search_owner(StatementContext& session, const ast::AlterOwnerStmt& statement) {
  const bool is_config = statement.object_type == ast::ObjectType::tsconfiguration;
  if (is_config) return give_written<UserTextConfig>(session, statement);
  give_written<UserTextDictionary>(session, statement);
}

void set_text_search_schema(StatementContext& session,
                            const ast::AlterObjectSchemaStmt& statement) {
  const bool is_config = statement.object_type == ast::ObjectType::tsconfiguration;
  if (is_config) return move_written<UserTextConfig>(session, statement);
  move_written<UserTextDictionary>(session, statement);
}

bool comment_on_text_search(StatementContext& session, ast::ObjectType kind, ast::NodeList names,
                            std::string_view text, Oid& number) {
  return kind == ast::ObjectType::tsconfiguration
             ? comment_on_written<UserTextConfig>(session, names, text, number)
             : comment_on_written<UserTextDictionary>(session, names, text, number);
}

std::string described(StatementContext& session, const UserTextDictionary& dictionary) {
  return described_object(session, dictionary);
}
std::string described(StatementContext& session, const UserTextConfig& config) {
  return described_object(session, config);
}

void reassign_text_search(StatementContext& session, Oid owner, Oid heir) {
  reassign<UserTextDictionary>(session, owner, heir);
  reassign<UserTextConfig>(session, owner, heir);
}

}  // namespace swizzle::sql
