#include "sql-lite-frontend/catalog/predefined_roles.h"
#include "sql-lite-frontend/session/commands/statements.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/refusals.h"
#include "sql-lite-frontend/statement/row_view.h"
#include "sql-lite-frontend/statement/statement_options.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Runs CHECKPOINT; refuses CLUSTER.
namespace swizzle::sql {

void write_checkpoint(Session::State& session, const ast::CheckPointStmt& /*statement*/) {
  if (!session.rights.owns(kCheckpointRole)) {
    throw SqlError{sqlstate::insufficient_privilege,
                   "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT"};
  }
  value_of(session.shared.engine.checkpoint());
}

void refuse_cluster(Session::State& /*session*/, const ast::ClusterStmt& statement) {
  for (const ast::Node* option : statement.params) {
    const auto& known = ast::as<ast::DefElem>(option);
    if (known.defname != "verbose") refuse_option("CLUSTER", known);
  }
  refuse_statement(statement);
}

}  // namespace swizzle::sql
