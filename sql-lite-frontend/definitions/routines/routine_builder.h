#pragma once

#include <functional>

#include "sql-lite-frontend/definitions/routines/routine_definition.h"
#include "sql-lite-frontend/query/bind/binder.h"
#include "sql-lite-frontend/routines/body.h"

namespace swizzle::sql {

/// Builds the routine of CREATE FUNCTION or CREATE PROCEDURE; resolves the names in it. `whole` has
/// the statement's text; `sink` gets notices.
Routine build_routine(StatementContext& session, const ast::CreateFunctionStmt& statement,
                      const Statement& whole, ResultSink& sink);
/// Binds the statements of an atomic body one after the other, and calls `bound` for each. Throws
/// 0A000 for a statement that is not allowed there.
void bind_body(StatementContext& session, const Routine& routine, const BodyNames& names,
               const std::function<void(const BodyPart&, Binder&)>& bound);

}  // namespace swizzle::sql
