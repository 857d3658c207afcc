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

/// An older timeline, and where the next one left it.
struct TimelineEnd {
  std::uint32_t timeline = 1;
  /// The log up to here belongs to both.
  Lsn end = Lsn::none;

  friend bool operator==(const TimelineEnd&, const TimelineEnd&) = default;
};

/// How a log came to its timeline: the older ones, oldest first. A promotion begins a timeline, so
/// that two servers that went on from the same log can be told apart. In a file of text beside the
/// segments, a line for each older timeline: its number, the LSN where it ended, a reason.
class TimelineHistory {
 public:
  /// The history of a log that was never promoted.
  TimelineHistory() = default;
  /// XX001 for a text that is no history.
  static Result<TimelineHistory> parse(std::uint32_t timeline, std::string_view text);
  /// Reads the history of `timeline` in a log's directory. 58P01 when there is none, and the
  /// timeline is not the first.
  static Result<TimelineHistory> read(FileSystem& files, const std::filesystem::path& directory,
                                      std::uint32_t timeline);
  /// Durable on return.
  Result<> write(FileSystem& files, const std::filesystem::path& directory) const;

  /// The history after a promotion at `end`.
  [[nodiscard]] TimelineHistory next(Lsn end) const;

  [[nodiscard]] std::uint32_t timeline() const noexcept { return timeline_; }
  [[nodiscard]] const std::vector<TimelineEnd>& older() const noexcept { return older_; }
  /// Returns the end of `timeline`; Lsn::max for the present one, nothing for one that is not in
  /// this history.
  [[nodiscard]] std::optional<Lsn> end_of(std::uint32_t timeline) const noexcept;
  [[nodiscard]] std::string text() const;

  /// Eight hexadecimal digits and ".history".
  static std::string file_name(std::uint32_t timeline);
  /// The highest timeline of which the directory has a history; 1 without one.
  static Result<std::uint32_t> newest(FileSystem& files, const std::filesystem::path& directory);

 private:
  std::uint32_t timeline_ = 1;
  std::vector<TimelineEnd> older_;
};

}  // namespace swizzle::wal
