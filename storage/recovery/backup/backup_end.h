#pragma once

#include <filesystem>

#include "base/ids.h"
#include "base/io/file.h"

namespace swizzle {

/// The file "backup-end" of a backup: the LSN at which it becomes consistent, as a line of text.
/// The file makes a directory a backup: opening it as a database removes the file (rule R8).
inline constexpr const char* kBackupEndName = "backup-end";

Result<> write_backup_end(FileSystem& files, const std::filesystem::path& directory, Lsn end);
[[nodiscard]] Result<bool> is_backup(FileSystem& files, const std::filesystem::path& directory);
/// Before a directory is changed that may be a backup. Durable on return.
Result<> forget_backup_end(FileSystem& files, const std::filesystem::path& directory);
/// 55000 when the directory is no whole backup.
Result<Lsn> read_backup_end(FileSystem& files, const std::filesystem::path& directory);

}  // namespace swizzle
