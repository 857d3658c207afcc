// CREATE, ALTER and DROP EXTENSION.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/definitions/dependents/dependents.h"
#include "sql-lite-frontend/definitions/routines/made_objects.h"
#include "sql-lite-frontend/definitions/script_frame.h"
#include "sql-lite-frontend/definitions/tables/notice_missing.h"
#include "sql-lite-frontend/definitions/tables/transfer.h"
#include "sql-lite-frontend/definitions/text/text_search.h"
#include "sql-lite-frontend/definitions/types/type_definition.h"
#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/routines/extensions/extension.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/statement/rights/acting_user.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/inverted/element_class.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"

namespace swizzle::sql {
namespace {

using Member = Extension::Member;

/// Creates the extension's types in its schema, under their fixed names.
void create_types(StatementContext& session, const BundledExtension& extension, Oid schema) {
  for (const TypeId id : extension.types) {
    UserType type;
    type.oid = raw(id);
    type.schema = schema;
    type.name = type_info(id).name;
    type.owner = session.user;
    refuse_taken(session, schema, type.name);
    type.grants = grants_of_new(session.catalog.of_database(), *session.transaction, type.owner,
                                schema, GrantedOn::type);
    session.catalog.create(*session.transaction, std::move(type));
  }
}

void run_extension_script(StatementContext& session, const BundledExtension& extension,
                          std::string_view schema) {
  // A view of an extension may have the name of one of the system's.
  const ScriptFrame frame{session, kBootstrapRole, quote_identifier(schema) + ", pg_catalog"};
  const auto script = std::make_shared<const std::string>(extension.script);
  Arena arena;
  SilentSink silent;
  for (const ast::RawStmt* raw : parse_script(arena, *script)) {
    Statement statement;
    statement.script = script;
    statement.node = raw->stmt;
    statement.location = raw->stmt_location;
    session.inner.run_utility(raw->stmt, statement, {}, silent);
  }
}

[[noreturn]] void refuse_unknown(std::string_view name) {
  std::string known;
  for (const BundledExtension* extension : bundled_extensions()) {
    known += (known.empty() ? "" : ", ") + std::string{extension->name};
  }
  throw sql_error(sqlstate::feature_not_supported, "extension \"{}\" is not available", name)
      .with_detail(fmt::format("The server brings these extensions: {}.", known));
}

void require_right_to_create(StatementContext& session, const BundledExtension& extension) {
  if (session.rights.is_superuser(session.user)) return;
  const DatabasePtr database = session.catalog.database(session.catalog.of_database().database());
  const bool may =
      extension.trusted && database && session.rights.may(*database, privilege::kCreate);
  if (may) return;
  throw sql_error(sqlstate::insufficient_privilege, "permission denied to create extension \"{}\"",
                  extension.name)
      .with_hint(extension.trusted
                     ? "Must have CREATE privilege on current database to create this extension."
                     : "Must be superuser to create this extension.");
}

void require_version(const BundledExtension& extension, std::string_view version) {
  if (version.empty() || version == extension.version) return;
  throw_error(sqlstate::invalid_parameter_value,
              "extension \"{}\" has no installation script nor update path for version \"{}\"",
              extension.name, version);
}

/// Options of CREATE EXTENSION.
struct ExtensionOptions {
  std::string_view schema;
  std::string_view version;
};

ExtensionOptions options_of(const ast::CreateExtensionStmt& statement) {
  ExtensionOptions options;
  std::vector<std::string_view> seen;
  for (const ast::Node* node : statement.options) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (std::ranges::find(seen, option.defname) != seen.end()) {
      throw SqlError{sqlstate::syntax_error, "conflicting or redundant options"}.at_position(
          option.location + 1);
    }
    seen.push_back(option.defname);
    // CASCADE makes the extensions that an extension needs as well: none of ours needs another.
    if (option.defname == "schema") options.schema = ast::string_of(option.arg);
    if (option.defname == "new_version") options.version = ast::string_of(option.arg);
  }
  return options;
}

SchemaPtr schema_for(StatementContext& session, const BundledExtension& extension,
                     std::string_view wanted) {
  if (!wanted.empty()) {
    const SchemaPtr schema = session.catalog.schema(wanted);
    if (!schema) {
      throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", wanted);
    }
    return schema;
  }
  ast::RangeVar where;
  where.relname = extension.name;
  where.location = -1;
  return session.catalog.schema(session.names.creation_schema(where));
}

ExtensionPtr require_extension(StatementContext& session, std::string_view name) {
  ExtensionPtr extension = session.catalog.extension(name);
  if (!extension) {
    if (name == "plpgsql") {
      throw SqlError{sqlstate::feature_not_supported,
                     "changing extension \"plpgsql\" is not supported"};
    }
    throw_error(sqlstate::undefined_object, "extension \"{}\" does not exist", name);
  }
  return extension;
}

void require_extension_owner(StatementContext& session, const Extension& extension) {
  if (session.rights.owns(extension.owner)) return;
  throw_error(sqlstate::insufficient_privilege, "must be owner of extension {}", extension.name);
}

/// The extension's members, in the form that the functions for dependents expect.
struct MemberObjects {
  std::vector<RoutinePtr> routines;
  std::vector<OperatorPtr> operators;
  std::vector<CastPtr> casts;
  std::vector<TypePtr> types;
  std::vector<TablePtr> relations;
  std::vector<UserTextDictionaryPtr> dictionaries;
};

MemberObjects objects_of(StatementContext& session, const Extension& extension) {
  MemberObjects objects;
  const auto add = [](auto& list, auto object) {
    if (object) list.push_back(std::move(object));
  };
  for (const Member& member : extension.members) {
    if (member.catalog == class_id::pg_proc) {
      add(objects.routines, session.catalog.routine(member.object));
    } else if (member.catalog == class_id::pg_operator) {
      add(objects.operators, session.catalog.made<UserOperator>(member.object));
    } else if (member.catalog == class_id::pg_cast) {
      add(objects.casts, session.catalog.made<UserCast>(member.object));
    } else if (member.catalog == class_id::pg_type) {
      add(objects.types, session.catalog.type(member.object));
    } else if (member.catalog == class_id::pg_ts_dict) {
      add(objects.dictionaries, session.catalog.made<UserTextDictionary>(member.object));
    } else if (member.catalog == class_id::pg_class) {
      add(objects.relations, session.catalog.table(member.object));
    }
  }
  return objects;
}

Member address_of(const Dependent& dependent) {
  switch (dependent.kind) {
    case Dependent::Kind::routine:
      return {class_id::pg_proc, dependent.oid};
    case Dependent::Kind::op:
      return {class_id::pg_operator, dependent.oid};
    case Dependent::Kind::cast:
      return {class_id::pg_cast, dependent.oid};
    case Dependent::Kind::type:
      return {class_id::pg_type, dependent.oid};
    case Dependent::Kind::text_dictionary:
      return {class_id::pg_ts_dict, dependent.oid};
    case Dependent::Kind::text_config:
      return {class_id::pg_ts_config, dependent.oid};
    case Dependent::Kind::view:
    case Dependent::Kind::table:
    case Dependent::Kind::sequence:
      return {class_id::pg_class, dependent.table->relation.oid};
    default:
      return {};
  }
}

bool has_member(const Extension& extension, const Member& member) {
  return std::ranges::find(extension.members, member) != extension.members.end();
}

}  // namespace

