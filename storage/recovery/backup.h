#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "storage/recovery/checkpointer.h"
#include "storage/recovery/recovery.h"
#include "storage/space/data_file.h"
#include "storage/space/volume.h"
#include "wal/log.h"

namespace swizzle {

struct BackupParts {
  Volume& volume;
  SpaceMap& space;
  wal::Log& log;
  Checkpointer& checkpointer;
  /// For pages that fail their checksum (PageRepair::rebuild).
  DataFile::Rebuild rebuild;
};

struct BackupOutcome {
  Lsn begin = Lsn::none;
  /// The backup becomes consistent here: a restore may stop at any later point.
  Lsn end = Lsn::none;
  std::uint64_t pages = 0;
  /// Not copied, since the log has them whole.
  std::uint64_t pages_left_to_the_log = 0;
};

/// Copies the database to `target`, a directory that does not exist, while it runs: a checkpoint,
/// every page in use, and the log from the checkpoint to the end of the copying. The result is a
/// database directory: opening it recovers it to the backup's end. The control file comes last, so
/// a backup that was interrupted cannot be opened (rule R6).
/// `log_name` is what the log's directory is called in a database directory.
Result<BackupOutcome> back_up(const BackupParts& parts, FileSystem& files,
                              const std::filesystem::path& target, const std::string& log_name,
                              const RecoveryObserver& observer);

/// Where a restore stops.
struct RecoveryTarget {
  /// In front of the first record at or behind it.
  std::optional<Lsn> lsn = std::nullopt;
  /// In front of the first commit that is younger.
  std::optional<std::int64_t> time_us = std::nullopt;
};

/// Makes a database directory at `target`, which does not exist, out of a backup, and of archived
/// log segments if `archive` has any, cut at the recovery target. Opening it recovers it to there;
/// what was not committed there is undone. 55000 when the target is before the backup's end.
/// Afterwards the log is another than the archived one from its end on: archive it elsewhere.
/// Returns where the log ends now.
Result<Lsn> restore(FileSystem& files, const std::filesystem::path& backup,
                    const std::filesystem::path& target, const std::string& log_name,
                    const wal::RestoreSegment& archive, const RecoveryTarget& stop);

}  // namespace swizzle
