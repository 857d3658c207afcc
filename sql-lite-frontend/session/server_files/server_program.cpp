#include "sql-lite-frontend/session/server_files/server_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/runtime/helper_threads.h"
#include "sql-lite-frontend/session/server_files/file_descriptor.h"

namespace swizzle::sql {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds{10};
constexpr auto kTimeToEnd = std::chrono::seconds{2};
/// Wanted size of a pipe: a program and its session rest for up to ten milliseconds.
constexpr int kPipeBytes = 256 << 10;

/// A process to be reaped. Its destructor waits for it, so a helper thread destroys it.
class Leaving {
 public:
  explicit Leaving(pid_t process) noexcept : process_(process) {}
  Leaving(Leaving&& other) noexcept : process_(std::exchange(other.process_, 0)) {}
  Leaving& operator=(Leaving&&) = delete;
  ~Leaving() {
    if (process_ == 0) return;
    for (auto waited = std::chrono::milliseconds{0}; waited < kTimeToEnd && !has_ended();
         waited += kBetweenLooks) {
      std::this_thread::sleep_for(kBetweenLooks);
    }
    // Before the process is reaped: until then the group's number is not given to another one.
    ::kill(-process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

 private:
  [[nodiscard]] bool has_ended() const noexcept {
    siginfo_t end{};
    const int failed =
        ::waitid(P_PID, static_cast<id_t>(process_), &end, WEXITED | WNOHANG | WNOWAIT);
    return failed != 0 || end.si_pid != 0;
  }

  pid_t process_;
};

/// Attributes and actions of posix_spawn().
class Spawning {
 public:
  Spawning() {
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_init(&actions);
  }
  Spawning(const Spawning&) = delete;
  Spawning& operator=(const Spawning&) = delete;
  ~Spawning() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }

  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_t actions{};
};

/// Starts the shell; returns an errno. The program gets `end` as its descriptor `number`, and of
/// the server's others only the one for errors.
int spawn_shell(std::string command, const std::filesystem::path& home, int end, int number,
                pid_t& process) {
  Spawning spawning;
  sigset_t all;
  sigset_t none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setflags(&spawning.attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&spawning.attributes, 0);
  posix_spawnattr_setsigdefault(&spawning.attributes, &all);
  posix_spawnattr_setsigmask(&spawning.attributes, &none);
  const int other = number == STDIN_FILENO ? STDOUT_FILENO : STDIN_FILENO;
  const int other_mode = other == STDIN_FILENO ? O_RDONLY : O_WRONLY;
  constexpr int kFirstOther = STDERR_FILENO + 1;
  if (int error = posix_spawn_file_actions_adddup2(&spawning.actions, end, number)) return error;
  if (int error =
          posix_spawn_file_actions_addopen(&spawning.actions, other, "/dev/null", other_mode, 0)) {
    return error;
  }
  if (int error = posix_spawn_file_actions_addchdir_np(&spawning.actions, home.c_str()))
    return error;
  if (int error = posix_spawn_file_actions_addclosefrom_np(&spawning.actions, kFirstOther))
    return error;
  std::string shell = "/bin/sh";
  std::string option = "-c";
  const std::array<char*, 4> arguments{shell.data(), option.data(), command.data(), nullptr};
  return posix_spawn(&process, shell.c_str(), &spawning.actions, &spawning.attributes,
                     arguments.data(), environ);
}

/// Ends a program that has not ended by itself. Does not wait for its end.
[[gnu::noinline]] void end_and_reap(pid_t process) noexcept {
  ::kill(-process, SIGTERM);
  HelperThreads::of_the_process().destroy(Leaving{process});
}

}  // namespace

SystemResult<ServerProgram> ServerProgram::start(StatementContext& session,
                                                 const std::string& command, Pipe pipe) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected{errno};
  const bool to_input = pipe == Pipe::to_input;
  FileDescriptor ours{to_input ? ends[1] : ends[0]};
  FileDescriptor theirs{to_input ? ends[0] : ends[1]};
  if (::fcntl(ours.get(), F_SETFL, O_NONBLOCK) != 0) return std::unexpected{errno};
  // The system may refuse it to a user with many pipes.
  static_cast<void>(::fcntl(ours.get(), F_SETPIPE_SZ, kPipeBytes));
  pid_t process = 0;
  int error = 0;
  Runtime::current().run_aside([&] {
    error = spawn_shell(command, data_directory(session), theirs.get(),
                        to_input ? STDIN_FILENO : STDOUT_FILENO, process);
  });
  if (error != 0) return std::unexpected{error};
  return ServerProgram{session, ServerStream{session, std::move(ours)}, process};
}

SystemResult<int> ServerProgram::finish() {
  static_cast<void>(stream_.close());
  int status = 0;
  for (PatientWait wait{*session_};; wait.rest()) {
    const pid_t ended = ::waitpid(process_, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) continue;
    process_ = 0;
    if (ended < 0) return std::unexpected{errno};
    return status;
  }
}

ServerProgram::~ServerProgram() {
  if (process_ != 0) end_and_reap(process_);
}

}  // namespace swizzle::sql
