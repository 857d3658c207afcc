#pragma once

#include "sql-lite-frontend/session/state/session_state.h"

/// CREATE, ALTER and DROP SUBSCRIPTION: `statement/statement_kinds.inc` calls them.
namespace swizzle::sql {

void create_subscription(Session::State& session, const ast::CreateSubscriptionStmt& statement,
                         ResultSink& sink);
void alter_subscription(Session::State& session, const ast::AlterSubscriptionStmt& statement,
                        ResultSink& sink);
void drop_subscription(Session::State& session, const ast::DropSubscriptionStmt& statement,
                       ResultSink& sink);

}  // namespace swizzle::sql
