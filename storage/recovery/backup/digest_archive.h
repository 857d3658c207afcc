#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/io/file.h"
#include "storage/recovery/records/segment_digest.h"
#include "wal/log_options.h"

namespace swizzle {

/// Name of the directory, in one that a restore makes, of the digests that it has fetched.
inline constexpr const char* kOlderDigestsName = "older-digests";

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
  /// `directory` has the digests, or gets those that `archive` fetches.
  ArchivedDigests(FileSystem& files, wal::RestoreSegment archive, std::filesystem::path directory,
                  std::uint64_t database_id, std::uint64_t segment_bytes)
      : files_(files),
        archive_(std::move(archive)),
        directory_(std::move(directory)),
        database_id_(database_id),
        segment_bytes_(segment_bytes) {}

  /// Fetches the digest, unless it is there. Nothing if there is none, or one that is damaged or of
  /// another segment, which is named in the server's log.
  Result<std::optional<SegmentDigest>> fetch(std::uint64_t segment) const;
  /// XX001 if the digest was made of another segment of this name.
  Result<> require_fit(const SegmentDigest& digest, std::uint64_t number, File& segment) const;
  /// The same for the digest in the directory, if there is one.
  Result<> check(std::uint64_t number, File& segment) const;

 private:
  [[nodiscard]] Result<std::optional<SegmentDigest>> read(std::uint64_t segment) const;

  FileSystem& files_;
  const wal::RestoreSegment archive_;
  const std::filesystem::path directory_;
  const std::uint64_t database_id_;
  const std::uint64_t segment_bytes_;
};

}  // namespace swizzle
