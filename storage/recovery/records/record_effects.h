#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "storage/btree/records.h"
#include "wal/record.h"

namespace swizzle {

/// Effects of a log record on pages, as the kind table defines them (record_kinds.h). Used by
/// analysis, redo and single page repair.

enum class PageEffect : std::uint8_t {
  none,    ///< the record does not concern the page
  change,  ///< the record needs the page as it was before
  image,   ///< the record has the whole page, whatever was there
  free,    ///< the page is no longer in any tree
};

inline RecordKind kind_of(const wal::RecordHeader& header) noexcept {
  return static_cast<RecordKind>(header.kind);
}

/// Effects of a record on its first and on its second page.
struct PageEffects {
  PageEffect page = PageEffect::none;
  PageEffect page2 = PageEffect::none;
};
/// Returns XX001 for a kind that storage does not write.
Result<PageEffects> effects_of(const wal::RecordHeader& header);

/// Applies the record to `bytes`, which hold `page`, one of its two pages. For PageEffect::change
/// the page must be exactly as the record found it: XX001 if its LSN is not the one that the record
/// names as the page's previous one. Logs nothing, refers to children by page id. Post: the page
/// has the record's LSN.
Result<> redo_on_page(const wal::Record& record, PageId page, std::byte* bytes);

/// Returns the pages that the payload of a pages_freed or children_freed record names; none for
/// other kinds.
Result<std::vector<PageId>> freed_pages(const wal::Record& record);

}  // namespace swizzle
