// Damaged pages of which the log has lost records are rebuilt from a backup and the archive.
#include "storage/recovery/backup/repair_backup.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <set>
#include <utility>

#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/backup.h"
#include "storage/engine.h"
#include "storage/page/page.h"
#include "storage/recovery/backup/backup_chain.h"
#include "storage/recovery/backup/test_trees.h"
#include "storage/space/double_write.h"
#include "storage/space/volume.h"
#include "storage/space/written_lsns_file.h"
#include "storage/statistics.h"

using namespace swizzle;
using Catch::Contains;

namespace {

using test::kArchive;
using test::kBackup;
using test::kHome;
using test::Trees;
using Directories = std::vector<std::filesystem::path>;
using Violations = std::vector<std::string>;

const std::filesystem::path kData = kHome / Volume::kFileName;

void in_simulation(std::uint64_t seed, const std::function<void()>& body) {
  Simulation simulation{seed};
  REQUIRE(simulation.run(body) != Simulation::Outcome::stopped);
}

/// Damages a page in the data file and in the double-write area.
void damage(SimulatedDisk& disk, std::uint64_t page) {
  const auto flip = [&](const std::filesystem::path& file, std::uint64_t at) {
    const std::array<std::byte, 1> flipped{disk.contents(file).at(at) ^ std::byte{1}};
    disk.corrupt(file, at, flipped);
  };
  flip(kData, page * kPageBytes + kPageBytes / 2);
  const auto path = kHome / DoubleWrite::kFileName;
  const auto copies = disk.contents(path);
  for (std::size_t at = 0; at + kPageBytes <= copies.size(); at += kPageBytes)
    if (raw(load<PageHeader>(copies.data() + at).id) == page) flip(path, at + kPageBytes / 2);
}

/// Returns the whole pages of the data file, only the tree's leaves if one is named.
std::vector<std::uint64_t> pages_of(SimulatedDisk& disk, std::optional<TreeId> tree = {}) {
  std::vector<std::uint64_t> found;
  const auto bytes = disk.contents(kData);
  for (std::uint64_t page = 1; (page + 1) * kPageBytes <= bytes.size(); ++page) {
    const std::byte* const at = bytes.data() + page * kPageBytes;
    const auto header = load<PageHeader>(at);
    const bool is_wanted = !tree || (header.tree == *tree && header.level == 0);
    if (is_wanted && check_page(at, PageId{page})) found.push_back(page);
  }
  return found;
}

constexpr int kRows = 200;

std::string key_of(int row) {
  return std::to_string(1'000'000 + row);
}

/// A tree whose pages are in a backup, and one whose changes fill the log.
struct Repairable {
  explicit Repairable(SimulatedDisk& on) : disk(on) {
    options = test::archiving_options(disk, std::uint64_t{256} << 10U);
    options.restore = [this](const std::string& name,
                             const std::filesystem::path& target) -> Result<bool> {
      if (is_out_of_reach) return fail(sqlstate::io_error, "the archive is out of reach");
      if (!disk.exists(kArchive / name).value()) return false;
      RETURN_IF_ERROR(test::copy_file(disk, kArchive / name, target));
      return true;
    };
    REQUIRE(Engine::create(disk, kHome, options));
    REQUIRE(disk.create_directory(kArchive));
    REQUIRE(disk.sync_directory("/"));
    open();
    {
      const auto transaction = engine->begin();
      tree = engine->create_tree(*transaction).value();
      other = engine->create_tree(*transaction).value();
      REQUIRE(transaction->commit());
    }
    put(tree, 'a');
    put(other, 'a');
    reopen();
    REQUIRE(engine->back_up(kBackup));
  }
  void open() {
    auto opened = Engine::open(disk, kHome, options);
    if (!opened) FAIL(opened.error().message());
    engine = *std::move(opened);
  }
  void reopen() {
    REQUIRE(engine->close());
    engine.reset();
    open();
  }
  void put(TreeId into, char value) {
    for (int row = 0; row < kRows; ++row) {
      const auto transaction = engine->begin();
      Tree rows = engine->tree(into).value();
      const std::string key = key_of(row);
      const std::string text(700, value);
      if (!rows.update(*transaction, as_bytes(key), as_bytes(text)).value())
        REQUIRE(rows.insert(*transaction, as_bytes(key), as_bytes(text)).value());
      REQUIRE(transaction->commit());
    }
  }
  /// Until the log has forgotten everything before.
  void recycle_log() {
    const std::uint64_t end = engine->statistics().log_tail;
    for (int round = 0; first_of_log() <= end; ++round) {
      REQUIRE(round < 100);
      put(other, static_cast<char>('b' + round % 20));
      REQUIRE(engine->checkpoint());
    }
  }
  [[nodiscard]] std::uint64_t first_of_log() const {
    std::uint64_t first = UINT64_MAX;
    for (const std::string& name : segments_in(kHome / "log"))
      first = std::min<std::uint64_t>(first,
                                      std::stoull(name, nullptr, 16) * options.log_segment_bytes);
    return first;
  }
  [[nodiscard]] std::vector<std::string> segments_in(const std::filesystem::path& where) const {
    std::vector<std::string> names = disk.list(where).value();
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".log"); });
    return names;
  }
  void clear_archive() {
    for (const std::string& name : segments_in(kArchive)) REQUIRE(disk.remove(kArchive / name));
  }
  /// Closes the database and damages the tree's leaves.
  void damage_all() {
    REQUIRE(engine->close());
    engine.reset();
    const auto leaves = pages_of(disk, tree);
    REQUIRE(leaves.size() > 10);
    for (const std::uint64_t page : leaves) damage(disk, page);
    damaged = leaves.size();
  }
  Result<std::string> get(int row) {
    const auto reader = engine->begin();
    ValueBuffer value;
    const std::string key = key_of(row);
    ASSIGN_OR_RETURN(const bool found,
                     engine->tree(tree).value().get(*reader, as_bytes(key), value));
    REQUIRE(found);
    return std::string(as_text(value.bytes()));
  }
  void require_rows(char value) {
    for (int row = 0; row < kRows; ++row) {
      const auto found = get(row);
      if (!found) FAIL(found.error().message() << ": " << found.error().detail());
      REQUIRE(*found == std::string(700, value));
    }
    CHECK(engine->statistics().pages_given_up == 0);
    CHECK(engine->verify().value() == Violations{});
  }
  void finish() {
    REQUIRE(engine->close());
    engine.reset();
  }

  SimulatedDisk& disk;
  EngineOptions options;
  std::unique_ptr<Engine> engine;
  TreeId tree{};
  TreeId other{};
  std::size_t damaged = 0;
  bool is_out_of_reach = false;
};

}  // namespace

