#pragma once

#include <vector>

#include "base/result.h"
#include "lock/serializable/conflicts.h"
#include "storage/txn/versions/version_index.h"

namespace swizzle {

/// A transaction's part in the conflicts of serializable transactions that read snapshots. At other
/// levels it is idle, and every call returns at once.
class TransactionConflicts final : public MissedChanges {
 public:
  explicit TransactionConflicts(lock::SerializableConflicts& all) noexcept : all_(all) {}

  /// Returns true while the transaction takes part, or should, but has got no memory for it.
  [[nodiscard]] bool is_on() const noexcept { return is_on_; }
  [[nodiscard]] lock::SerialId id() const noexcept {
    return entry_ != nullptr ? entry_->id : lock::SerialId::none;
  }
  /// Begins to take part. Call before the snapshot is taken. If there is no memory, check() fails.
  void join(bool read_only, lock::OwnerLabel label) noexcept;
  void took_snapshot(Lsn at) noexcept;
  /// Takes part as a transaction that was prepared before a restart. False: no memory.
  [[nodiscard]] bool join_prepared() noexcept;

  /// Returns true if reads of the tree must be marked.
  [[nodiscard]] bool marks(TreeId tree) const noexcept { return is_on_ && is_marked(tree); }
  // The next two are called before the version of the leaf is validated.

  /// Marks a key, the gap after it, or both.
  void read(lock::LockId id, lock::ReadPart part) noexcept { all_.read(*entry_, id, part); }
  /// Notes a change that the snapshot does not show.
  void missed(lock::SerialId writer) noexcept override;

  /// 40001 if the transaction must not go on. Call after reads, without latches. Pre: is_on().
  Result<> check();

  using Verdict = lock::SerializableConflicts::Verdict;
  /// Call under the leaf's exclusive latch, before the change of an existing key.
  Verdict writes_key(lock::LockId id) noexcept {
    if (!is_on_) [[likely]]
      return Verdict::fine;
    return writes(id, lock::ReadPart::key);
  }
  /// Returns false if inserts() need not be called. Call under the leaf's exclusive latch.
  [[nodiscard]] bool matter_to_inserts() const noexcept { return is_on_ || !all_.marks().empty(); }
  /// The same before the insert of a key into a gap. Keeps the marks of others on both parts of the
  /// gap, at every level.
  Verdict inserts(lock::LockId gap, lock::LockId key) noexcept;
  Result<> writes_tree(TreeId tree);

  /// Leave to commit, or 40001. Pre: is_on().
  Result<> before_commit();
  // The next three end its part. Snapshots that are taken from now on show what is below
  // `visible_end`. `commit` is none if the transaction has written nothing.
  void committed(Lsn commit, Lsn visible_end) noexcept;
  void rolled_back(Lsn visible_end) noexcept;
  /// Forgets its entry, which goes with the engine.
  void abandon() noexcept { forget(); }
  [[nodiscard]] lock::SerializableConflicts::Safety safety() noexcept;

 private:
  /// Rows and index entries are; chunks of large values are read by way of their rows.
  [[nodiscard]] static bool is_tracked(TreeId tree) noexcept;
  [[nodiscard]] bool is_marked(TreeId tree) const noexcept {
    return entry_ != nullptr && is_tracked(tree) && !entry_->is_safe() &&
           !lock::ReadMarks::is_whole(*entry_, tree);
  }
  Verdict writes(lock::LockId id, lock::ReadPart part) noexcept;
  void forget() noexcept;

  lock::SerializableConflicts& all_;
  bool is_on_ = false;
  lock::SerializableTransaction* entry_ = nullptr;
  /// Writers of changes that the reads since the last check() have not seen.
  std::vector<lock::SerialId> missed_;
  Verdict verdict_ = Verdict::fine;
};

}  // namespace swizzle
