#include "sql-lite-frontend/session/inner_transactions.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kInvalidTermination{"2D000"};

}  // namespace

void end_transaction_within(Session::State& session, TransactionEnd end, NextTransaction next) {
  const bool commits = end == TransactionEnd::commit;
  if (!session.may_end_transaction) {
    throw SqlError{kInvalidTermination, "invalid transaction termination"};
  }
  if (session.guarded_blocks > 0) {
    throw_error(kInvalidTermination, "cannot {} while a subtransaction is active",
                commits ? "commit" : "roll back");
  }
  for (PinnedRows* const rows : session.pinned_rows) rows->hold();
  hold_pinned_cursors(session);
  const Isolation isolation = session.isolation;
  const bool says_uncommitted = session.says_uncommitted;
  const bool read_only = session.read_only;
  const bool deferrable = session.deferrable;
  if (commits) {
    session.commit_transaction();
  } else {
    session.rollback_transaction();
  }
  session.begin_transaction(Session::State::Block::implicit);
  // The statement goes on, but what it does from here on is of another time.
  session.session_context.transaction_timestamp = SessionContext::system_clock_now();
  if (next == NextTransaction::plain) return;
  session.isolation = isolation;
  session.says_uncommitted = says_uncommitted;
  session.read_only = read_only;
  session.deferrable = deferrable;
  session.set_transaction_modes({});
}

}  // namespace swizzle::sql
