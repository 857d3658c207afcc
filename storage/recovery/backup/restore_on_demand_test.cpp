// Restores that are in use while their pages are still in the backups.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>
#include <utility>

#include "base/checksum.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/recovery/backup/background_restore.h"
#include "storage/recovery/backup/backup_chain.h"
#include "storage/recovery/backup/test_trees.h"
#include "storage/recovery/backup/unfinished.h"
#include "storage/recovery/backup/unrestored_pages.h"
#include "storage/recovery/restore_state.h"
#include "storage/restore.h"
#include "storage/statistics.h"
#include "wal/older_segments.h"

using namespace swizzle;
using Catch::Contains;

namespace {

using test::flip_byte;
using test::kArchive;
using test::kBackup;
using test::kHome;
using test::Trees;
using Directories = std::vector<std::filesystem::path>;
using Violations = std::vector<std::string>;

const std::filesystem::path kRestored = "/restored";
constexpr SqlState kNotReady = sqlstate::object_not_in_prerequisite_state;

/// A full backup of a database, some incremental ones, and changes after them that are in the
/// archive and the log alone. The database is closed or crashed.
struct Backups {
  Directories chain{kBackup};
  Trees::Content content;
};

/// Has the data file get all pages.
void write_pages(Trees& trees) {
  REQUIRE(trees.engine->close());
  trees.open();
}

/// May end by a power cut, which leaves a transaction without an end to the restores.
void make_backups(SimulatedDisk& disk, std::uint64_t seed, Backups& made) {
  Trees trees(disk, seed);
  // Otherwise most pages are in the backup's log alone.
  if (!trees.random.one_in(4)) write_pages(trees);
  REQUIRE(trees.engine->back_up(kBackup));
  for (std::uint64_t part = trees.random.below(3); part > 0; --part) {
    for (std::uint64_t i = trees.random.below(30); i > 0; --i) trees.change();
    const std::filesystem::path next = "/part-" + std::to_string(part);
    REQUIRE(trees.engine->back_up_changes(made.chain.back(), next));
    made.chain.push_back(next);
  }
  for (std::uint64_t i = trees.random.below(60); i > 0; --i) trees.change();
  made.content = trees.content;
  if (trees.random.one_in(2)) return;
  const auto open = trees.engine->begin();
  Tree tree = trees.engine->tree(trees.content.begin()->first).value();
  for (int i = 0; i < 20; ++i)
    REQUIRE(tree.insert(*open, as_bytes("open " + std::to_string(i)), as_bytes("never")).value());
  const auto other = trees.engine->begin();
  const TreeId another = trees.content.rbegin()->first;
  REQUIRE(trees.engine->tree(another).value().insert(*other, as_bytes("last"), as_bytes("kept")));
  REQUIRE(other->commit());
  made.content[another]["last"] = "kept";
  disk.cut_power();
}

/// Calls `body` in a simulation of its own. Returns false if the power was cut.
bool simulate(std::uint64_t seed, const std::function<void()>& body) {
  Simulation simulation{seed};
  return simulation.run(body) != Simulation::Outcome::stopped;
}

Backups backups_of(SimulatedDisk& disk, std::uint64_t seed) {
  Backups made;
  if (!simulate(seed, [&] { make_backups(disk, seed, made); })) disk.crash(seed);
  disk.sync_everything();
  return made;
}

/// Has the background sort the old log's records by page for every other seed.
void choose_runs(std::uint64_t seed) {
  const bool has_runs = seed % 2 == 0;
  BackgroundRestore::most_listed_bytes = has_runs ? 0 : std::uint64_t{256} << 20U;
  BackgroundRestore::run_bytes = has_runs ? std::uint64_t{40} << 10U : RecordRuns::kUsualMemory;
}

RestoreOutcome begin(SimulatedDisk& disk, const Backups& backups,
                     const RecoveryTarget& target = {}) {
  auto made =
      begin_restore(disk, backups.chain, kRestored, test::fetch_from_archive_and_log(disk), target);
  if (!made) FAIL(made.error().message() << ": " << made.error().detail());
  return *made;
}

void wait_until_restored(Engine& engine) {
  for (int i = 0; engine.statistics().is_restoring; ++i) {
    REQUIRE(i < 10'000);
    Runtime::current().sleep_until(Runtime::current().now() + std::chrono::milliseconds{10});
  }
}

/// Returns a leaf that is whole in the full backup.
PageId some_leaf(SimulatedDisk& disk, Random& random) {
  const std::vector<std::byte> data = disk.contents(kBackup / "data");
  std::vector<PageId> leaves;
  for (std::uint64_t page = 1; page < data.size() / kPageBytes; ++page) {
    const std::byte* const bytes = data.data() + page * kPageBytes;
    if (check_page(bytes, PageId{page}) && load<PageHeader>(bytes).level == 0)
      leaves.push_back(PageId{page});
  }
  REQUIRE(leaves.size() > 10);
  return leaves[random.below(leaves.size())];
}

/// Returns how many segments of the log before the restore are in the directory.
std::size_t older_segments(SimulatedDisk& disk) {
  std::vector<std::string> names = disk.list(kRestored / "log").value();
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(".older"); });
  return names.size();
}

