#pragma once

#include "sql-lite-frontend/session/state/session_state.h"

namespace swizzle::sql {

/// DROP OWNED BY: what the roles own in this database goes, and so does what they have been
/// granted.
void drop_owned(Session::State& session, const ast::DropOwnedStmt& statement, ResultSink& sink);
/// REASSIGN OWNED BY: what the roles own, databases too, gets another owner.
void reassign_owned(Session::State& session, const ast::ReassignOwnedStmt& statement,
                    ResultSink& sink);

}  // namespace swizzle::sql
