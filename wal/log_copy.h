#pragma once

#include <cstdint>
#include <filesystem>

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

}  // namespace swizzle::wal
