#include "sql-lite-frontend/statement/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <utility>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using ast::ObjectType;
constexpr std::array kObjectTypes = std::to_array<std::pair<ObjectType, std::string_view>>({
    {ObjectType::access_method, "ACCESS METHOD"},
    {ObjectType::aggregate, "AGGREGATE"},
    {ObjectType::attribute, "ATTRIBUTE"},
    {ObjectType::cast, "CAST"},
    {ObjectType::column, "COLUMN"},
    {ObjectType::collation, "COLLATION"},
    {ObjectType::conversion, "CONVERSION"},
    {ObjectType::database, "DATABASE"},
    {ObjectType::default_, "DEFAULT"},
    {ObjectType::defacl, "DEFAULT PRIVILEGES"},
    {ObjectType::domain, "DOMAIN"},
    {ObjectType::domconstraint, "CONSTRAINT ON DOMAIN"},
    {ObjectType::event_trigger, "EVENT TRIGGER"},
    {ObjectType::extension, "EXTENSION"},
    {ObjectType::fdw, "FOREIGN DATA WRAPPER"},
    {ObjectType::foreign_server, "SERVER"},
    {ObjectType::foreign_table, "FOREIGN TABLE"},
    {ObjectType::function, "FUNCTION"},
    {ObjectType::index, "INDEX"},
    {ObjectType::language, "LANGUAGE"},
    {ObjectType::largeobject, "LARGE OBJECT"},
    {ObjectType::matview, "MATERIALIZED VIEW"},
    {ObjectType::opclass, "OPERATOR CLASS"},
    {ObjectType::operator_, "OPERATOR"},
    {ObjectType::opfamily, "OPERATOR FAMILY"},
    {ObjectType::parameter_acl, "PARAMETER"},
    {ObjectType::policy, "POLICY"},
    {ObjectType::procedure, "PROCEDURE"},
    {ObjectType::publication, "PUBLICATION"},
    {ObjectType::role, "ROLE"},
    {ObjectType::routine, "ROUTINE"},
    {ObjectType::rule, "RULE"},
    {ObjectType::schema, "SCHEMA"},
    {ObjectType::sequence, "SEQUENCE"},
    {ObjectType::subscription, "SUBSCRIPTION"},
    {ObjectType::statistic_ext, "STATISTICS"},
    {ObjectType::tabconstraint, "CONSTRAINT"},
    {ObjectType::table, "TABLE"},
    {ObjectType::tablespace, "TABLESPACE"},
    {ObjectType::transform, "TRANSFORM"},
    {ObjectType::trigger, "TRIGGER"},
    {ObjectType::tsconfiguration, "TEXT SEARCH CONFIGURATION"},
    {ObjectType::tsdictionary, "TEXT SEARCH DICTIONARY"},
    {ObjectType::tsparser, "TEXT SEARCH PARSER"},
    {ObjectType::tstemplate, "TEXT SEARCH TEMPLATE"},
    {ObjectType::type, "TYPE"},
    {ObjectType::user_mapping, "USER MAPPING"},
    {ObjectType::view, "VIEW"},
});

