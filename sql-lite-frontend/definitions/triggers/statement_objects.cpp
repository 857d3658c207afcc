#include "sql-lite-frontend/definitions/triggers/statement_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/definitions/system_catalog/dependencies.h"
#include "sql-lite-frontend/definitions/system_catalog/object_identity.h"
#include "sql-lite-frontend/statement/object_types.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kWorkOfObject = 500;

std::string_view kind_of(const Relation& relation) {
  switch (relation.kind) {
    case RelationKind::view:
      return "view";
    case RelationKind::materialized:
      return "materialized view";
    case RelationKind::sequence:
      return "sequence";
    default:
      return "table";
  }
}

std::string_view create_tag_of(const Relation& relation) {
  switch (relation.kind) {
    case RelationKind::view:
      return "CREATE VIEW";
    case RelationKind::materialized:
      return "CREATE MATERIALIZED VIEW";
    case RelationKind::sequence:
      return "CREATE SEQUENCE";
    default:
      return "CREATE TABLE";
  }
}

std::string_view create_tag_of(const Routine& routine) {
  if (routine.kind == RoutineKind::procedure) return "CREATE PROCEDURE";
  return routine.kind == RoutineKind::aggregate ? "CREATE AGGREGATE" : "CREATE FUNCTION";
}

std::string_view kind_of(const Routine& routine) {
  if (routine.kind == RoutineKind::procedure) return "procedure";
  return routine.kind == RoutineKind::aggregate ? "aggregate" : "function";
}

/// Catalog, kind and statement of objects that have a name and no parts of their own.
struct PlainKind {
  Oid catalog;
  std::string_view kind;
  std::string_view create;
};
PlainKind plain_kind(const UserOperator*) {
  return {class_id::pg_operator, "operator", "CREATE OPERATOR"};
}
PlainKind plain_kind(const UserCast*) {
  return {class_id::pg_cast, "cast", "CREATE CAST"};
}
PlainKind plain_kind(const Extension*) {
  return {class_id::pg_extension, "extension", "CREATE EXTENSION"};
}
PlainKind plain_kind(const UserCollation*) {
  return {class_id::pg_collation, "collation", "CREATE COLLATION"};
}
PlainKind plain_kind(const Publication*) {
  return {class_id::pg_publication, "publication", "CREATE PUBLICATION"};
}
PlainKind plain_kind(const UserTextDictionary*) {
  return {class_id::pg_ts_dict, "text search dictionary", "CREATE TEXT SEARCH DICTIONARY"};
}
PlainKind plain_kind(const UserTextConfig*) {
  return {class_id::pg_ts_config, "text search configuration", "CREATE TEXT SEARCH CONFIGURATION"};
}

class Collector {
 public:
  Collector(StatementContext& session, const ast::Node& statement, std::string_view tag,
            const StatementBegin& begin)
      : session_(session), tag_(tag), begin_(begin) {
    if (const auto* drop = ast::try_as<ast::DropStmt>(&statement)) {
      dropped_kind_ = object_type_name(drop->remove_type);
    }
    if (const auto* grant = ast::try_as<ast::GrantStmt>(&statement)) {
      found_.defined.push_back(
          {kNoOid, kNoOid, std::string{tag}, std::string{object_type_name(grant->objtype)}});
      is_grant_ = true;
    }
    if (const auto* rename = ast::try_as<ast::RenameStmt>(&statement);
        rename != nullptr && rename->rename_type == ast::ObjectType::column) {
      column_ = rename->newname;
    }
    if (const auto* comment = ast::try_as<ast::CommentStmt>(&statement);
        comment != nullptr && comment->objtype == ast::ObjectType::column) {
      column_ = ast::string_of(ast::as<ast::List>(comment->object).items.back());
    }
  }

  EventTriggerContext collect() {
    const std::vector<CatalogChange> changes = session_.catalog.changes_since(begin_.mark);
    std::map<std::pair<std::size_t, Oid>, const CatalogChange*> newest;
    for (const CatalogChange& change : changes) {
      newest[{change.object.index(), change.oid}] = &change;
    }
    for (const CatalogChange& change : changes) {
      yield_point(kWorkOfObject);
      const auto now = newest.extract({change.object.index(), change.oid});
      if (!now.empty()) compare(change, now.mapped()->object);
    }
    // Named objects come before their dependents.
    std::ranges::stable_partition(found_.dropped, &EventTriggerContext::Dropped::original);
    return std::move(found_);
  }

 private:
  using Dropped = EventTriggerContext::Dropped;

