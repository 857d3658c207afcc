// Pages that differ from their last write: repaired, or given up once and remembered.
#include "storage/space/data_file.h"

#include <catch2/catch.hpp>

#include "base/simulation/simulated_disk.h"
#include "storage/space/test_pages.h"

using namespace swizzle;
using namespace swizzle::test;
using Catch::Contains;

namespace {

/// A data file with some pages at LSN 100, and a log that rebuilds the pages that the test allows.
struct DamagedFile {
  DamagedFile() {
    REQUIRE(disk.create_directory(kDirectory));
    REQUIRE(Volume::create(disk, kDirectory, kDatabase));
    REQUIRE(SpaceMap::create(disk, kDirectory, kDatabase));
    open();
    REQUIRE(volume->grow_to(128));
    REQUIRE(volume->write_pages(Batch{{1, 2, 3}, 100}.images()));
  }
  void open() {
    file.reset();
    map.reset();
    given_up.reset();
    volume.reset();
    volume = Volume::open(disk, kDirectory).value();
    map = SpaceMap::load(disk, kDirectory, *volume, Lsn::none).value();
    given_up = GivenUpPages::open(disk, kDirectory, kDatabase, volume->written_lsns()).value();
    const auto rebuild = [this](PageId page, Lsn /*newest*/, std::byte* into) -> Result<> {
      ++asked;
      if (rebuilt_at == 0) return fail(sqlstate::data_corrupted, "the log does not have it");
      fill_page(into, page, rebuilt_at);
      return {};
    };
    file = std::make_unique<DataFile>(
        *volume, *map, rebuild, [this] { return log_end; }, given_up.get());
  }
  void flip(std::uint64_t page) {
    const std::uint64_t at = page * kPageBytes + 5000;
    const std::array<std::byte, 1> flipped{disk.contents(kDirectory / Volume::kFileName)[at] ^
                                           std::byte{1}};
    disk.corrupt(kDirectory / Volume::kFileName, at, flipped);
  }
  void put(std::uint64_t page, std::uint64_t version) {
    disk.corrupt(kDirectory / Volume::kFileName, page * kPageBytes,
                 {Batch{{page}, version}.images()[0].bytes, kPageBytes});
  }
  Result<Lsn> read(std::uint64_t page) { return file->read_page(PageId{page}, memory.data()); }

  SimulatedDisk disk;
  std::unique_ptr<Volume> volume;
  std::unique_ptr<SpaceMap> map;
  std::unique_ptr<GivenUpPages> given_up;
  std::unique_ptr<DataFile> file;
  Lsn log_end{1'000'000};
  std::uint64_t rebuilt_at = 0;
  int asked = 0;
  AlignedBuffer memory{kPageBytes};
};

}  // namespace

TEST_CASE("S8 a page that cannot be rebuilt is looked for in the log once", "[space]") {
  DamagedFile damaged;
  const bool is_old = GENERATE(false, true);
  if (is_old)
    damaged.put(2, 50);
  else
    damaged.flip(2);
  for (int touch = 0; touch < 3; ++touch) {
    const auto read = damaged.read(2);
    REQUIRE_FALSE(read);
    CHECK(read.error().state() == sqlstate::data_corrupted);
    CHECK_THAT(read.error().message(), Contains("page 2"));
    CHECK_THAT(read.error().detail(), Contains("the log does not have it"));
  }
  CHECK(damaged.asked == 1);
  CHECK(damaged.given_up->list() == std::vector{PageId{2}});
  CHECK(damaged.read(1).has_value());
  // A page with the right content is accepted again, and so is a new page in its place.
  damaged.put(2, 100);
  CHECK(damaged.read(2).has_value());
  REQUIRE(damaged.volume->write_pages(Batch{{2}, 300}.images()));
  CHECK(damaged.given_up->list().empty());
  damaged.flip(2);
  damaged.rebuilt_at = 300;
  CHECK(damaged.read(2).has_value());
  CHECK(damaged.asked == 2);
}

TEST_CASE("S8 a page that was given up stays so, until it is written again", "[space]") {
  DamagedFile damaged;
  damaged.given_up->give_up(PageId{2}, Lsn{500}, Error{sqlstate::data_corrupted, "page 2 is old"});
  REQUIRE(damaged.given_up->persist());
  damaged.open();
  const auto read = damaged.read(2);
  REQUIRE_FALSE(read);
  CHECK_THAT(read.error().message(), Contains("page 2") && Contains("500"));
  CHECK(damaged.read(3).has_value());
  // The copy in memory when the page was given up does not count.
  REQUIRE(damaged.volume->write_pages(Batch{{2}, 400}.images()));
  CHECK_FALSE(damaged.read(2));
  REQUIRE(damaged.volume->write_pages(Batch{{2}, 600}.images()));
  CHECK(damaged.read(2).has_value());
  damaged.given_up->give_up(PageId{3}, Lsn{500}, Error{sqlstate::data_corrupted, "page 3 is old"});
  REQUIRE(damaged.given_up->persist());
  damaged.open();
  CHECK(damaged.given_up->list() == std::vector{PageId{3}});
}

TEST_CASE("S8 a damaged list of given up pages is refused, with the way to go on", "[space]") {
  DamagedFile damaged;
  damaged.given_up->give_up(PageId{2}, Lsn{500}, Error{sqlstate::data_corrupted, "page 2 is old"});
  REQUIRE(damaged.given_up->persist());
  const std::array<std::byte, 1> wrong{std::byte{0x77}};
  damaged.disk.corrupt(kDirectory / GivenUpPages::kFileName, GENERATE(0U, 12U, 16U, 25U), wrong);
  WrittenLsns written;
  const auto opened = GivenUpPages::open(damaged.disk, kDirectory, kDatabase, written);
  REQUIRE_FALSE(opened);
  CHECK_THAT(opened.error().message(), Contains(GivenUpPages::kFileName));
  CHECK_THAT(opened.error().hint(), Contains("Remove it"));
}

TEST_CASE("S6 a page that was read ahead is not believed where a reader would not be", "[space]") {
  DamagedFile damaged;
  PageRead read;
  read.page = PageId{2};
  read.into = damaged.memory.data();
  const auto read_ahead = [&] {
    damaged.volume->read_pages({&read, 1});
    return damaged.file->has_read(read);
  };
  CHECK(read_ahead());
  damaged.log_end = Lsn{90};
  CHECK_FALSE(read_ahead());
  CHECK_FALSE(damaged.read(2));
  damaged.log_end = Lsn{200};
  CHECK(read_ahead());
  damaged.put(2, 50);
  CHECK_FALSE(read_ahead());
}

TEST_CASE("B12 a doubted page is brought to its newest state, and sought once", "[space]") {
  DamagedFile damaged;
  CHECK_FALSE(damaged.file->renew_doubted(PageId{2}, Lsn{100}, damaged.memory.data()));
  CHECK_FALSE(damaged.file->renew_doubted(PageId{2}, Lsn{100}, damaged.memory.data()));
  CHECK(damaged.asked == 1);
  damaged.rebuilt_at = 200;
  // Another page, or another version of it.
  CHECK_FALSE(damaged.file->renew_doubted(PageId{2}, Lsn{300}, damaged.memory.data()));
  CHECK(damaged.file->renew_doubted(PageId{3}, Lsn{100}, damaged.memory.data()));
  CHECK(version_of(damaged.memory.data()) == 200);
  CHECK(damaged.read(3).has_value());
  CHECK(version_of(damaged.memory.data()) == 200);
}