/// Puts the segments that the database itself still has into the archive.
void fill_archive(SimulatedDisk& disk, const std::filesystem::path& home = kHome) {
  const std::vector<std::string> names = disk.list(home / "log").value();
  for (const std::string& name : names) {
    if (!name.ends_with(".log")) continue;
    const auto file = disk.open(kArchive / name, OpenMode::open_or_create, {}).value();
    REQUIRE(file->truncate(0));
    REQUIRE(file->write_at(0, disk.contents(home / "log" / name)));
  }
  disk.sync_everything();
}

void clear_archive(SimulatedDisk& disk) {
  const std::vector<std::string> names = disk.list(kArchive).value();
  for (const std::string& name : names) REQUIRE(disk.remove(kArchive / name));
}

void remove_everything(SimulatedDisk& disk, const std::filesystem::path& directory) {
  REQUIRE(remove_with_content(disk, directory / "log"));
  REQUIRE(remove_with_content(disk, directory));
}

}  // namespace

TEST_CASE("R20 a restore on demand reads the segments of a folder where they are", "[backup]") {
  for_seeds(6, [](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    Backups backups = backups_of(disk, seed);
    choose_runs(seed);
    simulate(seed + 1, [&] {
      fill_archive(disk);
      RestoreArchive archive;
      archive.folder = kArchive;
      const auto made = begin_restore(disk, backups.chain, kRestored, archive, {});
      if (!made) FAIL(made.error().message());
      CHECK(older_segments(disk) == 0);
      Trees trees(disk, seed, kRestored, backups.content);
      for (int i = 0; i < 10; ++i) trees.change();
      trees.reopen();
      wait_until_restored(*trees.engine);
      Trees::require_content(*trees.engine, trees.content);
      REQUIRE(trees.engine->verify().value() == Violations{});
      CHECK(older_segments(disk) == 0);
      REQUIRE(trees.engine->close());
    });
  });
}

