#include "storage/recovery/record_effects.h"

#include <fmt/format.h>

#include <cstring>

#include "storage/btree/btree_split.inl"
#include "storage/btree/node.h"

namespace swizzle {
namespace {

std::unexpected<Error> bad(const wal::Record& record, PageId page, std::string_view why) {
  return fail(sqlstate::data_corrupted, fmt::format("the log record at {} does not fit page {}: {}",
                                                    raw(record.lsn), raw(page), why));
}

// The node `child` becomes the foster child of `node`, whose records stay. False: no room for the
// longer fence.
bool hang_foster(Node& node, PageRef child, const KeyBound& chain_high) {
  alignas(8) std::array<std::byte, kPageBytes> copy;
  std::memcpy(copy.data(), &node, kPageBytes);
  const Node& old = Node::of(copy.data());
  const Node::Fences fences{old.low_fence(), old.high_fence(), chain_high};
  const std::size_t prefix = Node::common_prefix(fences.low, fences.chain_high);
  if (old.range_bytes(0, old.count(), prefix) + Node::fence_bytes_needed(fences) >
      kPageBytes - Node::kHeaderBytes)
    return false;
  node.format(old.id(), old.tree(), old.level(), fences);
  node.set_foster(child);
  node.append_range(old, 0, old.count());
  node.set_logical_lsn(old.logical_lsn());
  return true;
}

// Every change of a leaf finds its record by key.
Result<> redo_insert(const wal::Record& record, PageId page, Node& leaf) {
  ASSIGN_OR_RETURN(const auto insert, payload::decode_leaf_row(record.payload));
  const Node::Position at = leaf.lower_bound(insert.key);
  const Node::Flags flags{Node::Ghost::no, insert.overflow};
  if (at.exact) {
    if (!leaf.is_ghost(at.index) || !leaf.has_room_for_value(at.index, insert.value.size()))
      return bad(record, page, "the inserted key is there already");
    leaf.replace_value(at.index, insert.value, flags);
  } else {
    if (!leaf.has_room(insert.key.size(), insert.value.size()))
      return bad(record, page, "the inserted record has no room");
    leaf.insert_leaf(at.index, insert.key, insert.value, flags);
  }
  return {};
}

Result<> redo_update(const wal::Record& record, PageId page, Node& leaf) {
  ASSIGN_OR_RETURN(const auto update, payload::decode_leaf_update(record.payload));
  const Node::Position at = leaf.lower_bound(update.key);
  if (!at.exact || leaf.is_ghost(at.index)) return bad(record, page, "the updated key is absent");
  const Bytes old_value = leaf.value(at.index);
  const std::size_t old_end = update.offset + update.old_part.size();
  if (old_end > old_value.size() ||
      compare(old_value.subspan(update.offset, update.old_part.size()), update.old_part) != 0)
    return bad(record, page, "the updated value is another one");
  const std::size_t size = old_value.size() - update.old_part.size() + update.new_part.size();
  if (size > Node::kMaxInlineBytes || !leaf.has_room_for_value(at.index, size))
    return bad(record, page, "the updated value has no room");

  std::array<std::byte, Node::kMaxInlineBytes> value;
  std::byte* to = value.data();
  for (const Bytes part :
       {old_value.first(update.offset), update.new_part, old_value.subspan(old_end)}) {
    if (!part.empty()) std::memcpy(to, part.data(), part.size());
    to += part.size();
  }
  leaf.replace_value(at.index, {value.data(), size}, {Node::Ghost::no, update.new_overflow});
  return {};
}

Result<> redo_remove(const wal::Record& record, PageId page, Node& leaf) {
  ASSIGN_OR_RETURN(const auto row, payload::decode_leaf_row(record.payload));
  const Node::Position at = leaf.lower_bound(row.key);
  if (!at.exact || leaf.is_ghost(at.index))
    return bad(record, page, "the key is absent, or a ghost already");
  leaf.set_ghost(at.index, Node::Ghost::yes);
  return {};
}

Result<> redo_ghosts_removed(const wal::Record& record, PageId page, Node& leaf) {
  const std::size_t count = record.payload.size() / sizeof(std::uint16_t);
  for (std::size_t i = count; i > 0; --i) {
    const auto index = load<std::uint16_t>(record.payload.data() + (i - 1) * sizeof(std::uint16_t));
    if (index >= leaf.count() || !leaf.is_ghost(index))
      return bad(record, page, "a removed ghost is none");
    leaf.erase(index);
  }
  return {};
}

Result<> redo_split_left(const wal::Record& record, PageId page, Node& node) {
  alignas(8) std::array<std::byte, kPageBytes> right;
  ASSIGN_OR_RETURN(const Bytes rest, payload::restore_image(record.payload, right.data()));
  if (rest.size() != sizeof(std::uint16_t)) return bad(record, page, "the split has no point");
  const auto index = load<std::uint16_t>(rest.data());
  if (index == 0 || index > node.count()) return bad(record, page, "the split is behind its end");
  shrink_to_left_half(node, index, Node::of(right.data()).low_fence(),
                      PageRef{record.header.page2});
  return {};
}

Result<> redo_adoption(const wal::Record& record, PageId page, Node& node) {
  if (page == record.header.page2) {
    if (!node.has_foster()) return bad(record, page, "it has no foster child to give up");
    node.drop_foster();
    return {};
  }
  ASSIGN_OR_RETURN(const auto adopted, payload::decode_key_and_page(record.payload));
  const Node::Position at = node.lower_bound(adopted.key);
  if (node.is_leaf() || at.exact || !node.has_room(adopted.key.size(), 0))
    return bad(record, page, "the adopted child has no place");
  node.insert_branch(at.index, adopted.key, PageRef{adopted.page});
  return {};
}

Result<> redo_deadoption(const wal::Record& record, PageId page, Node& node) {
  ASSIGN_OR_RETURN(const auto gone, payload::decode_deadoption(record.payload));
  if (page == record.header.page2) {
    if (node.has_foster()) return bad(record, page, "it has a foster child already");
    if (!hang_foster(node, PageRef{gone.child}, gone.chain_high))
      return bad(record, page, "the foster child's fence has no room");
    return {};
  }
  const Node::Position at = node.lower_bound(gone.key);
  if (node.is_leaf() || !at.exact) return bad(record, page, "the child that leaves is absent");
  node.erase(at.index);
  return {};
}

Result<> redo_image(const wal::Record& record, PageId page, std::byte* bytes) {
  ASSIGN_OR_RETURN(const Bytes rest, payload::restore_image(record.payload, bytes));
  // The second image of a rebalancing is the second page's.
  if (kind_of(record.header) == RecordKind::nodes_rebalanced && page == record.header.page2)
    RETURN_IF_ERROR(payload::restore_image(rest, bytes));
  if (Node::of(bytes).id() != page) return bad(record, page, "its image is of another page");
  return {};
}

bool changes_content(RecordKind kind) noexcept {
  return kind >= RecordKind::leaf_insert && kind <= RecordKind::leaf_remove;
}

Result<> redo_change(const wal::Record& record, PageId page, Node& node) {
  switch (kind_of(record.header)) {
    case RecordKind::leaf_insert:
      return redo_insert(record, page, node);
    case RecordKind::leaf_update:
      return redo_update(record, page, node);
    case RecordKind::leaf_remove:
      return redo_remove(record, page, node);
    case RecordKind::ghosts_removed:
      return redo_ghosts_removed(record, page, node);
    case RecordKind::node_split:
      return redo_split_left(record, page, node);
    case RecordKind::foster_adopted:
      return redo_adoption(record, page, node);
    case RecordKind::root_grown:
      make_branch_root(node, PageRef{record.header.page2});
      return {};
    case RecordKind::child_deadopted:
      return redo_deadoption(record, page, node);
    default:
      return bad(record, page, "its kind changes no page");
  }
}

}  // namespace

Result<PageEffects> effects_of(const wal::RecordHeader& header) {
  using Effect = PageEffect;
  switch (kind_of(header)) {
    case RecordKind::leaf_insert:
    case RecordKind::leaf_update:
    case RecordKind::leaf_remove:
    case RecordKind::ghosts_removed:
      return PageEffects{Effect::change, Effect::none};
    case RecordKind::node_split:
    case RecordKind::root_grown:
      return PageEffects{Effect::change, Effect::image};
    case RecordKind::foster_adopted:
    case RecordKind::child_deadopted:
      return PageEffects{Effect::change, Effect::change};
    case RecordKind::nodes_merged:
      return PageEffects{Effect::image, Effect::free};
    case RecordKind::nodes_rebalanced:
      return PageEffects{Effect::image, Effect::image};
    case RecordKind::page_image:
      return PageEffects{Effect::image, Effect::none};
    case RecordKind::pages_freed:
    case RecordKind::transaction_committed:
    case RecordKind::transaction_ended:
    case RecordKind::transaction_prepared:
    case RecordKind::checkpoint:
      return PageEffects{};
  }
  if (header.kind < wal::RecordKind::first_for_storage) return PageEffects{};  // the log's own
  return fail(sqlstate::data_corrupted, fmt::format("the log has a record of unknown kind {}",
                                                    static_cast<unsigned>(header.kind)));
}

Result<> redo_on_page(const wal::Record& record, PageId page, std::byte* bytes) {
  ASSIGN_OR_RETURN(const PageEffects effects, effects_of(record.header));
  const bool is_first = page == record.header.page;
  const PageEffect effect = is_first ? effects.page : effects.page2;
  Node& node = Node::of(bytes);
  if (effect == PageEffect::image) {
    RETURN_IF_ERROR(redo_image(record, page, bytes));
  } else if (effect == PageEffect::change) {
    const Lsn expected = is_first ? record.header.page_prev : record.header.page2_prev;
    if (node.lsn() != expected)
      return bad(
          record, page,
          fmt::format("it comes after {}, but the page is at {}", raw(expected), raw(node.lsn())));
    RETURN_IF_ERROR(redo_change(record, page, node));
  } else {
    return bad(record, page, "it does not change it");
  }
  node.set_lsn(record.lsn);
  if (changes_content(kind_of(record.header))) node.set_logical_lsn(record.lsn);
  return {};
}

Result<std::vector<PageId>> freed_pages(const wal::Record& record) {
  if (record.payload.size() % sizeof(PageId) != 0)
    return fail(sqlstate::data_corrupted, "malformed log record: freed pages");
  std::vector<PageId> pages;
  for (std::size_t at = 0; at < record.payload.size(); at += sizeof(PageId))
    pages.push_back(load<PageId>(record.payload.data() + at));
  return pages;
}

Result<> redo_on_map(const wal::Record& record, SpaceMap& map) {
  if (kind_of(record.header) == RecordKind::pages_freed) {
    ASSIGN_OR_RETURN(const std::vector<PageId> pages, freed_pages(record));
    for (const PageId page : pages) map.mark_free(page);
    return {};
  }
  ASSIGN_OR_RETURN(const PageEffects effects, effects_of(record.header));
  const auto mark = [&map](PageId page, PageEffect effect) {
    if (effect == PageEffect::image) map.mark_allocated(page);
    if (effect == PageEffect::free) map.mark_free(page);
  };
  mark(record.header.page, effects.page);
  mark(record.header.page2, effects.page2);
  return {};
}

}  // namespace swizzle
