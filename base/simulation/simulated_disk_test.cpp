#include "base/simulation/simulated_disk.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/simulation/simulation.h"

using namespace swizzle;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kPage = 8192;

std::vector<std::byte> filled(std::size_t size, int with) {
  return std::vector<std::byte>(size, static_cast<std::byte>(with));
}

std::unique_ptr<File> open(SimulatedDisk& disk, const char* path, FileOptions options = {}) {
  return disk.open(path, OpenMode::open_or_create, options).value();
}

void make_durable_file(SimulatedDisk& disk, const char* path, int with) {
  auto file = open(disk, path);
  REQUIRE(file->write_at(0, filled(kPage, with)));
  REQUIRE(file->sync());
  REQUIRE(disk.sync_directory("/"));
}

// Returns the fillings that occur in the file's sectors.
std::set<int> fillings(const SimulatedDisk& disk, const char* path) {
  std::set<int> found;
  const auto bytes = disk.contents(path);
  for (std::size_t at = 0; at < bytes.size(); at += 512) {
    const auto first = bytes[at];
    const std::size_t end = std::min(at + 512, bytes.size());
    for (std::size_t i = at; i < end; ++i) REQUIRE(bytes[i] == first);
    found.insert(std::to_integer<int>(first));
  }
  return found;
}

}  // namespace

TEST_CASE("reads see what was written, synced or not", "[disk]") {
  SimulatedDisk disk;
  auto file = open(disk, "/a");
  REQUIRE(file->write_at(100, as_bytes("hello")));
  REQUIRE(file->size().value() == 105);
  std::array<std::byte, 5> room{};
  REQUIRE(file->read_at(100, room));
  REQUIRE(as_text(room) == "hello");
  REQUIRE(file->read_at(101, room).error().state() == sqlstate::io_error);
  REQUIRE(disk.count(DiskOperation::write) == 1);
  REQUIRE(disk.count(DiskOperation::change) == 2);
}

TEST_CASE("a crash keeps what was synced and anything or nothing of the rest", "[disk][crash]") {
  bool kept = false;
  bool lost = false;
  bool torn_small = false;
  bool torn_large = false;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SimulatedDisk disk{seed};
    make_durable_file(disk, "/a", 1);
    auto file = open(disk, "/a");
    REQUIRE(file->write_at(0, filled(kPage, 2)));
    disk.crash(seed);
    REQUIRE_FALSE(file->size());
    REQUIRE_FALSE(file->write_at(0, filled(kPage, 9)));
    const auto found = fillings(disk, "/a");
    for (const int filling : found) REQUIRE((filling == 1 || filling == 2));
    if (found == std::set{1}) lost = true;
    if (found == std::set{2}) kept = true;
    if (found.size() == 2) {
      const auto bytes = disk.contents("/a");
      const bool aligned = bytes[0] == bytes[4095] && bytes[4096] == bytes[8191];
      (aligned ? torn_large : torn_small) = true;
    }
    // Bytes that survived a crash are durable: a second crash changes nothing.
    disk.crash(seed + 1);
    REQUIRE(fillings(disk, "/a") == found);
  }
  REQUIRE((kept && lost && torn_small && torn_large));
}

TEST_CASE("an older write never returns over a newer one", "[disk][crash]") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SimulatedDisk disk{seed};
    make_durable_file(disk, "/a", 1);
    auto plain = open(disk, "/a");
    auto durable = open(disk, "/a", {.dsync = true});
    REQUIRE(plain->write_at(0, filled(kPage, 2)));
    REQUIRE(durable->write_at(0, filled(kPage, 3)));
    disk.crash(seed);
    REQUIRE(fillings(disk, "/a") == std::set{3});
  }
}

TEST_CASE("a sync covers only what was done before it was submitted", "[disk][crash]") {
  bool second_lost = false;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SimulatedDisk disk{seed};
    Simulation simulation{seed};
    simulation.run([&] {
      make_durable_file(disk, "/a", 1);
      auto file = open(disk, "/a");
      auto two = filled(kPage, 2);
      std::array<IoRequest, 2> together;
      together[0].kind = IoRequest::Kind::write;
      together[0].data = two.data();
      together[0].size = two.size();
      together[1].kind = IoRequest::Kind::sync;
      file->transfer_all(together);
    });
    disk.crash(seed);
    if (fillings(disk, "/a") != std::set{2}) second_lost = true;
  }
  REQUIRE(second_lost);
}

TEST_CASE("P32 after a failed sync the next one proves nothing", "[disk][crash]") {
  bool lost = false;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SimulatedDisk disk{seed};
    make_durable_file(disk, "/a", 1);
    auto file = open(disk, "/a");
    REQUIRE(file->write_at(0, filled(kPage, 2)));
    disk.inject({.operation = DiskOperation::sync, .error = EIO});
    REQUIRE(file->sync().error().state() == sqlstate::io_error);
    REQUIRE(file->sync());
    REQUIRE(fillings(disk, "/a") == std::set{2});
    disk.crash(seed);
    if (fillings(disk, "/a") == std::set{1}) lost = true;
  }
  REQUIRE(lost);
}

