#pragma once

#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

/// DROP OWNED BY: drops the objects that the roles own in this database, and revokes the privileges
/// granted to them.
void drop_owned(Session::State& session, const ast::DropOwnedStmt& statement, ResultSink& sink);
/// REASSIGN OWNED BY: gives the objects that the roles own, databases too, another owner.
void reassign_owned(Session::State& session, const ast::ReassignOwnedStmt& statement,
                    ResultSink& sink);

}  // namespace swizzle::sql
