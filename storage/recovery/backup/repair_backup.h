#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "base/io/file.h"
#include "base/result.h"
#include "storage/recovery/backup/backup_chain.h"
#include "storage/recovery/older_copies.h"
#include "wal/log.h"
#include "wal/older_segments.h"

namespace swizzle {

/// A backup of the database whose pages replace damaged ones (rule R23), and the archive that has
/// the log since. Segments that are fetched stay in a directory of the database until the next
/// start, at most OlderSegments::most_fetched_bytes.
class RepairBackup final : public OlderCopies {
 public:
  static constexpr const char* kFetchedName = "repair-log";

  struct Parts {
    FileSystem& files;
    /// The database's directory, and the name of the log's in a database directory.
    const std::filesystem::path& directory;
    const std::string& log_name;
    std::uint64_t database_id;
    const wal::Log& log;
  };
  /// A full backup and the incremental ones after it, oldest first. `fetch` gets archived segments,
  /// or is empty. 55000 if they are no whole backups, of another database, or of another history
  /// of this one.
  static Result<std::unique_ptr<RepairBackup>> open(const Parts& parts,
                                                    std::span<const std::filesystem::path> backups,
                                                    const wal::RestoreSegment& fetch);

  Result<Copy> read(PageId page, std::byte* into) override;
  Result<wal::Reader> reader(wal::ReadPattern pattern) override;
  [[nodiscard]] std::string name() const override { return chain_.newest().native(); }

 private:
  RepairBackup(const wal::Log& log, BackupChain chain) : log_(log), chain_(std::move(chain)) {}
  Result<> find_old_pages(FileSystem& files);
  Result<> open_segments(const Parts& parts, const wal::RestoreSegment& fetch);

  const wal::Log& log_;
  const BackupChain chain_;
  /// Pages that lack changes from before the backup's checkpoint, and the first one that they may
  /// lack; none: their copies are not usable.
  std::unordered_map<PageId, Lsn> lacks_since_;
  std::uint64_t first_segment_ = 0;
  std::shared_ptr<wal::OlderSegments> segments_;
};

/// Opens the backups and compares them with the database in `directory`, which need not be open.
/// 55000 if they are no whole backups of it.
Result<> require_backups_of(FileSystem& files, const std::filesystem::path& directory,
                            std::span<const std::filesystem::path> backups);

}  // namespace swizzle
