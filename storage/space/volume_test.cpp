#include "storage/space/volume.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/runtime/park_mutex.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/space/test_pages.h"

using namespace swizzle;
using namespace swizzle::test;
using Catch::Contains;

namespace {

constexpr std::uint64_t kPages = 64;

void make_volume(SimulatedDisk& disk) {
  REQUIRE(disk.create_directory(kDirectory));
  REQUIRE(Volume::create(disk, kDirectory, kDatabase));
  auto volume = Volume::open(disk, kDirectory).value();
  REQUIRE(volume->grow_to(kPages));
  disk.sync_everything();
}

Error open_error(SimulatedDisk& disk) {
  auto opened = Volume::open(disk, kDirectory);
  REQUIRE_FALSE(opened);
  return std::move(opened).error();
}

void overwrite(SimulatedDisk& disk, std::uint64_t offset, std::uint32_t value) {
  disk.corrupt(kDirectory / Volume::kFileName, offset, std::as_bytes(std::span{&value, 1}));
}

// Knowledge of a page: the version that is on disk for certain, and one that may be.
struct Promise {
  std::uint64_t written = 0;
  std::uint64_t tried = 0;
};
using Promises = std::map<std::uint64_t, Promise>;

// Writes random batches until one fails.
void write_until_failure(Volume& volume, Random random, std::uint64_t batches, Promises& promises) {
  for (std::uint64_t version = 1; version <= batches; ++version) {
    std::set<std::uint64_t> pages;
    const std::uint64_t count = random.between(1, 12);
    while (pages.size() < count) pages.insert(random.between(1, kPages - 1));
    for (const std::uint64_t page : pages) promises[page].tried = version;
    const Batch batch{{pages.begin(), pages.end()}, version};
    if (!volume.write_pages(batch.images())) return;
    for (const std::uint64_t page : pages) promises[page].written = version;
  }
}

void check_promises(Volume& volume, const Promises& promises) {
  AlignedBuffer page(kPageBytes);
  for (const auto& [id, promise] : promises) {
    CAPTURE(id, promise.written, promise.tried);
    const auto read = volume.read_page(PageId{id}, page.data());
    if (promise.written == 0 && !read) continue;  // never written for certain
    REQUIRE(read);
    const std::uint64_t version = version_of(page.data());
    REQUIRE(version >= promise.written);
    REQUIRE(version <= promise.tried);
    Batch expected{{id}, version};
    REQUIRE(std::memcmp(expected.images()[0].bytes, page.data(), kPageBytes) == 0);
  }
}

}  // namespace

TEST_CASE("pages come back as they were written, one by one and in batches", "[volume]") {
  SimulatedDisk disk;
  make_volume(disk);
  auto volume = Volume::open(disk, kDirectory).value();
  REQUIRE(volume->database_id() == kDatabase);
  REQUIRE(volume->page_count() == kPages);
  const Batch batch{{5, 3, 4, 60, 9}, 7};
  REQUIRE(volume->write_pages(batch.images()));

  AlignedBuffer memory(batch.images().size() * kPageBytes);
  std::vector<PageRead> reads(batch.images().size());
  std::vector<PageRead*> pointers;
  std::size_t done = 0;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    reads[i].page = batch.images()[i].page;
    reads[i].into = memory.data() + i * kPageBytes;
    reads[i].context = &done;
    reads[i].done = [](PageRead& read) noexcept { ++*static_cast<std::size_t*>(read.context); };
    pointers.push_back(&reads[i]);
  }
  volume->start_reads(pointers);
  REQUIRE(done == reads.size());
  AlignedBuffer single(kPageBytes);
  for (std::size_t i = 0; i < reads.size(); ++i) {
    REQUIRE(volume->outcome(reads[i]));
    REQUIRE(std::memcmp(reads[i].into, batch.images()[i].bytes, kPageBytes) == 0);
    REQUIRE(volume->read_page(reads[i].page, single.data()));
    REQUIRE(std::memcmp(single.data(), batch.images()[i].bytes, kPageBytes) == 0);
  }
}

