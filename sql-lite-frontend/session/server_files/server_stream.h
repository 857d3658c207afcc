#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string_view>

#include "base/bytes.h"
#include "sql-lite-frontend/session/server_files/file_descriptor.h"
#include "sql-lite-frontend/statement/statement_context.h"

namespace swizzle::sql {

/// Result of a call of the operating system: its errno if it has failed.
template <class T>
using SystemResult = std::expected<T, int>;

std::filesystem::path data_directory(const StatementContext& session);
/// Returns a file's path as PostgreSQL means it: a relative one begins at the data directory.
std::filesystem::path server_path(const StatementContext& session, std::string_view name);

/// An open file or FIFO of the server's machine, or an end of a pipe. No transfer keeps a reactor:
/// those of files run on helper threads, those of pipes are tried until they need not wait. A
/// cancel ends the waits, as an SqlError.
class ServerStream {
 public:
  /// Takes an end of a pipe that does not block.
  ServerStream(StatementContext& session, FileDescriptor pipe)
      : session_(&session), descriptor_(std::move(pipe)), is_polled_(true) {}

  static SystemResult<ServerStream> open_to_read(StatementContext& session,
                                                 const std::filesystem::path& path);
  /// Empties the file, or creates it; only its owner may write a new one.
  static SystemResult<ServerStream> open_to_write(StatementContext& session,
                                                  const std::filesystem::path& path);

  /// Returns the number of bytes read; 0 at the end.
  SystemResult<std::size_t> read(MutableBytes into);
  /// Writes all of it. EPIPE: the pipe's reader is gone.
  SystemResult<void> write(Bytes from);
  /// Sets the place of the next transfer; a negative one is counted from the end.
  SystemResult<void> seek(std::int64_t place);
  /// Fails if the file system has failed to write.
  SystemResult<void> close();

  [[nodiscard]] bool is_directory() const noexcept { return S_ISDIR(status_.st_mode); }
  /// Returns the size that a regular file had when it was opened; 0 for others.
  [[nodiscard]] std::uint64_t size() const noexcept {
    return S_ISREG(status_.st_mode) ? static_cast<std::uint64_t>(status_.st_size) : 0;
  }

 private:
  static SystemResult<ServerStream> open(StatementContext& session,
                                         const std::filesystem::path& path, bool to_write);
  /// Waits until a pipe can be read or written, its other end is gone or it has failed.
  void await(short events);

  StatementContext* session_;
  FileDescriptor descriptor_;
  bool is_polled_;  ///< a pipe or a device without blocks
  struct stat status_{};
};

/// Waits a while for something that is not announced, longer each time. Throws if the session's
/// statement is cancelled.
class PatientWait {
 public:
  explicit PatientWait(StatementContext& session) : session_(session) {}
  void rest();

 private:
  static constexpr Duration kLongest = std::chrono::milliseconds{10};
  StatementContext& session_;
  Duration next_ = std::chrono::microseconds{100};
};

}  // namespace swizzle::sql
