#pragma once

#include <filesystem>
#include <vector>

#include "base/io/file.h"

namespace swizzle::test {

// Directories of backups and archived segments on the tests' simulated disk.
inline const std::filesystem::path kBackup = "/backup";
inline const std::filesystem::path kArchive = "/archive";

/// Copies a file as an archive command copies a segment.
inline Result<> copy_file(FileSystem& files, const std::filesystem::path& from,
                          const std::filesystem::path& to) {
  ASSIGN_OR_RETURN(auto source, files.open(from, OpenMode::read_only, {}));
  ASSIGN_OR_RETURN(const std::uint64_t size, source->size());
  std::vector<std::byte> bytes(size);
  RETURN_IF_ERROR(source->read_at(0, bytes));
  ASSIGN_OR_RETURN(auto target, files.open(to, OpenMode::open_or_create, {}));
  RETURN_IF_ERROR(target->write_at(0, bytes));
  return target->sync();
}

}  // namespace swizzle::test
