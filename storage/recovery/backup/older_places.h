#pragma once

#include <filesystem>
#include <memory>

#include "base/io/file.h"
#include "base/result.h"
#include "storage/backup.h"
#include "storage/recovery/backup/backup_chain.h"
#include "storage/recovery/backup/digest_archive.h"
#include "storage/recovery/restore_state.h"
#include "wal/older_segments.h"
#include "wal/reader.h"

namespace swizzle {

/// Returns the function that fetches a file of the archive; empty for a folder, and for none.
[[nodiscard]] wal::RestoreSegment fetch_of(const RestoreArchive& archive);

/// The segments of the log that backup and archive have, for a restore that looks for its end.
/// Fetched ones are put into `log_directory`, fetched digests into `digest_directory`.
struct ArchivedLog {
  wal::LogLocation location;
  std::shared_ptr<wal::OlderSegments> segments;
  ArchivedDigests digests;
};
Result<ArchivedLog> open_archived_log(FileSystem& files, const BackupChain& chain,
                                      const std::string& log_name,
                                      const std::filesystem::path& log_directory,
                                      const std::filesystem::path& digest_directory,
                                      const RestoreArchive& archive,
                                      const wal::RestoreSegment& fetch);

/// Finds the segments of the older log of a database that was restored on demand. `function` takes
/// the place of the command that its state names, if it is not empty.
Result<std::shared_ptr<wal::OlderSegments>> open_older_segments(
    FileSystem& files, const std::filesystem::path& directory, const std::string& log_name,
    const RestoreState& state, const wal::RestoreSegment& function);

}  // namespace swizzle
