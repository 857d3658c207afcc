#include "sql-lite-frontend/session/transactions/inner_transactions.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kInvalidTermination{"2D000"};

}  // namespace

void end_transaction_within(Session::State& session, TransactionEnd end, NextTransaction next) {
  const bool commits = end == TransactionEnd::commit;
  if (!session.transaction.may_end) {
    throw SqlError{kInvalidTermination, "invalid transaction termination"};
  }
  if (session.transaction.guarded_blocks > 0) {
    throw_error(kInvalidTermination, "cannot {} while a subtransaction is active",
                commits ? "commit" : "roll back");
  }
  for (PinnedRows* const rows : session.transaction.pinned_rows) rows->hold();
  session.portals.hold_pinned();
  const TransactionModes modes = session.transaction.modes();
  if (commits) {
    session.transaction.commit();
  } else {
    session.transaction.rollback();
  }
  session.transaction.begin(SessionTransaction::Block::implicit);
  // The statement goes on, but what it does from here on is of another time.
  session.session_context.transaction_timestamp = SessionContext::system_clock_now();
  if (next == NextTransaction::same_modes) session.transaction.act_as(modes);
}

}  // namespace swizzle::sql