TEST_CASE("R23 a damaged page that has not changed since the backup is taken from it", "[backup]") {
  const bool knows_written = GENERATE(true, false);
  SimulatedDisk disk{1};
  in_simulation(1, [&] {
    Repairable database(disk);
    database.recycle_log();
    database.damage_all();
    if (knows_written)
      database.clear_archive();
    else
      REQUIRE(disk.remove(kHome / WrittenLsnsFile::kFileName));
    // Without a backup the rows are lost.
    {
      const auto copy = disk.copy(1);
      const auto engine = Engine::open(*copy, kHome, database.options).value();
      const auto reader = engine->begin();
      ValueBuffer value;
      const auto lost =
          engine->tree(database.tree).value().get(*reader, as_bytes(key_of(1)), value);
      REQUIRE_FALSE(lost);
      CHECK(lost.error().state() == sqlstate::data_corrupted);
    }
    database.options.repair_backups = {kBackup};
    database.open();
    database.require_rows('a');
    CHECK(database.engine->statistics().pages_repaired >= database.damaged);
    database.finish();
  });
}

TEST_CASE("R23 what has changed since the backup comes from the archive", "[backup]") {
  const bool knows_written = GENERATE(true, false);
  const bool is_incremental = GENERATE(false, true);
  CAPTURE(knows_written, is_incremental);
  SimulatedDisk disk{2};
  in_simulation(2, [&] {
    Repairable database(disk);
    Directories backups{kBackup};
    database.put(database.tree, 'b');
    if (is_incremental) {
      REQUIRE(database.engine->back_up_changes(kBackup, "/part"));
      backups.emplace_back("/part");
      database.put(database.tree, 'c');
    }
    database.recycle_log();
    database.damage_all();
    if (!knows_written) REQUIRE(disk.remove(kHome / WrittenLsnsFile::kFileName));
    database.options.repair_backups = backups;
    database.open();
    database.require_rows(is_incremental ? 'c' : 'b');
    CHECK(database.engine->statistics().pages_repaired >= database.damaged);
    database.finish();
  });
}