  /// Compares an object before the statement with its newest state. `first`: its first change.
  void compare(const CatalogChange& first, const CatalogObject& newest) {
    std::visit(
        [&]<class Object>(const CheckedShared<const Object>& now) {
          CheckedShared<const Object> before;
          if (!first.created) {
            before =
                std::get<CheckedShared<const Object>>(session_.catalog.before(begin_.mark, first));
          }
          if (before && !now) {
            drop(*before);
          } else if (now) {
            define(*now, before ? &*before : nullptr);
          }
        },
        newest);
  }

  [[nodiscard]] bool is_new(Oid oid) const noexcept { return oid >= begin_.first; }
  /// True if the statement changes objects that there are, rather than makes or drops some.
  [[nodiscard]] bool alters() const {
    return !is_grant_ && !tag_.starts_with("CREATE") && !tag_.starts_with("DROP");
  }

  void add(Oid catalog, Oid object, std::string_view tag) {
    if (is_grant_) return;
    found_.defined.push_back({catalog, object, std::string{tag}, {}});
  }

  void define(const Table& table, const Table* before) {
    const Relation& relation = table.relation;
    const bool made_by_query = tag_ == "CREATE TABLE AS" || tag_ == "SELECT INTO";
    if (before == nullptr) {
      const bool is_table = relation.kind == RelationKind::table;
      add(class_id::pg_class, relation.oid,
          made_by_query && is_table ? tag_ : create_tag_of(relation));
    } else {
      drop_parts(table, *before);
    }
    bool has_new_parts = false;
    const auto add_part = [&](Oid catalog, Oid oid, std::string_view tag) {
      has_new_parts = true;
      add(catalog, oid, tag);
    };
    const bool alters_table = tag_ == "ALTER TABLE";
    if (before != nullptr && alters_table) add_table(table);
    for (const Index& index : relation.indexes) {
      if (is_new(index.oid)) add_part(class_id::pg_class, index.oid, "CREATE INDEX");
    }
    for (const Trigger& trigger : relation.triggers) {
      if (is_new(trigger.oid) && before != nullptr)
        add_part(class_id::pg_trigger, trigger.oid, "CREATE TRIGGER");
    }
    for (const Policy& policy : relation.policies) {
      if (is_new(policy.oid) && before != nullptr)
        add_part(class_id::pg_policy, policy.oid, "CREATE POLICY");
    }
    const bool is_owned = relation.sequence && relation.sequence->owner_table != kNoOid;
    if (before == nullptr && is_owned && tag_ != "CREATE SEQUENCE")
      add(class_id::pg_class, relation.oid, "ALTER SEQUENCE");
    if (before == nullptr || alters_table || has_new_parts) return;
    if (alters() || tag_ == create_tag_of(relation)) add_table(table);
  }
  void add_table(const Table& table) {
    const Relation& relation = table.relation;
    const bool is_sequence = relation.kind == RelationKind::sequence;
    const std::size_t before = found_.defined.size();
    add(class_id::pg_class, relation.oid,
        is_sequence && tag_ != "COMMENT" ? std::string_view{"ALTER SEQUENCE"} : tag_);
    const auto position = table.column_position(column_);
    if (found_.defined.size() == before || column_.empty() || !position) return;
    found_.defined.back().part = static_cast<std::int32_t>(*position + 1);
  }

  void define(const UserType& type, const UserType* before) {
    if (type.is_of_relation() || is_user_multirange(type.id())) return;
    if (before == nullptr) {
      add(class_id::pg_type, type.oid, is_domain(type.id()) ? "CREATE DOMAIN" : "CREATE TYPE");
    } else if (alters() || tag_ == "CREATE TYPE") {
      add(class_id::pg_type, type.oid, tag_);
    }
  }
  void define(const Routine& routine, const Routine* before) {
    if (before == nullptr || tag_ == create_tag_of(routine) || alters()) {
      add(class_id::pg_proc, routine.oid,
          before != nullptr && alters() ? tag_ : create_tag_of(routine));
    }
  }
  void define(const Schema& schema, const Schema* before) {
    if (before == nullptr || alters())
      add(class_id::pg_namespace, schema.oid, before == nullptr ? "CREATE SCHEMA" : tag_);
  }
  void define(const Role& /*now*/, const Role* /*before*/) {}
  void define(const DatabaseEntry& /*now*/, const DatabaseEntry* /*before*/) {}
  void define(const EventTrigger& /*now*/, const EventTrigger* /*before*/) {}
  template <class Object>
  void define(const Object& object, const Object* before) {
    const PlainKind kind = plain_kind(&object);
    if (before == nullptr || alters())
      add(kind.catalog, object.oid, before == nullptr ? kind.create : tag_);
  }

