// Online backup, archive and restore with the Engine class.
#include <catch2/catch.hpp>
#include <map>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/recovery/backup/test_archive.h"
#include "storage/statistics.h"
#include "storage/testing/database_home.h"
#include "wal/archive_command.h"

using namespace swizzle;
using Catch::Contains;

namespace {

using test::copy_file;
using test::kArchive;
using test::kBackup;
using test::kHome;

using Content = std::map<std::string, std::string>;

EngineOptions small_options(SimulatedDisk& disk) {
  EngineOptions options = test::archiving_options(disk, std::uint64_t{256} << 10U);
  // Two databases may share the archive: a segment name that already has other contents is refused.
  options.archive = [&disk](const std::filesystem::path& segment,
                            const std::string& name) -> Result<> {
    const auto target = kArchive / name;
    ASSIGN_OR_RETURN(const bool exists, disk.exists(target));
    if (exists && disk.contents(segment) != disk.contents(target))
      return fail(sqlstate::duplicate_file, "the archive has another segment of that name");
    return copy_file(disk, segment, target);
  };
  return options;
}

wal::RestoreSegment from_archive(SimulatedDisk& disk) {
  return [&disk](const std::string& name, const std::filesystem::path& target) -> Result<bool> {
    const auto source = kArchive / name;
    ASSIGN_OR_RETURN(const bool exists, disk.exists(source));
    if (!exists) return false;
    RETURN_IF_ERROR(copy_file(disk, source, target));
    return true;
  };
}

/// Transfers between accounts, so that every consistent state has the same sum, and a counter that
/// tells which transfers the state has.
class Accounts {
 public:
  static constexpr std::uint64_t kCount = 300;
  static constexpr std::int64_t kEach = 1000;

  Accounts(Engine& engine, TreeId tree) : engine_(engine), tree_(tree) {}

  static TreeId create(Engine& engine) {
    const auto transaction = engine.begin();
    const TreeId tree = engine.create_tree(*transaction).value();
    Tree into = engine.tree(tree).value();
    for (std::uint64_t i = 0; i < kCount; ++i)
      REQUIRE(
          into.insert(*transaction, as_bytes(name(i)), as_bytes(std::to_string(kEach))).value());
    REQUIRE(into.insert(*transaction, as_bytes("count"), as_bytes("0")).value());
    REQUIRE(transaction->commit());
    return tree;
  }
  void transfer(Random& random, std::uint64_t number) {
    const auto transaction = engine_.begin();
    const std::uint64_t from = random.below(kCount);
    const std::uint64_t to = (from + 1 + random.below(kCount - 1)) % kCount;
    add(*transaction, name(from), -5);
    add(*transaction, name(to), 5);
    Tree tree = engine_.tree(tree_).value();
    // Add some bulk, so that pages split and the log grows.
    REQUIRE(tree.insert(*transaction, as_bytes("bulk " + std::to_string(number)),
                        as_bytes(std::string(300, 'x')))
                .value());
    REQUIRE(tree.update(*transaction, as_bytes("count"), as_bytes(std::to_string(number))).value());
    REQUIRE(transaction->commit());
  }
  /// Returns the number of transfers. Fails unless each is complete.
  [[nodiscard]] std::uint64_t check() {
    const auto reader = engine_.begin();
    Cursor cursor = engine_.tree(tree_).value().scan(*reader, {}).value();
    std::int64_t sum = 0;
    std::uint64_t bulk = 0;
    std::uint64_t count = 0;
    while (cursor.next().value()) {
      const std::string key{as_text(cursor.key())};
      const std::string value{as_text(cursor.value())};
      if (key.starts_with("account")) sum += std::stoll(value);
      if (key.starts_with("bulk")) ++bulk;
      if (key == "count") count = std::stoull(value);
    }
    REQUIRE(sum == static_cast<std::int64_t>(kCount) * kEach);
    REQUIRE(bulk == count);
    REQUIRE(engine_.verify().value() == std::vector<std::string>{});
    return count;
  }

