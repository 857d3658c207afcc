#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/io/file.h"

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

/// Where statements put what does not fit the memory that they may use: files in one folder of the
/// data directory. Thread-safe; outlives its files.
class TemporaryFiles {
 public:
  /// Nothing of an earlier run stays in `folder`.
  static Result<std::unique_ptr<TemporaryFiles>> open(FileSystem& files,
                                                      std::filesystem::path folder);
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;
  ~TemporaryFiles() = default;

  Result<std::unique_ptr<TemporaryFile>> create();

 private:
  TemporaryFiles(FileSystem& files, std::filesystem::path folder) noexcept
      : files_(files), folder_(std::move(folder)) {}
  Result<> empty_folder();

  FileSystem& files_;
  std::filesystem::path folder_;
  std::atomic<std::uint64_t> next_{0};
  friend class TemporaryFile;
};

/// What something may take that keeps much: memory, and files for the rest (null: memory only).
struct WorkSpace {
  std::size_t memory_bytes = SIZE_MAX;
  TemporaryFiles* files = nullptr;
};

}  // namespace swizzle::sql
