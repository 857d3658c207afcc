#include "storage/space/untidy_pages.h"

#include <catch2/catch.hpp>
#include <set>

#include "base/random.h"
#include "base/simulation/simulated_disk.h"
#include "storage/space/test_pages.h"

namespace swizzle {
namespace {

using test::kDatabase;
using test::kDirectory;

bool is_marked(const std::byte* page) noexcept {
  return *page != std::byte{0};
}

std::set<std::uint64_t> all_of(const UntidyPages& pages) {
  std::set<std::uint64_t> all;
  for (auto at = pages.next(PageId::none); at; at = pages.next(PageId{raw(*at) + 1}))
    all.insert(raw(*at));
  return all;
}

void write(UntidyPages& pages, std::uint64_t page, bool is_untidy) {
  const std::byte content{is_untidy};
  const PageImage image{PageId{page}, &content};
  pages.written({&image, 1});
}

}  // namespace

TEST_CASE("T24 the list of untidy pages is what was written last, also after a stop",
          "[storage][space]") {
  SimulatedDisk disk{1};
  REQUIRE(disk.create_directory(kDirectory));
  Random random{1};
  std::set<std::uint64_t> model;
  UntidyPages pages(is_marked);
  pages.load(disk, kDirectory, kDatabase);
  CHECK(all_of(pages).empty());
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t page = 1 + random.below(random.one_in(10) ? 100'000 : 500);
      const bool is_untidy = random.one_in(2);
      write(pages, page, is_untidy);
      if (is_untidy)
        model.insert(page);
      else
        model.erase(page);
    }
    REQUIRE(all_of(pages) == model);
    REQUIRE(pages.save(disk, kDirectory, kDatabase));
    disk.crash(static_cast<std::uint64_t>(round));
    UntidyPages again(is_marked);
    again.load(disk, kDirectory, kDatabase);
    REQUIRE(all_of(again) == model);
  }
  pages.forget(PageId{*model.begin()});
  model.erase(model.begin());
  pages.forget(PageId{1'000'000});
  CHECK(all_of(pages) == model);
}

TEST_CASE("T24 a damaged list of untidy pages names none", "[storage][space]") {
  SimulatedDisk disk{1};
  REQUIRE(disk.create_directory(kDirectory));
  {
    UntidyPages pages(is_marked);
    for (const std::uint64_t page : {3U, 64U, 700U}) write(pages, page, true);
    REQUIRE(pages.save(disk, kDirectory, kDatabase));
  }
  const auto path = kDirectory / UntidyPages::kFileName;
  const std::size_t size = disk.contents(path).size();
  const auto known = [&](std::uint64_t database) {
    UntidyPages pages(is_marked);
    pages.load(disk, kDirectory, database);
    return all_of(pages);
  };
  REQUIRE(known(kDatabase) == std::set<std::uint64_t>{3, 64, 700});
  CHECK(known(kDatabase + 1).empty());
  for (std::size_t at = 0; at < size; ++at) {
    const std::array<std::byte, 1> flipped{disk.contents(path)[at] ^ std::byte{1}};
    disk.corrupt(path, at, flipped);
    CAPTURE(at);
    CHECK(known(kDatabase).empty());
    const std::array<std::byte, 1> right{disk.contents(path)[at] ^ std::byte{1}};
    disk.corrupt(path, at, right);
  }
  REQUIRE(disk.open(path, OpenMode::read_write, {}).value()->truncate(size / 2));
  CHECK(known(kDatabase).empty());
}

}  // namespace swizzle
