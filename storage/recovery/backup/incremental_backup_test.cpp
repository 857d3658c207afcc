// Incremental backups, and restores from chains of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/recovery/backup/backup_end.h"
#include "storage/recovery/backup/changed_pages.h"
#include "storage/recovery/backup/test_trees.h"
#include "storage/statistics.h"
#include "storage/testing/database_home.h"

using namespace swizzle;
using Catch::Contains;

namespace {

using test::flip_byte;
using test::kBackup;
using test::kHome;
using test::Trees;
using Directories = std::vector<std::filesystem::path>;

EngineOptions options_of(SimulatedDisk& disk) {
  return Trees::options_of(disk);
}

/// Requires that the chain is refused before anything is written; returns the message.
std::string refused(SimulatedDisk& disk, const Directories& chain, SqlState state) {
  const auto made = restore_backup(disk, chain, "/never", {}, {});
  REQUIRE_FALSE(made);
  REQUIRE(made.error().state() == state);
  REQUIRE_FALSE(disk.exists("/never").value());
  return made.error().message();
}

}  // namespace

TEST_CASE("R18 a chain of backups restores what the database was at the end of each", "[backup]") {
  for_seeds(6, [](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    Simulation simulation{seed};
    simulation.run([&] {
      Trees trees(disk, seed);
      REQUIRE(trees.engine->back_up(kBackup));
      trees.require_restored({kBackup}, trees.content);
      Directories chain{kBackup};
      for (int part = 1; part <= 4; ++part) {
        // Sometimes the next backup is since an older one, or nothing has changed.
        if (trees.random.one_in(4) && chain.size() > 1) chain.pop_back();
        for (std::uint64_t i = trees.random.below(40); i > 0; --i) trees.change();
        if (trees.random.one_in(3)) trees.reopen();
        if (trees.random.one_in(3)) REQUIRE(trees.engine->checkpoint());
        const std::filesystem::path next = "/part-" + std::to_string(part);
        bool is_done = false;
        const auto task = Runtime::current().spawn("backup", [&] {
          const auto made = trees.engine->back_up_changes(chain.back(), next);
          if (!made) FAIL(made.error().message());
          is_done = true;
        });
        // Changes meanwhile are in it or not: only those before its end are known to be.
        const bool is_busy = trees.random.one_in(2);
        while (is_busy && !is_done) trees.change();
        task->join();
        chain.push_back(next);
        if (!is_busy) trees.require_restored(chain, trees.content);
        if (is_busy) {
          const auto made = restore_backup(disk, chain, next.string() + "-restored", {}, {});
          if (!made) FAIL(made.error().message());
          const auto opened =
              Engine::open(disk, next.string() + "-restored", options_of(disk)).value();
          REQUIRE(opened->verify().value() == std::vector<std::string>{});
          REQUIRE(opened->close());
        }
      }
      // The archive takes a chain forward as it does a full backup.
      REQUIRE(trees.engine->close());
      REQUIRE(restore_backup(disk, chain, "/forward", test::fetch_from_archive_and_log(disk), {}));
      const auto opened = Engine::open(disk, "/forward", options_of(disk)).value();
      REQUIRE(opened->verify().value() == std::vector<std::string>{});
      REQUIRE(opened->close());
    });
  });
}

TEST_CASE("R18 an incremental backup has few pages where few have changed", "[backup]") {
  SimulatedDisk disk{2};
  Simulation simulation{2};
  simulation.run([&] {
    Trees trees(disk, 2);
    const BackupOutcome full = trees.engine->back_up(kBackup).value();
    REQUIRE(trees.engine->back_up_changes(kBackup, "/first").value().pages <= full.pages);
    const auto transaction = trees.engine->begin();
    Tree tree = trees.engine->tree(trees.content.begin()->first).value();
    REQUIRE(tree.insert(*transaction, as_bytes("0"), as_bytes("new")).value());
    REQUIRE(transaction->commit());
    const BackupOutcome second = trees.engine->back_up_changes("/first", "/second").value();
    CHECK(second.pages >= 1);
    CHECK(second.pages <= 4);
    CHECK(disk.contents("/second/changed-pages").size() == second.pages * 8192);
  });
}

