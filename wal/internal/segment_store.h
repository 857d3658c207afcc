#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/io/file.h"
#include "base/result.h"
#include "wal/internal/segment.h"
#include "wal/older_segments.h"

namespace swizzle::wal {

/// Segment files of a log: prepared ahead of the tail, recycled once they are no longer needed.
/// Thread-safe, but only one task at a time prepares, recycles or removes.
///
/// A file has a segment's name only while it durably has that segment's header; it is prepared
/// under another name. So a named segment with a wrong header is damaged or foreign, never just
/// unfinished.
class SegmentStore {
 public:
  SegmentStore(FileSystem& files, std::filesystem::path directory, SegmentGeometry geometry,
               std::uint64_t database_id, FileOptions write_options, std::uint32_t timeline = 1);

  /// Takes over the files first..last, which lie in the directory, and opens those from
  /// `first_writable` on. Counts the kept files, and removes what an interrupted preparation left
  /// behind, or keeps it, too.
  Result<> adopt(std::uint64_t first, std::uint64_t last, std::uint64_t first_writable);
  /// Takes over the older log's segments (OlderLog).
  void adopt_older(std::shared_ptr<OlderSegments> segments) noexcept {
    older_ = std::move(segments);
  }
  /// Begins an empty log whose first segment will be `first`.
  void begin_at(std::uint64_t first);

  /// Makes the next segment ready: from the oldest file if that is below `free_below`, else from
  /// new, zeroed blocks. Post: durable under its name.
  Result<> prepare_next(std::uint64_t free_below);
  /// Puts aside the blocks of one segment, durably: no other file gets them.
  Result<> keep_file();
  /// Gives such blocks back.
  Result<> drop_kept_file();
  /// As prepare_next(), out of a kept file. Pre: there is one.
  Result<> prepare_from_kept_file();
  [[nodiscard]] std::uint64_t kept_files() const noexcept { return kept_files_; }

  /// Removes files below `free_below` beyond `spares` of them.
  Result<> remove_surplus(std::uint64_t free_below, std::uint32_t spares);
  /// Removes the older log's segments below `free_below`.
  Result<> remove_older(std::uint64_t free_below);
  /// Closes files that are written to no more.
  void close_below(std::uint64_t number);

  /// Pre: prepared, and not closed.
  [[nodiscard]] std::shared_ptr<File> writable(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t first() const;
  /// The same, or the first segment of the older log if that is still there.
  [[nodiscard]] std::uint64_t first_of_all() const;
  /// One after the last prepared segment.
  [[nodiscard]] std::uint64_t end() const;

  [[nodiscard]] const SegmentGeometry& geometry() const noexcept { return geometry_; }
  [[nodiscard]] std::uint64_t database_id() const noexcept { return database_id_; }
  [[nodiscard]] FileSystem& files() const noexcept { return files_; }
  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
  [[nodiscard]] std::filesystem::path path_of(std::uint64_t number) const {
    return directory_ / segment_name(number);
  }

 private:
  Result<> open_writable(std::uint64_t number);
  Result<> set_aside(std::uint64_t number);
  Result<> fill_with_zeros();
  Result<> write_header(std::uint64_t number);
  /// The unfinished file becomes the next segment.
  Result<> finish_next();
  Result<> adopt_kept_files();
  /// True if the file has all the blocks of a segment.
  Result<bool> is_whole(const std::filesystem::path& path);
  [[nodiscard]] std::filesystem::path unfinished() const { return directory_ / "segment.tmp"; }
  [[nodiscard]] std::filesystem::path kept_file(std::uint64_t number) const {
    return directory_ / ("rollback." + std::to_string(number));
  }

  FileSystem& files_;
  std::filesystem::path directory_;
  SegmentGeometry geometry_;
  std::uint64_t database_id_;
  FileOptions write_options_;
  std::uint32_t timeline_;  ///< of segments that are made

  std::uint64_t kept_files_ = 0;  ///< numbered from 0

  /// Null if the log does not go on from an older one.
  std::shared_ptr<OlderSegments> older_;

  // A leaf; never held across a transfer.
  mutable std::mutex mutex_;
  std::uint64_t first_ = kFirstSegment;
  std::uint64_t end_ = kFirstSegment;
  std::map<std::uint64_t, std::shared_ptr<File>> writable_;
};

/// Numbers of the segments in `directory`, ascending.
Result<std::vector<std::uint64_t>> list_segments(FileSystem& files,
                                                 const std::filesystem::path& directory);

/// The header of segment file `number`. 58P01 when the file is missing.
Result<SegmentHeader> read_segment_header(FileSystem& files, const std::filesystem::path& directory,
                                          std::uint64_t number);

}  // namespace swizzle::wal