ExtensionPtr extension_of(StatementContext& session, const Member& member) {
  for (ExtensionPtr& extension : session.catalog.all_made<Extension>()) {
    if (has_member(*extension, member)) return extension;
  }
  return nullptr;
}

void refuse_extension_member(StatementContext& session, const Member& member,
                             std::string_view what) {
  const ExtensionPtr extension = extension_of(session, member);
  if (!extension) return;
  throw sql_error(sqlstate::dependent_objects_still_exist,
                  "cannot drop {} because extension {} requires it", what, extension->name)
      .with_hint(fmt::format("You can drop extension {} instead.", extension->name));
}

namespace {

/// Returns the indexes that use operator classes of the extension.
std::vector<Dependent> indexes_by_classes(StatementContext& session, const Extension& extension) {
  std::vector<Dependent> found;
  // Reads all relations: records of indexes name operator classes by text, not by number.
  for (const TablePtr& table : session.catalog.tables()) {
    for (const Index& index : table->relation.indexes) {
      if (index.method != IndexMethod::inverted) continue;
      for (const IndexColumn& part : index.columns) {
        const ElementClassInfo* const by = find_element_class(part.type, part.operator_class);
        if (by == nullptr || by->extension != extension.name) continue;
        found.push_back({Dependent::Kind::index, table, index.oid, 0, "index " + index.name,
                         fmt::format("operator class {} for access method gin", by->name)});
        break;
      }
    }
  }
  return found;
}

}  // namespace

