#include "sql-lite-frontend/statement/transactions/statement_transaction.h"

#include <algorithm>

#include "sql-lite-frontend/statement/transactions/transaction_states.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

void StatementTransaction::begin_statement() {
  engine_->begin_statement();
  take_snapshot();
}

void StatementTransaction::begin_definition() {
  engine_->begin_statement();
  any_statement_ = true;
}

void StatementTransaction::take_snapshot() {
  any_statement_ = true;
  if (modes_.isolation == Isolation::read_committed) [[likely]]
    return;
  if (is_on_standby_ && modes_.isolation == Isolation::serializable) {
    throw SqlError{sqlstate::feature_not_supported, "cannot use serializable mode in a hot standby"}
        .with_detail("\"default_transaction_isolation\" is set to \"serializable\".")
        .with_hint(
            "You can use \"SET default_transaction_isolation = 'repeatable read'\" to change "
            "the default.");
  }
  if (modes_.isolation == Isolation::serializable && modes_.read_only) {
    if (modes_.deferrable) return wait_for_safe_snapshot();
    engine_->promise_no_writes();
  }
  engine_->take_snapshot();
}

void StatementTransaction::prevent_in_block(std::string_view command) {
  if (in_block()) {
    throw_error(sqlstate::active_sql_transaction, "{} cannot run inside a transaction block",
                command);
  }
}

void StatementTransaction::require_read_write(std::string_view command) {
  if (!modes_.read_only) return;
  throw_error(sqlstate::read_only_transaction, "cannot execute {} in a read-only transaction",
              command);
}

void StatementTransaction::prevent_on_standby(std::string_view command) const {
  if (!is_on_standby_) return;
  throw_error(sqlstate::read_only_transaction, "cannot execute {} during recovery", command);
}

bool StatementTransaction::is_deferred(Oid constraint, bool initially) const {
  const auto mode = constraint_modes_.deferred.find(constraint);
  if (mode != constraint_modes_.deferred.end()) return mode->second;
  return constraint_modes_.all_deferred.value_or(initially);
}

void StatementTransaction::note_temporaries(std::span<const TablePtr> tables) noexcept {
  for (const TablePtr& table : tables) {
    if (table->relation.persistence == Persistence::temporary) used_temporaries_ = true;
  }
}

}  // namespace swizzle::sql
