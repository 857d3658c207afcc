#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "storage/backup.h"
#include "storage/restore.h"

namespace swizzle {

/// Makes a database directory as restore_backup() does, but leaves the pages in the backups. The
/// log of backup and archive is analysed up to the target, and written under the new log's id. The
/// control file has a checkpoint at the new log's begin, which names every page that the old log
/// changed and every transaction without an end (rule R20): so a start is like one after a crash.
/// An error leaves nothing in `target`, except in the middle of a crash.
Result<RestoreOutcome> restore_lists(FileSystem& files,
                                     std::span<const std::filesystem::path> backups,
                                     const std::filesystem::path& target,
                                     const std::string& log_name, const RestoreArchive& archive,
                                     const RecoveryTarget& stop, const RestoreGoesOn& goes_on);

}  // namespace swizzle
