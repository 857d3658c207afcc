// Dropped trees: DROP does not wait for their pages, and every page is freed.
#include <catch2/catch.hpp>
#include <set>

#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/statistics.h"
#include "storage/testing/database_home.h"

namespace swizzle {
namespace {

using std::chrono::milliseconds;
using test::kHome;

/// Returns options with a pool for a few of the pages.
EngineOptions small_pool() {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{64} * 8704;
  options.log_segment_bytes = std::uint64_t{1} << 20U;
  options.log_buffer_bytes = std::uint64_t{1} << 20U;
  return options;
}

constexpr int kDroppedRows = 12'000;

struct Dropping {
  explicit Dropping(SimulatedDisk& disk)
      : engine(Engine::open(disk, kHome, small_pool()).value()) {}

  TreeId make_tree(std::size_t value_bytes) {
    const auto transaction = engine->begin();
    const TreeId tree = engine->create_tree(*transaction).value();
    Tree into = engine->tree(tree).value();
    for (int row = 0; row < kDroppedRows; ++row)
      REQUIRE(into.insert(*transaction, as_bytes(std::to_string(row)),
                          as_bytes(std::string(value_bytes, 'v')))
                  .value());
    REQUIRE(transaction->commit());
    return tree;
  }
  Duration drop(TreeId tree) {
    const auto transaction = engine->begin();
    REQUIRE(engine->drop_tree(*transaction, tree));
    const TimePoint before = Runtime::current().now();
    REQUIRE(transaction->commit());
    return Runtime::current().now() - before;
  }
  std::uint64_t pages() { return engine->statistics().pages_allocated; }

