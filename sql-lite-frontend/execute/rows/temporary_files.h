#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/io/file.h"
#include "sql-lite-frontend/session_usage.h"

namespace swizzle::sql {

class TemporaryFiles;

/// A file that goes when its owner does. Of one thread or fiber.
class TemporaryFile {
 public:
  TemporaryFile(TemporaryFiles& of, std::filesystem::path path, std::unique_ptr<File> file) noexcept
      : of_(of), path_(std::move(path)), file_(std::move(file)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  [[nodiscard]] File& file() noexcept { return *file_; }

 private:
  TemporaryFiles& of_;
  std::filesystem::path path_;
  std::unique_ptr<File> file_;
};

/// Files for statements' data beyond their memory limit, in one folder of the data directory.
/// Thread-safe, but for one that counts; outlives its files.
class TemporaryFiles {
 public:
  /// Nothing of an earlier run stays in `folder`.
  static Result<std::unique_ptr<TemporaryFiles>> open(FileSystem& files,
                                                      std::filesystem::path folder);
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;
  ~TemporaryFiles() = default;

  /// Returns the same folder for one session: its files are counted there, with their sizes, when
  /// they go. `usage` outlives the result.
  [[nodiscard]] TemporaryFiles counted_in(SessionUsage& usage) const {
    return TemporaryFiles{folder_, &usage};
  }

  Result<std::unique_ptr<TemporaryFile>> create();

 private:
  struct Folder {
    FileSystem& files;
    std::filesystem::path path;
    std::atomic<std::uint64_t> next{0};
  };
  TemporaryFiles(std::shared_ptr<Folder> folder, SessionUsage* usage) noexcept
      : folder_(std::move(folder)), usage_(usage) {}
  Result<> empty_folder();

  std::shared_ptr<Folder> folder_;
  SessionUsage* usage_ = nullptr;
  friend class TemporaryFile;
};

/// Limits of a large consumer: memory, and files for the rest (null: memory only).
struct WorkSpace {
  std::size_t memory_bytes = SIZE_MAX;
  TemporaryFiles* files = nullptr;
};

}  // namespace swizzle::sql
