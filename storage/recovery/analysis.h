#pragma once

#include <map>

#include "storage/options.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/recovery/pending_pages.h"
#include "storage/space/space_map.h"
#include "wal/reader.h"

namespace swizzle {

/// State at the moment of the crash, from the log since the checkpoint.
struct Analysis {
  /// Pages whose copy on disk may be old. Redo looks at no others, and at each from its first
  /// missing record on (rule R4).
  PendingPageMap dirty;
  /// Transactions to be undone.
  std::map<TxnId, ActiveTransaction> losers;
  TxnId next_txn{1};
  std::uint64_t records = 0;
};

/// Reads [checkpoint.begin, reader.end()); brings the space map up to date. XX001 if the log ends
/// before what was durable at the checkpoint. Pre: the map was loaded for this checkpoint.
Result<Analysis> analyse(wal::Reader& reader, const Checkpoint& checkpoint, SpaceMap& map,
                         const RecoveryObserver& observer);

/// Lists the records of `pages` that lie before `before`, where analysis has not read. Leaves the
/// pages complete.
Result<> complete_records(wal::Reader& reader, Lsn before, PendingPageMap& pages);

}  // namespace swizzle