 private:
  static std::string name(std::uint64_t number) { return "account " + std::to_string(number); }
  void add(Transaction& transaction, const std::string& account, std::int64_t amount) {
    Tree tree = engine_.tree(tree_).value();
    ValueBuffer value;
    REQUIRE(tree.get(transaction, as_bytes(account), value, ReadMode::for_update).value());
    const std::int64_t balance = std::stoll(std::string{as_text(value.bytes())}) + amount;
    REQUIRE(tree.update(transaction, as_bytes(account), as_bytes(std::to_string(balance))).value());
  }

  Engine& engine_;
  TreeId tree_;
};

std::uint64_t transfers_in(SimulatedDisk& disk, const std::filesystem::path& home, TreeId tree) {
  const auto opened = Engine::open(disk, home, small_options(disk));
  if (!opened) FAIL(opened.error().message() << ": " << opened.error().detail());
  const std::uint64_t count = Accounts(**opened, tree).check();
  REQUIRE((*opened)->close());
  return count;
}

void create_database(SimulatedDisk& disk) {
  REQUIRE(Engine::create(disk, kHome, small_options(disk)));
  REQUIRE(disk.create_directory(kArchive));
  REQUIRE(disk.sync_directory("/"));
}

}  // namespace

TEST_CASE("a backup under load opens by itself, and restores to any later LSN or time",
          "[backup]") {
  for_seeds(4, [&](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    create_database(disk);
    Simulation simulation{seed};
    simulation.run([&] {
      Random random{seed};
      TreeId tree{};
      BackupOutcome backup;
      std::uint64_t number = 0;
      struct Moment {
        Lsn log_end;
        std::int64_t time_us;
      };
      std::map<std::uint64_t, Moment> after;
      {
        const auto engine = Engine::open(disk, kHome, small_options(disk)).value();
        tree = Accounts::create(*engine);
        Accounts accounts(*engine, tree);
        while (number < 200) accounts.transfer(random, ++number);
        bool done = false;
        const auto task = Runtime::current().spawn("backup", [&] {
          auto taken = engine->back_up(kBackup);
          if (!taken) FAIL(taken.error().message());
          backup = *taken;
          done = true;
        });
        while (!done) accounts.transfer(random, ++number);
        task->join();
        REQUIRE(backup.pages > 2);
        const std::uint64_t at_end = number;
        while (number < at_end + 1500) {
          accounts.transfer(random, ++number);
          Runtime& runtime = Runtime::current();
          runtime.sleep_until(runtime.now() + std::chrono::microseconds{3});
          after[number] = {Lsn{engine->statistics().log_durable}, runtime.wall_clock_us()};
          runtime.sleep_until(runtime.now() + std::chrono::microseconds{3});
        }
        REQUIRE(engine->close());
      }
      // Restored, the backup opens at the target; by itself, at its own end.
      const auto moment = std::next(after.begin(), 700);
      const auto by_lsn = restore_backup(disk, {kBackup}, "/by-lsn", from_archive(disk),
                                         {.lsn = moment->second.log_end});
      if (!by_lsn) FAIL(by_lsn.error().message());
      REQUIRE(transfers_in(disk, "/by-lsn", tree) == moment->first);
      const auto by_time = restore_backup(disk, {kBackup}, "/by-time", from_archive(disk),
                                          {.time_us = moment->second.time_us});
      if (!by_time) FAIL(by_time.error().message());
      REQUIRE(transfers_in(disk, "/by-time", tree) == moment->first);
      const auto too_early =
          restore_backup(disk, {kBackup}, "/never", from_archive(disk), {.lsn = backup.begin});
      REQUIRE(too_early.error().state() == sqlstate::object_not_in_prerequisite_state);
      REQUIRE_FALSE(Engine::open(disk, "/never", small_options(disk)));
      const std::uint64_t alone = transfers_in(disk, kBackup, tree);
      REQUIRE(alone >= 200);
      REQUIRE(alone < moment->first);
    });
  });
}

