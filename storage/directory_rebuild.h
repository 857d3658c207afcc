#pragma once

#include <span>

#include "storage/engine_parts.h"
#include "storage/recovery/checkpoint/control_file.h"

namespace swizzle {

/// Rebuilds the tree of trees of a database in which a page of it is damaged. Reads all pages in
/// use; a tree's root is the page to which no other page refers and that covers all keys. Logs
/// the trees found. A tree whose root is not readable is lost. Trees whose drops have committed,
/// but whose pages are not free yet, reappear as rows that nothing uses. `unended` are the
/// transactions without an end in the log: the rows of trees that they drop are ghosts, as these
/// transactions left them, since they will be undone or committed.
Result<> rebuild_directory(EngineParts& parts,
                           std::span<const std::span<const ActiveTransaction>> unended);

}  // namespace swizzle