TEST_CASE("R23 a write that was lost is made up for from the backup and the archive", "[backup]") {
  SimulatedDisk disk{3};
  in_simulation(3, [&] {
    Repairable database(disk);
    const auto before = disk.contents(kData);
    const auto leaves = pages_of(disk, database.tree);
    // The oldest of the lost changes is before the backup that is used.
    database.put(database.tree, 'b');
    database.reopen();
    REQUIRE(database.engine->back_up("/later"));
    database.put(database.tree, 'c');
    database.recycle_log();
    database.finish();
    for (const std::uint64_t page : leaves)
      disk.corrupt(kData, page * kPageBytes, Bytes{before.data() + page * kPageBytes, kPageBytes});
    database.options.repair_backups = {"/later"};
    database.open();
    database.require_rows('c');
    CHECK(database.engine->statistics().pages_repaired >= leaves.size() / 2);
    database.finish();
  });
}

TEST_CASE("R23 a page is given up if the archive does not reach, and rebuilt once it does",
          "[backup]") {
  SimulatedDisk disk{4};
  in_simulation(4, [&] {
    Repairable database(disk);
    database.put(database.tree, 'b');
    database.recycle_log();
    database.damage_all();
    database.options.repair_backups = {kBackup};
    database.is_out_of_reach = true;
    database.open();
    // The archive may be back later.
    const auto late = database.get(1);
    REQUIRE_FALSE(late);
    CHECK_THAT(late.error().detail(), Contains("out of reach"));
    CHECK(database.engine->statistics().pages_given_up == 0);
    database.is_out_of_reach = false;
    CHECK(database.get(1).value() == std::string(700, 'b'));
    // The backup is too old without the archive.
    const auto whole = disk.copy(1);
    database.finish();
    for (const std::uint64_t page : pages_of(disk, database.tree)) damage(disk, page);
    database.clear_archive();
    database.open();
    const auto lost = database.get(1);
    REQUIRE_FALSE(lost);
    CHECK(lost.error().state() == sqlstate::data_corrupted);
    CHECK_THAT(lost.error().detail(), Contains("nor can it be from backup \"/backup\"") &&
                                          Contains("neither archive nor backup has it"));
    CHECK(database.engine->statistics().pages_given_up > 0);
    // Nothing else is lost.
    {
      const auto reader = database.engine->begin();
      ValueBuffer value;
      CHECK(database.engine->tree(database.other).value().get(*reader, as_bytes(key_of(1)), value));
    }
    database.finish();
    const std::vector<std::string> archived = whole->list(kArchive).value();
    for (const std::string& name : archived) {
      const auto file = disk.open(kArchive / name, OpenMode::open_or_create, {}).value();
      REQUIRE(file->write_at(0, whole->contents(kArchive / name)));
    }
    database.open();
    database.require_rows('b');
    database.finish();
  });
}

