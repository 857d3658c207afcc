#include "sql-lite-frontend/session/commands/statements.h"

/// DISCARD.
namespace swizzle::sql {

void discard_state(Session::State& session, const ast::DiscardStmt& statement, ResultSink& sink) {
  switch (statement.target) {
    case ast::DiscardMode::all:
      session.portals.close_all();
      session.settings.reset_all();
      session.variables.changed(&sink);
      session.notifications.unlisten_all();
      session.shared.advisory_locks.unlock_all(session.options.backend_pid, AdvisoryScope::session);
      session.statements.clear();
      session.plans.forget_texts();
      session.drop_owned_temporaries();
      session.sequence_uses.clear();
      session.last_sequence.reset();
      return;
    case ast::DiscardMode::plans:
      session.plans.forget_texts();
      return;
    case ast::DiscardMode::sequences:
      session.sequence_uses.clear();
      session.last_sequence.reset();
      return;
    default:
      session.drop_owned_temporaries();
      return;
  }
}

}  // namespace swizzle::sql
