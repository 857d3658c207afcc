// Checks the crash campaigns themselves: with a planted defect they must find something, without
// one nothing. A campaign that passes with a defect proves nothing.
#include <catch2/catch.hpp>
#include <map>
#include <optional>

#include "base/random.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/testing/database_home.h"

using namespace swizzle;

namespace {

using test::kHome;
using Content = std::map<std::string, std::string>;

struct Truth {
  Content committed;
  std::optional<Content> in_doubt;
};

EngineOptions small_options() {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{40} * 8704;
  options.log_segment_bytes = std::uint64_t{256} << 10U;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  options.checkpoint_log_bytes = std::uint64_t{150} << 10U;
  return options;
}

using Plant = std::function<void(EngineOptions& options, SimulatedDisk& disk)>;

void work(Engine& engine, TreeId id, Random& random, Truth& truth) {
  Tree tree = engine.tree(id).value();
  for (int i = 0; i < 150; ++i) {
    const auto transaction = engine.begin();
    Content after = truth.committed;
    for (std::uint64_t left = random.between(1, 9); left > 0; --left) {
      const std::string key = "key " + std::to_string(random.below(600));
      const std::string value(random.between(300, 1500), static_cast<char>('a' + random.below(26)));
      if (after.contains(key)) {
        static_cast<void>(tree.update(*transaction, as_bytes(key), as_bytes(value)));
      } else {
        static_cast<void>(tree.insert(*transaction, as_bytes(key), as_bytes(value)));
      }
      after[key] = value;
    }
    if (random.one_in(4)) {
      transaction->rollback();
      continue;
    }
    truth.in_doubt = after;
    REQUIRE(transaction->commit());
    truth.committed = std::move(after);
    truth.in_doubt.reset();
    if (random.one_in(20)) REQUIRE(engine.checkpoint());
  }
}

// Restarts the database. Returns true if it verifies and has the committed rows, with or without
// those of the transaction in doubt.
bool is_right(SimulatedDisk& disk, TreeId tree, const Truth& truth) {
  const auto engine = Engine::open(disk, kHome, small_options());
  if (!engine) return false;
  const auto reader = (*engine)->begin();
  auto cursor = (*engine)->tree(tree).value().scan(*reader, {});
  if (!cursor) return false;
  Content found;
  Result<bool> next = cursor->next();
  for (; next && *next; next = cursor->next())
    found.emplace(as_text(cursor->key()), as_text(cursor->value()));
  if (!next) return false;
  const auto violations = (*engine)->verify();
  if (!violations || !violations->empty()) return false;
  return found == truth.committed || (truth.in_doubt && found == *truth.in_doubt);
}

bool survives_power_cut(std::uint64_t seed, const Plant& plant) {
  SimulatedDisk disk{seed};
  Random random{seed};
  Truth truth;
  TreeId tree{};
  REQUIRE(Engine::create(disk, kHome, small_options()));
  REQUIRE(disk.sync_directory("/"));
  {
    Simulation simulation{seed};
    simulation.run([&] {
      const auto engine = Engine::open(disk, kHome, small_options()).value();
      auto transaction = engine->begin();
      tree = engine->create_tree(*transaction).value();
      REQUIRE(transaction->commit());
      transaction.reset();
      REQUIRE(engine->close());
    });
  }
  {
    Simulation simulation{seed};
    simulation.run([&] {
      EngineOptions options = small_options();
      plant(options, disk);
      disk.cut_power_at(DiskOperation::change, random.between(60, 900));
      const auto engine = Engine::open(disk, kHome, options).value();
      work(*engine, tree, random, truth);
      disk.cut_power();
      Runtime::current().sleep_until(Runtime::current().now() + std::chrono::seconds{1});
    });
  }
  disk.clear_faults();
  disk.crash(seed);
  bool right = false;
  Simulation simulation{seed + 1};
  simulation.run([&] { right = is_right(disk, tree, truth); });
  return right;
}

/// Returns how many of the first 12 power cuts are not recovered correctly. If all are, tries
/// further ones, up to `most`, until one is not.
int count_wrong(const Plant& plant, std::uint64_t most = 12) {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 12 || (seed <= most && wrong == 0); ++seed)
    wrong += survives_power_cut(seed, plant) ? 0 : 1;
  return wrong;
}

}  // namespace

TEST_CASE("without a planted fault the campaign finds nothing", "[recovery][faults]") {
  REQUIRE(count_wrong([](EngineOptions&, SimulatedDisk&) {}) == 0);
}

TEST_CASE("a disk that forgets syncs of the data is found out", "[recovery][faults]") {
  REQUIRE(count_wrong([](EngineOptions&, SimulatedDisk& disk) {
            disk.inject({.operation = DiskOperation::sync,
                         .effect = DiskFault::Effect::lose,
                         .times = 1'000'000,
                         .path_contains = "/database/d"});
          }) > 0);
}

#ifdef SWIZZLE_PLANTED_FAULTS
TEST_CASE("every fault that is planted into storage is found", "[recovery][faults]") {
  const auto fault = GENERATE(StorageFault::skip_log_sync, StorageFault::lose_last_block,
                              StorageFault::skip_compensation, StorageFault::page_before_log);
  CAPTURE(static_cast<int>(fault));
  const int wrong =
      count_wrong([fault](EngineOptions& options, SimulatedDisk&) { options.fault = fault; }, 400);
  REQUIRE(wrong > 0);
}
#endif
