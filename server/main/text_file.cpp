#include "server/main/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "server/session/descriptor.h"

namespace swizzle::server {
namespace {

Error file_failure(std::string_view what, const std::string& path) {
  const SqlState state = errno == ENOENT ? sqlstate::undefined_file : sqlstate::io_error;
  return Error{state,
               fmt::format("could not {} file \"{}\": {}", what, path, std::strerror(errno))};
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!file.is_open()) return fail(file_failure("open", path));
  std::string text;
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got == 0) return text;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(file_failure("read", path));
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

Result<> write_text_file(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".new";
  const Descriptor file{
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR)};
  if (!file.is_open()) return fail(file_failure("create", temporary));
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(file_failure("write", temporary));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(file.get()) != 0) return fail(file_failure("sync", temporary));
  if (::rename(temporary.c_str(), path.c_str()) != 0)
    return fail(file_failure("rename", temporary));
  return {};
}

}  // namespace swizzle::server
