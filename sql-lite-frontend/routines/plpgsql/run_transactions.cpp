#include "sql-lite-frontend/routines/plpgsql/frame.h"
#include "sql-lite-frontend/statement/transactions/inner_transactions.h"

/// Runs COMMIT and ROLLBACK.
namespace swizzle::sql::plpgsql {

Flow TransactionStep::run(Frame& frame) {
  frame.session.inner.end_transaction(
      is_commit ? TransactionEnd::commit : TransactionEnd::rollback,
      chains ? NextTransaction::same_modes : NextTransaction::plain);
  frame.follow_transaction();
  return Flow::next;
}

}  // namespace swizzle::sql::plpgsql
