// Warm-up after a start: the list of resident pages, and reading them ahead.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/random.h"
#include "storage/statistics.h"
#include "storage/testing/temporary_engine.h"
#include "storage/warm/resident_pages.h"

namespace swizzle {
namespace {

using testing::TemporaryEngine;

constexpr std::uint64_t kPoolFrames = 400;

/// A table with about twice as many leaves as the pool has frames.
struct WarmTable : TemporaryEngine {
  static constexpr int kRows = 40'000;

  WarmTable() {
    options.pool_bytes = kPoolFrames * 8704;
    options.pool_preload = true;
  }
  static std::string key_of(int i) { return std::to_string(1'000'000 + i); }
  void fill() {
    tree = make_tree();
    auto transaction = engine->begin();
    Tree handle = engine->tree(tree).value();
    for (int i = 0; i < kRows; ++i)
      REQUIRE(handle.insert(*transaction, as_bytes(key_of(i)), as_bytes(std::string(130, 'v')))
                  .value());
    REQUIRE(transaction->commit());
  }
  /// Reads some rows of a fifth of the table; returns the number of pages read.
  std::uint64_t look_at_hot_part() {
    const std::uint64_t before = missed();
    const auto transaction = engine->begin();
    Tree handle = engine->tree(tree).value();
    ValueBuffer value;
    for (int round = 0; round < 4; ++round)
      for (int i = 10'000; i < 18'000; i += 10)
        REQUIRE(handle.get(*transaction, as_bytes(key_of(i)), value, ReadMode::snapshot).value());
    return missed() - before;
  }
  [[nodiscard]] std::uint64_t missed() const {
    const EngineStatistics now = engine->statistics();
    return now.pages_read - now.pages_read_ahead;
  }
  [[nodiscard]] std::vector<ResidentPage> kept_list() const {
    return ResidentPages::load(engine->files(), engine->directory(), engine->database_id());
  }
  void await_preload() {
    while (engine->statistics().is_preloading || engine->statistics().reads_in_flight > 0)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }

  TreeId tree{};
};

}  // namespace

TEST_CASE_METHOD(WarmTable, "what was in memory before a stop is in memory after the start",
                 "[storage][engine][warm]") {
  options.pool_mode = GENERATE(PoolMode::swizzling, PoolMode::traditional);
  close();
  open();
  fill();
  // With an empty list the pool starts cold.
  close();
  std::filesystem::remove(data / ResidentPages::kFileName);
  open();
  await_preload();
  const std::uint64_t cold = look_at_hot_part();
  CHECK(cold > 100);
  CHECK(kept_list().empty());
  close();
  open();
  CHECK(kept_list().size() > cold);
  await_preload();
  CHECK(look_at_hot_part() * 20 < cold);
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(WarmTable, "a list of pages that are gone, are others' or never were does no harm",
                 "[storage][engine][warm]") {
  fill();
  const TreeId dropped = make_tree();
  {
    auto transaction = engine->begin();
    Tree handle = engine->tree(dropped).value();
    for (int i = 0; i < 2'000; ++i)
      REQUIRE(
          handle.insert(*transaction, as_bytes(key_of(i)), as_bytes(std::string(90, 'd'))).value());
    REQUIRE(transaction->commit());
  }
  Random random(4711);
  for (int round = 0; round < 6; ++round) {
    const std::uint64_t id = engine->database_id();
    close();
    std::vector<ResidentPage> list;
    for (int i = 0; i < 500; ++i)
      list.push_back(
          {PageId{random.below(1'200)}, TreeId{static_cast<std::uint32_t>(random.below(6))},
           static_cast<std::uint8_t>(random.below(3)), static_cast<std::uint8_t>(random.below(4))});
    REQUIRE(ResidentPages::save(*files, data, id, list));
    open();
    if (round == 2) {
      auto transaction = engine->begin();
      REQUIRE(engine->drop_tree(*transaction, dropped));
      REQUIRE(transaction->commit());
    }
    if (round == 4) {
      // Leaves on the list merge and are freed.
      auto transaction = engine->begin();
      Tree handle = engine->tree(tree).value();
      for (int i = 0; i < 12'000; ++i)
        REQUIRE(handle.remove(*transaction, as_bytes(key_of(i))).value());
      REQUIRE(transaction->commit());
    }
    await_preload();
    CHECK(engine->verify().value().empty());
  }
}

TEST_CASE_METHOD(WarmTable, "a damaged list, or another database's, is none",
                 "[storage][engine][warm]") {
  const std::uint64_t id = engine->database_id();
  const std::vector<ResidentPage> list = {{PageId{7}, TreeId{2}, 1, 3},
                                          {PageId{9}, TreeId{2}, 0, 1}};
  REQUIRE(ResidentPages::save(*files, data, id, list));
  CHECK(ResidentPages::load(*files, data, id) == list);
  CHECK(ResidentPages::load(*files, data, id + 1).empty());
  const auto path = data / ResidentPages::kFileName;
  const auto size = std::filesystem::file_size(path);
  for (std::uintmax_t at = 0; at < size; ++at) {
    REQUIRE(ResidentPages::save(*files, data, id, list));
    std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 0x20));
    file.close();
    CHECK(ResidentPages::load(*files, data, id).empty());
    std::filesystem::resize_file(path, at);
    CHECK(ResidentPages::load(*files, data, id).empty());
  }
}

}  // namespace swizzle
