#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "storage/btree/node.h"

namespace swizzle {

/// What a new leaf is to have: its fences, and its records in ascending order.
struct LeafContent {
  struct Record {
    Bytes key;
    Bytes value;
    bool overflow = false;
  };
  Bytes low;
  KeyBound high;
  std::span<const Record> records;
};

/// Collects records that come in ascending order and cuts them into full leaves, so that every leaf
/// is built once, with its final fences and the prefix that they share.
///
/// A leaf's high fence is known only when the next record is: so a leaf is handed out one record
/// late, and what was handed out fits its page whatever prefix its fences turned out to have.
class LeafStage {
 public:
  /// Leaves are filled to this much. What is left takes the updates that make records longer.
  static constexpr std::size_t kFillPercent = 95;

  LeafStage();
  LeafStage(const LeafStage&) = delete;
  LeafStage& operator=(const LeafStage&) = delete;

  [[nodiscard]] bool is_empty() const noexcept { return items_.empty(); }
  /// Whether `key` may come next.
  [[nodiscard]] bool may_follow(Bytes key) const noexcept {
    return items_.empty() || compare(key_of(items_.back()), key) < 0;
  }

  /// Takes one more record. `emit(const LeafContent&)` is called for each leaf that is full.
  /// Pre: may_follow(key); key and value are at most Node::kMaxInlineBytes.
  template <class Emit>
  Result<> add(const LeafContent::Record& record, Emit&& emit) {
    if (!items_.empty()) {
      const Bytes fence = separator(key_of(items_.back()), record.key);
      if (!fits(items_.size(), KeyBound::at(fence))) RETURN_IF_ERROR(emit_but_last(emit));
      if (is_full_with(record)) RETURN_IF_ERROR(emit_first(items_.size(), fence, emit));
    }
    stage(record);
    return {};
  }
  /// Hands out what is left: the rightmost leaf, and one before it where both do not fit into one.
  template <class Emit>
  Result<> finish(Emit&& emit) {
    if (items_.empty()) return {};
    if (!fits(items_.size(), KeyBound::infinite())) RETURN_IF_ERROR(emit_but_last(emit));
    RETURN_IF_ERROR(emit(content(items_.size(), KeyBound::infinite())));
    forget_first(items_.size());
    return {};
  }

 private:
  struct Item {
    std::uint32_t at;
    std::uint16_t key_size;
    std::uint16_t value_size;
    bool overflow;
  };
  /// The shortest key above `before` and not above `after`.
  static Bytes separator(Bytes before, Bytes after) noexcept {
    return after.first(Node::common_prefix(before, KeyBound::at(after)) + 1);
  }
  template <class Emit>
  Result<> emit_first(std::size_t count, Bytes fence, Emit& emit) {
    RETURN_IF_ERROR(emit(content(count, KeyBound::at(fence))));
    low_.assign(fence.begin(), fence.end());
    forget_first(count);
    return {};
  }
  /// That these fit was seen when the last record came.
  template <class Emit>
  Result<> emit_but_last(Emit& emit) {
    const std::size_t count = items_.size() - 1;
    return emit_first(count, separator(key_of(items_[count - 1]), key_of(items_[count])), emit);
  }

  [[nodiscard]] Bytes key_of(const Item& item) const noexcept {
    return {bytes_.data() + item.at, item.key_size};
  }
  [[nodiscard]] bool fits(std::size_t count, const KeyBound& high) const noexcept;
  [[nodiscard]] bool is_full_with(const LeafContent::Record& record) const noexcept;
  [[nodiscard]] LeafContent content(std::size_t count, const KeyBound& high);
  void stage(const LeafContent::Record& record);
  void forget_first(std::size_t count) noexcept;

  std::vector<std::byte> low_;
  std::vector<std::byte> bytes_;
  std::vector<Item> items_;
  std::vector<LeafContent::Record> handed_out_;
  /// What the staged records take in a node without a prefix.
  std::size_t record_bytes_ = 0;
};

}  // namespace swizzle
