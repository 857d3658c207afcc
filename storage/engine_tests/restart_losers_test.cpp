// Transactions that a crash interrupted are rolled back in the background, beside new ones.
#include "storage/txn/restart/restart_losers.h"

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <set>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/statistics.h"
#include "storage/testing/database_home.h"

using namespace swizzle;
using test::kHome;

namespace {

using Content = std::map<std::string, std::string>;

EngineOptions loser_options() {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{4} << 20U;
  options.log_segment_bytes = std::uint64_t{256} << 10U;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  return options;
}

std::string key_of(int number) {
  const std::string digits = std::to_string(number);
  return "key " + std::string(6 - digits.size(), '0') + digits;
}

/// Restores the limit for later tests.
struct MostOpenRows {
  explicit MostOpenRows(std::uint64_t rows) { RestartLosers::most_open_rows = rows; }
  MostOpenRows(const MostOpenRows&) = delete;
  MostOpenRows& operator=(const MostOpenRows&) = delete;
  ~MostOpenRows() { RestartLosers::most_open_rows = 1024; }
};

constexpr int kRows = 400;

/// Two trees with committed rows, and a transaction that has changed them and never ended.
struct Interrupted {
  SimulatedDisk disk{1};
  TreeId large{};
  TreeId small{};
  /// A tree that the transaction drops.
  TreeId dropped{};
  Content before;

  explicit Interrupted(std::uint64_t seed) : disk{seed} {
    REQUIRE(Engine::create(disk, kHome, loser_options()));
    REQUIRE(disk.sync_directory("/"));
    live(seed, [&](Engine& engine) {
      auto first = engine.begin();
      large = engine.create_tree(*first).value();
      small = engine.create_tree(*first).value();
      dropped = engine.create_tree(*first).value();
      for (int i = 0; i < kRows; ++i) {
        before.emplace(key_of(i), "old " + std::to_string(i));
        for (const TreeId tree : {large, small, dropped})
          REQUIRE(engine.tree(tree)
                      .value()
                      .insert(*first, as_bytes(key_of(i)), as_bytes(before.at(key_of(i))))
                      .value());
      }
      REQUIRE(first->commit());
      auto loser = engine.begin();
      change(engine, *loser, large, kRows);
      change(engine, *loser, small, 9);
      const TreeId created = engine.create_tree(*loser).value();
      change(engine, *loser, created, kRows);
      REQUIRE(engine.drop_tree(*loser, dropped));
      if (seed % 2 == 0) REQUIRE(engine.checkpoint());
      change(engine, *loser, large, kRows / 2);
      make_durable(engine);
      Runtime::current().sleep_until(Runtime::current().now() + std::chrono::seconds{1});
      static_cast<void>(loser.release());  // The process's memory is lost.
      disk.cut_power();
    });
    disk.crash(seed);
  }

  /// Changes each row in one of several ways, some more than once.
  static void change(Engine& engine, Transaction& transaction, TreeId id, int rows) {
    Tree tree = engine.tree(id).value();
    for (int i = 0; i < rows; ++i) {
      const std::string key = key_of(i);
      static_cast<void>(tree.insert(transaction, as_bytes(key + " new"), as_bytes("new")).value());
      if (i % 3 == 0) static_cast<void>(tree.remove(transaction, as_bytes(key)).value());
      if (i % 3 == 1)
        static_cast<void>(tree.update(transaction, as_bytes(key), as_bytes("changed")).value());
      if (i % 5 == 0)
        static_cast<void>(tree.insert(transaction, as_bytes(key), as_bytes("again")).value());
    }
  }
  static void make_durable(Engine& engine) {
    const auto other = engine.begin();
    static_cast<void>(engine.create_tree(*other).value());
    REQUIRE(other->commit());
  }

