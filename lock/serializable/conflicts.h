#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/runtime/spin_latch.h"
#include "lock/serializable/read_marks.h"
#include "lock/serializable/serial_id.h"

namespace swizzle::lock {

/// A serializable transaction that reads a snapshot. SerializableConflicts keeps it beyond its
/// commit, as long as a transaction runs that began before the commit.
class SerializableTransaction : public MarkOwner {
 public:
  SerializableTransaction(SerialId number, bool reads_only, OwnerLabel label) noexcept
      : MarkOwner(label), id(number), is_read_only_(reads_only) {}

  const SerialId id;
  /// Returns true if it cannot commit any more.
  [[nodiscard]] bool is_doomed() const noexcept { return doomed_.load(std::memory_order_relaxed); }
  /// Returns true if it reads a safe snapshot: nothing that it reads is part of an anomaly.
  [[nodiscard]] bool is_safe() const noexcept { return safe_.load(std::memory_order_relaxed); }

 private:
  friend class SerializableConflicts;
  enum class State : std::uint8_t { active, prepared, committed, gone };
  using Others = std::vector<SerializableTransaction*>;
  [[nodiscard]] bool is_committing() const noexcept {
    return state_ == State::prepared || state_ == State::committed;
  }

  // The rest is under SerializableConflicts::latch_.

  State state_ = State::active;
  /// As declared, or because it has committed without a write.
  bool is_read_only_;
  /// It was prepared before a restart: its conflicts are unknown, and any may exist.
  bool is_from_before_ = false;
  /// A writer beside which the snapshot was taken has overwriters that the snapshot shows.
  bool is_unsafe_ = false;
  // Moments in the order of events of all transactions. The commit is between the two, so that of
  // two commits one surely came first if its end is before the other's leave.
  std::uint64_t leave_order_ = UINT64_MAX;  ///< when it got leave to commit
  std::uint64_t end_order_ = UINT64_MAX;    ///< when it had committed
  Lsn snapshot_ = Lsn::none;                ///< none: not taken yet
  Lsn commit_ = Lsn::max;                   ///< max: not known yet
  Others readers_;                          ///< transactions that have read what it has overwritten
  Others overwriters_;                      ///< transactions that have overwritten what it has read
  /// Of the overwriters that are forgotten: the least leave_order_, and the least commit_.
  std::uint64_t forgotten_order_ = UINT64_MAX;
  Lsn forgotten_commit_ = Lsn::max;
  /// Of a read-only transaction: the writers beside which its snapshot was taken, as far as they
  /// run.
  std::vector<SerialId> beside_;
  SerializableTransaction* before_ = nullptr;  ///< in the list of its state
  SerializableTransaction* after_ = nullptr;

  std::atomic<bool> doomed_{false};
  std::atomic<bool> safe_{false};
};

/// Read-write conflicts between serializable transactions: serializable snapshot isolation (Cahill
/// et al., SIGMOD 2008; Ports and Grittner, PVLDB 2012). Thread-safe.
///
/// In every anomaly of snapshots there is a transaction, the pivot, that has read what a concurrent
/// transaction overwrites, and has overwritten what a concurrent transaction has read; and the
/// former is the first of the three to commit. One of them fails then with 40001: the pivot if it
/// still runs, else the transaction that completes the structure.
class SerializableConflicts {
 public:
  struct Limits {
    ReadMarks::Limits marks;
    /// Beside so many committed ones that are kept, a transaction that commits marks trees in place
    /// of keys.
    std::size_t with_keys = 5'000;
    /// Committed transactions that are kept. Beyond it the oldest running transaction, for which
    /// they are kept, fails.
    std::size_t committed = 100'000;
  };
  enum class Verdict : std::uint8_t {
    fine,
    doomed_in_read,    ///< another transaction has decided that this one fails
    doomed_in_write,   ///< the same
    doomed_in_commit,  ///< the same
    pivot_in_write,    ///< it is the pivot, and the first commit has happened
    pivot_committed,   ///< the pivot, or the transaction that it has read from, has committed
    pivot_prepared,    ///< the pivot waits for the second phase of its commit
    no_memory,
  };
  /// Pre: the verdict is not fine.
  static Error error_of(Verdict verdict);

