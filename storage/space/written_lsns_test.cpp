// LSN of each page's last write, of more pages than fit into memory.
#include "storage/space/written_lsns.h"

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <utility>

#include "base/random.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/space/test_pages.h"
#include "storage/space/written_lsns_file.h"

using namespace swizzle;
using namespace swizzle::test;

namespace {

/// A database of so many pages, and memory for a few blocks.
constexpr std::uint64_t kKnownPages = 2'000'000;
constexpr std::uint64_t kMostBytes = std::uint64_t{64} * 4200;
constexpr std::uint64_t kMostBlocks = 66;

struct Kept {
  explicit Kept(SimulatedDisk& disk) {
    lsns.set_most_bytes(kMostBytes);
    file = WrittenLsnsFile::open(disk, kDirectory, kDatabase, lsns).value();
  }
  WrittenLsns lsns;
  std::unique_ptr<WrittenLsnsFile> file;
};

/// Source of blocks whose first read may be delayed after its copy was taken.
class HeldUpSource final : public WrittenLsns::Source {
 public:
  bool read_block(std::uint64_t number, WrittenLsns::Block& into) noexcept override {
    into = blocks[number];
    if (const auto action = std::exchange(meanwhile, {})) action();
    return true;
  }
  bool write_block(std::uint64_t number, const WrittenLsns::Block& block) noexcept override {
    blocks[number] = block;
    return true;
  }
  std::map<std::uint64_t, WrittenLsns::Block> blocks;
  std::function<void()> meanwhile;
};

}  // namespace

TEST_CASE("S6 written LSNs take bounded memory, and no reading at the start", "[space]") {
  SimulatedDisk disk;
  REQUIRE(disk.create_directory(kDirectory));
  Simulation simulation{1};
  simulation.run([&] {
    std::map<std::uint64_t, Lsn> expected;
    Random random{7};
    {
      Kept kept(disk);
      for (std::uint64_t lsn = 8; lsn < 60'000; lsn += 8) {
        const std::uint64_t page = random.below(kKnownPages);
        kept.lsns.note(PageId{page}, Lsn{lsn});
        expected[page] = Lsn{lsn};
        if (random.one_in(64)) kept.lsns.trim();
        if (random.one_in(2000)) REQUIRE(kept.file->persist());
        if (!random.one_in(4)) continue;
        const auto known = expected.lower_bound(random.below(kKnownPages));
        if (known != expected.end()) REQUIRE(kept.lsns.of(PageId{known->first}) == known->second);
        // LSNs noted since the last batch are still in memory.
        REQUIRE(kept.lsns.blocks_in_memory() <= kMostBlocks + 600);
      }
      // A write of an older copy does not lower a page's LSN.
      const auto [page, lsn] = *expected.begin();
      kept.lsns.note(PageId{page}, Lsn{1});
      REQUIRE(kept.lsns.of(PageId{page}) == lsn);
      REQUIRE(kept.file->persist());
      kept.lsns.trim();
      REQUIRE(kept.lsns.blocks_in_memory() <= kMostBlocks);
    }
    Kept again(disk);
    REQUIRE(again.lsns.blocks_in_memory() == 0);
    // Before its block is read, a page has the LSN noted since; afterwards the greater of the two.
    const auto [page, lsn] = *expected.rbegin();
    again.lsns.note(PageId{page}, Lsn{1});
    {
      const WrittenLsns::NoReading handler;
      REQUIRE(again.lsns.of(PageId{page}) == Lsn::max);
    }
    for (const auto& [number, newest] : expected) REQUIRE(again.lsns.of(PageId{number}) == newest);
    REQUIRE(again.lsns.of(PageId{kKnownPages * 4}) == Lsn::none);
    REQUIRE(again.lsns.blocks_in_memory() <= kMostBlocks);
  });
}

TEST_CASE("S6 written LSNs that come and go while others ask are never older", "[space]") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SimulatedDisk disk{seed};
    REQUIRE(disk.create_directory(kDirectory));
    Simulation simulation{seed};
    simulation.run([&] {
      Kept kept(disk);
      constexpr std::uint64_t kTasks = 6;
      std::vector<std::unique_ptr<Task>> tasks;
      for (std::uint64_t own = 0; own < kTasks; ++own)
        tasks.push_back(Runtime::current().spawn("writer", [&, own] {
          Random random{seed * 100 + own};
          std::map<std::uint64_t, Lsn> noted;
          for (std::uint64_t lsn = 8; lsn < 8 * 1500; lsn += 8) {
            const std::uint64_t page =
                random.below(400) * WrittenLsns::kBlockPages + own * 50 + random.below(3);
            if (random.one_in(2)) {
              kept.lsns.note(PageId{page}, Lsn{lsn});
              noted[page] = Lsn{lsn};
            } else {
              const auto known = noted.find(page);
              REQUIRE(kept.lsns.of(PageId{page}) ==
                      (known == noted.end() ? Lsn::none : known->second));
            }
            if (random.one_in(20)) kept.lsns.trim();
            if (random.one_in(200)) REQUIRE(kept.file->persist());
          }
        }));
      for (const auto& task : tasks) task->join();
    });
  }
}

TEST_CASE(
    "S6 a copy of a block that was read before the block changed, went and came is not believed",
    "[space]") {
  Simulation simulation{1};
  simulation.run([&] {
    constexpr std::uint64_t kBlock = 5;
    const PageId page{kBlock * WrittenLsns::kBlockPages};
    HeldUpSource source;
    source.blocks[kBlock][0] = Lsn{8};
    WrittenLsns lsns;
    lsns.set_source(&source);
    lsns.set_most_bytes(1);
    bool has_gone = false;
    source.meanwhile = [&] {
      lsns.note(page, Lsn{100});
      lsns.save_changed();
      for (std::uint64_t other = 100; other < 400; ++other)
        lsns.bring_in(PageId{other * WrittenLsns::kBlockPages});
      has_gone = lsns.in_memory(page) == Lsn::none;
    };
    CHECK(lsns.of(page) == Lsn{100});
    CHECK(has_gone);
    CHECK(source.blocks[kBlock][0] == Lsn{100});
  });
}