// The two histories share their beginning and their archive, and no segment after it.
TEST_CASE("a database that was restored goes on beside the one it came from", "[backup]") {
  SimulatedDisk disk{5};
  create_database(disk);
  Simulation simulation{5};
  simulation.run([&] {
    Random random{5};
    TreeId tree{};
    std::uint64_t number = 0;
    Lsn early{};
    std::uint64_t at_early = 0;
    {
      const auto engine = Engine::open(disk, kHome, small_options(disk)).value();
      tree = Accounts::create(*engine);
      Accounts accounts(*engine, tree);
      while (number < 100) accounts.transfer(random, ++number);
      REQUIRE(engine->back_up(kBackup));
      while (number < 500) accounts.transfer(random, ++number);
      early = Lsn{engine->statistics().log_durable};
      at_early = number;
      while (number < 2000) accounts.transfer(random, ++number);
      REQUIRE(engine->close());
    }
    const RestoreOutcome outcome =
        restore_backup(disk, {kBackup}, "/second", from_archive(disk), {.lsn = early}).value();
    REQUIRE(outcome.begins_again >= outcome.end);
    std::uint64_t second = at_early;
    {
      const auto engine = Engine::open(disk, "/second", small_options(disk)).value();
      Accounts accounts(*engine, tree);
      REQUIRE(accounts.check() == at_early);
      while (second < at_early + 300) accounts.transfer(random, ++second);
      // The restored database is an ordinary one: it can be backed up, and it recovers.
      REQUIRE(engine->back_up("/second-backup"));
      accounts.transfer(random, ++second);
    }
    REQUIRE(transfers_in(disk, "/second", tree) == second);
    REQUIRE(transfers_in(disk, "/second-backup", tree) == at_early + 300);
    // The old history can still be restored completely.
    REQUIRE(restore_backup(disk, {kBackup}, "/third", from_archive(disk), {}));
    REQUIRE(transfers_in(disk, "/third", tree) > at_early + 1000);
  });
}

namespace {

/// State of a database with a prepared transaction that changed keys "a" to "c".
struct Waiting {
  SimulatedDisk& disk;
  TreeId tree;

  static std::string get(Transaction& transaction, const Tree& of, std::string_view key) {
    ValueBuffer value;
    return of.get(transaction, as_bytes(key), value).value() ? std::string{as_text(value.bytes())}
                                                             : "none";
  }
  static std::string all(Transaction& transaction, const Tree& of) {
    return get(transaction, of, "a") + " " + get(transaction, of, "b") + " " +
           get(transaction, of, "c");
  }
  /// Opens the database twice, since a restart reads what the previous one has written.
  void check_and_finish(const std::filesystem::path& home, bool commits) const {
    for (int start = 0; start < 2; ++start) {
      const auto engine = Engine::open(disk, home, small_options(disk)).value();
      const Tree of = engine->tree(tree).value();
      {
        const auto reader = engine->begin();
        REQUIRE(all(*reader, of) == "old old none");
      }
      REQUIRE(engine->prepared().size() == 1);
      REQUIRE(as_text(engine->prepared().front().note) == "note");
      auto taken = engine->take_prepared("waits").value();
      taken->begin_statement();
      REQUIRE(all(*taken, of) == "new none new");
      if (start == 1) {
        if (commits) REQUIRE(taken->commit());
        if (!commits) taken->rollback();
      }
      taken.reset();
      if (commits) REQUIRE(engine->close());
    }
    const auto engine = Engine::open(disk, home, small_options(disk)).value();
    const auto reader = engine->begin();
    REQUIRE(all(*reader, engine->tree(tree).value()) ==
            (commits ? "new none new" : "old old none"));
    REQUIRE(engine->prepared().empty());
    REQUIRE(engine->verify().value() == std::vector<std::string>{});
  }
};

}  // namespace