TEST_CASE("a batch larger than the double-write area is written in parts", "[volume]") {
  SimulatedDisk disk;
  make_volume(disk);
  auto volume = Volume::open(disk, kDirectory).value();
  REQUIRE(volume->grow_to(400));
  std::vector<std::uint64_t> pages;
  for (std::uint64_t page = 399; page > 0; --page) pages.push_back(page);
  const Batch batch{pages, 3};
  REQUIRE(volume->write_pages(batch.images()));
  AlignedBuffer page(kPageBytes);
  for (const std::uint64_t id : pages) REQUIRE(volume->read_page(PageId{id}, page.data()));
}

TEST_CASE("a file that cannot be opened is refused by name and reason", "[volume]") {
  SimulatedDisk disk;
  make_volume(disk);
  const std::filesystem::path data = kDirectory / Volume::kFileName;
  const auto name = Contains(data.native());

  SECTION("no such file") {
    REQUIRE(disk.remove(data));
    REQUIRE(open_error(disk).state() == sqlstate::undefined_file);
  }
  SECTION("truncated") {
    REQUIRE(disk.open(data, OpenMode::read_write, {}).value()->truncate(100));
    const Error error = open_error(disk);
    REQUIRE(error.state() == sqlstate::data_corrupted);
    REQUIRE_THAT(error.message(), name && Contains("truncated"));
  }
  SECTION("another version") {
    overwrite(disk, 8, 99);
    overwrite(disk, 4096 + 8, 99);
    const Error error = open_error(disk);
    REQUIRE(error.state() == sqlstate::object_not_in_prerequisite_state);
    REQUIRE_THAT(error.message(), name && Contains("format version 99"));
  }
  SECTION("another page size") {
    overwrite(disk, 12, 16384);
    overwrite(disk, 4096 + 12, 16384);
    REQUIRE_THAT(open_error(disk).message(), name && Contains("pages of 16384 bytes"));
  }
  SECTION("not ours") {
    overwrite(disk, 0, 1);
    overwrite(disk, 4096, 1);
    REQUIRE_THAT(open_error(disk).message(), name && Contains("not a Swizzle data file"));
  }
  SECTION("both headers damaged") {
    overwrite(disk, 16, 1);
    overwrite(disk, 4096 + 16, 1);
    const Error error = open_error(disk);
    REQUIRE(error.state() == sqlstate::data_corrupted);
    REQUIRE_THAT(error.message(), name && Contains("damaged"));
  }
  SECTION("locked") {
    const auto held = Volume::open(disk, kDirectory).value();
    REQUIRE(open_error(disk).state() == sqlstate::object_in_use);
  }
  SECTION("a double-write area of another database") {
    REQUIRE(disk.remove(kDirectory / DoubleWrite::kFileName));
    REQUIRE(DoubleWrite::create(disk, kDirectory, kDatabase + 1));
    const Error error = open_error(disk);
    REQUIRE_THAT(error.message(), Contains(DoubleWrite::kFileName) && Contains("database"));
  }
  SECTION("a truncated double-write area") {
    auto file = disk.open(kDirectory / DoubleWrite::kFileName, OpenMode::read_write, {}).value();
    REQUIRE(file->truncate(kPageBytes));
    REQUIRE(Volume::open(disk, kDirectory));
    REQUIRE(Volume::open(disk, kDirectory));
  }
  SECTION("no double-write area") {
    REQUIRE(disk.remove(kDirectory / DoubleWrite::kFileName));
    REQUIRE(Volume::open(disk, kDirectory));
    REQUIRE(Volume::open(disk, kDirectory));
  }
}

