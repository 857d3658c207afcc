// Space of removed records is reclaimed in the background, and no record is removed that is still
// needed.
#include <catch2/catch.hpp>
#include <thread>

#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/testing/churn.h"
#include "storage/testing/consumed_queue.h"
#include "storage/testing/database_home.h"
#include "storage/testing/temporary_engine.h"
#include "storage/txn/tidying/key_ranges.h"

namespace swizzle {
namespace {

using test::kHome;
using testing::Churn;
using testing::Rows;

EngineOptions tidying_options() {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{16} << 20U;
  options.log_segment_bytes = std::uint64_t{4} << 20U;
  options.log_buffer_bytes = std::uint64_t{1} << 20U;
  options.checkpoint_seconds = 86'400;
  return options;
}

void sleep_for(Duration time) {
  Runtime& runtime = Runtime::current();
  runtime.sleep_until(runtime.now() + time);
}

/// Waits until the background tasks have made the churned trees small enough. A leaf that a
/// snapshot held is visited again after at most 64 s, later the longer it was held.
bool shrinks_to(const Churn& churn, std::uint64_t most) {
  for (int i = 0; i < 2000; ++i) {
    if (churn.pages() <= most) return true;
    sleep_for(std::chrono::milliseconds{100});
  }
  return false;
}

/// Churns with a snapshot held in the middle, and checks its content and the size afterwards.
void churn_with_snapshot(Engine& engine, Churn::Kind kind, int transactions) {
  Churn churn(engine, kind, test_seed());
  for (int i = 0; i < transactions; ++i) churn.run_transaction();
  const std::uint64_t before = churn.pages();
  {
    const auto reader = engine.begin(Isolation::repeatable_read);
    const Rows rows = churn.read(*reader, churn.table_id());
    CHECK(rows == churn.rows());
    const Rows entries = churn.entries();
    for (int i = 0; i < transactions; ++i) churn.run_transaction();
    sleep_for(std::chrono::seconds{1});
    CHECK(churn.read(*reader, churn.table_id()) == rows);
    CHECK(churn.read(*reader, churn.index_id()) == entries);
    REQUIRE(reader->commit());
  }
  for (int i = 0; i < transactions; ++i) churn.run_transaction();
  const std::uint64_t fresh = churn.fresh_pages();
  // In two trees this small, a few leaves without a neighbour to merge with are a tenth.
  constexpr std::uint64_t kFewLeaves = 6;
  CHECK(shrinks_to(churn, fresh * 3 / 2 + kFewLeaves));
  WARN("pages: " << before << " before the snapshot, " << churn.pages() << " at the end, " << fresh
                 << " of a fresh load");
  const auto reader = engine.begin();
  CHECK(churn.read(*reader, churn.table_id()) == churn.rows());
  CHECK(churn.read(*reader, churn.index_id()) == churn.entries());
  REQUIRE(reader->commit());
  CHECK(engine.verify().value().empty());
}

constexpr std::array kKinds{Churn::Kind::queue, Churn::Kind::window, Churn::Kind::sessions,
                            Churn::Kind::counters, Churn::Kind::hot_index};

}  // namespace

TEST_CASE("T24 churned trees stay small beside a snapshot, on threads", "[storage][engine]") {
  testing::TemporaryEngine db;
  db.engine.reset();
  db.options.pool_bytes = tidying_options().pool_bytes;
  db.open();
  for (const Churn::Kind kind : kKinds) {
    INFO("kind " << static_cast<int>(kind));
    churn_with_snapshot(*db.engine, kind, 4000);
  }
}

TEST_CASE("T24 churned trees stay small beside a snapshot, simulated", "[storage][engine]") {
  for (const Churn::Kind kind : kKinds) {
    INFO("kind " << static_cast<int>(kind));
    SimulatedDisk disk{1};
    REQUIRE(Engine::create(disk, kHome, tidying_options()));
    Simulation simulation{test_seed()};
    simulation.run([&] {
      const auto engine = Engine::open(disk, kHome, tidying_options()).value();
      churn_with_snapshot(*engine, kind, 1500);
      REQUIRE(engine->close());
    });
  }
}

namespace {

constexpr int kWriters = 3;

/// Each writer's rows; the writers' keys are interleaved.
struct Truth {
  std::array<Rows, kWriters> committed;
  std::array<std::optional<Rows>, kWriters> in_doubt;
  TreeId tree{};

