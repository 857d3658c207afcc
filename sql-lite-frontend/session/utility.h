#pragma once

#include <span>

#include "sql-lite-frontend/session/state/session_state.h"

/// Services of commands/ for the session.
namespace swizzle::sql {

void run_utility(Session::State& session, const ast::Node* node, Statement& statement,
                 std::span<const Value> parameters, ResultSink& sink);

}  // namespace swizzle::sql