TEST_CASE("R20 a restore on demand fetches segments when it needs them, and keeps few",
          "[backup]") {
  SimulatedDisk disk{2};
  Backups backups;
  simulate(2, [&] {
    Trees trees(disk, 2);
    write_pages(trees);
    REQUIRE(trees.engine->back_up(kBackup));
    for (int i = 0; i < 800; ++i) trees.change();
    backups.content = trees.content;
    REQUIRE(trees.engine->close());
  });
  choose_runs(2);
  const std::uint64_t usual = std::exchange(wal::OlderSegments::most_fetched_bytes, 0);
  simulate(3, [&] {
    fill_archive(disk);
    std::set<std::string> fetched;
    bool is_out_of_reach = false;
    const auto archive = [&](const std::string& name,
                             const std::filesystem::path& to) -> Result<bool> {
      if (is_out_of_reach) return fail(sqlstate::io_error, "the archive is out of reach");
      if (!disk.exists(kArchive / name).value()) return false;
      if (name.ends_with(".log")) fetched.insert(name);
      RETURN_IF_ERROR(test::copy_file(disk, kArchive / name, to));
      return true;
    };
    REQUIRE(begin_restore(disk, backups.chain, kRestored, archive, {}));
    const auto archived = disk.list(kArchive).value();
    const auto segments = std::ranges::count_if(
        archived, [](const std::string& name) { return name.ends_with(".log"); });
    REQUIRE(segments > 12);
    // Those that were not finished, or not begun, have no digest; the backup has a part of one; and
    // a record crosses into another.
    CHECK(fetched.size() <= 6);
    is_out_of_reach = true;
    EngineOptions options = Trees::options_of(disk);
    options.restore = archive;
    const auto pause = [] {
      Runtime::current().sleep_until(Runtime::current().now() + std::chrono::seconds{30});
    };
    auto opened = Engine::open(disk, kRestored, options);
    // The tree of trees may need the archive, too. That is an error, and no page is given up.
    if (!opened) {
      CHECK_THAT(opened.error().message(), Contains("out of reach"));
      is_out_of_reach = false;
      opened = Engine::open(disk, kRestored, options);
      is_out_of_reach = true;
    }
    REQUIRE(opened);
    Engine& engine = **opened;
    pause();
    CHECK(engine.statistics().is_restoring);
    CHECK(engine.statistics().pages_given_up == 0);
    is_out_of_reach = false;
    pause();
    CHECK_FALSE(engine.statistics().is_restoring);
    CHECK(engine.statistics().pages_given_up == 0);
    CHECK(older_segments(disk) <= 2);
    CHECK(fetched.size() > 10);
    Trees::require_content(engine, backups.content);
    REQUIRE(engine.verify().value() == Violations{});
    REQUIRE(engine.close());
  });
  wal::OlderSegments::most_fetched_bytes = usual;
}

TEST_CASE("R21 a complete restore has the log that a prepared transaction needs", "[backup]") {
  // The segments of a folder are read there, and only two of the fetched ones are kept.
  const bool is_folder = GENERATE(false, true);
  const std::uint64_t usual = std::exchange(wal::OlderSegments::most_fetched_bytes, 0);
  SimulatedDisk disk{4};
  Backups backups;
  TreeId tree{};
  simulate(4, [&] {
    Trees trees(disk, 4);
    write_pages(trees);
    tree = trees.content.begin()->first;
    REQUIRE(trees.engine->back_up(kBackup));
    const auto prepared = trees.engine->begin();
    Tree changed = trees.engine->tree(tree).value();
    for (int i = 0; i < 1500; ++i)
      REQUIRE(changed.insert(*prepared, as_bytes("prepared " + std::to_string(i)),
                             as_bytes(std::string(300, 'p'))));
    REQUIRE(prepared->prepare("gid", as_bytes("note")));
    for (int i = 0; i < 200; ++i) {
      const auto transaction = trees.engine->begin();
      Tree other = trees.engine->tree(trees.content.rbegin()->first).value();
      REQUIRE(other.insert(*transaction, as_bytes("after " + std::to_string(i)),
                           as_bytes(std::string(1000, 'a'))));
      REQUIRE(transaction->commit());
    }
    REQUIRE(trees.engine->close());
  });
  simulate(5, [&] {
    fill_archive(disk);
    if (is_folder) {
      RestoreArchive archive;
      archive.folder = kArchive;
      REQUIRE(begin_restore(disk, backups.chain, kRestored, archive, {}));
    } else {
      begin(disk, backups);
    }
    {
      const auto engine = Engine::open(disk, kRestored, Trees::options_of(disk)).value();
      wait_until_restored(*engine);
      REQUIRE(engine->close());
    }
    CHECK(older_segments(disk) > 2);
    remove_everything(disk, kBackup);
    remove_everything(disk, kHome);
    clear_archive(disk);
    const auto engine = Engine::open(disk, kRestored, Trees::options_of(disk)).value();
    REQUIRE(engine->prepared().size() == 1);
    engine->take_prepared("gid").value()->rollback();
    const auto rows = Trees::rows_of(*engine, tree);
    CHECK(std::ranges::none_of(rows,
                               [](const auto& row) { return row.first.starts_with("prepared"); }));
    REQUIRE(engine->verify().value() == Violations{});
    REQUIRE(engine->close());
  });
  wal::OlderSegments::most_fetched_bytes = usual;
}

