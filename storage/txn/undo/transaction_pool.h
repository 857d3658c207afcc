#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "storage/latch/spin_latch.h"
#include "storage/txn/transaction_state.h"
#include "storage/txn/versions/spilled_versions.h"

namespace swizzle {

class RemovalHints;

/// Working states and undo logs for reuse, and the undo logs of committed transactions that a
/// snapshot may still need. Divided into shards by thread, so that threads do not contend.
class TransactionPool {
 public:
  explicit TransactionPool(EngineParts& engine);
  TransactionPool(const TransactionPool&) = delete;
  TransactionPool& operator=(const TransactionPool&) = delete;
  ~TransactionPool();

  /// Returns a state for a new transaction; null when the registry has no slot left for `place`.
  std::unique_ptr<TransactionState> take_state(TransactionPlace place);
  void give_state(std::unique_ptr<TransactionState> state);
  std::unique_ptr<UndoLog> take_undo();
  /// Takes an undo log back. Pre: it is empty or rolled back, so that nothing points to its
  /// records.
  void give_undo(std::unique_ptr<UndoLog> undo);
  /// Takes the undo log of a committed transaction. It is kept until every snapshot is younger;
  /// then its records leave the version index, in bulk. A committing writer frees or spills a
  /// bounded number of them; the reclaimer does the rest.
  void retire_undo(std::unique_ptr<UndoLog> undo);
  /// Frees some of the undo records that are not needed any more, in every shard. Returns false if
  /// nothing is left to free.
  bool reclaim_some() noexcept;
  /// If the store holds more than its bound, does a part of what brings it back: moves the oldest
  /// versions to files, or, when the files have reached their bound, gives up the oldest snapshot.
  /// Returns false if there is nothing to do.
  bool reclaim_step() noexcept;
  /// Sets the function that is called when a committing writer leaves work to the reclaimer. Call
  /// once.
  void on_work(std::function<void()> wake) { wake_reclaimer_ = std::move(wake); }
  [[nodiscard]] std::uint64_t retained_bytes() const noexcept;
  /// Returns the bytes of the files that hold versions: spilled ones, and undo logs of large
  /// transactions.
  [[nodiscard]] std::uint64_t version_file_bytes() const noexcept {
    return file_bytes_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t versions_spilled() const noexcept {
    return versions_spilled_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t versions_unneeded() const noexcept {
    return versions_unneeded_.load(std::memory_order_relaxed);
  }
  /// Returns the bytes, in memory and in files, of retained versions whose commits are at or after
  /// `snapshot`.
  [[nodiscard]] std::uint64_t retained_since(Lsn snapshot) noexcept;
  /// Returns the bytes of files used for undo records since the start.
  [[nodiscard]] std::uint64_t spilled_bytes() const noexcept {
    return undo_space_.spilled_bytes.load(std::memory_order_relaxed);
  }

  void count_commit() noexcept { own_shard().commits.fetch_add(1, std::memory_order_relaxed); }
  void count_rollback() noexcept { own_shard().rollbacks.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t commits() const noexcept;
  [[nodiscard]] std::uint64_t rollbacks() const noexcept;
  /// Number of leaves that ended transactions have requested.
  [[nodiscard]] std::uint64_t leaf_requests() const noexcept;

 private:
  static constexpr std::size_t kShards = 16;
  /// A shard is examined when so many logs, or so many bytes, have come since the last time.
  static constexpr std::size_t kBatch = 32;
  static constexpr std::uint64_t kBatchBytes = std::uint64_t{1} << 20U;
  /// Most logs that one visit of a shard frees or spills; more than come in during the visit.
  static constexpr std::size_t kMostAtOnce = 4 * kBatch;
  /// Most changes of logs that a committing writer frees or spills, since its client waits.
  static constexpr std::uint64_t kMostByWriter = 16 * 1024;
  /// The versions of one committed transaction, or of several whose versions are in a file.
  struct Retained {
    std::unique_ptr<UndoLog> undo;             ///< or null
    std::unique_ptr<SpilledVersions> spilled;  ///< or null
    Lsn commit;                                ///< of the last of these transactions
    std::uint64_t
        bytes_before;  ///< of everything that was ever in the shard's `retained` before this

    [[nodiscard]] std::uint64_t changes() const noexcept {
      return undo ? undo->count() : spilled->count();
    }
    [[nodiscard]] UndoRecord* newest() const noexcept {
      return undo ? undo->newest() : spilled->newest();
    }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
      return undo ? undo->bytes() - undo->scratch_bytes() + sizeof(UndoLog) : 0;
    }
    [[nodiscard]] std::uint64_t file_bytes() const noexcept {
      return undo ? undo->scratch_bytes() : spilled->bytes();
    }
  };
  struct alignas(64) Shard {
    SpinLatch mutex;
    std::vector<std::unique_ptr<TransactionState>> states;
    std::vector<std::unique_ptr<UndoLog>> undo_logs;
    std::deque<Retained> retained;  ///< about in the order of their commits
    /// Transactions older than all of `retained`, in the same order: what has been spilled, or
    /// cannot be.
    std::deque<Retained> older;
    /// Set by the thread that spills, which alone touches `filling`.
    std::atomic<bool> is_spilling{false};
    /// File that takes the versions being spilled; it joins `older` when it is full.
    std::unique_ptr<SpilledVersions> filling;
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
  void remove_versions(const Retained& of, RemovalHints& hints) noexcept;
  enum class Spilled : std::uint8_t {
    some,
    nothing,  ///< the shard has nothing that may be moved now
    busy,     ///< another task spills
    no_room,  ///< the files have reached their bound, or the disk is full
  };
  Spilled spill(Shard& shard, std::uint64_t most_changes) noexcept;
  Spilled spill_as_owner(Shard& shard, std::uint64_t most_changes) noexcept;
  void spill_log(Shard& shard, UndoLog& undo, Lsn commit, const NeededVersions& needed) noexcept;
  bool make_room(Shard& shard, std::size_t bytes) noexcept;
  /// Returns the bytes of versions that have not been spilled and whose commits are at or after
  /// `snapshot`.
  [[nodiscard]] std::uint64_t unspilled_since(Lsn snapshot) noexcept;
  static void close_filling(Shard& shard) noexcept;
  void close_filling_below(Shard& shard, Lsn horizon) noexcept;
  [[nodiscard]] bool is_over_bound() const noexcept;
  Spilled spill_any(Shard& first, std::uint64_t most_changes) noexcept;
  void reclaim_by_writer(Shard& own) noexcept;
  bool has_reclaimable(Lsn horizon) noexcept;
  bool give_up_a_snapshot() noexcept;

  EngineParts& engine_;
  UndoSpace undo_space_;
  std::array<Shard, kShards> shards_;
  std::atomic<bool> is_giving_up_{false};
  std::function<void()> wake_reclaimer_ = [] {};
  alignas(64) std::atomic<std::uint64_t> file_bytes_{0};
  std::atomic<std::uint64_t> versions_spilled_{0};
  std::atomic<std::uint64_t> versions_unneeded_{0};
};

}  // namespace swizzle
