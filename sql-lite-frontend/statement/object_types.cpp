#include "sql-lite-frontend/statement/object_types.h"

#include <algorithm>
#include <array>

namespace swizzle::sql {
namespace {

struct ObjectTypeNames {
  ast::ObjectType type;
  std::string_view name;
  std::string_view create;
  std::string_view alter;
  std::string_view drop;
};

// clang-format off
#define OBJECT_TYPE(type, name) {ast::ObjectType::type, name, "CREATE " name, "ALTER " name, "DROP " name}
constexpr std::array kObjectTypes = std::to_array<ObjectTypeNames>({
    OBJECT_TYPE(access_method, "ACCESS METHOD"),
    OBJECT_TYPE(aggregate, "AGGREGATE"),
    OBJECT_TYPE(attribute, "ATTRIBUTE"),
    OBJECT_TYPE(cast, "CAST"),
    OBJECT_TYPE(column, "COLUMN"),
    OBJECT_TYPE(collation, "COLLATION"),
    OBJECT_TYPE(conversion, "CONVERSION"),
    OBJECT_TYPE(database, "DATABASE"),
    OBJECT_TYPE(default_, "DEFAULT"),
    OBJECT_TYPE(defacl, "DEFAULT PRIVILEGES"),
    OBJECT_TYPE(domain, "DOMAIN"),
    OBJECT_TYPE(domconstraint, "CONSTRAINT ON DOMAIN"),
    OBJECT_TYPE(event_trigger, "EVENT TRIGGER"),
    OBJECT_TYPE(extension, "EXTENSION"),
    OBJECT_TYPE(fdw, "FOREIGN DATA WRAPPER"),
    OBJECT_TYPE(foreign_server, "SERVER"),
    OBJECT_TYPE(foreign_table, "FOREIGN TABLE"),
    OBJECT_TYPE(function, "FUNCTION"),
    OBJECT_TYPE(index, "INDEX"),
    OBJECT_TYPE(language, "LANGUAGE"),
    OBJECT_TYPE(largeobject, "LARGE OBJECT"),
    OBJECT_TYPE(matview, "MATERIALIZED VIEW"),
    OBJECT_TYPE(opclass, "OPERATOR CLASS"),
    OBJECT_TYPE(operator_, "OPERATOR"),
    OBJECT_TYPE(opfamily, "OPERATOR FAMILY"),
    OBJECT_TYPE(parameter_acl, "PARAMETER"),
    OBJECT_TYPE(policy, "POLICY"),
    OBJECT_TYPE(procedure, "PROCEDURE"),
    OBJECT_TYPE(publication, "PUBLICATION"),
    OBJECT_TYPE(role, "ROLE"),
    OBJECT_TYPE(routine, "ROUTINE"),
    OBJECT_TYPE(rule, "RULE"),
    OBJECT_TYPE(schema, "SCHEMA"),
    OBJECT_TYPE(sequence, "SEQUENCE"),
    OBJECT_TYPE(subscription, "SUBSCRIPTION"),
    OBJECT_TYPE(statistic_ext, "STATISTICS"),
    OBJECT_TYPE(tabconstraint, "CONSTRAINT"),
    OBJECT_TYPE(table, "TABLE"),
    OBJECT_TYPE(tablespace, "TABLESPACE"),
    OBJECT_TYPE(transform, "TRANSFORM"),
    OBJECT_TYPE(trigger, "TRIGGER"),
    OBJECT_TYPE(tsconfiguration, "TEXT SEARCH CONFIGURATION"),
    OBJECT_TYPE(tsdictionary, "TEXT SEARCH DICTIONARY"),
    OBJECT_TYPE(tsparser, "TEXT SEARCH PARSER"),
    OBJECT_TYPE(tstemplate, "TEXT SEARCH TEMPLATE"),
    OBJECT_TYPE(type, "TYPE"),
    OBJECT_TYPE(user_mapping, "USER MAPPING"),
    OBJECT_TYPE(view, "VIEW"),
});
#undef OBJECT_TYPE
// clang-format on

constexpr ObjectTypeNames kUnknown{ast::ObjectType::undefined, "this kind of object", "CREATE",
                                   "ALTER", "DROP"};

const ObjectTypeNames& names_of(ast::ObjectType type) noexcept {
  const auto* const found = std::ranges::find(kObjectTypes, type, &ObjectTypeNames::type);
  return found == kObjectTypes.end() ? kUnknown : *found;
}

}  // namespace

std::string_view object_type_name(ast::ObjectType type) noexcept {
  return names_of(type).name;
}

std::string_view create_tag(ast::ObjectType type) noexcept {
  return names_of(type).create;
}

std::string_view alter_tag(ast::ObjectType type) noexcept {
  // Parts of an object are altered by their object's statement.
  if (type == ast::ObjectType::attribute) type = ast::ObjectType::type;
  if (type == ast::ObjectType::domconstraint) type = ast::ObjectType::domain;
  if (type == ast::ObjectType::tabconstraint) type = ast::ObjectType::table;
  return names_of(type).alter;
}

std::string_view drop_tag(ast::ObjectType type) noexcept {
  return names_of(type).drop;
}

}  // namespace swizzle::sql
