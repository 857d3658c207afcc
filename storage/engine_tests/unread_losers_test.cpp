// Losers of so many rows that their records are not read before the engine opens.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/bulk_changes.h"
#include "storage/engine.h"
#include "storage/statistics.h"
#include "storage/testing/database_home.h"
#include "storage/testing/older_control.h"
#include "storage/txn/restart/restart_losers.h"

using namespace swizzle;
using test::kHome;

namespace {

using Rows = std::map<std::string, std::string>;

EngineOptions few_pages() {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{1} << 20U;
  options.log_segment_bytes = std::uint64_t{256} << 10U;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  return options;
}

/// Sets the limits, and restores them for later tests.
struct Limits {
  Limits(std::uint64_t open_rows, std::uint64_t read_bytes) {
    RestartLosers::most_open_rows = open_rows;
    RestartLosers::most_read_bytes = read_bytes;
  }
  Limits(const Limits&) = delete;
  Limits& operator=(const Limits&) = delete;
  ~Limits() {
    RestartLosers::most_open_rows = 1024;
    RestartLosers::most_read_bytes = std::uint64_t{16} << 20U;
  }
};

std::string row_of(int number) {
  return fmt::format("row {:05}", number);
}

/// A database that was cut off in the middle of a transaction of many rows.
class CutOff {
 public:
  static constexpr int kRows = 500;
  static constexpr std::size_t kTrees = 3;

  explicit CutOff(std::uint64_t seed) : disk{seed}, random_{seed} {
    REQUIRE(Engine::create(disk, kHome, few_pages()));
    REQUIRE(disk.sync_directory("/"));
    live(seed, [&](Engine& engine) {
      const auto first = engine.begin();
      for (TreeId& tree : trees) tree = engine.create_tree(*first).value();
      for (int i = 0; i < kRows; ++i) {
        rows.emplace(row_of(i), std::string(80, static_cast<char>('a' + i % 26)));
        for (const TreeId tree : trees)
          REQUIRE(engine.tree(tree)
                      .value()
                      .insert(*first, as_bytes(row_of(i)), as_bytes(rows.at(row_of(i))))
                      .value());
      }
      REQUIRE(first->commit());
      REQUIRE(engine.close());
    });
  }

  /// Changes all rows of a tree, some more than once, and adds others.
  void change_all(Engine& engine, Transaction& transaction, TreeId id) {
    Tree tree = engine.tree(id).value();
    for (int i = 0; i < kRows; ++i) {
      const std::string key = row_of(i);
      REQUIRE(tree.update(transaction, as_bytes(key), as_bytes("changed " + key)).value());
      REQUIRE(tree.insert(transaction, as_bytes(key + " new"), as_bytes("new")).value());
      if (i % 7 == 0) REQUIRE(tree.remove(transaction, as_bytes(key)).value());
    }
    std::vector<std::string> keys;
    for (int i = 0; i < kRows; ++i)
      if (i % 7 != 0) keys.push_back(row_of(i));
    std::vector<Removal> removals;
    for (const std::string& key : keys) removals.push_back({as_bytes(key), std::nullopt});
    for (std::span<const Removal> left{removals}; !left.empty();) {
      const std::size_t done = remove_first(tree, transaction, left).value();
      if (done == 0) break;
      left = left.subspan(done);
    }
  }
  /// Makes what others have logged durable.
  void commit_another(Engine& engine) {
    const auto other = engine.begin();
    const std::string key = fmt::format("other {}", ++others_);
    REQUIRE(engine.tree(trees.back()).value().insert(*other, as_bytes(key), as_bytes("x")).value());
    REQUIRE(other->commit());
    others.emplace(key, "x");
  }
  /// The process's memory is lost.
  void lose(std::unique_ptr<Transaction> transaction) {
    static_cast<void>(transaction.release());
    disk.cut_power();
  }

