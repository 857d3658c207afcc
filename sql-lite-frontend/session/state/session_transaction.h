#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/bound/session_services.h"
#include "sql-lite-frontend/parse/parser.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/shared/lasting_share.h"
#include "sql-lite-frontend/session/shared/notifications.h"
#include "sql-lite-frontend/session/state/deferred_checks.h"
#include "sql-lite-frontend/types/checked_pointers.h"
#include "sql-lite-frontend/types/memory_account.h"
#include "sql-lite-frontend/write/foreign_keys.h"

namespace swizzle::sql {

class PinnedRows;
struct PreparedNote;

/// Modes of a transaction, as in BEGIN and SET TRANSACTION.
struct TransactionModes {
  Isolation isolation = Isolation::read_committed;
  /// The client asked for READ UNCOMMITTED: shown as that, though it acts as READ COMMITTED.
  bool says_uncommitted = false;
  bool read_only = false;
  bool deferrable = false;
};

/// Counts the locks of a session's transaction in the session's memory.
class SessionLockMemory final : public LockMemory {
 public:
  explicit SessionLockMemory(Session::State& session) noexcept : session_(session) {}
  Result<> take(std::size_t bytes) override;
  void give_back(std::size_t bytes) noexcept override;

 private:
  Session::State& session_;
};

/// The session's transaction: a pointer to the engine's, if there is one, and the additions of SQL:
/// blocks, savepoints, modes, and the work at its end.
class SessionTransaction {
 public:
  enum class Block : std::uint8_t { none, implicit, explicit_block };
  /// Modes set by SET CONSTRAINTS in this transaction.
  struct ConstraintModes {
    std::optional<bool> all_deferred;
    std::map<Oid, bool> deferred;  ///< those that were named since
  };
  struct Savepoint {
    std::string name;
    Transaction::Mark mark;
    std::size_t catalog_mark;
    SessionSettings::Mark settings_mark;
    DeferredChecks::Mark checks_mark;
    std::uint64_t portals_mark;
    PendingNotifications::Mark pending_mark;
    std::size_t moves_mark;
    std::size_t identities_mark;
    std::size_t advisory_mark;
    bool read_only;
    ConstraintModes constraint_modes;
  };
  struct Defaults {
    TransactionModes modes;
    Transaction::Durability durability = Transaction::Durability::synchronous;
    Duration lock_timeout{};
    Duration deadlock_timeout{};
    /// session_replication_role: which triggers fire.
    bool is_replica = false;
    std::uint64_t revision = 0;  ///< of the server's settings; 0: the session's have changed
  };

  explicit SessionTransaction(Session::State& session) : session_(session) {}
  SessionTransaction(const SessionTransaction&) = delete;
  SessionTransaction& operator=(const SessionTransaction&) = delete;

  // The engine's.
  explicit operator bool() const noexcept { return engine_ != nullptr; }
  Transaction& operator*() const { return *engine_; }
  Transaction* operator->() const { return &*engine_; }
  [[nodiscard]] Transaction* get() const noexcept { return engine_.get(); }
  /// Ends the wait for a lock that is in progress, if one is. From any thread.
  void interrupt_wait() noexcept;
  /// Whether it writes under this number. From any thread.
  [[nodiscard]] bool is_numbered(TxnId number) noexcept;
  /// Applies lock_timeout from the next wait on.
  void apply_lock_timeout();

  /// Begins another of the engine's transactions for this session, which may stay open for long.
  /// Throws 53400 when no place is left for one.
  [[nodiscard]] std::unique_ptr<Transaction> begin_in_engine(Isolation isolation, Access access);

  /// Does nothing where there is one, but that BEGIN makes it a block.
  void begin(Block kind);
  /// Throws when the commit fails; the transaction is over then, too.
  void commit();
  void rollback() noexcept;
  /// BEGIN, COMMIT, SAVEPOINT …
  void run(const ast::TransactionStmt& statement, ResultSink& sink);

