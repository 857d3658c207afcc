#pragma once

#include "storage/engine_parts.h"

namespace swizzle {

/// Rebuilds the tree of trees of a database in which a page of it is damaged. Reads all pages in
/// use; a tree's root is the page to which no other page refers and that covers all keys. Logs
/// the trees found. A tree whose root is not readable is lost. Dropped trees whose pages are not
/// free yet reappear as rows that nothing uses.
Result<> rebuild_directory(EngineParts& parts);

}  // namespace swizzle
