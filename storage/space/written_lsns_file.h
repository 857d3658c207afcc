#pragma once

#include <filesystem>
#include <memory>

#include "base/io/file.h"
#include "base/result.h"
#include "storage/space/written_lsns.h"

namespace swizzle {

/// Keeps the written LSNs on disk. A page there is never older than its LSN here, since that is
/// written later; so the file may be older than the data, but not the other way round: a copy of
/// the database that is not of one moment does without it. A block that is damaged, by a torn write
/// as a rule, is not known.
class WrittenLsnsFile {
 public:
  static constexpr const char* kFileName = "page_lsns";

  /// Reads the file into `lsns`; makes it if there is none.
  static Result<std::unique_ptr<WrittenLsnsFile>> open(FileSystem& files,
                                                       const std::filesystem::path& directory,
                                                       std::uint64_t database_id,
                                                       WrittenLsns& lsns);

  /// Durable on return, except for the part for which the disk has no room: that is tried again the
  /// next time.
  Result<> persist();

 private:
  WrittenLsnsFile(std::unique_ptr<File> file, std::uint64_t database_id, WrittenLsns& lsns) noexcept
      : file_(std::move(file)), database_id_(database_id), lsns_(lsns) {}
  Result<> read();

  std::unique_ptr<File> file_;
  std::uint64_t database_id_;
  WrittenLsns& lsns_;
};

}  // namespace swizzle