  template <class What>
  bool live(std::uint64_t seed, What&& what, std::uint64_t cut = 0) {
    Simulation simulation{seed};
    const auto outcome = simulation.run([&] {
      if (cut != 0) disk.cut_power_at(DiskOperation::change, cut);
      auto opened = Engine::open(disk, kHome, few_pages());
      if (!opened) FAIL(opened.error().message());
      what(**opened);
    });
    // A cut that has not come yet does not come later.
    disk.crash(seed);
    return outcome == Simulation::Outcome::stopped;
  }

  void require_content(Engine& engine) const {
    for (const TreeId tree : trees) {
      const auto reader = engine.begin();
      Cursor cursor = engine.tree(tree).value().scan(*reader, {}).value();
      Rows found;
      while (cursor.next().value()) found.emplace(as_text(cursor.key()), as_text(cursor.value()));
      Rows expected = rows;
      if (tree == trees.back()) expected.insert(others.begin(), others.end());
      const bool is_same = found == expected;
      REQUIRE(is_same);
    }
  }

  SimulatedDisk disk;
  std::array<TreeId, kTrees> trees{};
  Rows rows;
  /// Rows of the last tree that others have committed.
  Rows others;
  Random& random() noexcept { return random_; }

 private:
  Random random_;
  int others_ = 0;
};

}  // namespace

TEST_CASE("R15 a loser of many rows is not read before the door opens, and is rolled back",
          "[storage][crash]") {
  const Limits limits(100, 0);
  for (const int checkpoints : {0, 1, 2, 3}) {
    CAPTURE(checkpoints);
    CutOff database(static_cast<std::uint64_t>(checkpoints) + 1);
    CHECK(database.live(2, [&](Engine& engine) {
      auto loser = engine.begin();
      if (checkpoints == 3) REQUIRE(engine.checkpoint());
      database.change_all(engine, *loser, database.trees[0]);
      if (checkpoints >= 1) REQUIRE(engine.checkpoint());
      database.change_all(engine, *loser, database.trees[1]);
      database.commit_another(engine);
      if (checkpoints >= 2) REQUIRE(engine.checkpoint());
      database.lose(std::move(loser));
    }));
    REQUIRE_FALSE(database.live(3, [&](Engine& engine) {
      const auto rollbacks = engine.statistics().restart_rollbacks;
      REQUIRE(rollbacks.size() == 1);
      CHECK_FALSE(rollbacks[0].was_read);
      CHECK(rollbacks[0].closed_trees == 2);
      // Another tree is open meanwhile.
      database.commit_another(engine);
      database.require_content(engine);
      CHECK(engine.statistics().restart_rollbacks.empty());
      CHECK(engine.verify().value().empty());
      REQUIRE(engine.close());
    }));
  }
}

