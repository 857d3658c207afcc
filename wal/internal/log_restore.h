#pragma once

#include "base/ids.h"
#include "base/io/file.h"
#include "base/result.h"
#include "wal/log_options.h"

namespace swizzle::wal {

/// Fetches archived segments, from the one that holds `from` on, until the archive has no more.
/// Each replaces the directory's file of that name, which may have been copied while it was being
/// written.
Result<> restore_segments(FileSystem& files, const LogOptions& options, Lsn from);

}  // namespace swizzle::wal