TEST_CASE("what is prepared when a backup is taken waits in whatever is made of it",
          "[backup][prepared]") {
  const bool commits = GENERATE(false, true);
  SimulatedDisk disk{7};
  create_database(disk);
  Simulation simulation{7};
  simulation.run([&] {
    TreeId tree{};
    {
      const auto engine = Engine::open(disk, kHome, small_options(disk)).value();
      auto transaction = engine->begin();
      tree = engine->create_tree(*transaction).value();
      Tree of = engine->tree(tree).value();
      for (const char* key : {"a", "b"})
        REQUIRE(of.insert(*transaction, as_bytes(key), as_bytes("old")).value());
      REQUIRE(transaction->commit());
      transaction = engine->begin();
      REQUIRE(of.update(*transaction, as_bytes("a"), as_bytes("in vain")).value());
      const auto mark = transaction->mark();
      REQUIRE(of.update(*transaction, as_bytes("a"), as_bytes("taken back")).value());
      REQUIRE(transaction->rollback_to(mark));
      REQUIRE(of.update(*transaction, as_bytes("a"), as_bytes("new")).value());
      REQUIRE(of.remove(*transaction, as_bytes("b")).value());
      REQUIRE(of.insert(*transaction, as_bytes("c"), as_bytes("new")).value());
      const TreeId made = engine->create_tree(*transaction).value();
      REQUIRE(engine->tree(made).value().insert(*transaction, as_bytes("k"), {}).value());
      REQUIRE(transaction->prepare("waits", as_bytes("note")));
      transaction.reset();
      REQUIRE(engine->back_up(kBackup));
      REQUIRE(engine->close());
    }
    const Waiting waiting{disk, tree};
    REQUIRE(restore_backup(disk, {kBackup}, "/restored", from_archive(disk), {}));
    waiting.check_and_finish("/restored", commits);
    waiting.check_and_finish(kBackup, commits);
    waiting.check_and_finish(kHome, commits);
  });
}

TEST_CASE("power cuts while a backup is taken and while one is restored", "[backup][crash]") {
  std::uint64_t unfinished = 0;
  for_seeds(30, [&](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    create_database(disk);
    Random random{seed};
    TreeId tree{};
    std::uint64_t acknowledged = 0;
    const auto work = [&](bool restores) {
      const auto engine = Engine::open(disk, kHome, small_options(disk)).value();
      Accounts accounts(*engine, tree);
      acknowledged = accounts.check();
      const auto task = Runtime::current().spawn("backup", [&] {
        if (auto taken = engine->back_up(kBackup); !taken) FAIL(taken.error().message());
        if (!restores) return;
        const auto restored = restore_backup(disk, {kBackup}, "/restored", from_archive(disk), {});
        if (!restored) FAIL(restored.error().message());
      });
      for (int i = 0; i < 60; ++i) accounts.transfer(random, ++acknowledged);
      task->join();
    };
    {
      Simulation simulation{seed};
      simulation.run([&] {
        const auto engine = Engine::open(disk, kHome, small_options(disk)).value();
        tree = Accounts::create(*engine);
        REQUIRE(engine->close());
      });
    }
    const bool restores = seed % 2 == 0;
    disk.cut_power_at(DiskOperation::change, random.between(1, restores ? 500 : 150));
    {
      Simulation simulation{seed};
      simulation.run([&] { work(restores); });
    }
    disk.crash(seed);
    Simulation simulation{seed + 1};
    simulation.run([&] {
      // The database itself is consistent.
      const std::uint64_t found = transfers_in(disk, kHome, tree);
      REQUIRE(found + 1 >= acknowledged);
      // The backup or restore in progress is complete, or refused.
      for (const auto& home : {std::filesystem::path{"/restored"}, kBackup}) {
        if (!disk.exists(home).value()) continue;
        const auto opened = Engine::open(disk, home, small_options(disk));
        if (opened) {
          static_cast<void>(Accounts(**opened, tree).check());
          REQUIRE((*opened)->close());
        } else {
          ++unfinished;
        }
      }
    });
  });
  CHECK(unfinished > 3);
}
