#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/catalog/facts.h"
#include "sql-lite-frontend/catalog/made_objects.h"
#include "sql-lite-frontend/catalog/relation_noun.h"
#include "sql-lite-frontend/definitions/system_catalog/dependencies.h"
#include "sql-lite-frontend/definitions/system_catalog/functions.h"
#include "sql-lite-frontend/definitions/system_catalog/keyed_objects.h"
#include "sql-lite-frontend/routines/extensions/extension.h"
#include "sql-lite-frontend/statement/large_objects.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/builtin.h"

/// pg_describe_object: describes an object of pg_depend in words.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using Described = std::optional<std::string>;

/// Returns the kind followed by the name as a reg… type prints it; nothing if there is no such
/// object.
Described with_kind(StatementContext& session, std::string_view kind, TypeId written_as,
                    Oid object) {
  const auto name = session.names.name_of(written_as, object);
  return name ? Described{fmt::format("{} {}", kind, *name)} : std::nullopt;
}

Described describe_composite(StatementContext& session, const UserType& type, std::int32_t column) {
  const Described whole = with_kind(session, "composite type", TypeId::regtype, type.oid);
  if (column == 0 || !whole) return whole;
  const auto position = static_cast<std::size_t>(column) - 1;
  if (position >= type.attributes.size()) return std::nullopt;
  return fmt::format("column {} of {}", type.attributes[position].name, *whole);
}

Described describe_relation(StatementContext& session, Oid object, std::int32_t column) {
  const TablePtr table = session.names.table(object);
  if (!table) {
    if (const TypePtr type = session.names.composite_of(object))
      return describe_composite(session, *type, column);
    return with_kind(session, "index", TypeId::regclass, object);
  }
  const bool is_shown_as_view = table->computed != nullptr && table->computed->kind == 'v';
  const Described relation = with_kind(
      session, is_shown_as_view ? "view" : noun_of(table->relation.kind), TypeId::regclass, object);
  if (column == 0 || !relation) return relation;
  const auto position = static_cast<std::size_t>(column) - 1;
  if (position >= table->relation.columns.size()) return std::nullopt;
  return fmt::format("column {} of {}", table->relation.columns[position].name, *relation);
}

Described describe_constraint(StatementContext& session, Oid object) {
  for (const TablePtr& table : session.catalog.naming<Table>({object})) {
    for (const Constraint& constraint : table->relation.constraints) {
      if (constraint.oid != object) continue;
      const Described on = describe_relation(session, table->relation.oid, 0);
      return fmt::format("constraint {} on {}", constraint.name, on.value_or(""));
    }
  }
  for (const TypePtr& type : session.catalog.naming<UserType>({object})) {
    for (const DomainCheck& check : type->checks) {
      // As in PostgreSQL, the domain is not named.
      if (check.oid == object) return fmt::format("constraint {}", check.name);
    }
  }
  return std::nullopt;
}

/// Describes a numbered part of a table: a default, a rule, a trigger.
Described describe_part(StatementContext& session, Oid catalog, Oid object) {
  for (const TablePtr& table : tables_with_part(session, object)) {
    const Relation& relation = table->relation;
    const auto on = [&] { return describe_relation(session, relation.oid, 0).value_or(""); };
    if (catalog == class_id::pg_rewrite && has_query(relation.kind) && rule_oid(relation) == object)
      return fmt::format("rule _RETURN on {}", on());
    for (std::size_t i = 0; catalog == class_id::pg_attrdef && i < relation.columns.size(); ++i) {
      if (has_default_row(relation.columns[i]) && default_oid(relation, i) == object)
        return fmt::format("default value for column {} of {}", relation.columns[i].name, on());
    }
    for (const Trigger& trigger : relation.triggers) {
      if (catalog == class_id::pg_trigger && trigger.oid == object)
        return fmt::format("trigger {} on {}", trigger.name, on());
    }
    for (const Policy& policy : relation.policies) {
      if (catalog == class_id::pg_policy && policy.oid == object)
        return fmt::format("policy {} on {}", policy.name, on());
    }
  }
  return std::nullopt;
}

template <class Object>
Described describe_made(StatementContext& session, std::string_view kind, Oid object) {
  for (const auto& made : session.catalog.all_made<Object>())
    if (made->oid == object) return fmt::format("{} {}", kind, made->name);
  return std::nullopt;
}

Described describe_cast(StatementContext& session, Oid object) {
  for (const auto& cast : session.catalog.all_made<UserCast>()) {
    if (cast->oid != object) continue;
    const auto name = [&](TypeId type) {
      return session.names.name_of(TypeId::regtype, raw(type)).value_or("");
    };
    return fmt::format("cast from {} to {}", name(cast->source), name(cast->target));
  }
  return std::nullopt;
}

