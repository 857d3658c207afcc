#include <algorithm>
#include <exception>

#include "sql-lite-frontend/session/session_state.h"
#include "sql-lite-frontend/types/long_values.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kActiveTransaction{"25001"};
constexpr SqlState kReadOnly{"25006"};
constexpr SqlState kInvalidSavepoint{"3B001"};

constexpr std::string_view kReadUncommitted = "read uncommitted";

Isolation isolation_of(std::string_view name) {
  if (name == "serializable") return Isolation::serializable;
  if (name == "repeatable read") return Isolation::repeatable_read;
  return Isolation::read_committed;
}

}  // namespace

/// What settings say about transactions, read once per change of any.
const Session::State::TransactionDefaults& Session::State::defaults() {
  const std::uint64_t revision = settings.server_revision();
  if (kept_defaults.revision == revision) [[likely]] {
    return kept_defaults;
  }
  const auto milliseconds = [this](std::string_view name) {
    return std::chrono::milliseconds{settings.integer(name)};
  };
  const std::string isolation_name = settings.text("default_transaction_isolation");
  kept_defaults = {.isolation = isolation_of(isolation_name),
                   .says_uncommitted = isolation_name == kReadUncommitted,
                   .read_only = settings.boolean("default_transaction_read_only"),
                   .deferrable = settings.boolean("default_transaction_deferrable"),
                   .durability = settings.text("synchronous_commit") == "off"
                                     ? Transaction::Durability::asynchronous
                                     : Transaction::Durability::synchronous,
                   .lock_timeout = milliseconds("lock_timeout"),
                   .deadlock_timeout = milliseconds("deadlock_timeout"),
                   .is_replica = settings.text("session_replication_role") == "replica",
                   .revision = revision};
  return kept_defaults;
}

void Session::State::begin_transaction(Block kind) {
  if (transaction) {
    if (kind == Block::explicit_block) block = kind;
    return;
  }
  const TransactionDefaults& now = defaults();
  isolation = now.isolation;
  says_uncommitted = now.says_uncommitted;
  read_only = now.read_only;
  deferrable = now.deferrable;
  start_engine_transaction();
  block = kind;
  failed = false;
  any_statement = false;
  transaction_number = 0;
  // Plans that do without them do so no longer.
  if (!young_indexes.empty()) ++settings_version;
  young_indexes.clear();
  session_context.transaction_timestamp = session_context.statement_timestamp;
  activity.transaction_start.store(session_context.transaction_timestamp,
                                   std::memory_order_relaxed);
}

void Session::State::set_transaction(std::unique_ptr<Transaction> to) {
  if (to == nullptr) activity.transaction_start.store(0, std::memory_order_relaxed);
  const std::lock_guard lock{transaction_mutex};
  transaction.swap(to);
}

void Session::State::interrupt_wait() noexcept {
  const std::lock_guard lock{transaction_mutex};
  if (transaction) transaction->cancel();
}

/// A SERIALIZABLE READ ONLY DEFERRABLE transaction reads a snapshot: writers that lock what they
/// read become durable in the order in which they could have run, and a snapshot is a beginning of
/// that. PostgreSQL may wait for such a snapshot; here any one will do.
Isolation Session::State::engine_isolation() const noexcept {
  const bool by_snapshot = isolation == Isolation::serializable && read_only && deferrable;
  return by_snapshot ? Isolation::repeatable_read : isolation;
}

/// Its temporary tables a session may write even where it only reads.
Access Session::State::engine_access() const noexcept {
  return read_only && names.temp_schema == kNoOid ? Access::read_only : Access::read_write;
}

void Session::State::start_engine_transaction() {
  set_transaction(shared.engine.begin(engine_isolation(), engine_access()));
  transaction->work_for(options.backend_pid, &current_query);
  apply_lock_timeout();
}

void Session::State::apply_lock_timeout() {
  if (!transaction) return;
  const TransactionDefaults& now = defaults();
  transaction->set_lock_timeout(now.lock_timeout);
  transaction->set_deadlock_timeout(now.deadlock_timeout);
}

void Session::State::begin_statement() {
  transaction->begin_statement();
  any_statement = true;
}

