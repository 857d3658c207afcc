#pragma once

#include <string_view>

#include "sql-lite-frontend/statement/statement_context.h"

/// Checks for new owners and new schemas of objects.
namespace swizzle::sql {

/// Returns the role of OWNER TO, if the session may give an object of `schema` to it; the role must
/// have the right to create objects there. Null: `owner` is the owner already. 42501, 42704.
RolePtr require_new_owner(StatementContext& session, const ast::RoleSpec& named, Oid owner,
                          Oid schema);
/// The relation, which is locked, becomes that role's, with the rights that its owner had.
TablePtr give_relation(StatementContext& session, const Table& table, Oid owner);
/// Returns the schema of SET SCHEMA, if the session may create objects in it. 3F000, 42501.
SchemaPtr require_new_schema(StatementContext& session, std::string_view name);

}  // namespace swizzle::sql
