#include "storage/recovery/records/record_effects.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/btree/node.h"
#include "storage/recovery/records/record_kinds.h"
#include "storage/recovery/records/record_redo.h"

namespace swizzle {
namespace {

Result<> redo_image(const wal::Record& record, PageId page, std::byte* bytes) {
  ASSIGN_OR_RETURN(const Bytes rest, payload::restore_image(record.payload, bytes));
  // The second image is that of the second page.
  const RecordKindEntry& kind = *find_kind(record.header.kind);
  if (kind.effects.page == PageEffect::image && page == record.header.page2)
    RETURN_IF_ERROR(payload::restore_image(rest, bytes));
  if (Node::of(bytes).id() != page)
    return record_does_not_fit(record, page, "its image is of another page");
  return {};
}

}  // namespace

Result<PageEffects> effects_of(const wal::RecordHeader& header) {
  if (header.kind < wal::RecordKind::first_for_storage)
    return PageEffects{};  // the log's own record
  if (const RecordKindEntry* const kind = find_kind(header.kind)) return kind->effects;
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
      return record_does_not_fit(
          record, page,
          fmt::format("it comes after {}, but the page is at {}", raw(expected), raw(node.lsn())));
    RETURN_IF_ERROR(find_kind(record.header.kind)->redo(record, page, node));
  } else {
    return record_does_not_fit(record, page, "it does not change it");
  }
  node.set_lsn(record.lsn);
  if (find_kind(record.header.kind)->undo != nullptr) node.set_logical_lsn(record.lsn);
  return {};
}

Result<std::vector<PageId>> freed_pages(const wal::Record& record) {
  Bytes list = record.payload;
  switch (kind_of(record.header)) {
    case RecordKind::pages_freed:
      break;
    case RecordKind::children_freed:
      // Skip the state of the parent.
      list = list.subspan(std::min(list.size(), sizeof(std::uint64_t)));
      break;
    default:
      return std::vector<PageId>{};
  }
  if (list.size() % sizeof(PageId) != 0)
    return fail(sqlstate::data_corrupted, "malformed log record: freed pages");
  std::vector<PageId> pages;
  for (std::size_t at = 0; at < list.size(); at += sizeof(PageId))
    pages.push_back(load<PageId>(list.data() + at));
  return pages;
}

}  // namespace swizzle
