#include "storage/recovery/recovery.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "base/simulation/seeded_runs.h"
#include "storage/recovery/test_workload.h"

using namespace swizzle;
using namespace swizzle::test;

namespace {

// Runs a workload in a simulation until the power fails, or to its end. Returns true if the power
// failed.
bool run_until_power_cut(SimulatedDisk& disk, std::uint64_t seed, std::uint64_t cut, int steps,
                         TestEngine::Options options, Oracle& oracle) {
  Simulation simulation{seed};
  const Simulation::Outcome outcome = simulation.run([&] {
    Random random{seed * 31 + 7};
    auto engine = std::make_unique<TestEngine>(disk, options);
    if (cut != 0) disk.cut_power_at(DiskOperation::change, cut);
    const auto opened = engine->open();
    // Do not use CAPTURE here: a power cut abandons this stack, and the messages would remain.
    if (!opened) FAIL(opened.error().message() << ": " << opened.error().detail());
    oracle.losers_undone += engine->recovered.losers.size();
    require_whole(*engine, oracle);
    oracle.pages_repaired += engine->repair->repaired();
    oracle.changes_redone += engine->redo->changes_applied();
    oracle.committed = engine->content();
    oracle.in_doubt.reset();
    for (int i = 0; i < steps; ++i) {
      run_transaction(*engine, random, oracle);
      if (random.one_in(30)) REQUIRE(engine->tree->tidy(as_bytes(random_key(random))));
      if (random.one_in(40)) REQUIRE(engine->checkpointer->take());
    }
    if (seed % 2 == 0) REQUIRE(engine->close());
    // Otherwise leave it as if the process had been killed.
    engine->checkpointer->stop();
    engine->background->stop();
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
  struct Totals {
    std::uint64_t cuts;
    std::uint64_t redone;
    std::uint64_t undone;
    std::uint64_t databases;
  };
  // Run in processes of a hundred seeds each, since each database that a power cut ends leaks about
  // 20 MB.
  const auto totals = for_seeds_apart<Totals>(1000, 100, [&](std::uint64_t seed, Totals& total) {
    ++total.databases;
    Random random{seed};
    SimulatedDisk disk{seed};
    TestEngine::create(disk);
    Oracle oracle;
    TestEngine::Options options;
    options.frames = static_cast<std::uint32_t>(random.between(24, 64));
    options.redo_tasks = random.one_in(2) ? 1 : 3;
    options.redo_in_background = !random.one_in(3);
    run_until_power_cut(disk, seed, random.between(20, 600), 120, options, oracle);
    for (std::uint64_t depth = 0; depth < 3; ++depth) {
      disk.crash(seed * 10 + depth);
      const std::uint64_t cut = random.between(1, depth == 2 ? 400 : 40);
      total.cuts +=
          run_until_power_cut(disk, seed * 10 + depth, cut, 20, options, oracle) ? 1U : 0U;
    }
    disk.crash(seed * 10 + 9);
    run_until_power_cut(disk, seed * 10 + 9, 0, 5, options, oracle);
    total.redone += oracle.changes_redone;
    total.undone += oracle.losers_undone;
  });
  WARN(totals.cuts << " power cuts, " << totals.redone << " changes redone, " << totals.undone
                   << " losers undone");
  REQUIRE(totals.cuts > totals.databases * 3 / 2);
  REQUIRE(totals.redone > totals.databases * 50);
  REQUIRE(totals.undone * 3 > totals.databases);
}

namespace {

// Damages the contents of the double-write area.
void forget_images(SimulatedDisk& disk) {
  const std::byte wrong{0x5a};
  for (std::uint64_t area = 0; area < DoubleWrite::kAreas; ++area)
    disk.corrupt(kHome / DoubleWrite::kFileName, area * DoubleWrite::kAreaBytes + 20, {&wrong, 1});
}

void damage(SimulatedDisk& disk, PageId page) {
  const std::uint64_t noise = 0xdeadbeefdeadbeef;
  disk.corrupt(kHome / Volume::kFileName, raw(page) * kPageBytes + 300,
               std::as_bytes(std::span{&noise, 1}));
}

// Describes the contents of a node, independent of its layout.
std::string describe(const Node& node) {
  std::string text = fmt::format("{} {} {} {} {} ", raw(node.id()), node.level(), raw(node.lsn()),
                                 raw(node.logical_lsn()), raw(load_ref(node.foster_ref()).page()));
  const auto add = [&text](Bytes bytes) { text += std::string{as_text(bytes)} + "|"; };
  add(node.low_fence());
  add(node.high_fence().key);
  add(node.chain_high_fence().key);
  for (std::uint16_t i = 0; i < node.count(); ++i) {
    std::array<std::byte, Node::kMaxKeyBytes> key;
    add({key.data(), node.copy_key(i, key.data())});
    if (node.is_leaf())
      add(node.value(i));
    else
      text += std::to_string(raw(load_ref(node.child_ref(i)).page()));
    text += node.is_ghost(i) ? "g" : "l";
  }
  return text;
}

}  // namespace

TEST_CASE("P17 every page follows from the log alone, and damaged pages are rebuilt",
          "[recovery]") {
  SimulatedDisk disk;
  TestEngine::create(disk);
  Oracle oracle;
  TestEngine::Options options;
  options.frames = 2000;
  options.checkpoint_bytes = std::uint64_t{1} << 40U;
  std::vector<PageId> pages;
  Simulation simulation{3};
  simulation.run([&] {
    Random random{3};
    TestEngine engine(disk, options);
    REQUIRE(engine.open());
    const Checkpointer::Retention keep(*engine.checkpointer);
    for (int i = 0; i < 400; ++i) run_transaction(engine, random, oracle);
    REQUIRE(engine.cleaner->clean_all());
    forget_images(disk);
    pages = engine.tree->pages().value();
    alignas(512) std::array<std::byte, kPageBytes> on_disk;
    alignas(512) std::array<std::byte, kPageBytes> rebuilt;
    for (const PageId page : pages) {
      CAPTURE(raw(page));
      REQUIRE(engine.volume->read_page(page, on_disk.data()));
      REQUIRE(engine.repair->rebuild(page, rebuilt.data()));
      REQUIRE(Node::of(rebuilt.data()).verify().empty());
      REQUIRE(describe(Node::of(rebuilt.data())) == describe(Node::of(on_disk.data())));
    }
    REQUIRE(engine.close());
  });
  REQUIRE(pages.size() > 8);
  for (const PageId page : pages) damage(disk, page);
  forget_images(disk);
  REQUIRE_FALSE(run_until_power_cut(disk, 4, 0, 20, options, oracle));
  REQUIRE(oracle.pages_repaired >= pages.size());
  REQUIRE_FALSE(run_until_power_cut(disk, 6, 0, 1, options, oracle));
}

TEST_CASE("a page that nothing can rebuild is an error with its number", "[recovery]") {
  SimulatedDisk disk;
  TestEngine::create(disk);
  Oracle oracle;
  Simulation simulation{9};
  simulation.run([&] {
    TestEngine engine(disk, {});
    REQUIRE(engine.open());
    Random random{9};
    // Continue until the log no longer has the first image of the root, which seldom changes.
    while (raw(engine.log->oldest()) < 800'000) {
      run_transaction(engine, random, oracle);
      if (random.one_in(50)) REQUIRE(engine.checkpointer->take());
    }
    const PageId victim = engine.tree->root_page();
    const std::vector<PageId> pages = engine.tree->pages().value();
    REQUIRE(engine.close());
    damage(disk, victim);
    forget_images(disk);
    alignas(512) std::array<std::byte, kPageBytes> page;
    const auto read = engine.store->read_page(victim, page.data());
    REQUIRE(read.error().state() == sqlstate::data_corrupted);
    REQUIRE(read.error().message().find(std::to_string(raw(victim))) != std::string::npos);
    REQUIRE_FALSE(read.error().detail().empty());
    REQUIRE(engine.store->read_page(pages.front(), page.data()));
  });
}
