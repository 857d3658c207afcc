#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "storage/recovery/backup/backup_end.h"
#include "storage/recovery/backup/changed_pages.h"
#include "storage/recovery/checkpoint/control_file.h"

namespace swizzle {

/// Copies a file; durable on return.
Result<> copy_whole_file(FileSystem& files, const std::filesystem::path& from,
                         const std::filesystem::path& to);
/// Removes a directory and the files in it.
Result<> remove_with_content(FileSystem& files, const std::filesystem::path& directory);

/// A full backup and the incremental ones after it, oldest first.
class BackupChain {
 public:
  /// 55000 if one of them is no whole backup, or does not belong to the one before it; XX001 if its
  /// list of pages is damaged.
  static Result<BackupChain> open(FileSystem& files,
                                  std::span<const std::filesystem::path> directories);

  /// Copies the content of the data file, and the files beside it. Adds pages that are not whole to
  /// `doubted`: usually redo restores them, or they are not in use.
  Result<> copy_files(FileSystem& files, const std::filesystem::path& target,
                      std::set<PageId>& doubted);
  /// Copies the files beside the data file alone, from the newest backup.
  Result<> copy_lists(FileSystem& files, const std::filesystem::path& target) const;
  /// Reads the newest copy of a page. XX001 if it is damaged, was changed since the backup, or is
  /// in none of the backups. Thread-safe; parks.
  Result<> read_page(PageId page, std::byte* into) const;

  /// Length of the data file in pages, as of the newest backup.
  [[nodiscard]] std::uint64_t page_count() const noexcept;
  [[nodiscard]] const std::filesystem::path& newest() const noexcept { return newest_; }
  [[nodiscard]] const Control& control() const noexcept { return control_; }
  /// Label of the newest backup.
  [[nodiscard]] const BackupLabel& label() const noexcept { return label_; }
  [[nodiscard]] Lsn end() const noexcept { return label_.end; }

 private:
  Result<> add(FileSystem& files, const std::filesystem::path& directory);
  [[nodiscard]] Result<> require_follows(const std::filesystem::path& directory,
                                         const BackupLabel& label, const Control& control) const;
  Result<bool> copy_to(PageId page, std::byte* into) const;

  std::filesystem::path full_;
  std::filesystem::path newest_;
  BackupLabel label_;
  Control control_;
  std::unique_ptr<File> data_;  ///< of the full backup
  std::uint64_t full_pages_ = 0;
  std::vector<ChangedPagesReader> changed_;
};

}  // namespace swizzle
