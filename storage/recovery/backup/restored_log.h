#pragma once

#include <filesystem>

#include "base/io/file.h"
#include "storage/recovery/backup/backup_chain.h"
#include "storage/recovery/backup/recovery_stop.h"
#include "wal/log_options.h"
#include "wal/reader.h"

namespace swizzle {

/// The log of backup and archive together, in a directory of its own, and where to cut it.
struct WholeLog {
  wal::LogLocation location;
  RecoveryStop stop;
  Lsn end = Lsn::none;
  /// End of the last segment, which may have no records: the old log's directory, if that serves as
  /// an archive, has segments that are only prepared.
  Lsn segments_end = Lsn::none;
};

/// Refuses a time before the backup: commits between the two are in its pages, and not in its log.
Result<> require_after_backup(const BackupChain& chain, const RecoveryTarget& target);

/// Copies the log of the newest backup into `directory`, which is empty, fetches the archived
/// segments after it, and searches both for the target. 55000 if they end before it, and if the
/// archive has a segment after one that it lacks before it.
Result<WholeLog> collect_log(FileSystem& files, const BackupChain& chain,
                             const std::string& log_name, const std::filesystem::path& directory,
                             const wal::RestoreSegment& archive, const RecoveryTarget& target);

}  // namespace swizzle
