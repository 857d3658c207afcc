#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/io/file.h"
#include "storage/recovery/records/segment_digest.h"
#include "wal/log_options.h"
#include "wal/reader.h"

namespace swizzle {

/// Name of a segment's digest in the archive: that of the segment with another ending.
std::string digest_name(std::uint64_t segment);

/// Returns a function that archives a segment of the log in `log_directory` with `archive`, and
/// after it the segment's digest. A digest that cannot be made or archived is left out: it only
/// saves a restore the reading of the segment.
wal::ArchiveSegment archive_with_digests(FileSystem& files, std::filesystem::path log_directory,
                                         wal::ArchiveSegment archive);

/// Digests of archived segments that lie in a directory.
class ArchivedDigests {
 public:
  /// `log` is where the segments are, and the digests are put.
  ArchivedDigests(FileSystem& files, wal::RestoreSegment archive, wal::LogLocation log)
      : files_(files), archive_(std::move(archive)), log_(std::move(log)) {}

  /// Fetches the digest, unless it is there. Nothing if the archive has none, or one that does not
  /// fit the segment, which is named in the server's log.
  Result<std::optional<SegmentDigest>> fetch(std::uint64_t segment) const;

 private:
  [[nodiscard]] Result<SegmentDigest> read(std::uint64_t segment) const;

  FileSystem& files_;
  const wal::RestoreSegment archive_;
  const wal::LogLocation log_;
};

}  // namespace swizzle
