#pragma once

#include "storage/txn/any_tree.h"

namespace swizzle {

/// The pool and its trees in the mode that the options want. 22023 for a pool below the minimum.
Result<std::unique_ptr<TreeFactory>> make_tree_factory(const EngineOptions& options,
                                                       PageStore& store, TreeLog& log,
                                                       GhostKeeper& ghosts);

}  // namespace swizzle