  std::unique_ptr<Engine> engine;
};

}  // namespace

TEST_CASE("T5 a drop of any size answers at once and gives every page back", "[storage][drop]") {
  SimulatedDisk disk{1};
  REQUIRE(Engine::create(disk, kHome, small_pool()));
  Simulation simulation{1};
  simulation.run([&] {
    Dropping database(disk);
    REQUIRE(database.engine->shrink());
    const std::uint64_t before = database.pages();
    const TreeId tree = database.make_tree(300);
    REQUIRE(database.pages() > before + 500);
    SECTION("while others work") {
      // Reading a page takes 0.1 ms, and few pages are resident.
      CHECK(database.drop(tree) < milliseconds{10});
      const TreeId other = database.make_tree(20);
      CHECK(database.drop(other) < milliseconds{10});
    }
    SECTION("while somebody reads it") {
      const auto reader = database.engine->begin(Isolation::repeatable_read);
      Cursor cursor = database.engine->tree(tree).value().scan(*reader, {}).value();
      REQUIRE(cursor.next().value());
      database.drop(tree);
      REQUIRE(database.engine->shrink());
      CHECK(database.pages() > before + 500);
      int rows = 1;
      while (cursor.next().value()) ++rows;
      CHECK(rows == kDroppedRows);
    }
    SECTION("over a stop") {
      database.drop(tree);
      const std::uint64_t dropped = database.pages();
      const TimePoint begun = Runtime::current().now();
      REQUIRE(database.engine->close());
      CHECK(Runtime::current().now() - begun < milliseconds{100});
      database.engine.reset();
      database.engine = Engine::open(disk, kHome, small_pool()).value();
      CHECK(dropped > before + 500);
      CHECK_FALSE(database.engine->tree(tree));
    }
    REQUIRE(database.engine->shrink());
    CHECK(database.pages() == before);
    CHECK(database.engine->verify().value().empty());
    REQUIRE(database.engine->close());
  });
}

TEST_CASE("T5 a dropped tree goes though others have logged since what nobody makes durable",
          "[storage][drop]") {
  const bool asks = GENERATE(false, true);
  SimulatedDisk disk{1};
  REQUIRE(Engine::create(disk, kHome, small_pool()));
  Simulation simulation{1};
  simulation.run([&] {
    Dropping database(disk);
    const TreeId kept = database.make_tree(20);
    const TreeId tree = database.make_tree(20);
    const auto writer = database.engine->begin();
    bool is_done = false;
    const auto task = Runtime::current().spawn("writer", [&] {
      Tree into = database.engine->tree(kept).value();
      for (int row = 0; !is_done; ++row) {
        REQUIRE(into.update(*writer, as_bytes(std::to_string(row % kDroppedRows)), as_bytes("w"))
                    .value());
        Runtime::current().sleep_until(Runtime::current().now() + std::chrono::microseconds{5});
      }
    });
    const TimePoint begun = Runtime::current().now();
    database.drop(tree);
    CHECK(Runtime::current().now() > begun);
    is_done = true;
    task->join();
    if (asks)
      REQUIRE(database.engine->shrink());
    else
      Runtime::current().sleep_until(Runtime::current().now() + std::chrono::seconds{1});
    CHECK_FALSE(database.engine->tree(tree));
    writer->rollback();
    REQUIRE(database.engine->close());
  });
}

TEST_CASE("T5 a kill in the middle of giving pages back leaks none", "[storage][drop][crash]") {
  SimulatedDisk disk{2};
  REQUIRE(Engine::create(disk, kHome, small_pool()));
  REQUIRE(disk.sync_directory("/"));
  std::uint64_t before = 0;
  std::uint64_t left = 0;
  for (const int wait_ms : {0, 3, 10, 30}) {
    std::unique_ptr<SimulatedDisk> killed;
    Simulation simulation{2};
    simulation.run([&] {
      Dropping database(disk);
      REQUIRE(database.engine->shrink());
      before = database.pages();
      const TreeId tree = database.make_tree(300);
      database.drop(tree);
      Runtime::current().sleep_until(Runtime::current().now() + milliseconds{wait_ms});
      left = database.pages();
      killed = disk.copy(7);
      REQUIRE(database.engine->shrink());
      REQUIRE(database.engine->close());
    });
    killed->crash(11);
    Simulation again{3};
    again.run([&] {
      Dropping database(*killed);
      REQUIRE(database.engine->shrink());
      INFO(left << " pages were in use at the kill");
      CHECK(database.pages() == before);
      CHECK(database.engine->verify().value().empty());
    });
  }
}

TEST_CASE("T5 a kill while large values are discarded leaks none", "[storage][drop][crash]") {
  SimulatedDisk disk{3};
  REQUIRE(Engine::create(disk, kHome, small_pool()));
  REQUIRE(disk.sync_directory("/"));
  constexpr int kValues = 150;
  const std::string large(20'000, 'L');
  const auto fill = [&](Engine& engine) {
    const auto transaction = engine.begin();
    const TreeId tree = engine.create_tree(*transaction).value();
    Tree into = engine.tree(tree).value();
    for (int i = 0; i < kValues; ++i)
      REQUIRE(into.insert(*transaction, as_bytes(std::to_string(i)), as_bytes(large)).value());
    REQUIRE(transaction->commit());
    return tree;
  };
  TreeId before{};
  std::uint64_t pages = 0;
  std::set<std::uint64_t> left;
  for (const int wait_us : {0, 300, 1000, 3000, 10'000, 30'000, 60'000}) {
    std::unique_ptr<SimulatedDisk> killed;
    TreeId after{};
    Simulation simulation{2};
    simulation.run([&] {
      Dropping database(disk);
      before = fill(*database.engine);
      const TreeId dropped = fill(*database.engine);
      after = fill(*database.engine);
      REQUIRE(database.engine->shrink());
      database.drop(dropped);
      Runtime::current().sleep_until(Runtime::current().now() + std::chrono::microseconds{wait_us});
      // Commit, so that the log has all that was discarded so far.
      const auto writer = database.engine->begin();
      Tree into = database.engine->tree(before).value();
      static_cast<void>(into.update(*writer, as_bytes("0"), as_bytes(large)).value());
      REQUIRE(writer->commit());
      left.insert(database.pages());
      killed = disk.copy(7);
      REQUIRE(database.engine->shrink());
      pages = database.pages();
      REQUIRE(database.engine->close());
    });
    killed->crash(11);
    Simulation again{3};
    again.run([&] {
      Dropping database(*killed);
      REQUIRE(database.engine->shrink());
      // A leaf at the end of a parent may wait for the tidier.
      CHECK(database.pages() <= pages + 3);
      CHECK(database.engine->verify().value().empty());
      const auto reader = database.engine->begin();
      for (const TreeId tree : {before, after}) {
        ValueBuffer value;
        for (int i = 0; i < kValues; ++i) {
          REQUIRE(database.engine->tree(tree)
                      .value()
                      .get(*reader, as_bytes(std::to_string(i)), value)
                      .value());
          REQUIRE(as_text(value.bytes()) == large);
        }
      }
    });
  }
  // Kills happened before, during and after the work.
  CHECK(left.size() > 3);
}

}  // namespace swizzle