  /// True if `part`, the writer's rows, is its last commit or the one in doubt.
  [[nodiscard]] bool has(int writer, const Rows& part) const {
    const auto w = static_cast<std::size_t>(writer);
    return part == committed[w] || (in_doubt[w] && part == *in_doubt[w]);
  }
};

std::array<Rows, kWriters> parts_of(const Rows& all) {
  std::array<Rows, kWriters> parts;
  for (const auto& [key, value] : all) parts[std::stoul(key) % kWriters].emplace(key, value);
  return parts;
}

Rows read_all(Engine& engine, Transaction& transaction, TreeId tree, Direction direction) {
  Rows rows;
  Cursor cursor = engine.tree(tree).value().scan(transaction, {}, direction).value();
  while (cursor.next().value())
    INVARIANT(rows.emplace(as_text(cursor.key()), as_text(cursor.value())).second);
  return rows;
}

/// Fills ranges of keys and removes them again, so that leaves become empty, full and sparse.
enum class Commits : std::uint8_t { any, durable };
void write_stretches(Engine& engine, Truth& truth, int writer, std::uint64_t seed, int count,
                     Commits commits) {
  constexpr std::uint64_t kNumbers = 900;
  Random random{seed};
  const auto w = static_cast<std::size_t>(writer);
  for (int i = 0; i < count; ++i) {
    Rows after = truth.committed[w];
    const auto transaction = engine.begin();
    Tree tree = engine.tree(truth.tree).value();
    const std::uint64_t first = random.below(kNumbers);
    const std::uint64_t length = random.between(1, 60);
    const bool fills = random.one_in(3);
    // A serializable reader may wait for the writer as well; one of the two is a deadlock's victim.
    bool is_victim = false;
    for (std::uint64_t n = first; n < std::min(first + length, kNumbers) && !is_victim; ++n) {
      const std::string key = std::to_string(300'000 + n * kWriters + w);
      std::string value(random.between(20, 160), static_cast<char>('a' + random.below(26)));
      const auto done = fills ? tree.insert(*transaction, as_bytes(key), as_bytes(value))
                              : tree.remove(*transaction, as_bytes(key));
      is_victim = !done.has_value();
      if (is_victim)
        INVARIANT(done.error().state() == sqlstate::deadlock_detected);
      else if (fills)
        INVARIANT(*done == after.emplace(key, std::move(value)).second);
      else
        INVARIANT(*done == (after.erase(key) == 1));
    }
    if (is_victim) {
      transaction->rollback();
      continue;
    }
    if (random.one_in(8)) {
      transaction->rollback();
    } else {
      truth.in_doubt[w] = after;
      const bool waits = commits == Commits::durable || random.one_in(4);
      INVARIANT(transaction
                    ->commit(waits ? Transaction::Durability::synchronous
                                   : Transaction::Durability::asynchronous)
                    .has_value());
      truth.committed[w] = std::move(after);
      truth.in_doubt[w].reset();
    }
    if (random.one_in(3)) sleep_for(std::chrono::milliseconds{random.below(250)});
  }
}

/// Takes snapshots, and checks that each shows the same for as long as it is held.
void read_snapshots(Engine& engine, const Truth& truth, std::uint64_t seed, int count) {
  Random random{seed};
  for (int i = 0; i < count; ++i) {
    const auto transaction = engine.begin(Isolation::repeatable_read);
    // The first read takes the snapshot; no other task runs between it and these copies.
    ValueBuffer value;
    INVARIANT(engine.tree(truth.tree).value().get(*transaction, as_bytes("0"), value).has_value());
    const Truth then = truth;
    const Rows seen = read_all(engine, *transaction, truth.tree, Direction::forward);
    const auto parts = parts_of(seen);
    for (int writer = 0; writer < kWriters; ++writer)
      REQUIRE(then.has(writer, parts[static_cast<std::size_t>(writer)]));
    for (std::uint64_t again = random.below(4); again != 0; --again) {
      sleep_for(std::chrono::milliseconds{random.below(700)});
      const Direction direction = random.one_in(2) ? Direction::forward : Direction::backward;
      REQUIRE(read_all(engine, *transaction, truth.tree, direction) == seen);
    }
    transaction->rollback();
  }
}

/// The same at SERIALIZABLE: the records that it has read stay locked and unchanged.
void read_locked(Engine& engine, const Truth& truth, std::uint64_t seed, int count) {
  Random random{seed};
  for (int i = 0; i < count; ++i) {
    const auto transaction = engine.begin(Isolation::serializable);
    const std::string low = std::to_string(300'000 + random.below(2'700));
    const std::string high = std::to_string(std::stoul(low) + 90);
    const auto read = [&] {
      Rows rows;
      ScanRange range;
      range.low = as_bytes(low);
      range.high = as_bytes(high);
      auto cursor = engine.tree(truth.tree).value().scan(*transaction, range);
      while (cursor) {
        const auto more = cursor->next();
        if (!more) return std::optional<Rows>{};  // the victim of a deadlock
        if (!*more) return std::optional<Rows>{std::move(rows)};
        rows.emplace(as_text(cursor->key()), as_text(cursor->value()));
      }
      return std::optional<Rows>{};
    };
    const auto seen = read();
    if (seen) {
      sleep_for(std::chrono::milliseconds{random.below(400)});
      REQUIRE(read() == seen);
    }
    transaction->rollback();
    sleep_for(std::chrono::milliseconds{random.below(400)});
  }
}

void create_for_tidying(SimulatedDisk& disk, Truth& truth, const EngineOptions& options) {
  REQUIRE(Engine::create(disk, kHome, options));
  REQUIRE(disk.sync_directory("/"));
  Simulation simulation{1};
  simulation.run([&] {
    const auto engine = Engine::open(disk, kHome, options).value();
    auto transaction = engine->begin();
    truth.tree = engine->create_tree(*transaction).value();
    REQUIRE(transaction->commit());
    transaction.reset();
    REQUIRE(engine->close());
  });
}

struct TidyingTotals {
  std::uint64_t ghosts;
  std::uint64_t pages;
  std::uint64_t cuts;  ///< power cuts after the run's tidier had removed something
};

void add_to(TidyingTotals& totals, const Engine& engine) {
  const EngineStatistics statistics = engine.statistics();
  totals.ghosts += statistics.ghosts_tidied;
  totals.pages += statistics.pages_tidied;
}

}  // namespace

TEST_CASE("T24 P38 no snapshot loses a row to the tidier, and no reader a lock",
          "[storage][engine][isolation]") {
  const EngineOptions options = tidying_options();
  const auto totals =
      for_seeds_apart<TidyingTotals>(24, 6, [&](std::uint64_t seed, TidyingTotals& total) {
        SimulatedDisk disk{seed};
        Truth truth;
        create_for_tidying(disk, truth, options);
        Simulation simulation{seed};
        simulation.run([&] {
          const auto engine = Engine::open(disk, kHome, options).value();
          // Load all pages, so that later reads do not park and no other task runs in the middle of
          // a snapshot.
          read_all(*engine, *engine->begin(), truth.tree, Direction::forward);
          std::vector<std::unique_ptr<Task>> tasks;
          const auto spawn = [&](auto body) {
            tasks.push_back(Runtime::current().spawn("session", body));
          };
          for (int writer = 0; writer < kWriters; ++writer)
            spawn([&, writer] {
              write_stretches(*engine, truth, writer, seed * 10 + static_cast<unsigned>(writer), 60,
                              Commits::any);
            });
          spawn([&] { read_snapshots(*engine, truth, seed * 10 + 7, 8); });
          spawn([&] { read_locked(*engine, truth, seed * 10 + 8, 8); });
          for (const auto& task : tasks) task->join();
          sleep_for(std::chrono::seconds{5});
          add_to(total, *engine);
          REQUIRE(engine->verify().value().empty());
          const auto transaction = engine->begin();
          const auto parts =
              parts_of(read_all(*engine, *transaction, truth.tree, Direction::backward));
          for (std::size_t w = 0; w < kWriters; ++w) REQUIRE(parts[w] == truth.committed[w]);
          transaction->rollback();
          REQUIRE(engine->close());
        });
      });
  WARN(totals.ghosts << " ghosts removed, " << totals.pages << " pages given back");
  CHECK(totals.ghosts > 1000);
  CHECK(totals.pages > 50);
}

TEST_CASE("T24 a reader's gap stays locked when the ghost behind it is tidied",
          "[storage][engine][isolation]") {
  SimulatedDisk disk{1};
  Truth truth;
  create_for_tidying(disk, truth, tidying_options());
  Simulation simulation{1};
  simulation.run([&] {
    const auto engine = Engine::open(disk, kHome, tidying_options()).value();
    Tree tree = engine->tree(truth.tree).value();
    const auto filling = engine->begin();
    for (const char* const key : {"a", "g", "z"})
      REQUIRE(tree.insert(*filling, as_bytes(key), as_bytes("v")).value());
    REQUIRE(filling->commit());
    // The snapshot keeps the ghost until the reader has reached it.
    const auto snapshot = engine->begin(Isolation::repeatable_read);
    CHECK(read_all(*engine, *snapshot, truth.tree, Direction::forward).size() == 3);
    const auto removing = engine->begin();
    REQUIRE(tree.remove(*removing, as_bytes("g")).value());
    REQUIRE(removing->commit());
    const auto reader = engine->begin(Isolation::serializable);
    {
      ScanRange range;
      range.low = as_bytes("a");
      range.high = as_bytes("c");
      Cursor cursor = tree.scan(*reader, range).value();
      CHECK(cursor.next().value());
      CHECK(!cursor.next().value());
    }
    REQUIRE(snapshot->commit());
    sleep_for(std::chrono::seconds{5});
    REQUIRE(engine->tidy(truth.tree));
    bool is_inserted = false;
    const auto writer = Runtime::current().spawn("writer", [&] {
      const auto inserting = engine->begin();
      INVARIANT(tree.insert(*inserting, as_bytes("b"), as_bytes("v")).value());
      INVARIANT(inserting->commit().has_value());
      is_inserted = true;
    });
    sleep_for(std::chrono::seconds{1});
    CHECK(!is_inserted);
    REQUIRE(reader->commit());
    writer->join();
    CHECK(engine->tidy(truth.tree).value().ghosts_left == 0);
    REQUIRE(engine->close());
  });
}

TEST_CASE("T24 P18 a crash while leaves are tidied loses hints and nothing else",
          "[storage][engine][crash]") {
  EngineOptions options = tidying_options();
  options.pool_bytes = std::uint64_t{64} * 8704;
  options.log_segment_bytes = std::uint64_t{256} << 10U;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  options.checkpoint_log_bytes = std::uint64_t{400} << 10U;
  const auto totals =
      for_seeds_apart<TidyingTotals>(30, 10, [&](std::uint64_t seed, TidyingTotals& total) {
        Random random{seed};
        SimulatedDisk disk{seed};
        Truth truth;
        create_for_tidying(disk, truth, options);
        // Outlives the tasks that a power cut abandons.
        std::uint64_t tidied = 0;
        const auto work = [&](std::uint64_t run, std::uint64_t cut) {
          tidied = 0;
          Simulation simulation{run};
          return simulation.run([&] {
            if (cut != 0) disk.cut_power_at(DiskOperation::change, cut);
            auto opened = Engine::open(disk, kHome, options);
            if (!opened) FAIL(opened.error().message());
            const std::unique_ptr<Engine> engine = std::move(*opened);
            {
              const auto reader = engine->begin();
              const auto parts =
                  parts_of(read_all(*engine, *reader, truth.tree, Direction::forward));
              for (int writer = 0; writer < kWriters; ++writer) {
                const auto w = static_cast<std::size_t>(writer);
                REQUIRE(truth.has(writer, parts[w]));
                truth.committed[w] = parts[w];
                truth.in_doubt[w].reset();
              }
            }
            REQUIRE(engine->verify().value().empty());
            std::vector<std::unique_ptr<Task>> tasks;
            for (int writer = 0; writer < kWriters; ++writer)
              tasks.push_back(Runtime::current().spawn("writer", [&, writer] {
                write_stretches(*engine, truth, writer, run * 10 + static_cast<unsigned>(writer),
                                60, Commits::durable);
              }));
            bool is_over = false;
            const auto watcher = Runtime::current().spawn("watcher", [&] {
              while (!is_over) {
                tidied = engine->statistics().ghosts_tidied;
                sleep_for(std::chrono::milliseconds{20});
              }
            });
            for (const auto& task : tasks) task->join();
            is_over = true;
            watcher->join();
            add_to(total, *engine);
            if (cut != 0) return;
            REQUIRE(engine->tidy(truth.tree).value().ghosts_left == 0);
            REQUIRE(engine->verify().value().empty());
          });
        };
        for (std::uint64_t depth = 0; depth < 4; ++depth) {
          // A run makes about 300 changes, 30 of them to open the database.
          const std::uint64_t cut = random.between(20, 300);
          const bool is_cut = work(seed * 10 + depth, cut) == Simulation::Outcome::stopped;
          total.cuts += is_cut && tidied != 0 ? 1U : 0U;
          disk.crash(seed * 10 + depth);
        }
        REQUIRE(work(seed * 10 + 8, 0) != Simulation::Outcome::stopped);
      });
  WARN(totals.cuts << " power cuts beside the tidier, " << totals.ghosts << " ghosts removed, "
                   << totals.pages << " pages given back");
  CHECK(totals.cuts > 60);
}

TEST_CASE("T24 what was to be tidied at a stop is tidied after the start", "[storage][engine]") {
  const bool is_reopened_twice = GENERATE(false, true);
  SimulatedDisk disk{1};
  REQUIRE(Engine::create(disk, kHome, tidying_options()));
  TreeId id{};
  std::uint64_t full = 0;
  Simulation{1}.run([&] {
    const auto engine = Engine::open(disk, kHome, tidying_options()).value();
    id = testing::fill_queue(*engine);
    full = engine->statistics().pages_allocated;
    const auto reader = engine->begin(Isolation::repeatable_read);
    CHECK(read_all(*engine, *reader, id, Direction::forward).size() == testing::kQueued);
    testing::consume(*engine, id, 0, testing::kQueued - 10);
    sleep_for(std::chrono::seconds{10});
    CHECK(engine->statistics().pages_allocated >= full);
    reader->rollback();
    REQUIRE(engine->close());
  });
  for (int start = is_reopened_twice ? 0 : 1; start < 2; ++start)
    Simulation{2}.run([&] {
      const auto engine = Engine::open(disk, kHome, tidying_options()).value();
      // The first stop comes before anything could be done.
      if (start == 1) {
        CHECK(testing::gets_small(*engine, full / 4));
        CHECK(engine->verify().value().empty());
        const auto reader = engine->begin();
        CHECK(read_all(*engine, *reader, id, Direction::forward).size() == 10);
      }
      REQUIRE(engine->close());
    });
}

TEST_CASE("T24 what was to be tidied at a power cut is tidied after the start",
          "[storage][engine][crash]") {
  const std::uint64_t seed = GENERATE(1U, 2U, 3U, 4U);
  CAPTURE(seed);
  SimulatedDisk disk{seed};
  REQUIRE(Engine::create(disk, kHome, tidying_options()));
  REQUIRE(disk.sync_directory("/"));
  TreeId id{};
  std::uint64_t full = 0;
  Simulation{seed}.run([&] {
    const auto engine = Engine::open(disk, kHome, tidying_options()).value();
    id = testing::fill_queue(*engine);
    full = engine->statistics().pages_allocated;
    REQUIRE(engine->close());
  });
  // Part of the removals is in pages that are written, and is older than the last checkpoint.
  Simulation{seed + 10}.run([&] {
    const auto engine = Engine::open(disk, kHome, tidying_options()).value();
    const auto reader = engine->begin(Isolation::repeatable_read);
    CHECK(read_all(*engine, *reader, id, Direction::forward).size() == testing::kQueued);
    testing::consume(*engine, id, 0, testing::kQueued / 2);
    reader->rollback();
    REQUIRE(engine->close());
  });
  Simulation{seed + 20}.run([&] {
    const auto engine = Engine::open(disk, kHome, tidying_options()).value();
    const auto reader = engine->begin(Isolation::repeatable_read);
    CHECK(read_all(*engine, *reader, id, Direction::forward).size() == testing::kQueued / 2);
    testing::consume(*engine, id, testing::kQueued / 2, testing::kQueued * 3 / 4);
    REQUIRE(engine->checkpoint());
    testing::consume(*engine, id, testing::kQueued * 3 / 4, testing::kQueued - 10);
    // The process ends here.
  });
  disk.crash(seed);
  Simulation{seed + 30}.run([&] {
    const auto engine = Engine::open(disk, kHome, tidying_options()).value();
    CHECK(testing::gets_small(*engine, full / 4));
    CHECK(engine->verify().value().empty());
    const auto reader = engine->begin();
    CHECK(read_all(*engine, *reader, id, Direction::forward).size() == 10);
    reader->rollback();
    REQUIRE(engine->close());
  });
}

TEST_CASE("T24 a full set of hints gets coarser and forgets no key", "[storage]") {
  Random random{test_seed()};
  KeyRanges ranges;
  std::vector<std::pair<TreeId, std::string>> keys;
  for (int i = 0; i < 20'000; ++i) {
    const TreeId tree{static_cast<std::uint32_t>(2 + random.below(3))};
    std::string low = std::to_string(random.below(1'000'000'000));
    std::string high = low;
    if (random.one_in(10)) high += "9";
    ranges.add(tree, as_bytes(low), as_bytes(high));
    REQUIRE(ranges.size() <= KeyRanges::kMostRanges);
    keys.emplace_back(tree, std::move(low));
    keys.emplace_back(tree, std::move(high));
  }
  CHECK(ranges.lost() == 0);
  std::ranges::sort(keys);
  auto key = keys.begin();
  std::optional<KeyRanges::Range> before;
  while (auto range = ranges.take_from({}, {})) {
    if (before) {
      const bool ascends =
          before->tree < range->tree || (before->tree == range->tree && before->high < range->low);
      REQUIRE(ascends);
    }
    for (; key != keys.end() && key->first == range->tree && key->second <= range->high; ++key)
      REQUIRE(key->second >= range->low);
    before = std::move(range);
  }
  CHECK(key == keys.end());
}

TEST_CASE("T24 what has been visited leaves the set of hints, and nothing else", "[storage]") {
  KeyRanges ranges;
  const TreeId tree{2};
  for (const char* const key : {"b", "d", "f", "h"}) ranges.add(tree, as_bytes(key), as_bytes(key));
  ranges.add(tree, as_bytes("j"), as_bytes("p"));
  ranges.add(TreeId{3}, as_bytes("c"), as_bytes("c"));
  const auto left = [&ranges] {
    std::string text;
    while (const auto range = ranges.take_from({}, {}))
      text += std::to_string(raw(range->tree)) + range->low + range->high + " ";
    return text;
  };
  SECTION("up to a key") {
    ranges.remove(tree, "d", "h");
    CHECK(left() == "2bb 2hh 2jp 3cc ");
  }
  SECTION("up to a key within a range") {
    ranges.remove(tree, "h", "m");
    CHECK(left() == "2bb 2dd 2ff 2mp 3cc ");
  }
  SECTION("to the end of the tree") {
    ranges.remove(tree, "c", std::nullopt);
    CHECK(left() == "2bb 3cc ");
  }
  SECTION("rounds go on behind a place, and begin anew at the end") {
    CHECK(ranges.take_from(tree, "g")->low == "h");
    CHECK(ranges.take_from(TreeId{3}, "d")->low == "b");
  }
}

TEST_CASE("T24 trees come, are emptied and go while the tidier is in them", "[storage][engine]") {
  EngineOptions options = tidying_options();
  options.pool_bytes = std::uint64_t{64} * 8704;
  for_seeds(12, [&](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    REQUIRE(Engine::create(disk, kHome, options));
    Simulation simulation{seed};
    simulation.run([&] {
      const auto engine = Engine::open(disk, kHome, options).value();
      std::vector<std::unique_ptr<Task>> tasks;
      for (std::uint64_t session = 0; session < 3; ++session)
        tasks.push_back(Runtime::current().spawn("session", [&, session] {
          Random random{seed * 10 + session};
          for (int i = 0; i < 25; ++i) {
            const auto transaction = engine->begin();
            const TreeId tree = engine->create_tree(*transaction).value();
            const bool is_shared = random.one_in(2);
            Tree rows = engine->tree(tree).value();
            const auto fill = [&](Transaction& by) {
              for (int row = 0; row < 300; ++row)
                INVARIANT(rows.insert(by, as_bytes(std::to_string(1000 + row)),
                                      as_bytes(std::string(100, 'r')))
                              .value());
            };
            fill(*transaction);
            if (!is_shared && random.one_in(2)) {
              transaction->rollback();
              continue;
            }
            INVARIANT(transaction->commit().has_value());
            const auto emptying = engine->begin();
            for (int row = 0; row < 300; ++row)
              if (!random.one_in(20))
                INVARIANT(rows.remove(*emptying, as_bytes(std::to_string(1000 + row))).value());
            INVARIANT(emptying->commit().has_value());
            sleep_for(std::chrono::milliseconds{random.below(250)});
            const auto dropping = engine->begin();
            INVARIANT(engine->drop_tree(*dropping, tree).has_value());
            if (random.one_in(6))
              dropping->rollback();
            else
              INVARIANT(dropping->commit().has_value());
          }
        }));
      for (const auto& task : tasks) task->join();
      CHECK(engine->statistics().ghosts_tidied > 0);
      sleep_for(std::chrono::seconds{5});
      REQUIRE(engine->verify().value().empty());
      REQUIRE(engine->close());
    });
  });
}

TEST_CASE("T24 a ghost that a reader has locked stays", "[storage][engine][isolation]") {
  SimulatedDisk disk{1};
  Truth truth;
  create_for_tidying(disk, truth, tidying_options());
  Simulation simulation{1};
  simulation.run([&] {
    const auto engine = Engine::open(disk, kHome, tidying_options()).value();
    Tree tree = engine->tree(truth.tree).value();
    const auto filling = engine->begin();
    for (const char* const key : {"a", "g", "z"})
      REQUIRE(tree.insert(*filling, as_bytes(key), as_bytes("v")).value());
    REQUIRE(filling->commit());
    const auto snapshot = engine->begin(Isolation::repeatable_read);
    CHECK(read_all(*engine, *snapshot, truth.tree, Direction::forward).size() == 3);
    const auto removing = engine->begin();
    REQUIRE(tree.remove(*removing, as_bytes("g")).value());
    REQUIRE(removing->commit());
    // The gap from the ghost to the next key is locked only through the ghost.
    const auto reader = engine->begin(Isolation::serializable);
    {
      ScanRange range;
      range.low = as_bytes("g");
      range.high = as_bytes("p");
      Cursor cursor = tree.scan(*reader, range).value();
      CHECK(!cursor.next().value());
    }
    REQUIRE(snapshot->commit());
    sleep_for(std::chrono::seconds{5});
    CHECK(engine->tidy(truth.tree).value().ghosts_left == 1);
    bool is_inserted = false;
    const auto writer = Runtime::current().spawn("writer", [&] {
      const auto inserting = engine->begin();
      INVARIANT(tree.insert(*inserting, as_bytes("h"), as_bytes("v")).value());
      INVARIANT(inserting->commit().has_value());
      is_inserted = true;
    });
    sleep_for(std::chrono::seconds{1});
    CHECK(!is_inserted);
    REQUIRE(reader->commit());
    writer->join();
    CHECK(engine->tidy(truth.tree).value().ghosts_left == 0);
    REQUIRE(engine->close());
  });
}

}  // namespace swizzle
