#include "sql-lite-frontend/session/transactions/two_phase.h"

#include <exception>

#include "sql-lite-frontend/catalog/prepared_changes.h"
#include "sql-lite-frontend/session/large_objects/descriptors.h"
#include "sql-lite-frontend/session/transactions/row_identities.h"
#include "sql-lite-frontend/session/transactions/sync_commit.h"
#include "sql-lite-frontend/statement/transactions/two_phase_note.h"
#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/function_registry.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kPrerequisite{"55000"};

/// Returns the owner of a prepared transaction's advisory locks: no backend's number.
std::int32_t advisory_owner(TxnId id) noexcept {
  return -1 - static_cast<std::int32_t>(raw(id) & 0x3FFF'FFFFU);
}

void refuse_preparing(Session::State& session, bool used_temporaries) {
  for (const auto& [name, portal] : session.portals.all()) {
    if (portal->holds && portal->state == Portal::State::running) {
      throw SqlError{sqlstate::feature_not_supported,
                     "cannot PREPARE a transaction that has created a cursor WITH HOLD"};
    }
  }
  if (used_temporaries || session.catalog.changes_temporaries()) {
    throw SqlError{sqlstate::feature_not_supported,
                   "cannot PREPARE a transaction that has operated on temporary objects"};
  }
  if (session.notifications.has_said() || session.notifications.has_resolved()) {
    throw SqlError{sqlstate::feature_not_supported,
                   "cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY"};
  }
}

void hold_advisory_locks(AdvisoryLocks& locks, TxnId id, const PreparedNote& note) {
  for (const PreparedNote::AdvisoryLock& lock : note.locks) {
    locks.try_lock(advisory_owner(id), lock.key, lock.mode, AdvisoryScope::transaction);
  }
}

}  // namespace

PreparedNote SessionTransaction::ready_to_prepare(std::string_view gid) {
  run_deferred_checks({});
  refuse_preparing(session_, used_temporaries_);
  if (!exports_.empty()) {
    throw SqlError{sqlstate::feature_not_supported,
                   "cannot PREPARE a transaction that has exported snapshots"};
  }
  if (gid.size() > Transaction::kMostGidBytes) {
    throw_error(sqlstate::invalid_parameter_value, "transaction identifier \"{}\" is too long",
                gid);
  }
  if (session_.settings.integer("max_prepared_transactions") == 0) {
    throw SqlError{kPrerequisite, "prepared transactions are disabled"}.with_hint(
        "Set max_prepared_transactions to a nonzero value.");
  }
  PreparedNote note;
  note.owner = session_.user;
  note.database = session_.catalog.of_database().database();
  note.has_definitions = session_.catalog.has_changes();
  for (const SequenceMove& move : sequence_moves_) {
    if (move.from != kNoOid) note.left_by_commit.push_back(move.from);
    if (move.to != kNoOid) note.left_by_rollback.push_back(move.to);
  }
  const std::int32_t self = session_.options.backend_pid;
  for (const AdvisoryLocks::Held& held : session_.shared.advisory_locks.of_transaction(self)) {
    note.locks.push_back({held.key, held.mode});
  }
  return note;
}

void SessionTransaction::hand_to_engine(std::string_view gid, const PreparedNote& note) {
  // From here on it cannot be cancelled.
  std::unique_ptr<Transaction> own;
  {
    const std::lock_guard lock{mutex_};
    own.swap(engine_);
  }
  AdvisoryLocks& locks = session_.shared.advisory_locks;
  const std::int32_t holder = advisory_owner(own->take_id());
  // Hand the locks over before another session can finish the transaction, and so release them.
  locks.hand_over(session_.options.backend_pid, holder);
  const auto most =
      static_cast<std::size_t>(session_.settings.integer("max_prepared_transactions"));
  auto prepared = own->prepare(gid, encode(note), most);
  if (prepared) return;
  own->rollback();
  session_.usage.add(Used::rollbacks);
  locks.unlock_all(holder, AdvisoryScope::transaction);
  rollback();
  throw SqlError{std::move(prepared).error()};
}

