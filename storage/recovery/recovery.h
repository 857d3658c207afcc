#pragma once

#include <functional>
#include <set>
#include <vector>

#include "storage/recovery/analysis.h"
#include "storage/space/space_map.h"
#include "storage/space/volume.h"
#include "wal/log.h"

namespace swizzle {

/// State in which recover() leaves the engine: pages lack changes, losers are still to be undone.
struct Recovered {
  std::unique_ptr<SpaceMap> space;
  std::vector<ActiveTransaction> losers;
  /// Transactions whose last record says that they await a decision.
  std::vector<ActiveTransaction> prepared;
  TxnId next_txn{1};
  std::uint64_t records_analysed = 0;
  /// Pages that are to be redone, by their readers (page_redo.h) and behind them.
  PendingPageMap pending;
  /// Changes of the space map since the checkpoint, in their order.
  std::vector<Analysis::MapChange> map_changes;
  /// Trees that have records since the checkpoint.
  std::set<TreeId> trees;
  /// When the newest transaction since the checkpoint ended; 0: none has.
  std::int64_t ended_at_us = 0;
};

/// Takes what `analysis` has seen up to `log.begin()`, where the log ended. Afterwards the space
/// map is as the log says, and it is known which pages are not. The caller opens its trees over
/// pages that are redone when they are read, undoes the losers (undo_chain.h) by key, with
/// compensation records, and takes a checkpoint. Repeatable at any crash point.
Result<Recovered> recover(FileSystem& files, const std::filesystem::path& directory, Volume& volume,
                          const Control& control, const wal::Log& log, LogAnalysis& analysis);

}  // namespace swizzle
