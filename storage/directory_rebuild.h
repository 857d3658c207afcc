#pragma once

#include "storage/engine_parts.h"

namespace swizzle {

/// Makes the tree of trees anew, for a database in which a page of it is damaged: reads all pages
/// in use, and takes as a tree's root its page that no other page refers to and that has all keys.
/// Logs what was found. A tree whose root is not among the readable pages is lost. Rows of trees
/// that were dropped and whose pages are not free yet come back: nothing uses such a tree.
///
/// Pre: no transaction is undone yet. A crash before the end leaves the old directory in place;
/// pages of both belong to no tree then.
Result<> rebuild_directory(EngineParts& parts);

}  // namespace swizzle
