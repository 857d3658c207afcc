#pragma once

#include "sql-lite-frontend/definitions/routines/routine_definition.h"
#include "sql-lite-frontend/query/bind/binder.h"

namespace swizzle::sql {

/// Builds the routine of CREATE FUNCTION or CREATE PROCEDURE; resolves the names in it. `whole` has
/// the statement's text; `sink` gets notices.
Routine build_routine(StatementContext& session, const ast::CreateFunctionStmt& statement,
                      const Statement& whole, ResultSink& sink);
/// Binds a statement of an atomic body. Throws 0A000 for a statement that is not allowed there.
void bind_body_statement(Binder& binder, const ast::Node* node);

}  // namespace swizzle::sql
