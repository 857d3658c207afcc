#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "wal/log_options.h"
#include "wal/reader.h"

namespace swizzle::wal {

/// Size of the copied segments.
enum class CopiedSegments : std::uint8_t {
  whole,
  /// A hole before `from`, and nothing after `end`: can only be copied again, by copy_log().
  content_only,
};

/// Copies the log from the segment of `from` up to `end`, exactly, into `directory`, which exists
/// and holds no segment: for backups, and to cut a log at the point in time that a restore wants.
/// Durable on return. Works beside a running Log.
/// Pre: `end` is a record boundary, durable; the segments are kept meanwhile (Log::keep_from).
Result<> copy_log(const LogLocation& location, Lsn from, Lsn end, FileSystem& files,
                  const std::filesystem::path& directory,
                  CopiedSegments segments = CopiedSegments::whole);

/// Finds a segment of this log that the archive has although it lacks the one before it, the first
/// that a log up to `end` does not have: commits there would be missing from a restore. `scratch`
/// is a path for the fetched file. Nothing: the archive ends there.
Result<std::optional<std::string>> find_segment_behind_gap(const RestoreSegment& archive,
                                                           const LogLocation& log, Lsn end,
                                                           FileSystem& files,
                                                           const std::filesystem::path& scratch);

}  // namespace swizzle::wal
