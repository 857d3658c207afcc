#pragma once

#include <functional>

#include "storage/recovery/analysis.h"
#include "storage/recovery/redo.h"
#include "storage/space/space_map.h"
#include "storage/space/volume.h"
#include "wal/log.h"

namespace swizzle {

/// State in which recover() leaves the engine: pages are right, losers are still to be undone.
struct Recovered {
  std::unique_ptr<SpaceMap> space;
  std::vector<ActiveTransaction> losers;
  /// Transactions whose last record says that they await a decision.
  std::vector<ActiveTransaction> prepared;
  TxnId next_txn{1};
  std::uint64_t records_analysed = 0;
  RedoOutcome redo;
};

/// Analysis and redo, up to `log.begin()`, where the log ended. Afterwards every page on disk is as
/// the log says; the space map too. The caller opens its trees, undoes the losers (undo_chain.h) by
/// key, with compensation records, and takes a checkpoint. Repeatable at any crash point.
Result<Recovered> recover(FileSystem& files, const std::filesystem::path& directory, Volume& volume,
                          const Control& control, const wal::Log& log, const RedoOptions& options,
                          const RecoveryObserver& observer);

}  // namespace swizzle
