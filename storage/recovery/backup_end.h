#pragma once

#include <filesystem>

#include "base/file.h"
#include "base/ids.h"

namespace swizzle {

/// The file "backup-end" of a backup: the LSN at which it becomes consistent, as a line of text.
inline constexpr const char* kBackupEndName = "backup-end";

Result<> write_backup_end(FileSystem& files, const std::filesystem::path& directory, Lsn end);
/// 55000 when the directory is no whole backup.
Result<Lsn> read_backup_end(FileSystem& files, const std::filesystem::path& directory);

}  // namespace swizzle
