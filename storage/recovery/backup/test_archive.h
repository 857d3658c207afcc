#pragma once

#include <filesystem>
#include <vector>

#include "base/io/file.h"
#include "storage/engine.h"

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

/// Options of an engine with a small pool and short log segments, which go to kArchive.
inline EngineOptions archiving_options(FileSystem& files, std::uint64_t segment_bytes) {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{96} * 8704;
  options.log_segment_bytes = segment_bytes;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  options.checkpoint_log_bytes = std::uint64_t{300} << 10U;
  options.archive = [&files](const std::filesystem::path& segment, const std::string& name) {
    return copy_file(files, segment, kArchive / name);
  };
  return options;
}

}  // namespace swizzle::test