TEST_CASE("R20 a restore on demand is in use at once, and needs no backup in the end", "[backup]") {
  for_seeds(8, [](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    Backups backups = backups_of(disk, seed);
    choose_runs(seed);
    simulate(seed + 1, [&] {
      const RestoreOutcome made = begin(disk, backups);
      CHECK(made.begins_again > made.end);
      Trees trees(disk, seed, kRestored, backups.content);
      // It takes changes, also of trees that are dropped, while pages are read.
      for (int i = 0; i < 30; ++i) trees.change();
      CHECK(trees.engine->statistics().pages_restored > 0);
      wait_until_restored(*trees.engine);
      Trees::require_content(*trees.engine, trees.content);
      REQUIRE(trees.engine->verify().value() == Violations{});
      // As a crash does, or in good order.
      if (seed % 4 < 2) REQUIRE(trees.engine->close());
      trees.engine.reset();
      for (const auto& directory : backups.chain) remove_everything(disk, directory);
      remove_everything(disk, kHome);
      clear_archive(disk);
      trees.open();
      CHECK_FALSE(trees.engine->statistics().is_restoring);
      Trees::require_content(*trees.engine, trees.content);
      REQUIRE(trees.engine->verify().value() == Violations{});
      REQUIRE(trees.engine->back_up("/new-backup"));
      REQUIRE(trees.engine->close());
    });
  });
}

TEST_CASE("R20 the archive serves the old database and the restored one", "[backup]") {
  for_seeds(4, [](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    Backups backups = backups_of(disk, seed);
    simulate(seed + 1, [&] {
      begin(disk, backups);
      Trees trees(disk, seed, kRestored, backups.content);
      wait_until_restored(*trees.engine);
      REQUIRE(trees.engine->back_up("/new-backup"));
      for (int i = 0; i < 80; ++i) trees.change();
      REQUIRE(trees.engine->close());
      fill_archive(disk, kRestored);
      REQUIRE(begin_restore(disk, {"/new-backup"}, "/of-the-new",
                            test::fetch_from_archive_and_log(disk), {}));
      const Trees of_new(disk, seed, "/of-the-new", trees.content);
      const auto again = begin_restore(disk, backups.chain, "/of-the-old",
                                       test::fetch_from_archive_and_log(disk), {});
      if (!again) FAIL(again.error().message());
      const Trees of_old(disk, seed, "/of-the-old", backups.content);
    });
  });
}

TEST_CASE("R20 a restore on demand stops at its target", "[backup]") {
  for_seeds(4, [](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    simulate(seed, [&] {
      Backups backups;
      std::vector<std::pair<std::string, Trees::Content>> points;
      {
        Trees trees(disk, seed);
        write_pages(trees);
        REQUIRE(trees.engine->back_up(kBackup));
        for (int i = 0; i < 4; ++i) {
          for (int j = 0; j < 25; ++j) trees.change();
          points.emplace_back("point " + std::to_string(i), trees.content);
          REQUIRE(trees.engine->create_restore_point(points.back().first));
        }
        for (int j = 0; j < 25; ++j) trees.change();
        REQUIRE(trees.engine->close());
      }
      for (const auto& [name, content] : points) {
        const RestoreOutcome made = begin(disk, backups, {.restore_point = name});
        CHECK(made.restore_point == std::optional{name});
        {
          Trees trees(disk, seed, kRestored, content);
          for (int i = 0; i < 10; ++i) trees.change();
          wait_until_restored(*trees.engine);
          Trees::require_content(*trees.engine, trees.content);
          REQUIRE(trees.engine->verify().value() == Violations{});
          REQUIRE(trees.engine->close());
        }
        remove_everything(disk, kRestored);
      }
    });
  });
}