TEST_CASE("one damaged byte in one copy of the header is not enough to refuse", "[volume]") {
  SimulatedDisk disk;
  make_volume(disk);
  const std::filesystem::path data = kDirectory / Volume::kFileName;
  const auto header = disk.contents(data);
  constexpr std::uint64_t kHeaderBytes = 32;
  for (const std::uint64_t copy : {0U, 4096U})
    for (std::uint64_t at = copy; at < copy + kHeaderBytes; ++at) {
      INFO("byte " << at);
      const std::array<std::byte, 1> flipped{header[at] ^ std::byte{1}};
      disk.corrupt(data, at, flipped);
      CHECK(Volume::open(disk, kDirectory));
      disk.corrupt(data, at, std::span{header}.subspan(at, 1));
    }
}

TEST_CASE("S7 the double-write area does not give back what was written again since", "[volume]") {
  SimulatedDisk disk;
  make_volume(disk);
  const auto write = [](DoubleWrite::Lease& lease, std::vector<std::uint64_t> pages,
                        std::uint64_t version) {
    const Batch batch{std::move(pages), version};
    REQUIRE(lease.write(batch.images()));
  };
  {
    auto area = DoubleWrite::open(disk, kDirectory, kDatabase).value();
    {
      // Two writers at the same time; page 17 belongs to the second one.
      DoubleWrite::Lease first(*area);
      DoubleWrite::Lease second(*area);
      write(first, {3}, 1);
      write(second, {17}, 1);
    }
    for (std::uint64_t version = 2; version < 8; ++version) {
      DoubleWrite::Lease lease(*area);
      write(lease, {version == 2 ? 17U : 5U}, version);
    }
    const auto found = area->find(PageId{17}).value();
    CHECK((!found || version_of(found->data()) == 2));
    CHECK(version_of(area->find(PageId{5}).value()->data()) == 7);
  }
  // Damage page 17 in place as well.
  auto data = disk.open(kDirectory / Volume::kFileName, OpenMode::read_write, {}).value();
  auto area = DoubleWrite::open(disk, kDirectory, kDatabase).value();
  const auto repaired = area->repair(*data).value();
  CHECK(std::ranges::find(repaired, PageId{17}) == repaired.end());
}

TEST_CASE("a damaged, misplaced or absent page is an error with its number", "[volume]") {
  SimulatedDisk disk;
  make_volume(disk);
  auto volume = Volume::open(disk, kDirectory).value();
  const Batch batch{{17, 18}, 1};
  REQUIRE(volume->write_pages(batch.images()));
  AlignedBuffer page(kPageBytes);
  const auto read_error = [&](std::uint64_t id) {
    auto read = volume->read_page(PageId{id}, page.data());
    REQUIRE_FALSE(read);
    REQUIRE(read.error().state() == sqlstate::data_corrupted);
    return read.error().message();
  };
  overwrite(disk, 17 * kPageBytes + 500, 0xdeadbeef);
  REQUIRE_THAT(read_error(17), Contains("page 17"));
  REQUIRE_THAT(read_error(kPages), Contains("page 64") && Contains("end of file"));
  disk.corrupt(kDirectory / Volume::kFileName, 19 * kPageBytes,
               {batch.images()[1].bytes, kPageBytes});
  REQUIRE_THAT(read_error(19), Contains("page 19"));

  const auto image = volume->image_of(PageId{17});
  REQUIRE(image);
  REQUIRE(image->has_value());
  REQUIRE(check_page((*image)->data(), PageId{17}));
  REQUIRE_FALSE(volume->image_of(PageId{30}).value());

  disk.inject({.operation = DiskOperation::read});
  const auto failed = volume->read_page(PageId{18}, page.data());
  REQUIRE(failed.error().state() == sqlstate::io_error);
  REQUIRE_THAT(failed.error().message(), Contains("page 18"));
}

