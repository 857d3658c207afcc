#include "storage/recovery/records/record_redo.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "storage/btree/btree_clear.inl"
#include "storage/btree/btree_split.inl"
#include "storage/btree/records.h"

namespace swizzle {
namespace {

// Makes the node `child` the foster child of `node`, which keeps its records. Returns false if
// there is no room for the longer fence.
bool hang_foster(Node& node, PageRef child, const KeyBound& chain_high) {
  const Node::Fences fences{node.low_fence(), node.high_fence(), chain_high};
  const std::size_t prefix = Node::common_prefix(fences.low, fences.chain_high);
  if (node.range_bytes(0, node.count(), prefix) + Node::fence_bytes_needed(fences) >
      kPageBytes - Node::kHeaderBytes)
    return false;
  node.rebuild(fences, child, node.count());
  return true;
}

// Restores the reserved room of transactions that are still open after the redo, such as prepared
// ones.
void note_length(const wal::Record& record, Node& leaf, std::size_t before, std::size_t after) {
  if (record.header.txn == TxnId::none) return;
  const bool is_undo = (record.header.flags & record_flags::kCompensation) != 0;
  leaf.note_length(is_undo ? Node::ChangedBy::rollback : Node::ChangedBy::transaction, before,
                   after);
}

Result<> remove(const wal::Record& record, PageId page, Node& leaf, Bytes key) {
  const Node::Position at = leaf.lower_bound(key);
  if (!at.exact || leaf.is_ghost(at.index))
    return record_does_not_fit(record, page, "the key is absent, or a ghost already");
  leaf.set_ghost(at.index, Node::Ghost::yes);
  return {};
}

enum class Erased : std::uint8_t { ghosts, any };

Result<> erase_slots(const wal::Record& record, PageId page, Node& leaf, Erased which) {
  const std::size_t count = record.payload.size() / sizeof(std::uint16_t);
  for (std::size_t i = count; i > 0; --i) {
    const auto index = load<std::uint16_t>(record.payload.data() + (i - 1) * sizeof(std::uint16_t));
    if (index >= leaf.count() || (which == Erased::ghosts && !leaf.is_ghost(index)))
      return record_does_not_fit(record, page,
                                 "an erased record is absent, or a removed ghost is none");
    leaf.erase(index);
  }
  return {};
}

}  // namespace

std::unexpected<Error> record_does_not_fit(const wal::Record& record, PageId page,
                                           std::string_view why) {
  return fail(sqlstate::data_corrupted, fmt::format("the log record at {} does not fit page {}: {}",
                                                    raw(record.lsn), raw(page), why));
}

namespace redo_of {

Result<> leaf_insert(const wal::Record& record, PageId page, Node& leaf) {
  ASSIGN_OR_RETURN(const auto insert, payload::decode_leaf_row(record.payload));
  const Node::Position at = leaf.lower_bound(insert.key);
  const Node::Flags flags{Node::Ghost::no, insert.overflow};
  if (at.exact) {
    if (!leaf.is_ghost(at.index) || !leaf.has_room_for_value(at.index, insert.value.size()))
      return record_does_not_fit(record, page, "the inserted key is there already");
    note_length(record, leaf, leaf.value(at.index).size(), insert.value.size());
    leaf.replace_value(at.index, insert.value, flags);
  } else {
    if (!leaf.has_room(insert.key.size(), insert.value.size()))
      return record_does_not_fit(record, page, "the inserted record has no room");
    leaf.insert_leaf(at.index, insert.key, insert.value, flags);
  }
  return {};
}

Result<> leaf_update(const wal::Record& record, PageId page, Node& leaf) {
  ASSIGN_OR_RETURN(const auto update, payload::decode_leaf_update(record.payload));
  const Node::Position at = leaf.lower_bound(update.key);
  if (!at.exact || leaf.is_ghost(at.index))
    return record_does_not_fit(record, page, "the updated key is absent");
  const Bytes old_value = leaf.value(at.index);
  const std::size_t old_end = update.offset + update.old_part.size();
  if (old_end > old_value.size() ||
      compare(old_value.subspan(update.offset, update.old_part.size()), update.old_part) != 0)
    return record_does_not_fit(record, page, "the updated value is another one");
  const std::size_t size = old_value.size() - update.old_part.size() + update.new_part.size();
  if (size > Node::kMaxInlineBytes || !leaf.has_room_for_value(at.index, size))
    return record_does_not_fit(record, page, "the updated value has no room");

  std::array<std::byte, Node::kMaxInlineBytes> value;
  std::byte* to = value.data();
  for (const Bytes part :
       {old_value.first(update.offset), update.new_part, old_value.subspan(old_end)}) {
    if (!part.empty()) std::memcpy(to, part.data(), part.size());
    to += part.size();
  }
  note_length(record, leaf, old_value.size(), size);
  leaf.replace_value(at.index, {value.data(), size}, {Node::Ghost::no, update.new_overflow});
  return {};
}

Result<> leaf_remove(const wal::Record& record, PageId page, Node& leaf) {
  ASSIGN_OR_RETURN(const auto row, payload::decode_leaf_row(record.payload));
  return remove(record, page, leaf, row.key);
}

Result<> leaf_removals(const wal::Record& record, PageId page, Node& leaf) {
  ASSIGN_OR_RETURN(const auto rows, payload::decode_leaf_rows(record.payload));
  for (const payload::LeafRow& row : rows) RETURN_IF_ERROR(remove(record, page, leaf, row.key));
  return {};
}

Result<> ghosts_removed(const wal::Record& record, PageId page, Node& leaf) {
  return erase_slots(record, page, leaf, Erased::ghosts);
}

Result<> records_discarded(const wal::Record& record, PageId page, Node& leaf) {
  return erase_slots(record, page, leaf, Erased::any);
}

Result<> split_left(const wal::Record& record, PageId page, Node& node) {
  alignas(8) std::array<std::byte, kPageBytes> right;
  ASSIGN_OR_RETURN(const Bytes rest, payload::restore_image(record.payload, right.data()));
  if (rest.size() != sizeof(std::uint16_t))
    return record_does_not_fit(record, page, "the split has no point");
  const auto index = load<std::uint16_t>(rest.data());
  if (index == 0 || index > node.count())
    return record_does_not_fit(record, page, "the split is behind its end");
  shrink_to_left_half(node, index, Node::of(right.data()).low_fence(),
                      PageRef{record.header.page2});
  return {};
}

Result<> adoption(const wal::Record& record, PageId page, Node& node) {
  if (page == record.header.page2) {
    if (!node.has_foster())
      return record_does_not_fit(record, page, "it has no foster child to give up");
    node.drop_foster();
    return {};
  }
  ASSIGN_OR_RETURN(const auto adopted, payload::decode_key_and_page(record.payload));
  const Node::Position at = node.lower_bound(adopted.key);
  if (node.is_leaf() || at.exact || !node.has_room(adopted.key.size(), 0))
    return record_does_not_fit(record, page, "the adopted child has no place");
  node.insert_branch(at.index, adopted.key, PageRef{adopted.page});
  return {};
}

Result<> deadoption(const wal::Record& record, PageId page, Node& node) {
  ASSIGN_OR_RETURN(const auto gone, payload::decode_deadoption(record.payload));
  if (page == record.header.page2) {
    if (node.has_foster())
      return record_does_not_fit(record, page, "it has a foster child already");
    if (!hang_foster(node, PageRef{gone.child}, gone.chain_high))
      return record_does_not_fit(record, page, "the foster child's fence has no room");
    return {};
  }
  const Node::Position at = node.lower_bound(gone.key);
  if (node.is_leaf() || !at.exact)
    return record_does_not_fit(record, page, "the child that leaves is absent");
  node.erase(at.index);
  return {};
}

Result<> root_growth(const wal::Record& record, PageId /*page*/, Node& node) {
  make_branch_root(node, PageRef{record.header.page2});
  return {};
}

Result<> appended_child(const wal::Record& record, PageId page, Node& parent) {
  alignas(8) std::array<std::byte, kPageBytes> child;
  RETURN_IF_ERROR(payload::restore_image(record.payload, child.data()));
  const Bytes low = Node::of(child.data()).low_fence();
  if (parent.is_leaf() || parent.lower_bound(low).index != parent.count() ||
      !parent.has_room(low.size(), 0))
    return record_does_not_fit(record, page, "the appended child has no place");
  parent.insert_branch(parent.count(), low, PageRef{record.header.page2});
  return {};
}

Result<> freed_children(const wal::Record& record, PageId page, Node& parent) {
  if (record.payload.size() < sizeof(std::uint64_t))
    return record_does_not_fit(record, page, "it is malformed");
  const auto after = load<std::uint64_t>(record.payload.data());
  if (after > static_cast<std::uint64_t>(payload::AfterFreeing::empty_leaf))
    return record_does_not_fit(record, page, "it is malformed");
  forget_children(parent, static_cast<payload::AfterFreeing>(after));
  return {};
}

}  // namespace redo_of
}  // namespace swizzle
