#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "storage/prepared_transaction.h"
#include "storage/recovery/checkpoint/control_file.h"

namespace swizzle {

struct EngineParts;

/// Restores the transactions that were prepared before a stop or a crash, with their locks and with
/// the undo records that hide their changes and can undo them. Logs nothing, does not wait. Pre:
/// redo is done and the trees can be opened; the engine is not in use, and no loser is undone yet.
Result<> take_up_prepared(EngineParts& engine, std::span<const ActiveTransaction> prepared);

/// Reads those among the open transactions of a standby's primary that are prepared, for the views.
Result<std::vector<PreparedTransaction>> list_prepared(EngineParts& engine,
                                                       std::span<const ActiveTransaction> active);

}  // namespace swizzle
