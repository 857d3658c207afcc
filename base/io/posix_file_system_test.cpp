#include "base/io/posix_file_system.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/memory/scratch_memory.h"
#include "base/memory/swapped_out.h"
#include "base/random.h"
#include "base/runtime/runtime.h"

using namespace swizzle;
namespace fs = std::filesystem;

namespace {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (fs::temp_directory_path() / "swizzle-base-XXXXXX").native();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path operator/(const char* name) const { return path_ / name; }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

constexpr std::size_t kPage = 4096;
struct alignas(kPage) Page {
  std::array<std::byte, kPage> bytes{};
};

Page page_of(unsigned char fill) {
  Page page;
  page.bytes.fill(std::byte{fill});
  return page;
}

}  // namespace

TEST_CASE("pages written together are read back together", "[file]") {
  const auto engine = GENERATE(IoEngine::io_uring, IoEngine::threads);
  PosixFileSystem files{engine};
  CAPTURE(files.engine_name());
  TemporaryDirectory directory;
  auto file = files.open(directory / "data", OpenMode::create_new, {.direct = true}).value();
  // More than a ring has entries, so that some requests wait for others.
  constexpr std::size_t kPages = 600;
  std::vector<Page> pages(kPages);
  std::vector<IoRequest> requests(kPages);
  for (std::size_t i = 0; i < kPages; ++i) {
    pages[i] = page_of(static_cast<unsigned char>(i % 251));
    requests[i].kind = IoRequest::Kind::write;
    requests[i].offset = i * kPage;
    requests[i].data = pages[i].bytes.data();
    requests[i].size = kPage;
  }
  file->transfer_all(requests);
  REQUIRE(file->sync());
  REQUIRE(file->size().value() == kPages * kPage);
  for (auto& page : pages) page = page_of(255);
  for (auto& request : requests) request.kind = IoRequest::Kind::read;
  file->transfer_all(requests);
  for (std::size_t i = 0; i < kPages; ++i) {
    REQUIRE(requests[i].error == 0);
    REQUIRE(pages[i].bytes == page_of(static_cast<unsigned char>(i % 251)).bytes);
  }
}

TEST_CASE("a read past the end is an error that names the file", "[file]") {
  const auto engine = GENERATE(IoEngine::io_uring, IoEngine::threads);
  PosixFileSystem files{engine};
  TemporaryDirectory directory;
  auto file = files.open(directory / "short", OpenMode::create_new, {}).value();
  const std::string text = "twelve bytes";
  REQUIRE(file->write_at(0, as_bytes(text)));
  std::array<std::byte, 64> room{};
  const auto read = file->read_at(0, room);
  REQUIRE_FALSE(read);
  REQUIRE(read.error().state() == sqlstate::io_error);
  REQUIRE(read.error().message().find("short") != std::string::npos);

  IoRequest request;
  request.data = room.data();
  request.size = room.size();
  file->transfer_all({&request, 1});
  REQUIRE(request.error == EIO);
  request.size = text.size();
  file->transfer_all({&request, 1});
  REQUIRE(request.error == 0);
  REQUIRE(as_text(Bytes{room}.first(text.size())) == text);
  request.kind = IoRequest::Kind::sync;
  file->transfer_all({&request, 1});
  REQUIRE(request.error == 0);
}

TEST_CASE("a full device is 53100", "[file]") {
  if (access("/dev/full", W_OK) != 0) return;
  PosixFileSystem files;
  auto file = files.open("/dev/full", OpenMode::read_write, {}).value();
  const auto written = file->write_at(0, as_bytes("x"));
  REQUIRE(written.error().state() == sqlstate::disk_full);
}

