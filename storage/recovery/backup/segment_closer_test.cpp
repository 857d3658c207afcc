#include "storage/segment_closer.h"

#include <catch2/catch.hpp>

#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/logical/logical_log.h"
#include "storage/recovery/backup/test_archive.h"
#include "storage/statistics.h"
#include "storage/testing/database_home.h"

using namespace swizzle;

namespace {

using std::chrono::seconds;
using test::kArchive;
using test::kBackup;
using test::kHome;

EngineOptions archiving_options(SimulatedDisk& disk) {
  return test::archiving_options(disk, std::uint64_t{256} << 10U);
}

void wait_for(seconds time) {
  Runtime::current().sleep_until(Runtime::current().now() + time);
}

void insert(Engine& engine, TreeId tree, const std::string& key, std::size_t bytes = 10) {
  const auto transaction = engine.begin();
  REQUIRE(engine.tree(tree)
              .value()
              .insert(*transaction, as_bytes(key), as_bytes(std::string(bytes, 'v')))
              .value());
  REQUIRE(transaction->commit());
}

bool restored_has(SimulatedDisk& disk, TreeId tree, const std::string& home,
                  const std::string& key) {
  const auto fetch = [&disk](const std::string& name,
                             const std::filesystem::path& target) -> Result<bool> {
    ASSIGN_OR_RETURN(const bool exists, disk.exists(kArchive / name));
    if (!exists) return false;
    RETURN_IF_ERROR(test::copy_file(disk, kArchive / name, target));
    return true;
  };
  const auto made = restore_backup(disk, {kBackup}, home, fetch, {});
  if (!made) FAIL(made.error().message());
  const auto engine = Engine::open(disk, home, archiving_options(disk)).value();
  bool found = false;
  {
    const auto reader = engine->begin();
    ValueBuffer value;
    found = engine->tree(tree).value().get(*reader, as_bytes(key), value).value();
  }
  REQUIRE(engine->close());
  return found;
}

}  // namespace

TEST_CASE("R19 a segment is archived after its time if something was written to it", "[backup]") {
  SimulatedDisk disk{5};
  REQUIRE(Engine::create(disk, kHome, archiving_options(disk)));
  REQUIRE(disk.create_directory(kArchive));
  Simulation simulation{5};
  simulation.run([&] {
    const auto engine = Engine::open(disk, kHome, archiving_options(disk)).value();
    const auto transaction = engine->begin();
    const TreeId tree = engine->create_tree(*transaction).value();
    REQUIRE(transaction->commit());
    REQUIRE(engine->back_up(kBackup));
    SegmentCloser closer(*engine);
    closer.start();
    wait_for(seconds{100});
    const auto archived = [&] { return engine->statistics().archive.archived; };
    REQUIRE(archived() == 0);
    closer.set_timeout(seconds{10});
    wait_for(seconds{12});
    REQUIRE(archived() == 1);
    // Nothing more was written but by checkpoints.
    REQUIRE(engine->checkpoint());
    wait_for(seconds{100});
    REQUIRE(archived() == 1);
    insert(*engine, tree, "late");
    wait_for(seconds{12});
    REQUIRE(archived() == 2);
    CHECK(restored_has(disk, tree, "/restored", "late"));
    closer.set_timeout(seconds{0});
    insert(*engine, tree, "later");
    wait_for(seconds{100});
    REQUIRE(archived() == 2);
    closer.stop();
    REQUIRE(engine->close());
  });
}

TEST_CASE("R19 a segment is closed once, and if only the end of a record is in it", "[backup]") {
  SimulatedDisk disk{6};
  REQUIRE(Engine::create(disk, kHome, archiving_options(disk)));
  REQUIRE(disk.create_directory(kArchive));
  Simulation simulation{6};
  simulation.run([&] {
    const auto engine = Engine::open(disk, kHome, archiving_options(disk)).value();
    const std::uint64_t bytes = engine->logical_log().segment_bytes();
    const auto transaction = engine->begin();
    const TreeId tree = engine->create_tree(*transaction).value();
    REQUIRE(transaction->commit());
    REQUIRE(engine->back_up(kBackup));
    int crossings = 0;
    for (int round = 0; round < 40; ++round) {
      // The commit ends at another distance from the boundary each time.
      const std::uint64_t tail = raw(engine->logical_log().tail());
      const std::uint64_t left = bytes - tail % bytes;
      const std::string key = "key " + std::to_string(round);
      for (std::uint64_t i = 0; i * 1200 + 3000 < left; ++i)
        insert(*engine, tree, key + " " + std::to_string(i), 1000);
      for (int i = 0; i < 30 + round; ++i) insert(*engine, tree, key + " s" + std::to_string(i));
      const std::uint64_t before = raw(engine->logical_log().tail()) / bytes;
      if (before != tail / bytes) ++crossings;
      const Lsn end = engine->close_log_segment().value();
      REQUIRE(raw(engine->logical_log().tail()) / bytes >= before);
      const Lsn again = engine->close_log_segment().value();
      REQUIRE(raw(again) % bytes == 0);
      REQUIRE(again >= end);
      if (round % 8 != 7) continue;
      while (engine->statistics().archive_backlog != 0) wait_for(seconds{1});
      CHECK(restored_has(disk, tree, "/restored-" + std::to_string(round),
                         key + " s" + std::to_string(29 + round)));
    }
    CHECK(crossings > 5);
    REQUIRE(engine->close());
  });
}
