#pragma once

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "base/simulation/simulated_disk.h"
#include "storage/engine.h"
#include "storage/page/page.h"
#include "storage/recovery/checkpoint/control_file.h"
#include "storage/space/double_write.h"
#include "storage/space/volume.h"
#include "storage/statistics.h"
#include "storage/testing/database_home.h"
#include "storage/txn/restart/restart_losers.h"

namespace swizzle::test {

inline constexpr std::uint64_t kSegmentBytes = std::uint64_t{256} << 10U;

inline EngineOptions small_pool_options() {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{4} << 20U;
  options.log_segment_bytes = kSegmentBytes;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  return options;
}

/// Restores the limit for later tests.
struct MostOpenRows {
  explicit MostOpenRows(std::uint64_t rows) { RestartLosers::most_open_rows = rows; }
  MostOpenRows(const MostOpenRows&) = delete;
  MostOpenRows& operator=(const MostOpenRows&) = delete;
  ~MostOpenRows() { RestartLosers::most_open_rows = 1024; }
};

/// Damages a page in the data file and in the double-write area.
inline void damage_page(SimulatedDisk& disk, PageId page) {
  const auto flip = [&](const std::filesystem::path& file, std::uint64_t at) {
    const std::array<std::byte, 1> flipped{disk.contents(file).at(at) ^ std::byte{1}};
    disk.corrupt(file, at, flipped);
  };
  flip(kHome / Volume::kFileName, raw(page) * kPageBytes + kPageBytes / 2);
  const auto copies = disk.contents(kHome / DoubleWrite::kFileName);
  for (std::size_t at = 0; at + kPageBytes <= copies.size(); at += kPageBytes)
    if (load<PageHeader>(copies.data() + at).id == page)
      flip(kHome / DoubleWrite::kFileName, at + kPageBytes / 2);
}

/// A database with `rows` committed rows that was killed.
struct Killed {
  explicit Killed(int rows, int checkpoint_at = -1) {
    REQUIRE(Engine::create(disk, kHome, small_pool_options()));
    const auto engine = Engine::open(disk, kHome, small_pool_options()).value();
    auto first = engine->begin();
    tree = engine->create_tree(*first).value();
    REQUIRE(first->commit());
    add(*engine, 0, rows, checkpoint_at);
    end = Lsn{engine->statistics().log_durable};
  }
  void add(Engine& engine, int from, int to, int checkpoint_at) {
    for (int row = from; row < to; ++row) {
      const auto transaction = engine.begin();
      REQUIRE(
          engine.tree(tree)
              .value()
              .insert(*transaction, as_bytes(std::to_string(row)), as_bytes(std::string(700, 'v')))
              .value());
      REQUIRE(transaction->commit());
      if (row == checkpoint_at) REQUIRE(engine.checkpoint());
    }
  }
  [[nodiscard]] std::vector<std::string> log_files() { return disk.list("/database/log").value(); }
  [[nodiscard]] std::vector<std::string> segments() {
    std::vector<std::string> found;
    for (const std::string& name : log_files())
      if (name.ends_with(".log")) found.push_back(name);
    return found;
  }
  /// Returns the segment that has `lsn`.
  [[nodiscard]] std::filesystem::path segment_of(Lsn lsn) {
    return kHome / "log" / fmt::format("{:016x}.log", raw(lsn) / kSegmentBytes);
  }
  Result<std::unique_ptr<Engine>> open() { return Engine::open(disk, kHome, small_pool_options()); }
  int rows(Engine& engine) {
    const auto reader = engine.begin();
    Cursor cursor = engine.tree(tree).value().scan(*reader, {}).value();
    int count = 0;
    while (cursor.next().value()) ++count;
    REQUIRE(engine.verify().value().empty());
    return count;
  }
  Control control() { return ControlFile::open(disk, kHome).value()->current(); }
  void copy_file(const std::filesystem::path& from, const std::filesystem::path& to) {
    const auto bytes = disk.contents(from);
    auto target = disk.open(to, OpenMode::open_or_create, {}).value();
    REQUIRE(target->truncate(bytes.size()));
    if (!bytes.empty()) REQUIRE(target->write_at(0, bytes));
  }

  SimulatedDisk disk;
  TreeId tree{};
  Lsn end{};
};

}  // namespace swizzle::test