TEST_CASE("open modes, rename, remove and list", "[file]") {
  PosixFileSystem files;
  TemporaryDirectory directory;
  REQUIRE(files.open(directory / "a", OpenMode::read_write, {}).error().state() ==
          sqlstate::undefined_file);
  REQUIRE(files.open(directory / "a", OpenMode::create_new, {}));
  REQUIRE(files.open(directory / "a", OpenMode::create_new, {}).error().state() ==
          sqlstate::duplicate_file);
  auto file = files.open(directory / "a", OpenMode::open_or_create, {.dsync = true}).value();
  REQUIRE(file->allocate(0, 100'000));
  REQUIRE(file->size().value() == 100'000);
  REQUIRE(file->truncate(10));
  REQUIRE(file->size().value() == 10);
  REQUIRE(files.open(directory / "b", OpenMode::open_or_create, {}));
  REQUIRE(files.list(directory.path()).value() == std::vector<std::string>{"a", "b"});
  REQUIRE(files.rename(directory / "a", directory / "c"));
  REQUIRE(files.sync_directory(directory.path()));
  REQUIRE_FALSE(files.exists(directory / "a").value());
  REQUIRE(files.exists(directory / "c").value());
  REQUIRE(files.remove(directory / "b"));
  REQUIRE(files.remove(directory / "b").error().state() == sqlstate::undefined_file);
  REQUIRE(files.create_directory(directory / "d"));
  REQUIRE(files.create_directory(directory / "d").error().state() == sqlstate::duplicate_file);
  REQUIRE(files.list(directory.path()).value() == std::vector<std::string>{"c", "d"});
  REQUIRE_FALSE(files.list(directory / "nowhere"));
}

TEST_CASE("a lock is held once and names its holder", "[file]") {
  PosixFileSystem files;
  TemporaryDirectory directory;
  const fs::path path = directory / "lock";
  auto held = files.lock(path);
  REQUIRE(held);
  const auto second = files.lock(path);
  REQUIRE(second.error().state() == sqlstate::object_in_use);
  REQUIRE(second.error().message().find(std::to_string(getpid())) != std::string::npos);
  held->reset();
  REQUIRE(files.lock(path));

  auto data = files.open(directory / "data", OpenMode::create_new, {}).value();
  REQUIRE(data->write_at(0, as_bytes("not a process id")));
  REQUIRE_FALSE(files.lock(directory / "data"));
}

namespace {

/// Counts the calls that are handed to a helper thread; runs them directly.
class Noting final : public Runtime {
 public:
  Parker& parker() noexcept override { return beside_.parker(); }
  std::unique_ptr<Task> spawn(std::string name, std::function<void()> body) override {
    return beside_.spawn(std::move(name), std::move(body));
  }
  TimePoint now() noexcept override { return beside_.now(); }
  std::int64_t wall_clock_us() noexcept override { return beside_.wall_clock_us(); }
  std::uint64_t random() noexcept override { return beside_.random(); }
  void yield() noexcept override { beside_.yield(); }
  void relax() noexcept override { beside_.relax(); }
  void run_aside(const std::function<void()>& work) override {
    ++aside;
    work();
  }
  int aside = 0;

 private:
  Runtime& beside_ = Runtime::current();
};

}  // namespace

// A slow device cannot be had in a test; but the hand-over of its calls to a helper can be counted.
TEST_CASE("what changes names and sizes is done aside", "[file]") {
  PosixFileSystem files;
  const TemporaryDirectory directory;
  Noting runtime;
  const RuntimeScope scope{runtime};
  const auto is_aside = [&](const auto& operation) {
    const int before = runtime.aside;
    REQUIRE(operation());
    return runtime.aside > before;
  };
  auto file = files.open(directory / "a", OpenMode::create_new, {}).value();
  CHECK(runtime.aside == 1);
  CHECK(is_aside([&] { return file->allocate(0, 1 << 20); }));
  CHECK(is_aside([&] { return file->truncate(kPage); }));
  CHECK(is_aside([&] { return files.rename(directory / "a", directory / "b"); }));
  CHECK(is_aside([&] { return files.sync_directory(directory.path()); }));
  CHECK(is_aside([&] { return files.create_directory(directory / "c"); }));
  CHECK(is_aside([&] { return files.remove(directory / "b"); }));
  CHECK(is_aside([&] { return files.scratch(directory.path(), 1 << 20); }));
}

namespace {

/// Returns the number of this process's descriptors of a file that has been unlinked.
std::ptrdiff_t open_without_name(const fs::path& path) {
  const std::string gone = path.string() + " (deleted)";
  return std::ranges::count_if(fs::directory_iterator{"/proc/self/fd"}, [&](const auto& entry) {
    std::error_code error;
    return fs::read_symlink(entry.path(), error).string() == gone;
  });
}

}  // namespace

TEST_CASE("what an error removes loses its name at once and its room soon", "[file]") {
  PosixFileSystem files;
  const TemporaryDirectory directory;
  const fs::path path = directory / "large";
  {
    auto file = files.open(path, OpenMode::create_new, {}).value();
    REQUIRE(file->allocate(0, 64 << 20));
  }
  const auto before = std::chrono::steady_clock::now();
  try {
    throw std::runtime_error{"it did not fit"};
  } catch (const std::runtime_error&) {
    REQUIRE(files.remove(path));
    REQUIRE_FALSE(files.exists(path).value());
  }
  while (open_without_name(path) > 0) {
    REQUIRE(std::chrono::steady_clock::now() - before < std::chrono::seconds{30});
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

TEST_CASE("what of a scratch file is put away is known until it is brought back, or goes",
          "[file]") {
  constexpr std::size_t kWindow = swapped_out::kWindowBytes;
  PosixFileSystem files;
  const TemporaryDirectory directory;
  REQUIRE_FALSE(swapped_out::any());
  auto large = files.scratch(directory.path(), 2 * kWindow + 1).value();
  auto small = files.scratch(directory.path(), kWindow / 2).value();
  const MutableBytes bytes = large->bytes();
  REQUIRE(bytes.size() == 3 * kWindow);
  std::ranges::fill(bytes, std::byte{7});
  const std::byte* const middle = bytes.data() + kWindow + 5;
  CHECK_FALSE(swapped_out::has(middle));
  large->write_back();
  large->swap_out();
  small->swap_out();
  // Small pieces share a window, so nothing is known of a single one.
  CHECK_FALSE(swapped_out::has(small->bytes().data()));
  CHECK(swapped_out::has(bytes.data()));
  CHECK(swapped_out::has(bytes.data() + bytes.size() - 1));
  CHECK(swapped_out::has(middle));
  swapped_out::page_in(middle);
  CHECK_FALSE(swapped_out::has(middle));
  CHECK(swapped_out::has(middle - kWindow));
  CHECK(swapped_out::has(middle + kWindow));
  CHECK(*middle == std::byte{7});
  large->page_in();
  CHECK_FALSE(swapped_out::any());
  large->swap_out();
  CHECK(swapped_out::any());
  large.reset();
  const auto before = std::chrono::steady_clock::now();
  while (swapped_out::any()) {
    REQUIRE(std::chrono::steady_clock::now() - before < std::chrono::seconds{30});
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}
