// The simulated disk behaves as the operating system's file system: the same random calls on both
// give the same answers.

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/io/posix_file_system.h"
#include "base/random.h"
#include "base/simulation/simulated_disk.h"

using namespace swizzle;
namespace fs = std::filesystem;

namespace {

// One of the two file systems. Answers are texts, so that they can be compared.
class World {
 public:
  World(FileSystem& files, fs::path root) : files_(files), root_(std::move(root)) {}

  std::string open(const std::string& name, OpenMode mode) {
    auto file = files_.open(root_ / name, mode, {});
    if (!file) return state(file.error());
    open_[name] = std::move(*file);
    return "opened";
  }
  std::string write(const std::string& name, std::uint64_t offset, const std::string& text) {
    return with(name, [&](File& file) { return answer(file.write_at(offset, as_bytes(text))); });
  }
  std::string read(const std::string& name, std::uint64_t offset, std::size_t size) {
    return with(name, [&](File& file) {
      std::vector<std::byte> room(size);
      const auto result = file.read_at(offset, room);
      return result ? std::string{as_text(room)} : state(result.error());
    });
  }
  std::string resize(const std::string& name, std::uint64_t size, bool truncate) {
    return with(name, [&](File& file) {
      return answer(truncate ? file.truncate(size) : file.allocate(size / 2, size));
    });
  }
  std::string size(const std::string& name) {
    return with(name, [&](File& file) { return fmt::format("{}", file.size().value()); });
  }
  std::string sync(const std::string& name) {
    return with(name, [&](File& file) { return answer(file.sync()); });
  }
  void close(const std::string& name) { open_.erase(name); }
  std::string rename(const std::string& from, const std::string& to) {
    return answer(files_.rename(root_ / from, root_ / to));
  }
  std::string remove(const std::string& name) { return answer(files_.remove(root_ / name)); }
  std::string make_directory(const std::string& name) {
    return answer(files_.create_directory(root_ / name));
  }
  std::string list(const std::string& name) {
    const auto names = files_.list(root_ / name);
    return names ? fmt::format("{}", fmt::join(*names, ",")) : state(names.error());
  }
  std::string exists(const std::string& name) {
    return files_.exists(root_ / name).value() ? "there" : "absent";
  }

 private:
  static std::string state(const Error& error) { return std::string{error.state().code()}; }
  static std::string answer(const Result<>& result) {
    return result ? "done" : state(result.error());
  }
  template <class Use>
  std::string with(const std::string& name, Use use) {
    const auto found = open_.find(name);
    return found == open_.end() ? "closed" : use(*found->second);
  }

  FileSystem& files_;
  fs::path root_;
  std::map<std::string, std::unique_ptr<File>> open_;
};

// Makes the same call in both, given the same random numbers.
std::string random_call(World& world, Random random) {
  static const std::vector<std::string> names{"a", "b", "d/a", "d/b", "nowhere/a"};
  const auto pick = [&] { return names[random.below(names.size())]; };
  const std::string name = pick();
  const std::uint64_t offset = random.below(2000);
  switch (random.below(13)) {
    case 0:
      return world.open(name, OpenMode::open_or_create);
    case 1:
      return world.open(name, OpenMode::create_new);
    case 2:
      return world.open(name, random.one_in(2) ? OpenMode::read_only : OpenMode::read_write);
    case 3:
    case 4:
      return world.write(name, offset, std::string(1 + random.below(1000), 'x'));
    case 5:
      return world.read(name, offset, 1 + random.below(500));
    case 6:
      return world.resize(name, 1 + random.below(3000), random.one_in(2));
    case 7:
      return world.size(name);
    case 8:
      world.close(name);
      return world.sync(pick());
    case 9:
      return world.rename(name, pick());
    case 10:
      return random.one_in(4) ? world.remove("d") : world.remove(name);
    case 11:
      return random.one_in(2) ? world.make_directory("d") : world.list(random.one_in(2) ? "" : "d");
    default:
      return world.exists(name);
  }
}

}  // namespace

TEST_CASE("the simulated disk and the system's files give the same answers", "[disk]") {
  // In memory if possible: a sync of a busy disk may take a second.
  const fs::path memory = "/dev/shm";
  const fs::path base = fs::is_directory(memory) ? memory : fs::temp_directory_path();
  const std::string temporary = (base / "swizzle-model-XXXXXX").native();
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::string root = temporary;
    REQUIRE(mkdtemp(root.data()) != nullptr);
    PosixFileSystem system{IoEngine::threads};
    SimulatedDisk disk{seed};
    {
      World real{system, root};
      World simulated{disk, "/"};
      Random random{seed};
      for (int step = 0; step < 400; ++step) {
        const Random call = random.split();
        CAPTURE(seed, step);
        REQUIRE(random_call(simulated, call) == random_call(real, call));
      }
    }
    fs::remove_all(root);
  }
}
