#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/io/file.h"
#include "base/memory/aligned_buffer.h"
#include "base/runtime/park_mutex.h"
#include "storage/page/page.h"
#include "storage/space/page_image.h"

namespace swizzle {

/// The double-write area: pages are written here, durably, before they are written in place. A page
/// that a power cut tears in place can then be repaired from here.
///
/// A file of its own with two areas, used strictly in turn. An area is {header page, up to
/// kBatchPages page images}; it is reused only after its pages are durable in the data file (rule
/// S3). So the areas have the last two batches, and a page's image in them is its last write; an
/// area that was left behind is ignored (rule S7). Thread-safe.
class DoubleWrite {
 public:
  static constexpr std::size_t kAreas = 2;
  static constexpr std::size_t kBatchPages = 128;
  static constexpr std::uint64_t kAreaBytes = (kBatchPages + 1) * kPageBytes;
  static constexpr const char* kFileName = "doublewrite";

  static Result<> create(FileSystem& files, const std::filesystem::path& directory,
                         std::uint64_t database_id);
  /// Recreates a missing or truncated file, with a warning: it has only pages that a power cut may
  /// have torn. Such pages fail their checksums, so that they are rebuilt from the log or given up.
  static Result<std::unique_ptr<DoubleWrite>> open(FileSystem& files,
                                                   const std::filesystem::path& directory,
                                                   std::uint64_t database_id);

  /// Rewrites the pages of `data` that the last run may have left torn; durable on return. Pre:
  /// nothing has been written yet. Returns the rewritten pages.
  Result<std::vector<PageId>> repair(File& data);

  /// Returns a copy of `page` from the last batches, if there is one: the image that the data file
  /// has, or should have.
  Result<std::optional<AlignedBuffer>> find(PageId page);

 private:
  struct Area;

 public:
  /// Holds one area. write() makes the batch durable in it; then the pages go to the data file and
  /// are synced; then the lease ends.
  class Lease {
   public:
    explicit Lease(DoubleWrite& of) noexcept;
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease();

    /// Sorts the batch by page id. Pre: 1 to kBatchPages images, of different pages.
    Result<> write(std::span<const PageImage> images);
    /// The batch in the area's memory, contiguous, in the order of page ids.
    [[nodiscard]] std::span<const PageImage> staged() const noexcept;

   private:
    [[nodiscard]] Area& area() const noexcept;

    DoubleWrite& of_;
    std::uint64_t sequence_ = 0;
  };

 private:
  struct Area {
    ParkMutex mutex;
    AlignedBuffer memory{kAreaBytes};
    std::vector<PageImage> staged;
  };

  DoubleWrite(std::unique_ptr<File> file, std::uint64_t database_id) noexcept
      : file_(std::move(file)), database_id_(database_id) {}
  /// Sequence number and page ids of an area that is whole; empty if its last write was torn.
  struct Content {
    std::uint64_t sequence = 0;
    std::vector<PageId> pages;
    std::vector<std::uint64_t> checksums;
  };
  Result<Content> read_area(std::size_t index, AlignedBuffer& memory);
  static std::size_t area_of(std::uint64_t sequence) noexcept { return sequence % kAreas; }
  [[nodiscard]] bool is_recent(std::uint64_t sequence) const noexcept;
  Result<> repair_page(File& data, PageId page, std::byte* image, std::vector<PageId>& repaired);

  std::unique_ptr<File> file_;
  const std::uint64_t database_id_;
  /// Held while a thread waits for an area.
  ParkMutex turn_;
  std::array<Area, kAreas> areas_;
  std::atomic<std::uint64_t> next_sequence_{1};
};

}  // namespace swizzle