using ast::NodeKind;
constexpr std::array kStatements = std::to_array<std::pair<NodeKind, std::string_view>>({
    {NodeKind::alter_database_set_stmt, "ALTER DATABASE SET"},
    {NodeKind::alter_default_privileges_stmt, "ALTER DEFAULT PRIVILEGES"},
    {NodeKind::alter_domain_stmt, "ALTER DOMAIN"},
    {NodeKind::alter_event_trig_stmt, "ALTER EVENT TRIGGER"},
    {NodeKind::alter_extension_contents_stmt, "ALTER EXTENSION … ADD and DROP"},
    {NodeKind::alter_fdw_stmt, "ALTER FOREIGN DATA WRAPPER"},
    {NodeKind::alter_foreign_server_stmt, "ALTER SERVER"},
    {NodeKind::alter_function_stmt, "ALTER FUNCTION"},
    {NodeKind::alter_object_depends_stmt, "ALTER DEPENDS ON EXTENSION"},
    {NodeKind::alter_op_family_stmt, "ALTER OPERATOR FAMILY"},
    {NodeKind::alter_role_set_stmt, "ALTER ROLE SET"},
    {NodeKind::alter_stats_stmt, "ALTER STATISTICS"},
    {NodeKind::alter_subscription_stmt, "ALTER SUBSCRIPTION"},
    {NodeKind::alter_system_stmt, "ALTER SYSTEM"},
    {NodeKind::alter_table_move_all_stmt, "ALTER TABLE ALL IN TABLESPACE"},
    {NodeKind::alter_table_space_options_stmt, "ALTER TABLESPACE"},
    {NodeKind::alter_type_stmt, "ALTER TYPE"},
    {NodeKind::alter_user_mapping_stmt, "ALTER USER MAPPING"},
    {NodeKind::call_stmt, "CALL"},
    {NodeKind::cluster_stmt, "CLUSTER"},
    {NodeKind::composite_type_stmt, "CREATE TYPE"},
    {NodeKind::create_am_stmt, "CREATE ACCESS METHOD"},
    {NodeKind::create_conversion_stmt, "CREATE CONVERSION"},
    {NodeKind::create_domain_stmt, "CREATE DOMAIN"},
    {NodeKind::create_event_trig_stmt, "CREATE EVENT TRIGGER"},
    {NodeKind::create_fdw_stmt, "CREATE FOREIGN DATA WRAPPER"},
    {NodeKind::create_foreign_server_stmt, "CREATE SERVER"},
    {NodeKind::create_foreign_table_stmt, "CREATE FOREIGN TABLE"},
    {NodeKind::create_function_stmt, "CREATE FUNCTION"},
    {NodeKind::create_op_class_stmt, "CREATE OPERATOR CLASS"},
    {NodeKind::create_op_family_stmt, "CREATE OPERATOR FAMILY"},
    {NodeKind::create_plang_stmt, "CREATE LANGUAGE"},
    {NodeKind::create_range_stmt, "CREATE TYPE"},
    {NodeKind::create_stats_stmt, "CREATE STATISTICS"},
    {NodeKind::create_subscription_stmt, "CREATE SUBSCRIPTION"},
    {NodeKind::create_table_space_stmt, "CREATE TABLESPACE"},
    {NodeKind::create_transform_stmt, "CREATE TRANSFORM"},
    {NodeKind::create_trig_stmt, "CREATE TRIGGER"},
    {NodeKind::create_user_mapping_stmt, "CREATE USER MAPPING"},
    {NodeKind::drop_subscription_stmt, "DROP SUBSCRIPTION"},
    {NodeKind::drop_table_space_stmt, "DROP TABLESPACE"},
    {NodeKind::drop_user_mapping_stmt, "DROP USER MAPPING"},
    {NodeKind::import_foreign_schema_stmt, "IMPORT FOREIGN SCHEMA"},
    {NodeKind::load_stmt, "LOAD"},
    {NodeKind::merge_stmt, "MERGE"},
    {NodeKind::rule_stmt, "CREATE RULE"},
    {NodeKind::sec_label_stmt, "SECURITY LABEL"},
    {NodeKind::select_stmt, "SELECT INTO"},
    {NodeKind::return_stmt, "RETURN"},
    {NodeKind::plassign_stmt, "assignment"},
});

/// Hints at an alternative, where there is one.
constexpr std::array kHints = std::to_array<std::pair<NodeKind, std::string_view>>({
    {NodeKind::cluster_stmt, "A table's rows lie in the order of its primary key already."},
    {NodeKind::create_am_stmt, "Tables and indexes have the access methods that pg_am lists."},
    {NodeKind::create_event_trig_stmt, "A trigger on a table sees changes of its rows."},
    {NodeKind::create_fdw_stmt, "Other servers' tables can be copied with COPY."},
    {NodeKind::create_foreign_server_stmt, "Other servers' tables can be copied with COPY."},
    {NodeKind::create_foreign_table_stmt, "Other servers' tables can be copied with COPY."},
    {NodeKind::create_plang_stmt, "Functions are written in SQL or PL/pgSQL."},
    {NodeKind::create_stats_stmt, "ANALYZE looks at each column by itself."},
    {NodeKind::create_subscription_stmt,
     "A publication here can be subscribed to from PostgreSQL, not the other way round."},
    {NodeKind::create_table_space_stmt, "All data is in the data directory."},
    {NodeKind::merge_stmt, "Use INSERT … ON CONFLICT, or UPDATE and INSERT."},
    {NodeKind::rule_stmt, "Use a trigger; on a view, an INSTEAD OF trigger."},
});

using ast::AlterTableType;
constexpr std::array kAlterForms = std::to_array<std::pair<AlterTableType, std::string_view>>({
    {AlterTableType::setcompression, "SET COMPRESSION"},
    {AlterTableType::alterconstraint, "ALTER CONSTRAINT"},
    {AlterTableType::altercolumngenericoptions, "OPTIONS"},
    {AlterTableType::clusteron, "CLUSTER ON"},
    {AlterTableType::dropcluster, "SET WITHOUT CLUSTER"},
    {AlterTableType::dropoids, "SET WITHOUT OIDS"},
    {AlterTableType::setaccessmethod, "SET ACCESS METHOD"},
    {AlterTableType::settablespace, "SET TABLESPACE"},
    {AlterTableType::enabletrig, "ENABLE TRIGGER"},
    {AlterTableType::enablealwaystrig, "ENABLE ALWAYS TRIGGER"},
    {AlterTableType::enablereplicatrig, "ENABLE REPLICA TRIGGER"},
    {AlterTableType::disabletrig, "DISABLE TRIGGER"},
    {AlterTableType::enabletrigall, "ENABLE TRIGGER ALL"},
    {AlterTableType::disabletrigall, "DISABLE TRIGGER ALL"},
    {AlterTableType::enabletriguser, "ENABLE TRIGGER USER"},
    {AlterTableType::disabletriguser, "DISABLE TRIGGER USER"},
    {AlterTableType::enablerule, "ENABLE RULE"},
    {AlterTableType::enablealwaysrule, "ENABLE ALWAYS RULE"},
    {AlterTableType::enablereplicarule, "ENABLE REPLICA RULE"},
    {AlterTableType::disablerule, "DISABLE RULE"},
    {AlterTableType::addinherit, "INHERIT"},
    {AlterTableType::dropinherit, "NO INHERIT"},
    {AlterTableType::addof, "OF"},
    {AlterTableType::dropof, "NOT OF"},
    {AlterTableType::genericoptions, "OPTIONS"},
    {AlterTableType::attachpartition, "ATTACH PARTITION"},
    {AlterTableType::detachpartition, "DETACH PARTITION"},
    {AlterTableType::detachpartitionfinalize, "DETACH PARTITION FINALIZE"},
});

