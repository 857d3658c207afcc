#pragma once

#include <span>

#include "base/result.h"
#include "storage/options.h"
#include "storage/recovery/checkpoint/control_file.h"

namespace swizzle {

struct EngineParts;

/// Undoes the logged changes of the losers, by key, with compensation records. Pre: redo is done
/// and the trees can be opened; the engine is not in use.
Result<> undo_losers(EngineParts& engine, std::span<const ActiveTransaction> losers,
                     const RecoveryObserver& observer);

}  // namespace swizzle
