#include "storage/recovery/backup/backup.h"

#include <catch2/catch.hpp>

#include "storage/recovery/backup/test_archive.h"
#include "storage/recovery/test_workload.h"

using namespace swizzle;
using namespace swizzle::test;

namespace {

const std::filesystem::path kRestored = "/restored";
const std::vector<std::filesystem::path> kBackups{kBackup};

TestEngine::Options archiving(SimulatedDisk& disk) {
  TestEngine::Options options;
  options.archive = [&disk](const std::filesystem::path& segment, const std::string& name) {
    return copy_file(disk, segment, kArchive / name);
  };
  return options;
}

Result<bool> from_archive(SimulatedDisk& disk, const std::string& name,
                          const std::filesystem::path& target) {
  ASSIGN_OR_RETURN(const bool exists, disk.exists(kArchive / name));
  if (!exists) return false;
  RETURN_IF_ERROR(copy_file(disk, kArchive / name, target));
  return true;
}

/// Returns the contents that were committed when the log ended at `end`.
Content content_at(const Oracle& oracle, Lsn end) {
  const auto behind = oracle.history.upper_bound(end);
  return behind == oracle.history.begin() ? Content{} : std::prev(behind)->second;
}

void require_content(SimulatedDisk& disk, const std::filesystem::path& home,
                     const Content& expected) {
  TestEngine::Options options;
  options.home = home;
  TestEngine engine(disk, options);
  const auto opened = engine.open();
  if (!opened) FAIL(opened.error().message() << ": " << opened.error().detail());
  Oracle oracle;
  oracle.committed = expected;
  require_whole(engine, oracle);
  REQUIRE(engine.close());
}

BackupParts parts_of(TestEngine& engine) {
  return {*engine.volume, *engine.space, *engine.log, *engine.checkpointer,
          [&engine](PageId page, Lsn newest, std::byte* into) {
            return engine.repair->mend(page, newest, into);
          }};
}

}  // namespace

TEST_CASE("a backup taken under load opens as the database was at its end", "[backup]") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    SimulatedDisk disk{seed};
    TestEngine::create(disk);
    Oracle oracle;
    Simulation simulation{seed};
    simulation.run([&] {
      Random random{seed};
      TestEngine engine(disk, {});
      REQUIRE(engine.open());
      for (int i = 0; i < 60; ++i) run_transaction(engine, random, oracle);
      bool done = false;
      BackupOutcome outcome;
      auto task = Runtime::current().spawn("backup", [&] {
        auto taken = back_up(parts_of(engine), disk, kBackup, "log", {});
        if (!taken) FAIL(taken.error().message());
        outcome = *taken;
        done = true;
      });
      for (int i = 0; !done; ++i) {
        run_transaction(engine, random, oracle);
        if (i % 20 == 5) REQUIRE(engine.checkpointer->take());
      }
      task->join();
      REQUIRE(outcome.pages > 2);
      REQUIRE(outcome.end > outcome.begin);
      REQUIRE(engine.close());
      require_content(disk, kBackup, content_at(oracle, outcome.end));
    });
  }
}

TEST_CASE("a backup that was interrupted cannot be opened", "[backup][crash]") {
  SimulatedDisk disk;
  TestEngine::create(disk);
  disk.after_power_cut(SimulatedDisk::AfterPowerCut::fail);
  Simulation simulation{2};
  Oracle oracle;
  simulation.run([&] {
    Random random{2};
    TestEngine engine(disk, {});
    REQUIRE(engine.open());
    for (int i = 0; i < 60; ++i) run_transaction(engine, random, oracle);
    disk.inject({.operation = DiskOperation::write, .nth = 3, .path_contains = kBackup.native()});
    REQUIRE_FALSE(back_up(parts_of(engine), disk, kBackup, "log", {}));
    REQUIRE(engine.close());
    REQUIRE_FALSE(ControlFile::open(disk, kBackup));
    REQUIRE(restore(disk, kBackups, kRestored, "log", {}, {}).error().state() ==
            sqlstate::object_not_in_prerequisite_state);
  });
}

TEST_CASE("a restore to a point in time, by LSN and by time", "[backup]") {
  SimulatedDisk disk;
  TestEngine::create(disk);
  REQUIRE(disk.create_directory(kArchive));
  Oracle oracle;
  Simulation simulation{7};
  simulation.run([&] {
    Random random{7};
    BackupOutcome backup;
    Lsn archived{};
    std::map<Lsn, std::int64_t> times;
    {
      TestEngine engine(disk, archiving(disk));
      REQUIRE(engine.open());
      for (int i = 0; i < 100; ++i) run_transaction(engine, random, oracle);
      backup = back_up(parts_of(engine), disk, kBackup, "log", {}).value();
      while (raw(engine.log->tail()) < raw(backup.end) + 600'000) {
        run_transaction(engine, random, oracle);
        Runtime& runtime = Runtime::current();
        times.emplace(engine.log->tail(), runtime.wall_clock_us());
        runtime.sleep_until(runtime.now() + std::chrono::microseconds{5});
      }
      REQUIRE(engine.close());
    }
    const auto fetch = [&](const std::string& name, const std::filesystem::path& target) {
      return from_archive(disk, name, target);
    };
    const Lsn wanted{raw(backup.end) + 200'000};
    archived = restore(disk, kBackups, kRestored, "log", fetch, {.lsn = wanted}).value().stop.end;
    REQUIRE(archived >= wanted);
    require_content(disk, kRestored, content_at(oracle, archived));

    const auto [lsn, time] = *times.lower_bound(Lsn{raw(backup.end) + 100'000});
    const std::filesystem::path by_time = "/restored-by-time";
    const Lsn end =
        restore(disk, kBackups, by_time, "log", fetch, {.time_us = time}).value().stop.end;
    require_content(disk, by_time, content_at(oracle, end));
    const bool same = content_at(oracle, end) == content_at(oracle, lsn);
    REQUIRE(same);

    const auto too_early = restore(disk, kBackups, "/never", "log", fetch, {.lsn = backup.begin});
    REQUIRE(too_early.error().state() == sqlstate::object_not_in_prerequisite_state);

    const std::filesystem::path whole = "/restored-whole";
    const Lsn all = restore(disk, kBackups, whole, "log", fetch, {}).value().stop.end;
    REQUIRE(all > wanted);
    const RecoveryTarget before_end{.lsn = all, .bound = RecoveryTarget::Bound::exclusive};
    REQUIRE(restore(disk, kBackups, "/to-the-end", "log", fetch, before_end).value().stop.end ==
            all);
    const std::int64_t tomorrow = times.rbegin()->second + 86'400'000'000;
    const auto too_late = restore(disk, kBackups, "/never-2", "log", fetch, {.time_us = tomorrow});
    REQUIRE(too_late.error().state() == sqlstate::object_not_in_prerequisite_state);
    const Lsn behind{raw(all) + 1};
    REQUIRE_FALSE(restore(disk, kBackups, "/never-3", "log", fetch, {.lsn = behind}));
    require_content(disk, whole, content_at(oracle, all));
  });
}
