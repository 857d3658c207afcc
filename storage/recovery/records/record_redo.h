#pragma once

#include <expected>
#include <string_view>

#include "base/result.h"
#include "storage/btree/node.h"
#include "wal/record.h"

namespace swizzle {

/// Returns XX001 that names the record, the page and `why`.
std::unexpected<Error> record_does_not_fit(const wal::Record& record, PageId page,
                                           std::string_view why);

/// Functions that repeat a record's change on `node`, which holds `page`, one of the record's
/// pages, in the state before the record. For the kind table (record_kinds.h); XX001 when the
/// record does not fit. Rows are found by key.
namespace redo_of {
Result<> leaf_insert(const wal::Record& record, PageId page, Node& leaf);
Result<> leaf_update(const wal::Record& record, PageId page, Node& leaf);
Result<> leaf_remove(const wal::Record& record, PageId page, Node& leaf);
Result<> leaf_removals(const wal::Record& record, PageId page, Node& leaf);
Result<> ghosts_removed(const wal::Record& record, PageId page, Node& leaf);
Result<> records_discarded(const wal::Record& record, PageId page, Node& leaf);
/// Redoes the left node; the right one is an image.
Result<> split_left(const wal::Record& record, PageId page, Node& node);
Result<> adoption(const wal::Record& record, PageId page, Node& node);
Result<> deadoption(const wal::Record& record, PageId page, Node& node);
/// Redoes the root; its new child is an image.
Result<> root_growth(const wal::Record& record, PageId page, Node& root);
/// Redoes the parent; its new child is an image.
Result<> appended_child(const wal::Record& record, PageId page, Node& parent);
Result<> freed_children(const wal::Record& record, PageId page, Node& parent);
}  // namespace redo_of

}  // namespace swizzle
