#pragma once

#include <cstdint>
#include <filesystem>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "wal/log_options.h"
#include "wal/reader.h"

namespace swizzle::wal {

class OpeningVisitor;

/// Part of a log that has been read.
struct LogExtent {
  /// End of the last record that was read.
  Lsn end = Lsn::none;
  /// End of the last segment, which may have no records.
  Lsn segments_end = Lsn::none;
};

/// Reads the log from `from` on, a record boundary, to its end, as Log::open() does, with the same
/// errors, or to the record behind which the visitor wants no more. Changes nothing.
Result<LogExtent> read_to_end(const LogLocation& location, Lsn from, OpeningVisitor& visitor);

/// Fetches the archived segment `number` into the directory of `options`, where it replaces a file
/// of that name. Durable on return, except for its name. False: the archive does not have it. XX001
/// if what it has is no whole segment of this log.
Result<bool> fetch_segment(FileSystem& files, const LogOptions& options, std::uint64_t number);

/// Makes the first segment of the log that goes on from `older`. Durable on return.
Result<> begin_behind(FileSystem& files, const LogOptions& options, const OlderLog& older);

}  // namespace swizzle::wal
