#include "storage/space/space_map.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "base/runtime/thread_runtime.h"
#include "base/simulation/simulated_disk.h"
#include "storage/space/test_pages.h"

using namespace swizzle;
using namespace swizzle::test;
using Catch::Contains;

namespace {

struct Opened {
  std::unique_ptr<Volume> volume;
  std::unique_ptr<SpaceMap> map;
};

void make_map(SimulatedDisk& disk) {
  REQUIRE(disk.create_directory(kDirectory));
  REQUIRE(Volume::create(disk, kDirectory, kDatabase));
  REQUIRE(SpaceMap::create(disk, kDirectory, kDatabase));
  REQUIRE(disk.sync_directory(kDirectory.parent_path()));
}

Opened open(SimulatedDisk& disk, Lsn from = Lsn::none) {
  Opened opened;
  opened.volume = Volume::open(disk, kDirectory).value();
  opened.map = SpaceMap::load(disk, kDirectory, *opened.volume, from).value();
  return opened;
}

PageId allocate(SpaceMap& map, std::optional<PageId> near = std::nullopt) {
  const PageId page = map.reserve(near).value();
  map.mark_allocated(page);
  return page;
}

Result<> persist(SpaceMap& map, std::uint64_t begin) {
  return map.persist(map.snapshot([&] { return Lsn{begin}; }));
}

}  // namespace

TEST_CASE("pages are reserved once, cancelled, freed and used again", "[space]") {
  SimulatedDisk disk;
  make_map(disk);
  auto [volume, map] = open(disk);
  REQUIRE(map->allocated_pages() == 0);
  std::set<PageId> seen;
  for (int i = 0; i < 1000; ++i) {
    const PageId page = allocate(*map);
    REQUIRE(page != PageId::none);
    REQUIRE(raw(page) < volume->page_count());
    REQUIRE(seen.insert(page).second);
  }
  REQUIRE(map->allocated_pages() == 1000);
  const PageId freed = *std::next(seen.begin(), 500);
  map->mark_free(freed);
  map->mark_free(freed);
  REQUIRE(map->allocated_pages() == 999);
  REQUIRE(map->reserve(freed).value() == freed);
  REQUIRE_FALSE(map->is_allocated(freed));
  REQUIRE(map->reserve(freed).value() != freed);
  map->cancel(freed);
  const PageId again = allocate(*map, freed);
  REQUIRE(again == freed);
  map->mark_allocated(again);
  REQUIRE(map->allocated_pages() == 1000);
}

TEST_CASE("pages near another are found near it", "[space]") {
  SimulatedDisk disk;
  make_map(disk);
  auto [volume, map] = open(disk);
  for (int i = 0; i < 500; ++i) allocate(*map);
  map->mark_free(PageId{100});
  map->mark_free(PageId{300});
  REQUIRE(map->reserve(PageId{290}).value() == PageId{300});
  REQUIRE(map->reserve(PageId{90}).value() == PageId{100});
}

TEST_CASE("a full device is 53100, and a freed page helps", "[space]") {
  SimulatedDisk disk;
  make_map(disk);
  auto [volume, map] = open(disk);
  const PageId first = allocate(*map);
  disk.limit_capacity(0);
  auto page = map->reserve(std::nullopt);
  while (page) {
    map->mark_allocated(*page);
    page = map->reserve(std::nullopt);
  }
  REQUIRE(page.error().state() == sqlstate::disk_full);
  REQUIRE_FALSE(map->try_reserve(std::nullopt));
  REQUIRE(volume->writable());
  map->mark_free(first);
  REQUIRE(map->reserve(std::nullopt).value() == first);
  disk.limit_capacity(UINT64_MAX);
  REQUIRE(map->reserve(std::nullopt));
}

TEST_CASE("S1 the last durable copy and what was logged since give the map again", "[space]") {
  SimulatedDisk disk;
  make_map(disk);
  std::set<PageId> in_use;
  {
    auto [volume, map] = open(disk);
    for (int i = 0; i < 300; ++i) in_use.insert(allocate(*map));
    static_cast<void>(map->reserve(std::nullopt));  // S2: the crash forgets it
    REQUIRE(persist(*map, 800));
    map->mark_free(PageId{7});
    map->mark_allocated(PageId{7});
    map->mark_free(PageId{9});
    in_use.erase(PageId{9});
    in_use.insert(allocate(*map));
  }
  disk.crash(1);
  auto [volume, map] = open(disk, Lsn{800});
  // The log from 800 on.
  map->mark_free(PageId{7});
  map->mark_allocated(PageId{7});
  map->mark_free(PageId{9});
  map->mark_allocated(*in_use.rbegin());
  REQUIRE(map->allocated_pages() == in_use.size());
  for (std::uint64_t page = 1; page < volume->page_count(); ++page)
    REQUIRE(map->is_allocated(PageId{page}) == in_use.contains(PageId{page}));
}

