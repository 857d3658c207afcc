#include "sql-lite-frontend/session/server_files/server_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace swizzle::sql {
namespace {

using Path = std::filesystem::path;

/// Repeats a call that a signal has interrupted.
template <class Call>
SystemResult<std::invoke_result_t<Call>> system_call(const Call& call) {
  for (;;) {
    const auto result = call();
    if (result >= 0) return result;
    if (errno != EINTR) return std::unexpected{errno};
  }
}

/// The same on a helper thread.
template <class Call>
SystemResult<std::invoke_result_t<Call>> system_call_aside(const Call& call) {
  SystemResult<std::invoke_result_t<Call>> result{0};
  Runtime::current().run_aside([&] { result = system_call(call); });
  return result;
}

/// Keeps SIGPIPE from the calling thread: an embedder's process may not ignore it.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;
  ~WithoutPipeSignal() {
    // Take the signal that the write has left pending for this thread.
    constexpr timespec kNone{};
    while (sigtimedwait(&signal_, nullptr, &kNone) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t signal_{};
  sigset_t before_{};
};

SystemResult<FileDescriptor> opened(const Path& path, int flags, mode_t mode = 0) {
  // O_NONBLOCK: a FIFO's other end may never be opened.
  constexpr int kAlways = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const auto number = system_call([&] { return ::open(path.c_str(), flags | kAlways, mode); });
  if (!number) return std::unexpected{number.error()};
  return FileDescriptor{*number};
}

/// Opens a file to write. A new file gets the mode that PostgreSQL gives it, whatever the process's
/// umask.
SystemResult<FileDescriptor> opened_to_write(const Path& path) {
  constexpr mode_t kMode = 0644;
  auto created = opened(path, O_WRONLY | O_CREAT | O_EXCL, kMode);
  if (created) {
    if (::fchmod(created->get(), kMode) != 0) return std::unexpected{errno};
    return created;
  }
  if (created.error() != EEXIST) return created;
  return opened(path, O_WRONLY | O_CREAT | O_TRUNC, kMode);
}

}  // namespace

Path data_directory(const StatementContext& session) {
  // An embedder's database has no such setting.
  const Settings& settings = session.shared.settings;
  if (settings.find("data_directory") == nullptr) return session.shared.engine.directory();
  return settings.text("data_directory");
}

Path server_path(const StatementContext& session, std::string_view name) {
  const Path path{name};
  return path.is_absolute() || path.empty() ? path : data_directory(session) / path;
}

SystemResult<ServerStream> ServerStream::open(StatementContext& session, const Path& path,
                                              bool to_write) {
  ServerStream stream{session, FileDescriptor{}};
  SystemResult<FileDescriptor> file;
  bool lacks_reader = false;
  std::error_code ignored;
  for (PatientWait wait{session};; wait.rest()) {
    Runtime::current().run_aside([&] {
      file = to_write ? opened_to_write(path) : opened(path, O_RDONLY);
      lacks_reader =
          !file && file.error() == ENXIO && to_write && std::filesystem::is_fifo(path, ignored);
      if (file && ::fstat(file->get(), &stream.status_) != 0) file = std::unexpected{errno};
    });
    if (!lacks_reader) break;
  }
  if (!file) return std::unexpected{file.error()};
  stream.descriptor_ = std::move(*file);
  stream.is_polled_ = !S_ISREG(stream.status_.st_mode) && !S_ISDIR(stream.status_.st_mode) &&
                      !S_ISBLK(stream.status_.st_mode);
  return stream;
}

SystemResult<ServerStream> ServerStream::open_to_read(StatementContext& session, const Path& path) {
  return open(session, path, false);
}
SystemResult<ServerStream> ServerStream::open_to_write(StatementContext& session,
                                                       const Path& path) {
  return open(session, path, true);
}

SystemResult<std::size_t> ServerStream::read(MutableBytes into) {
  const auto call = [&] { return ::read(descriptor_.get(), into.data(), into.size()); };
  SystemResult<ssize_t> count{0};
  do {
    session_->check_cancelled();
    if (is_polled_) await(POLLIN);
    count = is_polled_ ? system_call(call) : system_call_aside(call);
  } while (!count && count.error() == EAGAIN);
  if (!count) return std::unexpected{count.error()};
  return static_cast<std::size_t>(*count);
}

SystemResult<void> ServerStream::write(Bytes from) {
  while (!from.empty()) {
    const auto call = [&] { return ::write(descriptor_.get(), from.data(), from.size()); };
    session_->check_cancelled();
    SystemResult<ssize_t> written{0};
    if (is_polled_) {
      await(POLLOUT);
      const WithoutPipeSignal scope;
      written = system_call(call);
    } else {
      written = system_call_aside(call);
    }
    if (!written && written.error() == EAGAIN) continue;
    if (!written) return std::unexpected{written.error()};
    from = from.subspan(static_cast<std::size_t>(*written));
  }
  return {};
}

SystemResult<void> ServerStream::seek(std::int64_t place) {
  const int whence = place < 0 ? SEEK_END : SEEK_SET;
  const auto moved = system_call([&] { return ::lseek(descriptor_.get(), place, whence); });
  if (!moved) return std::unexpected{moved.error()};
  return {};
}

SystemResult<void> ServerStream::close() {
  const int number = descriptor_.release();
  if (number < 0) return {};
  // The descriptor is closed even if the call fails or is interrupted.
  int error = 0;
  Runtime::current().run_aside([&] { error = ::close(number) == 0 ? 0 : errno; });
  if (error == 0 || error == EINTR) return {};
  return std::unexpected{error};
}

void ServerStream::await(short events) {
  for (PatientWait wait{*session_};; wait.rest()) {
    pollfd one{descriptor_.get(), events, 0};
    // A FIFO that no writer has opened yet gives no event; a failed call fails in the transfer.
    if (::poll(&one, 1, 0) != 0) return;
  }
}

void PatientWait::rest() {
  session_.check_cancelled();
  Runtime& runtime = Runtime::current();
  runtime.sleep_until(runtime.now() + next_);
  next_ = std::min(2 * next_, kLongest);
}

}  // namespace swizzle::sql
