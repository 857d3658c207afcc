#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/runtime/runtime.h"
#include "lock/lock_types.h"
#include "storage/access.h"
#include "storage/prepared_transaction.h"

namespace swizzle {

struct TransactionState;

/// Counts the memory of a transaction's locks for its session. Used by the transaction's thread or
/// fiber alone.
class LockMemory {
 public:
  LockMemory() = default;
  LockMemory(const LockMemory&) = delete;
  LockMemory& operator=(const LockMemory&) = delete;
  virtual ~LockMemory() = default;
  /// An error, usually 53200, refuses the memory, and ends the operation that needs the locks.
  virtual Result<> take(std::size_t bytes) = 0;
  virtual void give_back(std::size_t bytes) noexcept = 0;
};

/// Ends by commit() or rollback(); destroying an open one rolls it back.
class Transaction {
 public:
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  /// Leaves the memory to the working state, whose next transaction takes it.
  static void operator delete(Transaction* ended, std::destroying_delete_t);

  [[nodiscard]] TxnId id() const noexcept;
  [[nodiscard]] Isolation isolation() const noexcept;
  [[nodiscard]] Access access() const noexcept;

  /// Rolls back and begins again, in the same slot, for the same session.
  void restart(Isolation isolation, Access access) noexcept;

  /// Starts a statement: at READ COMMITTED it takes a fresh snapshot. The statement's own writes
  /// are not visible to its snapshot reads until the next begin_statement().
  void begin_statement();

  /// Takes the transaction's snapshot now, not at its first read. Only at REPEATABLE READ, and if
  /// there is none yet; otherwise does nothing.
  void take_snapshot();

  /// True if its reads show every commit before `moment`, which has passed: always where each
  /// statement reads a snapshot of its own, or before the transaction's is taken.
  [[nodiscard]] bool shows_all_before(Lsn moment) const noexcept;

  /// At SERIALIZABLE by snapshot: promises that the transaction writes nothing that others read, so
  /// that fewer of its conflicts count. Call before its snapshot is taken.
  void promise_no_writes() noexcept;
  /// The same, and takes a snapshot in which no anomaly can show. False: whether this one is such
  /// is not decided yet, or it is not; call again a little later.
  [[nodiscard]] bool try_safe_snapshot();

  /// Starts a statement within the running one, and returns the outer one's view, for end_inner().
  /// InnerStatement is the better way.
  [[nodiscard]] ReadView begin_inner(ReadView::Sees sees);
  void end_inner(const ReadView& outer) noexcept;

  /// Keeps the view of the running statement, for its reads beside later statements, until
  /// release_view(). HeldView is the better way.
  [[nodiscard]] ReadView hold_view();
  void release_view(const ReadView& view) noexcept;
  /// True if views of statements are kept, by hold_view() or beside an inner one's.
  [[nodiscard]] bool keeps_views() const noexcept;
  /// Makes reads use `view` from now on; returns the view before.
  [[nodiscard]] ReadView exchange_view(const ReadView& view) noexcept;

  /// Returns the damage that reads have skipped since the last call (EngineOptions::salvage), at
  /// most a hundred entries.
  [[nodiscard]] std::vector<std::string> take_passed_over() noexcept;

  /// Number of leaves that its reads and writes have requested.
  [[nodiscard]] std::uint64_t leaf_requests() const noexcept;

  /// Sets the label for the views and for reports of deadlocks, and a text that describes the
  /// present work, or null, which is read when a wait for a lock begins. `doing` outlives the
  /// transaction.
  void work_for(lock::OwnerLabel label, const std::string* doing) noexcept;

  /// Counts the memory of its locks in `memory` from now on, until it ends or restarts.
  void count_locks_in(LockMemory& memory) noexcept;