TEST_CASE("R20 a restore on demand to a time has nothing of what was written after it",
          "[backup]") {
  for_seeds(4, [](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    simulate(seed, [&] {
      Backups backups;
      RecoveryTarget target;
      {
        Trees trees(disk, seed);
        write_pages(trees);
        REQUIRE(trees.engine->back_up(kBackup));
        for (int i = 0; i < 20; ++i) trees.change();
        backups.content = trees.content;
        Runtime& runtime = Runtime::current();
        runtime.sleep_until(runtime.now() + std::chrono::seconds{1});
        target.time_us = runtime.wall_clock_us();
        runtime.sleep_until(runtime.now() + std::chrono::seconds{1});
        // Of a transaction that ends later, before the first record that is too late.
        const auto open = trees.engine->begin();
        Tree tree = trees.engine->tree(trees.content.begin()->first).value();
        for (int i = 0; i < 200; ++i)
          REQUIRE(tree.insert(*open, as_bytes("open " + std::to_string(i)), as_bytes("later")));
        REQUIRE(open->commit());
        REQUIRE(trees.engine->close());
      }
      begin(disk, backups, target);
      Trees trees(disk, seed, kRestored, backups.content);
      wait_until_restored(*trees.engine);
      Trees::require_content(*trees.engine, trees.content);
      REQUIRE(trees.engine->verify().value() == Violations{});
      REQUIRE(trees.engine->close());
    });
  });
}

TEST_CASE("R20 the older log of a restore on demand goes when nothing needs it", "[backup]") {
  SimulatedDisk disk{3};
  const Backups backups = backups_of(disk, 3);
  simulate(4, [&] {
    const RestoreOutcome made = begin(disk, backups);
    const RestoreState state = read_restore_state(disk, kRestored).value().value();
    REQUIRE(state.older_log);
    CHECK(state.older_log->end == made.end);
    CHECK(state.older_log->resumes_at == made.begins_again);
    CHECK(state.older_log->from < made.end);
    const auto older = [&disk] { return older_segments(disk); };
    Trees trees(disk, 3, kRestored, backups.content);
    wait_until_restored(*trees.engine);
    // The older copy of the control file needs it until the second checkpoint.
    for (int i = 0; i < 2; ++i) {
      trees.change();
      REQUIRE(trees.engine->checkpoint());
    }
    for (int i = 0; i < 100 && older() != 0; ++i)
      Runtime::current().sleep_until(Runtime::current().now() + std::chrono::milliseconds{10});
    CHECK(older() == 0);
    REQUIRE(trees.engine->close());
    trees.open();
    Trees::require_content(*trees.engine, trees.content);
    REQUIRE(trees.engine->close());
  });
}

TEST_CASE("a state of a restore that an earlier version began is read", "[backup]") {
  SimulatedDisk disk{1};
  simulate(1, [&] {
    REQUIRE(disk.create_directory(kRestored));
    const RestoreState written{.phase = RestoreState::Phase::pages_left,
                               .backup_id = 7,
                               .backups = {"/one", "/two"},
                               .older_log = wal::OlderLog{.database_id = 5,
                                                          .end = Lsn{0x40000},
                                                          .resumes_at = Lsn{0x80000},
                                                          .from = Lsn{0x30000}},
                               .restore_command = "cp /archive/%f %p"};
    REQUIRE(write_restore_state(disk, kRestored, written));
    const RestoreState read = read_restore_state(disk, kRestored).value().value();
    REQUIRE(read.older_log);
    CHECK(read.older_log->database_id == 5);
    CHECK(read.older_log->end == Lsn{0x40000});
    CHECK(read.older_log->resumes_at == Lsn{0x80000});
    CHECK(read.older_log->from == Lsn{0x30000});
    CHECK(read.lacks_segments());
    CHECK(read.restore_command == written.restore_command);
    CHECK(read.archive_folder.empty());
    CHECK(read.backups == written.backups);
    const auto put = [&disk](std::string lines) {
      lines += fmt::format("sum {:016x}\n", checksum(as_bytes(lines), 0));
      const auto file =
          disk.open(kRestored / kRestoredFromName, OpenMode::open_or_create, {}).value();
      REQUIRE(file->truncate(0));
      REQUIRE(file->write_at(0, as_bytes(lines)));
    };
    put("restored on demand, version 1\nphase pages left\nbackup 0000000000000007\nfrom /one\n");
    const RestoreState old = read_restore_state(disk, kRestored).value().value();
    CHECK_FALSE(old.older_log);
    CHECK(old.backups == Directories{"/one"});
    put("restored on demand, version 2\nphase pages left\nbackup 7\nolder log 5 40000 80000\n"
        "from /one\n");
    const RestoreState second = read_restore_state(disk, kRestored).value().value();
    REQUIRE(second.older_log);
    CHECK_FALSE(second.lacks_segments());
    for (const char* const damaged :
         {"older log 5 40000", "older log 5 80000 40000", "older log 5 40000 80000 40000",
          "older log 5 40000 80000 1 1", "older log x 40000 80000"}) {
      put(fmt::format("restored on demand, version 2\nphase pages left\nbackup 7\n{}\nfrom /one\n",
                      damaged));
      CHECK_FALSE(read_restore_state(disk, kRestored));
    }
  });
}

