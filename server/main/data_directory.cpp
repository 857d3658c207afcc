#include "server/main/data_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>

#include "base/runtime/runtime.h"
#include "server/main/text_file.h"
#include "server/session/descriptor.h"

namespace swizzle::server {

Result<> make_private_directory(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), S_IRWXU) == 0) return {};
  std::error_code error;
  if (errno == EEXIST && std::filesystem::is_directory(path, error) &&
      std::filesystem::is_empty(path, error)) {
    // Take over an empty directory of another user, and restrict it to us.
    std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
    if (!error) return {};
  }
  if (errno == EEXIST) {
    return fail(sqlstate::duplicate_file,
                fmt::format("directory \"{}\" exists but is not empty", path.string()));
  }
  return fail(sqlstate::io_error, fmt::format("could not create directory \"{}\": {}",
                                              path.string(), std::strerror(errno)));
}

bool DataDirectory::is_initialized() const {
  std::error_code ignored;
  return std::filesystem::exists(settings_file(), ignored);
}

Result<> DataDirectory::check_usable() const {
  struct stat status{};
  if (::stat(path_.c_str(), &status) != 0 || !is_initialized()) {
    return fail(Error{sqlstate::object_not_in_prerequisite_state,
                      fmt::format("\"{}\" is not a data directory", path_.string())}
                    .with_hint(fmt::format("swizzled init -D {} makes one.", path_.string())));
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return fail(Error{sqlstate::object_not_in_prerequisite_state,
                      fmt::format("data directory \"{}\" is open to others", path_.string())}
                    .with_hint("Its permissions should be u=rwx (0700)."));
  }
  return {};
}

namespace {

std::optional<RunningServer> parse_pid_file(const std::string& text) {
  std::istringstream lines{text};
  RunningServer server;
  std::string process;
  std::string ignored;
  std::getline(lines, process);
  std::getline(lines, ignored);  // the data directory
  std::getline(lines, ignored);  // the time of its start
  std::getline(lines, server.port);
  std::getline(lines, server.socket_directory);
  std::getline(lines, server.address);
  const auto [end, error] =
      std::from_chars(process.data(), process.data() + process.size(), server.process);
  if (error != std::errc{} || server.process <= 0) return std::nullopt;
  return server;
}

Error pid_file_error(std::string_view what, const std::filesystem::path& path) {
  return Error{sqlstate::io_error, fmt::format("could not {} lock file \"{}\": {}", what,
                                               path.string(), std::strerror(errno))};
}

}  // namespace

Result<std::optional<RunningServer>> find_running(const DataDirectory& directory) {
  const std::string path = directory.pid_file().string();
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file.is_open()) {
    if (errno == ENOENT) return std::optional<RunningServer>{};
    return fail(pid_file_error("open", path));
  }
  // A running server holds the lock, so acquiring it means that none is running.
  if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0) return std::optional<RunningServer>{};
  ASSIGN_OR_RETURN(const std::string text, read_text_file(path));
  auto server = parse_pid_file(text);
  if (!server) {
    return fail(sqlstate::object_in_use,
                fmt::format("lock file \"{}\" is held, but does not say by whom", path));
  }
  return server;
}

Result<std::unique_ptr<PidFile>> PidFile::take(const DataDirectory& directory,
                                               const RunningServer& self) {
  const std::string path = directory.pid_file().string();
  Descriptor file{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (!file.is_open()) return fail(pid_file_error("open", path));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    const auto other = read_text_file(path);
    const auto holder = other ? parse_pid_file(*other) : std::nullopt;
    return fail(
        sqlstate::object_in_use,
        holder ? fmt::format("lock file \"{}\" is held: is another server (PID {}) running in data "
                             "directory \"{}\"?",
                             path, holder->process, directory.path().string())
               : fmt::format("lock file \"{}\" is held by another process", path));
  }
  constexpr std::int64_t kMicrosPerSecond = 1'000'000;
  // Tools that look for PostgreSQL's postmaster compare the time with the process's own.
  const std::int64_t now = Runtime::current().wall_clock_us() / kMicrosPerSecond;
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", self.process, directory.path().string(), now,
                  self.port, self.socket_directory, self.address);
  if (::ftruncate(file.get(), 0) != 0 ||
      ::pwrite(file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return fail(pid_file_error("write", path));
  }
  return std::unique_ptr<PidFile>{new PidFile{path, std::move(file)}};
}

PidFile::~PidFile() {
  ::unlink(path_.c_str());
}

}  // namespace swizzle::server