  /// Opens the database and runs `what`. Returns true if the power was cut.
  template <class What>
  bool live(std::uint64_t seed, What&& what, std::uint64_t cut = 0) {
    Simulation simulation{seed};
    return simulation.run([&] {
      if (cut != 0) disk.cut_power_at(DiskOperation::change, cut);
      auto opened = Engine::open(disk, kHome, loser_options());
      if (!opened) FAIL(opened.error().message());
      what(**opened);
    }) == Simulation::Outcome::stopped;
  }
};

Content content(Engine& engine, TreeId tree, Isolation isolation = Isolation::read_committed) {
  const auto reader = engine.begin(isolation);
  Cursor cursor = engine.tree(tree).value().scan(*reader, {}).value();
  Content found;
  while (cursor.next().value()) found.emplace(as_text(cursor.key()), as_text(cursor.value()));
  return found;
}

std::string lock_at_once(Engine& engine, TreeId tree, const std::string& key) {
  const auto transaction = engine.begin();
  ValueBuffer value;
  const auto found = engine.tree(tree).value().get(*transaction, as_bytes(key), value,
                                                   ReadMode::for_update, WaitPolicy::no_wait);
  if (!found) return std::string{found.error().state().code()};
  return *found ? "found" : "absent";
}

}  // namespace

