#include <algorithm>

#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/transactions/two_phase.h"
#include "sql-lite-frontend/statement/transactions/transaction_states.h"

/// BEGIN, COMMIT, ROLLBACK, savepoints, and the commands of two-phase commit.
namespace swizzle::sql {

void SessionTransaction::run(const ast::TransactionStmt& statement, ResultSink& sink) {
  using Kind = ast::TransactionStmtKind;
  switch (statement.kind) {
    case Kind::begin:
    case Kind::start:
      begin_block(statement, sink);
      return;
    case Kind::commit:
    case Kind::rollback:
      end_block(statement, sink);
      return;
    case Kind::savepoint:
      if (!in_explicit_block()) {
        throw SqlError{sqlstate::no_active_sql_transaction,
                       "SAVEPOINT can only be used in transaction blocks"};
      }
      count_savepoint();
      savepoints_.push_back(mark(std::string{statement.savepoint_name}));
      sink.command_complete("SAVEPOINT");
      return;
    case Kind::release:
    case Kind::rollback_to:
      end_savepoint(statement, sink);
      return;
    case Kind::prepare:
      prevent_on_standby("PREPARE TRANSACTION");
      return prepare(statement.gid, sink);
    case Kind::commit_prepared:
      prevent_on_standby("COMMIT PREPARED");
      return finish_prepared(session_, statement.gid, PreparedEnd::commit, sink);
    case Kind::rollback_prepared:
      prevent_on_standby("ROLLBACK PREPARED");
      return finish_prepared(session_, statement.gid, PreparedEnd::rollback, sink);
    case Kind::undefined:
      break;
  }
}

void SessionTransaction::begin_block(const ast::TransactionStmt& statement, ResultSink& sink) {
  if (in_explicit_block()) {
    session_.notice(sink, Severity::warning, sqlstate::active_sql_transaction,
                    "there is already a transaction in progress");
  }
  begin(Block::explicit_block);
  set_modes(statement.options);
  sink.command_complete(statement.kind == ast::TransactionStmtKind::begin ? "BEGIN"
                                                                          : "START TRANSACTION");
}

void SessionTransaction::end_block(const ast::TransactionStmt& statement, ResultSink& sink) {
  const bool commits = statement.kind == ast::TransactionStmtKind::commit;
  if (!in_explicit_block()) {
    if (statement.chain) {
      throw_error(sqlstate::no_active_sql_transaction,
                  "{} AND CHAIN can only be used in transaction blocks",
                  commits ? "COMMIT" : "ROLLBACK");
    }
    session_.notice(sink, Severity::warning, sqlstate::no_active_sql_transaction,
                    "there is no transaction in progress");
  }
  const bool is_kept = commits && !failed_;
  const TransactionModes before = modes_;
  if (commits) {
    commit();
  } else {
    rollback();
  }
  if (statement.chain) {
    begin(Block::explicit_block);
    act_as(before);
  }
  sink.command_complete(is_kept ? "COMMIT" : "ROLLBACK");
}

void SessionTransaction::end_savepoint(const ast::TransactionStmt& statement, ResultSink& sink) {
  const bool release = statement.kind == ast::TransactionStmtKind::release;
  if (!in_explicit_block()) {
    throw SqlError{sqlstate::no_active_sql_transaction,
                   release ? "RELEASE SAVEPOINT can only be used in transaction blocks"
                           : "ROLLBACK TO SAVEPOINT can only be used in transaction blocks"};
  }
  const auto found = std::ranges::find(savepoints_.rbegin(), savepoints_.rend(),
                                       statement.savepoint_name, &Savepoint::name);
  if (found == savepoints_.rend()) {
    throw_error(sqlstate::invalid_savepoint, "savepoint \"{}\" does not exist",
                statement.savepoint_name);
  }
  const auto at = found.base() - 1;
  if (release) {
    // As in PostgreSQL, READ ONLY was set only for the part that ends here.
    modes_.read_only = at->read_only;
    savepoints_.erase(at, savepoints_.end());
  } else {
    const Savepoint savepoint = *at;
    savepoints_.erase(at + 1, savepoints_.end());
    roll_back_to(savepoint);
    failed_ = false;
  }
  sink.command_complete(release ? "RELEASE" : "ROLLBACK");
}

}  // namespace swizzle::sql
