#pragma once

#include <span>

#include "sql-lite-frontend/statement/statement_context.h"

/// CALL and DO.
namespace swizzle::sql {

void call_procedure(StatementContext& session, const ast::CallStmt& statement,
                    std::span<const TypeId> types, std::span<const Value> parameters,
                    ResultSink& sink);
/// Executes DO.
void run_inline_code(StatementContext& session, const ast::DoStmt& statement,
                     const Statement& whole);

}  // namespace swizzle::sql
