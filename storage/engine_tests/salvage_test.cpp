// Salvage: reads the intact part of a damaged database.
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/simulation/simulation.h"
#include "storage/page/page.h"
#include "storage/recovery/killed_database.h"
#include "storage/space/double_write.h"
#include "storage/space/volume.h"
#include "storage/txn/rows/overflow.h"

namespace swizzle {

using namespace test;

namespace {

const std::filesystem::path kData = kHome / Volume::kFileName;
constexpr int kRows = 6000;
constexpr int kEvery = 50;  ///< one row in so many has a large value
const std::string kLarge(20'000, 'l');

std::string row_key(int row) {
  return fmt::format("row {:06}", row);
}
std::string row_value(int row) {
  return row % kEvery == 0 ? kLarge : fmt::format("value {:060}", row);
}

/// A closed database whose log does not reach back to the rows' creation.
struct Closed : Killed {
  Closed() : Killed(10, 5) {
    const auto engine = open().value();
    {
      const auto transaction = engine->begin();
      many = engine->create_tree(*transaction).value();
      Tree to = engine->tree(many).value();
      for (int row = 0; row < kRows; ++row)
        REQUIRE(to.insert(*transaction, as_bytes(row_key(row)), as_bytes(row_value(row))).value());
      REQUIRE(transaction->commit());
    }
    for (int i = 0; i < 8; ++i) {
      add(*engine, 10 + i * 500, 10 + (i + 1) * 500, -1);
      REQUIRE(engine->checkpoint());
    }
    REQUIRE(engine->close());
    disk.sync_everything();
  }
  [[nodiscard]] std::vector<PageHeader> pages_of(TreeId of) {
    std::vector<PageHeader> found;
    const auto bytes = disk.contents(kData);
    for (std::uint64_t page = 1; (page + 1) * kPageBytes <= bytes.size(); ++page) {
      const std::byte* const at = bytes.data() + page * kPageBytes;
      if (check_page(at, PageId{page}) && load<PageHeader>(at).tree == of)
        found.push_back(load<PageHeader>(at));
    }
    return found;
  }
  static void damage(SimulatedDisk& disk, PageId page) {
    const auto flip = [&](const std::filesystem::path& file, std::uint64_t offset) {
      const std::array<std::byte, 1> flipped{disk.contents(file).at(offset) ^ std::byte{1}};
      disk.corrupt(file, offset, flipped);
    };
    constexpr std::size_t kAt = kPageBytes / 2;
    flip(kData, raw(page) * kPageBytes + kAt);
    const auto copies = disk.contents(kHome / DoubleWrite::kFileName);
    for (std::size_t copy = 0; copy + kPageBytes <= copies.size(); copy += kPageBytes)
      if (load<PageHeader>(copies.data() + copy).id == page)
        flip(kHome / DoubleWrite::kFileName, copy + kAt);
  }

  TreeId many{};
};

EngineOptions salvaging() {
  EngineOptions options = small_pool_options();
  options.salvage = true;
  return options;
}

/// Scans forward and checks the values; returns the number of rows.
std::size_t count_rows(Engine& engine, TreeId tree, Transaction& reader) {
  Cursor cursor = engine.tree(tree).value().scan(reader, {}).value();
  std::size_t count = 0;
  std::string last;
  while (cursor.next().value()) {
    const std::string key{as_text(cursor.key())};
    REQUIRE(key > last);
    const int row = std::stoi(key.substr(4));
    REQUIRE(key == row_key(row));
    REQUIRE(as_text(cursor.value()) == row_value(row));
    last = key;
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("R16 a damaged page costs a salvage its own rows, whatever its level",
          "[storage][salvage]") {
  Closed database;
  const auto pages = database.pages_of(database.many);
  std::map<std::uint8_t, int> tried;
  for (const PageHeader& page : pages) {
    // Damage all branches and every sixteenth leaf.
    if (page.level == 0 && tried[0]++ % 16 != 0) continue;
    CAPTURE(raw(page.id), int{page.level});
    const auto disk = database.disk.copy(1);
    Closed::damage(*disk, page.id);
    {
      const auto engine = Engine::open(*disk, kHome, small_pool_options()).value();
      const auto reader = engine->begin();
      Cursor cursor = engine->tree(database.many).value().scan(*reader, {}).value();
      Result<bool> next = cursor.next();
      while (next && *next) next = cursor.next();
      REQUIRE_FALSE(next);
      REQUIRE(next.error().state() == sqlstate::data_corrupted);
      REQUIRE(reader->take_passed_over().empty());
    }
    const auto engine = Engine::open(*disk, kHome, salvaging()).value();
    REQUIRE(engine->salvages());
    const auto reader = engine->begin();
    const std::size_t left = count_rows(*engine, database.many, *reader);
    REQUIRE(left < kRows);
    if (page.level == 0) REQUIRE(left > kRows - kRows / 20);
    REQUIRE(!reader->take_passed_over().empty());
    REQUIRE(reader->take_passed_over().empty());
    // Reading an unreadable row by key finds nothing.
    ValueBuffer value;
    std::size_t found = 0;
    for (int row = 0; row < kRows; ++row)
      if (engine->tree(database.many).value().get(*reader, as_bytes(row_key(row)), value).value())
        ++found;
    REQUIRE(found == left);
  }
  REQUIRE(tried[0] > 30);
}

TEST_CASE("R16 a damaged part of a large value costs a salvage the value's row",
          "[storage][salvage]") {
  Closed database;
  const auto pages = database.pages_of(kOverflowTree);
  int tried = 0;
  for (const PageHeader& page : pages) {
    if (page.level != 0 || tried++ % 16 != 0) continue;
    CAPTURE(raw(page.id));
    const auto disk = database.disk.copy(1);
    Closed::damage(*disk, page.id);
    const auto engine = Engine::open(*disk, kHome, salvaging()).value();
    const auto reader = engine->begin();
    const std::size_t left = count_rows(*engine, database.many, *reader);
    REQUIRE(left < kRows);
    REQUIRE(left >= kRows - 3);
    REQUIRE(!reader->take_passed_over().empty());
  }
  REQUIRE(tried > 16);
}

}  // namespace swizzle
