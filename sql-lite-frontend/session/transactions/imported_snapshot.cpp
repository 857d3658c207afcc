#include <fmt/format.h>

#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/transactions/transaction_states.h"
#include "storage/logical/logical_log.h"

/// pg_export_snapshot and SET TRANSACTION SNAPSHOT.
namespace swizzle::sql {

std::string ExportedSnapshots::name_of(std::uint64_t number) {
  // As PostgreSQL's look, which some clients look at.
  return fmt::format("{:08X}-{:08X}-1", number >> 32U, number & UINT32_MAX);
}

void SessionTransaction::import_snapshot(std::string_view name) {
  if (any_statement_) {
    throw SqlError{sqlstate::active_sql_transaction,
                   "SET TRANSACTION SNAPSHOT must be called before any query"};
  }
  if (modes_.isolation == Isolation::read_committed) {
    throw SqlError{sqlstate::feature_not_supported,
                   "a snapshot-importing transaction must have isolation level SERIALIZABLE or "
                   "REPEATABLE READ"};
  }
  if (modes_.isolation == Isolation::serializable) {
    throw SqlError{sqlstate::feature_not_supported,
                   "a serializable transaction cannot import a snapshot from a non-serializable "
                   "transaction"};
  }
  bool is_elsewhere = false;
  const bool is_known =
      session_.shared.exported_snapshots.with(name, [&](const ExportedSnapshots::Exported& found) {
        is_elsewhere = found.database != session_.catalog.shared().database();
        if (!is_elsewhere) LogicalLog::adopt_view(*engine_, found.view);
      });
  if (!is_known) {
    throw_error(sqlstate::invalid_parameter_value, "invalid snapshot identifier: \"{}\"", name);
  }
  if (is_elsewhere) {
    throw SqlError{sqlstate::feature_not_supported,
                   "cannot import a snapshot from a different database"};
  }
  any_statement_ = true;
}

std::string SessionTransaction::export_snapshot() {
  if (!savepoints_.empty() || guarded_blocks != 0)
    throw SqlError{sqlstate::active_sql_transaction,
                   "cannot export a snapshot from a subtransaction"};
  Export made;
  Transaction* of = engine_.get();
  // The snapshot of a statement ends with it, and a transaction that locks its reads has none.
  if (engine_isolation() != Isolation::repeatable_read) {
    made.held = session_.shared.engine.begin(Isolation::repeatable_read, Access::read_only);
    of = made.held.get();
  }
  exports_.reserve(exports_.size() + 1);
  made.name = session_.shared.exported_snapshots.add(
      {session_.catalog.shared().database(), LogicalLog::view_of(*of)});
  exports_.push_back(std::move(made));
  return exports_.back().name;
}

void SessionTransaction::end_exports() noexcept {
  for (const Export& exported : exports_) session_.shared.exported_snapshots.remove(exported.name);
  exports_.clear();
}

}  // namespace swizzle::sql
