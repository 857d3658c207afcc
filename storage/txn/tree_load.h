#pragma once

#include "base/result.h"
#include "storage/btree/records.h"
#include "storage/btree/tree_log.h"

namespace swizzle {

class AnyTree;
struct EngineParts;

/// Takes a load back: empties the tree, since all that it has is younger, and says so in the chain
/// of the transaction, which is undoing. Returns the tree. A crash on the way leaves a smaller tree
/// to the next attempt.
Result<AnyTree*> undo_load(EngineParts& engine, TransactionChain& chain, TreeId tree);

}  // namespace swizzle
