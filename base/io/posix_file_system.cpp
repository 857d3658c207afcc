#include "base/io/posix_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "base/io/io_transfer.h"
#include "base/io/scratch_file.h"
#include "base/runtime/helper_threads.h"
#include "base/runtime/park_rules.h"
#include "base/runtime/runtime.h"

namespace swizzle {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

// Repeats a call that a signal interrupted. Returns its result, or the negative errno.
template <class Call>
int retried(Call call) noexcept {
  for (;;) {
    const int result = call();
    if (result >= 0) return result;
    if (errno != EINTR) return -errno;
  }
}

// Runs a call on a helper thread. Changes of names and sizes wait for the file system's journal,
// and freeing a large file takes long; a reactor's other fibers must not wait for that.
template <class Call>
int aside(Call call) {
  int result = 0;
  try {
    Runtime::current().run_aside([&] { result = call(); });
  } catch (const std::bad_alloc&) {
    // No helper thread can be had, and some callers are destructors: call it here.
    result = call();
  }
  return result;
}

class PosixFile final : public File {
 public:
  PosixFile(Descriptor descriptor, std::filesystem::path path, IoBackend& shared) noexcept
      : descriptor_(std::move(descriptor)), path_(std::move(path)), shared_(shared) {}

  void submit(std::span<IoRequest* const> requests) noexcept override {
    IoBackend* own = Runtime::current().io_backend();
    (own != nullptr ? *own : shared_).submit(descriptor_.number(), requests);
  }

  Result<std::uint64_t> size() override {
    struct stat status{};
    if (fstat(descriptor_.number(), &status) != 0) return failed("could not stat", errno);
    return static_cast<std::uint64_t>(status.st_size);
  }

  Result<> allocate(std::uint64_t offset, std::uint64_t length) override {
    // posix_fallocate falls back to writing where the file system cannot reserve.
    const auto call = [&] {
      return -posix_fallocate(descriptor_.number(), static_cast<off_t>(offset),
                              static_cast<off_t>(length));
    };
    const int error = aside([&] {
      int outcome = call();
      while (outcome == -EINTR) outcome = call();
      return outcome;
    });
    if (error != 0) return failed("could not allocate space in", -error);
    return {};
  }

  Result<> truncate(std::uint64_t size) override {
    const int error = -aside([&] {
      return retried([&] { return ftruncate(descriptor_.number(), static_cast<off_t>(size)); });
    });
    if (error > 0) return failed("could not truncate", error);
    return {};
  }

  [[nodiscard]] const std::filesystem::path& path() const noexcept override { return path_; }

 protected:
  bool transfer_here(IoRequest& request) noexcept override {
    if (!Runtime::current().owns_its_thread()) return false;
    request.descriptor = descriptor_.number();
    transfer_blocking(request);
    return true;
  }

 private:
  [[nodiscard]] std::unexpected<Error> failed(std::string_view what, int error) const {
    return fail(file_error(what, path_, error));
  }

  Descriptor descriptor_;
  std::filesystem::path path_;
  IoBackend& shared_;
};

class PosixFileLock final : public FileLock {
 public:
  explicit PosixFileLock(Descriptor descriptor) noexcept : descriptor_(std::move(descriptor)) {}

