// A segment of the log is missing while the database runs: a page that needs it is lost, a rollback
// that needs it waits, and everything else goes on.
#include <catch2/catch.hpp>
#include <map>

#include "base/simulation/simulation.h"
#include "storage/btree/node.h"
#include "storage/recovery/killed_database.h"

namespace swizzle::missing_segment {
namespace {

using test::damage_page;
using test::kHome;
using test::Killed;
using test::kSegmentBytes;
using test::small_pool_options;

/// Takes segments of the log away, and puts them back.
class MissingSegments {
 public:
  explicit MissingSegments(SimulatedDisk& disk) : disk_(disk) {}
  /// Takes the segments [from, to) away, as far as they are there.
  void take(std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t number = from; number < to; ++number) {
      const auto path = kHome / "log" / fmt::format("{:016x}.log", number);
      if (!disk_.exists(path).value()) continue;
      taken_.emplace(path, disk_.contents(path));
      REQUIRE(disk_.remove(path));
    }
    REQUIRE(!taken_.empty());
  }
  void put_back() {
    for (const auto& [path, bytes] : taken_) {
      const auto file = disk_.open(path, OpenMode::open_or_create, {}).value();
      REQUIRE(file->truncate(bytes.size()));
      REQUIRE(file->write_at(0, bytes));
    }
    taken_.clear();
  }

 private:
  SimulatedDisk& disk_;
  std::map<std::filesystem::path, std::vector<std::byte>> taken_;
};

std::uint64_t segment_number(Lsn lsn) {
  return raw(lsn) / kSegmentBytes;
}

/// Returns the header of the tree's leaf that has the key.
PageHeader leaf_of(const SimulatedDisk& disk, TreeId tree, std::string_view key) {
  const auto bytes = disk.contents(kHome / Volume::kFileName);
  alignas(8) std::array<std::byte, kPageBytes> page;
  for (std::uint64_t number = 1; (number + 1) * kPageBytes <= bytes.size(); ++number) {
    std::memcpy(page.data(), bytes.data() + number * kPageBytes, kPageBytes);
    if (!check_page(page.data(), PageId{number})) continue;
    const Node& node = Node::of(page.data());
    if (node.tree() == tree && node.is_leaf() && node.lower_bound(as_bytes(key)).exact)
      return load<PageHeader>(page.data());
  }
  FAIL("no leaf has the key");
  return {};
}

void sleep_for(Duration time) {
  Runtime& runtime = Runtime::current();
  runtime.sleep_until(runtime.now() + time);
}

}  // namespace

TEST_CASE("R9 a page that needs a segment that has gone is lost", "[recovery][bad-input]") {
  constexpr int kStored = 1500;
  const std::string key = "0";
  Killed database(0);
  {
    const auto engine = database.open().value();
    // All log from here on stays, for the sake of a prepared transaction.
    const auto first = engine->begin();
    const TreeId other = engine->create_tree(*first).value();
    REQUIRE(first->commit());
    const auto prepared = engine->begin();
    REQUIRE(engine->tree(other).value().insert(*prepared, as_bytes("k"), as_bytes("v")).value());
    REQUIRE(prepared->prepare("p", {}));
    database.add(*engine, 0, kStored, -1);
    const auto last = engine->begin();
    const std::string value(700, 'w');
    REQUIRE(
        engine->tree(database.tree).value().update(*last, as_bytes(key), as_bytes(value)).value());
    REQUIRE(last->commit());
    REQUIRE(engine->close());
  }
  database.disk.sync_everything();
  const PageHeader leaf = leaf_of(database.disk, database.tree, key);
  damage_page(database.disk, leaf.id);
  const bool is_missing = GENERATE(false, true);
  CAPTURE(is_missing);
  const auto engine = database.open().value();
  MissingSegments missing(database.disk);
  // The newest record of the page is there, those before it are not.
  if (is_missing) missing.take(0, segment_number(leaf.lsn));
  const auto reader = engine->begin();
  const Tree tree = engine->tree(database.tree).value();
  ValueBuffer value;
  int lost = 0;
  for (int row = 0; row < kStored; ++row) {
    const auto found = tree.get(*reader, as_bytes(std::to_string(row)), value);
    if (found) {
      REQUIRE(*found);
      continue;
    }
    ++lost;
    REQUIRE(found.error().state() == sqlstate::data_corrupted);
    CHECK_THAT(found.error().detail(), Catch::Contains("cannot be rebuilt"));
  }
  CHECK((lost > 0) == is_missing);
  CHECK(lost < 12);
  reader->rollback();
  if (is_missing) missing.put_back();
  REQUIRE(engine->close());
}

TEST_CASE("R15 a rollback waits for a segment that is missing, and the database goes on",
          "[recovery][bad-input]") {
  const test::MostOpenRows most(64);
  const bool is_put_back = GENERATE(true, false);
  CAPTURE(is_put_back);
  Killed database(50);
  TreeId large{};
  std::unique_ptr<SimulatedDisk> killed;
  Lsn begin{};
  {
    const auto engine = database.open().value();
    const auto first = engine->begin();
    large = engine->create_tree(*first).value();
    REQUIRE(first->commit());
    begin = Lsn{engine->statistics().log_tail};
    const auto loser = engine->begin();
    for (int row = 0; row < 1500; ++row)
      REQUIRE(engine->tree(large)
                  .value()
                  .insert(*loser, as_bytes(std::to_string(row)), as_bytes(std::string(700, 'v')))
                  .value());
    database.add(*engine, 50, 60, -1);
    // The process ends here.
    database.disk.sync_everything();
    killed = database.disk.copy(1);
  }
  MissingSegments missing(*killed);
  const auto expect_rolled_back = [&](Engine& engine) {
    sleep_for(std::chrono::seconds{5});
    CHECK(engine.statistics().restart_rollbacks.empty());
    const auto reader = engine.begin();
    Cursor cursor = engine.tree(large).value().scan(*reader, {}).value();
    CHECK_FALSE(cursor.next().value());
  };
  Simulation simulation{1};
  simulation.run([&] {
    const auto engine = Engine::open(*killed, kHome, small_pool_options()).value();
    REQUIRE(engine->statistics().restart_rollbacks.size() == 1);
    missing.take(segment_number(begin) + 1, segment_number(begin) + 3);
    sleep_for(std::chrono::seconds{5});
    REQUIRE(engine->statistics().restart_rollbacks.size() == 1);
    database.add(*engine, 60, 70, -1);
    if (is_put_back) {
      missing.put_back();
      expect_rolled_back(*engine);
    }
    // A stop does not wait for it.
    REQUIRE(engine->close());
  });
  if (is_put_back) return;
  missing.put_back();
  Simulation{2}.run([&] {
    const auto engine = Engine::open(*killed, kHome, small_pool_options()).value();
    expect_rolled_back(*engine);
    CHECK(database.rows(*engine) == 70);
    REQUIRE(engine->close());
  });
}

}  // namespace swizzle::missing_segment
