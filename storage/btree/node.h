#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "storage/buffer/page_ref.h"
#include "storage/page/page.h"

namespace swizzle {

/// A key bound that may be infinite. Low bounds are never infinite: the empty key is the lowest.
struct KeyBound {
  Bytes key;
  enum class Kind : std::uint8_t { finite, infinite } kind = Kind::finite;

  static KeyBound infinite() noexcept { return {{}, Kind::infinite}; }
  static KeyBound at(Bytes key) noexcept { return {key, Kind::finite}; }
  [[nodiscard]] bool is_infinite() const noexcept { return kind == Kind::infinite; }
  /// True if `other` lies below the bound.
  [[nodiscard]] bool is_above(Bytes other) const noexcept {
    return is_infinite() || compare(other, key) < 0;
  }
  friend bool operator==(const KeyBound& a, const KeyBound& b) noexcept {
    return a.kind == b.kind && compare(a.key, b.key) == 0;
  }
};

/// One node of a Foster B-tree, laid over its page. Keys in [low fence, high fence); a foster
/// child, if there is one, has [high fence, chain-high fence). All keys share the prefix of the low
/// fence and the chain-high fence, which is stored once.
///
///   PageHeader | node header | hints | slots → … free … ← records | fences
///
/// A slot has four bytes of its key, its head, so most comparisons stay in the slot area. Where all
/// keys share more than the fences do (at a tree's edges, and while a chain is open), the heads
/// begin after that too: `shared()` is stored in the header, the records keep it. A leaf record is
/// {value length, key rest, value}; a branch record the key rest, for the child reference stands in
/// the slot: the descent needs no record where heads differ. Slot 0 of a branch has the low fence
/// as its key, which need not share anything, and no head.
///
/// Const functions may run on a page that a writer is changing: every offset and length is
/// bounded, and the answer counts only once the latch has validated.
class Node {
 public:
  static constexpr std::size_t kHeaderBytes = 128;
  static constexpr std::size_t kHintCount = 12;
  static constexpr std::size_t kLeafSlotBytes = 8;
  static constexpr std::size_t kBranchSlotBytes = 16;
  static constexpr std::size_t kMaxShared = 11;
  static constexpr std::size_t kMaxSlots = (kPageBytes - kHeaderBytes) / kLeafSlotBytes;
  static constexpr std::uint16_t kMaxKeyBytes = 1024;
  /// Key and value together; larger values go to the overflow tree. Two records and three fences
  /// always fit, so a node that lacks room can be split.
  static constexpr std::size_t kMaxInlineBytes = kPageBytes / 4;

  enum class Ghost : std::uint8_t { no, yes };

  struct Position {
    std::uint16_t index;
    bool exact;
  };
  struct Fences {
    Bytes low;
    KeyBound high;
    /// Equals `high` when there is no foster child.
    KeyBound chain_high;
  };

  static Node& of(std::byte* page) noexcept {
    return *static_cast<Node*>(static_cast<void*>(page));
  }
  static const Node& of(const std::byte* page) noexcept {
    return *static_cast<const Node*>(static_cast<const void*>(page));
  }

  /// Formats an empty node over any content. The fences may not point into this page.
  void format(PageId id, TreeId tree, std::uint8_t level, const Fences& fences) noexcept;

  [[nodiscard]] PageId id() const noexcept { return header_.id; }
  [[nodiscard]] TreeId tree() const noexcept { return header_.tree; }
  [[nodiscard]] std::uint8_t level() const noexcept { return header_.level; }
  [[nodiscard]] bool is_leaf() const noexcept { return header_.level == 0; }
  [[nodiscard]] Lsn lsn() const noexcept { return header_.lsn; }
  [[nodiscard]] Lsn logical_lsn() const noexcept { return header_.logical_lsn; }
  /// Upper bound of the bytes by which rollbacks may lengthen records: open transactions have made
  /// records shorter by as much. They are reserved for the rollbacks (rule B11).
  [[nodiscard]] std::size_t owed_bytes() const noexcept { return header_.owed_bytes; }
  void set_owed_bytes(std::size_t bytes) noexcept {
    header_.owed_bytes = static_cast<std::uint16_t>(std::min(bytes, kPageBytes));
  }
  /// Adjusts the reservation after a value's length has changed. A rollback may also shorten a
  /// value that an older step of it will lengthen again.
  enum class ChangedBy : std::uint8_t { transaction, rollback };
  void note_length(ChangedBy by, std::size_t before, std::size_t after) noexcept {
    if (after < before)
      set_owed_bytes(owed_bytes() + (before - after));
    else if (by == ChangedBy::rollback)
      set_owed_bytes(owed_bytes() - std::min(owed_bytes(), after - before));
  }
  void set_lsn(Lsn lsn) noexcept { header_.lsn = lsn; }
  void set_logical_lsn(Lsn lsn) noexcept { header_.logical_lsn = lsn; }

