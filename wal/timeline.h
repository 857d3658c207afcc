#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"

namespace swizzle::wal {

/// An older timeline, and the position at which the next one branched off.
struct TimelineEnd {
  std::uint32_t timeline = 1;
  /// The log before this position belongs to both.
  Lsn end = Lsn::none;

  friend bool operator==(const TimelineEnd&, const TimelineEnd&) = default;
};

/// History of a log: its older timelines, oldest first. Each promotion begins a timeline, which
/// distinguishes two servers that continue the same log. Stored as a text file beside the segments,
/// with a line for each older timeline: its number, its end, a reason.
class TimelineHistory {
 public:
  /// History of a log that was never promoted.
  TimelineHistory() = default;
  /// XX001 for a malformed text.
  static Result<TimelineHistory> parse(std::uint32_t timeline, std::string_view text);
  /// Reads the history of `timeline` from a log's directory. 58P01 if there is none and the
  /// timeline is not the first.
  static Result<TimelineHistory> read(FileSystem& files, const std::filesystem::path& directory,
                                      std::uint32_t timeline);
  /// Writes the file; durable on return.
  Result<> write(FileSystem& files, const std::filesystem::path& directory) const;

  /// Returns the history after a promotion at `end`.
  [[nodiscard]] TimelineHistory next(Lsn end) const;

  [[nodiscard]] std::uint32_t timeline() const noexcept { return timeline_; }
  [[nodiscard]] const std::vector<TimelineEnd>& older() const noexcept { return older_; }
  /// Returns the end of `timeline`; Lsn::max for the current one, nothing if it is not in this
  /// history.
  [[nodiscard]] std::optional<Lsn> end_of(std::uint32_t timeline) const noexcept;
  [[nodiscard]] std::string text() const;

  /// Returns the file name: eight hexadecimal digits and ".history".
  static std::string file_name(std::uint32_t timeline);
  /// Returns the highest timeline with a history in the directory; 1 if there is none.
  static Result<std::uint32_t> newest(FileSystem& files, const std::filesystem::path& directory);

 private:
  std::uint32_t timeline_ = 1;
  std::vector<TimelineEnd> older_;
};

}  // namespace swizzle::wal
