#pragma once

#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// DROP OWNED BY: drops the objects that the roles own in this database, and revokes the privileges
/// granted to them.
void drop_owned(StatementContext& session, const ast::DropOwnedStmt& statement, ResultSink& sink);
/// REASSIGN OWNED BY: changes the owner of the roles' objects, including databases.
void reassign_owned(StatementContext& session, const ast::ReassignOwnedStmt& statement);

}  // namespace swizzle::sql