  [[nodiscard]] std::uint16_t count() const noexcept {
    const std::size_t most = (kPageBytes - kHeaderBytes) / slot_bytes();
    return static_cast<std::uint16_t>(std::min<std::size_t>(slot_count_, most));
  }
  [[nodiscard]] std::uint16_t ghost_count() const noexcept { return ghost_count_; }

  // Fences.
  [[nodiscard]] Bytes low_fence() const noexcept { return fence_bytes(0, low_length_); }
  [[nodiscard]] KeyBound high_fence() const noexcept;
  [[nodiscard]] KeyBound chain_high_fence() const noexcept;
  [[nodiscard]] Fences fences() const noexcept {
    return {low_fence(), high_fence(), chain_high_fence()};
  }
  [[nodiscard]] Bytes prefix() const noexcept {
    return low_fence().first(std::min<std::size_t>(prefix_length_, low_fence().size()));
  }
  /// Known common part of all keys after the prefix.
  [[nodiscard]] Bytes shared() const noexcept {
    return {shared_.data(), std::min<std::size_t>(shared_length_, kMaxShared)};
  }

  // Foster child.
  [[nodiscard]] bool has_foster() const noexcept { return !load_ref(&foster_).is_none(); }
  [[nodiscard]] PageRef* foster_ref() noexcept { return &foster_; }
  [[nodiscard]] const PageRef* foster_ref() const noexcept { return &foster_; }
  /// Removes the foster child, which the parent has adopted: the high fence stays, the chain ends
  /// here. A longer prefix that the fences then share is removed from the records.
  void drop_foster() noexcept;
  /// True if `key`, which is within the chain, belongs to the foster child.
  [[nodiscard]] bool is_beyond(Bytes key) const noexcept {
    return has_foster() && !high_fence().is_above(key);
  }

  // Search.
  /// The first slot whose key is not less than `key`. Pre: `key` lies between the fences.
  [[nodiscard]] Position lower_bound(Bytes key) const noexcept;
  /// The branch slot whose child covers `key`.
  [[nodiscard]] std::uint16_t child_index(Bytes key) const noexcept;

  // Slots. Index < count().
  [[nodiscard]] Bytes key_rest(std::uint16_t index) const noexcept;
  /// Copies prefix and rest. Returns the key's length; `into` has room for kMaxKeyBytes.
  std::size_t copy_key(std::uint16_t index, std::byte* into) const noexcept;
  [[nodiscard]] bool is_ghost(std::uint16_t index) const noexcept {
    return (slot(index).length_and_flags & kGhostBit) != 0;
  }
  /// True if the value lives in the overflow tree; value() is its address there.
  [[nodiscard]] bool is_overflow(std::uint16_t index) const noexcept {
    return (slot(index).length_and_flags & kOverflowBit) != 0;
  }
  [[nodiscard]] Bytes value(std::uint16_t index) const noexcept;
  [[nodiscard]] PageRef* child_ref(std::uint16_t index) noexcept;
  [[nodiscard]] const PageRef* child_ref(std::uint16_t index) const noexcept {
    return const_cast<Node*>(this)->child_ref(index);
  }
  /// Copies the part of a leaf to the page `into` that accessors of the slots [begin, end) and of
  /// the fences read. The rest is left as it was, or copied too if that is cheaper.
  void copy_part(std::uint16_t begin, std::uint16_t end, std::byte* into) const noexcept;
  /// Returns the address of a leaf slot's record, for prefetching.
  [[nodiscard]] const std::byte* record_address(std::uint16_t index) const noexcept {
    return base() + bounded_offset(slot(index).offset, 1);
  }

