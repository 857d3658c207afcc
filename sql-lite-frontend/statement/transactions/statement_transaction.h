#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings/settings.h"
#include "sql-lite-frontend/catalog/table.h"
#include "sql-lite-frontend/execution/write/foreign_keys.h"
#include "sql-lite-frontend/statement/transactions/deferred_checks.h"
#include "sql-lite-frontend/statement/transactions/pending_mark.h"
#include "sql-lite-frontend/types/checked_pointers.h"
#include "storage/engine.h"

namespace swizzle::sql {

class PinnedRows;

/// Modes of a transaction, as in BEGIN and SET TRANSACTION.
struct TransactionModes {
  Isolation isolation = Isolation::read_committed;
  /// The client requested READ UNCOMMITTED: SHOW says so, though it acts as READ COMMITTED.
  bool says_uncommitted = false;
  bool read_only = false;
  bool deferrable = false;
};

/// The transaction as its statements see it: the engine's, the state for its statements, and their
/// work for its end. The session begins and ends it (StatementTransaction).
class StatementTransaction {
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
    PendingMark pending_mark;
    std::size_t moves_mark;
    std::size_t identities_mark;
    std::size_t advisory_mark;
    std::uint64_t large_objects_mark;
    bool read_only;
    ConstraintModes constraint_modes;
  };

  StatementTransaction() = default;
  StatementTransaction(const StatementTransaction&) = delete;
  StatementTransaction& operator=(const StatementTransaction&) = delete;

  // The engine's.
  explicit operator bool() const noexcept { return engine_ != nullptr; }
  Transaction& operator*() const { return *engine_; }
  Transaction* operator->() const { return &*engine_; }
  [[nodiscard]] Transaction* get() const noexcept { return engine_.get(); }

  /// Does nothing if there is one, except that BEGIN makes it a block.
  virtual void begin(Block kind) = 0;
  /// Throws when the commit fails; the transaction has ended then, too.
  virtual void commit() = 0;
  virtual void rollback() noexcept = 0;
  [[nodiscard]] virtual Savepoint mark(std::string name = {}) const = 0;
  virtual void roll_back_to(const Savepoint& savepoint) = 0;

  /// At REPEATABLE READ the transaction's snapshot is taken at its first statement, as in
  /// PostgreSQL.
  void begin_statement();
  /// The same for a change of definitions, which waits for its locks first: commits of others until
  /// then are no conflict. Its end calls take_snapshot().
  void begin_definition();
  /// Takes the transaction's snapshot. The statement that has run counts as the first, if there was
  /// none before.
  void take_snapshot();
  /// Begins a statement within a running one, after a routine has ended its transaction.
  void begin_inner_statement() {
    if (!any_statement_) [[unlikely]]
      begin_statement();
  }
  /// True if some statement of it has run, so that it may have its snapshot.
  [[nodiscard]] bool has_run_statements() const noexcept { return any_statement_; }

  [[nodiscard]] bool is_failed() const noexcept { return failed_; }
  [[nodiscard]] bool is_implicit() const noexcept { return block_ == Block::implicit; }
  [[nodiscard]] bool in_explicit_block() const noexcept { return block_ == Block::explicit_block; }
  /// The statements of one message are a transaction, too, though without savepoints.
  [[nodiscard]] bool in_block() const noexcept {
    return in_explicit_block() || (in_script && is_implicit());
  }
  void prevent_in_block(std::string_view command);
  void require_read_write(std::string_view command);
  /// 25006 on a standby.
  void prevent_on_standby(std::string_view command) const;
  [[nodiscard]] bool is_on_standby() const noexcept { return is_on_standby_; }
  [[nodiscard]] const TransactionModes& modes() const noexcept { return modes_; }

  // Constraints that are checked at its end.
  [[nodiscard]] bool is_deferred(Oid constraint, bool initially) const;
  /// True if checks of the relation's rows are outstanding.
  [[nodiscard]] bool awaits_checks_of(Oid relation) const { return deferred_.awaits(relation); }
  ReferenceQueue& references() noexcept { return references_; }

  // Work that definitions leave for the transaction's end.
  void truncate_at_commit(Oid relation) { truncated_on_commit_.push_back(relation); }
  void drop_at_commit(Oid relation) { dropped_on_commit_.push_back(relation); }
  /// Notes that a sequence got another position, or was dropped: one of the two positions is free
  /// after the transaction's end.
  void note_sequence_move(Oid to, Oid from) { sequence_moves_.push_back({to, from}); }
  /// Notes an index built at REPEATABLE READ, which the transaction's snapshot must not read.
  void note_young_index(Oid index) { young_indexes_.insert(index); }
  [[nodiscard]] bool is_young(Oid index) const { return young_indexes_.contains(index); }
  [[nodiscard]] bool has_young_indexes() const noexcept { return !young_indexes_.empty(); }

  /// Notes that temporary relations are used: the transaction cannot be prepared then.
  void note_temporaries(std::span<const TablePtr> tables) noexcept;
  void note_temporary() noexcept { used_temporaries_ = true; }
  /// True while it deletes the rows of temporary tables before it commits: no trigger fires.
  [[nodiscard]] bool clears_temporaries() const noexcept { return clears_temporaries_; }

  bool in_script = false;  ///< it runs one of several statements of a message
  /// True if the running statement may end the transaction: CALL or DO outside a block, and
  /// procedures that it calls.
  bool may_end = false;
  int guarded_blocks = 0;  ///< within how many blocks of routines, which take their errors back
  /// Loops whose bodies may end the transaction, outermost first.
  std::vector<PinnedRows*> pinned_rows;

 protected:
  /// On a standby nothing is written, and SERIALIZABLE is refused.
  bool is_on_standby_ = false;
  ~StatementTransaction() = default;
  /// SERIALIZABLE READ ONLY DEFERRABLE: takes a snapshot in which no anomaly can show.
  virtual void wait_for_safe_snapshot() = 0;

  struct SequenceMove {
    Oid to = kNoOid;
    Oid from = kNoOid;
  };

  /// Replaced only under a mutex, since a cancel reads it from other threads.
  CheckedUnique<Transaction> engine_;
  Block block_ = Block::none;
  bool failed_ = false;
  bool any_statement_ = false;  ///< in this transaction: SET TRANSACTION comes too late then
  bool used_temporaries_ = false;
  bool clears_temporaries_ = false;
  TransactionModes modes_;
  DeferredChecks deferred_;
  ConstraintModes constraint_modes_;
  ReferenceQueue references_;
  std::vector<Oid> truncated_on_commit_;
  std::vector<Oid> dropped_on_commit_;  ///< made in this transaction
  std::set<Oid> young_indexes_;
  std::vector<SequenceMove> sequence_moves_;
};

}  // namespace swizzle::sql
