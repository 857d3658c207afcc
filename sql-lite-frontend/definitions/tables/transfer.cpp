#include "sql-lite-frontend/definitions/tables/transfer.h"

#include <fmt/format.h>

#include "sql-lite-frontend/definitions/rights/role_rights.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

RolePtr require_new_owner(StatementContext& session, const ast::RoleSpec& named, Oid owner,
                          Oid schema) {
  RolePtr role = role_of(session, named);
  if (role->oid == owner) return nullptr;
  if (session.rights.is_superuser(session.user)) return role;
  session.rights.require_set_role(*role);
  const SchemaPtr place = session.catalog.schema(schema);
  if (place && !session.rights.may(role->oid, *place, privilege::kCreate)) {
    throw_error(sqlstate::insufficient_privilege, "permission denied for schema {}", place->name);
  }
  return role;
}

TablePtr give_relation(StatementContext& session, const Table& table, Oid owner) {
  Relation relation = table.relation;
  if (!relation.grants.empty()) {
    const bool is_sequence = relation.kind == RelationKind::sequence;
    AccessList list{relation.grants, relation.owner,
                    is_sequence ? GrantedOn::sequence : GrantedOn::table};
    list.change_owner(owner);
    relation.grants = list.grants();
  }
  for (Column& column : relation.columns) {
    if (column.grants.empty()) continue;
    AccessList list{column.grants, relation.owner, GrantedOn::column};
    list.change_owner(owner);
    column.grants = list.grants();
  }
  relation.owner = owner;
  return session.catalog.replace(*session.transaction, table, std::move(relation));
}

SchemaPtr require_new_schema(StatementContext& session, std::string_view name) {
  SchemaPtr schema = session.catalog.schema(name);
  if (!schema) {
    throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist", name);
  }
  session.rights.require(*schema, privilege::kCreate);
  if (schema->oid == kPgCatalogSchema) {
    throw SqlError{sqlstate::feature_not_supported,
                   "cannot move objects into or out of system schemas"};
  }
  return schema;
}

}  // namespace swizzle::sql
