#pragma once

#include "sql-lite-frontend/ddl/routine_definition.h"

namespace swizzle::sql {

/// What CREATE FUNCTION or CREATE PROCEDURE says, and what the names in it mean now. `whole` has
/// the statement's text; `sink` gets notices.
Routine build_routine(Session::State& session, const ast::CreateFunctionStmt& statement,
                      const Statement& whole, ResultSink& sink);

}  // namespace swizzle::sql
