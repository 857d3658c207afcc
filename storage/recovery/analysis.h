#pragma once

#include <map>
#include <unordered_map>

#include "storage/options.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/space/space_map.h"
#include "wal/reader.h"

namespace swizzle {

/// State at the moment of the crash, from the log since the checkpoint.
struct Analysis {
  /// Pages whose copy on disk may be old: the first record that it may lack. Redo skips records of
  /// other pages, and older ones (rule R4).
  std::unordered_map<PageId, Lsn> dirty;
  /// Transactions to be undone.
  std::map<TxnId, ActiveTransaction> losers;
  TxnId next_txn{1};
  Lsn redo_from = Lsn::none;
  Lsn end = Lsn::none;
  std::uint64_t records = 0;
};

/// Reads [checkpoint.begin, reader.end()); brings the space map up to date. Pre: the map was loaded
/// for this checkpoint.
Result<Analysis> analyse(wal::Reader& reader, const Checkpoint& checkpoint, SpaceMap& map,
                         const RecoveryObserver& observer);

}  // namespace swizzle
