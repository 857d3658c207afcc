#pragma once

#include "base/ids.h"
#include "base/result.h"

namespace swizzle {

/// An error that a descent met, for who asked the tree: a damaged page is named with the tree that
/// it belongs to and the rule that it breaks. Other errors stay as they are.
Error met_in_tree(TreeId tree, Error&& error);

/// Whether it says that a page is not what was written, and cannot be rebuilt: unlike after an
/// error of the device, another try will fare no better.
bool is_unreadable(const Error& error) noexcept;

}  // namespace swizzle
