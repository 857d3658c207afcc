// Restart with pages that can be neither read nor repaired: it succeeds, and only the tables of
// these pages are affected.
#include <catch2/catch.hpp>

#include "storage/page/page.h"
#include "storage/recovery/killed_database.h"
#include "storage/space/double_write.h"
#include "storage/space/volume.h"

using namespace swizzle;
using Catch::Contains;

namespace {

using test::kHome;
using test::Killed;

/// Two trees of many pages, cleanly stopped. Neither the log nor the double-write area can rebuild
/// pages of the first one any more.
struct TwoTrees : Killed {
  TwoTrees() : Killed(600) {
    disk.sync_everything();
    const auto engine = open().value();
    const auto transaction = engine->begin();
    other = engine->create_tree(*transaction).value();
    REQUIRE(transaction->commit());
    const TreeId damaged = std::exchange(tree, other);
    for (int round = 0; round < 6; ++round) {
      add(*engine, 400 * round, 400 * (round + 1), -1);
      REQUIRE(engine->checkpoint());
    }
    tree = damaged;
    REQUIRE(engine->close());
  }
  /// Returns the pages of the first tree at a level, in the order of the data file.
  [[nodiscard]] std::vector<std::uint64_t> pages_at(std::uint8_t level) {
    std::vector<std::uint64_t> pages;
    const auto bytes = disk.contents(kHome / Volume::kFileName);
    for (std::uint64_t page = 1; (page + 1) * kPageBytes <= bytes.size(); ++page) {
      const auto header = load<PageHeader>(bytes.data() + page * kPageBytes);
      if (header.tree == tree && header.level == level &&
          check_page(bytes.data() + page * kPageBytes, PageId{page}))
        pages.push_back(page);
    }
    return pages;
  }
  void flip_in(std::uint64_t page) {
    const std::uint64_t at = page * kPageBytes + kPageBytes / 2;
    const auto bytes = disk.contents(kHome / Volume::kFileName);
    const std::array<std::byte, 1> flipped{bytes[at] ^ std::byte{1}};
    disk.corrupt(kHome / Volume::kFileName, at, flipped);
  }
  /// Damages the other copies of the page, left by the last writes.
  void flip_copies_of(std::uint64_t page) {
    const auto bytes = disk.contents(kHome / DoubleWrite::kFileName);
    for (std::size_t at = 0; at + kPageBytes <= bytes.size(); at += kPageBytes) {
      if (raw(load<PageHeader>(bytes.data() + at).id) != page) continue;
      const std::array<std::byte, 1> flipped{bytes[at + kPageBytes / 2] ^ std::byte{1}};
      disk.corrupt(kHome / DoubleWrite::kFileName, at + kPageBytes / 2, flipped);
    }
  }
  TreeId other{};
};

}  // namespace

TEST_CASE("a damaged page does not keep its dropped tree's database from starting",
          "[recovery][bad-input]") {
  // A leaf has no pages below it; a branch and the root have some.
  const std::uint8_t level = GENERATE(std::uint8_t{0}, std::uint8_t{1});
  const bool all = GENERATE(false, true);
  TwoTrees database;
  const std::vector<std::uint64_t> pages = database.pages_at(level);
  REQUIRE(!pages.empty());
  for (std::size_t i = 0; i < (all ? pages.size() : 1); ++i) database.flip_in(pages[i]);
  {
    const auto engine = database.open().value();
    const auto transaction = engine->begin();
    REQUIRE(engine->drop_tree(*transaction, database.tree));
    REQUIRE(transaction->commit());
    REQUIRE(engine->close());
  }
  for (int start = 0; start < 2; ++start) {
    auto engine = database.open();
    INFO((engine ? "" : engine.error().message()));
    REQUIRE(engine);
    const auto reader = (*engine)->begin();
    Cursor cursor = (*engine)->tree(database.other).value().scan(*reader, {}).value();
    int count = 0;
    while (cursor.next().value()) ++count;
    CHECK(count == 2400);
    REQUIRE((*engine)->shrink());
    // Pages of damaged leaves are free; those below a damaged branch are reported.
    const auto violations = (*engine)->verify().value();
    CHECK(violations.empty() == (level == 0));
    for (const std::string& violation : violations)
      CHECK_THAT(violation, Contains("belongs to no tree"));
    REQUIRE((*engine)->close());
  }
}

TEST_CASE("a damaged page that redo wants and nobody has is one table's trouble",
          "[recovery][bad-input]") {
  TwoTrees database;
  {
    const auto engine = database.open().value();
    const auto transaction = engine->begin();
    for (int row = 0; row < 600; ++row)
      REQUIRE(engine->tree(database.tree)
                  .value()
                  .update(*transaction, as_bytes(std::to_string(row)), as_bytes("changed"))
                  .value());
    REQUIRE(transaction->commit());
    // Leave the database as if the process had been killed here.
  }
  const std::vector<std::uint64_t> leaves = database.pages_at(0);
  REQUIRE(leaves.size() > 20);
  database.flip_in(leaves[leaves.size() / 2]);
  database.flip_copies_of(leaves[leaves.size() / 2]);
  for (int start = 0; start < 2; ++start) {
    auto engine = database.open();
    INFO((engine ? "" : engine.error().message()));
    REQUIRE(engine);
    const auto reader = (*engine)->begin();
    int changed = 0;
    int refused = 0;
    ValueBuffer value;
    for (int row = 0; row < 600; ++row) {
      const auto found =
          (*engine)->tree(database.tree).value().get(*reader, as_bytes(std::to_string(row)), value);
      if (found) {
        REQUIRE(*found);
        REQUIRE(as_text(value.bytes()) == "changed");
        ++changed;
      } else {
        CHECK(found.error().state() == sqlstate::data_corrupted);
        ++refused;
      }
    }
    CHECK(refused > 0);
    CHECK(refused < 20);
    CHECK(changed + refused == 600);
    CHECK((*engine)->statistics().checksum_failures > 0);
    CHECK((*engine)->statistics().last_checksum_failure_us > 0);
    Cursor cursor = (*engine)->tree(database.other).value().scan(*reader, {}).value();
    int count = 0;
    while (cursor.next().value()) ++count;
    CHECK(count == 2400);
    const auto violations = (*engine)->verify().value();
    CHECK(violations.size() == 1);
    REQUIRE((*engine)->close());
  }
}
