#pragma once

#include <cstdint>

#include "base/result.h"
#include "wal/reader.h"

namespace swizzle::wal {

class OpeningVisitor;

/// The position and segments that restart finds at the log's end.
struct LogEnd {
  std::uint64_t end = 0;
  std::uint64_t first_segment = 0;
  std::uint64_t last_segment = 0;
};

/// Finds the segments from the one that holds `from` on: they follow each other without a gap and
/// belong to this log. A missing segment is 58P01, a segment of another database or with another
/// size XX001. Returns no end.
Result<LogEnd> check_segments(const LogLocation& location, std::uint64_t from);

/// Reads forward from `from`, a record boundary, to the last record of the unbroken run.
/// What follows must look like the tail of an interrupted write. If it proves that the place where
/// the run breaks had been durable, the log is damaged and nothing behind it may be dropped: XX001
/// says from which LSN on it is lost. Segments as check_segments() has them. `visitor` may be null.
Result<LogEnd> find_end(const LogLocation& location, std::uint64_t from,
                        OpeningVisitor* visitor = nullptr);

/// Makes the files fit to go on at `end.end`: files cut short get their full length back, what
/// survives of the interrupted write is zeroed so that no later restart can take it for a part of
/// the log, and everything before the end is made durable, whoever wrote it.
Result<> repair_tail(const LogLocation& location, const LogEnd& end);

}  // namespace swizzle::wal
