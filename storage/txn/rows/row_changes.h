#pragma once

#include <optional>

#include "lock/lock_types.h"
#include "storage/btree/leaf_change.h"
#include "storage/txn/transaction_state.h"

namespace swizzle {

/// One write of a transaction to one key. It takes locks, registers the old version, then lets the
/// tree change the leaf. Under the latch it only tries for locks that others hold, and waits for
/// them without it; the caller loops while blocked().
class RowChange final : public LeafChange {
 public:
  enum class Wish : std::uint8_t { insert, update, remove };
  RowChange(TransactionState& transaction, TreeId tree, Bytes key, Wish wish, Value value) noexcept
      : transaction_(transaction),
        tree_(tree),
        key_(key),
        hash_(hash_of_key(tree, key)),
        wish_(wish),
        value_(value) {}

  /// Changes the record only while its value in the leaf is `value` and it is the record that the
  /// transaction's view shows. Pre: not an insert.
  void require(Bytes value) noexcept { required_ = value; }

  /// Takes no change of others since the transaction's snapshot for a conflict.
  void ignore_snapshot() noexcept { obeys_snapshot_ = false; }

  /// Notes that the record continues under the key of the transaction's last insert. Pre: a
  /// removal.
  void mark_moved() noexcept { moves_ = true; }

  Action decide(const Node& leaf, Node::Position at) noexcept override;
  [[nodiscard]] Value value() const noexcept override { return value_; }
  [[nodiscard]] std::size_t max_value_bytes() const noexcept override {
    return value_.bytes.size();
  }
  void logged(const Node& leaf, Node::Position at, Lsn lsn) noexcept override;

  /// Sets another key of the tree, and its argument of require(). Pre: no change has been made.
  void turn_to(Bytes key, std::uint64_t hash, std::optional<Bytes> required) noexcept {
    key_ = key;
    hash_ = hash;
    required_ = required;
  }
  /// Prepares the transaction to change records of `tree`: gives it a number, an intent lock and
  /// its views. run() calls it.
  Result<> begin(AnyTree& tree, WaitPolicy policy);
  /// True if the record of the last decide() is settled.
  [[nodiscard]] bool is_settled() const noexcept { return is_settled_; }

  /// Applies the change to `tree`, waiting if needed. Returns false if the key exists already
  /// (insert), does not exist (update, remove), or has another value (require). 40001 at REPEATABLE
  /// READ after a concurrent update.
  Result<bool> run(AnyTree& tree, WaitPolicy policy = WaitPolicy::wait);

  /// Returns the old value's address, if the value lived in the overflow tree.
  [[nodiscard]] const std::optional<std::array<std::byte, 16>>& old_overflow() const noexcept {
    return old_overflow_;
  }

 private:
  enum class Obstacle : std::uint8_t {
    none,
    key,
    transaction,
    gap,
    version,
    swapped_out,
    conflict,  ///< the change must not be made at SERIALIZABLE
  };
  [[nodiscard]] lock::KeyMode lock_mode(bool is_live) const noexcept;
  Action leave_because(Obstacle obstacle, lock::LockId id = {}) noexcept;
  bool claim(bool is_live, bool is_unmarked) noexcept;
  [[nodiscard]] bool is_settled(const Node& leaf, Node::Position at, bool is_live) const noexcept;
  bool gap_allows(const Node& leaf, Node::Position at) noexcept;
  Result<lock::Acquired> wait_for_obstacle(WaitPolicy policy);
  void release_marked() noexcept;
  [[nodiscard]] bool is_late(bool is_live) const noexcept;
  [[nodiscard]] bool is_swapped_out() const noexcept;
  [[nodiscard]] bool would_hide() const noexcept;
  [[nodiscard]] bool is_required(const Node& leaf, Node::Position at) const noexcept;
  bool conflicts_allow(const Node& leaf, Node::Position at) noexcept;

  TransactionState& transaction_;
  TreeId tree_;
  Bytes key_;
  std::uint64_t hash_;
  Wish wish_;
  Value value_;
  std::optional<Bytes> required_;
  PageId leaf_ = PageId::none;
  bool done_ = false;
  bool moves_ = false;
  bool obeys_snapshot_ = true;
  bool is_settled_ = false;
  /// Number of times that versions of the key were read back from files.
  unsigned reads_back_ = 0;
  /// At REPEATABLE READ the transaction's snapshot; with require() the view that it reads at now.
  Viewer viewer_;
  /// View of the running statement, which is younger than the transaction's if the statement runs
  /// within another.
  Viewer shown_;
  Obstacle obstacle_ = Obstacle::none;
  lock::LockId obstacle_id_{};
  lock::TransactionLock holder_{};
  TransactionConflicts::Verdict verdict_ = TransactionConflicts::Verdict::fine;
  lock::KeyMode key_mode_ = lock::kWriteKey;
  Lsn previous_lsn_ = Lsn::none;
  std::optional<std::array<std::byte, 16>> old_overflow_;
};

/// Restores the state before one undo record, with a compensation record.
class UndoChange final : public LeafChange {
 public:
  /// `record` is null while restart undoes records of the log.
  UndoChange(UndoRecord::Kind undone, Value old_value, VersionIndex& versions,
             UndoRecord* record) noexcept
      : undone_(undone), value_(old_value), versions_(versions), record_(record) {}

  Action decide(const Node& leaf, Node::Position at) noexcept override;
  [[nodiscard]] Value value() const noexcept override { return value_; }
  [[nodiscard]] std::size_t max_value_bytes() const noexcept override {
    return value_.bytes.size();
  }
  void logged(const Node& leaf, Node::Position at, Lsn lsn) noexcept override;
  /// Returns false if the leaf is not as the change left it, because its last write was lost. Then
  /// nothing was done.
  [[nodiscard]] bool fits() const noexcept { return fits_; }

 private:
  UndoRecord::Kind undone_;
  Value value_;
  VersionIndex& versions_;
  UndoRecord* record_;
  bool fits_ = true;
};

/// Returns the key before which an insert would go, as gap locks name it: the greatest key below,
/// ghosts included, or the leaf's low fence.
lock::LockId gap_before(TreeId tree, const Node& leaf, std::uint16_t index) noexcept;

}  // namespace swizzle
