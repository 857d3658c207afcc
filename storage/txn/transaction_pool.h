#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "storage/latch/spin_latch.h"
#include "storage/txn/transaction_state.h"

namespace swizzle {

/// Working states and undo logs for reuse, and the undo logs of committed transactions that a
/// snapshot may still need. In shards by thread, so that threads meet in none of them.
class TransactionPool {
 public:
  explicit TransactionPool(EngineParts& engine);
  TransactionPool(const TransactionPool&) = delete;
  TransactionPool& operator=(const TransactionPool&) = delete;
  ~TransactionPool();

  /// Null when the registry has no slot left for `place`.
  std::unique_ptr<TransactionState> take_state(TransactionPlace place);
  void give_state(std::unique_ptr<TransactionState> state);
  std::unique_ptr<UndoLog> take_undo();
  /// Takes an undo log back. Pre: it is empty or rolled back, so that its records are not referred
  /// to.
  void give_undo(std::unique_ptr<UndoLog> undo);
  /// Committed. Kept until every snapshot is younger; then its records leave the version index, in
  /// bulk. When all that is kept passes the store's bound, the oldest snapshots are given up.
  void retire_undo(std::unique_ptr<UndoLog> undo);
  /// Frees some of the undo records that are not needed any more, in every shard. False: nothing is
  /// left to free.
  bool reclaim_some() noexcept;
  [[nodiscard]] std::uint64_t retained_bytes() const noexcept;
  /// Returns the bytes retained of commits at or after `snapshot`.
  [[nodiscard]] std::uint64_t retained_since(Lsn snapshot) noexcept;
  /// Returns the bytes of files used for undo records since the start.
  [[nodiscard]] std::uint64_t spilled_bytes() const noexcept {
    return undo_space_.spilled_bytes.load(std::memory_order_relaxed);
  }

  void count_commit() noexcept { own_shard().commits.fetch_add(1, std::memory_order_relaxed); }
  void count_rollback() noexcept { own_shard().rollbacks.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t commits() const noexcept;
  [[nodiscard]] std::uint64_t rollbacks() const noexcept;
  /// Leaves that transactions which have ended asked for.
  [[nodiscard]] std::uint64_t leaf_requests() const noexcept;

 private:
  static constexpr std::size_t kShards = 16;
  /// A shard is looked through when so many logs, or so many bytes, have come since the last look.
  static constexpr std::size_t kBatch = 32;
  static constexpr std::uint64_t kBatchBytes = std::uint64_t{1} << 20U;
  /// Most logs that one committing writer frees: more than come in meanwhile.
  static constexpr std::size_t kMostAtOnce = 4 * kBatch;
  /// Number of changes from which on a log is not freed by a committing writer, since its client
  /// waits.
  static constexpr std::uint64_t kManyChanges = 16 * 1024;
  struct Retained {
    std::unique_ptr<UndoLog> undo;
    Lsn commit;
    std::uint64_t bytes_before;  ///< of all that the shard ever retained before it
  };
  struct alignas(64) Shard {
    SpinLatch mutex;
    std::vector<std::unique_ptr<TransactionState>> states;
    std::vector<std::unique_ptr<UndoLog>> undo_logs;
    std::deque<Retained> retained;  ///< about in the order of commits
    std::uint64_t bytes_ever = 0;
    std::size_t reclaim_at = kBatch;
    std::uint64_t reclaim_at_bytes = kBatchBytes;
    std::atomic<std::uint64_t> retained_bytes{0};
    std::atomic<std::uint64_t> commits{0};
    std::atomic<std::uint64_t> rollbacks{0};
    std::atomic<std::uint64_t> leaf_requests{0};
  };
  Shard& own_shard() noexcept;
  static std::unique_ptr<TransactionState> idle_state(Shard& shard);
  enum class Freed : std::uint8_t { all, some };
  Freed reclaim(Shard& shard, Lsn horizon, std::uint64_t most_changes = UINT64_MAX) noexcept;
  void keep_within_bound() noexcept;

  EngineParts& engine_;
  UndoSpace undo_space_;
  std::array<Shard, kShards> shards_;
  std::atomic<bool> is_giving_up_{false};
};

}  // namespace swizzle
