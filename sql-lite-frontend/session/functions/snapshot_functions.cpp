// Numbers of transactions, and their visibility to a snapshot: pg_current_snapshot …
#include "sql-lite-frontend/session/functions/session_functions.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/types/system/pg_snapshot.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

Value number_of_transaction(Execution& execution, Arguments) {
  return Value::from_int(session_of(execution).transaction.numbered());
}
Value number_if_assigned(Execution& execution, Arguments) {
  const std::int64_t number = session_of(execution).transaction.number;
  return number == 0 ? Value::null() : Value::from_int(number);
}

/// Returns the statement's snapshot.
Value current_snapshot(Execution& execution, Arguments) {
  Transaction& transaction = *execution.transaction;
  const ReadView view = transaction.hold_view();
  transaction.release_view(view);
  const TransactionNumbers::Seen seen =
      session_of(execution).shared.transaction_numbers.seen_at(view.lsn);
  std::vector<std::uint64_t> numbers{static_cast<std::uint64_t>(seen.first),
                                     static_cast<std::uint64_t>(seen.behind)};
  numbers.insert(numbers.end(), seen.running.begin(), seen.running.end());
  return make_snapshot(execution.functions.arena, numbers);
}

Value status(Execution& execution, Arguments a) {
  using Status = TransactionNumbers::Status;
  const auto known = session_of(execution).shared.transaction_numbers.status(a[0].as_int8());
  if (!known) return Value::null();
  return make_text(execution.functions.arena, *known == Status::in_progress ? "in progress"
                                              : *known == Status::committed ? "committed"
                                                                            : "aborted");
}

}  // namespace

std::span<const SessionEntry> snapshot_functions() {
  static constexpr SessionEntry kFunctions[] = {
      {"txid_current", number_of_transaction},
      {"pg_current_xact_id", number_of_transaction},
      {"txid_current_if_assigned", number_if_assigned},
      {"pg_current_xact_id_if_assigned", number_if_assigned},
      {"pg_current_snapshot", current_snapshot},
      {"txid_current_snapshot", current_snapshot},
      {"pg_xact_status", status},
      {"txid_status", status},
  };
  return kFunctions;
}

}  // namespace swizzle::sql