  /// Locks a relation in one of PostgreSQL's modes, for the layer that knows relations: these locks
  /// order statements and changes of definitions. Kept to the end, or to rollback_to() an earlier
  /// mark. False: not available, with WaitPolicy::skip. 55P03, 40P01, 57014 as every lock.
  Result<bool> lock_relation(lock::RelationId relation, lock::RelationMode mode,
                             WaitPolicy wait = WaitPolicy::wait);

  /// Takes ACCESS SHARE if that takes a few instructions, as it does while no definition is being
  /// changed. False: call lock_relation().
  [[nodiscard]] bool try_share_relation(lock::RelationId relation) noexcept;

  /// Waits until every other transaction that has a lock on the relation, or has asked for one,
  /// that excludes `mode` has ended, and keeps nothing. Later requests do not wait for this one.
  /// Pre: SHARE or ACCESS EXCLUSIVE. 55P03, 40P01, 57014 as every lock.
  Result<> wait_for_holders(lock::RelationId relation, lock::RelationMode mode);

  /// `publish` runs in commit(), once the commit is durable and before the locks are released, so
  /// that the next holder of a lock finds the published changes. It neither fails nor waits. For
  /// changes of definitions.
  void before_release(std::function<void()> publish);

  /// Sets the limit of a wait for a lock; zero, the default: without limit.
  void set_lock_timeout(Duration timeout) noexcept;
  /// Sets how long a wait lasts before a deadlock is searched for; zero, the default: it is
  /// searched for at once.
  void set_deadlock_timeout(Duration timeout) noexcept;
  /// Makes the wait in progress, and every later one, fail with 57014 until clear_cancel().
  /// Callable from any thread while the transaction is open.
  void cancel() noexcept;
  void clear_cancel() noexcept;

  /// A savepoint, also of a statement that may fail.
  struct Mark {
    std::uint64_t undo_position = 0;
    std::uint64_t lock_position = 0;
  };
  [[nodiscard]] Mark mark() const noexcept;
  /// Undoes the changes after the mark and releases their locks, except at SERIALIZABLE, where they
  /// also protect reads.
  Result<> rollback_to(Mark mark);

  /// Returns when the commit, and all commits that it read from, are durable (unless
  /// synchronous_commit is off). On error the transaction has been rolled back.
  enum class Durability : std::uint8_t { synchronous, asynchronous, unforced };
  Result<> commit(Durability durability = Durability::synchronous);
  /// Commits without waiting. Snapshots see the writes when they are durable, at the latest with
  /// the next commit that waits. A caller that uses the transaction's writes before then must
  /// depend on the LSN.
  Result<Lsn> commit_unforced();
  /// Makes its commit wait for the one at `commit`, even if it has written nothing itself.
  void depend_on(Lsn commit) noexcept;
  void rollback() noexcept;

  /// Prepares the transaction: it can be committed, or rolled back, also after a crash. It keeps
  /// its locks and its changes, also over a restart, until it is finished
  /// (Engine::take_prepared()). It belongs to the engine from then on, and this object is as if the
  /// transaction had ended. `note`, at most 256 KB, is kept with it. 42710 when another has that
  /// name, 53200 when there are `most_at_once` already. On error the transaction goes on as before.
  /// Pre: nothing is to be published at its commit.
  static constexpr std::size_t kMostGidBytes = 199;
  static constexpr std::size_t kAnyNumber = SIZE_MAX;
  Result<> prepare(std::string_view gid, Bytes note, std::size_t most_at_once = kAnyNumber);
  /// Returns its number, and assigns one, as its first write does, if it has none yet.
  [[nodiscard]] TxnId take_id();
  /// Returns its state as a prepared transaction. Pre: Engine::take_prepared() has handed it out,
  /// and it has not ended.
  [[nodiscard]] const PreparedTransaction& prepared_as() const noexcept;

 private:
  friend class Engine;
  friend struct TransactionAccess;
  explicit Transaction(std::unique_ptr<TransactionState> state) noexcept;
  ~Transaction();
  std::unique_ptr<TransactionState> state_;
};

}  // namespace swizzle