  SerializableConflicts() : SerializableConflicts(Limits{}) {}
  explicit SerializableConflicts(const Limits& limits);
  SerializableConflicts(const SerializableConflicts&) = delete;
  SerializableConflicts& operator=(const SerializableConflicts&) = delete;
  ~SerializableConflicts();

  /// Call before the snapshot is taken. `label` names the owner in ReadMarks::rows(). Null: no
  /// memory.
  SerializableTransaction* begin(bool read_only, OwnerLabel label = 0) noexcept;
  /// Tells the snapshot: it shows the commits below `at`.
  Verdict took_snapshot(SerializableTransaction& transaction, Lsn at) noexcept;

  /// Marks what the transaction reads; see ReadMarks::add().
  void read(SerializableTransaction& transaction, LockId id, ReadPart part) noexcept {
    if (!transaction.is_safe()) marks_.add(transaction, id, part);
  }
  /// Notes that the snapshot does not show a change by `writer` of what the transaction has read.
  Verdict missed_change(SerializableTransaction& reader, SerialId writer) noexcept;
  /// Notes that the transaction changes that part of a key. Call with the leaf latched exclusively,
  /// before the change.
  Verdict writes(SerializableTransaction& writer, LockId id, ReadPart part) noexcept;
  /// Notes that it removes a whole tree.
  Verdict writes_tree(SerializableTransaction& writer, TreeId tree) noexcept;

  /// Gives leave to commit: others count the transaction as committed from now on. A transaction
  /// that has leave may still be rolled back.
  Verdict may_commit(SerializableTransaction& transaction) noexcept;
  /// Call when it has committed; `commit` is none if it has written nothing. Snapshots that are
  /// taken from now on show the commits below `visible_end`.
  void committed(SerializableTransaction& transaction, Lsn commit, Lsn visible_end) noexcept;
  void rolled_back(SerializableTransaction& transaction, Lsn visible_end) noexcept;
  /// Makes the entry of a transaction that was prepared before a restart. Null: no memory.
  SerializableTransaction* take_up_prepared() noexcept;

  /// Tells about the snapshot of a read-only transaction. It is safe, or unsafe, once all writers
  /// that ran when it was taken have ended.
  enum class Safety : std::uint8_t { undecided, safe, unsafe };
  [[nodiscard]] Safety safety_of(const SerializableTransaction& transaction) noexcept;

  [[nodiscard]] ReadMarks& marks() noexcept { return marks_; }
  [[nodiscard]] const ReadMarks& marks() const noexcept { return marks_; }
  /// Returns the number of committed transactions that are kept.
  [[nodiscard]] std::size_t kept() noexcept;

 private:
  using Transaction = SerializableTransaction;
  using State = Transaction::State;
  /// Transactions with links through before_ and after_, in the order in which they came.
  struct List {
    Transaction* first = nullptr;
    Transaction* last = nullptr;
    std::size_t count = 0;
    void append(Transaction& transaction) noexcept;
    void take_out(Transaction& transaction) noexcept;
  };

  static bool may_show(const Transaction& reader, const Transaction& writer) noexcept;
  static bool has_early_overwriter(const Transaction& pivot, const Transaction& reader) noexcept;
  static bool has_late_reader(const Transaction& pivot, const Transaction& overwriter) noexcept;
  static bool has_running_reader(const Transaction& pivot, const Transaction& committing) noexcept;
  static bool are_linked(const Transaction& reader, const Transaction& writer) noexcept;
  Transaction* add(bool read_only, OwnerLabel label) noexcept;
  Verdict link(Transaction& reader, Transaction& writer, const Transaction& self) noexcept;
  Verdict link_all(Transaction& writer, MarkOwner& reader) noexcept;
  void unlink(Transaction& transaction) noexcept;
  void end_beside(const Transaction& ended, bool has_committed) noexcept;
  void forget_old(Lsn visible_end, List& gone) noexcept;
  void take_out(Transaction& transaction, List& from, List& gone) noexcept;
  void free_all(List& gone) noexcept;
  void keep_within_limits() noexcept;

  const Limits limits_;
  ReadMarks marks_;
  BasicSpinLatch<NoPauses> latch_;
  std::unordered_map<SerialId, Transaction*> by_id_;
  List running_;    ///< active and prepared
  List committed_;  ///< about in the order of their commits
  std::uint64_t last_id_ = 0;
  std::uint64_t last_order_ = 0;
};

}  // namespace swizzle::lock