void SessionTransaction::prepare(std::string_view gid, ResultSink& sink) {
  if (!in_explicit_block()) {
    session_.notice(sink, Severity::warning, sqlstate::no_active_sql_transaction,
                    "there is no transaction in progress");
    if (!in_script) return sink.command_complete("ROLLBACK");
    // As in PostgreSQL, the statements of one message are a transaction, too.
    begin(Block::implicit);
  }
  if (failed_) {
    rollback();
    return sink.command_complete("ROLLBACK");
  }
  PreparedNote note;
  std::exception_ptr failure;
  try {
    note = ready_to_prepare(gid);
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
  note.number = number;
  hand_to_engine(gid, note);
  // The number is the prepared transaction's now.
  number = 0;
  put(nullptr);
  block_ = Block::none;
  savepoints_.clear();
  forget_deferred_checks();
  session_.row_identities.reset();
  // Definitions and positions of sequences that it has changed belong to the session that finishes
  // it.
  session_.catalog.rollback();
  sequence_moves_.clear();
  dropped_on_commit_.clear();
  end_advisory_locks();
  session_.notifications.forget();
  await_followers(session_);
  session_.settings.commit();
  session_.variables.end_transaction(session_.sink_for_notices);
  sink.command_complete("PREPARE TRANSACTION");
}

namespace {

PreparedNote known_note(const PreparedTransaction& prepared) {
  if (auto note = decode_note(prepared.note)) return std::move(*note);
  throw_error(SqlState{"XX001"}, "what is kept of prepared transaction \"{}\" cannot be read",
              prepared.gid);
}

void require_may_finish(Session::State& session, const PreparedNote& note) {
  if (note.owner != session.user && !session.rights.is_superuser(session.user)) {
    throw SqlError{sqlstate::insufficient_privilege,
                   "permission denied to finish prepared transaction"}
        .with_hint("Must be superuser or the user that prepared the transaction.");
  }
  if (note.database != session.catalog.of_database().database()) {
    throw SqlError{sqlstate::feature_not_supported,
                   "prepared transaction belongs to another database"}
        .with_hint("Connect to the database where the transaction was prepared to finish it.");
  }
}

}  // namespace

void finish_prepared(Session::State& session, std::string_view gid, PreparedEnd end,
                     ResultSink& sink) {
  const bool commits = end == PreparedEnd::commit;
  const std::string_view command = commits ? "COMMIT PREPARED" : "ROLLBACK PREPARED";
  session.transaction.prevent_in_block(command);
  Database::Shared& shared = session.shared;
  const auto taken = value_of(shared.engine.take_prepared(gid));
  const PreparedNote note = known_note(taken->prepared_as());
  require_may_finish(session, note);
  const TxnId id = taken->id();
  if (commits) {
    Catalog& catalog = session.catalog.of_database();
    std::vector<CatalogChange> changes;
    if (note.has_definitions) changes = changes_of(catalog, *taken);
    if (!changes.empty()) taken->before_release([&] { catalog.apply(changes); });
    value_of(taken->commit());
  } else {
    taken->rollback();
  }
  note_end_of_number(shared, note.number, commits, Transaction::Durability::synchronous);
  session.usage.add(commits ? Used::commits : Used::rollbacks);
  shared.advisory_locks.unlock_all(advisory_owner(id), AdvisoryScope::transaction);
  const std::vector<Oid>& left = commits ? note.left_by_commit : note.left_by_rollback;
  if (!left.empty()) shared.sequences.remove(session.catalog.of_database(), left);
  await_followers(session);
  sink.command_complete(command);
}

void take_up_advisory_locks(Database::Shared& shared) {
  for (const PreparedTransaction& prepared : shared.engine.prepared()) {
    if (const auto note = decode_note(prepared.note)) {
      hold_advisory_locks(shared.advisory_locks, prepared.id, *note);
      if (note->number != 0) shared.transaction_numbers.take_up(note->number);
    }
  }
}

namespace {

/// The rows of pg_prepared_xact().
class PreparedCursor final : public SetCursor {
 public:
  explicit PreparedCursor(std::vector<PreparedTransaction> all) : all_(std::move(all)) {}
  std::optional<Value> next(FunctionContext& context) override {
    if (next_ == all_.size()) return std::nullopt;
    const PreparedTransaction& prepared = all_[next_++];
    const PreparedNote note = decode_note(prepared.note).value_or(PreparedNote{});
    using enum TypeId;
    constexpr TypeId kTypes[] = {xid, text, timestamptz, oid, oid};
    const Value row[] = {
        Value::from_oid(static_cast<Oid>(raw(prepared.id))), make_text(context.arena, prepared.gid),
        Value::from_int(prepared.prepared_at_us - kUnixEpochSeconds * kMicrosPerSecond),
        Value::from_oid(note.owner), Value::from_oid(note.database)};
    return make_record(context.arena, kTypes, row);
  }

 private:
  std::vector<PreparedTransaction> all_;
  std::size_t next_ = 0;
};

std::unique_ptr<SetCursor> prepared_xacts(FunctionContext& context, std::span<const Value>) {
  const auto* session = session_of(context.session);
  std::vector<PreparedTransaction> all;
  if (session != nullptr) all = session->shared.engine.prepared();
  return std::make_unique<PreparedCursor>(std::move(all));
}

}  // namespace

void add_two_phase_sets() {
  static constexpr SetEntry kSets[] = {{"pg_prepared_xact()", prepared_xacts}};
  static const bool is_added = (add_builtin_functions({.sets = kSets}), true);
  static_cast<void>(is_added);
}

}  // namespace swizzle::sql
