#pragma once

#include "base/result.h"
#include "storage/btree/records.h"
#include "storage/btree/tree_log.h"

namespace swizzle {

class AnyTree;
struct EngineParts;

/// Undoes a load: empties the tree, all of whose records are younger, and logs that in the chain of
/// the transaction, which is undoing. Returns the tree. If a crash interrupts it, the next attempt
/// finds a smaller tree.
Result<AnyTree*> undo_load(EngineParts& engine, TransactionChain& chain, TreeId tree);

}  // namespace swizzle
