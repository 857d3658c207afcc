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

#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/shared/notifications.h"
#include "sql-lite-frontend/statement/lasting_share.h"
#include "sql-lite-frontend/statement/transactions/statement_transaction.h"
#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::sql {

struct PreparedNote;

/// Counts the locks of a session's transaction in the session's memory.
class SessionLockMemory final : public LockMemory {
 public:
  explicit SessionLockMemory(Session::State& session) noexcept : session_(session) {}
  Result<> take(std::size_t bytes) override;
  void give_back(std::size_t bytes) noexcept override;

 private:
  Session::State& session_;
};

/// Begin and end of the session's transaction: blocks, savepoints, modes, and the work at its end.
class SessionTransaction final : public StatementTransaction {
 public:
  struct Defaults {
    TransactionModes modes;
    Transaction::Durability durability = Transaction::Durability::synchronous;
    Duration lock_timeout{};
    Duration deadlock_timeout{};
    /// serializable_method: SERIALIZABLE locks what is read.
    bool locks_serializable = false;
    /// session_replication_role: which triggers fire.
    bool is_replica = false;
    std::uint64_t revision = 0;  ///< of the server's settings; 0: the session's have changed
  };

  explicit SessionTransaction(Session::State& session);
  SessionTransaction(const SessionTransaction&) = delete;
  SessionTransaction& operator=(const SessionTransaction&) = delete;
  ~SessionTransaction() { engine_.reset(); }  // before lock_memory_, which it uses

  /// Ends the current wait for a lock, if there is one. From any thread.
  void interrupt_wait() noexcept;
  /// True if it writes under this number. From any thread.
  [[nodiscard]] bool is_numbered(TxnId number) noexcept;
  /// False: the next statement takes a view of its own. `has_cursors`: statements that have begun
  /// are not at their end.
  [[nodiscard]] bool keeps_view(bool has_cursors) const noexcept {
    if (engine_ == nullptr || (failed_ && savepoints_.empty())) return false;
    return modes_.isolation != Isolation::read_committed || has_cursors || !exports_.empty();
  }
  /// Applies lock_timeout from the next wait on.
  void apply_lock_timeout();

  /// Begins another of the engine's transactions for this session, which may stay open for long.
  /// Throws 53400 when no slot is left for one.
  [[nodiscard]] std::unique_ptr<Transaction> begin_in_engine(Isolation isolation, Access access);

  void begin(Block kind) override;
  void commit() override;
  void rollback() noexcept override;
  /// Runs BEGIN, COMMIT, SAVEPOINT and other transaction control statements.
  void run(const ast::TransactionStmt& statement, ResultSink& sink);

  /// After an error: undoes everything, and releases locks, back to the last savepoint if there is
  /// one. A block stays, as a failed one, until its client ends it.
  void fail() noexcept;
  [[nodiscard]] Savepoint mark(std::string name = {}) const override;
  void roll_back_to(const Savepoint& savepoint) override;

  /// Takes the modes of another transaction at the begin: AND CHAIN.
  void act_as(const TransactionModes& modes);
  /// SET TRANSACTION.
  void set_modes_by_statement(ast::NodeList options);
  /// SET transaction_isolation and the like: for the current transaction.
  void set_mode(std::string_view setting, std::string_view value);
  /// SET TRANSACTION SNAPSHOT: takes the snapshot of another transaction.
  void import_snapshot(std::string_view name);
  /// pg_export_snapshot: returns the name by which others can take its snapshot, until it ends.
  /// Throws 25001.
  std::string export_snapshot();
  const Defaults& defaults();
  /// Sends a WARNING for each damage that reads have skipped since the last call, while the server
  /// salvages a damaged database.
  void tell_passed_over(ResultSink& sink);
  // A promotion, while the session is outside of the replay gate. By the thread that promotes.

  /// Gives the engine's transaction back.
  void let_go_of_engine() noexcept;
  /// Goes on in a new one of the engine's, which has nothing of the old one to keep: it has been
  /// read-only, and stays so to its end.
  void go_on_promoted();

  /// Called when settings have changed.
  void forget_defaults() noexcept { kept_defaults_.revision = 0; }

  // Constraints that are checked later: constraint_timing.cpp.
  void set_constraints(const ast::ConstraintsSetStmt& statement, ResultSink& sink);
  void defer(const DeferredCheck& check);

  std::int64_t number = 0;  ///< of the current one, once txid_current() was called
  /// Returns the transaction's number, given at the first call. (The engine numbers only
  /// transactions that write.)
  std::int64_t numbered();
  /// Notes the end of the numbered transaction: its changes are visible from now on, or never.
  void end_number(bool committed);

 private:
  struct Export {
    std::string name;
    std::optional<ReadView> held;  ///< by export_holder_; none: it is this transaction's own
    MemoryShare share;
  };
  enum class Moves : std::uint8_t { stay, are_undone };

  /// Discards its work outside the engine, before and after the engine's rollback.
  void begin_rollback() noexcept;
  void end_rollback() noexcept;
  /// Releases its exported snapshots.
  void end_exports() noexcept;
  void put(std::unique_ptr<Transaction> to);
  void take_passed_over();
  void start_in_engine();
  [[nodiscard]] Isolation engine_isolation();
  void wait_for_safe_snapshot() override;
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
  /// Prepares it in the engine. 42710, 53200, 53100: the transaction has ended then.
  void hand_to_engine(std::string_view gid, const PreparedNote& note);
  /// Does the transaction's remaining work; throws if that fails.
  void finish_work();
  void clear_temporaries();
  void refuse_kept_references();
  /// Called before a savepoint is made. Throws SqlError 53200.
  void count_savepoint();
  void run_deferred_checks(std::span<const Oid> constraints);
  void forget_deferred_checks() noexcept;
  void end_advisory_locks() noexcept;
  /// Forgets the sequence positions that the moves from the mark on have freed.
  void end_sequence_moves(Moves outcome, std::size_t mark = 0) noexcept;

  Session::State& session_;
  SessionLockMemory lock_memory_{session_};
  std::mutex mutex_;  ///< of engine_
  std::vector<Savepoint> savepoints_;
  LastingShare savepoints_share_;
  std::vector<Export> exports_;
  /// Keeps the views of exported snapshots that are not the transaction's own.
  std::unique_ptr<Transaction> export_holder_;
  Defaults kept_defaults_;
  std::vector<std::string> passed_over_;  ///< damage that the client was not told of yet
  bool goes_on_promoted_ = false;         ///< it was open when its engine went
};

}  // namespace swizzle::sql
