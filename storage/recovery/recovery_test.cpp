#include "storage/recovery/recovery.h"

#include <catch2/catch.hpp>

#include "storage/recovery/test_engine.h"

using namespace swizzle;
using namespace swizzle::test;

namespace {

/// What must be there: everything of committed transactions, and, all or nothing, what the
/// transaction whose commit was under way did.
struct Oracle {
  Content committed;
  std::optional<Content> in_doubt;

  [[nodiscard]] bool allows(const Content& found) const {
    return found == committed || (in_doubt && found == *in_doubt);
  }
};

std::string random_key(Random& random) {
  std::string key = "key/" + std::to_string(random.below(400));
  if (random.one_in(10)) key += std::string(random.below(200), 'k');
  return key;
}

std::string random_value(Random& random) {
  const std::uint64_t length = random.one_in(8) ? random.below(900) : random.below(80);
  std::string value(length, static_cast<char>('a' + random.below(26)));
  // Updates that change a part.
  for (std::uint64_t i = 0; i < length / 40; ++i)
    value[random.below(length)] = static_cast<char>('A' + random.below(26));
  return value;
}

void run_transaction(TestEngine& engine, Random& random, Oracle& oracle) {
  using Action = LeafChange::Action;
  Content after = oracle.committed;
  engine.begin();
  for (std::uint64_t i = random.between(1, 8); i > 0; --i) {
    const std::string key = random_key(random);
    const std::string value = random_value(random);
    switch (random.below(4)) {
      case 0:
      case 1:
        if (engine.apply(Action::insert, key, value)) after[key] = value;
        break;
      case 2:
        if (engine.apply(Action::update, key, value)) after[key] = value;
        break;
      default:
        if (engine.apply(Action::remove, key)) after.erase(key);
    }
  }
  if (random.one_in(5)) {
    engine.rollback();
    return;
  }
  oracle.in_doubt = after;
  engine.commit();
  oracle.committed = std::move(after);
  oracle.in_doubt.reset();
}

void require_whole(TestEngine& engine, const Oracle& oracle) {
  const Content found = engine.content();
  REQUIRE(oracle.allows(found));
  REQUIRE(engine.tree->verify().value() == std::vector<std::string>{});
  // S1: no page is leaked, none is used without being allocated.
  const std::vector<PageId> pages = engine.tree->pages().value();
  REQUIRE(engine.space->allocated_pages() == pages.size());
  for (const PageId page : pages) REQUIRE(engine.space->is_allocated(page));
}

// Runs a workload in a simulation until the power goes, or to its end. Returns whether it went.
bool run_until_power_cut(SimulatedDisk& disk, std::uint64_t seed, std::uint64_t cut, int steps,
                         TestEngine::Options options, Oracle& oracle) {
  Simulation simulation{seed};
  const Simulation::Outcome outcome = simulation.run([&] {
    Random random{seed * 31 + 7};
    auto engine = std::make_unique<TestEngine>(disk, options);
    if (cut != 0) disk.cut_power_at(DiskOperation::change, cut);
    const auto opened = engine->open();
    CAPTURE(opened ? "" : opened.error().message());
    REQUIRE(opened);
    require_whole(*engine, oracle);
    oracle.committed = engine->content();
    oracle.in_doubt.reset();
    for (int i = 0; i < steps; ++i) {
      run_transaction(*engine, random, oracle);
      if (random.one_in(30)) REQUIRE(engine->tree->tidy(as_bytes(random_key(random))));
      if (random.one_in(40)) REQUIRE(engine->checkpointer->take());
    }
    if (seed % 2 == 0) REQUIRE(engine->close());
    // Otherwise as if the process had been killed.
    engine->checkpointer->stop();
    engine->cleaner->stop();
  });
  return outcome == Simulation::Outcome::stopped;
}

}  // namespace

TEST_CASE("a database opens after close and after a kill", "[recovery]") {
  SimulatedDisk disk;
  TestEngine::create(disk);
  Oracle oracle;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    REQUIRE_FALSE(run_until_power_cut(disk, seed, 0, 150, {}, oracle));
  }
  REQUIRE(oracle.committed.size() > 50);
}

TEST_CASE("P17 P18 P25 power cuts anywhere, also during recovery, three deep",
          "[recovery][crash]") {
  std::uint64_t cuts = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Random random{seed};
    SimulatedDisk disk{seed};
    TestEngine::create(disk);
    Oracle oracle;
    TestEngine::Options options;
    options.frames = static_cast<std::uint32_t>(random.between(24, 64));
    options.redo_workers = random.one_in(2) ? 1 : 3;
    run_until_power_cut(disk, seed, random.between(20, 600), 120, options, oracle);
    for (std::uint64_t depth = 0; depth < 3; ++depth) {
      disk.crash(seed * 10 + depth);
      const std::uint64_t cut = random.between(1, depth == 2 ? 400 : 40);
      cuts += run_until_power_cut(disk, seed * 10 + depth, cut, 20, options, oracle) ? 1U : 0U;
    }
    disk.crash(seed * 10 + 9);
    run_until_power_cut(disk, seed * 10 + 9, 0, 5, options, oracle);
  }
  REQUIRE(cuts > 60);
}
