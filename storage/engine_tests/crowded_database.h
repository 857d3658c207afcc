#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>

#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/statistics.h"
#include "storage/testing/database_home.h"

/// A database of few pages, for tests in which something has run out.
namespace swizzle::test {

inline constexpr int kCrowdedRows = 200;
inline constexpr std::uint64_t kFrameBytes = 8704;

inline EngineOptions few_pages(std::uint64_t frames = 600) {
  EngineOptions options;
  options.pool_bytes = frames * kFrameBytes;
  options.log_segment_bytes = std::uint64_t{4} << 20U;
  options.log_buffer_bytes = std::uint64_t{1} << 20U;
  return options;
}

/// A rollback that cannot go on is stuck rather than slow.
inline Simulation::Options bounded(std::uint64_t seed) {
  return {.seed = seed, .longest = std::chrono::minutes{20}};
}

inline std::string crowded_key(int row) {
  return "row " + std::to_string(10'000 + row);
}

using Content = std::map<std::string, std::string>;

struct CrowdedDatabase {
  explicit CrowdedDatabase(SimulatedDisk& disk, const EngineOptions& options = few_pages())
      : engine(Engine::open(disk, kHome, options).value()) {}

  void make_tree(std::size_t value_bytes) {
    const auto transaction = engine->begin();
    tree = engine->create_tree(*transaction).value();
    for (int row = 0; row < kCrowdedRows; ++row) {
      const std::string value(value_bytes, 'o');
      REQUIRE(in().insert(*transaction, as_bytes(crowded_key(row)), as_bytes(value)).value());
      content[crowded_key(row)] = value;
    }
    REQUIRE(transaction->commit());
    // Foster children find their parents.
    REQUIRE(found() == content);
  }
  Tree in() { return engine->tree(tree).value(); }
  Content found() {
    const auto reader = engine->begin();
    Content rows;
    Cursor cursor = in().scan(*reader, {}).value();
    while (cursor.next().value()) rows.emplace(as_text(cursor.key()), as_text(cursor.value()));
    return rows;
  }
  void update_all(Transaction& transaction, std::size_t value_bytes, char with = 'n') {
    for (int row = 0; row < kCrowdedRows; ++row)
      REQUIRE(in().update(transaction, as_bytes(crowded_key(row)),
                          as_bytes(std::string(value_bytes, with)))
                  .value());
  }
  /// Puts rows between the others until the disk is full; committed rows stay. Of the last
  /// transaction's rows there may be a page left.
  SqlState fill_up(int at_once = 25) {
    for (int number = 0;;) {
      const auto transaction = engine->begin();
      Content added;
      for (int i = 0; i < at_once; ++i, ++number) {
        const std::string key =
            crowded_key(number % kCrowdedRows) + " and " + std::to_string(number);
        const auto inserted =
            in().insert(*transaction, as_bytes(key), as_bytes(std::string(300, 'f')));
        if (!inserted) return inserted.error().state();
        if (*inserted) added[key] = std::string(300, 'f');
      }
      REQUIRE(transaction->commit());
      content.merge(added);
    }
  }
  std::uint64_t pages() { return engine->statistics().pages_allocated; }

  std::unique_ptr<Engine> engine;
  TreeId tree{};
  Content content;
};

inline DiskFault no_room_in(std::string path, DiskOperation operation, std::uint64_t times) {
  return {.operation = operation,
          .times = times,
          .path_contains = kHome.native() + "/" + path,
          .error = ENOSPC};
}

inline void create_crowded(SimulatedDisk& disk, const EngineOptions& options = few_pages()) {
  REQUIRE(Engine::create(disk, kHome, options));
  REQUIRE(disk.sync_directory("/"));
}

}  // namespace swizzle::test
