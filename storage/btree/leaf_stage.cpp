#include "storage/btree/leaf_stage.h"

#include <cstring>

#include "base/invariant.h"

namespace swizzle {
namespace {

/// Record space of a leaf. Records lie below the fences, at multiples of 8.
constexpr std::size_t kCapacity = kPageBytes - Node::kHeaderBytes - 8;
constexpr std::size_t kTarget = kCapacity * LeafStage::kFillPercent / 100;
constexpr std::size_t kLeast = kCapacity * LeafStage::kLeastFillPercent / 100;
/// Bytes of a record beside key and value: its slot and the value's length.
constexpr std::size_t kRecordOverhead = Node::kLeafSlotBytes + 2;

std::size_t bytes_of(const LeafContent::Record& record) noexcept {
  return kRecordOverhead + record.key.size() + record.value.size();
}

}  // namespace

LeafStage::LeafStage() : bytes_(4 * kPageBytes) {
  // Reserve for more records than a leaf has without a common prefix, since a prefix can double the
  // number.
  items_.reserve(Node::kMaxSlots);
}

bool LeafStage::fits(std::size_t shared, std::size_t high_size) const noexcept {
  return items_.size() == 1 ||
         record_bytes_ - items_.size() * shared + low_.size() + high_size <= kCapacity;
}

bool LeafStage::is_full_with(const LeafContent::Record& record, std::size_t shared) const noexcept {
  if (items_.size() + 1 == Node::kMaxSlots) return true;
  const std::size_t without = record_bytes_ - items_.size() * shared + low_.size();
  const std::size_t with = without + bytes_of(record) - shared + record.key.size();
  return with > kTarget && (with > kCapacity || without >= kLeast);
}

void LeafStage::stage(const LeafContent::Record& record, std::size_t common) {
  INVARIANT(record.key.size() + record.value.size() <= Node::kMaxInlineBytes);
  // The low fence is the beginning of the first key above it.
  low_shared_ = items_.empty() ? low_.size() : std::min(low_shared_, common);
  make_room(record.key.size() + record.value.size());
  const Bytes key = keep(record.key);
  items_.push_back({key, keep(record.value), record.overflow});
  record_bytes_ += bytes_of(record);
}

void LeafStage::make_room(std::size_t bytes) {
  if (used_ + bytes <= bytes_.size()) return;
  std::vector<std::byte> larger(2 * bytes_.size() + bytes);
  std::memcpy(larger.data(), bytes_.data(), used_);
  const auto moved = [&](Bytes part) -> Bytes {
    return {larger.data() + (part.data() - bytes_.data()), part.size()};
  };
  for (LeafContent::Record& item : items_)
    item = {moved(item.key), moved(item.value), item.overflow};
  bytes_ = std::move(larger);
}

/// Copies the bytes into the stage. Pre: there is room.
Bytes LeafStage::keep(Bytes bytes) noexcept {
  std::byte* const at = bytes_.data() + used_;
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  used_ += bytes.size();
  return {at, bytes.size()};
}

void LeafStage::forget_all() noexcept {
  items_.clear();
  used_ = 0;
  record_bytes_ = 0;
}

void LeafStage::forget_but_last() noexcept {
  const LeafContent::Record last = items_.back();
  const std::size_t size = last.key.size() + last.value.size();
  std::memmove(bytes_.data(), last.key.data(), size);
  items_.resize(1);
  items_[0] = {{bytes_.data(), last.key.size()},
               {bytes_.data() + last.key.size(), last.value.size()},
               last.overflow};
  used_ = size;
  record_bytes_ = bytes_of(last);
  low_shared_ = low_.size();
}

}  // namespace swizzle