std::vector<Dependent> dependents_of_extension(StatementContext& session,
                                               const Extension& extension) {
  const MemberObjects objects = objects_of(session, extension);
  std::vector<Dependent> all = dependents_of_types(session, objects.types);
  const auto append = [&all](std::vector<Dependent> list) {
    std::ranges::move(list, std::back_inserter(all));
  };
  append(dependents_of_routines(session, objects.routines));
  append(dependents_of_operators(session, objects.operators));
  append(indexes_by_classes(session, extension));
  append(dependents_of(session, objects.relations));
  for (const UserTextDictionaryPtr& dictionary : objects.dictionaries)
    append(dependents_of_text_search(session, *dictionary));
  add_exclusions_of(session, extension, all);
  std::vector<Dependent> outside;
  for (Dependent& dependent : all) {
    if (!has_member(extension, address_of(dependent))) add_once(outside, std::move(dependent));
  }
  return outside;
}

void remove_extension(StatementContext& session, const Extension& extension) {
  const MemberObjects objects = objects_of(session, extension);
  for (const TablePtr& relation : objects.relations) {
    if (session.catalog.table(relation->relation.oid)) session.drop_relation(relation);
  }
  for (const CastPtr& cast : objects.casts) session.catalog.remove(*session.transaction, *cast);
  for (const OperatorPtr& op : objects.operators) {
    if (session.catalog.made<UserOperator>(op->oid)) remove_operator(session, *op);
  }
  for (const RoutinePtr& routine : objects.routines) {
    session.catalog.remove(*session.transaction, *routine);
  }
  for (const TypePtr& type : objects.types) session.catalog.remove(*session.transaction, *type);
  for (const UserTextDictionaryPtr& dictionary : objects.dictionaries)
    session.catalog.remove(*session.transaction, *dictionary);
  session.catalog.remove(*session.transaction, extension);
}

namespace {

void add_with_users(StatementContext& session, const Extension& extension, std::string_view on,
                    std::vector<Dependent>& list) {
  list.push_back({Dependent::Kind::extension, nullptr, extension.oid, 0,
                  "extension " + extension.name, std::string{on}});
  for (Dependent& dependent : dependents_of_extension(session, extension)) {
    const bool is_known = std::ranges::find(list, dependent.name, &Dependent::name) != list.end();
    if (!is_known) list.push_back(std::move(dependent));
  }
}

}  // namespace

void add_extensions_of_schema(StatementContext& session, const Schema& schema,
                              std::vector<Dependent>& list) {
  for (const ExtensionPtr& extension : session.catalog.all_made<Extension>()) {
    const bool is_known = std::ranges::any_of(list, [&](const Dependent& dependent) {
      return dependent.kind == Dependent::Kind::extension && dependent.oid == extension->oid;
    });
    if (extension->schema != schema.oid || is_known) continue;
    add_with_users(session, *extension, "schema " + schema.name, list);
  }
}

void replace_members(StatementContext& session, std::string_view on, std::vector<Dependent>& list) {
  std::vector<ExtensionPtr> found;
  std::erase_if(list, [&](const Dependent& dependent) {
    ExtensionPtr extension = extension_of(session, address_of(dependent));
    if (!extension) return false;
    if (std::ranges::find(found, extension) == found.end()) found.push_back(std::move(extension));
    return true;
  });
  for (const ExtensionPtr& extension : found) add_with_users(session, *extension, on, list);
}

void create_extension(StatementContext& session, const ast::CreateExtensionStmt& statement,
                      ResultSink& sink) {
  const std::string name{statement.extname};
  if (name == "plpgsql" || session.catalog.extension(name)) {
    if (!statement.if_not_exists) {
      throw_error(sqlstate::duplicate_object, "extension \"{}\" already exists", name);
    }
    session.notice(sink, Severity::notice, sqlstate::duplicate_object,
                   fmt::format("extension \"{}\" already exists, skipping", name));
    return;
  }
  const BundledExtension* bundled = find_bundled_extension(name);
  if (bundled == nullptr) refuse_unknown(name);
  const ExtensionOptions options = options_of(statement);
  require_version(*bundled, options.version);
  require_right_to_create(session, *bundled);
  const SchemaPtr schema = schema_for(session, *bundled, options.schema);
  session.rights.require(*schema, privilege::kCreate);
  Extension extension;
  extension.oid = session.catalog.allocate_oid();
  extension.name = name;
  extension.owner = session.user;
  extension.schema = schema->oid;
  extension.version = bundled->version;
  extension.comment = bundled->comment;
  // First, so that two sessions cannot both make it.
  const ExtensionPtr made = session.catalog.create(*session.transaction, extension);
  const std::size_t before = session.catalog.mark();
  create_types(session, *bundled, schema->oid);
  run_extension_script(session, *bundled, schema->name);
  extension.members = session.catalog.made_since(before);
  session.catalog.replace(*session.transaction, *made, std::move(extension));
}

