#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "storage/space/page_image.h"

namespace swizzle {

/// Pages that had space to give back when they were written: leaves with ghosts, and almost empty
/// ones. The hints that lead the tidier to them are lost at a stop and in a crash; the next start
/// finds them here (rule T24), also that of a backup or of a promoted standby. A bit for each page,
/// kept in a file of its own, which checkpoints and backups write. Thread-safe.
///
/// A hint itself: a page may be tidy by now, or another's. A missing or damaged file names no page.
class UntidyPages {
 public:
  static constexpr const char* kFileName = "untidy_pages";
  /// Returns true if the page has space to give back.
  using Judge = bool (*)(const std::byte* page) noexcept;

  explicit UntidyPages(Judge judge) noexcept : judge_(judge) {}
  UntidyPages(const UntidyPages&) = delete;
  UntidyPages& operator=(const UntidyPages&) = delete;

  void load(FileSystem& files, const std::filesystem::path& directory, std::uint64_t database_id);
  /// Writes the file if something has changed. Durable on return.
  Result<> save(FileSystem& files, const std::filesystem::path& directory,
                std::uint64_t database_id);
  /// Writes the file into another directory, for a copy of the pages. Durable on return.
  Result<> copy_to(FileSystem& files, const std::filesystem::path& directory,
                   std::uint64_t database_id) const;

  /// Notes images that have been written. Before their frames count as clean: so a checkpoint has
  /// each page in its list of dirty pages, or here as it was written last.
  void written(std::span<const PageImage> images) noexcept;
  void forget(PageId page) noexcept;
  /// Returns the first untidy page from `from` on.
  [[nodiscard]] std::optional<PageId> next(PageId from) const noexcept;

 private:
  static constexpr std::uint64_t kBits = 64;
  /// Pre: mutex_ is held.
  void set(PageId page, bool is_untidy);
  /// Pre: mutex_ is held.
  [[nodiscard]] std::vector<std::byte> encode(std::uint64_t database_id) const;

  const Judge judge_;
  mutable std::mutex mutex_;  ///< a leaf; nothing parks under it
  std::vector<std::uint64_t> words_;
  bool is_changed_ = false;
};

}  // namespace swizzle
