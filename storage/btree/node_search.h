// How a node finds a key: the inline part of Node, included by node.h. Every point read and write
// passes here once per level.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>

#include "storage/btree/node.h"

namespace swizzle {
namespace detail {

/// Returns the number of hints below `head`, compared four at a time. Comparisons of vectors are
/// signed, so both sides are shifted by the sign bit; each yields -1 where it holds.
inline std::uint32_t count_below(const std::array<std::uint32_t, Node::kHintCount>& hints,
                                 std::uint32_t head) noexcept {
  using Lanes = std::int32_t __attribute__((vector_size(16)));
  constexpr std::int32_t kSign = INT32_MIN;
  const std::int32_t biased = static_cast<std::int32_t>(head) ^ kSign;
  const Lanes wanted{biased, biased, biased, biased};
  Lanes sum{};
  for (std::size_t i = 0; i < Node::kHintCount; i += 4) {
    Lanes lanes;
    std::memcpy(&lanes, hints.data() + i, sizeof lanes);
    sum += (lanes ^ Lanes{kSign, kSign, kSign, kSign}) < wanted;
  }
  return static_cast<std::uint32_t>(-(sum[0] + sum[1] + sum[2] + sum[3]));
}

inline void prefetch_range(const void* begin, const void* end) noexcept {
  constexpr std::size_t kLine = 64;
  for (const auto* at = static_cast<const std::byte*>(begin); at < end; at += kLine)
    __builtin_prefetch(at);
}

}  // namespace detail

inline std::uint32_t Node::head_of(Bytes bytes) noexcept {
  if (bytes.size() >= 4) [[likely]]
    return load_big_endian<std::uint32_t>(bytes.data());
  std::uint32_t head = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    head |= std::to_integer<std::uint32_t>(bytes[i]) << (24 - 8 * i);
  return head;
}

/// Compares `key_rest` with the keys' shared prefix: 0 if it begins with that too.
inline int Node::order_to_shared(Bytes key_rest) const noexcept {
  const std::size_t length = shared().size();
  if (length == 0) return 0;
  if (key_rest.size() < kMaxShared)
    return compare(key_rest.first(std::min(key_rest.size(), length)), shared());
  // Two loads cover up to eleven bytes; below eight the first one has too many.
  const std::size_t surplus = length < 8 ? 8 * (8 - length) : 0;
  const auto key_first = load_big_endian<std::uint64_t>(key_rest.data()) >> surplus;
  const auto first = load_big_endian<std::uint64_t>(shared_.data()) >> surplus;
  if (key_first != first) return key_first < first ? -1 : 1;
  if (length <= 8) return 0;
  const auto key_last = load_big_endian<std::uint32_t>(key_rest.data() + length - 4);
  const auto last = load_big_endian<std::uint32_t>(shared_.data() + length - 4);
  return key_last == last ? 0 : (key_last < last ? -1 : 1);
}

/// The first of `slots_here` slots whose head is not less than `head`.
template <class SlotType>
std::uint32_t Node::first_head_from(std::uint32_t head, std::uint32_t slots_here) const noexcept {
  const auto* slots = slots_as<SlotType>();
  std::uint32_t begin = 0;
  std::uint32_t length = slots_here;
  if (slots_here > 2 * kHintCount) {
    // hints_[i] is the head of slot (i + 1) * stride.
    const auto stride = static_cast<std::uint32_t>(slots_here / (kHintCount + 1));
    const std::uint32_t below = detail::count_below(hints_, head);
    begin = below * stride;
    length = below == kHintCount ? slots_here - begin : stride + 1;
    // The descent has prefetched a leaf's slots.
    if constexpr (std::is_same_v<SlotType, BranchSlot>)
      detail::prefetch_range(slots + begin, slots + begin + length);
  }
  // Random keys make every comparison a coin toss, so none may be a branch.
  const SlotType* first = slots + begin;
  while (length > 1) {
    const std::uint32_t half = length / 2;
    first += first[half - 1].head < head ? half : 0;
    length -= half;
  }
  first += length == 1 && first->head < head ? 1 : 0;
  return static_cast<std::uint32_t>(first - slots);
}

template <class SlotType>
Node::Position Node::search(Bytes key) const noexcept {
  const std::size_t skip = prefix_length_;
  if (key.size() < skip) [[unlikely]]
    return {0, false};  // a torn prefix length: validation will refuse the answer
  Bytes rest = key.subspan(skip);
  // Bounded by the kind of slot that is searched, since the page may have another kind by now.
  const auto slots_here = std::min<std::uint32_t>(
      slot_count_, static_cast<std::uint32_t>((kPageBytes - kHeaderBytes) / sizeof(SlotType)));
  const std::size_t common = shared().size();
  if (const int order = order_to_shared(rest); order != 0) [[unlikely]]
    return order > 0 ? Position{static_cast<std::uint16_t>(slots_here), false}
                     : before_sharers(rest);
  const std::uint32_t head = head_of(rest.subspan(std::min(rest.size(), common)));
  const std::uint32_t index = first_head_from<SlotType>(head, slots_here);
  const Position below{static_cast<std::uint16_t>(index), false};
  if (index >= slots_here) return below;
  const SlotType& found = slots_as<SlotType>()[index];
  if (found.head != head) return below;
  if constexpr (std::is_same_v<SlotType, Slot>) {
    // The record is mostly not cached, so its lines are prefetched together.
    const std::byte* record = base() + bounded_offset(found.offset, 1);
    for (std::size_t line = 0; line < 3; ++line) __builtin_prefetch(record + 64 * line);
  }
  // If the head covers the rest of the key, equal lengths mean equal keys. Not so for a branch's
  // first slot, which has no key.
  constexpr std::uint32_t kFirstWithHead = std::is_same_v<SlotType, Slot> ? 0 : 1;
  if (rest.size() <= common + sizeof head && key_length_of(found) == rest.size() &&
      index >= kFirstWithHead)
    return {below.index, true};
  return among_equal_heads(below.index, rest);
}

inline Node::Position Node::lower_bound(Bytes key) const noexcept {
  return is_leaf() ? search<Slot>(key) : search<BranchSlot>(key);
}

inline std::uint16_t Node::child_index(Bytes key) const noexcept {
  const Position at = search<BranchSlot>(key);
  return at.exact || at.index == 0 ? at.index : static_cast<std::uint16_t>(at.index - 1);
}

}  // namespace swizzle
