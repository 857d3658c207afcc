// The engine over its pool: modes, policies, partitions, scan hints, counters.
#include <catch2/catch.hpp>

#include "storage/statistics.h"
#include "storage/testing/temporary_engine.h"

namespace swizzle {
namespace {

using testing::TemporaryEngine;
using Rows = std::map<std::string, std::string>;

/// A table with about eight times as many leaves as the pool has frames.
struct LargeTable : TemporaryEngine {
  static constexpr int kRows = 40'000;

  void fill() {
    tree = make_tree();
    auto transaction = engine->begin();
    Tree handle = engine->tree(tree).value();
    for (int i = 0; i < kRows; ++i) {
      const std::string key = std::to_string(1'000'000 + i * 7 % kRows);
      REQUIRE(handle.insert(*transaction, as_bytes(key), as_bytes(std::string(100, 'v'))).value());
    }
    REQUIRE(transaction->commit());
    transaction.reset();
    close();
    options.pool_bytes = 100 * std::uint64_t{8704};
    open();
  }
  Rows scan(ScanHint hint, Direction direction = Direction::forward, const ScanRange& range = {}) {
    const auto transaction = engine->begin();
    Rows rows;
    Cursor cursor =
        engine->tree(tree)
            .value()
            .scan(*transaction, range, direction, ReadMode::snapshot, WaitPolicy::wait, hint)
            .value();
    while (cursor.next().value())
      REQUIRE(rows.emplace(as_text(cursor.key()), as_text(cursor.value())).second);
    return rows;
  }
  std::uint64_t reads_of(const std::function<void()>& work) {
    const std::uint64_t before = engine->statistics().pages_read;
    work();
    return engine->statistics().pages_read - before;
  }