TEST_CASE("after a failed write or sync nothing more is written", "[volume]") {
  const auto operation = GENERATE(DiskOperation::write, DiskOperation::sync);
  const auto file = GENERATE(Volume::kFileName, DoubleWrite::kFileName);
  if (operation == DiskOperation::sync && file == std::string_view{DoubleWrite::kFileName}) return;
  SimulatedDisk disk;
  make_volume(disk);
  auto volume = Volume::open(disk, kDirectory).value();
  const Batch batch{{1, 2}, 1};
  REQUIRE(volume->write_pages(batch.images()));
  REQUIRE(volume->writable());
  disk.inject(
      {.operation = operation, .path_contains = (kDirectory / file).native(), .error = EIO});
  const auto failed = volume->write_pages(batch.images());
  REQUIRE(failed.error().state() == sqlstate::io_error);
  REQUIRE_FALSE(volume->writable());
  const std::uint64_t writes = disk.count(DiskOperation::change);
  const auto refused = volume->write_pages(batch.images());
  REQUIRE_THAT(refused.error().message(), Contains("no longer written to"));
  REQUIRE(refused.error().detail() == failed.error().message());
  REQUIRE(disk.count(DiskOperation::change) == writes);
  AlignedBuffer page(kPageBytes);
  REQUIRE(volume->read_page(PageId{1}, page.data()));
}

TEST_CASE("P31 power lost at any change of a batch leaves every page whole", "[volume][crash]") {
  SimulatedDisk fresh;
  make_volume(fresh);
  std::uint64_t cuts = 0;
  std::uint64_t repaired = 0;
  bool ran_out = false;
  for (std::uint64_t nth = 1; !ran_out; ++nth) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(nth, seed);
      const auto disk = fresh.copy(seed);
      Promises promises;
      {
        auto volume = Volume::open(*disk, kDirectory).value();
        disk->cut_power_at(DiskOperation::change, nth);
        write_until_failure(*volume, Random{nth}, 8, promises);
        ran_out = disk->has_power();
      }
      disk->crash(seed);
      ++cuts;
      auto volume = Volume::open(*disk, kDirectory).value();
      repaired += volume->repaired().size();
      check_promises(*volume, promises);
    }
  }
  REQUIRE(cuts > 100);
  REQUIRE(repaired > 50);  // otherwise the test tears nothing
}

TEST_CASE("P31 also during the repair, and with two writers at once", "[volume][crash]") {
  std::uint64_t repaired = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    Random random{seed};
    SimulatedDisk disk{seed};
    make_volume(disk);
    std::array<Promises, 2> promises;
    Simulation simulation{seed};
    const std::uint64_t cut = random.between(1, 120);
    simulation.run([&] {
      auto volume = Volume::open(disk, kDirectory).value();
      disk.cut_power_at(DiskOperation::change, cut);
      // Two writers of different pages: the caller avoids writing the same page twice at a time.
      ParkMutex even_and_odd;
      const auto write = [&](std::uint64_t of) {
        for (std::uint64_t version = 1; version <= 6; ++version) {
          std::vector<std::uint64_t> pages;
          for (std::uint64_t page = 1; page < kPages; ++page) {
            if (page % 2 == of && (page * 7 + version) % 3 == 0) pages.push_back(page);
          }
          for (const std::uint64_t page : pages) promises[of][page].tried = version;
          const Batch batch{pages, version};
          if (!volume->write_pages(batch.images())) return;
          for (const std::uint64_t page : pages) promises[of][page].written = version;
        }
      };
      auto other = Runtime::current().spawn("odd", [&] { write(1); });
      write(0);
      other->join();
    });
    disk.crash(seed);
    // Crash again during the repair.
    disk.after_power_cut(SimulatedDisk::AfterPowerCut::fail);
    disk.cut_power_at(DiskOperation::change, random.between(1, 6));
    static_cast<void>(Volume::open(disk, kDirectory));
    disk.crash(seed + 1);
    auto volume = Volume::open(disk, kDirectory).value();
    repaired += volume->repaired().size();
    check_promises(*volume, promises[0]);
    check_promises(*volume, promises[1]);
  }
  REQUIRE(repaired > 20);
}