TEST_CASE("a crash while the map is persisted leaves the one before", "[space][crash]") {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    CAPTURE(seed);
    Random random{seed};
    SimulatedDisk disk{seed};
    make_map(disk);
    std::uint64_t durable = 0;
    {
      auto [volume, map] = open(disk);
      for (int i = 0; i < 300; ++i) allocate(*map);
      disk.cut_power_at(DiskOperation::change, random.between(1, 9));
      for (std::uint64_t begin = 8; begin <= 32; begin += 8) {
        const PageId page{begin};
        map->mark_free(page);
        if (!persist(*map, begin)) break;
        durable = begin;
      }
    }
    disk.crash(seed);
    auto volume = Volume::open(disk, kDirectory).value();
    auto loaded = SpaceMap::load(disk, kDirectory, *volume, Lsn{durable});
    CAPTURE(loaded ? "" : loaded.error().message());
    REQUIRE(loaded);
    auto map = std::move(*loaded);
    REQUIRE(map->is_allocated(PageId{200}) == (durable != 0 || map->allocated_pages() != 0));
    for (std::uint64_t begin = 8; begin <= durable; begin += 8)
      REQUIRE_FALSE(map->is_allocated(PageId{begin}));
    // The copy that recovery used survives the next attempt.
    disk.cut_power_at(DiskOperation::change, 1);
    REQUIRE_FALSE(persist(*map, 40));
    map.reset();
    volume.reset();
    disk.crash(seed + 1);
    volume = Volume::open(disk, kDirectory).value();
    REQUIRE(SpaceMap::load(disk, kDirectory, *volume, Lsn{durable}));
  }
}

TEST_CASE("a volume that ends before a page in use is truncated", "[space]") {
  SimulatedDisk disk;
  make_map(disk);
  {
    auto [volume, map] = open(disk);
    for (int i = 0; i < 300; ++i) allocate(*map);
    REQUIRE(persist(*map, 8));
  }
  const auto data = kDirectory / Volume::kFileName;
  REQUIRE(disk.open(data, OpenMode::read_write, {}).value()->truncate(200 * kPageBytes));
  auto volume = Volume::open(disk, kDirectory).value();
  const auto loaded = SpaceMap::load(disk, kDirectory, *volume, Lsn{8});
  REQUIRE(loaded.error().state() == sqlstate::data_corrupted);
  REQUIRE_THAT(loaded.error().message(), Contains(data.native()) && Contains("truncated"));
}

TEST_CASE("copies that the log does not complete are refused", "[space]") {
  SimulatedDisk disk;
  make_map(disk);
  {
    auto [volume, map] = open(disk);
    allocate(*map);
    REQUIRE(persist(*map, 80));
    REQUIRE(persist(*map, 160));
  }
  auto volume = Volume::open(disk, kDirectory).value();
  REQUIRE(SpaceMap::load(disk, kDirectory, *volume, Lsn{100}));
  REQUIRE(SpaceMap::load(disk, kDirectory, *volume, Lsn{80}, Lsn{100}));
  const auto refused = SpaceMap::load(disk, kDirectory, *volume, Lsn{168});
  REQUIRE(refused.error().state() == sqlstate::data_corrupted);
  REQUIRE_FALSE(SpaceMap::load(disk, kDirectory, *volume, Lsn{100}, Lsn{120}));
}

