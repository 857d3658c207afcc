#pragma once

#include <span>

#include "sql-lite-frontend/session/state/session_state.h"

/// The statements that run routines.
namespace swizzle::sql {

void call_procedure(Session::State& session, const ast::CallStmt& statement,
                    std::span<const TypeId> types, std::span<const Value> parameters,
                    ResultSink& sink);
/// DO.
void run_inline_code(Session::State& session, const ast::DoStmt& statement, const Statement& whole,
                     ResultSink& sink);

}  // namespace swizzle::sql
