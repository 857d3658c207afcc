#include "sql-lite-frontend/definitions/system_catalog/privileges.h"

#include <algorithm>
#include <cctype>

#include "sql-lite-frontend/catalog/default_grants.h"
#include "sql-lite-frontend/catalog/privileges.h"
#include "sql-lite-frontend/definitions/system_catalog/providers.h"
#include "sql-lite-frontend/definitions/system_catalog/row_values.h"
#include "sql-lite-frontend/statement/statement_context.h"
#include "sql-lite-frontend/types/array/array.h"

/// Rights as the catalogs show them.
namespace swizzle::sql {
namespace {

std::string role_name(const StatementContext& session, Oid role) {
  if (role == kPublic) return {};
  const RolePtr found = session.catalog.role(role);
  return found ? found->name : std::to_string(role);
}

/// A name inside an aclitem: quoted when it is more than letters, digits and underscores.
std::string acl_name(std::string_view name) {
  const bool plain = std::ranges::all_of(name, [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_' || letter >= 0x80;
  });
  if (plain) return std::string{name};
  std::string quoted = "\"";
  for (const char letter : name) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + '"';
}

/// Visibility of PUBLIC's rights: shown to all roles, or to their grantor alone.
enum class Everybodys : std::uint8_t { shown, hidden };

/// A right is visible to its grantor and its grantee, and to roles that have their rights.
bool sees(const StatementContext& session, const AccessList::Entry& entry, Everybodys everybodys) {
  if (entry.grantee == kPublic && everybodys == Everybodys::shown) return true;
  return session.rights.owns(entry.grantor) ||
         (entry.grantee != kPublic && session.rights.owns(entry.grantee));
}

/// Emits one row of table_privileges per right that a role holds.
void emit_rights(Execution& execution, const EmitRow& emit, const Relation& relation,
                 const AccessList& list, std::string_view column, Everybodys everybodys) {
  StatementContext& session = context_of(execution);
  for (const AccessList::Entry& entry : list.entries()) {
    if (!sees(session, entry, everybodys)) continue;
    for (const PrivilegeName& name : privilege_names()) {
      // The standard, whose view this is, knows no MAINTAIN.
      if ((entry.privileges & name.bit & ~privilege::kMaintain) == 0) continue;
      const bool grantable = (entry.options & name.bit) != 0 || entry.grantee == relation.owner;
      const Value grantor = text_value(execution, role_name(session, entry.grantor));
      const Value grantee = text_value(
          execution, entry.grantee == kPublic ? "PUBLIC" : role_name(session, entry.grantee));
      const Value database = text_value(execution, session.options.database);
      const Value schema = text_value(execution, session.names.schema_name(relation.schema));
      const Value table = text_value(execution, relation.name);
      const Value right = text_value(execution, name.name);
      const Value can_grant = text_value(execution, grantable ? "YES" : "NO");
      if (column.empty()) {
        const bool reads = name.bit == privilege::kSelect;
        const Value row[] = {
            grantor, grantee, database,  schema,
            table,   right,   can_grant, text_value(execution, reads ? "YES" : "NO")};
        emit(row);
      } else {
        const Value row[] = {grantor, grantee,  database,
                             schema,  table,    text_value(execution, column),
                             right,   can_grant};
        emit(row);
      }
    }
  }
}

void privileges_on_tables(Execution& execution, const EmitRow& emit, Everybodys everybodys) {
  for (const TablePtr& table : context_of(execution).catalog.tables()) {
    const Relation& relation = table->relation;
    if (relation.kind != RelationKind::table && relation.kind != RelationKind::view) continue;
    emit_rights(execution, emit, relation, {relation.grants, relation.owner, GrantedOn::table}, {},
                everybodys);
  }
}

void table_privileges(Execution& execution, const EmitRow& emit) {
  privileges_on_tables(execution, emit, Everybodys::shown);
}

void role_table_grants(Execution& execution, const EmitRow& emit) {
  privileges_on_tables(execution, emit, Everybodys::hidden);
}

void column_privileges(Execution& execution, const EmitRow& emit) {
  for (const TablePtr& table : context_of(execution).catalog.tables()) {
    const Relation& relation = table->relation;
    if (relation.kind != RelationKind::table && relation.kind != RelationKind::view) continue;
    AccessList whole{relation.grants, relation.owner, GrantedOn::table};
    for (const Column& column : relation.columns) {
      if (column.dropped) continue;
      AccessList list{column.grants, relation.owner, GrantedOn::column};
      // A right to the table is one to each of its columns.
      for (const AccessList::Entry& entry : whole.entries()) {
        const Privileges shared = entry.privileges & all_privileges(GrantedOn::column);
        if (shared == 0) continue;
        list.grant(entry.grantee, entry.grantor, shared, AccessList::GrantOption::without);
        list.grant(entry.grantee, entry.grantor, entry.options & shared,
                   AccessList::GrantOption::with);
      }
      emit_rights(execution, emit, relation, list, column.name, Everybodys::shown);
    }
  }
}

void default_acls(Execution& execution, const EmitRow& emit) {
  Catalog& catalog = context_of(execution).catalog.of_database();
  for (const DefaultGrants& grants : read_default_grants(catalog, *execution.transaction)) {
    const Value row[] = {Value::from_oid(grants.oid), Value::from_oid(grants.role),
                         Value::from_oid(grants.schema), Value::from_int(letter_of(grants.kind)),
                         acl_value(execution, grants.grants)};
    emit(row);
  }
}

}  // namespace

std::string acl_text(const StatementContext& session, const Grant& grant) {
  return acl_name(role_name(session, grant.grantee)) + "=" + grant.privileges + "/" +
         acl_name(role_name(session, grant.grantor));
}

Value acl_value(Execution& execution, std::span<const Grant> grants) {
  if (grants.empty()) return Value::null();
  std::vector<Value> items;
  for (const Grant& grant : grants) {
    if (grant.privileges.empty()) continue;
    items.push_back(text_value(execution, acl_text(context_of(execution), grant)));
  }
  return make_array(execution.row_arena, TypeId::aclitem, items);
}

std::span<const RowProvider> privilege_providers() {
  static const std::vector<RowProvider::Column> kTable{
      {"grantor"},    {"grantee"},        {"table_catalog"}, {"table_schema"},
      {"table_name"}, {"privilege_type"}, {"is_grantable"},  {"with_hierarchy"}};
  static const std::vector<RowProvider> kProviders{
      {kInformationSchema, "table_privileges", kTable, table_privileges},
      {kInformationSchema, "role_table_grants", kTable, role_table_grants},
      {kInformationSchema,
       "column_privileges",
       {{"grantor"},
        {"grantee"},
        {"table_catalog"},
        {"table_schema"},
        {"table_name"},
        {"column_name"},
        {"privilege_type"},
        {"is_grantable"}},
       column_privileges},
      {kPgCatalogSchema,
       "pg_default_acl",
       {{"oid"}, {"defaclrole"}, {"defaclnamespace"}, {"defaclobjtype"}, {"defaclacl"}},
       default_acls},
  };
  return kProviders;
}

}  // namespace swizzle::sql
