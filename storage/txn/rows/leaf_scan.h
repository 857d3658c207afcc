#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/engine.h"
#include "storage/txn/rows/any_tree.h"
#include "storage/txn/transaction_state.h"

namespace swizzle {

/// The records of one leaf that a transaction sees, copied out.
class LeafScan final : public LeafVisitor {
 public:
  enum class Which : std::uint8_t {
    visible,          ///< by the transaction's snapshot
    newest_locked,    ///< SERIALIZABLE: locks keys and gaps as it goes
    newest_lockable,  ///< the same, but skips records and gaps that others have locked
  };
  LeafScan(TransactionState& transaction, TreeId tree, Which which);
  ~LeafScan() override;

  /// Sets the part of the tree that the transaction sees; by default the whole.
  void set_view(TransactionState::TreeView view) noexcept { view_ = view; }
  /// Sets the range for the next leaf: keys in [low, high); a missing bound does not limit. If each
  /// record must be looked up or locked, visits at most `most` records, from the side at which
  /// `direction` begins, since the caller may want few.
  void want(std::optional<Bytes> low, std::optional<Bytes> high, Direction direction,
            std::uint16_t most) noexcept {
    low_ = low;
    high_ = high;
    direction_ = direction;
    most_ = most;
  }
  void visit(const Node& leaf, Node::Position at) noexcept override;

  /// The lock that was not available, unless such records are skipped: the caller waits for it and
  /// visits the leaf again.
  [[nodiscard]] const std::optional<lock::LockId>& blocked() const noexcept { return blocked_; }
  /// The transaction that holds the key because it has changed it; as for blocked().
  [[nodiscard]] const std::optional<lock::TransactionLock>& blocked_by() const noexcept {
    return blocked_by_;
  }

  /// The hash of a key whose versions must be paged in first (VersionIndex::page_in()). The
  /// caller then visits the leaf again.
  [[nodiscard]] const std::optional<std::uint64_t>& swapped_out_key() const noexcept {
    return swapped_out_key_;
  }

  /// True if older versions were read, which needs a valid snapshot.
  [[nodiscard]] bool looked_up() const noexcept { return looked_up_; }

  [[nodiscard]] std::size_t count() const noexcept { return memory_->rows.size(); }
  /// The last visited slot, if the leaf has more in the range.
  [[nodiscard]] const std::optional<std::uint16_t>& stopped_at() const noexcept {
    return stopped_at_;
  }
  /// The result is valid until the next call or the next visit.
  [[nodiscard]] Bytes key_of_slot(std::uint16_t slot) noexcept {
    return {memory_->key.data(), leaf().copy_key(slot, memory_->key.data())};
  }
  [[nodiscard]] Bytes key(std::size_t row) noexcept { return key_of_slot(memory_->rows[row].slot); }
  [[nodiscard]] Bytes value(std::size_t row) const noexcept;
  [[nodiscard]] bool is_overflow(std::size_t row) const noexcept {
    return memory_->rows[row].overflow;
  }
  /// Returns the leaf that was visited last: fences, counts, and the wanted slots.
  [[nodiscard]] const Node& leaf() const noexcept { return memory_->copy.node(); }
  /// True if the leaf has enough unneeded ghosts that removing them is worth a latch.
  [[nodiscard]] bool wants_tidying() noexcept;

 private:
  struct Row {
    std::uint16_t slot;
    bool overflow;
    /// Place in Memory::older, if the row is not the leaf's version.
    std::optional<std::pair<std::uint32_t, std::uint32_t>> older;
  };
  /// Buffers into which leaves are copied. They are kept for the thread's next scan: most scans are
  /// short, and allocating the buffers would cost as much as the scan.
  struct Memory {
    LeafCopy copy;
    std::vector<Row> rows;
    std::vector<std::uint16_t> ghosts;  ///< visited slots that are ghosts
    std::vector<std::byte> older;
    std::array<std::byte, Node::kMaxKeyBytes> key;
  };
  struct Slots {
    std::uint16_t begin;
    std::uint16_t end;
  };
  /// Per thread; fibers stay on their threads.
  static std::array<std::unique_ptr<Memory>, 4>& spares() noexcept;
  static std::unique_ptr<Memory> take_memory();

  [[nodiscard]] Slots shorten(Slots wanted) noexcept;
  void add_newest(std::uint16_t slot) noexcept;
  void add_visible(std::uint16_t slot, const Viewer& viewer) noexcept;
  bool is_swapped_out(std::uint16_t slot) noexcept;
  bool lock_key_and_gap(Bytes key) noexcept;
  void take_locked(const Node& original, Slots slots, bool up_to_fence) noexcept;
  void mark(const Node& original, Slots slots, bool up_to_fence) noexcept;

  TransactionState& transaction_;
  TreeId tree_;
  Which which_;
  TransactionState::TreeView view_ = TransactionState::TreeView::whole;
  std::optional<Bytes> low_;
  std::optional<Bytes> high_;
  Direction direction_ = Direction::forward;
  std::uint16_t most_ = 1;
  std::optional<std::uint16_t> stopped_at_;
  bool looked_up_ = false;
  std::unique_ptr<Memory> memory_;
  std::optional<lock::LockId> blocked_;
  std::optional<lock::TransactionLock> blocked_by_;
  std::optional<std::uint64_t> swapped_out_key_;
  unsigned reads_back_ = 0;  ///< for this leaf
};

}  // namespace swizzle
