// Restores that take digests for the segments of the archive.
#include "storage/recovery/backup/digest_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "base/checksum.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/recovery/backup/backup_chain.h"
#include "storage/recovery/backup/test_trees.h"
#include "storage/restore.h"
#include "storage/space/space_map.h"

using namespace swizzle;

namespace {

using test::kArchive;
using test::kBackup;
using test::kHome;
using test::Trees;

constexpr std::uint64_t kSegment = std::uint64_t{256} << 10U;

bool is_digest(const std::string& name) {
  return name.ends_with(".digest");
}

std::vector<std::string> archived(SimulatedDisk& disk, std::string_view ending) {
  std::vector<std::string> names = disk.list(kArchive).value();
  std::erase_if(names, [&](const std::string& name) { return !name.ends_with(ending); });
  return names;
}

wal::RestoreSegment without_digests(const wal::RestoreSegment& archive) {
  return [archive](const std::string& name, const std::filesystem::path& target) -> Result<bool> {
    if (is_digest(name)) return false;
    return archive(name, target);
  };
}

/// A database with a backup, and changes behind it.
struct History {
  Trees::Content content;
  std::vector<RecoveryTarget> targets{{}};
};

void add_targets(History& history, Trees& trees) {
  using Bound = RecoveryTarget::Bound;
  Engine& engine = *trees.engine;
  Random& random = trees.random;
  const Bound bound = random.one_in(2) ? Bound::inclusive : Bound::exclusive;
  const std::string name = "point " + std::to_string(history.targets.size());
  const Lsn at = engine.create_restore_point(name).value();
  const auto transaction = engine.begin();
  const TreeId changed = trees.content.begin()->first;
  Tree tree = engine.tree(changed).value();
  REQUIRE(tree.insert(*transaction, as_bytes(name), as_bytes("row")));
  history.targets.push_back({.lsn = Lsn{raw(at) + 8 * random.below(4000)}, .bound = bound});
  history.targets.push_back({.restore_point = name, .bound = bound});
  history.targets.push_back({.transaction = transaction->id(), .bound = bound});
  if (random.one_in(2)) {
    REQUIRE(transaction->commit());
    trees.content[changed][name] = "row";
  } else {
    transaction->rollback();
  }
  Runtime& runtime = Runtime::current();
  runtime.sleep_until(runtime.now() + std::chrono::milliseconds{random.between(1, 50)});
  history.targets.push_back({.time_us = runtime.wall_clock_us(), .bound = bound});
}

/// Ends by a power cut for every other seed, with a transaction that has no end.
void make_history(SimulatedDisk& disk, std::uint64_t seed, History& history) {
  Trees trees(disk, seed);
  REQUIRE(trees.engine->back_up(kBackup));
  for (int part = 0; part < 4; ++part) {
    for (int i = 0; i < 120; ++i) trees.change();
    if (part == 2) trees.reopen();
    add_targets(history, trees);
    history.content = trees.content;
  }
  if (seed % 2 == 0) {
    REQUIRE(trees.engine->close());
    return;
  }
  const auto open = trees.engine->begin();
  Tree tree = trees.engine->tree(trees.content.begin()->first).value();
  for (int i = 0; i < 200; ++i)
    REQUIRE(tree.insert(*open, as_bytes("open " + std::to_string(i)), as_bytes("never")).value());
  REQUIRE(trees.engine->create_restore_point("last"));
  // The archive is on a disk of its own.
  REQUIRE(disk.sync_directory(kArchive));
  disk.cut_power();
}

History history_of(SimulatedDisk& disk, std::uint64_t seed) {
  History history;
  Simulation simulation{seed};
  const auto made = simulation.run([&] { make_history(disk, seed, history); });
  if (made == Simulation::Outcome::stopped) disk.crash(seed);
  disk.sync_everything();
  return history;
}

/// State that a restore leaves for the first start, in an order of its own; or its error.
struct Prepared {
  std::string error;
  RestoreOutcome outcome;
  Checkpoint checkpoint;
  std::vector<std::vector<std::byte>> space;
};

Prepared prepare(SimulatedDisk& disk, const wal::RestoreSegment& archive,
                 const RecoveryTarget& target = {}) {
  const std::filesystem::path directory = "/prepared";
  Prepared prepared;
  auto made = begin_restore(disk, {kBackup}, directory, archive, target);
  if (!made) {
    prepared.error = made.error().message();
    return prepared;
  }
  prepared.outcome = *made;
  prepared.checkpoint = ControlFile::open(disk, directory).value()->current().checkpoint;
  std::ranges::sort(prepared.checkpoint.dirty, {}, &DirtyPage::page);
  std::ranges::sort(prepared.checkpoint.active, {}, &ActiveTransaction::id);
  for (const char* const name : SpaceMap::kFileNames)
    if (disk.exists(directory / name).value())
      prepared.space.push_back(disk.contents(directory / name));
  for (const char* const name : {"log", kOlderDigestsName})
    REQUIRE(remove_with_content(disk, directory / name));
  REQUIRE(remove_with_content(disk, directory));
  return prepared;
}

void require_same(const Prepared& one, const Prepared& other) {
  REQUIRE(one.error == other.error);
  REQUIRE(one.outcome.end == other.outcome.end);
  REQUIRE(one.outcome.begins_again == other.outcome.begins_again);
  REQUIRE(one.outcome.last_commit == other.outcome.last_commit);
  REQUIRE(one.outcome.last_commit_us == other.outcome.last_commit_us);
  REQUIRE(one.outcome.restore_point == other.outcome.restore_point);
  REQUIRE(one.checkpoint.next_txn == other.checkpoint.next_txn);
  REQUIRE(one.checkpoint.redo_from == other.checkpoint.redo_from);
  REQUIRE(one.checkpoint.keep_from == other.checkpoint.keep_from);
  const auto same_page = [](const DirtyPage& a, const DirtyPage& b) {
    return a.page == b.page && a.since == b.since && a.newest == b.newest;
  };
  const auto same_transaction = [](const ActiveTransaction& a, const ActiveTransaction& b) {
    return a.id == b.id && a.first == b.first && a.last == b.last;
  };
  REQUIRE(std::ranges::equal(one.checkpoint.dirty, other.checkpoint.dirty, same_page));
  REQUIRE(std::ranges::equal(one.checkpoint.active, other.checkpoint.active, same_transaction));
  const bool is_same_space = one.space == other.space;
  REQUIRE(is_same_space);
}

void put(SimulatedDisk& disk, const std::filesystem::path& path, Bytes bytes) {
  const auto file = disk.open(path, OpenMode::open_or_create, {}).value();
  REQUIRE(file->truncate(0));
  REQUIRE(file->write_at(0, bytes));
}

}  // namespace

