// pg_identify_object() and pg_identify_object_as_address(): an object's full name, independent of
// the search path.
#include "sql-lite-frontend/definitions/system_catalog/object_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "sql-lite-frontend/catalog/class_id.h"
#include "sql-lite-frontend/catalog/comments.h"
#include "sql-lite-frontend/catalog/made_objects.h"
#include "sql-lite-frontend/definitions/system_catalog/dependencies.h"
#include "sql-lite-frontend/definitions/system_catalog/functions.h"
#include "sql-lite-frontend/definitions/system_catalog/keyed_objects.h"
#include "sql-lite-frontend/routines/extensions/extension.h"
#include "sql-lite-frontend/statement/large_objects.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

struct Identity {
  std::string type;  ///< kind of object, set even if the object does not exist
  bool exists = false;
  std::optional<std::string> schema = {};  ///< unquoted, as in the address
  std::optional<std::string> name = {};    ///< if it is unique within its schema
  std::string whole = {};
  std::vector<std::string> names = {};  ///< names of the address
  std::vector<std::string> arguments = {};
};

std::string joined(std::string_view schema, std::string_view name) {
  return quote_identifier(schema) + "." + quote_identifier(name);
}
std::string joined_list(const std::vector<std::string>& parts) {
  std::string list;
  for (const std::string& part : parts) list += (list.empty() ? "" : ",") + part;
  return list;
}

class Identifier {
 public:
  explicit Identifier(StatementContext& session) : session_(session) {}

  Identity identify(Oid catalog, Oid object, std::int32_t part) {
    switch (catalog) {
      case class_id::pg_class:
        return of_relation(object, part);
      case class_id::pg_type:
        return of_type(TypeId{object});
      case class_id::pg_proc:
        return of_routine(object);
      case class_id::pg_constraint:
        return of_constraint(object);
      case class_id::pg_attrdef:
      case class_id::pg_rewrite:
      case class_id::pg_trigger:
      case class_id::pg_policy:
        return of_part(catalog, object);
      case class_id::pg_cast:
        return of_cast(object);
      case class_id::pg_operator:
        return of_operator(object);
      case class_id::pg_collation:
        return in_schema<UserCollation>("collation", object);
      case class_id::pg_ts_config:
        return in_schema<UserTextConfig>("text search configuration", object);
      case class_id::pg_ts_dict:
        return in_schema<UserTextDictionary>("text search dictionary", object);
      case class_id::pg_publication_rel:
        return of_published_table(object);
      default:
        return of_database(catalog, object);
    }
  }

 private:
  /// Returns the type's name with its schema, except for types with a keyword of SQL.
  std::string type_name(TypeId type) {
    check_stack();
    if (is_user_array(type)) return type_name(without_array(type)) + "[]";
    if (is_user_type(type)) {
      const TypePtr made = session_.names.user_type(type);
      if (made) return joined(session_.names.schema_name(made->schema), made->name);
    }
    const TypeId element = is_array(type) ? element_type(type) : TypeId::none;
    if (element != TypeId::none) return type_name(element) + "[]";
    const std::string shown = format_type(type);
    const std::string_view name = value_type(type).name;
    const bool is_word_of_sql =
        shown != quote_identifier(name) || name == "bit" || name == "interval" || name == "numeric";
    return is_word_of_sql ? shown : "pg_catalog." + shown;
  }

  std::string schema_of(Oid schema) {
    const bool is_temporary = schema != kNoOid && schema == session_.names.temp_schema;
    return is_temporary ? "pg_temp" : session_.names.schema_name(schema);
  }

  static Identity named(std::string type, std::string schema, std::string_view name) {
    Identity found{.type = std::move(type), .exists = true};
    found.whole = joined(schema, name);
    found.names = {schema, std::string{name}};
    found.name = quote_identifier(name);
    found.schema = std::move(schema);
    return found;
  }
  static Identity without_schema(std::string type, std::string_view name) {
    Identity found{.type = std::move(type), .exists = true};
    found.whole = quote_identifier(name);
    found.name = found.whole;
    found.names = {std::string{name}};
    return found;
  }

