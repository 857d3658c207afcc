#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "storage/recovery/pending_pages.h"
#include "wal/reader.h"

namespace swizzle {

/// Copies of the records of a stretch of log, sorted by page: to bring a page up to date then takes
/// a few reads, and the pages in their order one pass, however long the log is. They are in runs,
/// files of bounded size, each sorted by page and LSN. A run is read without being kept in memory.
/// The files are scratch: they are not synced, and made again at each start.
class RecordRuns {
 public:
  /// Name of the directory of the files.
  static constexpr const char* kDirectoryName = "record-runs";
  /// Usual memory for the records of a run while it is made.
  static constexpr std::uint64_t kUsualMemory = std::uint64_t{64} << 20U;

  /// Called during the work; false ends it early.
  using GoesOn = std::function<bool()>;
  /// Reads the records in [from, end) and makes the runs in a directory inside `directory`. Null if
  /// `goes_on` has returned false.
  static Result<std::unique_ptr<RecordRuns>> make(FileSystem& files,
                                                  const std::filesystem::path& directory,
                                                  wal::Reader reader, Lsn from, Lsn end,
                                                  std::uint64_t memory_bytes,
                                                  const GoesOn& goes_on);
  /// Removes the files that an earlier start has left.
  static Result<> remove(FileSystem& files, const std::filesystem::path& directory);

  /// Returns the page's records from `since` on, in their order: from the last image of the
  /// whole page on, if there is one. XX001 if a file is damaged. Thread-safe; parks.
  Result<PageRecords> read(PageId page, Lsn since) const;
  [[nodiscard]] std::size_t count() const noexcept { return runs_.size(); }

 private:
  class Writer;
  /// A page's records in a run.
  struct Entry {
    PageId page;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  struct Run {
    std::unique_ptr<File> file;
    std::uint64_t index_at = 0;
    std::uint64_t entries = 0;
    /// The first page of each block of the index.
    std::vector<PageId> blocks;
  };
  static constexpr std::size_t kBlockEntries = 256;

  explicit RecordRuns(std::uint64_t database_id) noexcept : database_id_(database_id) {}
  static Result<std::optional<Entry>> find(const Run& run, PageId page);

  const std::uint64_t database_id_;
  std::vector<Run> runs_;
};

}  // namespace swizzle
