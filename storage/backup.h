#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "wal/log_options.h"

namespace swizzle {

/// Result of Engine::back_up.
struct BackupOutcome {
  Lsn begin = Lsn::none;
  /// The backup becomes consistent here: a restore may stop at any later point.
  Lsn end = Lsn::none;
  std::uint64_t pages = 0;
  /// Pages not copied, since the log has them whole.
  std::uint64_t pages_left_to_the_log = 0;
  /// Unreadable pages, and the reasons. They are copied as they are, and are XX001 in the copy too.
  std::vector<std::string> given_up = {};
};

/// End of a restore. At most one of the first four is set; without any, it is the end of backup and
/// archive.
struct RecoveryTarget {
  /// The first record at or after this LSN.
  std::optional<Lsn> lsn = std::nullopt;
  /// The last commit, rollback, preparation or restore point that is not younger; microseconds
  /// since 1970-01-01 UTC.
  std::optional<std::int64_t> time_us = std::nullopt;
  /// The first restore point of this name after the backup's end.
  std::optional<std::string> restore_point = std::nullopt;
  /// The commit or the rollback of this transaction.
  std::optional<TxnId> transaction = std::nullopt;
  /// Tells if the record at the target belongs to the restored history.
  enum class Bound : std::uint8_t { inclusive, exclusive } bound = Bound::inclusive;
};

/// Archived log segments, and their digests, for a restore: in a folder, or fetched by a command.
/// At most one of the members is set.
struct RestoreArchive {
  RestoreArchive() = default;
  template <std::convertible_to<wal::RestoreSegment> Callable>
  RestoreArchive(Callable fetch)  // NOLINT(google-explicit-constructor): it is an archive
      : function(std::move(fetch)) {}

  /// Directory that has them under their names. They are read there, and never written.
  std::filesystem::path folder = {};
  /// Shell command as wal::restore_by_command() takes it.
  std::string command = {};
  /// A function instead of the command. A database that is restored on demand gets it by
  /// EngineOptions::restore, too: its directory names only a folder or a command.
  wal::RestoreSegment function = {};

  [[nodiscard]] bool is_none() const noexcept {
    return folder.empty() && command.empty() && !function;
  }
};

struct RestoreOutcome {
  /// End of the restored history: a record boundary of the old log.
  Lsn end = Lsn::none;
  /// Beginning of the new log.
  Lsn begins_again = Lsn::none;
  /// When its last transaction committed; none if the log that was replayed has no commit.
  std::optional<std::int64_t> last_commit_us = std::nullopt;
  TxnId last_commit = TxnId::none;
  /// Name of its last restore point.
  std::optional<std::string> restore_point = std::nullopt;
  /// Bytes of log that were read before the target was known and its pages: those of segments
  /// without a digest in the archive, and of the one with the target.
  std::uint64_t log_bytes_read = 0;
  /// Pages that are XX001 in the database, and why. All else is as it was.
  std::vector<std::string> given_up = {};
};

/// Makes a database at `target`, which does not exist, out of a full backup, of the incremental
/// ones after it, oldest first, and of archived log segments if `archive` has any, as it was at the
/// recovery target; transactions not committed by then are undone. The database is closed and whole
/// on return. It gets a new log with another id, so that it may use the old database's archive
/// without either taking the other's segments for its own. 55000 when the target is before the
/// backup's end or after the archive's, or a directory is no whole backup, or was not taken since
/// the one before it; also, without a target, when the archive has a later segment and lacks one
/// before it. Backup and archive are searched for the target before `target` is filled; after these
/// errors it does not exist.
Result<RestoreOutcome> restore_backup(FileSystem& files,
                                      const std::vector<std::filesystem::path>& backups,
                                      const std::filesystem::path& target,
                                      const RestoreArchive& archive, const RecoveryTarget& stop);

/// Refuses directories for EngineOptions::repair_backups that are no whole backups, oldest first,
/// of the database in `directory`, which need not be open: 55000, 58P01. Engine::open() warns of
/// these, and goes on without.
Result<> check_repair_backups(FileSystem& files, const std::filesystem::path& directory,
                              const std::vector<std::filesystem::path>& backups);

}  // namespace swizzle