  // Changes. Pre: held exclusively.
  struct Flags {
    Ghost ghost = Ghost::no;
    bool overflow = false;
  };
  /// Bytes that a record takes, slot included.
  [[nodiscard]] std::size_t footprint(std::size_t key_length,
                                      std::size_t value_length) const noexcept;
  /// Returns the footprint of an existing record.
  [[nodiscard]] std::size_t footprint_of(std::uint16_t index) const noexcept {
    return slot_bytes() + record_bytes(index);
  }
  [[nodiscard]] std::size_t free_bytes() const noexcept {
    return contiguous_bytes() + garbage_bytes_;
  }
  [[nodiscard]] std::size_t used_bytes() const noexcept {
    return kPageBytes - kHeaderBytes - free_bytes();
  }
  [[nodiscard]] bool has_room(std::size_t key_length, std::size_t value_length) const noexcept {
    return footprint(key_length, value_length) <= free_bytes();
  }
  /// Returns by how much the free room shrinks when the record at `at` gets a value of that length.
  [[nodiscard]] std::size_t growth(Position at, std::size_t key_length,
                                   std::size_t value_length) const noexcept {
    if (!at.exact) return footprint(key_length, value_length);
    const std::size_t before = value(at.index).size();
    return value_length > before ? value_length - before : 0;
  }
  /// Pre: has_room. Compacts when it must.
  void insert_leaf(std::uint16_t index, Bytes key, Bytes value, Flags flags) noexcept;
  void insert_branch(std::uint16_t index, Bytes key, PageRef child) noexcept;
  void erase(std::uint16_t index) noexcept;
  void set_ghost(std::uint16_t index, Ghost ghost) noexcept;
  /// True if replace_value would fit.
  [[nodiscard]] bool has_room_for_value(std::uint16_t index,
                                        std::size_t value_length) const noexcept;
  void replace_value(std::uint16_t index, Bytes value, Flags flags) noexcept;
  void compact() noexcept;

  // Rebuilding, for splits, merges and redo.
  /// Writes the node anew with other fences, this foster child and its slots [0, count).
  void rebuild(const Fences& fences, PageRef foster, std::uint16_t count) noexcept;
  /// Appends slots [begin, end) of `from`, whose keys must lie between this node's fences.
  void append_range(const Node& from, std::uint16_t begin, std::uint16_t end) noexcept;
  struct LeafRecord {
    Bytes key;
    Bytes value;
    bool overflow = false;
  };
  /// Fills a leaf that has no records. Pre: the records ascend between the fences, and fit.
  void fill_leaf(std::span<const LeafRecord> records) noexcept;
  /// Bytes that append_range would take in a node with `prefix_length`.
  [[nodiscard]] std::size_t range_bytes(std::uint16_t begin, std::uint16_t end,
                                        std::size_t prefix_length) const noexcept;
  void set_foster(PageRef child) noexcept { store_ref(&foster_, child); }
  /// The prefix that a node with these fences would have.
  static std::size_t common_prefix(Bytes low, const KeyBound& chain_high) noexcept;
  static std::size_t fence_bytes_needed(const Fences& fences) noexcept;

  template <class Visitor>
  void for_each_ref(Visitor visit) noexcept {
    if (!is_leaf())
      for (std::uint16_t i = 0; i < count(); ++i) visit(child_ref(i));
    if (!load_ref(&foster_).is_none()) visit(&foster_);
  }

  /// The unused middle of the page.
  struct Gap {
    std::size_t begin;
    std::size_t end;
  };
  [[nodiscard]] Gap gap() const noexcept {
    return {kHeaderBytes + slot_bytes() * slot_count_, heap_begin_};
  }

  /// The numbered rules of one node: an empty string, or which rule is violated and how.
  [[nodiscard]] std::string verify() const;

 private:
  struct Slot {
    std::uint32_t head;
    std::uint16_t offset;
    std::uint16_t length_and_flags;
  };
  static_assert(sizeof(Slot) == kLeafSlotBytes);
  struct BranchSlot : Slot {
    PageRef child;
  };
  static_assert(sizeof(BranchSlot) == kBranchSlotBytes);
  static constexpr std::uint16_t kGhostBit = 0x8000;
  static constexpr std::uint16_t kOverflowBit = 0x4000;
  static constexpr std::uint16_t kLengthMask = 0x07ff;
  static constexpr std::uint16_t kHighInfinite = 1;
  static constexpr std::uint16_t kChainHighInfinite = 2;

