#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/io/file.h"
#include "sql-lite-frontend/session_usage.h"

namespace swizzle::sql {

class TemporaryFiles;

/// Temporary file, deleted with its owner. Used by one thread or fiber.
class TemporaryFile {
 public:
  TemporaryFile(TemporaryFiles& of, std::filesystem::path path, std::unique_ptr<File> file) noexcept
      : of_(of), path_(std::move(path)), file_(std::move(file)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  /// Throws SqlError 53400 if the temporary files of the session, or of the server, would exceed
  /// their limit.
  void write_at(std::uint64_t offset, Bytes bytes);
  [[nodiscard]] File& file() noexcept { return *file_; }

 private:
  TemporaryFiles& of_;
  std::filesystem::path path_;
  std::unique_ptr<File> file_;
  std::uint64_t size_ = 0;
};

/// Temporary files for spilled data, in one folder of the data directory. Thread-safe, except for
/// an object that counts for a session; outlives its files.
class TemporaryFiles {
 public:
  /// Deletes files that an earlier run left in `folder`.
  static Result<std::unique_ptr<TemporaryFiles>> open(FileSystem& files,
                                                      std::filesystem::path folder);
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;
  ~TemporaryFiles() = default;

  /// Returns the same folder for one session: adds each file with its size to the session's
  /// statistics when it is deleted. `usage` outlives the result.
  [[nodiscard]] TemporaryFiles counted_in(SessionUsage& usage) const {
    return TemporaryFiles{folder_, &usage};
  }

  Result<std::unique_ptr<TemporaryFile>> create();

  static constexpr std::uint64_t kNoLimit = UINT64_MAX;
  /// Sets temp_file_limit, the total size of one session's files.
  void set_limit(std::uint64_t bytes) noexcept { limit_ = bytes; }
  /// Sets the same for the files of all sessions.
  void set_server_limit(std::uint64_t bytes) noexcept {
    folder_->limit.store(bytes, std::memory_order_relaxed);
  }
  /// Returns the total size of the files of all sessions.
  [[nodiscard]] std::uint64_t server_bytes() const noexcept {
    return folder_->used.load(std::memory_order_relaxed);
  }

 private:
  struct Folder {
    FileSystem& files;
    std::filesystem::path path;
    std::atomic<std::uint64_t> next{0};
    std::atomic<std::uint64_t> used{0};
    std::atomic<std::uint64_t> limit{kNoLimit};
  };
  TemporaryFiles(std::shared_ptr<Folder> folder, SessionUsage* usage) noexcept
      : folder_(std::move(folder)), usage_(usage) {}
  Result<> empty_folder();
  void grow(std::uint64_t bytes);
  void shrink(std::uint64_t bytes) noexcept;

  std::shared_ptr<Folder> folder_;
  SessionUsage* usage_ = nullptr;
  std::uint64_t used_ = 0;
  std::uint64_t limit_ = kNoLimit;
  friend class TemporaryFile;
};

/// Limits of a plan node that needs much memory: the memory, and files for the rest (null: memory
/// only).
struct WorkSpace {
  std::size_t memory_bytes = SIZE_MAX;
  TemporaryFiles* files = nullptr;
};

}  // namespace swizzle::sql
