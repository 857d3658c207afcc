#pragma once

#include <cstdint>

#include "base/result.h"
#include "wal/reader.h"

namespace swizzle::wal {

class OpeningVisitor;

/// End of the log, and its segments, as found by a restart.
struct LogEnd {
  std::uint64_t end = 0;
  std::uint64_t first_segment = 0;
  std::uint64_t last_segment = 0;
};

/// Checks that the segments from the one that holds `from` on are contiguous and belong to this
/// log. 58P01 for a missing segment, XX001 for a segment of another database or size. Returns no
/// end.
Result<LogEnd> check_segments(const LogLocation& location, std::uint64_t from);

/// Reads forward from `from`, a record boundary, to the last record of the unbroken run. The bytes
/// that follow must be the remains of an interrupted write. If they prove that the end of the run
/// was durable, the log is damaged: XX001 with the LSN from which on it is lost. Pre: the segments
/// passed check_segments(). `visitor` may be null; if it wants no more, the end is where it stands.
Result<LogEnd> find_end(const LogLocation& location, std::uint64_t from,
                        OpeningVisitor* visitor = nullptr);

/// Prepares the files for writing at `end.end`: restores the length of truncated files, zeroes the
/// remains of the interrupted write, so that no later restart takes them for records, and makes
/// everything before the end durable.
Result<> repair_tail(const LogLocation& location, const LogEnd& end);

}  // namespace swizzle::wal