  [[nodiscard]] std::byte* base() noexcept { return reinterpret_cast<std::byte*>(this); }
  [[nodiscard]] const std::byte* base() const noexcept {
    return reinterpret_cast<const std::byte*>(this);
  }
  [[nodiscard]] std::size_t slot_bytes() const noexcept {
    return is_leaf() ? kLeafSlotBytes : kBranchSlotBytes;
  }
  /// Returns an address inside the page, for every `index` and also while the page changes.
  [[nodiscard]] const std::byte* slot_address(std::uint16_t index) const noexcept {
    return base() + bounded_offset(kHeaderBytes + slot_bytes() * index, kLeafSlotBytes);
  }
  [[nodiscard]] const Slot& slot(std::uint16_t index) const noexcept {
    return *static_cast<const Slot*>(static_cast<const void*>(slot_address(index)));
  }
  [[nodiscard]] Slot& slot(std::uint16_t index) noexcept {
    return const_cast<Slot&>(std::as_const(*this).slot(index));
  }
  /// Returns an offset at which `size` bytes can be read, whatever the page contains.
  static std::size_t bounded_offset(std::size_t offset, std::size_t size) noexcept {
    return std::min(offset, kPageBytes - size);
  }
  [[nodiscard]] Bytes bounded(std::size_t offset, std::size_t length) const noexcept {
    const std::size_t begin = std::min(offset, kPageBytes);
    return {base() + begin, std::min(length, kPageBytes - begin)};
  }
  [[nodiscard]] Bytes fence_bytes(std::size_t skip, std::size_t length) const noexcept {
    return bounded(fence_offset_ + skip, length);
  }
  [[nodiscard]] Bytes leaf_record(std::uint16_t index) const noexcept;
  [[nodiscard]] std::size_t contiguous_bytes() const noexcept {
    return heap_begin_ - (kHeaderBytes + slot_bytes() * slot_count_);
  }
  static std::size_t key_length_of(const Slot& slot) noexcept {
    return slot.length_and_flags & kLengthMask;
  }
  [[nodiscard]] std::size_t record_bytes(std::uint16_t index) const noexcept;
  std::uint16_t take_heap(std::size_t bytes) noexcept;
  void open_slot(std::uint16_t index, Bytes key_rest, std::uint16_t offset, Flags flags) noexcept;
  void rebuild_hints() noexcept;
  static std::uint32_t head_of(Bytes bytes) noexcept;
  /// Returns the first slot whose key has the prefix that the keys share.
  [[nodiscard]] std::uint16_t first_sharer() const noexcept {
    return is_leaf() ? std::uint16_t{0} : std::uint16_t{1};
  }
  [[nodiscard]] std::uint32_t head_at(std::uint16_t index, Bytes key_rest) const noexcept;
  [[nodiscard]] int order_to_shared(Bytes key_rest) const noexcept;
  class AmongEqualHeads;
  template <class SlotType>
  [[nodiscard]] const SlotType* slots_as() const noexcept {
    return static_cast<const SlotType*>(static_cast<const void*>(base() + kHeaderBytes));
  }
  template <class SlotType>
  [[nodiscard]] Position search(Bytes key) const noexcept;
  template <class SlotType>
  [[nodiscard]] std::uint32_t first_head_from(std::uint32_t head,
                                              std::uint32_t slots_here) const noexcept;
  [[nodiscard]] Position among_equal_heads(std::uint16_t index, Bytes rest) const noexcept;
  [[nodiscard]] Position before_sharers(Bytes rest) const noexcept;
  void share_with(std::uint16_t index, Bytes key_rest) noexcept;
  [[nodiscard]] Bytes shared_by_all() const noexcept;
  void share(Bytes bytes) noexcept;
  void take_heads_behind(Bytes bytes) noexcept;
  void append_record(const Node& from, std::uint16_t index) noexcept;

  PageHeader header_;
  PageRef foster_;
  std::uint16_t slot_count_;
  std::uint16_t ghost_count_;
  std::uint16_t heap_begin_;
  std::uint16_t garbage_bytes_;
  std::uint16_t fence_offset_;
  std::uint16_t low_length_;
  std::uint16_t high_length_;
  std::uint16_t chain_high_length_;
  std::uint16_t prefix_length_;
  std::uint16_t infinity_flags_;
  std::uint8_t shared_length_;
  std::array<std::byte, kMaxShared> shared_;
  /// Heads at regular distances: a branch's search begins with them.
  std::array<std::uint32_t, kHintCount> hints_;
};
static_assert(sizeof(Node) == Node::kHeaderBytes);
static_assert(Node::kHeaderBytes + 3 * Node::kMaxKeyBytes + 8 +
                  2 * (Node::kMaxInlineBytes + Node::kBranchSlotBytes + 2) <=
              kPageBytes);
static_assert(std::is_trivially_copyable_v<Node>);

}  // namespace swizzle

#include "storage/btree/node_search.h"
