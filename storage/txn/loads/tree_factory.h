#pragma once

#include "storage/txn/rows/any_tree.h"

namespace swizzle {

/// Warns of the pages of a removed tree that could not be freed.
void report_given_up(TreeId tree, const GivenUp& given_up);

/// Warns of a change that cannot be undone because its page is unreadable. Others cannot read the
/// row either.
void report_row_given_up(TreeId tree, const Error& why);

/// Makes the pool and its trees in the mode of the options. 22023 for a pool below the minimum.
Result<std::unique_ptr<TreeFactory>> make_tree_factory(const EngineOptions& options,
                                                       PageStore& store, TreeLog& log,
                                                       GhostKeeper& ghosts);

}  // namespace swizzle
