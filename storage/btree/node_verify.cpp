#include <fmt/format.h>

#include "storage/btree/node.h"

namespace swizzle {

// Checks the rules of a single node, numbered as in storage/btree/README.md.
std::string Node::verify() const {
  const auto violated = [this](const char* rule, std::string_view what) {
    return fmt::format("{} violated on page {}: {}", rule, raw(id()), what);
  };
  if (kHeaderBytes + slot_bytes() * slot_count_ > heap_begin_ || heap_begin_ > fence_offset_ ||
      fence_offset_ > kPageBytes)
    return violated("B1", "slots, records and fences overlap");
  if (std::size_t{fence_offset_} + low_length_ + high_length_ + chain_high_length_ > kPageBytes)
    return violated("B1", "fences reach behind the page");

  const KeyBound high = high_fence();
  const KeyBound chain_high = chain_high_fence();
  if (!high.is_above(low_fence()))
    return violated("B2", "the low fence is not below the high fence");
  if (has_foster() && (high.is_infinite() || !chain_high.is_above(high.key)))
    return violated("B2", "the foster fence is not above the high fence");
  if (prefix_length_ > common_prefix(low_fence(), chain_high))
    return violated("B3", "the prefix is longer than what the fences share");

  if (shared_length_ > kMaxShared) return violated("B1", "more is shared than there is room for");

  std::size_t used = 0;
  std::uint16_t ghosts = 0;
  std::array<std::byte, kMaxKeyBytes> previous;
  std::array<std::byte, kMaxKeyBytes> current;
  std::size_t previous_size = 0;
  for (std::uint16_t i = 0; i < slot_count_; ++i) {
    const Slot& at = slot(i);
    if (at.offset < heap_begin_ || at.offset + record_bytes(i) > fence_offset_)
      return violated("B1", fmt::format("record {} lies outside the record area", i));
    used += record_bytes(i);
    if (is_ghost(i)) ++ghosts;
    if (i >= first_sharer() && order_to_shared(key_rest(i)) != 0)
      return violated("B4", fmt::format("key {} does not share what all keys share", i));
    if (at.head != head_at(i, key_rest(i)))
      return violated("B4", fmt::format("slot {} has another head than its key", i));
    const std::size_t size = copy_key(i, current.data());
    const Bytes key{current.data(), size};
    if (i > 0 && compare({previous.data(), previous_size}, key) >= 0)
      return violated("B4", fmt::format("keys {} and {} are not in order", i - 1, i));
    if (compare(key, low_fence()) < 0 || !high.is_above(key))
      return violated("B4", fmt::format("key {} lies outside the fences", i));
    previous = current;
    previous_size = size;
  }
  if (ghosts != ghost_count_) return violated("B4", "the ghost count is wrong");
  const std::size_t heap = (fence_offset_ & ~std::size_t{7}) - heap_begin_;
  if (used + garbage_bytes_ != heap) return violated("B1", "the free space is miscounted");
  if (!is_leaf() &&
      (slot_count_ == 0 || prefix().size() + key_rest(0).size() != low_fence().size()))
    return violated("B4", "the first key of a branch is not its low fence");
  return {};
}

}  // namespace swizzle