TEST_CASE("R20 power cuts while a restore on demand goes on", "[backup][crash]") {
  struct Totals {
    std::uint64_t cuts = 0;
    std::uint64_t cut_while_restoring = 0;
    std::uint64_t begun_again = 0;
  };
  const auto totals = for_seeds_apart<Totals>(40, 4, [](std::uint64_t seed, Totals& sum) {
    SimulatedDisk disk{seed};
    Backups backups = backups_of(disk, seed);
    choose_runs(seed);
    Random random{seed};
    // The first lives may end before the directory is made.
    std::optional<Trees::Content> in_doubt;
    for (std::uint64_t life = 0; life < 4; ++life) {
      const bool is_cut = life < 3;
      if (is_cut) disk.cut_power_at(DiskOperation::change, random.between(1, life == 0 ? 60 : 250));
      Trees* trees = nullptr;
      bool is_restoring = true;
      const bool ended = simulate(seed * 10 + life, [&] {
        if (!is_restored_from(disk, kRestored, backups.chain).value()) begin(disk, backups);
        // A power cut leaves the object as it is.
        trees = new Trees(disk, seed + life, kRestored, backups.content, in_doubt);
        in_doubt.reset();
        const auto changes = random.below(is_cut ? 60 : 5);
        for (std::uint64_t i = 0; i < changes; ++i) {
          is_restoring = trees->engine->statistics().is_restoring;
          trees->change();
        }
        if (!is_cut) wait_until_restored(*trees->engine);
        Trees::require_content(*trees->engine, trees->content);
        if (!is_cut) REQUIRE(trees->engine->verify().value() == Violations{});
        REQUIRE(trees->engine->close());
        backups.content = trees->content;
        delete trees;
        trees = nullptr;
      });
      if (!ended) {
        ++sum.cuts;
        if (trees == nullptr) ++sum.begun_again;
        if (trees != nullptr && is_restoring) ++sum.cut_while_restoring;
        if (trees != nullptr) {
          backups.content = trees->content;
          in_doubt = trees->in_doubt;
        }
        disk.crash(seed * 10 + life);
      }
    }
  });
  CHECK(totals.cuts > 60);
  CHECK(totals.cut_while_restoring > 5);
  CHECK(totals.begun_again > 10);
}

TEST_CASE("R20 a map of absent pages that is old, damaged or gone costs nothing", "[backup]") {
  for_seeds(6, [](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    Backups backups = backups_of(disk, seed);
    const auto map = kRestored / UnrestoredPages::kFileName;
    simulate(seed + 1, [&] {
      begin(disk, backups);
      Trees trees(disk, seed, kRestored, backups.content);
      for (int i = 0; i < 40; ++i) trees.change();
      REQUIRE(trees.engine->checkpoint());
      if (trees.random.one_in(2)) REQUIRE(trees.engine->close());
      backups.content = trees.content;
    });
    simulate(seed + 2, [&] {
      // All pages of the backups may be absent, says the state; most are in the data file, and
      // newer.
      RestoreState state = read_restore_state(disk, kRestored).value().value();
      state.phase = RestoreState::Phase::pages_left;
      REQUIRE(write_restore_state(disk, kRestored, state));
      const bool is_there = disk.exists(map).value();
      if (is_there && seed % 2 == 0) REQUIRE(disk.remove(map));
      if (is_there && seed % 2 == 1) flip_byte(disk, map, 40);
      Trees trees(disk, seed, kRestored, backups.content);
      for (int i = 0; i < 10; ++i) trees.change();
      wait_until_restored(*trees.engine);
      Trees::require_content(*trees.engine, trees.content);
      REQUIRE(trees.engine->verify().value() == Violations{});
      REQUIRE(trees.engine->close());
    });
  });
}

