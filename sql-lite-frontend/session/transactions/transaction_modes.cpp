#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/statement/transactions/transaction_states.h"

/// Modes of a transaction: those of settings, and those that SET TRANSACTION may still change.
namespace swizzle::sql {
namespace {

constexpr std::string_view kReadUncommitted = "read uncommitted";

Isolation isolation_of(std::string_view name) {
  if (name == "serializable") return Isolation::serializable;
  if (name == "repeatable read") return Isolation::repeatable_read;
  return Isolation::read_committed;
}

}  // namespace

/// Reads the settings about transactions, once per change of any setting.
const SessionTransaction::Defaults& SessionTransaction::defaults() {
  const std::uint64_t revision = session_.settings.server_revision();
  if (kept_defaults_.revision == revision) [[likely]] {
    return kept_defaults_;
  }
  const auto milliseconds = [this](std::string_view name) {
    return std::chrono::milliseconds{session_.settings.integer(name)};
  };
  const std::string isolation_name = session_.settings.text("default_transaction_isolation");
  kept_defaults_ = {
      .modes = {.isolation = isolation_of(isolation_name),
                .says_uncommitted = isolation_name == kReadUncommitted,
                .read_only = is_on_standby() || session_.shared.engine.salvages() ||
                             session_.settings.boolean("default_transaction_read_only"),
                .deferrable = session_.settings.boolean("default_transaction_deferrable")},
      .durability = session_.settings.text("synchronous_commit") == "off"
                        ? Transaction::Durability::asynchronous
                        : Transaction::Durability::synchronous,
      .lock_timeout = milliseconds("lock_timeout"),
      .deadlock_timeout = milliseconds("deadlock_timeout"),
      .locks_serializable = session_.settings.text("serializable_method") == "locking",
      .is_replica = session_.settings.text("session_replication_role") == "replica",
      .revision = revision};
  return kept_defaults_;
}

void SessionTransaction::act_as(const TransactionModes& modes) {
  modes_ = modes;
  begin_as_chosen();
}

void SessionTransaction::set_modes_by_statement(ast::NodeList modes) {
  // A routine may have run statements since its transaction began.
  if (!in_explicit_block() && session_.call_places.empty()) any_statement_ = false;
  set_modes(modes);
}

void SessionTransaction::set_modes(ast::NodeList modes) {
  for (const ast::Node* node : modes) {
    const auto& option = ast::as<ast::DefElem>(node);
    const auto* constant = ast::try_as<ast::A_Const>(option.arg);
    std::string_view text;
    bool flag = false;
    if (constant != nullptr && constant->sval != nullptr) text = constant->sval->sval;
    if (constant != nullptr && constant->ival != nullptr) flag = constant->ival->ival != 0;
    if (const auto* integer = ast::try_as<ast::Integer>(option.arg)) flag = integer->ival != 0;
    if (const auto* string = ast::try_as<ast::String>(option.arg)) text = string->sval;
    if (option.defname == "transaction_isolation") {
      choose_isolation(isolation_of(text));
      modes_.says_uncommitted = text == kReadUncommitted;
    } else if (option.defname == "transaction_read_only") {
      choose_read_only(flag);
    } else if (option.defname == "transaction_deferrable") {
      choose_deferrable(flag);
    }
  }
  begin_as_chosen();
}

void SessionTransaction::set_mode(std::string_view setting, std::string_view value) {
  const bool flag = value == "on" || value == "true" || value == "1" || value == "yes";
  if (setting == "transaction_isolation") {
    choose_isolation(isolation_of(value));
    modes_.says_uncommitted = value == kReadUncommitted;
  } else if (setting == "transaction_read_only") {
    choose_read_only(flag);
  } else {
    choose_deferrable(flag);
  }
  begin_as_chosen();
}

void SessionTransaction::choose_isolation(Isolation wanted) {
  if (any_statement_ && wanted != modes_.isolation) {
    throw SqlError{sqlstate::active_sql_transaction,
                   "SET TRANSACTION ISOLATION LEVEL must be called before any query"};
  }
  if (!savepoints_.empty() && wanted != modes_.isolation) {
    throw SqlError{sqlstate::active_sql_transaction,
                   "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction"};
  }
  if (is_on_standby() && wanted == Isolation::serializable && wanted != modes_.isolation) {
    throw SqlError{sqlstate::feature_not_supported, "cannot use serializable mode in a hot standby"}
        .with_hint("You can use REPEATABLE READ instead.");
  }
  modes_.isolation = wanted;
}

void SessionTransaction::choose_read_only(bool wanted) {
  if (!savepoints_.empty() && !wanted && modes_.read_only) {
    throw SqlError{sqlstate::active_sql_transaction,
                   "cannot set transaction read-write mode inside a read-only transaction"};
  }
  if (any_statement_ && !wanted && modes_.read_only) {
    throw SqlError{sqlstate::active_sql_transaction,
                   "transaction read-write mode must be set before any query"};
  }
  if (!wanted && is_on_standby()) {
    throw SqlError{sqlstate::feature_not_supported,
                   "cannot set transaction read-write mode during recovery"};
  }
  if (!wanted && session_.shared.engine.salvages()) {
    throw SqlError{sqlstate::feature_not_supported,
                   "cannot set transaction read-write mode while the server salvages a damaged "
                   "database"};
  }
  modes_.read_only = wanted;
}

void SessionTransaction::choose_deferrable(bool wanted) {
  if (!savepoints_.empty()) {
    throw SqlError{sqlstate::active_sql_transaction,
                   "SET TRANSACTION [NOT] DEFERRABLE cannot be called within a subtransaction"};
  }
  if (any_statement_) {
    throw SqlError{sqlstate::active_sql_transaction,
                   "SET TRANSACTION [NOT] DEFERRABLE must be called before any query"};
  }
  modes_.deferrable = wanted;
}

/// The engine's transaction has done nothing yet, so another may take its place. Savepoints are
/// marks in the present one.
void SessionTransaction::begin_as_chosen() {
  if (!any_statement_ && savepoints_.empty() && engine_ &&
      engine_->isolation() != engine_isolation()) {
    engine_->restart(engine_isolation(), engine_access());
    engine_->count_locks_in(lock_memory_);
    apply_lock_timeout();
  }
}

}  // namespace swizzle::sql
