#pragma once

#include <optional>
#include <string>
#include <vector>

#include "storage/engine.h"
#include "storage/txn/any_tree.h"
#include "storage/txn/transaction_state.h"

namespace swizzle {

/// The records of one leaf that a transaction sees, copied out.
class LeafScan final : public LeafVisitor {
 public:
  enum class Which : std::uint8_t {
    visible,        ///< by the transaction's snapshot
    newest_locked,  ///< SERIALIZABLE: locks keys and gaps as it goes
  };
  LeafScan(TransactionState& transaction, TreeId tree, Which which) noexcept
      : transaction_(transaction), tree_(tree), which_(which) {}

  /// What to take from the next leaf: keys in [low, high), or beyond if a bound is missing. Where
  /// each record must be looked up or locked, at most `most` of them are, from the side that
  /// `direction` begins at, since the caller may want few.
  void want(std::optional<Bytes> low, std::optional<Bytes> high, Direction direction,
            std::uint16_t most) noexcept {
    low_ = low;
    high_ = high;
    direction_ = direction;
    most_ = most;
  }
  void visit(const Node& leaf, Node::Position at) noexcept override;

  /// A lock that was not to be had: wait for it and visit again.
  [[nodiscard]] const std::optional<lock::LockId>& blocked() const noexcept { return blocked_; }

  /// Versions decided what the rows are, so the snapshot must not have been given up.
  [[nodiscard]] bool looked_up() const noexcept { return looked_up_; }

  struct Row {
    std::uint16_t slot;
    bool overflow;
    /// Into older_, when the row is not what the leaf has.
    std::optional<std::pair<std::uint32_t, std::uint32_t>> older;
  };
  [[nodiscard]] std::size_t count() const noexcept { return rows_.size(); }
  /// The last slot that was looked at, if the leaf has more in the range.
  [[nodiscard]] const std::optional<std::uint16_t>& stopped_at() const noexcept {
    return stopped_at_;
  }
  [[nodiscard]] Bytes key_of_slot(std::uint16_t slot) noexcept {
    return {key_.data(), leaf().copy_key(slot, key_.data())};
  }
  [[nodiscard]] Bytes key(std::size_t row) noexcept;
  [[nodiscard]] Bytes value(std::size_t row) const noexcept;
  [[nodiscard]] bool is_overflow(std::size_t row) const noexcept { return rows_[row].overflow; }
  [[nodiscard]] const Node& leaf() const noexcept { return copy_->node(); }
  /// More ghosts than records: the leaf wants tidying.
  [[nodiscard]] bool is_mostly_ghosts() const noexcept {
    return leaf().ghost_count() * 2 > leaf().count();
  }

 private:
  void add_visible(std::uint16_t slot, Bytes key) noexcept;
  bool lock_key_and_gap(Bytes key) noexcept;
  void take_locked(std::uint16_t begin, std::uint16_t end, bool up_to_fence) noexcept;

  TransactionState& transaction_;
  TreeId tree_;
  Which which_;
  std::optional<Bytes> low_;
  std::optional<Bytes> high_;
  Direction direction_ = Direction::forward;
  std::uint16_t most_ = 1;
  std::optional<std::uint16_t> stopped_at_;
  bool looked_up_ = false;
  std::unique_ptr<LeafCopy> copy_ = std::make_unique<LeafCopy>();
  std::vector<Row> rows_;
  std::vector<std::byte> older_;
  std::optional<lock::LockId> blocked_;
  std::array<std::byte, Node::kMaxKeyBytes> key_;
};

}  // namespace swizzle