TEST_CASE("R15 a loser is read whose trees are not all known to be closed", "[storage][crash]") {
  const Limits limits(100, 0);
  enum class Also { few_rows, new_tree, dropped_tree, large_value, load, older_checkpoint };
  for (const Also also : {Also::few_rows, Also::new_tree, Also::dropped_tree, Also::large_value,
                          Also::load, Also::older_checkpoint}) {
    CAPTURE(static_cast<int>(also));
    CutOff database(5);
    TreeId blank{};
    CHECK(database.live(6, [&](Engine& engine) {
      {
        const auto first = engine.begin();
        blank = engine.create_tree(*first).value();
        REQUIRE(first->commit());
      }
      auto loser = engine.begin();
      database.change_all(engine, *loser, database.trees[0]);
      Tree small = engine.tree(database.trees[1]).value();
      switch (also) {
        case Also::few_rows:
          REQUIRE(small.insert(*loser, as_bytes("few"), as_bytes("rows")).value());
          break;
        case Also::new_tree:
          static_cast<void>(engine.create_tree(*loser).value());
          break;
        case Also::dropped_tree:
          REQUIRE(engine.drop_tree(*loser, blank));
          break;
        case Also::large_value:
          for (int i = 0; i < 200; ++i)
            REQUIRE(small
                        .insert(*loser, as_bytes(fmt::format("large {}", i)),
                                as_bytes(std::string(9000, 'l')))
                        .value());
          break;
        case Also::load: {
          const auto load = engine.start_load(*loser, blank, Engine::Loadable::blank_tree).value();
          REQUIRE(load != nullptr);
          for (int i = 0; i < 50; ++i)
            REQUIRE(load->add(as_bytes(row_of(i)), as_bytes("loaded")).value());
          REQUIRE(load->finish());
          break;
        }
        case Also::older_checkpoint:
          break;
      }
      REQUIRE(engine.checkpoint());
      database.change_all(engine, *loser, database.trees[2]);
      const auto other = engine.begin();
      REQUIRE(engine.tree(database.trees[1])
                  .value()
                  .insert(*other, as_bytes("z"), as_bytes("z"))
                  .value());
      REQUIRE(other->commit());
      database.lose(std::move(loser));
    }));
    Simulation{7}.run([&] {
      if (also == Also::older_checkpoint) test::make_control_version_2(database.disk, kHome);
    });
    REQUIRE_FALSE(database.live(8, [&](Engine& engine) {
      const auto rollbacks = engine.statistics().restart_rollbacks;
      REQUIRE(rollbacks.size() == 1);
      CHECK(rollbacks[0].was_read);
      {
        const auto remover = engine.begin();
        Tree tree = engine.tree(database.trees[1]).value();
        REQUIRE(tree.remove(*remover, as_bytes("z")).value());
        REQUIRE(remover->commit());
      }
      database.require_content(engine);
      const auto reader = engine.begin();
      Cursor cursor = engine.tree(blank).value().scan(*reader, {}).value();
      CHECK_FALSE(cursor.next().value());
      CHECK(engine.verify().value().empty());
    }));
  }
}

TEST_CASE("R15 power cuts with losers of many rows across checkpoints, three deep",
          "[storage][crash]") {
  struct Totals {
    std::uint64_t cuts;
    std::uint64_t unread;
  };
  const auto totals = for_seeds_apart<Totals>(48, 8, [](std::uint64_t seed, Totals& total) {
    const Limits limits(std::array<std::uint64_t, 3>{100, 0, 700}[seed % 3], 0);
    CutOff database(seed);
    Random& random = database.random();
    database.live(seed * 10, [&](Engine& engine) {
      std::vector<std::unique_ptr<Transaction>> losers;
      losers.push_back(engine.begin());
      // Of two losers each has trees of its own.
      if (random.one_in(2)) losers.push_back(engine.begin());
      for (std::size_t step = 0; step < 2; ++step) {
        if (random.one_in(2)) REQUIRE(engine.checkpoint());
        database.change_all(engine, *losers[step % losers.size()], database.trees[step]);
        if (random.one_in(2)) REQUIRE(engine.checkpoint());
      }
      database.commit_another(engine);
      if (random.one_in(3)) {
        // A rollback may be under way at the cut.
        database.disk.cut_power_at(DiskOperation::change, random.between(1, 30));
        losers[0]->rollback();
      }
      for (auto& loser : losers) static_cast<void>(loser.release());
      database.disk.cut_power();
    });
    for (std::uint64_t depth = 1; depth <= 3; ++depth) {
      const bool is_cut = database.live(
          seed * 10 + depth,
          [&](Engine& engine) {
            total.unread += static_cast<std::uint64_t>(
                std::ranges::count_if(engine.statistics().restart_rollbacks,
                                      [](const auto& rollback) { return !rollback.was_read; }));
            if (random.one_in(2)) REQUIRE(engine.checkpoint());
            database.require_content(engine);
            REQUIRE(engine.close());
          },
          random.between(1, 80));
      total.cuts += is_cut ? 1U : 0U;
    }
    REQUIRE_FALSE(database.live(seed * 10 + 9, [&](Engine& engine) {
      database.require_content(engine);
      CHECK(engine.verify().value().empty());
      CHECK(engine.statistics().restart_rollbacks.empty());
    }));
  });
  WARN(totals.cuts << " power cuts, " << totals.unread << " losers not read");
  CHECK(totals.cuts > 40);
  CHECK(totals.unread > 30);
}
