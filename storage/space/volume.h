#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/io/file.h"
#include "storage/page/page.h"
#include "storage/page/page_read.h"
#include "storage/space/absent_pages.h"
#include "storage/space/double_write.h"
#include "storage/space/page_image.h"
#include "storage/space/untidy_pages.h"
#include "storage/space/written_lsns.h"

namespace swizzle {

/// The data file: a header, then pages by number. Reads check each page (XX001 with its id); writes
/// go through the double-write area, so that every page is whole after any crash (rule S3).
/// Thread-safe. All transfers park.
class Volume {
 public:
  static constexpr std::uint32_t kFormatVersion = 3;
  static constexpr const char* kFileName = "data";
  static constexpr const char* kLockName = "lock";

  /// Makes an empty volume in an existing directory: the header and the double-write area, durable.
  static Result<> create(FileSystem& files, const std::filesystem::path& directory,
                         std::uint64_t database_id);
  /// Locks the directory, checks the header, repairs torn pages. Errors name the file and the
  /// reason: locked (55006), no volume, other version or page size (55000), truncated or damaged
  /// (XX001). On error nothing has changed.
  static Result<std::unique_ptr<Volume>> open(FileSystem& files,
                                              const std::filesystem::path& directory);

  [[nodiscard]] std::uint64_t database_id() const noexcept { return database_id_; }
  /// Number of pages that the file has room for, the header's page included.
  [[nodiscard]] std::uint64_t page_count() const noexcept {
    return page_count_.load(std::memory_order_acquire);
  }
  /// Returns the pages that open() rewrote from the double-write area.
  [[nodiscard]] const std::vector<PageId>& repaired() const noexcept { return repaired_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return data_->path(); }

  /// A page that is absent from the file, and not whole in it, is read where it lies.
  Result<> read_page(PageId page, std::byte* into);
  void start_reads(std::span<PageRead* const> reads) noexcept;
  void start_read(PageRead& read) noexcept {
    PageRead* const only = &read;
    start_reads({&only, 1});
  }
  /// Starts all and parks until every one is done; uses their `done`.
  void read_pages(std::span<PageRead> reads) noexcept;
  /// Pre: `read` is done.
  Result<> outcome(const PageRead& read) const;

  /// Durable on return, whole after a crash at any time. Pre: the images are sealed, of different
  /// pages, and no other write of one of them is under way; the log is durable up to their LSNs.
  /// After a failure the content of the device is unknown: the volume then refuses all further
  /// writes, and the caller must treat the error as fatal.
  Result<> write_pages(std::span<const PageImage> images);

  /// An error once a write has failed.
  Result<> writable() const;

  /// Allocates room for pages [0, pages), durable. 53100 when the device is full; the file then
  /// keeps its old size. One caller at a time, as for shrink_to.
  Result<> grow_to(std::uint64_t pages);
  /// Truncates the file after the first `pages` pages. Pre: nothing there is in use.
  Result<> shrink_to(std::uint64_t pages);

  /// Returns the double-write area's copy of a page that fails its checksum, if it has one.
  Result<std::optional<AlignedBuffer>> image_of(PageId page) { return double_write_->find(page); }

  [[nodiscard]] const WrittenLsns& written_lsns() const noexcept { return written_lsns_; }
  /// For the owner of their copy on disk, which loads them at the start.
  [[nodiscard]] WrittenLsns& written_lsns() noexcept { return written_lsns_; }

  /// Set before the first read, or null. Reads ahead and in batches fail for absent pages.
  void set_absent_pages(AbsentPages* pages) noexcept { absent_ = pages; }
  /// Set before the first write, or null.
  void set_image_check(ImageCheck* check) noexcept { image_check_ = check; }
  /// Set before the first write, or null.
  void set_untidy_pages(UntidyPages* pages) noexcept { untidy_ = pages; }
  [[nodiscard]] std::uint64_t pages_written() const noexcept {
    return pages_written_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t pages_read() const noexcept {
    return pages_read_.load(std::memory_order_relaxed);
  }

 private:
  Volume() = default;
  Result<> write_batch(std::span<const PageImage> images);
  Result<> write_in_place(std::span<const PageImage> sorted);
  Result<> sync();
  Result<> refuse_writes(Error&& reason);
  [[nodiscard]] Error read_failure(PageId page, const IoRequest& request) const;

  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<File> data_;
  std::unique_ptr<DoubleWrite> double_write_;
  std::uint64_t database_id_ = 0;
  std::atomic<std::uint64_t> page_count_{0};
  std::vector<PageId> repaired_;
  ImageCheck* image_check_ = nullptr;
  AbsentPages* absent_ = nullptr;
  UntidyPages* untidy_ = nullptr;
  std::atomic<std::uint64_t> pages_written_{0};
  std::atomic<std::uint64_t> pages_read_{0};
  WrittenLsns written_lsns_;

  ParkMutex sync_mutex_;
  std::atomic<bool> refuses_writes_{false};
  mutable std::mutex reason_mutex_;
  std::string reason_;
};

}  // namespace swizzle