void Session::State::commit_transaction() {
  if (!transaction) return;
  if (failed) {
    rollback_transaction();
    return;
  }
  std::exception_ptr failure;
  try {
    run_deferred_checks({});
    hold_cursors();
    for (const Oid oid : truncated_on_commit) {
      if (const TablePtr table = catalog.table(oid)) {
        run_internal(*this, "DELETE FROM " + names.qualified_name(*table), {}, {});
      }
    }
    for (const Oid oid : std::exchange(dropped_on_commit, {})) {
      if (const TablePtr table = catalog.table(oid)) drop_relation(table);
    }
  } catch (...) {
    // Rolling back may wait, which nobody does while an exception is being handled.
    failure = std::current_exception();
  }
  if (failure) {
    rollback_transaction();
    std::rethrow_exception(failure);
  }
  drop_portals();
  // Whoever gets the locks finds the new definitions, and is told in the order of the commits.
  if (catalog.has_changes() || !pending.said().empty()) {
    transaction->before_release([this] {
      if (catalog.has_changes()) catalog.commit();
      apply_listening();
      deliver_notifications();
      pending.clear();
    });
  }
  Result<> committed = transaction->commit(defaults().durability);
  set_transaction(nullptr);
  block = Block::none;
  savepoints.clear();
  forget_deferred_checks();
  end_advisory_locks();
  if (committed) apply_listening();
  pending.clear();
  if (!committed) {
    catalog.rollback();
    end_sequence_moves(Moves::are_undone);
    settings.roll_back();
    if (std::exchange(settings_touched, false)) settings_changed(nullptr);
    throw SqlError{std::move(committed).error()};
  }
  end_sequence_moves(Moves::stay);
  settings.commit();
  if (std::exchange(settings_touched, false)) settings_changed(sink_for_notices);
}

void Session::State::end_sequence_moves(Moves outcome, std::size_t mark) noexcept {
  if (sequence_moves.size() <= mark) return;
  std::vector<Oid> positions;
  for (std::size_t i = mark; i < sequence_moves.size(); ++i) {
    const SequenceMove& move = sequence_moves[i];
    const Oid position = outcome == Moves::stay ? move.from : move.to;
    if (position != kNoOid) positions.push_back(position);
  }
  sequence_moves.resize(mark);
  try {
    shared.sequences.remove(catalog.shared(), positions);
  } catch (const SqlError&) {
    // A record that nobody reads stays behind.
    return;
  }
}

void Session::State::note_query(std::string_view text) {
  if (text.size() < kLongBytes) [[likely]] {
    current_query = text;
  } else {
    current_query = for_bytes(text.size(), [&] { return std::string{text}; });
  }
  activity.begin(text, session_context.statement_timestamp);
}

void Session::State::note_rest() noexcept {
  Activity::State rest = Activity::State::idle;
  if (transaction && in_explicit_block()) {
    rest = failed ? Activity::State::idle_in_failed : Activity::State::idle_in_transaction;
  }
  activity.change(rest, session_context.statement_timestamp);
}

void Session::State::end_advisory_locks() noexcept {
  if (!advisory_locks_used) return;
  shared.advisory_locks.unlock_all(options.backend_pid, AdvisoryScope::transaction);
}

void Session::State::rollback_transaction() noexcept {
  drop_portals();
  dropped_on_commit.clear();
  if (transaction) transaction->rollback();
  set_transaction(nullptr);
  block = Block::none;
  failed = false;
  savepoints.clear();
  forget_deferred_checks();
  catalog.rollback();
  end_sequence_moves(Moves::are_undone);
  pending.clear();
  end_advisory_locks();
  settings.roll_back();
  if (std::exchange(settings_touched, false)) settings_changed(sink_for_notices);
}

Session::State::Savepoint Session::State::mark(std::string name) const {
  return {std::move(name), transaction->mark(), catalog.mark(), settings.mark(),
          deferred.mark(), portals_opened,      pending.mark(), sequence_moves.size(),
          read_only,       constraint_modes};
}

