#include "sql-lite-frontend/session/refusals.h"

#include <algorithm>
#include <array>
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
    {NodeKind::alter_policy_stmt, "ALTER POLICY"},
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
    {NodeKind::create_policy_stmt, "CREATE POLICY"},
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

using ast::AlterTableType;
constexpr std::array kAlterForms = std::to_array<std::pair<AlterTableType, std::string_view>>({
    {AlterTableType::setcompression, "SET COMPRESSION"},
    {AlterTableType::alterconstraint, "ALTER CONSTRAINT"},
    {AlterTableType::altercolumngenericoptions, "OPTIONS"},
    {AlterTableType::clusteron, "CLUSTER ON"},
    {AlterTableType::dropcluster, "SET WITHOUT CLUSTER"},
    {AlterTableType::setlogged, "SET LOGGED"},
    {AlterTableType::setunlogged, "SET UNLOGGED"},
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
    {AlterTableType::enablerowsecurity, "ENABLE ROW LEVEL SECURITY"},
    {AlterTableType::disablerowsecurity, "DISABLE ROW LEVEL SECURITY"},
    {AlterTableType::forcerowsecurity, "FORCE ROW LEVEL SECURITY"},
    {AlterTableType::noforcerowsecurity, "NO FORCE ROW LEVEL SECURITY"},
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

void refuse_statement(const ast::Node& statement) {
  std::string_view name = refused_statement_name(statement.node_kind);
  if (name.empty()) name = ast::node_name(statement.node_kind);
  throw_error(sqlstate::feature_not_supported, "{} is not supported", name);
}

}  // namespace swizzle::sql
