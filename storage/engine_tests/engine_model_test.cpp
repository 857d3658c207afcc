// Random transactions at mixed levels, compared with a model that keeps all versions, in the
// simulation: every read of every snapshot is checked. Planted defects show that this notices them.
#include <catch2/catch.hpp>

#include "base/invariant.h"
#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/statistics.h"
#include "storage/testing/database_home.h"
#include "storage/testing/model_session.h"
#include "storage/testing/shrink.h"
#include "storage/txn/planted_fault.h"
#include "storage/txn/versions/snapshot_pause.h"

namespace swizzle {
namespace {

using test::kHome;

struct Campaign {
  int sessions = 5;
  int transactions = 25;
  std::uint64_t version_store_bytes = std::uint64_t{1} << 30U;
  std::uint64_t version_file_bytes = std::uint64_t{1} << 30U;
  std::uint32_t escalation = 100'000;
  std::uint32_t row_lock_limit = 10'000;
};

struct Totals {
  std::uint64_t reads = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t too_old = 0;
  std::uint64_t escalations = 0;
  std::uint64_t spilled = 0;
  std::uint64_t unneeded = 0;
};

/// Returns the violations after all sessions have ended; empty if there are none.
std::string complaint(Engine& engine, testing::Database& db, Totals& totals) {
  try {
    totals.reads += db.model.judge() + db.index_model.judge();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  if (const auto violations = engine.verify().value(); !violations.empty())
    return violations.front();
  // Versions are not needed any more, and must go although nothing is written.
  Runtime::current().sleep_until(Runtime::current().now() + std::chrono::seconds{2});
  if (engine.statistics().version_bytes != 0) return "versions are left behind";
  if (engine.statistics().version_file_bytes != 0) return "files of versions are left behind";
  if (!engine.snapshots().empty()) return "a snapshot is left behind";
  if (!engine.locks().empty()) return "a lock is left behind";
  return {};
}

std::string work(Engine& engine, std::uint64_t seed, const Campaign& campaign, Totals& totals) {
  std::array<TreeId, 2> trees{};
  {
    const auto transaction = engine.begin();
    for (TreeId& tree : trees) tree = engine.create_tree(*transaction).value();
    INVARIANT(transaction->commit().has_value());
  }
  testing::Database db{
      engine, engine.tree(trees[0]).value(), engine.tree(trees[1]).value(), {}, {}};
  std::vector<std::unique_ptr<Task>> tasks;
  for (int i = 0; i < campaign.sessions; ++i)
    tasks.push_back(Runtime::current().spawn("session", [&, i] {
      testing::Session(db, seed * 100 + static_cast<unsigned>(i)).run(campaign.transactions);
    }));
  for (const auto& task : tasks) task->join();
  totals.conflicts += db.conflicts;
  totals.too_old += db.too_old;
  totals.escalations += engine.statistics().lock_escalations;
  totals.spilled += engine.statistics().versions_spilled;
  totals.unneeded += engine.statistics().versions_unneeded;
  return complaint(engine, db, totals);
}

void run_once(std::uint64_t seed, const Campaign& campaign, Totals& totals) {
  SimulatedDisk disk{seed};
  EngineOptions options;
  options.pool_bytes = std::uint64_t{64} * 8704;
  options.log_segment_bytes = std::uint64_t{1} << 20U;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  options.version_store_bytes = campaign.version_store_bytes;
  options.version_file_bytes = campaign.version_file_bytes;
  options.lock_escalation_threshold = campaign.escalation;
  options.row_lock_limit = campaign.row_lock_limit;
  INVARIANT(Engine::create(disk, kHome, options).has_value());
  std::string wrong;
  Simulation simulation{seed};
  simulation.run([&] {
    auto engine = Engine::open(disk, kHome, options).value();
    wrong = work(*engine, seed, campaign, totals);
    INVARIANT(engine->close().has_value());
  });
  if (!wrong.empty()) throw std::logic_error{wrong};
}

/// Reduces a failing campaign: fewer sessions and transactions with the same failure.
std::vector<Campaign> smaller(const Campaign& campaign) {
  std::vector<Campaign> all;
  const auto with = [&](int sessions, int transactions) {
    if (sessions < 1 || transactions < 1) return;
    Campaign other = campaign;
    other.sessions = sessions;
    other.transactions = transactions;
    all.push_back(other);
  };
  with(campaign.sessions, campaign.transactions / 2);
  with(campaign.sessions - 1, campaign.transactions);
  with(campaign.sessions, campaign.transactions - 1);
  return all;
}

void run(std::uint64_t seed, const Campaign& campaign, Totals& totals) {
  testing::run_and_shrink<Campaign>(
      campaign, [&](const Campaign& of) { run_once(seed, of, totals); }, smaller,
      [](const Campaign& of) {
        return std::to_string(of.sessions) + " sessions, " + std::to_string(of.transactions) +
               " transactions each";
      });
}

/// Inserts rows and lets a serializable transaction read them all, insert between them and split
/// their pages. Then tries to insert keys from another transaction everywhere. Throws if one
/// succeeds (P7).
void try_phantoms(std::uint64_t seed) {
  SimulatedDisk disk{seed};
  EngineOptions options;
  if (seed % 2 == 0) options.row_lock_limit = 0;
  options.pool_bytes = std::uint64_t{64} * 8704;
  options.log_segment_bytes = std::uint64_t{1} << 20U;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  INVARIANT(Engine::create(disk, kHome, options).has_value());
  std::vector<std::string> let_in;
  Simulation simulation{seed};
  simulation.run([&] {
    auto engine = Engine::open(disk, kHome, options).value();
    Random random{seed};
    std::unique_ptr<Transaction> setup = engine->begin();
    const TreeId id = engine->create_tree(*setup).value();
    Tree tree = engine->tree(id).value();
    const auto put = [&](Transaction& transaction, std::uint64_t number, std::size_t bytes) {
      return tree.insert(transaction, as_bytes(testing::key_text(number)),
                         as_bytes(std::string(bytes, 'v')));
    };
    for (std::uint64_t i = 0; i < 300; i += 3) INVARIANT(put(*setup, i, 60).value());
    INVARIANT(setup->commit().has_value());
    setup.reset();

    const auto reader = engine->begin(Isolation::serializable);
    Cursor cursor = tree.scan(*reader, {}).value();
    while (cursor.next().value()) {
    }
    for (std::uint64_t i = 1; i < 300; i += 3 * random.between(1, 3))
      INVARIANT(put(*reader, i, random.between(200, 900)).value());
    const auto intruder = engine->begin();
    intruder->set_lock_timeout(std::chrono::milliseconds{1});
    // Try the missing numbers, and texts shorter and longer than a key: fences may be both.
    for (std::uint64_t i = 0; i < 300; ++i) {
      const std::string key = testing::key_text(i);
      for (const std::string& phantom :
           {key, key + "+", key.substr(0, key.size() - 1), key.substr(0, key.size() - 2)}) {
        const auto inserted = tree.insert(*intruder, as_bytes(phantom), as_bytes("phantom"));
        if (inserted && *inserted) let_in.push_back(phantom);
      }
    }
  });
  if (!let_in.empty()) throw std::logic_error{"phantom " + let_in.front() + " was let in"};
}

}  // namespace

TEST_CASE("P35 P36 P37 P38 P39 P40 every read shows what its moment had",
          "[storage][isolation][simulation][model]") {
  Totals totals;
  for_seeds(40, [&](std::uint64_t seed) { run(seed, {}, totals); });
  WARN(totals.reads << " reads compared, " << totals.conflicts << " conflicts");
  CHECK(totals.conflicts > 0);
  CHECK(totals.too_old == 0);
}

#ifdef SWIZZLE_PLANTED_FAULTS
TEST_CASE("P35 pauses at every step of a snapshot and of a writer's beginning change nothing",
          "[storage][isolation][simulation][model]") {
  snapshot_pause_hook = [] {
    if (Simulation::running() != nullptr) Runtime::current().yield();
  };
  Totals totals;
  for_seeds(15,
            [&](std::uint64_t seed) { run(seed, {.sessions = 8, .transactions = 15}, totals); });
  snapshot_pause_hook = nullptr;
  CHECK(totals.reads > 0);
}
#endif

TEST_CASE("P37 a bounded version store fails old snapshots and nothing else",
          "[storage][isolation][simulation][model]") {
  Totals totals;
  for_seeds(8, [&](std::uint64_t seed) {
    run(seed,
        {.sessions = 6, .transactions = 100, .version_store_bytes = 4000, .version_file_bytes = 0},
        totals);
  });
  CHECK(totals.too_old > 0);
  CHECK(totals.spilled == 0);
}

TEST_CASE("T8 snapshots see the same whether versions lie in memory or in files",
          "[storage][isolation][simulation][model][spill]") {
#ifdef SWIZZLE_PLANTED_FAULTS
  snapshot_pause_hook = [] {
    if (Simulation::running() != nullptr) Runtime::current().yield();
  };
#endif
  Totals totals;
  for_seeds(40, [&](std::uint64_t seed) {
    run(seed,
        {.sessions = 6,
         .transactions = 60,
         .version_store_bytes = 500,
         .row_lock_limit = seed % 4 == 0 ? 2U : 10'000U},
        totals);
  });
#ifdef SWIZZLE_PLANTED_FAULTS
  snapshot_pause_hook = nullptr;
#endif
  CHECK(totals.too_old == 0);
  CHECK(totals.spilled > 0);
  CHECK(totals.unneeded > 0);
}

TEST_CASE("locks on whole trees stand in for many on keys",
          "[storage][isolation][simulation][model]") {
  Totals totals;
  for_seeds(15, [&](std::uint64_t seed) { run(seed, {.escalation = 8}, totals); });
  CHECK(totals.escalations > 0);
}

TEST_CASE("marks on rows stand in for locks", "[storage][isolation][simulation][model]") {
  Totals totals;
  for_seeds(40, [&](std::uint64_t seed) {
    run(seed, {.row_lock_limit = static_cast<std::uint32_t>(seed % 4)}, totals);
  });
  for_seeds(10, [&](std::uint64_t seed) {
    run(seed, {.escalation = 8, .row_lock_limit = static_cast<std::uint32_t>(seed % 2)}, totals);
  });
  CHECK(totals.conflicts > 0);
}

TEST_CASE("P7 nobody gets into a range that was read, whatever its reader does in it",
          "[storage][isolation][simulation][model]") {
  for_seeds(10, try_phantoms);
}

#ifdef SWIZZLE_PLANTED_FAULTS
TEST_CASE("planted faults of locks and versions are noticed",
          "[storage][isolation][simulation][model][faults]") {
  for (int number = 0; number < kPlantedFaults; ++number) {
    const ChildReport report = run_in_child(
        [&] {
          planted_fault = static_cast<PlantedFault>(number);
          Totals totals;
          for_seeds(5, try_phantoms);
          for_seeds(number == 0 ? 5 : 2000, [&](std::uint64_t seed) {
            run_once(seed, {.row_lock_limit = seed % 2 == 0 ? 2U : 10'000U}, totals);
          });
        },
        std::chrono::seconds{300});
    INFO("fault " << number << ": " << report.output);
    CHECK(report.succeeded == (number == 0));
  }
}
#endif

}  // namespace swizzle
