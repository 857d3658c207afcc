#pragma once

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"

namespace swizzle {

/// Returns the error of a descent, for the caller of the tree: for a damaged page it names the
/// page, its tree, the rule that it breaks, and the key on the way to which it was met. Other
/// errors stay as they are.
Error met_in_tree(TreeId tree, Bytes key, Error&& error);

/// Returns XX001 for a page that is whole but differs from its parent's description of it (no
/// parent: from the root holder's).
Error page_breaks_promise(TreeId tree, PageId page, PageId parent, Bytes key);

/// True if the error says that a page differs from the written one and cannot be rebuilt. Unlike
/// after a device error, a retry will not help.
bool is_unreadable(const Error& error) noexcept;

}  // namespace swizzle
