#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "storage/backup.h"

namespace swizzle {

/// Called during a restore; false ends it early.
using RestoreGoesOn = std::function<bool()>;

/// Begins to restore on demand: makes a database as restore_backup() does, but leaves its pages in
/// the backups. Engine::open() opens it at once. Each page is read from the backups, and brought up
/// to the target, when it is first touched; the others follow in the background. So are segments of
/// the log: those of a folder and of the backup are read where they are, those of a command are
/// fetched when they are needed, unless they have no digest. Until the restore is complete backups
/// and archive stay as and where they are: their paths are noted, and must be absolute.
/// Errors are those of restore_backup(), 53100 if the disk has no room for all pages, and 57P01 if
/// `goes_on` has returned false; they leave no target. A call that a crash has ended is repeated
/// with the same arguments.
Result<RestoreOutcome> begin_restore(FileSystem& files,
                                     const std::vector<std::filesystem::path>& backups,
                                     const std::filesystem::path& target,
                                     const RestoreArchive& archive, const RecoveryTarget& stop,
                                     const RestoreGoesOn& goes_on = {});

/// True if `directory` is a database that begin_restore() has made of these backups.
Result<bool> is_restored_from(FileSystem& files, const std::filesystem::path& directory,
                              const std::vector<std::filesystem::path>& backups);

}  // namespace swizzle
