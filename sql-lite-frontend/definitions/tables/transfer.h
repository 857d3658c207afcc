#pragma once

#include <string_view>

#include "sql-lite-frontend/statement/statement_context.h"

/// Checks of OWNER TO and SET SCHEMA.
namespace swizzle::sql {

/// Returns the role of OWNER TO if the session may make it the owner of an object in `schema`; the
/// role needs CREATE on the schema. Null: `owner` is that role already. Throws 42501, 42704.
RolePtr require_new_owner(StatementContext& session, const ast::RoleSpec& named, Oid owner,
                          Oid schema);
/// Changes the owner of the relation, which is locked, and in its grants.
TablePtr give_relation(StatementContext& session, const Table& table, Oid owner);
/// Returns the schema of SET SCHEMA if the session may create objects in it. Throws 3F000, 42501.
SchemaPtr require_new_schema(StatementContext& session, std::string_view name);

}  // namespace swizzle::sql