  /// At REPEATABLE READ the transaction's snapshot is taken at its first statement, as in
  /// PostgreSQL.
  void begin_statement();
  /// The same for a change of definitions, which waits for its locks first: what others have
  /// committed until then is no conflict. Its end calls take_snapshot().
  void begin_definition();
  /// Takes the transaction's snapshot. The statement that has run counts as the first, if there was
  /// none before.
  void take_snapshot();
  /// A statement within one that runs, where a routine has ended its transaction.
  void begin_inner_statement() {
    if (!any_statement_) [[unlikely]]
      begin_statement();
  }
  /// After an error: gives up everything, locks too, back to the last savepoint if there is one. A
  /// block stays, as a failed one, until its client ends it.
  void fail() noexcept;
  [[nodiscard]] Savepoint mark(std::string name = {}) const;
  void roll_back_to(const Savepoint& savepoint);

  [[nodiscard]] bool is_failed() const noexcept { return failed_; }
  [[nodiscard]] bool is_implicit() const noexcept { return block_ == Block::implicit; }
  [[nodiscard]] bool in_explicit_block() const noexcept { return block_ == Block::explicit_block; }
  /// The statements of one message are a transaction, too, though not one with savepoints.
  [[nodiscard]] bool in_block() const noexcept {
    return in_explicit_block() || (in_script && is_implicit());
  }
  void prevent_in_block(std::string_view command);
  void require_read_write(std::string_view command);

  /// Some statement of it has run, so that it may have its snapshot.
  [[nodiscard]] bool has_run_statements() const noexcept { return any_statement_; }
  [[nodiscard]] const TransactionModes& modes() const noexcept { return modes_; }
  /// Takes the modes of another transaction, at the beginning: AND CHAIN.
  void act_as(const TransactionModes& modes);
  /// SET TRANSACTION.
  void set_modes_by_statement(ast::NodeList options);
  /// SET transaction_isolation and the like: for the present transaction.
  void set_mode(std::string_view setting, std::string_view value);
  /// SET TRANSACTION SNAPSHOT: takes the snapshot of another transaction.
  void import_snapshot(std::string_view name);
  /// pg_export_snapshot: returns the name by which others can take its snapshot, until it ends.
  /// Throws 25001.
  std::string export_snapshot();
  const Defaults& defaults();
  /// Settings have changed.
  void forget_defaults() noexcept { kept_defaults_.revision = 0; }

  // Constraints that are looked at later: constraint_timing.cpp.
  void set_constraints(const ast::ConstraintsSetStmt& statement, ResultSink& sink);
  [[nodiscard]] bool is_deferred(Oid constraint, bool initially) const;
  void defer(const DeferredCheck& check);
  /// Whether rows of the relation are still to be looked at.
  [[nodiscard]] bool awaits_checks_of(Oid relation) const { return deferred_.awaits(relation); }
  ReferenceQueue& references() noexcept { return references_; }

  // Work that definitions leave for the transaction's end.
  void truncate_at_commit(Oid relation) { truncated_on_commit_.push_back(relation); }
  void drop_at_commit(Oid relation) { dropped_on_commit_.push_back(relation); }
  /// Notes that a sequence got another position, or was dropped: one of the two positions is free
  /// in the end.
  void note_sequence_move(Oid to, Oid from) { sequence_moves_.push_back({to, from}); }
  /// Built in it, at REPEATABLE READ: its snapshot does not read the index.
  void note_young_index(Oid index) { young_indexes_.insert(index); }
  [[nodiscard]] bool is_young(Oid index) const { return young_indexes_.contains(index); }
  [[nodiscard]] bool has_young_indexes() const noexcept { return !young_indexes_.empty(); }

  /// Relations of this session alone are read or written: it cannot be prepared then.
  void note_temporaries(std::span<const TablePtr> tables) noexcept;
  void note_temporary() noexcept { used_temporaries_ = true; }
  /// It is deleting the rows of temporary tables before it commits: no trigger fires.
  [[nodiscard]] bool clears_temporaries() const noexcept { return clears_temporaries_; }