TEST_CASE("R22 a restore finds the same by digests as by the log, for each target", "[backup]") {
#ifdef SWIZZLE_SLOW_INVARIANTS
  constexpr int kHistories = 2;  // pages are walked there at each step
#else
  constexpr int kHistories = 6;
#endif
  for_seeds(kHistories, [](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    const History history = history_of(disk, seed);
    // Also those behind a restart.
    CHECK(archived(disk, ".digest").size() > 8);
    CHECK(archived(disk, ".digest").size() + 1 >= archived(disk, ".log").size());
    Simulation simulation{seed + 1};
    simulation.run([&] {
      const auto archive = test::fetch_from_archive_and_log(disk);
      for (const RecoveryTarget& target : history.targets)
        require_same(prepare(disk, archive, target),
                     prepare(disk, without_digests(archive), target));
    });
  });
}

TEST_CASE("R22 a restore reads of the log only what no digest tells", "[backup]") {
  SimulatedDisk disk{2};
  const History history = history_of(disk, 2);
  Simulation simulation{3};
  simulation.run([&] {
    const auto archive = test::fetch_from_archive_and_log(disk);
    const Prepared by_log = prepare(disk, without_digests(archive));
    const Prepared by_digests = prepare(disk, archive);
    CHECK(by_log.outcome.log_bytes_read > 6 * kSegment);
    // The segment of the backup's checkpoint, and the one that was not finished.
    CHECK(by_digests.outcome.log_bytes_read < 2 * kSegment);
    REQUIRE(begin_restore(disk, {kBackup}, "/restored", archive, {}));
    Trees trees(disk, 2, "/restored", history.content);
    REQUIRE(trees.engine->verify().value() == std::vector<std::string>{});
    REQUIRE(trees.engine->close());
  });
}