TEST_CASE("R18 a broken chain is refused by name", "[backup]") {
  SimulatedDisk disk{3};
  Simulation simulation{3};
  simulation.run([&] {
    Trees trees(disk, 3);
    REQUIRE(trees.engine->back_up(kBackup));
    REQUIRE(trees.engine->back_up("/full-2"));
    trees.change();
    REQUIRE(trees.engine->back_up_changes(kBackup, "/one"));
    trees.change();
    REQUIRE(trees.engine->back_up_changes("/one", "/two"));
    constexpr SqlState kNotReady = sqlstate::object_not_in_prerequisite_state;
    CHECK_THAT(refused(disk, {"/one"}, kNotReady), Contains("\"/one\" is an incremental backup"));
    CHECK_THAT(refused(disk, {kBackup, "/two"}, kNotReady),
               Contains("\"/two\" was not taken since the backup \"/backup\""));
    CHECK_THAT(refused(disk, {"/full-2", "/one"}, kNotReady),
               Contains("\"/one\" was not taken since the backup \"/full-2\""));
    CHECK_THAT(refused(disk, {kBackup, "/two", "/one"}, kNotReady), Contains("was not taken"));
    CHECK_THAT(refused(disk, {kBackup, "/full-2"}, kNotReady),
               Contains("\"/full-2\" is a full backup"));
    CHECK_THAT(refused(disk, {kBackup, "/nowhere"}, kNotReady), Contains("no whole backup"));
    CHECK_THAT(Engine::open(disk, "/one", options_of(disk)).error().message(),
               Contains("\"/one\" is an incremental backup"));
    trees.require_restored({kBackup, "/one", "/two"}, trees.content);

    const auto list = std::filesystem::path{"/two"} / kChangedListName;
    const std::uint64_t bytes = disk.contents(list).size();
    for (const std::uint64_t at : {std::uint64_t{0}, std::uint64_t{9}, bytes / 2, bytes - 1}) {
      flip_byte(disk, list, at);
      CHECK_THAT(refused(disk, {kBackup, "/one", "/two"}, sqlstate::data_corrupted),
                 Contains(list.native()));
      flip_byte(disk, list, at);
    }
    {
      const auto images = disk.open("/two/changed-pages", OpenMode::read_write, {}).value();
      REQUIRE(images->truncate(images->size().value() - 8192));
    }
    CHECK_THAT(refused(disk, {kBackup, "/one", "/two"}, sqlstate::data_corrupted),
               Contains("does not fit"));
    trees.require_restored({kBackup}, {});
  });
}

TEST_CASE("R18 a backup since which none can be taken is refused by name", "[backup]") {
  SimulatedDisk disk{4};
  Simulation simulation{4};
  simulation.run([&] {
    Trees trees(disk, 4);
    REQUIRE(trees.engine->back_up(kBackup));
    const auto refused_since = [&](Engine& engine, const std::filesystem::path& since) {
      const auto made = engine.back_up_changes(since, "/never");
      REQUIRE_FALSE(made);
      REQUIRE_FALSE(disk.exists("/never").value());
      return made.error().message();
    };
    CHECK_THAT(refused_since(*trees.engine, "/nowhere"), Contains("no whole backup"));
    CHECK_THAT(refused_since(*trees.engine, kHome), Contains("no whole backup"));
    // A restored database has another history.
    REQUIRE(restore_backup(disk, {kBackup}, "/other", {}, {}));
    {
      const auto other = Engine::open(disk, "/other", options_of(disk)).value();
      CHECK_THAT(refused_since(*other, kBackup), Contains("is of another history"));
      REQUIRE(other->close());
    }
    REQUIRE(Engine::create(disk, "/foreign", options_of(disk)));
    {
      const auto foreign = Engine::open(disk, "/foreign", options_of(disk)).value();
      CHECK_THAT(refused_since(*foreign, kBackup), Contains("is of another database"));
      REQUIRE(foreign->close());
    }
    // Of a version that drew no identifiers.
    const BackupLabel label = read_backup_label(disk, kBackup).value();
    REQUIRE(disk.remove(kBackup / kBackupEndName));
    {
      const auto file = disk.open(kBackup / kBackupEndName, OpenMode::create_new, {}).value();
      REQUIRE(file->write_at(0, as_bytes(std::to_string(raw(label.end)) + "\n")));
    }
    CHECK_THAT(refused_since(*trees.engine, kBackup), Contains("by an older version"));
    trees.require_restored({kBackup}, trees.content);
  });
}

TEST_CASE("R18 power cuts while an incremental backup is taken and a chain restored",
          "[backup][crash]") {
  std::uint64_t unfinished = 0;
  for_seeds(40, [&](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    Trees::Content content;
    Random random{seed};
    {
      Simulation simulation{seed};
      simulation.run([&] {
        Trees trees(disk, seed);
        REQUIRE(trees.engine->back_up(kBackup));
        for (int i = 0; i < 10; ++i) trees.change();
        content = trees.content;
        REQUIRE(trees.engine->close());
      });
    }
    disk.cut_power_at(DiskOperation::change, random.between(1, 70));
    {
      Simulation simulation{seed};
      simulation.run([&] {
        const auto engine = Engine::open(disk, kHome, options_of(disk)).value();
        if (!engine->back_up_changes(kBackup, "/part")) return;
        static_cast<void>(restore_backup(disk, {kBackup, "/part"}, "/restored", {}, {}));
      });
    }
    disk.crash(seed);
    Simulation simulation{seed + 1};
    simulation.run([&] {
      const auto require_content = [&](const std::filesystem::path& home) {
        const auto opened = Engine::open(disk, home, options_of(disk));
        if (!opened) {
          ++unfinished;
          return;
        }
        Trees::require_content(**opened, content);
        REQUIRE((*opened)->close());
      };
      require_content(kHome);
      // Each directory is whole, or refused.
      if (disk.exists("/restored").value()) require_content("/restored");
      if (!disk.exists("/part").value()) return;
      if (restore_backup(disk, {kBackup, "/part"}, "/again", {}, {}))
        require_content("/again");
      else
        ++unfinished;
    });
  });
  CHECK(unfinished > 0);
}
