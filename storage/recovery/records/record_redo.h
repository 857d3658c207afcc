#pragma once

#include <expected>
#include <string_view>

#include "base/result.h"
#include "storage/btree/node.h"
#include "wal/record.h"

namespace swizzle {

/// Returns an XX001 error that names the record, the page and `why`.
std::unexpected<Error> record_does_not_fit(const wal::Record& record, PageId page,
                                           std::string_view why);

/// Functions that repeat a record's change on `node`, which holds `page`, one of the record's
/// pages, in the state before the record. They are for the kind table (record_kinds.h), find rows
/// by key, and return XX001 when the record does not fit.
namespace redo_of {
Result<> leaf_insert(const wal::Record& record, PageId page, Node& leaf);
Result<> leaf_update(const wal::Record& record, PageId page, Node& leaf);
Result<> leaf_remove(const wal::Record& record, PageId page, Node& leaf);
Result<> leaf_removals(const wal::Record& record, PageId page, Node& leaf);
Result<> ghosts_removed(const wal::Record& record, PageId page, Node& leaf);
Result<> records_discarded(const wal::Record& record, PageId page, Node& leaf);
/// Redoes the left node. The right one is an image.
Result<> split_left(const wal::Record& record, PageId page, Node& node);
Result<> adoption(const wal::Record& record, PageId page, Node& node);
Result<> deadoption(const wal::Record& record, PageId page, Node& node);
/// Redoes the root. Its new child is an image.
Result<> root_growth(const wal::Record& record, PageId page, Node& root);
/// Redoes the parent. Its new child is an image.
Result<> appended_child(const wal::Record& record, PageId page, Node& parent);
Result<> freed_children(const wal::Record& record, PageId page, Node& parent);
}  // namespace redo_of

}  // namespace swizzle
