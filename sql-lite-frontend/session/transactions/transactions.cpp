#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <ranges>

#include "sql-lite-frontend/session/large_objects/descriptors.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/transactions/row_identities.h"
#include "sql-lite-frontend/session/transactions/sync_commit.h"
#include "sql-lite-frontend/session/transactions/two_phase.h"
#include "sql-lite-frontend/statement/transactions/transaction_states.h"
#include "sql-lite-frontend/types/long_values.h"
#include "storage/statistics.h"

/// Operations of a session on its transaction.
namespace swizzle::sql {

SessionTransaction::SessionTransaction(Session::State& session) : session_(session) {
  is_on_standby_ = session.shared.engine.is_standby();
}

std::int64_t SessionTransaction::numbered() {
  prevent_on_standby("pg_current_xact_id()");
  if (number == 0) number = session_.shared.transaction_numbers.take();
  return number;
}

void note_end_of_number(Database::Shared& shared, std::int64_t number, bool committed,
                        Transaction::Durability durability) {
  if (number == 0) return;
  TransactionNumbers& numbers = shared.transaction_numbers;
  const EngineStatistics now = shared.engine.statistics();
  // After a commit that waited, the log is durable up to here; other commits are only known to be
  // in the log.
  const bool is_durable = durability == Transaction::Durability::synchronous && now.log_durable > 0;
  numbers.end(number, committed, Lsn{is_durable ? now.log_durable : now.log_tail});
  if (!numbers.is_full()) return;
  Lsn oldest{now.log_durable};
  for (const HeldSnapshot& held : shared.engine.snapshots()) oldest = std::min(oldest, held.lsn);
  numbers.forget_before(oldest);
}

void SessionTransaction::end_number(bool committed) {
  note_end_of_number(session_.shared, std::exchange(number, 0), committed, defaults().durability);
}

void SessionTransaction::begin(Block kind) {
  if (engine_) {
    if (kind == Block::explicit_block) block_ = kind;
    return;
  }
  modes_ = defaults().modes;
  start_in_engine();
  block_ = kind;
  failed_ = false;
  any_statement_ = false;
  used_temporaries_ = false;
  savepoints_share_.lower(0);
  number = 0;
  // Plans made without the new indexes may use them now.
  if (!young_indexes_.empty()) session_.variables.invalidate();
  young_indexes_.clear();
  session_.session_context.transaction_timestamp = session_.session_context.statement_timestamp;
  session_.activity.transaction_start.store(session_.session_context.transaction_timestamp,
                                            std::memory_order_relaxed);
}

void SessionTransaction::put(std::unique_ptr<Transaction> to) {
  if (to == nullptr) session_.activity.transaction_start.store(0, std::memory_order_relaxed);
  if (engine_ && session_.shared.engine.salvages()) [[unlikely]]
    take_passed_over();
  const std::lock_guard lock{mutex_};
  engine_.swap(to);
}

void SessionTransaction::take_passed_over() {
  for (std::string& damage : engine_->take_passed_over()) passed_over_.push_back(std::move(damage));
}

void SessionTransaction::tell_passed_over(ResultSink& sink) {
  if (engine_) take_passed_over();
  for (std::string& damage : std::exchange(passed_over_, {}))
    session_.notice(sink, Severity::warning, sqlstate::data_corrupted, "passed over: " + damage);
}

void SessionTransaction::interrupt_wait() noexcept {
  const std::lock_guard lock{mutex_};
  if (engine_) engine_->cancel();
}

bool SessionTransaction::is_numbered(TxnId number_of_writer) noexcept {
  const std::lock_guard lock{mutex_};
  return engine_ && engine_->id() == number_of_writer;
}

Isolation SessionTransaction::engine_isolation() {
  if (modes_.isolation != Isolation::serializable) return modes_.isolation;
  // There SERIALIZABLE is refused at the first snapshot.
  if (is_on_standby()) return Isolation::repeatable_read;
  if (!defaults().locks_serializable) return Isolation::serializable_snapshot;
  // Writers that lock the rows that they read become durable in a serial order, and a snapshot is a
  // prefix of that, so every snapshot is safe.
  return modes_.read_only && modes_.deferrable ? Isolation::repeatable_read
                                               : Isolation::serializable;
}

void SessionTransaction::wait_for_safe_snapshot() {
  constexpr Duration kLooksEvery = std::chrono::milliseconds{2};
  while (!engine_->try_safe_snapshot()) {
    session_.check_cancelled();
    Runtime::current().sleep_until(Runtime::current().now() + kLooksEvery);
  }
  engine_->take_snapshot();
}

/// READ ONLY forbids statements (writes_what_others_see()), not changes: its session may write its
/// temporary tables, and ANALYZE keeps what it has counted.
Access SessionTransaction::engine_access() const noexcept {
  return is_on_standby() || session_.shared.engine.salvages() ? Access::read_only
                                                              : Access::read_write;
}

std::unique_ptr<Transaction> SessionTransaction::begin_in_engine(Isolation isolation,
                                                                 Access access) {
  Engine& engine = session_.shared.engine;
  auto begun = engine.try_begin(isolation, access);
  if (!begun && session_.rights.is_superuser(session_.user))
    begun = engine.try_begin(isolation, access, TransactionPlace::superuser);
  return value_of(std::move(begun));
}

void SessionTransaction::start_in_engine() {
  put(begin_in_engine(engine_isolation(), engine_access()));
  // A cancel before put() has found no transaction whose waits it could end. A later one finds it:
  // both sides hold the mutex.
  if (session_.interruption.is_asked()) engine_->cancel();
  engine_->work_for(session_.options.backend_pid, &session_.current_query);
  engine_->count_locks_in(lock_memory_);
  apply_lock_timeout();
}

void SessionTransaction::let_go_of_engine() noexcept {
  goes_on_promoted_ = engine_ != nullptr;
  std::unique_ptr<Transaction> gone;
  const std::lock_guard lock{mutex_};
  engine_.swap(gone);
}

void SessionTransaction::go_on_promoted() {
  is_on_standby_ = false;
  forget_defaults();
  if (!std::exchange(goes_on_promoted_, false)) return;
  start_in_engine();
  for (Savepoint& savepoint : savepoints_) savepoint.mark = engine_->mark();
}

Result<> SessionLockMemory::take(std::size_t bytes) {
  std::optional<Error> refusal;
  try {
    session_.memory.take(bytes);
  } catch (SqlError& error) {
    refusal = std::move(error).take_error();
  }
  if (refusal) return fail(std::move(*refusal));
  return {};
}

void SessionLockMemory::give_back(std::size_t bytes) noexcept {
  session_.memory.give_back(bytes);
}

void SessionTransaction::apply_lock_timeout() {
  if (!engine_) return;
  const Defaults& now = defaults();
  engine_->set_lock_timeout(now.lock_timeout);
  engine_->set_deadlock_timeout(now.deadlock_timeout);
}

void SessionTransaction::finish_work() {
  run_deferred_checks({});
  session_.portals.hold_all();
  clear_temporaries();
  for (const Oid oid : std::exchange(dropped_on_commit_, {})) {
    if (const TablePtr table = session_.catalog.table(oid)) session_.drop_relation(table);
  }
}

/// Charges the memory of savepoints, which is given back when the next transaction begins.
void SessionTransaction::count_savepoint() {
  constexpr std::size_t kUsual = 64;
  const std::size_t count = savepoints_.size() + 1;
  // The vector grows by doubling; names are short.
  constexpr std::size_t kBytes = 2 * sizeof(Savepoint) + 64;
  if (count > kUsual) savepoints_share_.set(session_.memory, count * kBytes);
}

/// ON COMMIT DELETE ROWS, which is no statement of the user's, so no trigger fires. If the
/// transaction has used no temporary table, there are no rows to delete.
void SessionTransaction::clear_temporaries() {
  if (!used_temporaries_ || truncated_on_commit_.empty()) return;
  struct Clearing {
    explicit Clearing(bool& flag) : flag_(flag) { flag_ = true; }
    Clearing(const Clearing&) = delete;
    Clearing& operator=(const Clearing&) = delete;
    ~Clearing() { flag_ = false; }
    bool& flag_;
  } const clearing{clears_temporaries_};
  std::erase_if(truncated_on_commit_, [&](Oid oid) { return !session_.catalog.table(oid); });
  refuse_kept_references();
  // Referencing tables were made after the referenced ones.
  for (const Oid oid : truncated_on_commit_ | std::views::reverse) {
    const TablePtr table = session_.catalog.table(oid);
    // Its partitions have ON COMMIT actions of their own.
    if (table->relation.is_partitioned()) continue;
    session_.run_internal("DELETE FROM " + session_.names.qualified_name(*table), {}, {});
  }
}

/// Throws if a row that is kept refers to one that is deleted.
void SessionTransaction::refuse_kept_references() {
  for (const Oid oid : truncated_on_commit_) {
    for (const TablePtr& other : session_.names.referencing_tables(oid)) {
      if (std::ranges::find(truncated_on_commit_, other->relation.oid) !=
          truncated_on_commit_.end()) {
        continue;
      }
      throw SqlError{sqlstate::feature_not_supported,
                     "unsupported ON COMMIT and foreign key combination"}
          .with_detail(
              fmt::format("Table \"{}\" references \"{}\", but they do not have the same ON "
                          "COMMIT setting.",
                          other->relation.name, session_.catalog.table(oid)->relation.name));
    }
  }
}

void SessionTransaction::commit() {
  if (!engine_) return;
  if (failed_) {
    rollback();
    return;
  }
  std::exception_ptr failure;
  try {
    finish_work();
  } catch (...) {
    // Rolling back may wait, which is not allowed while an exception is being handled.
    failure = std::current_exception();
  }
  if (failure) {
    rollback();
    std::rethrow_exception(failure);
  }
  session_.portals.drop_unheld();
  session_.large_objects.reset();
  // Publish before the locks are released, so that their next holders find the new definitions, and
  // listeners are notified in the order of the commits.
  if (session_.catalog.has_changes() || session_.notifications.has_said()) {
    engine_->before_release([this] {
      if (session_.catalog.has_changes()) session_.catalog.commit();
      session_.notifications.apply_resolutions();
      session_.notifications.deliver();
      session_.notifications.forget();
    });
  }
  if (!exports_.empty()) [[unlikely]]
    end_exports();
  const bool has_written = engine_->id() != TxnId::none;
  Result<> committed = engine_->commit(defaults().durability);
  if (number != 0) [[unlikely]]
    end_number(committed.has_value());
  put(nullptr);
  session_.usage.add(committed ? Used::commits : Used::rollbacks);
  block_ = Block::none;
  savepoints_.clear();
  forget_deferred_checks();
  session_.row_identities.reset();
  end_advisory_locks();
  if (committed) session_.notifications.apply_resolutions();
  session_.notifications.forget();
  if (!committed) {
    session_.catalog.rollback();
    end_sequence_moves(Moves::are_undone);
    session_.settings.roll_back();
    session_.variables.end_transaction(nullptr);
    throw SqlError{std::move(committed).error()};
  }
  end_sequence_moves(Moves::stay);
  if (has_written) await_followers(session_);
  session_.settings.commit();
  session_.variables.end_transaction(session_.sink_for_notices);
}

void SessionTransaction::end_sequence_moves(Moves outcome, std::size_t mark) noexcept {
  if (sequence_moves_.size() <= mark) return;
  std::vector<Oid> positions;
  for (std::size_t i = mark; i < sequence_moves_.size(); ++i) {
    const SequenceMove& move = sequence_moves_[i];
    const Oid position = outcome == Moves::stay ? move.from : move.to;
    if (position != kNoOid) positions.push_back(position);
  }
  sequence_moves_.resize(mark);
  try {
    session_.shared.sequences.remove(session_.catalog.of_database(), positions);
  } catch (const SqlError&) {
    // An unused record stays behind.
    return;
  }
}

void SessionTransaction::end_advisory_locks() noexcept {
  if (!session_.advisory_locks_used) return;
  session_.shared.advisory_locks.unlock_all(session_.options.backend_pid,
                                            AdvisoryScope::transaction);
}

void SessionTransaction::rollback() noexcept {
  begin_rollback();
  if (engine_) {
    engine_->rollback();
    session_.usage.add(Used::rollbacks);
  }
  put(nullptr);
  block_ = Block::none;
  failed_ = false;
  savepoints_.clear();
  end_rollback();
}

void SessionTransaction::begin_rollback() noexcept {
  session_.portals.drop_unheld();
  session_.large_objects.reset();
  dropped_on_commit_.clear();
  if (!exports_.empty()) [[unlikely]]
    end_exports();
}

void SessionTransaction::end_rollback() noexcept {
  if (number != 0) [[unlikely]]
    end_number(false);
  forget_deferred_checks();
  session_.row_identities.reset();
  session_.catalog.rollback();
  end_sequence_moves(Moves::are_undone);
  session_.notifications.forget();
  end_advisory_locks();
  session_.settings.roll_back();
  session_.variables.end_transaction(session_.sink_for_notices);
}

SessionTransaction::Savepoint SessionTransaction::mark(std::string name) const {
  return {std::move(name),
          engine_->mark(),
          session_.catalog.mark(),
          session_.settings.mark(),
          deferred_.mark(),
          session_.portals.last_number(),
          session_.notifications.mark(),
          sequence_moves_.size(),
          session_.row_identities ? session_.row_identities->mark() : 0,
          session_.advisory_locks_used
              ? session_.shared.advisory_locks.mark(session_.options.backend_pid)
              : 0,
          session_.large_objects ? session_.large_objects->mark() : 0,
          modes_.read_only,
          constraint_modes_};
}

void SessionTransaction::roll_back_to(const Savepoint& savepoint) {
  session_.portals.close_since(savepoint.portals_mark);
  if (session_.large_objects) session_.large_objects->roll_back_to(savepoint.large_objects_mark);
  value_of(engine_->rollback_to(savepoint.mark));
  if (session_.advisory_locks_used) {
    session_.shared.advisory_locks.unlock_to(session_.options.backend_pid, savepoint.advisory_mark);
  }
  session_.catalog.rollback_to(savepoint.catalog_mark);
  session_.settings.roll_back_to(savepoint.settings_mark);
  deferred_.roll_back_to(savepoint.checks_mark);
  session_.notifications.roll_back_to(savepoint.pending_mark);
  end_sequence_moves(Moves::are_undone, savepoint.moves_mark);
  if (session_.row_identities) session_.row_identities->roll_back_to(savepoint.identities_mark);
  modes_.read_only = savepoint.read_only;
  constraint_modes_ = savepoint.constraint_modes;
  session_.variables.end_savepoint(session_.sink_for_notices);
}

void SessionTransaction::fail() noexcept {
  if (!engine_ || !in_explicit_block()) {
    rollback();
    return;
  }
  if (failed_) return;
  failed_ = true;
  if (!savepoints_.empty()) {
    // ROLLBACK TO may continue from here.
    try {
      roll_back_to(savepoints_.back());
      return;
    } catch (const std::exception&) {
      // Everything is rolled back, so nothing can continue.
      savepoints_.clear();
    }
  }
  begin_rollback();
  engine_->restart(engine_isolation(), engine_access());
  end_rollback();
}

}  // namespace swizzle::sql
