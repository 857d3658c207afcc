#include "sql-lite-frontend/plpgsql/frame.h"
#include "sql-lite-frontend/session/transactions/inner_transactions.h"

/// COMMIT and ROLLBACK.
namespace swizzle::sql::plpgsql {

Flow TransactionStep::run(Frame& frame) {
  end_transaction_within(frame.session,
                         is_commit ? TransactionEnd::commit : TransactionEnd::rollback,
                         chains ? NextTransaction::same_modes : NextTransaction::plain);
  frame.follow_transaction();
  return Flow::next;
}

}  // namespace swizzle::sql::plpgsql