TEST_CASE("R23 backups of other databases and histories are not used", "[backup]") {
  SimulatedDisk disk{5};
  in_simulation(5, [&] {
    Repairable database(disk);
    REQUIRE(database.engine->close());
    database.engine.reset();
    REQUIRE(check_repair_backups(disk, kHome, {kBackup}));
    const auto refused = [&](const Directories& backups, const char* words) {
      const auto checked = check_repair_backups(disk, kHome, backups);
      REQUIRE_FALSE(checked);
      CHECK_THAT(checked.error().message(), Contains(words));
      // The database is there all the same.
      database.options.repair_backups = backups;
      database.open();
      database.require_rows('a');
      database.finish();
    };
    refused({"/nowhere"}, "backup-end");
    refused({kHome}, "no whole backup");
    const EngineOptions plain = test::archiving_options(disk, std::uint64_t{256} << 10U);
    REQUIRE(Engine::create(disk, "/other", plain));
    {
      const auto engine = Engine::open(disk, "/other", plain).value();
      REQUIRE(engine->back_up("/other-backup"));
      REQUIRE(engine->close());
    }
    refused({"/other-backup"}, "another database");
    // A restored database goes on from the backup with a log of its own.
    REQUIRE(restore_backup(disk, {kBackup}, "/restored", {}, {}));
    EngineOptions options = plain;
    options.repair_backups = {kBackup};
    const auto restored = Engine::open(disk, "/restored", options).value();
    CHECK_FALSE(
        disk.exists(std::filesystem::path{"/restored"} / RepairBackup::kFetchedName).value());
    REQUIRE(restored->close());
  });
}

TEST_CASE("R23 what was fetched goes at a start without a backup", "[backup]") {
  SimulatedDisk disk{6};
  in_simulation(6, [&] {
    Repairable database(disk);
    database.put(database.tree, 'b');
    database.recycle_log();
    database.damage_all();
    database.options.repair_backups = {kBackup};
    database.open();
    database.require_rows('b');
    const auto fetched = kHome / RepairBackup::kFetchedName;
    CHECK_FALSE(disk.list(fetched).value().empty());
    database.reopen();
    CHECK(disk.list(fetched).value().empty());
    database.finish();
    database.options.repair_backups.clear();
    database.open();
    CHECK_FALSE(disk.exists(fetched).value());
    database.finish();
  });
}

TEST_CASE("R23 any pages of a database are rebuilt from backups and archive", "[backup][crash]") {
  for_seeds(12, [](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    in_simulation(seed, [&] {
      Trees trees(disk, seed);
      trees.reopen();
      REQUIRE(trees.engine->back_up(kBackup));
      Directories backups{kBackup};
      for (std::uint64_t part = trees.random.below(3); part > 0; --part) {
        for (std::uint64_t i = trees.random.below(60); i > 0; --i) trees.change();
        const std::filesystem::path next = "/part-" + std::to_string(part);
        REQUIRE(trees.engine->back_up_changes(backups.back(), next));
        backups.push_back(next);
      }
      for (std::uint64_t i = trees.random.between(50, 300); i > 0; --i) trees.change();
      EngineOptions options = Trees::options_of(disk);
      options.repair_backups = backups;
      for (int round = 0; round < 2; ++round) {
        if (trees.random.one_in(2)) REQUIRE(trees.engine->close());
        trees.engine.reset();
        std::vector<std::uint64_t> pages = pages_of(disk);
        for (std::uint64_t i = trees.random.between(1, 40); i > 0; --i)
          damage(disk, pages[trees.random.below(pages.size())]);
        if (trees.random.one_in(3)) {
          const auto written = kHome / WrittenLsnsFile::kFileName;
          if (disk.exists(written).value()) REQUIRE(disk.remove(written));
        }
        trees.engine = Engine::open(disk, kHome, options).value();
        Trees::require_content(*trees.engine, trees.content);
        REQUIRE(trees.engine->verify().value() == Violations{});
        CHECK(trees.engine->statistics().pages_given_up == 0);
        for (std::uint64_t i = trees.random.below(40); i > 0; --i) trees.change();
      }
      REQUIRE(trees.engine->close());
    });
  });
}
