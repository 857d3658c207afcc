#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/ids.h"
#include "storage/btree/tree_log.h"
#include "storage/engine.h"
#include "storage/latch/spin_latch.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/txn/undo/undo_log.h"

namespace swizzle {

/// Shared state of one running transaction, in two cache lines of its own, so that a transaction
/// writes no line that others write. Every snapshot reads the first lines of all transactions;
/// read-only transactions do not write these.
struct alignas(128) TransactionSlot {
  /// A lower bound of the LSNs of the transaction's records; 0: all its records are acknowledged,
  /// or it has none.
  std::atomic<std::uint64_t> begin{0};
  TransactionChain chain;
  /// Copy of UndoLog::outcome, for checkpoints; the end of a rollback counts too.
  std::atomic<std::uint64_t> outcome{UndoLog::kActive};

  /// Versions that a snapshot at this LSN may need are kept; 0: it needs none. With kTooOld: they
  /// are kept no longer.
  alignas(64) std::atomic<std::uint64_t> snapshot{0};
  /// No view of the transaction is younger, while it has a snapshot; all bits set: a view is being
  /// taken.
  std::atomic<std::uint64_t> newest_view{0};
  /// Label of the session that the transaction works for, for the views.
  std::atomic<std::int32_t> label{0};
  /// The next three are the owner's: the all-visible LSN below `all_visible_end` when the owner
  /// last visited all transactions, and how often it has used that answer since.
  std::uint32_t all_visible_uses = 0;
  Lsn all_visible_end = Lsn::none;
  Lsn all_visible_lsn = Lsn::none;
  /// The number of the first transaction that began to write after the snapshot was taken.
  std::atomic<TxnId> next_id{TxnId::none};
  /// True if the transaction is prepared and not finished yet: for the views.
  std::atomic<bool> is_prepared{false};
  /// True if the transaction is prepared and has changed nothing.
  std::atomic<bool> is_prepared_empty{false};
  /// True if its commit is acknowledged before it is durable.
  std::atomic<bool> is_asynchronous{false};

  static constexpr std::uint64_t kTooOld = std::uint64_t{1} << 63U;
};
static_assert(sizeof(TransactionSlot) == 128);

/// Moments of the views that transactions read at, as far as they are known.
struct NeededVersions {
  /// The views of one transaction: the oldest, and perhaps others up to the newest.
  struct Views {
    std::uint64_t oldest;
    std::uint64_t newest;
  };
  std::vector<Views> views;
  /// Commits below it are visible to every view that is not listed here.
  Lsn durable = Lsn::none;
  /// False if a view was being taken, so that any version may be needed.
  bool is_known = true;

  /// Returns true if a view may need the version that stood from the commit at `made` until the one
  /// at `replaced`.
  [[nodiscard]] bool has_view_between(Lsn made, Lsn replaced) const noexcept;
};

/// The running transactions, without a shared lock.
///
/// A snapshot shows durable commits only, so that a reader sees nothing that a crash could take
/// back, and does not wait for another's commit. Asynchronous commits move it ahead of that.
class TransactionRegistry {
 public:
  static constexpr std::size_t kSlots = 8192;
  /// Slots kept for superusers and for the system itself; and those of them for the system alone.
  static constexpr std::size_t kReservedSlots = 128;
  static constexpr std::size_t kInternalSlots = 64;
  static constexpr std::size_t kOrdinarySlots = kSlots - kReservedSlots;

  explicit TransactionRegistry(wal::Log& log);

  /// Returns a slot that is not reserved; null when all of these are taken.
  TransactionSlot* take_slot();
  /// Returns one of the reserved slots; null when those that `place` may have are taken.
  TransactionSlot* take_reserved_slot(TransactionPlace place);
  /// Takes a reserved slot back. The others are never given back: their states are reused.
  void give_reserved_slot(TransactionSlot& slot) noexcept;
  [[nodiscard]] bool is_reserved(const TransactionSlot& slot) const noexcept {
    return &slot >= slots_->data() + kOrdinarySlots;
  }

  TxnId next_id() noexcept { return TxnId{next_id_.fetch_add(1, std::memory_order_relaxed)}; }
  [[nodiscard]] TxnId peek_next_id() const noexcept {
    return TxnId{next_id_.load(std::memory_order_relaxed)};
  }
  void start_ids_at(TxnId id) noexcept { next_id_.store(raw(id), std::memory_order_relaxed); }

  /// Call before the first record: readers that determine the all-visible LSN from now on see the
  /// transaction (P35).
  void begin_writing(TransactionSlot& slot) noexcept;
  /// Makes an asynchronous commit visible at once. What lies before it in the log becomes visible
  /// with it, so this first waits until the synchronous commits among that, whose flush is under
  /// way, are durable.
  void acknowledge_asynchronous(Lsn commit, Lsn commit_end) noexcept;

