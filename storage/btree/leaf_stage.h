#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/common_bytes.h"
#include "base/result.h"
#include "storage/btree/node.h"

namespace swizzle {

/// Content of a new leaf: its fences, and its records in ascending order.
struct LeafContent {
  using Record = Node::LeafRecord;
  Bytes low;
  KeyBound high;
  std::span<const Record> records;
};

/// Collects records that come in ascending order and cuts them into full leaves, so that every leaf
/// is built once, with its final fences and the prefix that they share.
///
/// A leaf's high fence is known only when the next record is. So a leaf is emitted one record late,
/// and fits its page whatever prefix its fences then share.
class LeafStage {
 public:
  /// Fill factor of new leaves. The rest is for updates that make records longer.
  static constexpr std::size_t kFillPercent = 95;
  /// Below this fill a leaf of large records takes one more if it fits: the space left free would
  /// otherwise cost a page in four.
  static constexpr std::size_t kLeastFillPercent = 85;

  LeafStage();
  LeafStage(const LeafStage&) = delete;
  LeafStage& operator=(const LeafStage&) = delete;

  [[nodiscard]] bool is_empty() const noexcept { return items_.empty(); }
  /// True if `key` is above the last one.
  [[nodiscard]] bool may_follow(Bytes key) const noexcept {
    return items_.empty() || compare(items_.back().key, key) < 0;
  }

  /// Takes one more record. False, and nothing is done: its key is not above the one before. Calls
  /// `emit(const LeafContent&)` for each full leaf.
  /// Pre: key and value are at most Node::kMaxInlineBytes.
  template <class Emit>
  Result<bool> add(const LeafContent::Record& record, Emit&& emit) {
    std::size_t common = 0;
    if (!items_.empty()) {
      // Keys ascend, so every prefix length below follows from this one.
      const Bytes before = items_.back().key;
      common = common_front(before, record.key);
      const bool ascends = common < record.key.size() &&
                           (common == before.size() || before[common] < record.key[common]);
      if (!ascends) return false;
      const Bytes fence = record.key.first(common + 1);
      if (!fits(std::min(low_shared_, common), fence.size())) RETURN_IF_ERROR(emit_but_last(emit));
      if (is_full_with(record, std::min(low_shared_, common)))
        RETURN_IF_ERROR(emit_all(KeyBound::at(fence), emit));
    }
    stage(record, common);
    return true;
  }
  /// Emits the rest: the rightmost leaf, and one before it if both do not fit into one.
  template <class Emit>
  Result<> finish(Emit&& emit) {
    if (items_.empty()) return {};
    if (!fits(0, 0)) RETURN_IF_ERROR(emit_but_last(emit));
    return emit_all(KeyBound::infinite(), emit);
  }

 private:
  template <class Emit>
  Result<> emit_all(const KeyBound& high, Emit& emit) {
    RETURN_IF_ERROR(emit(LeafContent{low_, high, items_}));
    low_.assign(high.key.begin(), high.key.end());
    forget_all();
    return {};
  }
  /// Emits all leaves but the last. They fit: this was checked when the last record came.
  template <class Emit>
  Result<> emit_but_last(Emit& emit) {
    const std::span<const LeafContent::Record> all{items_};
    const Bytes last = all.back().key;
    const Bytes fence = last.first(common_front(all[all.size() - 2].key, last) + 1);
    RETURN_IF_ERROR(emit(LeafContent{low_, KeyBound::at(fence), all.first(all.size() - 1)}));
    low_.assign(fence.begin(), fence.end());
    forget_but_last();
    return {};
  }

  /// True if the staged records fit a leaf whose fences share that much.
  [[nodiscard]] bool fits(std::size_t shared, std::size_t high_size) const noexcept;
  /// The same with one more record, up to the fill factor.
  [[nodiscard]] bool is_full_with(const LeafContent::Record& record,
                                  std::size_t shared) const noexcept;
  /// `common`: the length of the prefix that the key shares with the one before.
  void stage(const LeafContent::Record& record, std::size_t common);
  void make_room(std::size_t bytes);
  Bytes keep(Bytes bytes) noexcept;
  void forget_all() noexcept;
  void forget_but_last() noexcept;

  std::vector<std::byte> low_;
  /// Length of the prefix that the last key shares with the low fence; earlier keys share as much,
  /// or more.
  std::size_t low_shared_ = 0;
  std::vector<std::byte> bytes_;
  std::size_t used_ = 0;
  std::vector<LeafContent::Record> items_;  ///< in bytes_
  /// Size of the staged records in a node without a prefix.
  std::size_t record_bytes_ = 0;
};

}  // namespace swizzle
