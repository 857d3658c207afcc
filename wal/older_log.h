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

/// Parts of a log that a backup keeps.
struct KeptLog {
  Lsn from = Lsn::none;
  /// Segments before the one of this LSN are whole, so that the archive's may be unusable.
  Lsn whole_before = Lsn::none;
  Lsn end = Lsn::none;
};

/// Brings the archived segments (LogOptions::restore) into the directory of `options`, which is
/// empty, and those of the log that a backup keeps that the archive does not have. Durable on
/// return. Nothing writes to the segments later: they may be other names of the archive's files.
/// Returns the end of the last one.
Result<Lsn> collect_segments(FileSystem& files, const LogLocation& backup, const KeptLog& kept,
                             const LogOptions& options);

/// Fetches the archived segment `number` into the directory of `options`, where it replaces a file
/// of that name. Durable on return, except for its name. False: the archive does not have it. XX001
/// if what it has is no whole segment of this log.
Result<bool> fetch_segment(FileSystem& files, const LogOptions& options, std::uint64_t number);

/// Makes the segments in `from` those of the older log of the log in `to`.
/// Durable on return.
Result<> take_over_segments(FileSystem& files, const std::filesystem::path& from,
                            const std::filesystem::path& to);

/// Makes the first segment of the log that goes on from `older`. Durable on return.
Result<> begin_behind(FileSystem& files, const LogOptions& options, const OlderLog& older);

}  // namespace swizzle::wal
