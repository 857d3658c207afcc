#pragma once

#include <filesystem>

#include "base/ids.h"
#include "base/io/file.h"
#include "storage/recovery/checkpoint/control_file.h"

namespace swizzle {

/// Name of the file in a backup that has the LSN from which the backup is consistent, as a line of
/// text. The file marks a directory as a backup: opening it as a database removes the file (rule
/// R8).
inline constexpr const char* kBackupEndName = "backup-end";

Result<> write_backup_end(FileSystem& files, const std::filesystem::path& directory, Lsn end);
[[nodiscard]] Result<bool> is_backup(FileSystem& files, const std::filesystem::path& directory);
/// Makes a database of a directory that may be a backup, before anything in it is changed. Durable
/// on return. 55000 for a backup that has lost this file, since the LSN from which it is consistent
/// is then unknown.
Result<> begin_as_database(FileSystem& files, const std::filesystem::path& directory,
                           ControlFile& control);
/// Reads the file. 55000 when the directory is no whole backup.
Result<Lsn> read_backup_end(FileSystem& files, const std::filesystem::path& directory);

}  // namespace swizzle
