#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "base/runtime/park_mutex.h"
#include "wal/log_options.h"

namespace swizzle::wal {

/// Places of an older log's segments besides the directory of the log that goes on from it. None:
/// all segments are in that directory.
struct OlderPlaces {
  /// Directory that has archived segments under their names. They are read there.
  std::filesystem::path folder = {};
  /// Fetches an archived segment when it is first read. Only some fetched ones are kept.
  RestoreSegment fetch = {};
  /// Log directory of a backup, read there, up to `backup_end`: of the last segment the backup has
  /// only a part, as a rule.
  std::filesystem::path backup = {};
  Lsn backup_end = Lsn::none;
  /// The log ends in that part. OlderSegments::find() finds out.
  bool ends_in_backup = false;
  /// Checks a fetched segment's content beyond its header; may be empty.
  std::function<Result<>(std::uint64_t number, File& segment)> check = {};

  [[nodiscard]] bool has_any() const noexcept {
    return !folder.empty() || fetch || !backup.empty();
  }
};

/// Segments of an older log (OlderLog), in a directory, a backup and an archive. A segment of a
/// command's archive is fetched when it is first opened. Thread-safe; parks.
class OlderSegments {
 public:
  struct Of {
    std::uint64_t database_id = 0;
    std::uint64_t segment_bytes = 0;
    /// The first needed segment; 0: the first one in the directory.
    std::uint64_t first = 0;
    /// One after the last; 0: the one after the last in the directory, or none yet, see find().
    std::uint64_t end = 0;
  };
  /// Most bytes of fetched segments in the directory, but always two of them; less in tests.
  static inline std::uint64_t most_fetched_bytes = std::uint64_t{1} << 30U;

  /// Segments in `directory` count only without other places: an interrupted fetch may have left
  /// damaged ones, which are removed.
  static Result<std::shared_ptr<OlderSegments>> open(FileSystem& files,
                                                     std::filesystem::path directory, const Of& of,
                                                     OlderPlaces places);
  OlderSegments(const OlderSegments&) = delete;
  OlderSegments& operator=(const OlderSegments&) = delete;
  ~OlderSegments() = default;

  /// Looks for the next segment, the one at end(), in all places, which may fetch it. True: found,
  /// it counts from now on; also for an earlier one. Behind a segment that only the backup has, and
  /// that in part, there is none. XX001 if the archive has something else under its name, unless
  /// the backup has the segment.
  Result<bool> find(std::uint64_t number);
  /// The same without a look: the archive has the segment's digest.
  void promise(std::uint64_t number);
  /// True if a segment is promised rather than found: it would be fetched, and the backup does not
  /// have it whole.
  [[nodiscard]] bool is_fetched(std::uint64_t number) const;
  /// True if the segment can be opened without being fetched.
  [[nodiscard]] bool is_here(std::uint64_t number) const;

  /// Opens a segment. Null: it is none of these. 58P01 if no place has it, 58030 if a place has
  /// something else; both may be over later.
  Result<std::unique_ptr<File>> open_segment(std::uint64_t number);

  /// Returns the name of a segment that the archive has although it lacks one before it, the first
  /// that a log up to `end` does not have. Nothing: the archive ends there.
  Result<std::optional<std::string>> find_behind_gap(Lsn end);

  /// Copies the segments from `number` on into the directory, durably. No other place is needed
  /// afterwards.
  Result<> keep_here(std::uint64_t number);
  /// Drops the segments below `number`, and removes them from the directory, unless a fetch is
  /// under way. Does not wait.
  Result<> remove_below(std::uint64_t number);

  [[nodiscard]] std::uint64_t first() const;
  [[nodiscard]] std::uint64_t end() const;
  [[nodiscard]] bool is_empty() const;
  [[nodiscard]] bool has_places() const noexcept { return places_.has_any(); }
  /// Number of segments that have been fetched.
  [[nodiscard]] std::uint64_t fetches() const;

 private:
  OlderSegments(FileSystem& files, std::filesystem::path directory, const Of& of,
                OlderPlaces places);
  Result<> look_into_directory();
  enum class Part : std::uint8_t { refused, taken };
  [[nodiscard]] std::vector<std::filesystem::path> places_of(std::uint64_t number, Part part) const;
  [[nodiscard]] bool backup_has_whole(std::uint64_t number) const;
  [[nodiscard]] std::filesystem::path fetched_path(std::uint64_t number) const;
  Result<std::unique_ptr<File>> open_anywhere(std::uint64_t number, Part part);
  Result<std::unique_ptr<File>> open_in_directory(std::uint64_t number);
  Result<std::unique_ptr<File>> open_in_place(std::uint64_t number,
                                              const std::filesystem::path& path);
  Result<std::unique_ptr<File>> fetch(std::uint64_t number);
  Result<bool> call_fetch(std::uint64_t number, const std::filesystem::path& to);
  void note_fetched(std::uint64_t number, std::vector<std::uint64_t>& surplus);
  Result<> copy_here(std::uint64_t number);
  Result<bool> archive_has(std::uint64_t number);

  FileSystem& files_;
  const std::filesystem::path directory_;
  const std::uint64_t database_id_;
  const std::uint64_t segment_bytes_;
  const OlderPlaces places_;
  /// Held during a fetch.
  ParkMutex fetching_;
  // A leaf; never held across a park.
  mutable std::mutex mutex_;
  std::uint64_t first_;
  std::uint64_t end_;
  /// Segments in the directory, the one that was opened last at the end.
  std::vector<std::uint64_t> in_directory_;
  /// Segments in other places whose headers have been checked.
  std::set<std::filesystem::path> checked_;
  bool ends_in_backup_;
  bool keeps_all_ = false;
  std::uint64_t fetches_ = 0;
};

}  // namespace swizzle::wal