void Session::State::roll_back_to(const Savepoint& savepoint) {
  // What was opened since is gone before what it reads is.
  std::erase_if(portals, [&](const auto& entry) {
    Portal& portal = *entry.second;
    if (portal.number <= savepoint.portals_mark) return false;
    portal.view.reset();
    if (portal.run && portal.state == Portal::State::running) portal.run->end();
    return true;
  });
  value_of(transaction->rollback_to(savepoint.mark));
  catalog.rollback_to(savepoint.catalog_mark);
  settings.roll_back_to(savepoint.settings_mark);
  deferred.roll_back_to(savepoint.checks_mark);
  pending.roll_back_to(savepoint.pending_mark);
  end_sequence_moves(Moves::are_undone, savepoint.moves_mark);
  read_only = savepoint.read_only;
  constraint_modes = savepoint.constraint_modes;
  if (settings_touched) settings_changed(sink_for_notices);
}

void Session::State::fail_statement(const Savepoint& start) {
  if (!transaction) return;
  if (!in_explicit_block()) {
    rollback_transaction();
    return;
  }
  // The client's next word decides about the rest; what the statement did must not be seen by a
  // ROLLBACK TO an earlier savepoint, nor hold anything up.
  try {
    roll_back_to(start);
    failed = true;
    return;
  } catch (const std::exception&) {
    failed = true;
  }
}

void Session::State::require_read_write(std::string_view command) {
  if (!read_only) return;
  throw_error(kReadOnly, "cannot execute {} in a read-only transaction", command);
}

void Session::State::prevent_in_block(std::string_view command) {
  if (in_block()) {
    throw_error(kActiveTransaction, "{} cannot run inside a transaction block", command);
  }
}

void Session::State::set_transaction_modes(ast::NodeList modes) {
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
      says_uncommitted = text == kReadUncommitted;
    } else if (option.defname == "transaction_read_only") {
      choose_read_only(flag);
    } else if (option.defname == "transaction_deferrable") {
      choose_deferrable(flag);
    }
  }
  begin_as_chosen();
}

void Session::State::set_transaction_mode(std::string_view setting, std::string_view value) {
  const bool flag = value == "on" || value == "true" || value == "1" || value == "yes";
  if (setting == "transaction_isolation") {
    choose_isolation(isolation_of(value));
    says_uncommitted = value == kReadUncommitted;
  } else if (setting == "transaction_read_only") {
    choose_read_only(flag);
  } else {
    choose_deferrable(flag);
  }
  begin_as_chosen();
}

void Session::State::choose_isolation(Isolation wanted) {
  if (any_statement && wanted != isolation) {
    throw SqlError{kActiveTransaction,
                   "SET TRANSACTION ISOLATION LEVEL must be called before any query"};
  }
  if (!savepoints.empty() && wanted != isolation) {
    throw SqlError{kActiveTransaction,
                   "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction"};
  }
  isolation = wanted;
}

void Session::State::choose_read_only(bool wanted) {
  if (!savepoints.empty() && !wanted && read_only) {
    throw SqlError{kActiveTransaction,
                   "cannot set transaction read-write mode inside a read-only transaction"};
  }
  if (any_statement && !wanted && read_only) {
    throw SqlError{kActiveTransaction, "transaction read-write mode must be set before any query"};
  }
  read_only = wanted;
}

void Session::State::choose_deferrable(bool wanted) {
  if (!savepoints.empty()) {
    throw SqlError{kActiveTransaction,
                   "SET TRANSACTION [NOT] DEFERRABLE cannot be called within a subtransaction"};
  }
  if (any_statement) {
    throw SqlError{kActiveTransaction,
                   "SET TRANSACTION [NOT] DEFERRABLE must be called before any query"};
  }
  deferrable = wanted;
}

/// The engine's transaction has done nothing yet, so another may take its place. Savepoints are
/// marks in the present one.
void Session::State::begin_as_chosen() {
  if (!any_statement && savepoints.empty() && transaction &&
      (transaction->isolation() != engine_isolation() ||
       transaction->access() != engine_access())) {
    transaction->rollback();
    start_engine_transaction();
  }
}

