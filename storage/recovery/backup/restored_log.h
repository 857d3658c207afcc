#pragma once

#include <memory>

#include "storage/recovery/analysis.h"
#include "storage/recovery/backup/backup_chain.h"
#include "storage/recovery/backup/older_places.h"
#include "storage/recovery/backup/recovery_stop.h"
#include "storage/restore.h"
#include "wal/reader.h"

namespace swizzle {

/// The log of backup and archive together, where its segments are, and where to cut it.
struct WholeLog {
  /// Analysis of the log from the backup's checkpoint to its cut.
  std::unique_ptr<LogAnalysis> analysis;
  wal::LogLocation location;
  RecoveryStop stop;
  Lsn end = Lsn::none;
  /// End of the last segment, which may have no records: the old log's directory, if that serves as
  /// an archive, has segments that are only prepared.
  Lsn segments_end = Lsn::none;
  /// Bytes of records that were read: those without a digest (digest_archive.h).
  std::uint64_t bytes_read = 0;
};

/// 57P01 if the function returns false.
Result<> require_going_on(const RestoreGoesOn& goes_on);
/// Refuses a time before the backup: commits between the two are in its pages, and not in its log.
Result<> require_after_backup(const BackupChain& chain, const RecoveryTarget& target);

/// Looks at the log of backup and archive once, for the target and the analysis, by the digests of
/// segments that have one; a time needs a second look. 55000 if they end before the target, and if
/// the archive has a segment after one that it lacks before it. 57P01 if `goes_on` returns false.
Result<WholeLog> collect_log(const ArchivedLog& log, const BackupChain& chain,
                             const RecoveryTarget& target, const RestoreGoesOn& goes_on);

}  // namespace swizzle
