#pragma once

#include <optional>
#include <vector>

#include "storage/engine.h"
#include "storage/txn/rows/any_tree.h"

namespace swizzle {

/// Read-ahead for a cursor, by its hint: reads leaves before the cursor reaches them, more at a
/// time the longer it goes on. A large scan that has used its share of the pool leaves no more
/// pages there.
class ScanAhead {
 public:
  ScanAhead(AnyTree& tree, ScanHint hint) noexcept;

  /// Returns the interest with which the next leaf is to be read.
  [[nodiscard]] Interest interest() const noexcept {
    return hint_ == ScanHint::large && leaves_ > kept_leaves_ ? Interest::once : Interest::keep;
  }
  /// Tells that the cursor reaches the leaf of `from` and wants keys up to `until`, exclusive; or,
  /// backward, the leaf below `from`, down to `until`. Parks at most for absent branches.
  Result<> come_to(Bytes from, std::optional<Bytes> until);
  Result<> come_below(const KeyBound& from, std::optional<Bytes> until);

 private:
  [[nodiscard]] bool is_due() noexcept;
  void passed(LeavesAhead&& ahead) noexcept;

  AnyTree& tree_;
  const ScanHint hint_;
  const std::uint32_t most_;
  const std::uint32_t kept_leaves_;
  std::uint32_t leaves_ = 0;
  std::uint32_t window_ = 0;
  /// Leaves that were requested and not reached yet, and their end.
  std::uint32_t ahead_ = 0;
  std::optional<std::vector<std::byte>> next_;
  bool at_end_ = false;
};

}  // namespace swizzle
