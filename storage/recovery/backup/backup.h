#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>

#include "storage/backup.h"
#include "storage/recovery/backup/recovery_stop.h"
#include "storage/recovery/checkpoint/checkpointer.h"
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
  /// Rebuilds a page that fails its checksum, or is older than its last write (PageRepair::mend).
  std::function<Result<>(PageId page, Lsn newest, std::byte* into)> rebuild;
  /// Fills `into` with the page as it is in the pool, sealed; returns false if it is not there.
  std::function<bool(PageId page, std::byte* into)> copy_resident = {};
  /// The list of unusable pages. It is copied, with those that the backup finds; may be null.
  GivenUpPages* given_up = nullptr;
  /// The list of leaves with space to reclaim, which is copied; may be null.
  const UntidyPages* untidy = nullptr;
  /// Writes the pages that are dirty now; may be empty.
  std::function<Result<>()> clean = {};
};

/// Copies the database to `target`, a directory that does not exist, while it runs. It takes a
/// checkpoint, then copies every page in use and the log from the checkpoint to the end of the
/// copying. The result is a database directory: opening it recovers it to the backup's end. The
/// control file comes last, so a backup that was interrupted cannot be opened (rule R6). `log_name`
/// is the log's directory in a database directory.
///
/// With `since`, the directory of an earlier backup of this database, it makes an incremental
/// backup, which has only pages that the earlier one may lack changes of, and is no database
/// directory. 55000 if the earlier one does not serve.
Result<BackupOutcome> back_up(const BackupParts& parts, FileSystem& files,
                              const std::filesystem::path& target, const std::string& log_name,
                              const RecoveryObserver& observer,
                              const std::optional<std::filesystem::path>& since = std::nullopt);

struct RestoredLog {
  RecoveryStop stop;
  /// Pages that are not whole in the backup: redo restores them, or they are lost.
  std::vector<PageId> doubted = {};
  /// The end of the last segment that backup and archive have.
  Lsn known_end = Lsn::none;
  /// As RestoreOutcome::log_bytes_read.
  std::uint64_t bytes_read = 0;
};
/// Makes a database directory at `target`, which does not exist, out of a full backup and the
/// incremental ones after it, oldest first, and the archived log segments, if `archive` has any.
/// The log is cut at the recovery target; opening the directory recovers it to there, and undoes
/// transactions not committed by then. 55000 when the target is before the last backup's end or
/// after the archive's, or an incremental backup does not belong to the backup before it; then
/// `target` does not exist. The log still has the old id: see new_log.h.
Result<RestoredLog> restore(FileSystem& files, std::span<const std::filesystem::path> chain,
                            const std::filesystem::path& target, const std::string& log_name,
                            const RestoreArchive& archive, const RecoveryTarget& stop);

}  // namespace swizzle