TEST_CASE("R15 what a crash interrupted is hidden, locked and rolled back behind the door",
          "[storage][crash]") {
  const MostOpenRows most(256);
  const std::uint64_t seed = GENERATE(1U, 2U);
  const auto isolation =
      GENERATE(Isolation::read_committed, Isolation::repeatable_read, Isolation::serializable);
  Interrupted database(seed);
  database.live(3, [&](Engine& engine) {
    const auto rollbacks = engine.statistics().restart_rollbacks;
    REQUIRE(rollbacks.size() == 1);
    CHECK(rollbacks[0].closed_trees == 1);
    CHECK(rollbacks[0].log_bytes > 10'000);
    // The tree with few changes has its versions and locks.
    CHECK(content(engine, database.small) == database.before);
    if (!engine.statistics().restart_rollbacks.empty()) {
      CHECK(lock_at_once(engine, database.small, key_of(0)) == "55P03");
      CHECK(lock_at_once(engine, database.small, key_of(100)) == "found");
      CHECK(lock_at_once(engine, database.large, key_of(100)) == "55P03");
    }
    CHECK_FALSE(engine.statistics().restart_rollbacks.empty());
    CHECK(content(engine, database.dropped) == database.before);
    // Readers of the other tree wait, whatever their snapshots.
    CHECK(content(engine, database.large, isolation) == database.before);
    CHECK(engine.verify().value().empty());
    CHECK(engine.statistics().restart_rollbacks.empty());
    CHECK(lock_at_once(engine, database.small, key_of(0)) == "found");
    CHECK(content(engine, database.small) == database.before);
    REQUIRE(engine.close());
  });
}

TEST_CASE("R15 an open tree's large values are there though a loser changed many parts of them",
          "[storage][crash]") {
  constexpr std::size_t kLargeBytes = 60'000;
  constexpr int kLargeRows = 12;
  const MostOpenRows most(64);
  SimulatedDisk disk{5};
  REQUIRE(Engine::create(disk, kHome, loser_options()));
  REQUIRE(disk.sync_directory("/"));
  TreeId tree{};
  Content before;
  const auto live = [&](const std::function<void(Engine&)>& what) {
    Simulation simulation{5};
    simulation.run([&] {
      auto opened = Engine::open(disk, kHome, loser_options());
      if (!opened) FAIL(opened.error().message());
      what(**opened);
    });
  };
  live([&](Engine& engine) {
    const auto first = engine.begin();
    tree = engine.create_tree(*first).value();
    for (int i = 0; i < kLargeRows; ++i) {
      const auto at =
          before.emplace(key_of(i), std::string(kLargeBytes, static_cast<char>('a' + i)));
      REQUIRE(engine.tree(tree)
                  .value()
                  .insert(*first, as_bytes(at.first->first), as_bytes(at.first->second))
                  .value());
    }
    REQUIRE(first->commit());
    auto loser = engine.begin();
    Tree rows = engine.tree(tree).value();
    for (int i = 0; i < kLargeRows; ++i) {
      const std::string other(kLargeBytes / 2, 'z');
      if (i % 2 == 0)
        REQUIRE(rows.remove(*loser, as_bytes(key_of(i))).value());
      else
        REQUIRE(rows.update(*loser, as_bytes(key_of(i)), as_bytes(other)).value());
    }
    Interrupted::make_durable(engine);
    static_cast<void>(loser.release());  // The process's memory is lost.
    disk.cut_power();
  });
  disk.crash(5);
  live([&](Engine& engine) {
    REQUIRE(engine.statistics().restart_rollbacks.size() == 1);
    CHECK(engine.statistics().restart_rollbacks[0].closed_trees == 0);
    CHECK(content(engine, tree) == before);
    CHECK(lock_at_once(engine, tree, key_of(0)) == "55P03");
    REQUIRE(engine.close());
  });
  live([&](Engine& engine) {
    CHECK(content(engine, tree) == before);
    CHECK(engine.verify().value().empty());
  });
}

TEST_CASE("R15 writers, a drop and a point read wait for a closed tree", "[storage][crash]") {
  const MostOpenRows most(256);
  Interrupted database(1);
  const int what = GENERATE(0, 1, 2, 3);
  database.live(4, [&](Engine& engine) {
    const auto transaction = engine.begin();
    // Create a tree, so that the transaction has an undo log of its own.
    static_cast<void>(engine.create_tree(*transaction).value());
    Tree tree = engine.tree(database.large).value();
    ValueBuffer value;
    REQUIRE(engine.statistics().restart_rollbacks.size() == 1);
    if (what == 0)
      CHECK(tree.get(*transaction, as_bytes(key_of(3)), value).value());
    else if (what == 1)
      CHECK(tree.update(*transaction, as_bytes(key_of(3)), as_bytes("mine")).value());
    else if (what == 2)
      REQUIRE(engine.drop_tree(*transaction, database.large));
    else
      REQUIRE(engine.drop_tree(*transaction, database.small));
    REQUIRE(transaction->commit());
    CHECK(engine.statistics().restart_rollbacks.empty());
    CHECK(engine.verify().value().empty());
  });
}

TEST_CASE("R15 crash after crash in the middle of a rollback behind the door", "[storage][crash]") {
  struct Totals {
    std::uint64_t cuts;
  };
  const auto totals = for_seeds_apart<Totals>(60, 10, [&](std::uint64_t seed, Totals& total) {
    const MostOpenRows most(std::array<std::uint64_t, 3>{256, 100'000, 0}[seed % 3]);
    Interrupted database(seed);
    Random random{seed};
    for (std::uint64_t depth = 0; depth < 3; ++depth) {
      const bool is_cut = database.live(
          seed * 10 + depth,
          [&](Engine& engine) {
            CHECK(content(engine, database.small) == database.before);
            if (depth == 1) REQUIRE(engine.checkpoint());
            // A stop waits for the rest of the rollback.
            if ((seed + depth) % 4 == 0) {
              REQUIRE(engine.close());
              return;
            }
            CHECK(content(engine, database.large) == database.before);
          },
          random.between(1, 60));
      total.cuts += is_cut ? 1U : 0U;
      database.disk.crash(seed * 10 + depth);
    }
    REQUIRE_FALSE(database.live(seed * 10 + 8, [&](Engine& engine) {
      CHECK(content(engine, database.small) == database.before);
      CHECK(content(engine, database.large) == database.before);
      CHECK(content(engine, database.dropped) == database.before);
      CHECK(engine.verify().value().empty());
      CHECK(engine.statistics().restart_rollbacks.empty());
    }));
  });
  WARN(totals.cuts << " power cuts");
  CHECK(totals.cuts > 20);
}
