#pragma once

#include <cstdint>
#include <filesystem>

#include "base/ids.h"
#include "base/io/file.h"
#include "storage/recovery/checkpoint/control_file.h"

namespace swizzle {

/// Name of the file in a backup that says from which LSN on the backup is consistent, and which
/// backup it is, as lines of text. The file marks a directory as a backup: opening it as a database
/// removes the file (rule R8).
inline constexpr const char* kBackupEndName = "backup-end";

/// Content of that file.
struct BackupLabel {
  Lsn end = Lsn::none;
  /// Drawn at random; 0: made by a version that made no incremental backups.
  std::uint64_t id = 0;
  /// Of an incremental backup: the one before it, by its identifier and its checkpoint's LSN.
  std::uint64_t since_id = 0;
  Lsn since_begin = Lsn::none;

  [[nodiscard]] bool is_incremental() const noexcept { return since_id != 0; }
};

Result<> write_backup_label(FileSystem& files, const std::filesystem::path& directory,
                            const BackupLabel& label);
[[nodiscard]] Result<bool> is_backup(FileSystem& files, const std::filesystem::path& directory);
/// Makes a database of a directory that may be a backup, before anything in it is changed. Durable
/// on return. 55000 for a backup that has lost this file, since the LSN from which it is consistent
/// is then unknown.
Result<> begin_as_database(FileSystem& files, const std::filesystem::path& directory,
                           ControlFile& control);
/// Reads the file. 55000 when the directory is no whole backup.
Result<BackupLabel> read_backup_label(FileSystem& files, const std::filesystem::path& directory);
/// Refuses an incremental backup, which has only some of the pages. 55000.
Result<> require_all_pages(FileSystem& files, const std::filesystem::path& directory);

}  // namespace swizzle