  /// Fixes the moment of a view and keeps the versions that it needs, until release_snapshot(). If
  /// the slot keeps those of an older view already, that is enough. `seen` is a commit that the
  /// transaction knows of by a lock that was released early. The view shows that commit and all
  /// before it, though it may not be durable yet; the transaction's own end waits for that.
  void take_snapshot(ReadView& view, TransactionSlot& slot, Lsn seen) noexcept;
  /// Makes the slot keep the versions that a snapshot at `at` needs. Pre: another slot keeps them
  /// until this returns.
  void adopt_snapshot(TransactionSlot& slot, Lsn at) noexcept;
  static void release_snapshot(TransactionSlot& slot) noexcept {
    slot.snapshot.store(0, std::memory_order_release);
  }
  /// Tells that no version older than `to` is needed any more. Called by the slot's owner.
  static void raise_snapshot(TransactionSlot& slot, Lsn to) noexcept {
    std::uint64_t held = slot.snapshot.load(std::memory_order_relaxed);
    // A snapshot that was given up stays so, since younger versions may be gone, too.
    if ((held & TransactionSlot::kTooOld) != 0 || held >= raw(to)) return;
    slot.snapshot.compare_exchange_strong(held, raw(to), std::memory_order_release);
  }
  [[nodiscard]] Lsn durable_end() const noexcept;
  /// Returns the end of what a snapshot shows that is taken now.
  [[nodiscard]] Lsn visible_end() const noexcept;
  /// Returns the LSN below whose commits no version is needed; those commits are durable. So a
  /// ghost stays as long as a crash could undo its removal, and a reader that finds nothing in its
  /// place need not wait for a commit.
  [[nodiscard]] Lsn version_horizon() const noexcept;
  /// Returns the views for which versions are kept.
  [[nodiscard]] NeededVersions needed_versions() const;
  /// The same as version_horizon(), but snapshots that were given up count: the trees that they
  /// read stay.
  [[nodiscard]] Lsn oldest_snapshot() const noexcept;

  /// Gives up the oldest snapshot that keeps versions. Returns false if there is none.
  bool give_up_oldest() noexcept;
  /// Call after versions were looked up: if it returns false, all versions that the snapshot needed
  /// were there.
  [[nodiscard]] static bool is_too_old(const TransactionSlot& slot) noexcept {
    // The answer does not depend on the acquire: a version that is gone was unlinked under a latch
    // that the caller has held since, or published by the bucket's head, after this was set.
    return (slot.snapshot.load(std::memory_order_acquire) & TransactionSlot::kTooOld) != 0;
  }
  [[nodiscard]] std::uint64_t given_up() const noexcept {
    return given_up_.load(std::memory_order_relaxed);
  }
  struct Held {
    std::int32_t label;
    Lsn snapshot;
    bool too_old;
    TxnId next_id;
  };
  [[nodiscard]] std::vector<Held> held_snapshots() const;
  /// Returns the transactions that have records in the log, which is kept for them.
  [[nodiscard]] std::vector<WritingTransaction> writers() const;

  /// Returns true if a transaction has written under a number below `id`, or may be about to.
  [[nodiscard]] bool has_writer_below(TxnId id) const noexcept;

  /// Returns the active transactions for a checkpoint (Checkpointer::Parts).
  [[nodiscard]] std::vector<ActiveTransaction> active_at(Lsn begin) const;

 private:
  /// Returns the last synchronous commit before `commit` for which a session waits; none: there is
  /// none.
  [[nodiscard]] Lsn last_synchronous_before(Lsn commit) const noexcept;
  [[nodiscard]] Lsn all_visible_below(Lsn end) const noexcept;
  [[nodiscard]] Lsn all_visible_below(Lsn end, TransactionSlot& slot) const noexcept;

  wal::Log& log_;
  std::unique_ptr<std::array<TransactionSlot, kSlots>> slots_;
  /// Of each slot's transaction, for checkpoints.
  std::unique_ptr<std::array<ChangedTrees, kSlots>> changes_;
  /// Number of slots in use. The reserved slots come last, so a visit of all slots in use passes
  /// them only once they are needed.
  std::atomic<std::uint32_t> used_slots_{0};
  SpinLatch free_mutex_;
  std::vector<TransactionSlot*> free_reserved_;  ///< under free_mutex_; never grows
  alignas(64) std::atomic<std::uint64_t> next_id_{1};
  alignas(64) std::atomic<std::uint64_t> asynchronous_end_{0};
  std::atomic<std::uint64_t> given_up_{0};
  /// Number of times that a snapshot was given to another slot as well. A search for the oldest
  /// snapshot may have visited the new slot before that, and the old one after it gave up the
  /// snapshot; it compares this number to notice.
  std::atomic<std::uint64_t> adoptions_{0};
};

}  // namespace swizzle