/// Describes a table or schema of a publication.
Described describe_published(StatementContext& session, Oid object) {
  for (const auto& publication : session.catalog.all_made<Publication>()) {
    for (const Publication::Member& member : publication->members) {
      if (member.oid != object) continue;
      return fmt::format("publication of {} in publication {}",
                         describe_relation(session, member.table, 0).value_or(""),
                         publication->name);
    }
    for (const Publication::WholeSchema& whole : publication->schemas) {
      if (whole.oid != object) continue;
      return fmt::format("publication of schema {} in publication {}",
                         session.names.schema_name(whole.schema), publication->name);
    }
  }
  return std::nullopt;
}

constexpr std::pair<Oid, std::string_view> kAccessMethods[] = {
    {403, "btree"}, {405, "hash"}, {783, "gist"}, {2742, "gin"}};
constexpr std::string_view kOfBtree = " for access method btree";

Described describe_access_method(Oid object) {
  for (const auto& [oid, name] : kAccessMethods)
    if (oid == object) return fmt::format("access method {}", name);
  return std::nullopt;
}
Described describe_operator_class(Oid object) {
  for (const OperatorClass& known : operator_classes())
    if (known.oid == object) return fmt::format("operator class {}{}", known.name, kOfBtree);
  return std::nullopt;
}
Described describe_operator_family(Oid object) {
  for (const OperatorClass& known : operator_classes()) {
    if (known.family == object)
      return fmt::format("operator family {}{}", known.family_name, kOfBtree);
  }
  return std::nullopt;
}

Described describe_language(Oid object) {
  constexpr std::pair<Oid, std::string_view> kLanguages[] = {
      {12, "internal"}, {13, "c"}, {14, "sql"}, {13563, "plpgsql"}};
  for (const auto& [oid, name] : kLanguages)
    if (oid == object) return fmt::format("language {}", name);
  return std::nullopt;
}

Described describe_large_object(StatementContext& session, Oid object) {
  if (!large_objects_of(session).find(*session.transaction, object)) return std::nullopt;
  return fmt::format("large object {}", object);
}

Described described(StatementContext& session, Oid catalog, Oid object, std::int32_t part) {
  switch (catalog) {
    case class_id::pg_class:
      return describe_relation(session, object, part);
    case class_id::pg_proc:
      return with_kind(session, "function", TypeId::regprocedure, object);
    case class_id::pg_type:
      return with_kind(session, "type", TypeId::regtype, object);
    case class_id::pg_operator:
      return with_kind(session, "operator", TypeId::regoperator, object);
    case class_id::pg_collation:
      return with_kind(session, "collation", TypeId::regcollation, object);
    case class_id::pg_namespace:
      return with_kind(session, "schema", TypeId::regnamespace, object);
    case class_id::pg_authid:
      return with_kind(session, "role", TypeId::regrole, object);
    case class_id::pg_database:
      for (const DatabasePtr& database : session.catalog.databases())
        if (database->oid == object) return fmt::format("database {}", database->name);
      return std::nullopt;
    case class_id::pg_constraint:
      return describe_constraint(session, object);
    case class_id::pg_attrdef:
    case class_id::pg_rewrite:
    case class_id::pg_trigger:
    case class_id::pg_policy:
      return describe_part(session, catalog, object);
    case class_id::pg_cast:
      return describe_cast(session, object);
    case class_id::pg_publication:
      return describe_made<Publication>(session, "publication", object);
    case class_id::pg_event_trigger:
      return describe_made<EventTrigger>(session, "event trigger", object);
    case class_id::pg_extension:
      if (object == kPlpgsqlExtension) return "extension plpgsql";
      return describe_made<Extension>(session, "extension", object);
    case class_id::pg_language:
      return describe_language(object);
    case class_id::pg_largeobject:
      return describe_large_object(session, object);
    case class_id::pg_ts_config:
      return with_kind(session, "text search configuration", builtin_id::regconfig, object);
    case class_id::pg_ts_dict:
      return with_kind(session, "text search dictionary", builtin_id::regdictionary, object);
    case class_id::pg_publication_rel:
    case class_id::pg_publication_namespace:
      return describe_published(session, object);
    case class_id::pg_am:
      return describe_access_method(object);
    case class_id::pg_opclass:
      return describe_operator_class(object);
    case class_id::pg_opfamily:
      return describe_operator_family(object);
    default:
      throw_error(sqlstate::feature_not_supported,
                  "pg_describe_object for objects of catalog {} is not supported", catalog);
  }
}

Value describe_object(Execution& execution, Arguments arguments) {
  // Addresses of pinned objects, which older versions of pg_depend had.
  if (arguments[0].as_oid() == kNoOid && arguments[1].as_oid() == kNoOid) return Value::null();
  const Described text = described(context_of(execution), arguments[0].as_oid(),
                                   arguments[1].as_oid(), arguments[2].as_int4());
  return text ? make_text(execution.row_arena, *text) : Value::null();
}

}  // namespace

std::span<const SessionEntry> description_functions() {
  static constexpr SessionEntry kFunctions[] = {{"pg_describe_object", describe_object}};
  return kFunctions;
}

}  // namespace swizzle::sql
