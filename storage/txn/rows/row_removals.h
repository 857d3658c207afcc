#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/btree/leaf_change.h"
#include "storage/bulk_changes.h"
#include "storage/txn/rows/row_changes.h"

namespace swizzle {

/// Removals of one transaction of neighbouring records, done at one visit of their leaf and with
/// one log record. Each is decided like a RowChange; the first one that would wait, or do nothing,
/// ends the visit.
class RowRemovals final : public LeafRemovals {
 public:
  /// Pre: the keys ascend, and outlive the object; either all removals have the value that was
  /// seen, or none has.
  RowRemovals(TransactionState& transaction, TreeId tree,
              std::span<const Removal> removals) noexcept;

  /// Returns how many of the first records have been removed: 0 if the first one must be removed
  /// alone, else all in its leaf that come before an obstacle.
  Result<std::size_t> run(AnyTree& tree);

  [[nodiscard]] Bytes first_key() const noexcept override { return removals_.front().key; }
  [[nodiscard]] std::size_t max_payload_bytes() const noexcept override { return payload_bytes_; }
  Bytes decide(const Node& leaf) noexcept override;
  [[nodiscard]] std::span<const std::uint16_t> slots() const noexcept override {
    return {slots_.data(), chosen_};
  }
  void logged(const Node& leaf, Lsn lsn) noexcept override;

 private:
  /// More records than a leaf has, unless they are very small.
  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kMostPayloadBytes = 4 * kPageBytes;
  /// Assumed size of a value that the caller does not know.
  static constexpr std::size_t kUnknownValueBytes = 16;

  void keep_run(const Node& leaf, Lsn lsn) noexcept;
  void keep_each(const Node& leaf, Lsn lsn) noexcept;
  [[nodiscard]] Node::Position find(const Node& leaf, Bytes key) const noexcept;

  TransactionState& transaction_;
  TreeId tree_;
  std::span<const Removal> removals_;
  RowChange each_;
  std::size_t payload_bytes_ = 0;
  std::vector<std::byte> payload_;
  Lsn previous_lsn_ = Lsn::none;
  bool all_settled_ = true;
  bool no_values_ = true;
  /// True if one undo record and one version stand for all of them.
  bool is_run_ = false;
  std::size_t chosen_ = 0;
  std::array<std::uint64_t, kMost> hashes_;
  std::array<std::uint16_t, kMost> slots_;
  std::array<bool, kMost> settled_;
};

}  // namespace swizzle