  std::int64_t number = 0;  ///< of the present one, once txid_current() was asked
  /// Returns the transaction's number, given at the first call. (The engine numbers only those that
  /// write.)
  std::int64_t numbered();
  /// Notes the end of the numbered transaction: its changes are visible, or never will be.
  void end_number(bool committed);
  bool in_script = false;  ///< what runs is one of several statements of a message
  /// True if the running statement may end the transaction: CALL or DO outside a block, and
  /// procedures that it calls.
  bool may_end = false;
  int guarded_blocks = 0;  ///< within how many blocks of routines, which take their errors back
  /// Loops whose bodies may end the transaction, outermost first.
  std::vector<PinnedRows*> pinned_rows;

 private:
  struct Export {
    std::string name;
    std::optional<ReadView> held;  ///< by export_holder_; none: it is this transaction's own
    MemoryShare share;
  };
  struct SequenceMove {
    Oid to = kNoOid;
    Oid from = kNoOid;
  };
  enum class Moves : std::uint8_t { stay, are_undone };

  /// Gives up all that it has done outside the engine, before and after the engine's rollback.
  void begin_rollback() noexcept;
  void end_rollback() noexcept;
  /// Releases its exported snapshots.
  void end_exports() noexcept;
  void put(std::unique_ptr<Transaction> to);
  void start_in_engine();
  [[nodiscard]] Isolation engine_isolation() const noexcept;
  [[nodiscard]] Access engine_access() const noexcept;
  void set_modes(ast::NodeList options);
  void choose_isolation(Isolation wanted);
  void choose_read_only(bool wanted);
  void choose_deferrable(bool wanted);
  void begin_as_chosen();
  void begin_block(const ast::TransactionStmt& statement, ResultSink& sink);
  void end_block(const ast::TransactionStmt& statement, ResultSink& sink);
  void end_savepoint(const ast::TransactionStmt& statement, ResultSink& sink);
  // PREPARE TRANSACTION: two_phase.cpp.
  void prepare(std::string_view gid, ResultSink& sink);
  /// Does the transaction's remaining work and returns the note to keep with it; throws if it
  /// cannot be prepared.
  PreparedNote ready_to_prepare(std::string_view gid);
  /// 42710, 53200, 53100: it is over then.
  void hand_to_engine(std::string_view gid, const PreparedNote& note);
  /// Does the transaction's remaining work; throws if that fails.
  void finish_work();
  void clear_temporaries();
  /// Before one is made. Throws SqlError 53200.
  void count_savepoint();
  void run_deferred_checks(std::span<const Oid> constraints);
  void forget_deferred_checks() noexcept;
  void end_advisory_locks() noexcept;
  /// Forgets the positions that the moves from the mark on leave behind.
  void end_sequence_moves(Moves outcome, std::size_t mark = 0) noexcept;

  Session::State& session_;
  SessionLockMemory lock_memory_{session_};  ///< before engine_, which uses it
  /// Replaced by put() alone, since cancel() looks at it from other threads.
  CheckedUnique<Transaction> engine_;
  std::mutex mutex_;
  Block block_ = Block::none;
  bool failed_ = false;
  TransactionModes modes_;
  std::vector<Savepoint> savepoints_;
  LastingShare savepoints_share_;
  bool used_temporaries_ = false;
  bool clears_temporaries_ = false;
  bool any_statement_ = false;  ///< in this transaction: SET TRANSACTION comes too late then
  DeferredChecks deferred_;
  ConstraintModes constraint_modes_;
  ReferenceQueue references_;
  std::vector<Oid> truncated_on_commit_;
  std::vector<Oid> dropped_on_commit_;  ///< made in this transaction
  std::set<Oid> young_indexes_;
  std::vector<SequenceMove> sequence_moves_;
  std::vector<Export> exports_;
  /// Keeps the exported snapshots that are not the transaction's own: one place for all of them.
  std::unique_ptr<Transaction> export_holder_;
  Defaults kept_defaults_;
};

}  // namespace swizzle::sql
