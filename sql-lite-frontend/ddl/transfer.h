#pragma once

#include <string_view>

#include "sql-lite-frontend/session/state/session_state.h"

/// To whom, and to which schema, an object may go.
namespace swizzle::sql {

/// Whom OWNER TO names, where the session may give what lies in `schema` to that role, which must
/// be able to have made it there. Null: `owner` is the owner already. 42501, 42704.
RolePtr require_new_owner(Session::State& session, const ast::RoleSpec& named, Oid owner,
                          Oid schema);
/// The relation, which is locked, becomes that role's, with the rights that its owner had.
TablePtr give_relation(Session::State& session, const Table& table, Oid owner);
/// What SET SCHEMA names, where the session may make things in it. 3F000, 42501.
SchemaPtr require_new_schema(Session::State& session, std::string_view name);

}  // namespace swizzle::sql
