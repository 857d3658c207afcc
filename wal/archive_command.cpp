#include "wal/archive_command.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace swizzle::wal {
namespace {

// Quotes a path for the shell, whatever characters it contains.
std::string shell_word(std::string_view word) {
  std::string result = "'";
  for (const char c : word) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

std::string expanded(std::string_view command, const std::filesystem::path& path,
                     std::string_view name) {
  std::string result;
  for (std::size_t at = 0; at < command.size(); ++at) {
    const char next = command[at] == '%' && at + 1 < command.size() ? command[at + 1] : '\0';
    if (next == 'p') {
      result += shell_word(path.native());
    } else if (next == 'f') {
      result += shell_word(name);
    } else if (next == '%') {
      result += '%';
    } else {
      result += command[at];
      continue;
    }
    ++at;
  }
  return result;
}

// Returns the exit code. Blocks the thread: the log's archiver has one of its own.
Result<int> run_shell(const std::string& command) {
  std::string shell = "/bin/sh";
  std::string option = "-c";
  std::string line = command;
  const std::array<char*, 4> arguments{shell.data(), option.data(), line.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, shell.c_str(), nullptr, nullptr, arguments.data(), environ);
  if (error != 0) {
    return fail(sqlstate::io_error, fmt::format("could not start \"{}\": {}", command,
                                                std::system_category().message(error)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return fail(sqlstate::io_error, fmt::format("could not wait for \"{}\": {}", command,
                                                  std::system_category().message(errno)));
    }
  }
  if (WIFSIGNALED(status)) {
    return fail(sqlstate::io_error,
                fmt::format("\"{}\" was ended by signal {}", command, WTERMSIG(status)));
  }
  return WEXITSTATUS(status);
}

}  // namespace

ArchiveSegment archive_by_command(std::string command) {
  return [command = std::move(command)](const std::filesystem::path& segment,
                                        const std::string& name) -> Result<> {
    const std::string line = expanded(command, segment, name);
    ASSIGN_OR_RETURN(const int code, run_shell(line));
    if (code == 0) return {};
    return fail(sqlstate::io_error, fmt::format("\"{}\" failed with exit code {}", line, code));
  };
}

RestoreSegment restore_by_command(std::string command) {
  return [command = std::move(command)](const std::string& name,
                                        const std::filesystem::path& target) -> Result<bool> {
    // Remove the file of an earlier try, which must not be taken for this one's.
    std::error_code ignored;
    std::filesystem::remove(target, ignored);
    ASSIGN_OR_RETURN(const int code, run_shell(expanded(command, target, name)));
    return code == 0 && std::filesystem::exists(target, ignored);
  };
}

}  // namespace swizzle::wal