TEST_CASE("R22 a digest that is damaged, torn or of another segment is not used", "[backup]") {
  for_seeds(4, [](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    history_of(disk, seed);
    Random random{seed};
    Simulation simulation{seed + 1};
    simulation.run([&] {
      const auto archive = test::fetch_from_archive_and_log(disk);
      const Prepared expected = prepare(disk, without_digests(archive));
      const std::vector<std::string> digests = archived(disk, ".digest");
      REQUIRE(digests.size() > 4);
      std::map<std::string, std::vector<std::byte>> whole;
      for (const std::string& name : digests) whole[name] = disk.contents(kArchive / name);
      for (int round = 0; round < 4; ++round) {
        for (const std::string& name : digests) {
          std::vector<std::byte> bytes = whole[name];
          switch (random.below(5)) {
            case 0:
              bytes[random.below(bytes.size())] ^= std::byte{0x40};
              break;
            case 1:
              bytes.resize(random.below(bytes.size()));
              break;
            case 2:
              bytes = whole[digests[random.below(digests.size())]];
              break;
            case 3:
              bytes.push_back(std::byte{0});
              break;
            default:
              break;
          }
          put(disk, kArchive / name, bytes);
        }
        require_same(prepare(disk, archive), expected);
      }
    });
  });
}

TEST_CASE("R22 a digest with any content and the right checksum does no harm", "[backup]") {
  SimulatedDisk disk{6};
  history_of(disk, 6);
  Simulation simulation{7};
  simulation.run([&] {
    const auto control = ControlFile::open(disk, kHome).value();
    const std::string name = archived(disk, ".digest").at(2);
    const DigestOf of{.database_id = control->current().log_id,
                      .segment_bytes = kSegment,
                      .number = std::stoull(name, nullptr, 16)};
    const std::vector<std::byte> whole = disk.contents(kArchive / name);
    const SegmentDigest digest = decode_digest(whole, of).value();
    CHECK(encode_digest(digest, of) == whole);
    CHECK_FALSE(digest.pages.empty());
    CHECK_FALSE(digest.ended.empty());
    constexpr std::size_t kHeader = 24;
    Random random{7};
    std::size_t taken = 0;
    for (int i = 0; i < 20'000; ++i) {
      std::vector<std::byte> bytes = whole;
      for (std::uint64_t n = random.between(1, 4); n > 0; --n)
        bytes[kHeader + random.below(bytes.size() - kHeader)] = static_cast<std::byte>(random());
      if (random.one_in(4)) bytes.resize(kHeader + random.below(bytes.size() - kHeader));
      const std::uint64_t sum = checksum(Bytes{bytes}.subspan(kHeader), of.database_id);
      store(bytes.data() + 16, sum);
      const auto decoded = decode_digest(bytes, of);
      if (!decoded) continue;
      ++taken;
      for (const SegmentDigest::Page& page : decoded->pages)
        REQUIRE((page.fate == SegmentDigest::Page::Fate::freed ||
                 (page.since >= decoded->begin && page.newest < decoded->end)));
    }
    CHECK(taken > 0);
  });
}
