// Pages that lack changes after a crash: they are redone by their readers or by the background
// task, and until then each checkpoint lists them.
#include <algorithm>
#include <set>

#include "base/checksum.h"
#include "storage/recovery/test_workload.h"

using namespace swizzle;
using namespace swizzle::test;

namespace {

constexpr int kTransactions = 800;

/// Options with which the cleaner writes nothing, and no checkpoint is taken, unless the test asks
/// for it.
TestEngine::Options readers_alone() {
  TestEngine::Options options;
  options.frames = 1000;
  options.checkpoint_bytes = std::uint64_t{1} << 40U;
  options.redo_in_background = false;
  return options;
}

/// A database with some hundred committed transactions, and no page written since.
struct Crashed {
  Crashed() {
    TestEngine::create(disk);
    live(1, [this](TestEngine& engine) {
      Random random{1};
      for (int i = 0; i < kTransactions; ++i) run_transaction(engine, random, oracle);
    });
  }
  /// Opens the database, calls `what`, and crashes.
  template <class What>
  void live(std::uint64_t seed, What&& what, TestEngine::Options options = readers_alone()) {
    Simulation simulation{seed};
    simulation.run([&] {
      TestEngine engine(disk, options);
      const auto opened = engine.open();
      if (!opened) FAIL(opened.error().message() << ": " << opened.error().detail());
      what(engine);
      engine.checkpointer->stop();
      engine.background->stop();
      engine.cleaner->stop();
    });
    disk.crash(seed);
  }
  SimulatedDisk disk{1};
  Oracle oracle;
};

std::set<PageId> dirty_pages_of(const Control& control) {
  std::set<PageId> pages;
  for (const DirtyPage& page : control.checkpoint.dirty) pages.insert(page.page);
  return pages;
}

/// Rewrites a copy of the control file in format version 1, which does not have the newest record
/// of a dirty page.
void make_version_1(SimulatedDisk& disk, const char* name) {
  constexpr std::size_t kHeaderBytes = 128;
  constexpr std::size_t kVersionAt = 8;
  constexpr std::size_t kChecksumAt = 16;
  constexpr std::size_t kGenerationAt = 24;
  constexpr std::size_t kDirtyCountAt = 104;
  constexpr std::size_t kActiveCountAt = 112;
  std::vector<std::byte> bytes = disk.contents(kHome / name);
  const auto dirty = load<std::uint64_t>(bytes.data() + kDirtyCountAt);
  const auto active = load<std::uint64_t>(bytes.data() + kActiveCountAt);
  const auto generation = load<std::uint64_t>(bytes.data() + kGenerationAt);
  std::vector<std::byte> old(bytes.begin(), bytes.begin() + kHeaderBytes);
  const std::byte* at = bytes.data() + kHeaderBytes;
  for (std::uint64_t i = 0; i < dirty; ++i, at += sizeof(DirtyPage))
    old.insert(old.end(), at, at + 16);
  old.insert(old.end(), at, at + active * sizeof(ActiveTransaction));
  store(old.data() + kVersionAt, std::uint32_t{1});
  store(old.data() + kChecksumAt, checksum(Bytes{old}.subspan(kGenerationAt), generation));
  old.resize(bytes.size());
  disk.corrupt(kHome / name, 0, old);
}

}  // namespace

