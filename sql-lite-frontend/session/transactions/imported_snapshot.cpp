#include <fmt/format.h>

#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/transactions/transaction_states.h"
#include "storage/logical/logical_log.h"

/// pg_export_snapshot and SET TRANSACTION SNAPSHOT.
namespace swizzle::sql {

std::string ExportedSnapshots::name_of(std::uint64_t number) {
  // Formatted as in PostgreSQL, because some clients check the form.
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
        is_elsewhere = found.database != session_.catalog.of_database().database();
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
  constexpr std::size_t kBytesOfExport = 512;
  Export& made = exports_.emplace_back();
  try {
    made.share.set(&session_.memory, kBytesOfExport);
    ReadView view;
    if (keeps_snapshot(engine_isolation())) {
      view = LogicalLog::view_of(*engine_);
    } else {
      // A statement's snapshot ends with it, and SERIALIZABLE by locks has none.
      if (!export_holder_)
        export_holder_ = begin_in_engine(Isolation::read_committed, Access::read_only);
      export_holder_->begin_statement();
      view = export_holder_->hold_view();
      made.held = view;
    }
    made.name =
        session_.shared.exported_snapshots.add({session_.catalog.of_database().database(), view});
  } catch (...) {
    if (made.held) export_holder_->release_view(*made.held);
    exports_.pop_back();
    throw;
  }
  return made.name;
}

void SessionTransaction::end_exports() noexcept {
  for (const Export& exported : exports_) {
    session_.shared.exported_snapshots.remove(exported.name);
    if (exported.held) export_holder_->release_view(*exported.held);
  }
  exports_.clear();
  export_holder_.reset();
}

}  // namespace swizzle::sql
