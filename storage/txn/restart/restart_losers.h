#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/runtime/background_task.h"
#include "lock/lock_types.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/recovery/undo_chain.h"
#include "storage/statistics.h"
#include "storage/txn/restart/restart_changes.h"

namespace swizzle {

class AnyTree;
struct EngineParts;
struct TransactionState;

/// The transactions that a crash interrupted. They keep their locks and are rolled back behind the
/// door, as any transaction is, without a session (rule R15).
///
/// Of a tree of which a transaction changed few rows the versions are built before the engine
/// opens. A tree of which it changed many is closed: whoever reads or writes it waits for the
/// transaction. Its rows are undone as the log is read. Thread-safe.
class RestartLosers {
 public:
  /// Rows of a tree that one transaction may have changed while others go on to read the tree; an
  /// update counts as several. Changed by tests.
  static inline std::atomic<std::uint64_t> most_open_rows{1024};
  /// The records of a transaction are read before the engine opens if undoing it adds no more than
  /// this to the log, or if it has changed few rows of a tree. Changed by tests.
  static inline std::atomic<std::uint64_t> most_read_bytes{std::uint64_t{16} << 20U};

  explicit RestartLosers(EngineParts& engine);
  RestartLosers(const RestartLosers&) = delete;
  RestartLosers& operator=(const RestartLosers&) = delete;
  ~RestartLosers();

  /// Pre: the trees can be opened, the prepared transactions are restored, and the engine is not in
  /// use. Reads the log records of the losers, but of those that would close each of their trees.
  /// Logs nothing.
  Result<> take_up(std::span<const ActiveTransaction> losers);
  /// Rolls back all that are left; the caller waits.
  void finish();
  /// The same before a stop. Some are left, for the next start, if waiting does not help them.
  void finish_for_stop();
  void start();
  /// Parks until none is left, or the caller is asked to end.
  void wait_until_done() const;
  /// Parks until the task has ended; losers may be left, for the next start. Idempotent.
  void stop() noexcept { task_.stop(); }
  /// On a standby: what they have changed is to be seen, or is known anew by take_up(). Pre: the
  /// engine is not in use.
  void forget() noexcept;
  /// The engine goes, as in a crash: they stay in the log, and only their memory is released.
  void abandon() noexcept;

  [[nodiscard]] std::size_t count() const noexcept {
    // Acquire: a reader that finds none reads what the last one left.
    return count_.load(std::memory_order_acquire);
  }
  enum class Changed : std::uint8_t {
    rows,       ///< any row of the tree
    many_rows,  ///< so many that the tree is closed
  };
  /// Returns the lock of a loser that has changed the tree and is not rolled back; none: there is
  /// none any more.
  [[nodiscard]] lock::TransactionLock holder_of(TreeId tree, Changed what) const;
  [[nodiscard]] std::set<TreeId> changed_trees() const;
  /// Returns true if a loser has dropped the tree.
  [[nodiscard]] bool has_dropped(TreeId tree) const;
  /// Returns true if a loser has created the tree.
  [[nodiscard]] bool has_created(TreeId tree) const;
  [[nodiscard]] std::vector<RestartRollback> list() const;

 private:
  struct Loser;

  Result<> take_up(const ActiveTransaction& of);
  [[nodiscard]] bool closes_all_trees(const ActiveTransaction& of) const;
  Result<> read_changes(Loser& loser);
  Result<> lock_trees(Loser& loser);
  void close_trees(Loser& loser);
  /// Asked between two steps, and with the error after a step that failed.
  using GoesOn = bool (*)(const BackgroundTask& task, const Error* failure);
  void work(GoesOn goes_on);
  [[nodiscard]] Loser* next() const;
  /// Returns false if it is not completely undone.
  bool undo(Loser& loser, GoesOn goes_on);
  Result<> undo_step(Loser& loser, const UndoStep& step);
  Result<> undo_closed_step(Loser& loser, const UndoStep& step);
  void end(Loser& loser);

  EngineParts& engine_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Loser>> losers_;  ///< under mutex_; the task's own otherwise
  std::atomic<std::size_t> count_{0};
  BackgroundTask task_;
};

}  // namespace swizzle
