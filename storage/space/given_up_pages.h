#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/io/file.h"
#include "base/result.h"
#include "storage/space/written_lsns.h"

namespace swizzle {

/// A page whose content is lost.
struct PageGivenUp {
  PageId page;
  /// The page is valid from this LSN on; none if its checksum fails and no more is known.
  Lsn needed;
  Error why;
};

/// Pages that differ from their last write and cannot be rebuilt: reading one is XX001, everything
/// else works. The only list of them, for recovery, readers, backups and verify.
///
/// An entry holds the least LSN that the page must have. It becomes void when the page is written
/// again at that LSN or a later one, which happens when a new tree gets the page. Kept in a file of
/// its own, because the log that proves a page old may be recycled at the next checkpoint, and a
/// torn block of the written LSNs would make an old page look right. Thread-safe.
class GivenUpPages {
 public:
  static constexpr const char* kFileName = "given_up";
  /// Later ones are still noted in the written LSNs; only their reasons are not kept.
  static constexpr std::size_t kMost = 65'536;

  /// Reads the file, if there is one, and tells `written` which LSNs the pages must have. A damaged
  /// file is XX001.
  static Result<std::unique_ptr<GivenUpPages>> open(FileSystem& files,
                                                    std::filesystem::path directory,
                                                    std::uint64_t database_id,
                                                    WrittenLsns& written);
  GivenUpPages(const GivenUpPages&) = delete;
  GivenUpPages& operator=(const GivenUpPages&) = delete;

  /// Logs the reason, once per page.
  void give_up(PageId page, Lsn needed, const Error& why);
  /// The page is whole again, as it was written last.
  void take_back(PageId page);
  /// Why the page was given up; nothing if it was not, or has been written since.
  [[nodiscard]] std::optional<Error> find(PageId page) const;
  [[nodiscard]] bool contains(PageId page) const noexcept;
  [[nodiscard]] std::vector<PageId> list() const;
  [[nodiscard]] bool empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }

  /// Writes the file if it has changed. Durable on return, except for entries for which the disk
  /// has no room: the written LSNs have those too, and the next call tries again.
  Result<> persist();
  /// Writes a file with the same entries into another directory, for a copy of the pages.
  Result<> copy_to(FileSystem& files, const std::filesystem::path& directory) const;

 private:
  struct Entry {
    Lsn needed = Lsn::none;
    std::string message;
    std::string detail;
    std::string hint;
  };
  GivenUpPages(FileSystem& files, std::filesystem::path directory, std::uint64_t database_id,
               WrittenLsns& written)
      : files_(files),
        directory_(std::move(directory)),
        database_id_(database_id),
        written_(written) {}
  Result<> read();
  /// Pre: mutex_ is held.
  [[nodiscard]] bool is_void(PageId page, const Entry& entry) const noexcept {
    return written_.in_memory(page) != entry.needed;
  }
  [[nodiscard]] std::vector<std::byte> encode() const;

  FileSystem& files_;
  const std::filesystem::path directory_;
  const std::uint64_t database_id_;
  WrittenLsns& written_;
  mutable std::mutex mutex_;  ///< a leaf; nothing parks under it
  std::unordered_map<PageId, Entry> entries_;
  bool is_changed_ = false;
  std::atomic<std::size_t> count_{0};
};

}  // namespace swizzle