TEST_CASE("names are durable after their directory was synced", "[disk][crash]") {
  bool lost = false;
  bool kept = false;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SimulatedDisk disk{seed};
    REQUIRE(disk.create_directory("/d"));
    REQUIRE(disk.sync_directory("/"));
    make_durable_file(disk, "/old", 1);
    {
      auto file = open(disk, "/d/new");
      REQUIRE(file->write_at(0, filled(kPage, 2)));
      REQUIRE(file->sync());
    }
    REQUIRE(disk.rename("/old", "/renamed"));
    disk.crash(seed);
    REQUIRE(disk.exists("/d").value());
    REQUIRE(disk.exists("/old").value() != disk.exists("/renamed").value());
    (disk.exists("/d/new").value() ? kept : lost) = true;
    if (disk.exists("/d/new").value()) REQUIRE(fillings(disk, "/d/new") == std::set{2});
  }
  REQUIRE((lost && kept));
}

TEST_CASE("replacing a file by sync, rename and directory sync is atomic", "[disk][crash]") {
  // Cut the power at each change of the sequence.
  for (std::uint64_t at = 1; at <= 5; ++at) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      SimulatedDisk disk{seed};
      make_durable_file(disk, "/control", 1);
      disk.cut_power_at(DiskOperation::change, at);
      Simulation simulation{seed};
      const auto outcome = simulation.run([&] {
        auto file = open(disk, "/control.new");
        REQUIRE(file->write_at(0, filled(kPage, 2)));
        REQUIRE(file->sync());
        REQUIRE(disk.rename("/control.new", "/control"));
        REQUIRE(disk.sync_directory("/"));
      });
      REQUIRE(outcome == Simulation::Outcome::stopped);
      REQUIRE_FALSE(disk.has_power());
      disk.crash(seed);
      const auto found = fillings(disk, "/control");
      REQUIRE((found == std::set{1} || found == std::set{2}));
    }
  }
}

TEST_CASE("without power every call fails until the crash is over", "[disk]") {
  SimulatedDisk disk;
  make_durable_file(disk, "/a", 1);
  auto held = disk.lock("/lock");
  auto file = open(disk, "/a");
  disk.cut_power_at(DiskOperation::write, 2);
  REQUIRE(file->write_at(0, filled(512, 2)));
  REQUIRE_FALSE(file->write_at(0, filled(512, 3)));
  REQUIRE_FALSE(file->sync());
  std::array<std::byte, 1> room{};
  REQUIRE_FALSE(file->read_at(0, room));
  REQUIRE_FALSE(disk.open("/b", OpenMode::create_new, {}));
  REQUIRE_FALSE(disk.list("/"));
  disk.crash(1);
  REQUIRE_FALSE(file->sync());
  REQUIRE(open(disk, "/a")->sync());
  REQUIRE(disk.lock("/lock"));
}

TEST_CASE("faults hit the chosen call of the chosen file", "[disk]") {
  SimulatedDisk disk{3};
  auto a = open(disk, "/a");
  auto b = open(disk, "/b");
  const auto one = filled(kPage, 1);
  std::vector<std::byte> room(kPage);

  disk.inject({.operation = DiskOperation::write, .nth = 2, .path_contains = "a"});
  REQUIRE(b->write_at(0, one));
  REQUIRE(a->write_at(0, one));
  REQUIRE(b->write_at(0, one));
  REQUIRE_FALSE(a->write_at(0, one));
  REQUIRE(a->write_at(0, one));

  using Effect = DiskFault::Effect;
  disk.inject({.operation = DiskOperation::write, .error = ENOSPC});
  REQUIRE(a->write_at(0, one).error().state() == sqlstate::disk_full);
  disk.inject({.operation = DiskOperation::read, .effect = Effect::flip_bit});
  REQUIRE(a->read_at(0, room));
  REQUIRE(room != one);
  REQUIRE(a->read_at(0, room));
  REQUIRE(room == one);
  disk.inject({.operation = DiskOperation::read, .effect = Effect::fail_half_way, .times = 2});
  REQUIRE_FALSE(a->read_at(0, room));
  REQUIRE_FALSE(a->read_at(0, room));
  REQUIRE(a->read_at(0, room));

  disk.inject({.operation = DiskOperation::write, .effect = Effect::lose});
  REQUIRE(a->write_at(0, filled(kPage, 2)));
  REQUIRE(fillings(disk, "/a") == std::set{1});
  disk.inject({.operation = DiskOperation::write, .effect = Effect::misplace});
  REQUIRE(a->write_at(0, filled(4096, 3)));
  REQUIRE(fillings(disk, "/a") == std::set{1, 3});
  REQUIRE(disk.contents("/a")[4096] == std::byte{3});
  disk.inject({.operation = DiskOperation::write, .effect = Effect::flip_bit});
  REQUIRE(a->write_at(0, one));
  REQUIRE(a->read_at(0, room));
  REQUIRE(room != one);
  disk.corrupt("/a", 5, as_bytes("x"));
  REQUIRE(disk.contents("/a")[5] == std::byte{'x'});

  disk.limit_capacity(3 * kPage);
  REQUIRE(a->allocate(0, 2 * kPage));
  REQUIRE(a->allocate(0, 3 * kPage).error().state() == sqlstate::disk_full);
  REQUIRE(b->write_at(kPage, as_bytes("x")).error().state() == sqlstate::disk_full);
  REQUIRE(b->write_at(0, one));
}

