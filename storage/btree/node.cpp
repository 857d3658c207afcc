#include "storage/btree/node.h"

#include <algorithm>
#include <cstring>

#include "base/common_bytes.h"
#include "base/invariant.h"

namespace swizzle {
namespace {

constexpr std::size_t kValueLengthBytes = 2;

}  // namespace

std::uint32_t Node::head_at(std::uint16_t index, Bytes key_rest) const noexcept {
  return index < first_sharer() ? 0 : head_of(key_rest.subspan(shared().size()));
}

std::size_t Node::common_prefix(Bytes low, const KeyBound& chain_high) noexcept {
  if (chain_high.is_infinite()) return 0;
  return common_front(low, chain_high.key);
}

std::size_t Node::fence_bytes_needed(const Fences& fences) noexcept {
  return fences.low.size() + fences.high.key.size() +
         (fences.chain_high == fences.high ? 0 : fences.chain_high.key.size());
}

void Node::format(PageId id, TreeId tree, std::uint8_t level, const Fences& fences) noexcept {
  std::memset(base(), 0, kHeaderBytes);
  header_.id = id;
  header_.tree = tree;
  header_.level = level;
  header_.kind = PageKind::node;
  const bool chain = fences.chain_high != fences.high;
  low_length_ = static_cast<std::uint16_t>(fences.low.size());
  high_length_ = static_cast<std::uint16_t>(fences.high.key.size());
  chain_high_length_ =
      chain ? static_cast<std::uint16_t>(fences.chain_high.key.size()) : std::uint16_t{0};
  infinity_flags_ = static_cast<std::uint16_t>(
      (fences.high.is_infinite() ? kHighInfinite : 0) |
      (chain && fences.chain_high.is_infinite() ? kChainHighInfinite : 0));
  prefix_length_ = static_cast<std::uint16_t>(common_prefix(fences.low, fences.chain_high));

  fence_offset_ = static_cast<std::uint16_t>(kPageBytes - fence_bytes_needed(fences));
  std::byte* to = base() + fence_offset_;
  for (Bytes fence : {fences.low, fences.high.key, chain ? fences.chain_high.key : Bytes{}}) {
    if (!fence.empty()) std::memcpy(to, fence.data(), fence.size());
    to += fence.size();
  }
  heap_begin_ = static_cast<std::uint16_t>(fence_offset_ & ~7U);
}

KeyBound Node::high_fence() const noexcept {
  if ((infinity_flags_ & kHighInfinite) != 0) return KeyBound::infinite();
  return KeyBound::at(fence_bytes(low_length_, high_length_));
}

KeyBound Node::chain_high_fence() const noexcept {
  if (!has_foster()) return high_fence();
  if ((infinity_flags_ & kChainHighInfinite) != 0) return KeyBound::infinite();
  return KeyBound::at(fence_bytes(std::size_t{low_length_} + high_length_, chain_high_length_));
}

void Node::drop_foster() noexcept {
  if (common_prefix(low_fence(), high_fence()) > prefix_length_) {
    rebuild({low_fence(), high_fence(), high_fence()}, PageRef{}, slot_count_);
    return;
  }
  store_ref(&foster_, PageRef{});
  chain_high_length_ = 0;
  infinity_flags_ &= kHighInfinite;
}

void Node::rebuild(const Fences& fences, PageRef foster, std::uint16_t count) noexcept {
  alignas(8) std::array<std::byte, kPageBytes> copy;
  std::memcpy(copy.data(), base(), kPageBytes);
  const Node& old = of(copy.data());
  const auto moved = [&](Bytes fence) {
    const bool here = fence.data() >= base() && fence.data() < base() + kPageBytes;
    return here ? Bytes{copy.data() + (fence.data() - base()), fence.size()} : fence;
  };
  format(old.id(), old.tree(), old.level(),
         {moved(fences.low),
          {moved(fences.high.key), fences.high.kind},
          {moved(fences.chain_high.key), fences.chain_high.kind}});
  set_foster(foster);
  append_range(old, 0, count);
  set_owed_bytes(old.owed_bytes());
  set_lsn(old.lsn());
  set_logical_lsn(old.logical_lsn());
}

Bytes Node::key_rest(std::uint16_t index) const noexcept {
  const Slot& at = slot(index);
  const std::size_t before_key = is_leaf() ? kValueLengthBytes : 0;
  return bounded(at.offset + before_key, key_length_of(at));
}

std::size_t Node::copy_key(std::uint16_t index, std::byte* into) const noexcept {
  const Bytes first = prefix();
  const Bytes rest = key_rest(index);
  const std::size_t first_size = std::min<std::size_t>(first.size(), kMaxKeyBytes);
  const std::size_t rest_size = std::min<std::size_t>(rest.size(), kMaxKeyBytes - first_size);
  std::memcpy(into, first.data(), first_size);
  std::memcpy(into + first_size, rest.data(), rest_size);
  return first_size + rest_size;
}

Bytes Node::value(std::uint16_t index) const noexcept {
  const Slot& at = slot(index);
  const std::size_t offset = bounded_offset(at.offset, kValueLengthBytes);
  const auto length = load<std::uint16_t>(base() + offset);
  return bounded(offset + kValueLengthBytes + key_length_of(at), length);
}

Bytes Node::leaf_record(std::uint16_t index) const noexcept {
  const Slot& at = slot(index);
  const std::size_t offset = bounded_offset(at.offset, kValueLengthBytes);
  const auto length = load<std::uint16_t>(base() + offset);
  return bounded(offset, kValueLengthBytes + key_length_of(at) + length);
}

void Node::copy_part(std::uint16_t begin, std::uint16_t end, std::byte* into) const noexcept {
  // Memory is fetched by lines: copying a few records costs less than copying the page, copying
  // many costs more.
  if (2 * (end - begin) > count()) {
    std::memcpy(into, base(), kPageBytes);
    return;
  }
  const auto copy = [&](Bytes part) {
    std::memcpy(into + (part.data() - base()), part.data(), part.size());
  };
  copy({base(), kHeaderBytes});
  copy(bounded(kHeaderBytes + kLeafSlotBytes * begin,
               kLeafSlotBytes * static_cast<std::size_t>(end - begin)));
  copy(fence_bytes(0, std::size_t{low_length_} + high_length_ + chain_high_length_));
  for (std::uint16_t i = begin; i < end; ++i) copy(leaf_record(i));
}

PageRef* Node::child_ref(std::uint16_t index) noexcept {
  constexpr std::size_t kBeforeChild = sizeof(Slot);
  return static_cast<PageRef*>(static_cast<void*>(
      base() +
      bounded_offset(kHeaderBytes + kBranchSlotBytes * index + kBeforeChild, sizeof(PageRef))));
}

/// Returns the position of a key that is below all that share the prefix: before or after slot 0
/// of a branch.
Node::Position Node::before_sharers(Bytes rest) const noexcept {
  if (is_leaf() || count() == 0) return {0, false};
  const int order = compare(key_rest(0), rest);
  return {static_cast<std::uint16_t>(order < 0 ? 1 : 0), order == 0};
}

/// Order of slots with equal heads, mostly decided by the eight bytes after the head.
class Node::AmongEqualHeads {
 public:
  AmongEqualHeads(const Node& node, Bytes rest) noexcept
      : node_(node),
        rest_(rest),
        skip_(node.shared().size() + sizeof(Slot::head)),
        tail_(rest.size() > skip_ ? first_eight(rest.subspan(skip_)) : 0) {}

