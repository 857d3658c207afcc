#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "sql-lite-frontend/session/server_files/server_stream.h"

namespace swizzle::sql {

/// A command that the server runs in a shell, with a pipe to its input or from its output. It works
/// in the data directory, in a process group of its own. A command that has not ended by itself is
/// ended by SIGTERM, and by SIGKILL what is left of its group after a while. It is reaped in any
/// case.
class ServerProgram {
 public:
  enum class Pipe : std::uint8_t { to_input, from_output };

  static SystemResult<ServerProgram> start(StatementContext& session, const std::string& command,
                                           Pipe pipe);
  ServerProgram(ServerProgram&& other) noexcept
      : session_(other.session_),
        stream_(std::move(other.stream_)),
        process_(std::exchange(other.process_, 0)) {}
  ServerProgram& operator=(ServerProgram&&) = delete;
  ~ServerProgram();

  [[nodiscard]] ServerStream& stream() noexcept { return stream_; }
  /// Closes the pipe and waits until the program has ended; returns its status as waitpid() does.
  SystemResult<int> finish();

 private:
  ServerProgram(StatementContext& session, ServerStream stream, pid_t process)
      : session_(&session), stream_(std::move(stream)), process_(process) {}

  StatementContext* session_;
  ServerStream stream_;
  pid_t process_;  ///< 0: it was reaped
};

}  // namespace swizzle::sql
