#pragma once

#include <memory>

#include "base/io/file.h"
#include "base/io/io_backend.h"

namespace swizzle {

/// Files of the operating system. Thread-safe. A fiber's transfers go through its reactor's
/// io_uring; a plain thread that waits for one transfer makes the system call itself; all others go
/// through a backend of this object, which must outlive its files.
class PosixFileSystem final : public FileSystem {
 public:
  explicit PosixFileSystem(IoEngine engine = IoEngine::automatic);

  Result<std::unique_ptr<File>> open(const std::filesystem::path& path, OpenMode mode,
                                     FileOptions options) override;
  Result<> remove(const std::filesystem::path& path) override;
  Result<> rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
  Result<std::vector<std::string>> list(const std::filesystem::path& directory) override;
  Result<bool> exists(const std::filesystem::path& path) override;
  Result<> create_directory(const std::filesystem::path& path) override;
  Result<> sync_directory(const std::filesystem::path& path) override;
  Result<std::unique_ptr<FileLock>> lock(const std::filesystem::path& path) override;
  Result<std::unique_ptr<ScratchMemory>> scratch(const std::filesystem::path& directory,
                                                 std::size_t bytes) override;

  /// Returns "io_uring" or "threads".
  [[nodiscard]] std::string_view engine_name() const noexcept { return backend_->name(); }

 private:
  std::unique_ptr<IoBackend> backend_;
};

/// Returns the Error of a failed call on `path`: 53100 for a full device, 58P01 and 58P02 if a file
/// is missing or exists, else 58030. `what` reads "could not …".
Error file_error(std::string_view what, const std::filesystem::path& path, int error);

}  // namespace swizzle