  std::string schema_of(Oid schema) {
    if (schema != kNoOid && schema == session_.names.temp_schema) return "pg_temp";
    std::string name = session_.names.schema_name(schema);
    if (!name.empty()) return name;
    const CatalogObject old =
        session_.catalog.before(begin_.mark, {schema, false, SchemaPtr{nullptr}});
    const SchemaPtr& before = std::get<SchemaPtr>(old);
    return before ? before->name : std::string{};
  }

  /// Adds a dropped object with a name that is unique within its schema.
  Dropped& add_named(Oid catalog, Oid object, std::string_view type, Oid schema,
                     std::string_view name) {
    Dropped& dropped = add_part(catalog, object, type);
    dropped.schema = schema_of(schema);
    dropped.name = quote_identifier(name);
    dropped.names = {dropped.schema, std::string{name}};
    dropped.identity = quote_identifier(dropped.schema) + "." + dropped.name;
    dropped.is_temporary = schema == session_.names.temp_schema && schema != kNoOid;
    return dropped;
  }
  Dropped& add_part(Oid catalog, Oid object, std::string_view type) {
    Dropped& dropped = found_.dropped.emplace_back();
    dropped.catalog = catalog;
    dropped.object = object;
    dropped.type = type;
    return dropped;
  }
  /// Adds a part of a table: a constraint, a trigger and the like.
  void drop_part(const Relation& relation, Oid catalog, Oid object, std::string_view type,
                 std::string_view name) {
    Dropped& dropped = add_part(catalog, object, type);
    const std::string schema = schema_of(relation.schema);
    dropped.identity = fmt::format("{} on {}.{}", quote_identifier(name), quote_identifier(schema),
                                   quote_identifier(relation.name));
    dropped.schema = schema;
    dropped.names = {schema, relation.name, std::string{name}};
    dropped.is_temporary = relation.persistence == Persistence::temporary;
    dropped.original = is_of_dropped_kind(type);
  }
  [[nodiscard]] bool is_of_dropped_kind(std::string_view type) const {
    return std::ranges::equal(type, dropped_kind_, [](char lower, char upper) {
      return lower == upper || (lower >= 'a' && lower <= 'z' && lower - 'a' + 'A' == upper);
    });
  }

  void drop(const Table& table) {
    const Relation& relation = table.relation;
    Dropped& dropped = add_named(class_id::pg_class, relation.oid, kind_of(relation),
                                 relation.schema, relation.name);
    dropped.original = is_of_dropped_kind(dropped.type);
    if (relation.kind == RelationKind::sequence) return;
    if (const TypeId row{relation.row_type}; row != TypeId::none) {
      const std::string identity = dropped.identity;
      add_named(class_id::pg_type, raw(row), "type", relation.schema, relation.name);
      Dropped& array = add_named(class_id::pg_type, relation.array_type, "type", relation.schema,
                                 "_" + relation.name);
      array.identity = identity + "[]";
    }
    for (const Index& index : relation.indexes) drop_index(relation, index);
    for (const Constraint& one : relation.constraints)
      drop_part(relation, class_id::pg_constraint, one.oid, "table constraint", one.name);
    for (const Trigger& one : relation.triggers)
      drop_part(relation, class_id::pg_trigger, one.oid, "trigger", one.name);
    for (const Policy& one : relation.policies)
      drop_part(relation, class_id::pg_policy, one.oid, "policy", one.name);
    for (std::size_t i = 0; i < relation.columns.size(); ++i) {
      if (!relation.columns[i].dropped) drop_default(relation, i);
    }
  }
  void drop_index(const Relation& relation, const Index& index) {
    Dropped& dropped =
        add_named(class_id::pg_class, index.oid, "index", relation.schema, index.name);
    dropped.original = is_of_dropped_kind("index");
  }
  void drop_default(const Relation& relation, std::size_t position) {
    if (!has_default_row(relation.columns[position])) return;
    Dropped& dropped =
        add_part(class_id::pg_attrdef, default_oid(relation, position), "default value");
    const std::string schema = schema_of(relation.schema);
    dropped.identity =
        fmt::format("for {}.{}.{}", quote_identifier(schema), quote_identifier(relation.name),
                    quote_identifier(relation.columns[position].name));
    dropped.names = {schema, relation.name, relation.columns[position].name};
    dropped.is_temporary = relation.persistence == Persistence::temporary;
  }