TEST_CASE("what the system's files refuse, the simulated ones refuse", "[disk]") {
  SimulatedDisk disk;
  REQUIRE(disk.open("/a", OpenMode::read_write, {}).error().state() == sqlstate::undefined_file);
  REQUIRE_FALSE(disk.open("/nowhere/a", OpenMode::create_new, {}));
  auto file = disk.open("/a", OpenMode::create_new, {.direct = true}).value();
  REQUIRE(disk.open("/a", OpenMode::create_new, {}).error().state() == sqlstate::duplicate_file);
  alignas(512) std::array<std::byte, 1024> room{};
  REQUIRE(file->write_at(512, room));
  REQUIRE_FALSE(file->write_at(100, room));
  REQUIRE_FALSE(file->write_at(0, MutableBytes{room}.first(100)));
  REQUIRE_FALSE(file->write_at(0, MutableBytes{room}.subspan(8, 512)));
  REQUIRE_FALSE(disk.open("/a", OpenMode::read_only, {}).value()->write_at(0, room));
  REQUIRE(file->truncate(10));
  REQUIRE(file->size().value() == 10);
  auto held = disk.lock("/lock");
  REQUIRE(held);
  REQUIRE(disk.lock("/lock").error().state() == sqlstate::object_in_use);
  held->reset();
  REQUIRE(disk.lock("/lock"));
  REQUIRE(disk.create_directory("/d/"));
  REQUIRE(disk.open("/d/x", OpenMode::create_new, {}));
  REQUIRE_FALSE(disk.remove("/d"));
  REQUIRE(disk.remove("/d/x"));
  REQUIRE(disk.remove("/d"));
  REQUIRE(disk.list("/").value() == std::vector<std::string>{"a", "lock"});
}

TEST_CASE("in a simulation transfers take virtual time and finish in any order", "[disk]") {
  std::set<std::vector<std::size_t>> orders;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SimulatedDisk disk{seed};
    Simulation simulation{seed};
    simulation.run([&] {
      auto& runtime = Runtime::current();
      auto file = open(disk, "/a");
      const TimePoint before = runtime.now();
      REQUIRE(file->write_at(0, filled(kPage, 1)));
      REQUIRE(runtime.now() >= before + 20us);

      std::vector<std::size_t> order;
      std::vector<std::unique_ptr<Task>> tasks;
      for (std::size_t id = 0; id < 4; ++id) {
        tasks.push_back(runtime.spawn("reader", [&, id] {
          std::array<std::byte, 512> room{};
          REQUIRE(file->read_at(id * 512, room));
          order.push_back(id);
        }));
      }
      for (auto& task : tasks) task->join();
      orders.insert(order);
      disk.inject(
          {.operation = DiskOperation::sync, .effect = DiskFault::Effect::delay, .delay = 1s});
      const TimePoint slow = runtime.now();
      REQUIRE(file->sync());
      REQUIRE(runtime.now() >= slow + 1s);
    });
  }
  REQUIRE(orders.size() > 5);
}

TEST_CASE("a copy of the disk can be crashed in its own way", "[disk][crash]") {
  SimulatedDisk disk{1};
  make_durable_file(disk, "/a", 1);
  REQUIRE(open(disk, "/a")->write_at(0, filled(kPage, 2)));
  std::set<std::set<int>> outcomes;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const auto copy = disk.copy(seed);
    copy->crash(seed);
    outcomes.insert(fillings(*copy, "/a"));
  }
  REQUIRE(outcomes.size() == 3);
  REQUIRE(fillings(disk, "/a") == std::set{2});
  disk.sync_everything();
  disk.crash(1);
  REQUIRE(fillings(disk, "/a") == std::set{2});
}

TEST_CASE("writes are shown to the observer", "[disk]") {
  SimulatedDisk disk;
  std::map<std::uint64_t, std::string> seen;
  disk.observe_writes([&](const std::filesystem::path& path, std::uint64_t offset, Bytes bytes) {
    seen[offset] = path.native() + ":" + std::string{as_text(bytes)};
  });
  REQUIRE(open(disk, "/a")->write_at(7, as_bytes("text")));
  REQUIRE(seen == std::map<std::uint64_t, std::string>{{7, "/a:text"}});
}
