#pragma once

#include "storage/txn/any_tree.h"

namespace swizzle {

/// Warns of the remains of a tree that is removed.
void report_given_up(TreeId tree, const GivenUp& given_up);

/// Warns of a change that cannot be undone, since its page cannot be read: the row is not readable
/// for others either.
void report_row_given_up(TreeId tree, const Error& why);

/// The pool and its trees in the mode that the options want. 22023 for a pool below the minimum.
Result<std::unique_ptr<TreeFactory>> make_tree_factory(const EngineOptions& options,
                                                       PageStore& store, TreeLog& log,
                                                       GhostKeeper& ghosts);

}  // namespace swizzle
