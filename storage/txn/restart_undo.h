#pragma once

#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "storage/options.h"
#include "storage/recovery/checkpoint/control_file.h"

namespace swizzle {

struct EngineParts;

class AnyTree;

/// Gives up the leaf of `key`, which is whole and not as the log left it: from now on reading it
/// fails with XX001, and other pages are not affected. Returns `why`, or the reason for which the
/// leaf cannot be read anyway.
Result<> give_up_leaf(EngineParts& engine, AnyTree& tree, Bytes key, Error&& why);

/// Undoes the logged changes of the transactions that a crash interrupted, by key, with
/// compensation records. Pre: redo is done and the trees can be opened; no other transaction runs.
Result<> undo_losers(EngineParts& engine, std::span<const ActiveTransaction> losers,
                     const RecoveryObserver& observer);

}  // namespace swizzle