TEST_CASE("R20 a damaged page of a backup costs its own rows", "[backup]") {
  std::uint64_t damaged = 0;
  for_seeds(6, [&](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    simulate(seed, [&] {
      Backups backups;
      {
        Trees trees(disk, seed);
        write_pages(trees);
        REQUIRE(trees.engine->back_up(kBackup));
        for (int i = 0; i < 3; ++i) trees.change();
        backups.content = trees.content;
        REQUIRE(trees.engine->close());
      }
      Random random{seed};
      const std::uint64_t page = raw(some_leaf(disk, random));
      flip_byte(disk, kBackup / "data", page * kPageBytes + 5000);
      begin(disk, backups);
      const auto opened = Engine::open(disk, kRestored, Trees::options_of(disk));
      if (!opened) {
        // The page is one that the engine itself needs.
        CHECK(opened.error().state() == sqlstate::data_corrupted);
        return;
      }
      wait_until_restored(**opened);
      const auto unreadable = (*opened)->read_pages(std::array{PageId{page}}).value();
      if (!unreadable.empty()) {
        ++damaged;
        CHECK_THAT(unreadable.front(), Contains("page " + std::to_string(page)));
      }
      // The others are there.
      std::uint64_t trees_read = 0;
      for (const auto& [tree, rows] : backups.content) {
        const auto reader = (*opened)->begin();
        auto handle = (*opened)->tree(tree);
        if (!handle) continue;
        bool is_whole = true;
        Trees::Rows found;
        auto cursor = handle->scan(*reader, {});
        while (cursor) {
          const auto next = cursor->next();
          is_whole = next.has_value();
          if (!next || !*next) break;
          found.emplace(as_text(cursor->key()), as_text(cursor->value()));
        }
        if (!cursor || !is_whole) continue;
        ++trees_read;
        const bool is_same = found == rows;
        CHECK(is_same);
      }
      CHECK(trees_read >= backups.content.size() - 1);
      REQUIRE((*opened)->close());
    });
  });
  CHECK(damaged > 0);
}

TEST_CASE("R20 a backup that cannot be read for a while is an error for as long", "[backup]") {
  SimulatedDisk disk{1};
  simulate(1, [&] {
    Backups backups;
    {
      Trees trees(disk, 1);
      write_pages(trees);
      REQUIRE(trees.engine->back_up(kBackup));
      backups.content = trees.content;
      REQUIRE(trees.engine->close());
    }
    begin(disk, backups);
    const auto engine = Engine::open(disk, kRestored, Trees::options_of(disk)).value();
    disk.inject({.operation = DiskOperation::read,
                 .effect = DiskFault::Effect::fail,
                 .times = 1'000'000,
                 .path_contains = "/backup/data"});
    const auto pause = [] {
      Runtime::current().sleep_until(Runtime::current().now() + std::chrono::seconds{30});
    };
    pause();
    CHECK(engine->statistics().is_restoring);
    CHECK(engine->statistics().pages_unrestored > 0);
    CHECK(engine->statistics().pages_given_up == 0);
    disk.clear_faults();
    pause();
    CHECK_FALSE(engine->statistics().is_restoring);
    Trees::require_content(*engine, backups.content);
    REQUIRE(engine->verify().value() == Violations{});
    REQUIRE(engine->close());
  });
}

