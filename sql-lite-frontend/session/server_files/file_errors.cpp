#include "sql-lite-frontend/session/server_files/file_errors.h"

#include <fmt/format.h>
#include <string.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace swizzle::sql {

SqlState state_of_file_error(int error) noexcept {
  switch (error) {
    case EPERM:
    case EACCES:
    case EROFS:
      return sqlstate::insufficient_privilege;
    case ENOENT:
      return sqlstate::undefined_file;
    case EEXIST:
      return sqlstate::duplicate_file;
    case ENOTDIR:
    case EISDIR:
    case ENOTEMPTY:
      return sqlstate::wrong_object_type;
    case ENOSPC:
      return sqlstate::disk_full;
    case ENOMEM:
      return sqlstate::out_of_memory;
    case ENFILE:
    case EMFILE:
      return SqlState{"53000"};
    case EIO:
      return sqlstate::io_error;
    case ENAMETOOLONG:
      return SqlState{"58P03"};
    default:
      return sqlstate::internal_error;
  }
}

SqlError file_error(int error, std::string_view message) {
  return sql_error(state_of_file_error(error), "{}: {}", message,
                   std::system_category().message(error));
}

std::string end_of_child(int status) {
  constexpr int kNotExecutable = 126;
  constexpr int kNotFound = 127;
  if (WIFEXITED(status)) {
    const int code = WEXITSTATUS(status);
    if (code == kNotExecutable) return "command not executable";
    if (code == kNotFound) return "command not found";
    return fmt::format("child process exited with exit code {}", code);
  }
  if (!WIFSIGNALED(status))
    return fmt::format("child process exited with unrecognized status {}", status);
  const int signal = WTERMSIG(status);
  const char* const name = ::sigdescr_np(signal);
  return fmt::format("child process was terminated by signal {}: {}", signal,
                     name != nullptr ? name : "unrecognized signal");
}

bool was_cut_off(int status) noexcept {
  // A shell adds the number of the signal.
  constexpr int kEndedBySignal = 128;
  return (WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE) ||
         (WIFEXITED(status) && WEXITSTATUS(status) == kEndedBySignal + SIGPIPE);
}

}  // namespace swizzle::sql