TEST_CASE("free pages at the end go back to the file system once no recovery needs them",
          "[space]") {
  SimulatedDisk disk;
  make_map(disk);
  auto [volume, map] = open(disk);
  std::vector<PageId> pages;
  for (int i = 0; i < 2000; ++i) pages.push_back(allocate(*map));
  REQUIRE(persist(*map, 8));
  map->checkpoint_done();
  for (std::size_t i = 100; i < pages.size(); ++i) map->mark_free(pages[i]);
  REQUIRE(persist(*map, 16));
  map->checkpoint_done();
  REQUIRE(map->shrink().value() < 500);  // the checkpoint before has them in use
  REQUIRE(persist(*map, 24));
  map->checkpoint_done();
  const PageId kept = map->reserve(PageId{700}).value();
  REQUIRE(map->shrink().value() > 0);
  REQUIRE(volume->page_count() > raw(kept));
  REQUIRE(volume->page_count() < 1000);
  map->cancel(kept);
  REQUIRE(map->shrink().value() > 0);
  REQUIRE(volume->page_count() == 128);
  for (int i = 0; i < 1000; ++i) {
    const PageId page = allocate(*map);
    REQUIRE(raw(page) < volume->page_count());
  }
}

TEST_CASE("redo and fit_file make room for what the log names", "[space]") {
  SimulatedDisk disk;
  make_map(disk);
  auto [volume, map] = open(disk);
  map->mark_allocated(PageId{1'000});
  REQUIRE(map->fit_file());
  REQUIRE(volume->page_count() > 1'000);
  REQUIRE(map->reserve(PageId{1'000}).value() == PageId{1'001});
}

TEST_CASE("threads that reserve, free and checkpoint agree", "[space]") {
  SimulatedDisk disk;
  make_map(disk);
  auto [volume, map] = open(disk);
  constexpr int kThreads = 4;
  std::atomic<std::uint64_t> held{0};
  std::vector<std::unique_ptr<Task>> tasks;
  for (int t = 0; t < kThreads; ++t) {
    tasks.push_back(ThreadRuntime::of_the_process().spawn("worker", [&, t] {
      Random random{static_cast<std::uint64_t>(t) + 1};
      std::vector<PageId> mine;
      for (int i = 0; i < 5000; ++i) {
        if (mine.empty() || random.one_in(2)) {
          const PageId page = map->reserve(std::nullopt).value();
          const SpaceMap::ApplyGuard logged(*map);
          map->mark_allocated(page);
          mine.push_back(page);
        } else {
          const SpaceMap::ApplyGuard logged(*map);
          map->mark_free(mine.back());
          mine.pop_back();
        }
      }
      held += mine.size();
    }));
  }
  for (std::uint64_t begin = 8; begin < 80; begin += 8) REQUIRE(persist(*map, begin));
  for (auto& task : tasks) task->join();
  REQUIRE(map->allocated_pages() == held);
  std::uint64_t counted = 0;
  for (std::uint64_t page = 1; page < volume->page_count(); ++page)
    counted += map->is_allocated(PageId{page}) ? 1U : 0U;
  REQUIRE(counted == held);
}

TEST_CASE("S1 a checkpoint's copy is of one moment, though others mark while it is made",
          "[space][stress]") {
  SimulatedDisk disk;
  make_map(disk);
  auto [volume, map] = open(disk);
  // One page of each group, in the order of the copy: a copy with a later one but without an
  // earlier one would be inconsistent.
  constexpr std::uint64_t kGroups = 64;
  constexpr std::uint64_t kGroupPages = 32'768;
  const auto page_of = [](std::uint64_t group) { return PageId{group * kGroupPages + 7}; };
  for (std::uint64_t group = 0; group < kGroups; ++group) map->mark_allocated(page_of(group));
  std::atomic<bool> is_over{false};
  std::thread marker([&] {
    while (!is_over.load()) {
      for (const bool comes : {false, true})
        for (std::uint64_t group = 0; group < kGroups; ++group) {
          const SpaceMap::ApplyGuard guard(*map);
          comes ? map->mark_allocated(page_of(group)) : map->mark_free(page_of(group));
        }
    }
  });
  std::size_t torn = 0;
  for (int copy = 0; copy < 3000; ++copy) {
    const SpaceMap::Snapshot map_then = map->snapshot([] { return Lsn{8}; });
    std::size_t changes = 0;
    const auto has = [&](std::uint64_t group) {
      const std::uint64_t page = raw(page_of(group));
      return (map_then.words[page / 64] >> (page % 64) & 1U) != 0;
    };
    for (std::uint64_t group = 1; group < kGroups; ++group)
      if (has(group) != has(group - 1)) ++changes;
    if (changes > 1) ++torn;
  }
  is_over.store(true);
  marker.join();
  CHECK(torn == 0);
  for (std::uint64_t group = 0; group < kGroups; ++group) map->mark_free(page_of(group));
}
