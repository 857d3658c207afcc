#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "storage/latch/spin_mutex.h"
#include "storage/txn/transaction_state.h"

namespace swizzle {

/// Working states and undo logs for reuse, and the undo logs of committed transactions that a
/// snapshot may still need. In shards by thread, so that threads meet in none of them.
class TransactionPool {
 public:
  explicit TransactionPool(EngineParts& engine) noexcept : engine_(engine) {}
  TransactionPool(const TransactionPool&) = delete;
  TransactionPool& operator=(const TransactionPool&) = delete;
  ~TransactionPool();

  /// Null when the registry has no slot left.
  std::unique_ptr<TransactionState> take_state();
  void give_state(std::unique_ptr<TransactionState> state);
  std::unique_ptr<UndoLog> take_undo();
  /// Empty or rolled back: nobody refers to its records.
  void give_undo(std::unique_ptr<UndoLog> undo);
  /// Committed. Kept until every snapshot is younger; then its records leave the version index, in
  /// bulk.
  void retire_undo(std::unique_ptr<UndoLog> undo);
  /// Frees what nobody needs, in every shard.
  void reclaim() noexcept;
  [[nodiscard]] std::uint64_t retained_bytes() const noexcept;

  void count_commit() noexcept { own_shard().commits.fetch_add(1, std::memory_order_relaxed); }
  void count_rollback() noexcept { own_shard().rollbacks.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t commits() const noexcept;
  [[nodiscard]] std::uint64_t rollbacks() const noexcept;

 private:
  static constexpr std::size_t kShards = 16;
  /// A shard is looked through when so many logs, or so many bytes, have come since the last look.
  static constexpr std::size_t kBatch = 32;
  static constexpr std::uint64_t kBatchBytes = std::uint64_t{1} << 20U;
  struct alignas(64) Shard {
    SpinMutex mutex;
    std::vector<std::unique_ptr<TransactionState>> states;
    std::vector<std::unique_ptr<UndoLog>> undo_logs;
    std::deque<std::unique_ptr<UndoLog>> retained;
    std::size_t reclaim_at = kBatch;
    std::uint64_t reclaim_at_bytes = kBatchBytes;
    std::atomic<std::uint64_t> retained_bytes{0};
    std::atomic<std::uint64_t> commits{0};
    std::atomic<std::uint64_t> rollbacks{0};
  };
  Shard& own_shard() noexcept;
  [[nodiscard]] Shard& next_shard() noexcept;
  void reclaim(Shard& shard, Lsn horizon) noexcept;

  EngineParts& engine_;
  std::array<Shard, kShards> shards_;
  /// Whose turn it is to be helped: threads end, and what they retained must not stay.
  std::atomic<std::size_t> helped_{0};
};

}  // namespace swizzle
