#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/memory/aligned_buffer.h"
#include "base/result.h"

namespace swizzle {

/// Pages of an incremental backup: one file has their images, ascending and without gaps, another
/// one has their numbers. docs/on-disk-format.md has the layout.
inline constexpr const char* kChangedPagesName = "changed-pages";
inline constexpr const char* kChangedListName = "changed-list";

class ChangedPagesWriter {
 public:
  static Result<ChangedPagesWriter> create(FileSystem& files,
                                           const std::filesystem::path& directory);
  /// Pre: pages ascend; `image` has kPageBytes in aligned memory.
  Result<> add(PageId page, Bytes image);
  /// Writes the list. `page_count` is the length of the data file in pages. Durable on return.
  Result<> finish(std::uint64_t database_id, std::uint64_t page_count);

 private:
  ChangedPagesWriter(FileSystem& files, std::filesystem::path directory,
                     std::unique_ptr<File> images)
      : files_(&files), directory_(std::move(directory)), images_(std::move(images)) {}
  FileSystem* files_;
  std::filesystem::path directory_;
  std::unique_ptr<File> images_;
  std::vector<PageId> pages_;
};

class ChangedPagesReader {
 public:
  /// Reads the list. XX001 if it is damaged, or has more or fewer pages than the file of images.
  static Result<ChangedPagesReader> open(FileSystem& files, const std::filesystem::path& directory,
                                         std::uint64_t database_id);
  [[nodiscard]] std::uint64_t page_count() const noexcept { return page_count_; }
  /// Reads the next pages; none at the end. Valid until the next call.
  struct Batch {
    std::span<const PageId> pages;
    std::byte* images;
  };
  Result<Batch> next();
  [[nodiscard]] bool contains(PageId page) const noexcept;
  /// Reads one page, unchecked. Thread-safe. Pre: contains(page).
  Result<> read(PageId page, std::byte* into) const;

 private:
  static constexpr std::size_t kBatchPages = 128;
  ChangedPagesReader(std::unique_ptr<File> images, std::vector<PageId> pages,
                     std::uint64_t page_count);
  std::unique_ptr<File> images_;
  std::vector<PageId> pages_;
  std::uint64_t page_count_;
  std::size_t position_ = 0;
  AlignedBuffer memory_;
};

}  // namespace swizzle
