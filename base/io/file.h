#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace swizzle {

enum class OpenMode { read_only, read_write, create_new, open_or_create };

struct FileOptions {
  /// O_DIRECT: offsets, lengths and memory are multiples of File::kDirectAlignment.
  bool direct = false;
  /// O_DSYNC: a finished write is durable.
  bool dsync = false;
};

/// One asynchronous read, write or sync. The owner keeps it, and its memory, alive until `done` has
/// been called. `done` runs on the thread that reaps the completion, possibly inside submit(); it
/// must be short, must not park, and sees `error` (an errno, 0 for success; a short transfer has
/// been retried and counts as EIO if the file ends before it). Concurrent requests are not ordered:
/// a sync covers the writes that were done before it was submitted.
struct IoRequest {
  enum class Kind : std::uint8_t { read, write, sync };

  Kind kind = Kind::read;
  std::uint64_t offset = 0;
  std::byte* data = nullptr;
  std::size_t size = 0;
  void (*done)(IoRequest& request) noexcept = nullptr;
  void* context = nullptr;
  int error = 0;

  // Used by the device while the request is under way.
  int descriptor = -1;
  std::size_t transferred = 0;
  IoRequest* next = nullptr;
};

/// An open file. Thread-safe; transfers are positional and whole: all bytes or an error.
/// SQLSTATE of failures: 53100 when the device is full, 58030 otherwise; the message names the
/// file.
class File {
 public:
  static constexpr std::size_t kDirectAlignment = 512;

  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  virtual ~File() = default;

  /// Starts all requests; returns without waiting. Cannot fail itself: each request reports.
  virtual void submit(std::span<IoRequest* const> requests) noexcept = 0;

  virtual Result<std::uint64_t> size() = 0;
  /// Makes [offset, offset + length) writable without ENOSPC; the file grows to cover it.
  virtual Result<> allocate(std::uint64_t offset, std::uint64_t length) = 0;
  virtual Result<> truncate(std::uint64_t size) = 0;
  [[nodiscard]] virtual const std::filesystem::path& path() const noexcept = 0;

  /// These park the caller until the transfer is done (R-1: no latch held).
  Result<> read_at(std::uint64_t offset, MutableBytes into);
  Result<> write_at(std::uint64_t offset, Bytes from);
  /// Everything written before is durable on return. Callers that have promised durability must
  /// treat EIO as fatal: a second sync that succeeds proves nothing.
  Result<> sync();
  /// Submits all requests together and parks until every one is done; uses their `done` and
  /// `context`. Each reports its own error.
  void transfer_all(std::span<IoRequest> requests) noexcept;

  /// The Error for an IoRequest of this file that failed.
  [[nodiscard]] Error failure(const IoRequest& request) const;

 protected:
  /// Does the request at once if that is the cheapest way for the caller to wait for it.
  virtual bool transfer_here(IoRequest& /*request*/) noexcept { return false; }

 private:
  Result<> transfer(IoRequest& request);
};

class ScratchMemory;

/// Held by one process at a time; released when destroyed or when the process ends.
class FileLock {
 public:
  FileLock() = default;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  virtual ~FileLock() = default;
};

/// Interface to all files: the operating system's, or the simulated disk.
class FileSystem {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<File>> open(const std::filesystem::path& path, OpenMode mode,
                                             FileOptions options) = 0;
  /// Removes a file, or an empty directory.
  virtual Result<> remove(const std::filesystem::path& path) = 0;
  /// Atomic. Durable only after sync_directory of the parent.
  virtual Result<> rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  /// Names, not paths; sorted.
  virtual Result<std::vector<std::string>> list(const std::filesystem::path& directory) = 0;
  virtual Result<bool> exists(const std::filesystem::path& path) = 0;
  virtual Result<> create_directory(const std::filesystem::path& path) = 0;
  virtual Result<> sync_directory(const std::filesystem::path& path) = 0;
  /// Locks `path`, a file used for nothing else, which is made if absent and holds the owner's
  /// process id. 55006 with that id when another process, or another FileLock of this one, has it.
  virtual Result<std::unique_ptr<FileLock>> lock(const std::filesystem::path& path) = 0;
  /// Memory with a nameless file of `directory` behind it. 53100 when there is no room for it.
  virtual Result<std::unique_ptr<ScratchMemory>> scratch(const std::filesystem::path& directory,
                                                         std::size_t bytes) = 0;
};

}  // namespace swizzle