void alter_extension(StatementContext& session, const ast::AlterExtensionStmt& statement,
                     ResultSink& sink) {
  const ExtensionPtr extension = require_extension(session, statement.extname);
  require_extension_owner(session, *extension);
  std::string_view wanted;
  for (const ast::Node* node : statement.options) {
    const auto& option = ast::as<ast::DefElem>(node);
    if (option.defname == "new_version") wanted = ast::string_of(option.arg);
  }
  const BundledExtension* bundled = find_bundled_extension(extension->name);
  if (bundled != nullptr && wanted.empty()) wanted = bundled->version;
  if (wanted != extension->version) {
    throw_error(sqlstate::invalid_parameter_value,
                "extension \"{}\" has no update path from version \"{}\" to version \"{}\"",
                extension->name, extension->version, wanted);
  }
  session.notice(sink, Severity::notice, SqlState{"00000"},
                 fmt::format("version \"{}\" of extension \"{}\" is already installed", wanted,
                             extension->name));
}

void set_extension_schema(StatementContext& session, const ast::AlterObjectSchemaStmt& statement) {
  const ExtensionPtr extension = require_extension(session, ast::string_of(statement.object));
  require_extension_owner(session, *extension);
  const SchemaPtr schema = require_new_schema(session, statement.newschema);
  if (schema->oid == extension->schema) return;
  const MemberObjects objects = objects_of(session, *extension);
  const auto move = [&](const auto& list) {
    for (const auto& object : list) {
      auto changed = *object;
      changed.schema = schema->oid;
      session.catalog.replace(*session.transaction, *object, std::move(changed));
    }
  };
  move(objects.routines);
  move(objects.operators);
  move(objects.types);
  move(objects.dictionaries);
  for (const TablePtr& table : objects.relations) {
    const TablePtr locked = session.catalog.lock_for_change(*session.transaction, table);
    Relation relation = locked->relation;
    relation.schema = schema->oid;
    session.catalog.replace(*session.transaction, *locked, std::move(relation));
  }
  Extension changed = *extension;
  changed.schema = schema->oid;
  session.catalog.replace(*session.transaction, *extension, std::move(changed));
}

void drop_extensions(StatementContext& session, const ast::DropStmt& statement, ResultSink& sink) {
  std::vector<ExtensionPtr> gone;
  for (const ast::Node* node : statement.objects) {
    const std::string_view name = ast::string_of(node);
    if (statement.missing_ok && name != "plpgsql" && !session.catalog.extension(name)) {
      notice_missing(session, sink, fmt::format("extension \"{}\"", name));
      continue;
    }
    ExtensionPtr extension = require_extension(session, name);
    require_extension_owner(session, *extension);
    if (std::ranges::find(gone, extension) == gone.end()) gone.push_back(std::move(extension));
  }
  for (const ExtensionPtr& extension : gone) {
    constexpr auto kMode = lock::RelationMode::access_exclusive;
    session.catalog.lock(*session.transaction, extension->oid, kMode);
    for (const Extension::Member& member : extension->members) {
      session.catalog.lock(*session.transaction, member.object, kMode);
    }
  }
  for (const ExtensionPtr& extension : gone) {
    drop_dependents(session, dependents_of_extension(session, *extension),
                    "extension " + extension->name, statement.behavior, sink);
    // A dependent of one extension may have been part of another.
    if (session.catalog.made<Extension>(extension->oid)) remove_extension(session, *extension);
  }
}

void comment_on_extension(StatementContext& session, std::string_view name, std::string_view text) {
  if (name == "plpgsql") {
    if (!session.rights.is_superuser(session.user)) {
      throw_error(sqlstate::insufficient_privilege, "must be owner of extension {}", name);
    }
    return put_comment(session.catalog.of_database(), *session.transaction,
                       session.catalog.of_database().database(),
                       {class_id::pg_extension, kPlpgsqlExtension, 0, std::string{text}});
  }
  const ExtensionPtr extension = require_extension(session, name);
  require_extension_owner(session, *extension);
  Extension changed = *extension;
  changed.comment = text;
  session.catalog.replace(*session.transaction, *extension, std::move(changed));
}

}  // namespace swizzle::sql
