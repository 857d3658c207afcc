#include "storage/btree/leaf_stage.h"

#include <cstring>

#include "base/invariant.h"

namespace swizzle {
namespace {

/// Records begin below the fences, at a multiple of 8.
constexpr std::size_t kCapacity = kPageBytes - Node::kHeaderBytes - 8;
constexpr std::size_t kTarget = kCapacity * LeafStage::kFillPercent / 100;
/// Slot and value length.
constexpr std::size_t kRecordOverhead = Node::kLeafSlotBytes + 2;

}  // namespace

LeafStage::LeafStage() {
  // More than a leaf's records without a common prefix: prefixes can make them as long again.
  constexpr std::size_t kUsual = 4 * kPageBytes;
  bytes_.reserve(kUsual);
}

bool LeafStage::fits(std::size_t count, const KeyBound& high) const noexcept {
  if (count == 1) return true;
  const std::size_t prefix = Node::common_prefix(low_, high);
  return record_bytes_ - count * prefix + low_.size() + high.key.size() <= kCapacity;
}

bool LeafStage::is_full_with(const LeafContent::Record& record) const noexcept {
  // Fences that enclose the record share no more than the low one shares with it.
  const std::size_t prefix = Node::common_prefix(low_, KeyBound::at(record.key));
  const std::size_t bytes = record_bytes_ + kRecordOverhead + record.key.size() +
                            record.value.size() - (items_.size() + 1) * prefix;
  return bytes + low_.size() + record.key.size() > kTarget || items_.size() + 1 == Node::kMaxSlots;
}

LeafContent LeafStage::content(std::size_t count, const KeyBound& high) {
  handed_out_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const Item& item = items_[i];
    const std::byte* const key = bytes_.data() + item.at;
    handed_out_.push_back(
        {{key, item.key_size}, {key + item.key_size, item.value_size}, item.overflow});
  }
  return {low_, high, handed_out_};
}

void LeafStage::stage(const LeafContent::Record& record) {
  INVARIANT(record.key.size() + record.value.size() <= Node::kMaxInlineBytes);
  items_.push_back({static_cast<std::uint32_t>(bytes_.size()),
                    static_cast<std::uint16_t>(record.key.size()),
                    static_cast<std::uint16_t>(record.value.size()), record.overflow});
  bytes_.insert(bytes_.end(), record.key.begin(), record.key.end());
  bytes_.insert(bytes_.end(), record.value.begin(), record.value.end());
  record_bytes_ += kRecordOverhead + record.key.size() + record.value.size();
}

void LeafStage::forget_first(std::size_t count) noexcept {
  const std::size_t cut = count == items_.size() ? bytes_.size() : items_[count].at;
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(cut));
  items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(count));
  record_bytes_ = 0;
  for (Item& item : items_) {
    item.at -= static_cast<std::uint32_t>(cut);
    record_bytes_ += kRecordOverhead + item.key_size + item.value_size;
  }
}

}  // namespace swizzle
