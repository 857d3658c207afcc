#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "sql-lite-frontend/catalog/subscriptions.h"
#include "sql-lite-frontend/session/replication/slots.h"
#include "sql-lite-frontend/session/subscriptions/change_applier.h"
#include "sql-lite-frontend/session/subscriptions/noted_origin.h"
#include "sql-lite-frontend/session/subscriptions/required.h"
#include "sql-lite-frontend/silent_sink.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "storage/logical/logical_log.h"

/// Begin and end of a publisher's transactions: whole ones, those that are streamed before they
/// commit, and prepared ones.
namespace swizzle::sql {

template <class Work>
void ChangeApplier::in_local(std::string_view name, const Work& work) {
  SilentSink sink;
  require_done(session_.run_request(name, sink, [&] {
    Session::State& state = session_.state();
    state.transaction.begin_statement();
    work(state.catalog.of_database(), *state.transaction);
  }));
}

bool ChangeApplier::take_end_of_transaction(char kind, ChangeMessageReader& message) {
  switch (kind) {
    case 'B':
      begin(message);
      return true;
    case 'C':
      commit(message);
      return true;
    default:
      return take_prepared(kind, message);
  }
}

void ChangeApplier::begin(ChangeMessageReader& message) {
  begin_transaction(read_begin(message));
}

void ChangeApplier::begin_transaction(const BeginMessage& transaction) {
  require_outside();
  begin_ = transaction;
  for (auto& [id, kept] : targets_) kept.is_checked = false;
  is_skipping_ = subscription_.skip != Lsn::none && subscription_.skip == begin_->commit;
  if (is_skipping_) {
    log(Severity::log, fmt::format("logical replication starts skipping transaction at LSN {}",
                                   lsn_text(begin_->commit)));
  }
}

/// Throws 08P01 if a transaction, or a part of a streamed one, has not ended.
void ChangeApplier::require_outside() const {
  if (!is_in_transaction()) return;
  throw_error(sqlstate::protocol_violation,
              "logical replication message type \"{}\" within a transaction", kind_);
}

void ChangeApplier::commit(ChangeMessageReader& message) {
  const CommitMessage commit = read_commit(message);
  if (!begin_ || commit.commit != begin_->commit) {
    throw_error(sqlstate::protocol_violation,
                "incorrect commit LSN {} in commit message (expected {})", lsn_text(commit.commit),
                lsn_text(begin_ ? begin_->commit : Lsn::none));
  }
  if (is_skipping_) begin_locally();
  if (has_local_) finish_locally(commit.end);
  end_transaction(commit.end);
}

void ChangeApplier::end_transaction(Lsn end) {
  applied_ = std::max(applied_, end);
  begin_.reset();
  is_skipping_ = is_prepared_ = is_repeated_ = false;
}

void ChangeApplier::roll_back() {
  SilentSink sink;
  if (std::exchange(has_local_, false)) static_cast<void>(session_.simple_query("ROLLBACK", sink));
  end_transaction(applied_);
  streamed_ = nullptr;
  streams_.clear();
}

void ChangeApplier::begin_locally() {
  if (std::exchange(has_local_, true)) return;
  run_text("BEGIN");
  if (!is_prepared_ && !notes_origins(session_.state())) return;
  // Before all changes. The note needs a change before it: the position, which is written anew at
  // the end. A prepared transaction must not keep the position locked, and has a mark instead.
  in_local("ORIGIN", [&](Catalog& catalog, Transaction& transaction) {
    if (is_prepared_)
      put_prepared_mark(catalog, transaction, subscription_.oid, begin_->transaction);
    else
      put_applied_position(catalog, transaction, id(), begin_->commit);
    note_origin(session_.state(), subscription_.oid, begin_->commit);
  });
}

/// Commits the local transaction, and with it the position that it brings the subscription to.
void ChangeApplier::finish_locally(Lsn end) {
  in_local("COMMIT", [&](Catalog& catalog, Transaction& transaction) {
    put_applied_position(catalog, transaction, id(), end);
    if (subscription_.skip != Lsn::none) clear_skip(begin_->commit);
  });
  run_text("COMMIT");
  has_local_ = false;
  subscription_.skip = Lsn::none;
  unflushed_.push_back({session_.state().shared.engine.logical_log().tail(), end});
}

void ChangeApplier::clear_skip(Lsn commit) {
  Session::State& state = session_.state();
  Catalog& catalog = state.catalog.of_database();
  const auto old = lock_subscription(catalog, *state.transaction, subscription_.oid);
  if (!old || old->skip != subscription_.skip) return;
  Subscription changed = *old;
  changed.skip = Lsn::none;
  replace_subscription(state.catalog, *state.transaction, *old, changed);
  if (is_skipping_) {
    log(Severity::log, fmt::format("logical replication completed skipping transaction at LSN {}",
                                   lsn_text(subscription_.skip)));
    return;
  }
  log(Severity::warning, fmt::format("skip-LSN of subscription \"{}\" cleared", subscription_.name),
      fmt::format("Remote transaction's finish WAL location (LSN) {} did not match skip-LSN {}.",
                  lsn_text(commit), lsn_text(subscription_.skip)));
}

// Streams --------------------------------------------------------------------------------------

bool ChangeApplier::take_streamed(char kind, ChangeMessageReader& message) {
  switch (kind) {
    case 'S':
      start_stream(message);
      return true;
    case 'E':
      if (streamed_ == nullptr) {
        throw SqlError{sqlstate::protocol_violation, "STREAM STOP message without STREAM START"};
      }
      streamed_ = nullptr;
      return true;
    case 'A':
      abort_stream(message);
      return true;
    case 'c':
      commit_stream(message);
      return true;
    case 'p':
      prepare_stream(message);
      return true;
    default:
      if (streamed_ == nullptr) return false;
      keep_streamed(kind, message);
      return true;
  }
}

void ChangeApplier::start_stream(ChangeMessageReader& message) {
  require_outside();
  const auto transaction = message.number<std::uint32_t>();
  const bool is_first = message.number<std::uint8_t>() == 1;
  if (is_first) streams_.erase(transaction);
  TemporaryFiles& files = session_.state().temporary_files;
  const auto [stream, is_new] = streams_.try_emplace(transaction, files, transaction);
  if (is_new && !is_first) {
    throw_error(sqlstate::protocol_violation, "the beginning of streamed transaction {} is missing",
                transaction);
  }
  streamed_ = &stream->second;
}

void ChangeApplier::keep_streamed(char kind, ChangeMessageReader& message) {
  constexpr std::string_view kKinds = "RYIUDTMO";
  if (kKinds.find(kind) == std::string_view::npos) {
    throw_error(sqlstate::protocol_violation,
                "invalid logical replication message type \"{}\" in a streamed transaction", kind);
  }
  // Only the origin has no number: it is of the whole transaction.
  if (kind == 'O') return;
  const auto subtransaction = message.number<std::uint32_t>();
  streamed_->add(subtransaction, kind, message.rest());
}

void ChangeApplier::abort_stream(ChangeMessageReader& message) {
  require_outside();
  const auto transaction = message.number<std::uint32_t>();
  const auto subtransaction = message.number<std::uint32_t>();
  const auto stream = streams_.find(transaction);
  if (stream == streams_.end()) return;
  if (subtransaction == transaction) {
    streams_.erase(stream);
  } else {
    stream->second.take_back(subtransaction);
  }
}

void ChangeApplier::commit_stream(ChangeMessageReader& message) {
  const auto transaction = message.number<std::uint32_t>();
  const CommitMessage commit = read_commit(message);
  begin_transaction({.commit = commit.commit, .transaction = transaction});
  replay(transaction);
  if (is_skipping_) begin_locally();
  if (has_local_) finish_locally(commit.end);
  end_transaction(commit.end);
}

void ChangeApplier::prepare_stream(ChangeMessageReader& message) {
  const PrepareMessage prepared = read_prepare(message);
  begin_prepared(prepared);
  replay(prepared.transaction);
  kind_ = 'p';
  prepare(prepared);
}

/// Applies the messages that have been kept.
void ChangeApplier::replay(std::uint32_t transaction) {
  const auto stream = streams_.find(transaction);
  if (stream == streams_.end()) {
    throw_error(sqlstate::protocol_violation, "streamed transaction {} has not begun", transaction);
  }
  const char kind = kind_;
  stream->second.replay([&](Bytes change) {
    current_ = nullptr;
    ChangeMessageReader message{change};
    kind_ = message.letter();
    take_change(message);
  });
  kind_ = kind;
  current_ = nullptr;
  streams_.erase(stream);
}

// Prepared transactions ------------------------------------------------------------------------

bool ChangeApplier::take_prepared(char kind, ChangeMessageReader& message) {
  switch (kind) {
    case 'b':
      begin_prepared(read_begin_prepare(message));
      return true;
    case 'P':
      prepare(read_prepare(message));
      return true;
    case 'K':
      finish_prepared(read_commit_prepared(message), "COMMIT PREPARED");
      return true;
    case 'r':
      finish_prepared(read_rollback_prepared(message), "ROLLBACK PREPARED");
      return true;
    default:
      return false;
  }
}

std::string ChangeApplier::gid_of(std::uint32_t transaction) const {
  return fmt::format("pg_gid_{}_{}", subscription_.oid, transaction);
}

bool ChangeApplier::is_prepared_here(const std::string& gid) const {
  const auto all = session_.state().shared.engine.prepared();
  return std::ranges::find(all, gid, &PreparedTransaction::gid) != all.end();
}

void ChangeApplier::begin_prepared(const PrepareMessage& prepared) {
  begin_transaction({.commit = prepared.prepare, .transaction = prepared.transaction});
  is_prepared_ = true;
  // The position is stored after the PREPARE, so a crash between them repeats the transaction.
  is_repeated_ = is_prepared_here(gid_of(prepared.transaction));
}

void ChangeApplier::prepare(const PrepareMessage& prepared) {
  if (!begin_ || !is_prepared_ || prepared.prepare != begin_->commit) {
    throw_error(sqlstate::protocol_violation,
                "incorrect prepare LSN {} in prepare message (expected {})",
                lsn_text(prepared.prepare), lsn_text(begin_ ? begin_->commit : Lsn::none));
  }
  if (!is_repeated_) {
    // Also without changes: its end will be told.
    begin_locally();
    run_text(fmt::format("PREPARE TRANSACTION '{}'", gid_of(prepared.transaction)));
    has_local_ = false;
  }
  is_prepared_ = false;
  begin_locally();
  finish_locally(prepared.end);
  end_transaction(prepared.end);
}

/// The end of a transaction that was prepared before. A rollback may be of one that was not told.
void ChangeApplier::finish_prepared(const PrepareMessage& finished, std::string_view command) {
  require_outside();
  begin_ = {.commit = finished.prepare, .transaction = finished.transaction};
  const bool commits = command.starts_with("COMMIT");
  const std::string gid = gid_of(finished.transaction);
  const bool is_here = is_prepared_here(gid);
  if (is_here) run_text(fmt::format("{} '{}'", command, gid));
  begin_locally();
  in_local(command, [&](Catalog& catalog, Transaction& transaction) {
    // Else it was finished before the last start, and only the position was not stored.
    if (commits && !is_here &&
        !has_prepared_mark(catalog, transaction, subscription_.oid, finished.transaction)) {
      throw_error(sqlstate::undefined_object,
                  "prepared transaction with identifier \"{}\" does not exist", gid);
    }
    remove_prepared_mark(catalog, transaction, subscription_.oid, finished.transaction);
  });
  finish_locally(finished.end);
  end_transaction(finished.end);
}

}  // namespace swizzle::sql
