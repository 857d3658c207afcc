#pragma once

#include <filesystem>
#include <memory>

#include "base/io/file.h"
#include "storage/recovery/analysis.h"
#include "storage/recovery/backup/backup_chain.h"
#include "storage/recovery/backup/recovery_stop.h"
#include "storage/restore.h"
#include "wal/log_options.h"
#include "wal/reader.h"

namespace swizzle {

/// The log of backup and archive together, in a directory of its own, and where to cut it.
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

/// Brings the log of the newest backup into `directory`, which is empty, and the archived segments
/// after it, which take precedence. Looks at both once, for the target and the analysis, by the
/// digests of segments that have one. 55000 if they end before the target, and if the archive has a
/// segment after one that it lacks before it. 57P01 if `goes_on` returns false.
Result<WholeLog> collect_log(FileSystem& files, const BackupChain& chain,
                             const std::string& log_name, const std::filesystem::path& directory,
                             const wal::RestoreSegment& archive, const RecoveryTarget& target,
                             const RestoreGoesOn& goes_on);

}  // namespace swizzle