TEST_CASE("R20 a page that was changed in a backup is not taken", "[backup]") {
  SimulatedDisk disk{1};
  simulate(1, [&] {
    Trees trees(disk, 1);
    write_pages(trees);
    REQUIRE(trees.engine->back_up(kBackup));
    REQUIRE(trees.engine->close());
    const auto chain = BackupChain::open(disk, std::array{kBackup}).value();
    const auto file = disk.open(kBackup / "data", OpenMode::read_write, {}).value();
    std::vector<std::byte> page(kPageBytes);
    Random random{1};
    const PageId changed = some_leaf(disk, random);
    REQUIRE(chain.read_page(changed, page.data()));
    auto header = load<PageHeader>(page.data());
    header.lsn = chain.end();
    store(page.data(), header);
    seal_page(page.data());
    REQUIRE(file->write_at(raw(changed) * kPageBytes, page));
    const auto read = chain.read_page(changed, page.data());
    REQUIRE_FALSE(read);
    CHECK(read.error().state() == sqlstate::data_corrupted);
    CHECK_THAT(read.error().message(), Contains("was changed in the backup"));
  });
}

TEST_CASE("R20 what cannot be restored on demand is refused before anything is written",
          "[backup]") {
  SimulatedDisk disk{1};
  simulate(1, [&] {
    Trees trees(disk, 1);
    write_pages(trees);
    REQUIRE(trees.engine->back_up(kBackup));
    for (int i = 0; i < 150; ++i) trees.change();
    REQUIRE(trees.engine->close());
    const auto refused = [&](const wal::RestoreSegment& archive, const RecoveryTarget& target,
                             const Directories& chain = {kBackup}) {
      const auto made = begin_restore(disk, chain, "/never", archive, target);
      REQUIRE_FALSE(made);
      CHECK(made.error().state() == kNotReady);
      CHECK_FALSE(disk.exists("/never").value());
      return made.error().message();
    };
    std::vector<std::string> archived = disk.list(kArchive).value();
    std::erase_if(archived, [](const std::string& name) { return !name.ends_with(".log"); });
    REQUIRE(archived.size() > 3);
    const auto fetch = test::fetch_from_archive_and_log(disk);
    const std::string missing = archived[archived.size() - 2];
    // A digest would say that the archive has the segment.
    const auto with_gap = [&](const std::string& name, const std::filesystem::path& to) {
      const bool is_missing = name.substr(0, 16) == missing.substr(0, 16);
      return is_missing ? Result<bool>{false} : fetch(name, to);
    };
    CHECK_THAT(refused(with_gap, {}), Contains("the archive lacks a segment"));
    CHECK_THAT(refused(fetch, {.restore_point = "nowhere"}),
               Contains("before the recovery target"));
    CHECK_THAT(refused(fetch, {}, {kHome}), Contains("no whole backup"));
    // Neither is a directory of others filled.
    REQUIRE_FALSE(begin_restore(disk, {kBackup}, kHome, fetch, {}));
    trees.open();
    Trees::require_content(*trees.engine, trees.content);
    REQUIRE(trees.engine->close());
  });
}

TEST_CASE("R20 until a restore is complete its database is no source of others", "[backup]") {
  SimulatedDisk disk{1};
  const Backups backups = backups_of(disk, 1);
  simulate(2, [&] {
    begin(disk, backups);
    {
      const auto engine = Engine::open(disk, kRestored, Trees::options_of(disk)).value();
      REQUIRE(engine->statistics().is_restoring);
      const auto made = engine->back_up("/never");
      REQUIRE_FALSE(made);
      CHECK(made.error().state() == kNotReady);
      CHECK_THAT(made.error().message(), Contains("is being restored on demand"));
      CHECK_FALSE(disk.exists("/never").value());
    }
    EngineOptions in_memory = Trees::options_of(disk);
    in_memory.pool_mode = PoolMode::main_memory;
    CHECK(Engine::open(disk, kRestored, in_memory).error().state() ==
          sqlstate::feature_not_supported);
    // A backup that has become a database serves no more.
    {
      const auto opened = Engine::open(disk, kBackup, Trees::options_of(disk)).value();
      REQUIRE(opened->close());
    }
    const auto refused = Engine::open(disk, kRestored, Trees::options_of(disk));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().state() == kNotReady);
    CHECK_THAT(refused.error().message(), Contains("no whole backup"));
    CHECK_THAT(refused.error().hint(), Contains("put them back"));
  });
}