void Session::State::transaction_statement(const ast::TransactionStmt& statement,
                                           ResultSink& sink) {
  using Kind = ast::TransactionStmtKind;
  const auto begin = [&] {
    begin_transaction(Block::explicit_block);
    set_transaction_modes(statement.options);
  };
  const auto chain = [&](auto&& end) {
    const Isolation before = isolation;
    const bool said_uncommitted = says_uncommitted;
    const bool was_read_only = read_only;
    const bool was_deferrable = deferrable;
    end();
    if (!statement.chain) return;
    begin_transaction(Block::explicit_block);
    isolation = before;
    says_uncommitted = said_uncommitted;
    read_only = was_read_only;
    deferrable = was_deferrable;
    set_transaction_modes({});
  };
  switch (statement.kind) {
    case Kind::begin:
    case Kind::start:
      if (in_explicit_block()) {
        notice(sink, Severity::warning, kActiveTransaction,
               "there is already a transaction in progress");
      }
      begin();
      sink.command_complete(statement.kind == Kind::begin ? "BEGIN" : "START TRANSACTION");
      return;
    case Kind::commit: {
      if (!in_explicit_block()) {
        if (statement.chain) {
          throw SqlError{sqlstate::no_active_sql_transaction,
                         "COMMIT AND CHAIN can only be used in transaction "
                         "blocks"};
        }
        notice(sink, Severity::warning, sqlstate::no_active_sql_transaction,
               "there is no transaction in progress");
      }
      const bool was_failed = failed;
      chain([&] { commit_transaction(); });
      sink.command_complete(was_failed ? "ROLLBACK" : "COMMIT");
      return;
    }
    case Kind::rollback:
      if (!in_explicit_block() && statement.chain) {
        throw SqlError{sqlstate::no_active_sql_transaction,
                       "ROLLBACK AND CHAIN can only be used in transaction blocks"};
      }
      if (!in_explicit_block()) {
        notice(sink, Severity::warning, sqlstate::no_active_sql_transaction,
               "there is no transaction in progress");
      }
      chain([&] { rollback_transaction(); });
      sink.command_complete("ROLLBACK");
      return;
    case Kind::savepoint:
      if (!in_explicit_block()) {
        throw SqlError{sqlstate::no_active_sql_transaction,
                       "SAVEPOINT can only be used in transaction blocks"};
      }
      savepoints.push_back(mark(std::string{statement.savepoint_name}));
      sink.command_complete("SAVEPOINT");
      return;
    case Kind::release:
    case Kind::rollback_to: {
      const bool release = statement.kind == Kind::release;
      if (!in_explicit_block()) {
        throw SqlError{sqlstate::no_active_sql_transaction,
                       release ? "RELEASE SAVEPOINT can only be used in transaction blocks"
                               : "ROLLBACK TO SAVEPOINT can only be used in transaction blocks"};
      }
      const auto found = std::ranges::find(savepoints.rbegin(), savepoints.rend(),
                                           statement.savepoint_name, &Savepoint::name);
      if (found == savepoints.rend()) {
        throw_error(kInvalidSavepoint, "savepoint \"{}\" does not exist", statement.savepoint_name);
      }
      const auto at = found.base() - 1;
      if (release) {
        // As PostgreSQL: READ ONLY was said for the part that ends here.
        read_only = at->read_only;
        savepoints.erase(at, savepoints.end());
      } else {
        const Savepoint savepoint = *at;
        savepoints.erase(at + 1, savepoints.end());
        roll_back_to(savepoint);
        failed = false;
      }
      sink.command_complete(release ? "RELEASE" : "ROLLBACK");
      return;
    }
    case Kind::prepare:
    case Kind::commit_prepared:
    case Kind::rollback_prepared:
      throw SqlError{sqlstate::feature_not_supported, "two-phase commit is not supported"};
    case Kind::undefined:
      break;
  }
}

std::string schema_name(Session::State& session, Oid schema) {
  return session.names.schema_name(schema);
}

WorkSpace maintenance_space(Session::State& session) {
  const auto kilobytes = static_cast<std::size_t>(session.settings.integer("maintenance_work_mem"));
  return {kilobytes << 10U, session.memory.files};
}

Engine& engine_of(Session::State& session) {
  return session.shared.engine;
}

Transaction& transaction_of(Session::State& session) {
  return *session.transaction;
}

bool keep_definition(Session::State& session, const TablePtr& table, lock::RelationMode mode,
                     CatalogView::Stamp& seen_at) {
  if (table->relation.persistence != Persistence::temporary) {
    value_of(session.transaction->lock_relation(lock::RelationId{table->relation.oid}, mode));
  }
  const CatalogView::Stamp now = session.catalog.stamp();
  if (now == seen_at) return true;
  if (session.catalog.table(table->relation.oid) != table) return false;
  seen_at = now;
  return true;
}

}  // namespace swizzle::sql
