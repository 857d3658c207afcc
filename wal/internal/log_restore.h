#pragma once

#include <cstdint>
#include <filesystem>

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "wal/internal/segment.h"
#include "wal/log_options.h"

namespace swizzle::wal {

/// Fetches archived segments, from the one that holds `from` on, until the archive has no more.
/// Each replaces the directory's file of that name, which may have been copied while it was being
/// written.
Result<> restore_segments(FileSystem& files, const LogOptions& options, Lsn from);

/// Checks that the file is a whole segment of that number and of this log, and makes it durable.
/// XX001 if it is not.
Result<SegmentHeader> check_restored(FileSystem& files, const std::filesystem::path& path,
                                     const LogOptions& options, std::uint64_t number);

}  // namespace swizzle::wal