  /// Adds what the table has lost.
  void drop_parts(const Table& now, const Table& before) {
    const Relation& old = before.relation;
    const auto lost = [](const auto& list, const auto& object) {
      using Part = std::remove_cvref_t<decltype(object)>;
      return std::ranges::find(list, object.oid, &Part::oid) == list.end();
    };
    for (std::size_t i = 0; i < old.columns.size() && i < now.relation.columns.size(); ++i) {
      if (old.columns[i].dropped || !now.relation.columns[i].dropped) continue;
      Dropped& dropped = add_part(class_id::pg_class, old.oid, "table column");
      dropped.part = static_cast<std::int32_t>(i + 1);
      dropped.original = true;
      dropped.schema = schema_of(old.schema);
      dropped.names = {dropped.schema, old.name, old.columns[i].name};
      dropped.identity =
          fmt::format("{}.{}.{}", quote_identifier(dropped.schema), quote_identifier(old.name),
                      quote_identifier(old.columns[i].name));
      dropped.is_temporary = old.persistence == Persistence::temporary;
      drop_default(old, i);
    }
    for (const Index& one : old.indexes) {
      if (lost(now.relation.indexes, one)) drop_index(old, one);
    }
    for (const Constraint& one : old.constraints) {
      if (lost(now.relation.constraints, one))
        drop_part(old, class_id::pg_constraint, one.oid, "table constraint", one.name);
    }
    for (const Trigger& one : old.triggers) {
      if (lost(now.relation.triggers, one))
        drop_part(old, class_id::pg_trigger, one.oid, "trigger", one.name);
    }
    for (const Policy& one : old.policies) {
      if (lost(now.relation.policies, one))
        drop_part(old, class_id::pg_policy, one.oid, "policy", one.name);
    }
  }

  void drop(const UserType& type) {
    if (type.is_of_relation()) return;
    Dropped& dropped = add_named(class_id::pg_type, type.oid, "type", type.schema, type.name);
    dropped.original =
        is_of_dropped_kind(is_domain(type.id()) ? std::string_view{"domain"} : dropped.type);
  }
  void drop(const Routine& routine) {
    Dropped& dropped =
        add_named(class_id::pg_proc, routine.oid, kind_of(routine), routine.schema, routine.name);
    dropped.original = is_of_dropped_kind(dropped.type) || dropped_kind_ == "ROUTINE";
    dropped.name.clear();
    std::string list;
    for (const TypeId type : routine.argument_types()) {
      std::string name = identity_of(session_, class_id::pg_type, raw(type), 0).identity;
      if (name.empty()) name = format_type(type);
      list += (list.empty() ? "" : ",") + name;
      dropped.arguments.push_back(std::move(name));
    }
    dropped.identity += "(" + list + ")";
  }
  void drop(const Schema& schema) {
    Dropped& dropped = add_part(class_id::pg_namespace, schema.oid, "schema");
    dropped.name = dropped.identity = quote_identifier(schema.name);
    dropped.names = {schema.name};
    dropped.original = is_of_dropped_kind("schema");
  }
  void drop(const Role& /*gone*/) {}
  void drop(const DatabaseEntry& /*gone*/) {}
  void drop(const EventTrigger& /*gone*/) {}
  template <class Object>
  void drop(const Object& object) {
    const PlainKind kind = plain_kind(&object);
    if constexpr (requires { object.schema; } && !std::is_same_v<Object, Extension>) {
      Dropped& dropped = add_named(kind.catalog, object.oid, kind.kind, object.schema, object.name);
      dropped.original = is_of_dropped_kind(kind.kind);
    } else {
      Dropped& dropped = add_part(kind.catalog, object.oid, kind.kind);
      dropped.name = dropped.identity = quote_identifier(object.name);
      dropped.names = {object.name};
      dropped.original = is_of_dropped_kind(kind.kind);
    }
  }

  StatementContext& session_;
  std::string_view tag_;
  StatementBegin begin_;
  std::string_view dropped_kind_;
  std::string_view column_;  ///< the only one that the statement is about; empty: there is none
  bool is_grant_ = false;
  EventTriggerContext found_;
};

}  // namespace

EventTriggerContext objects_of_statement(StatementContext& session, const ast::Node& statement,
                                         std::string_view tag, const StatementBegin& begin) {
  return Collector{session, statement, tag, begin}.collect();
}

}  // namespace swizzle::sql