  /// Returns less than 0 if the slot's key is below the wanted one.
  [[nodiscard]] int order_of(std::uint16_t index) const noexcept {
    const Bytes key = node_.key_rest(index);
    if (key.size() > skip_ && rest_.size() > skip_) {
      const std::uint64_t tail = first_eight(key.subspan(skip_));
      if (tail != tail_) return tail < tail_ ? -1 : 1;
      // Both ended within these bytes; one may end with zeros.
      if (std::max(key.size(), rest_.size()) <= skip_ + sizeof tail)
        return static_cast<int>(key.size()) - static_cast<int>(rest_.size());
    }
    return compare(key, rest_);
  }

 private:
  /// Returns the first eight bytes as a number with the same order; short keys are padded with
  /// zeros.
  static std::uint64_t first_eight(Bytes bytes) noexcept {
    if (bytes.size() >= 8) return load_big_endian<std::uint64_t>(bytes.data());
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      number |= std::to_integer<std::uint64_t>(bytes[i]) << (56 - 8 * i);
    return number;
  }

  const Node& node_;
  Bytes rest_;
  std::size_t skip_;
  std::uint64_t tail_;
};

/// The first key not less than `rest` among the run of equal heads that begins at `index`.
Node::Position Node::among_equal_heads(std::uint16_t index, Bytes rest) const noexcept {
  const std::uint32_t head = slot(index).head;
  const std::uint16_t slots_here = count();
  if (index < first_sharer()) {
    // Slot 0 of a branch has no head, and need not share the prefix.
    const int order = compare(key_rest(index), rest);
    if (order >= 0) return {index, order == 0};
    ++index;
    if (index == slots_here || slot(index).head != head) return {index, false};
  }
  const AmongEqualHeads run(*this, rest);
  const int order = run.order_of(index);
  if (order >= 0) return {index, order == 0};
  ++index;
  if (index >= slots_here || slot(index).head != head) return {index, false};
  std::uint16_t end = slots_here;
  while (index < end) {
    const auto middle = static_cast<std::uint16_t>((index + end) / 2);
    // After the run the heads are greater.
    const int middle_order = slot(middle).head != head ? 1 : run.order_of(middle);
    if (middle_order == 0) return {middle, true};
    if (middle_order < 0)
      index = static_cast<std::uint16_t>(middle + 1);
    else
      end = middle;
  }
  return {index, false};
}

std::size_t Node::record_bytes(std::uint16_t index) const noexcept {
  const Slot& at = slot(index);
  if (is_leaf())
    return kValueLengthBytes + key_length_of(at) + load<std::uint16_t>(base() + at.offset);
  return key_length_of(at);
}

std::size_t Node::footprint(std::size_t key_length, std::size_t value_length) const noexcept {
  const std::size_t rest = key_length - prefix_length_;
  return slot_bytes() + (is_leaf() ? kValueLengthBytes + rest + value_length : rest);
}

std::uint16_t Node::take_heap(std::size_t bytes) noexcept {
  heap_begin_ = static_cast<std::uint16_t>(heap_begin_ - bytes);
  return heap_begin_;
}

void Node::open_slot(std::uint16_t index, Bytes key_rest, std::uint16_t offset,
                     Flags flags) noexcept {
  share_with(index, key_rest);
  std::byte* here = base() + kHeaderBytes + slot_bytes() * index;
  std::memmove(here + slot_bytes(), here, slot_bytes() * (slot_count_ - index));
  Slot& at = slot(index);
  const unsigned bits =
      (flags.ghost == Ghost::yes ? kGhostBit : 0U) | (flags.overflow ? kOverflowBit : 0U);
  at = {head_at(index, key_rest), offset, static_cast<std::uint16_t>(key_rest.size() | bits)};
  ++slot_count_;
  if (flags.ghost == Ghost::yes) ++ghost_count_;
  // Doublings of the count are rare enough to look at all keys.
  if ((slot_count_ & (slot_count_ - 1)) == 0 && slot_count_ >= 4) share(shared_by_all());
  rebuild_hints();
}

/// Adjusts the shared prefix to a key that is inserted at `index`.
void Node::share_with(std::uint16_t index, Bytes key_rest) noexcept {
  const Bytes before = shared();
  if (index < first_sharer() || order_to_shared(key_rest) == 0) return;
  share(before.first(common_front(before, key_rest)));
}

Bytes Node::shared_by_all() const noexcept {
  const std::uint16_t first = first_sharer();
  if (slot_count_ < first + 2) return {};
  const Bytes low = key_rest(first);
  const Bytes high = key_rest(static_cast<std::uint16_t>(slot_count_ - 1));
  const Bytes most = low.first(std::min(low.size(), kMaxShared));
  return most.first(common_front(most, high));
}

/// `bytes` may be a part of the previously shared bytes.
void Node::share(Bytes bytes) noexcept {
  if (bytes.size() != shared_length_) take_heads_behind(bytes);
}

void Node::take_heads_behind(Bytes bytes) noexcept {
  if (!bytes.empty()) std::memmove(shared_.data(), bytes.data(), bytes.size());
  shared_length_ = static_cast<std::uint8_t>(bytes.size());
  for (std::uint16_t i = 0; i < slot_count_; ++i) slot(i).head = head_at(i, key_rest(i));
}

void Node::insert_leaf(std::uint16_t index, Bytes key, Bytes value, Flags flags) noexcept {
  INVARIANT(is_leaf() && index <= slot_count_);
  const Bytes rest = key.subspan(prefix_length_);
  const std::size_t bytes = kValueLengthBytes + rest.size() + value.size();
  INVARIANT(bytes + kLeafSlotBytes <= free_bytes());
  if (bytes + kLeafSlotBytes > contiguous_bytes()) compact();
  const std::uint16_t offset = take_heap(bytes);
  std::byte* record = base() + offset;
  store(record, static_cast<std::uint16_t>(value.size()));
  if (!rest.empty()) std::memcpy(record + kValueLengthBytes, rest.data(), rest.size());
  if (!value.empty())
    std::memcpy(record + kValueLengthBytes + rest.size(), value.data(), value.size());
  open_slot(index, rest, offset, flags);
}

void Node::fill_leaf(std::span<const LeafRecord> records) noexcept {
  INVARIANT(is_leaf() && slot_count_ == 0);
  for (const LeafRecord& record : records) {
    const Bytes rest = record.key.subspan(prefix_length_);
    const std::size_t bytes = kValueLengthBytes + rest.size() + record.value.size();
    INVARIANT(bytes + kLeafSlotBytes <= contiguous_bytes());
    const std::uint16_t offset = take_heap(bytes);
    std::byte* const to = base() + offset;
    store(to, static_cast<std::uint16_t>(record.value.size()));
    if (!rest.empty()) std::memcpy(to + kValueLengthBytes, rest.data(), rest.size());
    if (!record.value.empty())
      std::memcpy(to + kValueLengthBytes + rest.size(), record.value.data(), record.value.size());
    const unsigned flags = record.overflow ? kOverflowBit : 0U;
    slot(slot_count_) = {0, offset, static_cast<std::uint16_t>(rest.size() | flags)};
    ++slot_count_;
  }
  take_heads_behind(shared_by_all());
  rebuild_hints();
}

void Node::insert_branch(std::uint16_t index, Bytes key, PageRef child) noexcept {
  INVARIANT(!is_leaf() && index <= slot_count_ && (index > 0 || slot_count_ == 0));
  const Bytes rest = key.subspan(prefix_length_);
  INVARIANT(rest.size() + kBranchSlotBytes <= free_bytes());
  if (rest.size() + kBranchSlotBytes > contiguous_bytes()) compact();
  const std::uint16_t offset = take_heap(rest.size());
  if (!rest.empty()) std::memcpy(base() + offset, rest.data(), rest.size());
  open_slot(index, rest, offset, {});
  store_ref(child_ref(index), child);
}

void Node::erase(std::uint16_t index) noexcept {
  INVARIANT(index < slot_count_ && index >= first_sharer());
  garbage_bytes_ = static_cast<std::uint16_t>(garbage_bytes_ + record_bytes(index));
  if (is_ghost(index)) --ghost_count_;
  std::byte* here = base() + kHeaderBytes + slot_bytes() * index;
  std::memmove(here, here + slot_bytes(), slot_bytes() * (slot_count_ - index - 1U));
  --slot_count_;
  rebuild_hints();
}

void Node::set_ghost(std::uint16_t index, Ghost ghost) noexcept {
  INVARIANT(is_leaf() && index < slot_count_ && is_ghost(index) != (ghost == Ghost::yes));
  slot(index).length_and_flags ^= kGhostBit;
  ghost_count_ =
      static_cast<std::uint16_t>(ghost == Ghost::yes ? ghost_count_ + 1 : ghost_count_ - 1);
}

bool Node::has_room_for_value(std::uint16_t index, std::size_t value_length) const noexcept {
  const std::size_t old_length = value(index).size();
  return value_length <= old_length || value_length - old_length <= free_bytes();
}

void Node::replace_value(std::uint16_t index, Bytes value, Flags flags) noexcept {
  INVARIANT(is_leaf() && has_room_for_value(index, value.size()));
  const bool was_ghost = is_ghost(index);
  Slot& at = slot(index);
  const std::size_t key_length = key_length_of(at);
  std::byte* record = base() + at.offset;
  const auto old_length = load<std::uint16_t>(record);
  if (value.size() <= old_length) {
    garbage_bytes_ = static_cast<std::uint16_t>(garbage_bytes_ + (old_length - value.size()));
  } else {
    std::array<std::byte, kMaxKeyBytes> key{};
    std::memcpy(key.data(), record + kValueLengthBytes, key_length);
    const std::size_t bytes = kValueLengthBytes + key_length + value.size();
    garbage_bytes_ =
        static_cast<std::uint16_t>(garbage_bytes_ + kValueLengthBytes + key_length + old_length);
    if (bytes > contiguous_bytes()) {
      at.offset = 0;  // compact() leaves the old record behind
      compact();
    }
    at.offset = take_heap(bytes);
    record = base() + at.offset;
    std::memcpy(record + kValueLengthBytes, key.data(), key_length);
  }
  store(record, static_cast<std::uint16_t>(value.size()));
  if (!value.empty())
    std::memcpy(record + kValueLengthBytes + key_length, value.data(), value.size());
  const unsigned bits =
      (flags.ghost == Ghost::yes ? kGhostBit : 0U) | (flags.overflow ? kOverflowBit : 0U);
  at.length_and_flags = static_cast<std::uint16_t>(key_length | bits);
  ghost_count_ = static_cast<std::uint16_t>(ghost_count_ - (was_ghost ? 1 : 0) +
                                            (flags.ghost == Ghost::yes ? 1 : 0));
}

void Node::compact() noexcept {
  alignas(8) std::array<std::byte, kPageBytes> copy;
  std::memcpy(copy.data(), base(), kPageBytes);
  const Node& old = of(copy.data());
  heap_begin_ = static_cast<std::uint16_t>(fence_offset_ & ~7U);
  for (std::uint16_t i = 0; i < slot_count_; ++i) {
    if (old.slot(i).offset == 0) continue;
    const std::size_t bytes = old.record_bytes(i);
    const std::uint16_t offset = take_heap(bytes);
    std::memcpy(base() + offset, copy.data() + old.slot(i).offset, bytes);
    slot(i).offset = offset;
  }
  garbage_bytes_ = 0;
}

void Node::append_range(const Node& from, std::uint16_t begin, std::uint16_t end) noexcept {
  INVARIANT(is_leaf() == from.is_leaf());
  for (std::uint16_t i = begin; i < end; ++i) append_record(from, i);
  // At the end: for each record by itself it would cost more than the copying.
  take_heads_behind(shared_by_all());
  rebuild_hints();
}

/// Appends a record without its head, which the caller sets.
void Node::append_record(const Node& from, std::uint16_t index) noexcept {
  const std::size_t both_skip = std::min(prefix_length_, from.prefix_length_);
  // Bytes of the key that are in the other node's prefix and not in ours, and the reverse.
  const Bytes front = from.prefix().subspan(both_skip);
  const std::size_t dropped = prefix_length_ - both_skip;
  const Slot& old = from.slot(index);
  INVARIANT(key_length_of(old) >= dropped);
  const Bytes record = is_leaf() ? from.leaf_record(index) : from.key_rest(index);
  const std::size_t before_key = is_leaf() ? kValueLengthBytes : 0;
  // The rest of the key, and the value after it.
  const Bytes rest = record.subspan(std::min(before_key + dropped, record.size()));
  const std::size_t bytes = before_key + front.size() + rest.size();
  INVARIANT(bytes + slot_bytes() <= free_bytes());
  if (bytes + slot_bytes() > contiguous_bytes()) compact();
  const std::uint16_t offset = take_heap(bytes);
  std::byte* to = base() + offset;
  if (is_leaf()) std::memcpy(to, record.data(), kValueLengthBytes);
  to += before_key;
  if (!front.empty()) std::memcpy(to, front.data(), front.size());
  if (!rest.empty()) std::memcpy(to + front.size(), rest.data(), rest.size());
  const std::size_t key_length = key_length_of(old) + front.size() - dropped;
  const unsigned flags = old.length_and_flags & (kGhostBit | kOverflowBit);
  slot(slot_count_) = {0, offset, static_cast<std::uint16_t>(key_length | flags)};
  if ((flags & kGhostBit) != 0) ++ghost_count_;
  if (!is_leaf()) store_ref(child_ref(slot_count_), load_ref(from.child_ref(index)));
  ++slot_count_;
}

std::size_t Node::range_bytes(std::uint16_t begin, std::uint16_t end,
                              std::size_t prefix_length) const noexcept {
  std::size_t bytes = 0;
  for (std::uint16_t i = begin; i < end; ++i) {
    const std::size_t rest = prefix().size() + key_rest(i).size() - prefix_length;
    bytes += slot_bytes() + (is_leaf() ? kValueLengthBytes + rest + value(i).size() : rest);
  }
  return bytes;
}

void Node::rebuild_hints() noexcept {
  if (slot_count_ <= 2 * kHintCount) return;
  const std::size_t step = slot_count_ / (kHintCount + 1) * slot_bytes();
  const std::byte* head = base() + kHeaderBytes;
  for (std::uint32_t& hint : hints_) hint = load<std::uint32_t>(head += step);
}

}  // namespace swizzle