  static std::string_view kind_of(const Table& table) {
    if (table.computed != nullptr) return table.computed->kind == 'v' ? "view" : "table";
    switch (table.relation.kind) {
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

  Identity of_relation(Oid object, std::int32_t part) {
    if (const TablePtr table = session_.names.table(object)) {
      Identity found = named(std::string{kind_of(*table)}, schema_of(table->relation.schema),
                             table->relation.name);
      return with_column(std::move(found), table->relation.columns, part);
    }
    if (const TablePtr table = session_.catalog.table_with_index(object)) {
      return named("index", schema_of(table->relation.schema), table->index_by_oid(object)->name);
    }
    for (const TypePtr& type : session_.catalog.naming<UserType>({object})) {
      if (type->relation != object || type->is_of_relation()) continue;
      return with_column(named("composite type", schema_of(type->schema), type->name),
                         type->attributes, part);
    }
    return {.type = "relation"};
  }
  static Identity with_column(Identity found, const std::vector<Column>& columns,
                              std::int32_t part) {
    if (part <= 0 || static_cast<std::size_t>(part) > columns.size()) return found;
    const std::string& column = columns[static_cast<std::size_t>(part) - 1].name;
    found.type += " column";
    found.whole += "." + quote_identifier(column);
    found.names.push_back(column);
    return found;
  }

  Identity of_type(TypeId type) {
    Identity found{.type = "type"};
    const TypeId single = without_array(type);
    const TypePtr made = is_user_type(single) ? session_.names.user_type(single) : nullptr;
    const bool is_known = made != nullptr || is_built_in(type);
    if (!is_known) return found;
    found.exists = true;
    found.schema = made ? schema_of(made->schema) : "pg_catalog";
    const std::string name = made ? made->name : std::string{value_type(type).name};
    found.name = quote_identifier(made && is_user_array(type) ? "_" + name : name);
    found.whole = type_name(type);
    found.names = {found.whole};
    return found;
  }

  Identity of_routine(Oid object) {
    const RoutinePtr made = session_.catalog.routine(object);
    const Function* const builtin = made ? nullptr : find_function(object);
    if (!made && builtin == nullptr) return {.type = "routine"};
    Identity found{.type = "function", .exists = true};
    if (made) {
      if (made->kind == RoutineKind::procedure) found.type = "procedure";
      if (made->kind == RoutineKind::aggregate) found.type = "aggregate";
      for (const TypeId type : made->argument_types()) found.arguments.push_back(type_name(type));
    } else {
      if (builtin->kind == FunctionKind::aggregate) found.type = "aggregate";
      for (const TypeId type : builtin->arguments) found.arguments.push_back(type_name(type));
    }
    found.schema = made ? schema_of(made->schema) : "pg_catalog";
    const std::string name = made ? made->name : std::string{builtin->name};
    found.whole = fmt::format("{}({})", joined(*found.schema, name), joined_list(found.arguments));
    found.names = {*found.schema, name};
    return found;
  }

  /// Returns "what on table", for a part without a schema of its own.
  Identity part_of(std::string type, const Table& table, std::string_view name) {
    const std::string schema = schema_of(table.relation.schema);
    Identity found{.type = std::move(type), .exists = true};
    found.whole =
        fmt::format("{} on {}", quote_identifier(name), joined(schema, table.relation.name));
    found.names = {schema, table.relation.name, std::string{name}};
    return found;
  }

  Identity of_constraint(Oid object) {
    for (const TablePtr& table : session_.catalog.naming<Table>({object})) {
      for (const Constraint& constraint : table->relation.constraints) {
        if (constraint.oid != object) continue;
        Identity found = part_of("table constraint", *table, constraint.name);
        found.schema = schema_of(table->relation.schema);
        return found;
      }
    }
    for (const TypePtr& type : session_.catalog.naming<UserType>({object})) {
      for (const DomainCheck& check : type->checks) {
        if (check.oid != object) continue;
        const std::string domain = type_name(type->id());
        Identity found{.type = "domain constraint", .exists = true};
        found.schema = schema_of(type->schema);
        found.whole = fmt::format("{} on {}", quote_identifier(check.name), domain);
        found.names = {domain};
        found.arguments = {check.name};
        return found;
      }
    }
    return {.type = "constraint"};
  }

  Identity of_part(Oid catalog, Oid object) {
    for (const TablePtr& table : tables_with_part(session_, object)) {
      const Relation& relation = table->relation;
      if (catalog == class_id::pg_rewrite && has_query(relation.kind) &&
          rule_oid(relation) == object)
        return rule_of(*table);
      for (std::size_t i = 0; catalog == class_id::pg_attrdef && i < relation.columns.size(); ++i) {
        if (!has_default_row(relation.columns[i]) || default_oid(relation, i) != object) continue;
        Identity found = part_of("default value", *table, relation.columns[i].name);
        found.whole = fmt::format("for {}.{}", joined(found.names[0], relation.name),
                                  quote_identifier(relation.columns[i].name));
        return found;
      }
      for (const Trigger& trigger : relation.triggers) {
        if (catalog == class_id::pg_trigger && trigger.oid == object)
          return part_of("trigger", *table, trigger.name);
      }
      for (const Policy& policy : relation.policies) {
        if (catalog == class_id::pg_policy && policy.oid == object)
          return part_of("policy", *table, policy.name);
      }
    }
    return {.type = catalog == class_id::pg_rewrite   ? "rule"
                    : catalog == class_id::pg_attrdef ? "default value"
                    : catalog == class_id::pg_policy  ? "policy"
                                                      : "trigger"};
  }
  Identity rule_of(const Table& table) { return part_of("rule", table, "_RETURN"); }

  Identity of_cast(Oid object) {
    for (const CastPtr& cast : session_.catalog.all_made<UserCast>()) {
      if (cast->oid != object) continue;
      Identity found{.type = "cast", .exists = true};
      found.names = {type_name(cast->source)};
      found.arguments = {type_name(cast->target)};
      found.whole = fmt::format("({} AS {})", found.names[0], found.arguments[0]);
      return found;
    }
    return {.type = "cast"};
  }

  Identity of_operator(Oid object) {
    const auto identity = [&](std::string_view schema, std::string_view name, TypeId left,
                              TypeId right) {
      Identity found{.type = "operator", .exists = true, .schema = std::string{schema}};
      if (left != TypeId::none) found.arguments.push_back(type_name(left));
      found.arguments.push_back(type_name(right));
      found.whole = fmt::format("{}.{}({},{})", quote_identifier(schema), name,
                                left == TypeId::none ? "NONE" : found.arguments.front(),
                                found.arguments.back());
      found.names = {std::string{schema}, std::string{name}};
      return found;
    };
    if (const OperatorPtr made = session_.catalog.made<UserOperator>(object))
      return identity(schema_of(made->schema), made->name, made->left, made->right);
    if (const Operator* const builtin = find_operator(object))
      return identity("pg_catalog", builtin->name, builtin->left, builtin->right);
    return {.type = "operator"};
  }

  template <class Object>
  Identity in_schema(std::string type, Oid object) {
    for (const auto& made : session_.catalog.all_made<Object>()) {
      if (made->oid == object) return named(std::move(type), schema_of(made->schema), made->name);
    }
    return {.type = std::move(type)};
  }

  Identity of_published_table(Oid object) {
    for (const auto& publication : session_.catalog.all_made<Publication>()) {
      for (const Publication::Member& member : publication->members) {
        if (member.oid != object) continue;
        const TablePtr table = session_.names.table(member.table);
        if (!table) break;
        Identity found{.type = "publication relation", .exists = true};
        found.names = {schema_of(table->relation.schema), table->relation.name};
        found.whole = fmt::format("{} in publication {}", joined(found.names[0], found.names[1]),
                                  publication->name);
        found.arguments = {publication->name};
        return found;
      }
    }
    return {.type = "publication relation"};
  }

  template <class Object>
  Identity made(std::string type, Oid object) {
    for (const auto& one : session_.catalog.all_made<Object>())
      if (one->oid == object) return without_schema(std::move(type), one->name);
    return {.type = std::move(type)};
  }

  /// Returns the identity of an object outside of schemas.
  Identity of_database(Oid catalog, Oid object) {
    const auto by_name = [&](std::string type, TypeId written_as) {
      const auto name = session_.names.name_of(written_as, object);
      Identity found{.type = std::move(type)};
      if (!name) return found;
      found.exists = true;
      found.name = *name;
      found.whole = *name;
      found.names = {*name};
      return found;
    };
    if (catalog == class_id::pg_namespace) return by_name("schema", TypeId::regnamespace);
    if (catalog == class_id::pg_authid) return by_name("role", TypeId::regrole);
    if (catalog == class_id::pg_event_trigger) return made<EventTrigger>("event trigger", object);
    if (catalog == class_id::pg_publication) return made<Publication>("publication", object);
    if (catalog == class_id::pg_extension) {
      return object == kPlpgsqlExtension ? without_schema("extension", "plpgsql")
                                         : made<Extension>("extension", object);
    }
    if (catalog == class_id::pg_largeobject) {
      const bool exists =
          large_objects_of(session_).find(*session_.transaction, object).has_value();
      Identity found{.type = "large object", .exists = exists};
      if (exists) found.whole = std::to_string(object);
      if (exists) found.names = {found.whole};
      return found;
    }
    if (catalog == class_id::pg_database) {
      for (const DatabasePtr& database : session_.catalog.databases())
        if (database->oid == object) return without_schema("database", database->name);
      return {.type = "database"};
    }
    if (catalog == class_id::pg_language) {
      constexpr std::pair<Oid, std::string_view> kLanguages[] = {
          {12, "internal"}, {13, "c"}, {14, "sql"}, {13563, "plpgsql"}};
      for (const auto& [oid, name] : kLanguages)
        if (oid == object) return without_schema("language", name);
      return {.type = "language"};
    }
    throw_error(sqlstate::feature_not_supported,
                "pg_identify_object for objects of catalog {} is not supported", catalog);
  }

  StatementContext& session_;
};

Value text_or_null(Arena& arena, const std::optional<std::string>& text) {
  return text ? make_text(arena, *text) : Value::null();
}
Value text_array(Arena& arena, const std::vector<std::string>& texts) {
  std::vector<Value> values;
  for (const std::string& text : texts) values.push_back(make_text(arena, text));
  return make_array(arena, TypeId::text, values);
}

Identity identity_asked(Execution& execution, Arguments a) {
  return Identifier{context_of(execution)}.identify(a[0].as_oid(), a[1].as_oid(), a[2].as_int4());
}

Value identify_object(Execution& execution, Arguments arguments) {
  const Identity found = identity_asked(execution, arguments);
  Arena& arena = execution.row_arena;
  constexpr TypeId kTypes[] = {TypeId::text, TypeId::text, TypeId::text, TypeId::text};
  const Value fields[] = {make_text(arena, found.type), text_or_null(arena, found.schema),
                          text_or_null(arena, found.name),
                          found.exists ? make_text(arena, found.whole) : Value::null()};
  return make_record(arena, kTypes, fields);
}

Value identify_as_address(Execution& execution, Arguments arguments) {
  const Identity found = identity_asked(execution, arguments);
  Arena& arena = execution.row_arena;
  constexpr TypeId kTypes[] = {TypeId::text, TypeId::text_array, TypeId::text_array};
  const Value fields[] = {make_text(arena, found.type),
                          found.exists ? text_array(arena, found.names) : Value::null(),
                          found.exists ? text_array(arena, found.arguments) : Value::null()};
  return make_record(arena, kTypes, fields);
}

}  // namespace

ObjectIdentity identity_of(StatementContext& session, Oid catalog, Oid object, std::int32_t part) {
  Identity found = Identifier{session}.identify(catalog, object, part);
  return {std::move(found.type), std::move(found.schema), std::move(found.whole)};
}

std::span<const SessionEntry> identity_functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"pg_identify_object", identify_object},
      {"pg_identify_object_as_address", identify_as_address}};
  return kFunctions;
}

}  // namespace swizzle::sql
