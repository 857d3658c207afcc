#include "storage/txn/restart/later_changes.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "base/io/posix_file_system.h"
#include "base/random.h"
#include "base/sanitizers.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "storage/txn/versions/version_index.h"
#include "wal/test_support.h"

namespace swizzle::later_changes {
namespace {

/// Bytes of this process's own memory; pages of mapped files do not count.
std::uint64_t own_bytes() {
  std::ifstream status{"/proc/self/statm"};
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  std::uint64_t of_files = 0;
  status >> all >> resident >> of_files;
  return (resident - of_files) * 4096;
}

/// Undo records of one transaction.
struct Records {
  Records(FileSystem& files, const std::filesystem::path& directory,
          std::size_t memory_bytes = std::size_t{1} << 20U)
      : space{files, *log, directory, memory_bytes, 0} {}
  const UndoRecord& add(TreeId tree, const std::string& key, UndoRecord::Kind kind) {
    REQUIRE(undo.prepare(key.size()));
    return undo.add({.kind = kind,
                     .tree = tree,
                     .key_hash = hash_of_key(tree, as_bytes(key)),
                     .key = as_bytes(key),
                     .old_value = {},
                     .old_overflow = false,
                     .statement = 0,
                     .previous_lsn = Lsn::none});
  }
  std::unique_ptr<wal::Log> log = wal::Log::none();
  UndoSpace space;
  UndoLog undo{space};
};

}  // namespace

TEST_CASE("R10 the next change of each key is found, as a map has it", "[storage][prepared]") {
  for_seeds(20, [](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    Records records(disk, "/");
    LaterChanges later(disk, records.space.directory);
    Random random{seed};
    std::map<std::pair<TreeId, std::string>, const UndoRecord*> model;
    const std::uint64_t keys = random.one_in(2) ? 50 : 20'000;
    for (int i = 0; i < 30'000; ++i) {
      const TreeId tree{static_cast<std::uint32_t>(2 + random.below(3))};
      const std::string key = std::to_string(random.below(keys));
      using Kind = UndoRecord::Kind;
      const auto kind = std::array{Kind::inserted, Kind::updated, Kind::removed}[random.below(3)];
      const UndoRecord& record = records.add(tree, key, kind);
      auto& known = model[{tree, key}];
      if (kind == Kind::updated && random.one_in(20)) {
        REQUIRE(later.put_unknown(record));
        known = nullptr;
      } else {
        REQUIRE(later.put(record));
        known = &record;
      }
      const std::string asked = std::to_string(random.below(keys));
      const auto found = model.find({tree, asked});
      const UndoRecord* const expected = found == model.end() ? nullptr : found->second;
      const UndoRecord* const got = later.find(tree, as_bytes(asked));
      // The first insert of a key need not be known.
      if (got == nullptr && expected != nullptr)
        REQUIRE(expected->kind == Kind::inserted);
      else
        REQUIRE(got == expected);
    }
  });
}

TEST_CASE("R10 a transaction of many rows is read back in bounded memory", "[storage][prepared]") {
  const wal::test::TemporaryDirectory directory;
  PosixFileSystem files;
  Records records(files, directory.path());
  LaterChanges later(files, records.space.directory);
  constexpr int kRows = 1'000'000;
  const TreeId tree{2};
  const auto is_even = [](int row) { return row % 2 == 0; };
  [[maybe_unused]] std::uint64_t before = 0;
  for (int row = 0; row < kRows; ++row) {
    using Kind = UndoRecord::Kind;
    const UndoRecord& record =
        records.add(tree, std::to_string(row), is_even(row) ? Kind::updated : Kind::inserted);
    REQUIRE(later.put(record));
    if (row == kRows / 10) before = own_bytes();
  }
  // New rows alone take no entry.
  CHECK(later.count() == kRows / 2);
#ifndef SWIZZLE_ASAN
  CHECK(own_bytes() < before + (std::uint64_t{8} << 20U));
#endif
  for (int row = 0; row < kRows; row += 997) {
    const UndoRecord* const found = later.find(tree, as_bytes(std::to_string(row)));
    REQUIRE((found != nullptr) == is_even(row));
    if (found != nullptr) REQUIRE(as_text(found->key()) == std::to_string(row));
  }
}

TEST_CASE("R10 a full disk refuses more rows and forgets none", "[storage][prepared]") {
  SimulatedDisk disk{1};
  Records records(disk, "/", std::size_t{64} << 20U);
  LaterChanges later(disk, records.space.directory);
  disk.limit_capacity(std::uint64_t{2} << 20U);
  const TreeId tree{2};
  int noted = 0;
  Result<> put;
  while (put) {
    REQUIRE(noted < 1'000'000);
    put = later.put(records.add(tree, std::to_string(noted), UndoRecord::Kind::updated));
    if (put) ++noted;
  }
  CHECK(put.error().state() == sqlstate::disk_full);
  for (int row = 0; row < noted; ++row)
    REQUIRE(later.find(tree, as_bytes(std::to_string(row))) != nullptr);
}

}  // namespace swizzle::later_changes