TEST_CASE("R13 each checkpoint names the pages that still lack changes, crash after crash",
          "[recovery][crash]") {
  Crashed database;
  for (std::uint64_t life = 2; life < 6; ++life) {
    CAPTURE(life);
    database.live(life, [&](TestEngine& engine) {
      Random random{life};
      run_transaction(engine, random, database.oracle);
      const std::vector<PageId> pending = engine.pending->in_log_order();
      REQUIRE(pending.size() > 3);
      REQUIRE(engine.checkpointer->take());
      const std::set<PageId> named = dirty_pages_of(engine.control->current());
      for (const PageId page : pending) CHECK(named.contains(page));
      for (const DirtyPage& page : engine.control->current().checkpoint.dirty)
        CHECK(page.newest >= page.since);
    });
  }
  // Redo by the pages' readers alone, who follow the pages' chains of records.
  database.live(7, [&](TestEngine& engine) {
    require_whole(engine, database.oracle);
    CHECK(engine.pending->count() == 0);
    CHECK(engine.redo->changes_applied() > kTransactions);
  });
  TestEngine::Options in_background = readers_alone();
  in_background.redo_in_background = true;
  database.live(
      8, [&](TestEngine& engine) { require_whole(engine, database.oracle); }, in_background);
}

TEST_CASE("a page is redone when it is read, and enters the pool dirty", "[recovery]") {
  Crashed database;
  database.live(2, [&](TestEngine& engine) {
    const std::size_t pending = engine.pending->count();
    const std::uint64_t written = engine.volume->pages_written();
    REQUIRE(pending > 3);
    CHECK(engine.redo->done_us() == -1);
    require_whole(engine, database.oracle);
    CHECK(engine.pending->count() == 0);
    CHECK(engine.redo->done_us() >= 0);
    CHECK(engine.volume->pages_written() == written);
    std::size_t dirty = 0;
    engine.pool->arena().for_each_used(
        [&dirty](Frame& frame) { dirty += oldest_unwritten(frame) == Lsn::none ? 0U : 1U; });
    CHECK(dirty >= pending);
  });
}

TEST_CASE("a page that lacks changes is not taken from a read ahead", "[recovery]") {
  Crashed database;
  database.live(2, [&](TestEngine& engine) {
    std::size_t refused = 0;
    AlignedBuffer memory(kPageBytes);
    for (const PageId page : engine.pending->in_log_order()) {
      std::array<PageRead, 1> read;
      read[0].page = page;
      read[0].into = memory.data();
      engine.volume->read_pages(read);
      if (!engine.store->has_read(read[0])) ++refused;
    }
    CHECK(refused == engine.pending->count());
  });
}

TEST_CASE("redo behind the door leaves nothing pending, by lists and in batches", "[recovery]") {
  Crashed database;
  TestEngine::Options options = readers_alone();
  // Batches of one page, of some pages, and of all pages.
  options.redo_bytes = GENERATE(std::uint64_t{1}, std::uint64_t{20'000}, std::uint64_t{1} << 30U);
  options.redo_tasks = GENERATE(1U, 3U);
  // In the second round the checkpoint comes after the pages' first records.
  for (std::uint64_t life = 2; life < 4; ++life) {
    database.live(
        life,
        [&](TestEngine& engine) {
          const std::size_t pending = engine.pending->count();
          REQUIRE(pending > 3);
          if (life == 2) return;
          CHECK_FALSE(engine.pending->incomplete().empty());
          REQUIRE(engine.background->finish());
          CHECK(engine.pending->count() == 0);
          CHECK(engine.redo->pages_redone() >= pending);
          require_whole(engine, database.oracle);
        },
        options);
  }
}

TEST_CASE("a control file that does not say which record of a page was its newest is read",
          "[recovery]") {
  Crashed database;
  // The pages are dirty in the checkpoint that the start takes.
  database.live(2, [&](TestEngine& engine) { REQUIRE(engine.pending->count() > 3); });
  for (const char* name : ControlFile::kFileNames) make_version_1(database.disk, name);
  {
    const auto control = ControlFile::open(database.disk, kHome).value();
    REQUIRE(control->current().checkpoint.dirty.size() > 3);
    for (const DirtyPage& page : control->current().checkpoint.dirty)
      CHECK(page.newest == Lsn::none);
  }
  database.live(3, [&](TestEngine& engine) {
    REQUIRE(engine.pending->count() > 3);
    require_whole(engine, database.oracle);
  });
}
