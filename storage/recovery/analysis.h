#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "storage/options.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/recovery/pending_pages.h"
#include "storage/recovery/progress.h"
#include "storage/recovery/records/segment_digest.h"
#include "storage/space/space_map.h"
#include "wal/log.h"
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
  /// Changes of the space map since the checkpoint, in their order.
  struct MapChange {
    enum class To : std::uint8_t { allocated, free };
    PageId page;
    To to;
  };
  std::vector<MapChange> map_changes;
  /// Trees that records name.
  std::set<TreeId> trees;
  /// When the newest transaction ended, in microseconds since 1970; 0: none has.
  std::int64_t ended_at_us = 0;
  /// Of the last record: most records name the tree of the one before.
  TreeId newest_tree{};
};

/// Pre: the map is as of the moment before the changes.
void bring_up_to_date(SpaceMap& map, std::span<const Analysis::MapChange> changes);

/// Analysis, while the log is read from the checkpoint to its end for the first and only time.
class LogAnalysis final : public wal::OpeningVisitor {
 public:
  /// Lists of the pages' records: their memory grows with the log.
  enum class Lists : std::uint8_t { of_records, none };
  LogAnalysis(const Checkpoint& checkpoint, const RecoveryObserver& observer,
              Lists lists = Lists::of_records);

  void begin(Lsn from, Lsn limit) override;
  void visit(const wal::Record& record) override;
  /// The same as visits to all records of the digest's segment. Pre: Lists::none, and the records
  /// before the segment's have been seen.
  void add(const SegmentDigest& digest);
  /// Returns the state at the log's end. XX001 if the log ends before what was durable at the
  /// checkpoint. Pre: the log has been opened from the checkpoint on; not called before.
  Result<Analysis> finish(Lsn end);

 private:
  const RecoveryObserver& observer_;
  const Lists lists_;
  Analysis analysis_;
  Lsn from_ = Lsn::none;
  std::optional<Progress> progress_;
  /// The first record that could not be understood.
  Result<> outcome_;
};

/// Lists the records of `pages` that lie before `before`, where analysis has not read. Leaves the
/// pages complete.
Result<> complete_records(wal::Reader& reader, Lsn before, PendingPageMap& pages);

}  // namespace swizzle
