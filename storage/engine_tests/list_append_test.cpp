// Histories of concurrent sessions, checked for dependency cycles that the isolation level forbids.
#include "storage/testing/list_append.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <thread>

#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/testing/database_home.h"
#include "storage/testing/temporary_engine.h"

namespace swizzle {
namespace {

using testing::Anomaly;
using testing::Finding;
using testing::HistoryLog;
using testing::ListAppender;

using test::kHome;

/// True if the level allows the anomaly, as in PostgreSQL.
bool is_allowed(Isolation isolation, Anomaly anomaly) {
  switch (isolation) {
    case Isolation::read_committed:
      return anomaly >= Anomaly::g_single;
    case Isolation::repeatable_read:
      return anomaly >= Anomaly::g2_item;
    case Isolation::serializable:
    case Isolation::serializable_snapshot:
      break;
  }
  return false;
}

/// Fails on anomalies that the level forbids, and saves the history; returns the allowed ones.
std::set<Anomaly> judge(Isolation isolation, const HistoryLog& log, const std::string& run) {
  std::set<Anomaly> allowed;
  for (const Finding& finding : check(log.history())) {
    if (is_allowed(isolation, finding.anomaly)) {
      allowed.insert(finding.anomaly);
      continue;
    }
    const std::string file = "list-append-" + run + ".history";
    std::ofstream{file} << to_text(log.history());
    FAIL(run << ": " << name(finding.anomaly) << ": " << finding.what << " (see " << file << ")");
  }
  return allowed;
}

std::string level_name(Isolation isolation) {
  constexpr std::array<const char*, 4> names{"read-committed", "repeatable-read", "serializable",
                                             "serializable-snapshot"};
  return names[static_cast<std::size_t>(isolation)];
}

/// With key locks, with marks instead, and with both.
EngineOptions small_options(std::uint64_t seed) {
  EngineOptions options;
  options.row_lock_limit = std::array{10'000U, 0U, 1U}[seed % 3];
  options.pool_bytes = std::uint64_t{64} * 8704;
  options.log_segment_bytes = std::uint64_t{256} << 10U;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  options.checkpoint_log_bytes = std::uint64_t{400} << 10U;
  return options;
}

/// Works with some sessions killed, until the power is cut at the `cut`-th change of the disk (0:
/// to the end, then reads everything).
void run_until_cut(SimulatedDisk& disk, std::uint64_t seed, std::uint64_t cut, int sessions,
                   int transactions, Isolation isolation, TreeId tree, HistoryLog& log) {
  Simulation simulation{seed};
  simulation.run([&] {
    if (cut != 0) disk.cut_power_at(DiskOperation::change, cut);
    auto opened = Engine::open(disk, kHome, small_options(seed));
    if (!opened) FAIL(opened.error().message());
    const std::unique_ptr<Engine> engine = std::move(*opened);
    std::vector<std::unique_ptr<ListAppender>> appenders;
    std::vector<std::unique_ptr<Task>> tasks;
    for (int i = 0; i < sessions; ++i) {
      appenders.push_back(std::make_unique<ListAppender>(*engine, tree, isolation, log,
                                                         seed * 100 + static_cast<unsigned>(i)));
      tasks.push_back(Runtime::current().spawn(
          "session", [&, i] { appenders[static_cast<std::size_t>(i)]->run(transactions); }));
    }
    Random random{seed};
    for (int kills = 0; kills < sessions; ++kills) {
      Runtime::current().sleep_until(Runtime::current().now() + Duration{random.below(2'000'000)});
      appenders[random.below(appenders.size())]->cancel();
    }
    for (const auto& task : tasks) task->join();
    if (cut == 0) appenders.front()->read_all();
  });
}

TreeId create(SimulatedDisk& disk) {
  REQUIRE(Engine::create(disk, kHome, small_options(1)));
  REQUIRE(disk.sync_directory("/"));
  TreeId tree{};
  Simulation simulation{1};
  simulation.run([&] {
    auto engine = Engine::open(disk, kHome, small_options(1)).value();
    auto transaction = engine->begin();
    tree = engine->create_tree(*transaction).value();
    REQUIRE(transaction->commit());
    transaction.reset();
    REQUIRE(engine->close());
  });
  return tree;
}

}  // namespace

TEST_CASE("list-append histories under power cuts show only what their level allows",
          "[storage][isolation][simulation]") {
  const auto isolation = GENERATE(Isolation::read_committed, Isolation::repeatable_read,
                                  Isolation::serializable, Isolation::serializable_snapshot);
  const auto [sessions, transactions, seeds] = GENERATE(std::tuple{8, 12, 6}, std::tuple{32, 5, 3});
  std::set<Anomaly> seen;
  for_seeds(static_cast<std::uint64_t>(seeds), [&](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    HistoryLog log;
    const TreeId tree = create(disk);
    Random random{seed};
    for (std::uint64_t i = 0; i < 3; ++i) {
      run_until_cut(disk, seed * 10 + i, random.between(20, 400), sessions, transactions, isolation,
                    tree, log);
      disk.crash(seed * 10 + i);
    }
    run_until_cut(disk, seed * 10 + 8, 0, sessions, transactions, isolation, tree, log);
    const auto allowed =
        judge(isolation, log,
              level_name(isolation) + "-" + std::to_string(sessions) + "-" + std::to_string(seed));
    seen.insert(allowed.begin(), allowed.end());
  });
  // The sessions conflict, so allowed anomalies do occur.
  if (isolation == Isolation::read_committed) CHECK(seen.contains(Anomaly::g_single));
  if (isolation == Isolation::repeatable_read) CHECK(seen.contains(Anomaly::g2_item));
}

TEST_CASE_METHOD(testing::TemporaryEngine, "list-append histories of threads",
                 "[storage][isolation][stress]") {
  const auto isolation = GENERATE(Isolation::read_committed, Isolation::repeatable_read,
                                  Isolation::serializable, Isolation::serializable_snapshot);
  const auto [sessions, transactions] = GENERATE(std::pair{8, 60}, std::pair{32, 15});
  engine.reset();
  options.row_lock_limit = GENERATE(10'000U, 1U);
  open();
  HistoryLog log;
  const TreeId tree = make_tree();
  std::vector<std::unique_ptr<ListAppender>> appenders;
  std::vector<std::thread> threads;
  std::atomic<int> running{sessions};
  for (int i = 0; i < sessions; ++i)
    appenders.push_back(
        std::make_unique<ListAppender>(*engine, tree, isolation, log, static_cast<unsigned>(i)));
  for (int i = 0; i < sessions; ++i)
    threads.emplace_back([&, i] {
      appenders[static_cast<std::size_t>(i)]->run(transactions);
      --running;
    });
  Random random{7};
  while (running > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    appenders[random.below(appenders.size())]->cancel();
  }
  for (std::thread& thread : threads) thread.join();
  appenders.front()->read_all();
  judge(isolation, log, level_name(isolation) + "-threads-" + std::to_string(sessions));
  CHECK(engine->verify().value().empty());
}

}  // namespace swizzle
