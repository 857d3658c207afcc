#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "wal/log_options.h"

namespace swizzle::wal {

class OpeningVisitor;
class TimelineHistory;

/// Log of a standby: appends the bytes of another server's log at the LSNs that they have there.
/// One thread appends; others may read the durable part.
class ReceivedLog {
 public:
  /// Finds the end of the log in the directory, reading from `from`, a record boundary. Drops an
  /// incomplete record, which the sender has. Uses directory, database_id and segment_bytes of
  /// `options`. 58P01 if a segment from that of `from` on is missing, XX001 if one belongs to
  /// another log.
  static Result<std::unique_ptr<ReceivedLog>> open(FileSystem& files, const LogOptions& options,
                                                   Lsn from, std::uint32_t timeline = 1);
  /// End of the last whole record, found as open() does. Changes nothing.
  static Result<Lsn> find_whole_end(FileSystem& files, const LogOptions& options, Lsn from);
  ReceivedLog(const ReceivedLog&) = delete;
  ReceivedLog& operator=(const ReceivedLog&) = delete;
  ~ReceivedLog();

  /// Appends at end(). Syncs earlier bytes if too many would be in doubt after a power cut. 53100:
  /// the disk is full.
  Result<> append(Bytes bytes);
  /// Appends, durably, what the archive has behind end(), as far as it is whole and belongs to the
  /// history that led to `history`'s timeline. Returns true if that was anything. `from` is called
  /// at the end, since log may be read and released meanwhile: a record boundary that is kept.
  Result<bool> restore(const RestoreSegment& archive, const TimelineHistory& history,
                       const std::function<Lsn()>& from);
  /// Makes all appended bytes durable.
  Result<> flush();

  /// End of the received bytes, usually no record boundary.
  [[nodiscard]] Lsn end() const noexcept { return Lsn{end_.load(std::memory_order_acquire)}; }
  [[nodiscard]] Lsn durable() const noexcept {
    return Lsn{durable_.load(std::memory_order_acquire)};
  }
  struct Whole {
    Lsn last = Lsn::none;  ///< begin of the last record
    Lsn end = Lsn::none;   ///< the same, or behind it if it is a flush mark, which changes nothing
  };
  /// Reads the complete and durable records that begin in [from, from + most), except the last,
  /// whose place it returns; returns `from` if there are none. `visitor` may be null. Pre: `from`
  /// is a record boundary.
  Result<Whole> read(Lsn from, std::uint64_t most, OpeningVisitor* visitor) const;
  /// Removes, durably, the bytes after the last complete record, so that the log can be opened for
  /// writing. Reads from `from`, a record boundary. Returns the new end of the log.
  Result<Lsn> cut(Lsn from);
  /// Removes the segments that end at or before `lsn`.
  Result<> release_before(Lsn lsn);
  /// Sets the timeline of future segments.
  void set_timeline(std::uint32_t timeline) noexcept { timeline_ = timeline; }

 private:
  ReceivedLog(FileSystem& files, LogOptions options, std::uint32_t timeline)
      : files_(files), options_(std::move(options)), timeline_(timeline) {}
  Result<> find_end(Lsn from);
  Result<> open_segment(std::uint64_t number);
  Result<bool> append_archived(const RestoreSegment& archive, const TimelineHistory& history);
  Result<> make_segment(std::uint64_t number);

  FileSystem& files_;
  const LogOptions options_;
  std::uint32_t timeline_;
  std::atomic<std::uint64_t> end_{0};
  std::atomic<std::uint64_t> durable_{0};
  /// Segment being written.
  std::unique_ptr<File> file_;
  std::uint64_t number_ = 0;
};

}  // namespace swizzle::wal