 private:
  Descriptor descriptor_;
};

int open_flags(OpenMode mode, FileOptions options) noexcept {
  int flags = O_CLOEXEC | (options.direct ? O_DIRECT : 0) | (options.dsync ? O_DSYNC : 0);
  switch (mode) {
    case OpenMode::read_only:
      return flags | O_RDONLY;
    case OpenMode::read_write:
      return flags | O_RDWR;
    case OpenMode::create_new:
      return flags | O_RDWR | O_CREAT | O_EXCL;
    case OpenMode::open_or_create:
      return flags | O_RDWR | O_CREAT;
  }
  return flags;
}

// Returns a descriptor or the negative errno, retrying.
int open_retried(const std::filesystem::path& path, int flags) {
  constexpr mode_t kOwnerOnly = 0600;
  return aside([&] { return retried([&] { return ::open(path.c_str(), flags, kOwnerOnly); }); });
}

std::string content_of(int descriptor, std::size_t limit) {
  std::string content(limit, '\0');
  const auto bytes = pread(descriptor, content.data(), content.size(), 0);
  content.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return content;
}

bool is_process_id(std::string_view text) noexcept {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Error file_error(std::string_view what, const std::filesystem::path& path, int error) {
  std::string message =
      fmt::format("{} file \"{}\": {}", what, path.native(), std::system_category().message(error));
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return Error{sqlstate::disk_full, std::move(message)};
    case ENOENT:
      return Error{sqlstate::undefined_file, std::move(message)};
    case EEXIST:
      return Error{sqlstate::duplicate_file, std::move(message)};
    default:
      return Error{sqlstate::io_error, std::move(message)};
  }
}

PosixFileSystem::PosixFileSystem(IoEngine engine) : backend_(make_shared_backend(engine)) {}

Result<std::unique_ptr<File>> PosixFileSystem::open(const std::filesystem::path& path,
                                                    OpenMode mode, FileOptions options) {
  int number = open_retried(path, open_flags(mode, options));
  if (number == -EINVAL && options.direct) {
    spdlog::warn("file \"{}\": its file system has no direct I/O; the page cache is used",
                 path.native());
    options.direct = false;
    // The first try may have made the file before it was refused.
    if (mode == OpenMode::create_new) mode = OpenMode::open_or_create;
    number = open_retried(path, open_flags(mode, options));
  }
  if (number < 0) return fail(file_error("could not open", path, -number));
  return std::make_unique<PosixFile>(Descriptor{number}, path, *backend_);
}

Result<> PosixFileSystem::remove(const std::filesystem::path& path) {
  // A caller that may not wait, because an error is being handled, removes the name alone. A helper
  // thread closes the last descriptor later, which frees a large file's space.
  std::optional<Descriptor> last;
  if (!may_park()) last.emplace(open_retried(path, O_RDONLY | O_CLOEXEC));
  const int error = -aside([&] { return retried([&] { return ::remove(path.c_str()); }); });
  if (last && last->number() >= 0) HelperThreads::of_the_process().destroy(std::move(*last));
  if (error != 0) return fail(file_error("could not remove", path, error));
  return {};
}

Result<> PosixFileSystem::rename(const std::filesystem::path& from,
                                 const std::filesystem::path& to) {
  const int error =
      -aside([&] { return retried([&] { return ::rename(from.c_str(), to.c_str()); }); });
  if (error == 0) return {};
  return fail(file_error(fmt::format("could not rename \"{}\" to", from.native()), to, error));
}

Result<std::vector<std::string>> PosixFileSystem::list(const std::filesystem::path& directory) {
  std::error_code error;
  std::vector<std::string> names;
  auto entry = std::filesystem::directory_iterator{directory, error};
  for (; !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
    names.push_back(entry->path().filename().native());
  }
  if (error) return fail(file_error("could not list", directory, error.value()));
  std::ranges::sort(names);
  return names;
}

Result<bool> PosixFileSystem::exists(const std::filesystem::path& path) {
  std::error_code error;
  const bool found = std::filesystem::exists(path, error);
  if (error) return fail(file_error("could not stat", path, error.value()));
  return found;
}

Result<> PosixFileSystem::create_directory(const std::filesystem::path& path) {
  constexpr mode_t kOwnerOnly = 0700;
  const int error =
      -aside([&] { return retried([&] { return mkdir(path.c_str(), kOwnerOnly); }); });
  if (error != 0) return fail(file_error("could not create directory", path, error));
  return {};
}

Result<> PosixFileSystem::sync_directory(const std::filesystem::path& path) {
  const Descriptor directory{open_retried(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (directory.number() < 0) {
    return fail(file_error("could not open directory", path, -directory.number()));
  }
  const int error = -aside([&] { return retried([&] { return fsync(directory.number()); }); });
  if (error > 0) return fail(file_error("could not sync directory", path, error));
  return {};
}

Result<std::unique_ptr<FileLock>> PosixFileSystem::lock(const std::filesystem::path& path) {
  Descriptor file{open_retried(path, O_RDWR | O_CREAT | O_CLOEXEC)};
  if (file.number() < 0) return fail(file_error("could not open lock", path, -file.number()));

  constexpr std::size_t kLongestContent = 32;
  const std::string holder = content_of(file.number(), kLongestContent);
  if (!is_process_id(holder)) {
    return fail(sqlstate::object_not_in_prerequisite_state,
                fmt::format("file \"{}\" is not a lock file", path.native()));
  }
  // A lock of the open file description, not of the process: a second attempt from this process
  // conflicts too, and no other close() in this process releases it.
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  const int error = -retried([&] { return fcntl(file.number(), F_OFD_SETLK, &whole); });
  if (error == EAGAIN || error == EACCES) {
    return fail(sqlstate::object_in_use,
                fmt::format("lock file \"{}\" is held by process {}", path.native(),
                            holder.empty() ? "(unknown)" : holder.substr(0, holder.find('\n'))));
  }
  if (error > 0) return fail(file_error("could not lock", path, error));

  const std::string mine = fmt::format("{}\n", getpid());
  if (ftruncate(file.number(), 0) != 0 ||
      pwrite(file.number(), mine.data(), mine.size(), 0) != static_cast<ssize_t>(mine.size())) {
    return fail(file_error("could not write lock", path, errno));
  }
  return std::make_unique<PosixFileLock>(std::move(file));
}

Result<std::unique_ptr<ScratchMemory>> PosixFileSystem::scratch(
    const std::filesystem::path& directory, std::size_t bytes) {
  std::optional<Result<std::unique_ptr<ScratchMemory>>> made;
  Runtime::current().run_aside([&] { made.emplace(map_scratch_file(directory, bytes)); });
  return std::move(*made);
}

}  // namespace swizzle