template <class Table, class Key>
std::string_view lookup(const Table& table, Key key) noexcept {
  for (const auto& [known, name] : table) {
    if (known == key) return name;
  }
  return {};
}

}  // namespace

std::string_view object_type_name(ObjectType type) noexcept {
  const std::string_view name = lookup(kObjectTypes, type);
  return name.empty() ? "this kind of object" : name;
}

std::string_view alter_form_name(AlterTableType type) noexcept {
  const std::string_view name = lookup(kAlterForms, type);
  return name.empty() ? "in this form" : name;
}

std::string_view refused_statement_name(NodeKind kind) noexcept {
  return lookup(kStatements, kind);
}

namespace {

/// "a.b", as it was written.
std::string written_name(ast::NodeList parts) {
  std::string name;
  for (const ast::Node* part : parts) {
    const auto* text = ast::try_as<ast::String>(part);
    if (text == nullptr) return {};
    if (!name.empty()) name += '.';
    name += text->sval;
  }
  return name;
}

std::string written_name(const ast::RangeVar* relation) {
  if (relation == nullptr) return {};
  return relation->schemaname.empty()
             ? std::string{relation->relname}
             : fmt::format("{}.{}", relation->schemaname, relation->relname);
}

/// The name that `field` of the statement has, where it is such a one.
template <class Statement, class Field>
std::optional<std::string> named(const ast::Node& node, Field Statement::* field) {
  const auto* statement = ast::try_as<Statement>(&node);
  if (statement == nullptr) return std::nullopt;
  if constexpr (std::is_same_v<Field, std::string_view>) {
    return std::string{statement->*field};
  } else {
    return written_name(statement->*field);
  }
}

template <class... Fields>
std::string first_named(const ast::Node& node, Fields... fields) {
  std::optional<std::string> name;
  static_cast<void>(((name = named(node, fields)).has_value() || ...));
  return name.value_or("");
}

/// Returns the name of the object that a refused statement is about; empty if it has none.
std::string object_of(const ast::Node& node) {
  if (const auto* table = ast::try_as<ast::CreateForeignTableStmt>(&node))
    return table->base_stmt == nullptr ? std::string{} : written_name(table->base_stmt->relation);
  return first_named(
      node, &ast::CreateEventTrigStmt::trigname, &ast::AlterEventTrigStmt::trigname,
      &ast::RuleStmt::rulename, &ast::CreateStatsStmt::defnames, &ast::AlterStatsStmt::defnames,
      &ast::CreateFdwStmt::fdwname, &ast::AlterFdwStmt::fdwname,
      &ast::CreateForeignServerStmt::servername, &ast::AlterForeignServerStmt::servername,
      &ast::ImportForeignSchemaStmt::remote_schema, &ast::CreateAmStmt::amname,
      &ast::CreatePLangStmt::plname, &ast::CreateTableSpaceStmt::tablespacename,
      &ast::DropTableSpaceStmt::tablespacename, &ast::CreateSubscriptionStmt::subname,
      &ast::AlterSubscriptionStmt::subname, &ast::DropSubscriptionStmt::subname,
      &ast::LoadStmt::filename, &ast::ClusterStmt::relation,
      &ast::CreateConversionStmt::conversion_name, &ast::CreateOpClassStmt::opclassname,
      &ast::CreateOpFamilyStmt::opfamilyname, &ast::AlterOpFamilyStmt::opfamilyname,
      &ast::AlterTSConfigurationStmt::cfgname, &ast::AlterTypeStmt::type_name);
}

}  // namespace

void refuse_statement(const ast::Node& statement) {
  std::string_view name = refused_statement_name(statement.node_kind);
  if (name.empty()) name = ast::node_name(statement.node_kind);
  const std::string object = object_of(statement);
  SqlError error =
      object.empty()
          ? sql_error(sqlstate::feature_not_supported, "{} is not supported", name)
          : sql_error(sqlstate::feature_not_supported, "{} {} is not supported", name, object);
  const std::string_view hint = lookup(kHints, statement.node_kind);
  if (hint.empty()) throw std::move(error);
  throw std::move(error).with_hint(std::string{hint});
}

}  // namespace swizzle::sql