  TreeId tree{};
};

EngineOptions with(PoolMode mode, Replacement replacement) {
  EngineOptions options;
  options.pool_mode = mode;
  options.replacement = replacement;
  return options;
}

}  // namespace

TEST_CASE_METHOD(LargeTable, "a scan sees the same whatever its hint", "[storage][engine][scan]") {
  options.pool_mode = GENERATE(PoolMode::swizzling, PoolMode::traditional);
  fill();
  const Rows all = scan(ScanHint::none);
  REQUIRE(all.size() == kRows);
  const std::string low = "1010000";
  const std::string high = "1010500";
  ScanRange range;
  range.low = as_bytes(low);
  range.high = as_bytes(high);
  for (const ScanHint hint : {ScanHint::none, ScanHint::sequential, ScanHint::large}) {
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      CHECK(scan(hint, direction) == all);
      CHECK(scan(hint, direction, range).size() == 500);
    }
  }
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(LargeTable, "the map of the pool says which tree has a frame",
                 "[storage][engine]") {
  options.pool_mode = GENERATE(PoolMode::swizzling, PoolMode::traditional);
  fill();
  scan(ScanHint::none);
  const EngineStatistics now = engine->statistics();
  REQUIRE(now.pool_map_trees.size() == now.pool_map.size());
  std::size_t of_tree = 0;
  for (std::size_t cell = 0; cell < now.pool_map.size(); ++cell) {
    CAPTURE(cell);
    if (now.pool_map[cell] == '.') CHECK(now.pool_map_trees[cell] == TreeId::directory);
    of_tree += now.pool_map_trees[cell] == tree ? 1U : 0U;
  }
  CHECK(of_tree > now.pool_map.size() / 2);
}

TEST_CASE_METHOD(LargeTable,
                 "asking for keys beforehand reads nothing from disk and changes nothing",
                 "[storage][engine]") {
  options.pool_mode = GENERATE(PoolMode::swizzling, PoolMode::traditional);
  fill();
  std::vector<std::string> names{"", "0", "2", std::string(1024, 'x')};
  for (int i = 0; i < 40; ++i) names.push_back(std::to_string(1'000'000 + 997 * i));
  std::vector<Bytes> keys;
  for (const std::string& name : names) keys.push_back(as_bytes(name));
  const ReadMode mode = GENERATE(ReadMode::snapshot, ReadMode::for_update);
  const auto transaction = engine->begin();
  Tree handle = engine->tree(tree).value();
  const auto look_at_all = [&] {
    ValueBuffer value;
    for (std::size_t i = 0; i < keys.size(); ++i)
      CHECK(handle.get(*transaction, keys[i], value, mode).value() == (i >= 4));
  };
  // With no page of the tree resident, with some, and with the keys' leaves resident.
  for (int round = 0; round < 3; ++round) {
    CHECK(reads_of([&] { handle.prefetch(*transaction, keys, mode); }) == 0);
    look_at_all();
  }
  handle.prefetch(*transaction, {}, mode);
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(LargeTable, "a hinted scan reads ahead, another does not",
                 "[storage][engine][scan]") {
  options.pool_mode = GENERATE(PoolMode::swizzling, PoolMode::traditional);
  fill();
  CHECK(engine->statistics().pages_read_ahead == 0);
  scan(ScanHint::none);
  CHECK(engine->statistics().pages_read_ahead == 0);
  const ScanHint hint = GENERATE(ScanHint::sequential, ScanHint::large);
  const Direction direction = GENERATE(Direction::forward, Direction::backward);
  const std::uint64_t before = engine->statistics().pages_read;
  scan(hint, direction);
  const EngineStatistics after = engine->statistics();
  // All but the first leaves, and the branches. In so small a pool a few leaves are evicted before
  // the scan reaches them, more so on a slow machine.
  CHECK(after.pages_read_ahead * 10 > (after.pages_read - before) * 8);
  CHECK((after.pages_read - before) * 10 <= after.pages_allocated * 12);
  CHECK(after.reads_in_flight == 0);
}

TEST_CASE_METHOD(LargeTable, "a large scan that says so leaves the hot pages in the pool",
                 "[storage][engine][scan]") {
  fill();
  const auto touch_hot = [this] {
    for (int i = 0; i < 600; ++i) REQUIRE(get(tree, std::to_string(1'000'000 + i)).has_value());
  };
  for (int i = 0; i < 4; ++i) touch_hot();
  CHECK(reads_of(touch_hot) == 0);
  scan(ScanHint::large);
  CHECK(reads_of(touch_hot) <= 2);
  // Control: without a hint nothing is read ahead.
  scan(ScanHint::none);
  CHECK(reads_of(touch_hot) > 5);
}

TEST_CASE_METHOD(LargeTable, "the pool's frames and requests are accounted for",
                 "[storage][engine]") {
  options.pool_partitions = GENERATE(1U, 3U);
  fill();
  scan(ScanHint::none);
  const EngineStatistics all = engine->statistics();
  CHECK(all.pool_frames == 100);
  CHECK(all.pool_free_frames + all.pool_swizzled + all.pool_unswizzled + all.reads_in_flight ==
        all.pool_frames);
  CHECK(all.pool_swizzled > 0);
  CHECK(all.pages_evicted > 0);
  CHECK(all.sweeps > 0);
  const std::uint64_t requests = all.leaf_requests;
  for (int i = 0; i < 10; ++i) get(tree, "1000000");
  CHECK(engine->statistics().leaf_requests == requests + 10);
}

TEST_CASE_METHOD(LargeTable, "pages that are read count for their tree", "[storage][engine]") {
  options.pool_mode = GENERATE(PoolMode::swizzling, PoolMode::traditional);
  const TreeId other = make_tree();
  {
    const auto transaction = engine->begin();
    Tree handle = engine->tree(other).value();
    REQUIRE(handle.insert(*transaction, as_bytes("a"), as_bytes("1")).value());
    REQUIRE(transaction->commit());
  }
  fill();
  const std::uint64_t before = engine->statistics().pages_read;
  const std::uint64_t of_table = engine->pages_read_of(tree);
  scan(GENERATE(ScanHint::none, ScanHint::large));
  const std::uint64_t read = engine->pages_read_of(tree) - of_table;
  const std::uint64_t of_all = engine->statistics().pages_read - before;
  CHECK(read <= of_all);
  // The directory of trees may have been read as well.
  CHECK(read + 2 >= of_all);
  CHECK(read > 600);
  CHECK(engine->pages_read_of(other) == 0);
  CHECK(get(other, "a").has_value());
  CHECK(engine->pages_read_of(other) == 1);
  const auto transaction = engine->begin();
  const Tree handle = engine->tree(tree).value();
  Cursor cursor = handle.scan(*transaction, {}).value();
  while (cursor.next().value()) continue;
  CHECK(cursor.leaf_requests() == transaction->leaf_requests());
}

TEST_CASE_METHOD(LargeTable, "the engine runs under every replacement policy",
                 "[storage][engine]") {
  options.pool_mode = GENERATE(PoolMode::swizzling, PoolMode::traditional);
  options.replacement = GENERATE(Replacement::random, Replacement::gclock, Replacement::car,
                                 Replacement::lru, Replacement::cooling_fifo);
  fill();
  const auto transaction = engine->begin();
  Tree handle = engine->tree(tree).value();
  for (int i = 0; i < kRows; i += 11) {
    const std::string key = std::to_string(1'000'000 + i);
    REQUIRE(handle.update(*transaction, as_bytes(key), as_bytes("changed")).value());
  }
  REQUIRE(transaction->commit());
  const Rows rows = scan(ScanHint::large);
  CHECK(rows.size() == kRows);
  CHECK(rows.at("1000011") == "changed");
  CHECK(rows.at("1000012") == std::string(100, 'v'));
  CHECK(engine->verify().value().empty());
  CHECK(engine->statistics().pages_evicted > 100);
}

TEST_CASE_METHOD(TemporaryEngine, "a pool that makes no sense is refused by name and reason",
                 "[storage][engine]") {
  close();
  const auto refused = [this](const EngineOptions& wanted) {
    auto opened = Engine::open(*files, data, wanted);
    REQUIRE_FALSE(opened.has_value());
    return std::move(opened).error();
  };
  SECTION("too small") {
    EngineOptions wanted = options;
    wanted.pool_bytes = std::uint64_t{15} * 8704;
    const Error error = refused(wanted);
    CHECK(error.state() == sqlstate::invalid_parameter_value);
    CHECK(error.message() == "the buffer pool has 130560 bytes; the minimum is 139264");
    wanted.pool_bytes = std::uint64_t{16} * 8704;
    CHECK(Engine::open(*files, data, wanted).has_value());
  }
  SECTION("a policy where nothing is replaced") {
    const Error error = refused(with(PoolMode::main_memory, Replacement::lru));
    CHECK(error.state() == sqlstate::feature_not_supported);
    CHECK(error.message().find("main_memory") != std::string::npos);
  }
  SECTION("parameters") {
    EngineOptions wanted = with(PoolMode::swizzling, Replacement::gclock);
    wanted.gclock_limit = 0;
    CHECK(refused(wanted).message() == "gclock_limit is 0; it must be at least 1");
    wanted.gclock_limit = 1;
    wanted.cooling_percent = 0;
    CHECK(refused(wanted).message() == "cooling_percent is 0; it must be from 1 to 90");
    wanted.cooling_percent = 10;
    wanted.pool_partitions = 65;
    CHECK(refused(wanted).message() == "pool_partitions is 65; it must be at most 64");
  }
  open();
}

}  // namespace swizzle
