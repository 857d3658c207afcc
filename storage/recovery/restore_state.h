#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "wal/reader.h"

namespace swizzle {

/// Name of the file in a database directory that was restored on demand. It says from which
/// backups, and how far the restore is.
inline constexpr const char* kRestoredFromName = "restored-from";

/// Content of that file.
struct RestoreState {
  enum class Phase : std::uint8_t {
    begun,       ///< the directory is being filled and cannot be opened
    pages_left,  ///< the database is in use, and the backups have pages that it does not have
    complete,    ///< the backups are not needed any more
  };
  Phase phase = Phase::begun;
  /// Identifier of the newest backup.
  std::uint64_t backup_id = 0;
  /// A full backup and the incremental ones after it, oldest first.
  std::vector<std::filesystem::path> backups;
  /// The log of backup and archive, once the directory can be opened. None if it was restored by
  /// version 1, whose log has the old records itself.
  std::optional<wal::OlderLog> older_log = std::nullopt;
  /// The folder of the archive, or the command that fetches its segments; empty if there is none,
  /// and in a directory of version 2, which has all segments itself.
  std::filesystem::path archive_folder = {};
  std::string restore_command = {};

  /// True if backups and archive have segments of the older log that the directory may lack.
  [[nodiscard]] bool lacks_segments() const noexcept {
    return phase != Phase::complete && older_log && older_log->from != Lsn::none;
  }
};

/// Reads the file. Nothing if there is none; XX001 if it is damaged.
Result<std::optional<RestoreState>> read_restore_state(FileSystem& files,
                                                       const std::filesystem::path& directory);
/// Writes the file; durable on return. After a crash the file says the one or the other. 22023 if a
/// path has a line break.
Result<> write_restore_state(FileSystem& files, const std::filesystem::path& directory,
                             const RestoreState& state);
/// Refuses a database that still needs its backups. 55000.
Result<> require_restored(FileSystem& files, const std::filesystem::path& directory);

}  // namespace swizzle
