// What has run out is an error for who asked for more of it. A rollback always has what it needs,
// and everybody else goes on, also after a restart.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/engine.h"
#include "storage/statistics.h"
#include "storage/testing/database_home.h"

namespace swizzle {
namespace {

using std::chrono::seconds;
using test::kHome;

constexpr int kCrowdedRows = 200;
constexpr std::uint64_t kFrameBytes = 8704;

EngineOptions few_pages(std::uint64_t frames = 600) {
  EngineOptions options;
  options.pool_bytes = frames * kFrameBytes;
  options.log_segment_bytes = std::uint64_t{4} << 20U;
  options.log_buffer_bytes = std::uint64_t{1} << 20U;
  return options;
}

/// A rollback that cannot go on is stuck rather than slow.
Simulation::Options bounded(std::uint64_t seed) {
  return {.seed = seed, .longest = std::chrono::minutes{20}};
}

std::string crowded_key(int row) {
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
  /// Puts rows between the others until the disk is full; what was committed stays.
  SqlState fill_up() {
    constexpr int kAtOnce = 25;
    for (int number = 0;;) {
      const auto transaction = engine->begin();
      Content added;
      for (int i = 0; i < kAtOnce; ++i, ++number) {
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

DiskFault no_room_in(std::string path, DiskOperation operation, std::uint64_t times) {
  return {.operation = operation,
          .times = times,
          .path_contains = kHome.native() + "/" + path,
          .error = ENOSPC};
}

void create_crowded(SimulatedDisk& disk, const EngineOptions& options = few_pages()) {
  REQUIRE(Engine::create(disk, kHome, options));
  REQUIRE(disk.sync_directory("/"));
}

}  // namespace

TEST_CASE("B11 a rollback puts longer values back on a full disk", "[storage][exhaustion]") {
  SimulatedDisk disk{1};
  create_crowded(disk);
  Simulation simulation{bounded(1)};
  simulation.run([&] {
    CrowdedDatabase database(disk);
    database.make_tree(700);
    auto writer = database.engine->begin();
    database.update_all(*writer, 10);
    disk.inject(no_room_in("data", DiskOperation::resize, UINT64_MAX));
    // Who wants to grow is told so; what the writer will need is not given to others.
    REQUIRE(database.fill_up() == sqlstate::disk_full);
    writer->rollback();
    REQUIRE(database.found() == database.content);
    REQUIRE(database.engine->verify().value().empty());
    REQUIRE(database.fill_up() == sqlstate::disk_full);
    disk.clear_faults();
    const auto after = database.engine->begin();
    database.update_all(*after, 900);
    REQUIRE(after->commit());
    writer.reset();
    REQUIRE(database.engine->close());
  });
}

TEST_CASE("B11 of several steps the longest value is kept room for on a full disk",
          "[storage][exhaustion]") {
  SimulatedDisk disk{7};
  create_crowded(disk);
  Simulation simulation{bounded(7)};
  simulation.run([&] {
    CrowdedDatabase database(disk);
    database.make_tree(700);
    auto writer = database.engine->begin();
    database.update_all(*writer, 10);
    database.update_all(*writer, 20);
    disk.inject(no_room_in("data", DiskOperation::resize, UINT64_MAX));
    REQUIRE(database.fill_up() == sqlstate::disk_full);
    writer->rollback();
    REQUIRE(database.found() == database.content);
    REQUIRE(database.engine->verify().value().empty());
    disk.clear_faults();
    writer.reset();
    REQUIRE(database.engine->close());
  });
}

TEST_CASE("B11 a step back that makes values shorter keeps the room for the next one",
          "[storage][exhaustion]") {
  SimulatedDisk disk{8};
  create_crowded(disk);
  Simulation simulation{bounded(8)};
  simulation.run([&] {
    CrowdedDatabase database(disk);
    database.make_tree(700);
    auto writer = database.engine->begin();
    database.update_all(*writer, 10);
    const Transaction::Mark mark = writer->mark();
    database.update_all(*writer, 700, 'm');
    disk.inject(no_room_in("data", DiskOperation::resize, UINT64_MAX));
    // Who asks finds that all have what they had: nothing is owed.
    REQUIRE(database.fill_up() == sqlstate::disk_full);
    REQUIRE(writer->rollback_to(mark));
    REQUIRE(database.fill_up() == sqlstate::disk_full);
    writer->rollback();
    REQUIRE(database.found() == database.content);
    disk.clear_faults();
    writer.reset();
    REQUIRE(database.engine->close());
  });
}

TEST_CASE("B11 a restart undoes what made values shorter on a full disk",
          "[storage][exhaustion][crash]") {
  SimulatedDisk disk{2};
  create_crowded(disk);
  std::unique_ptr<SimulatedDisk> after;
  Content content;
  TreeId tree{};
  Simulation simulation{bounded(2)};
  simulation.run([&] {
    CrowdedDatabase database(disk);
    database.make_tree(700);
    auto writer = database.engine->begin();
    database.update_all(*writer, 10);
    disk.inject(no_room_in("data", DiskOperation::resize, UINT64_MAX));
    REQUIRE(database.fill_up() == sqlstate::disk_full);
    after = disk.copy(3);
    content = database.content;
    tree = database.tree;
    writer->rollback();
  });
  after->crash(4);
  after->inject(no_room_in("data", DiskOperation::resize, UINT64_MAX));
  // The checkpoint at the end of the start finds no room either.
  after->inject(no_room_in("control", DiskOperation::write, 1));
  simulation.run([&] {
    CrowdedDatabase database(*after);
    database.tree = tree;
    REQUIRE(database.found() == content);
    REQUIRE(database.engine->verify().value().empty());
  });
}

TEST_CASE("B11 no rollback ever takes a page", "[storage][exhaustion]") {
  // Open transactions change rows of the same leaves, each its own, to lengths as they come.
  for_seeds(6, [&](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    create_crowded(disk);
    Simulation simulation{bounded(seed)};
    simulation.run([&] {
      CrowdedDatabase database(disk);
      database.make_tree(300);
      Random random{seed};
      constexpr std::size_t kWriters = 3;
      struct Writer {
        std::unique_ptr<Transaction> transaction;
        Content content;  // of its own rows
      };
      std::array<Writer, kWriters> writers;
      const auto rows_of = [&](std::size_t writer) {
        Content rows;
        for (const auto& [key, value] : database.content)
          if (std::stoul(key.substr(4)) % kWriters == writer) rows.emplace(key, value);
        return rows;
      };
      const auto without_a_page = [&](const auto& undo) {
        const std::uint64_t before = database.pages();
        undo();
        REQUIRE(database.pages() <= before);
      };
      const auto change = [&](Writer& writer, std::size_t number) {
        const std::string key = crowded_key(
            static_cast<int>(random.below(kCrowdedRows / kWriters) * kWriters + number + 2));
        if (std::stoul(key.substr(4)) % kWriters != number) return;
        const std::string value(random.below(random.one_in(3) ? 1200 : 40), 'x');
        Content& rows = writer.content;
        if (random.one_in(4)) {
          REQUIRE(database.in().remove(*writer.transaction, as_bytes(key)).value() ==
                  (rows.erase(key) == 1));
        } else if (rows.contains(key)) {
          REQUIRE(
              database.in().update(*writer.transaction, as_bytes(key), as_bytes(value)).value());
          rows[key] = value;
        } else {
          REQUIRE(
              database.in().insert(*writer.transaction, as_bytes(key), as_bytes(value)).value());
          rows[key] = value;
        }
      };
      for (int round = 0; round < 60; ++round) {
        const std::size_t number = random.below(kWriters);
        Writer& writer = writers[number];
        if (writer.transaction == nullptr) {
          writer.transaction = database.engine->begin();
          writer.content = rows_of(number);
        }
        for (int i = 0; i < 40; ++i) change(writer, number);
        const Content at_savepoint = writer.content;
        const Transaction::Mark mark = writer.transaction->mark();
        for (int i = 0; i < 20; ++i) change(writer, number);
        if (random.one_in(2)) {
          static_cast<void>(database.found());
          without_a_page([&] { REQUIRE(writer.transaction->rollback_to(mark)); });
          writer.content = at_savepoint;
        }
        if (random.one_in(3)) continue;
        if (random.one_in(3)) {
          REQUIRE(writer.transaction->commit());
          for (const auto& row : rows_of(number)) database.content.erase(row.first);
          database.content.insert(writer.content.begin(), writer.content.end());
        } else {
          static_cast<void>(database.found());
          without_a_page([&] { writer.transaction->rollback(); });
        }
        writer.transaction.reset();
      }
      for (Writer& writer : writers) writer.transaction.reset();
      REQUIRE(database.found() == database.content);
      REQUIRE(database.engine->verify().value().empty());
      REQUIRE(database.engine->close());
    });
  });
}

namespace {

/// The log's directory and the data share the disk, which open transactions fill: up to three of
/// them, with savepoints that they go back to.
struct FullDisk {
  explicit FullDisk(std::uint64_t with) : seed(with), random{with}, disk{with} {
    // Little of the log is there in any case.
    options.log_segment_bytes = std::uint64_t{512} << 10U;
    options.log_buffer_bytes = std::uint64_t{256} << 10U;
    create_crowded(disk, options);
  }
  struct Writer {
    std::unique_ptr<Transaction> transaction;
    bool is_refused = false;
  };

  using Writers = std::vector<Writer>;

  /// The writers live no longer than the database does.
  Writers fill(CrowdedDatabase& database) {
    database.make_tree(300);
    content = database.content;
    tree = database.tree;
    disk.leave_room(((1 + seed % 24) << 20U) + random.below(std::uint64_t{1} << 20U));
    Writers writers(1 + random.below(3));
    for (Writer& writer : writers) writer.transaction = database.engine->begin();
    while (std::ranges::any_of(writers, [](const Writer& w) { return !w.is_refused; })) {
      const std::size_t number = random.below(writers.size());
      if (!writers[number].is_refused) write_on(database, writers, number);
    }
    return writers;
  }
  void write_on(CrowdedDatabase& database, Writers& writers, std::size_t number) {
    Writer& writer = writers[number];
    const Transaction::Mark mark = writer.transaction->mark();
    for (int i = 0; i < 200 && !writer.is_refused; ++i) {
      const auto written = write(database, writers, number);
      if (written) continue;
      REQUIRE(written.error().state() == sqlstate::disk_full);
      writer.is_refused = true;
    }
    if (random.one_in(4)) REQUIRE(writer.transaction->rollback_to(mark));
  }
  Result<bool> write(CrowdedDatabase& database, Writers& writers, std::size_t number) {
    Transaction& transaction = *writers[number].transaction;
    // Old rows are one writer's each, new ones anybody's.
    const std::string key = crowded_key(
        static_cast<int>(random.below(kCrowdedRows / writers.size()) * writers.size() + number));
    const std::string value(random.below(random.one_in(2) ? 1900 : 90), 'w');
    if (random.one_in(5)) return database.in().update(transaction, as_bytes(key), as_bytes(value));
    if (random.one_in(9)) return database.in().remove(transaction, as_bytes(key));
    return database.in().insert(transaction, as_bytes(key + " and " + std::to_string(random())),
                                as_bytes(value));
  }

  std::uint64_t seed;
  Random random;
  SimulatedDisk disk;
  EngineOptions options = few_pages();
  Content content;  ///< what was committed
  TreeId tree{};
};

/// Opens what a crash has left, without any room more, until the power goes at the `cut`-th change
/// of the disk; 0: never.
Simulation::Outcome reopen_full(SimulatedDisk& disk, const FullDisk& of, std::uint64_t cut) {
  disk.leave_room(0);
  return Simulation{bounded(of.seed + cut)}.run([&] {
    if (cut != 0) disk.cut_power_at(DiskOperation::change, cut);
    CrowdedDatabase database(disk, of.options);
    database.tree = of.tree;
    REQUIRE(database.found() == of.content);
    REQUIRE(database.engine->verify().value().empty());
  });
}

}  // namespace

// Whoever scans past ghosts has them removed, which must do without room, too.
TEST_CASE("B11 whatever fills the disk, open transactions are rolled back",
          "[storage][exhaustion]") {
  for_seeds(12, [&](std::uint64_t seed) {
    FullDisk full(seed);
    std::unique_ptr<SimulatedDisk> after;
    Simulation{bounded(seed)}.run([&] {
      CrowdedDatabase database(full.disk, full.options);
      FullDisk::Writers writers = full.fill(database);
      after = full.disk.copy(seed + 1);
      for (FullDisk::Writer& writer : writers) writer.transaction->rollback();
      for (int again = 0; again < 3; ++again) REQUIRE(database.found() == full.content);
      REQUIRE(database.engine->verify().value().empty());
      full.disk.limit_capacity(UINT64_MAX);
      Runtime::current().sleep_until(Runtime::current().now() + seconds{2});
      const auto later = database.engine->begin();
      database.update_all(*later, 900);
      REQUIRE(later->commit());
      writers.clear();
      REQUIRE(database.engine->close());
    });
    after->crash(seed + 2);
    REQUIRE(reopen_full(*after, full, 0) != Simulation::Outcome::stopped);
  });
}

TEST_CASE("B11 a power cut in the middle of a rollback on a full disk, and of the start after it",
          "[storage][exhaustion][crash]") {
  int cuts = 0;
  for_seeds(12, [&](std::uint64_t seed) {
    FullDisk full(seed);
    const auto ended = Simulation{bounded(seed)}.run([&] {
      CrowdedDatabase database(full.disk, full.options);
      FullDisk::Writers writers = full.fill(database);
      full.disk.cut_power_at(DiskOperation::change, 1 + full.random.below(40));
      for (FullDisk::Writer& writer : writers) writer.transaction->rollback();
      writers.clear();
    });
    cuts += ended == Simulation::Outcome::stopped;
    full.disk.crash(seed + 1);
    for (std::uint64_t start = 0; start < 3; ++start) {
      const std::uint64_t cut = 1 + full.random.below(60);
      if (reopen_full(full.disk, full, cut) == Simulation::Outcome::stopped) ++cuts;
      full.disk.crash(seed + 2 + start);
    }
    REQUIRE(reopen_full(full.disk, full, 0) != Simulation::Outcome::stopped);
  });
  CHECK(cuts > 0);
}

TEST_CASE("a rollback outlives a minute without a page that may be replaced",
          "[storage][exhaustion]") {
  SimulatedDisk disk{5};
  const EngineOptions options = few_pages(16);
  create_crowded(disk, options);
  Simulation simulation{bounded(5)};
  simulation.run([&] {
    CrowdedDatabase database(disk, options);
    database.make_tree(700);
    const auto writer = database.engine->begin();
    database.update_all(*writer, 690);
    disk.inject({.operation = DiskOperation::write,
                 .effect = DiskFault::Effect::delay,
                 .times = 2,
                 .path_contains = kHome.native() + "/d",
                 .delay = seconds{70}});
    writer->rollback();
    REQUIRE(database.found() == database.content);
    REQUIRE(database.engine->close());
  });
}

TEST_CASE("a rollback outlives a device that cannot read for a while", "[storage][exhaustion]") {
  SimulatedDisk disk{6};
  const EngineOptions options = few_pages(16);
  create_crowded(disk, options);
  Simulation simulation{bounded(6)};
  simulation.run([&] {
    CrowdedDatabase database(disk, options);
    database.make_tree(700);
    const auto writer = database.engine->begin();
    database.update_all(*writer, 690);
    disk.inject({.operation = DiskOperation::read,
                 .times = 20,
                 .path_contains = kHome.native() + "/data",
                 .error = EIO});
    writer->rollback();
    disk.clear_faults();
    REQUIRE(database.found() == database.content);
    REQUIRE(database.engine->close());
  });
}

TEST_CASE("a checkpoint without room on the disk waits for it", "[storage][exhaustion]") {
  SimulatedDisk disk{7};
  EngineOptions options = few_pages();
  options.log_segment_bytes = options.checkpoint_log_bytes = std::uint64_t{256} << 10U;
  create_crowded(disk, options);
  for (const char* file : {"control", "space"}) {
    Simulation simulation{bounded(7)};
    simulation.run([&] {
      CrowdedDatabase database(disk, options);
      database.make_tree(700);
      disk.inject(no_room_in(file, DiskOperation::write, 3));
      const std::uint64_t before = database.engine->statistics().checkpoints;
      while (database.engine->statistics().checkpoints == before) {
        const auto writer = database.engine->begin();
        database.update_all(*writer, 700);
        writer->rollback();
        Runtime::current().sleep_until(Runtime::current().now() + seconds{1});
      }
      REQUIRE(database.found() == database.content);
      REQUIRE(database.engine->close());
    });
  }
}

TEST_CASE("B11 a checkpoint takes no blocks of a full disk", "[storage][exhaustion]") {
  SimulatedDisk disk{9};
  create_crowded(disk);
  Simulation{bounded(9)}.run([&] {
    CrowdedDatabase database(disk);
    // Before either copy of anything has been written by this start but once.
    disk.leave_room(0);
    for (int time = 0; time < 4; ++time) REQUIRE(database.engine->checkpoint());
    REQUIRE(database.engine->close());
  });
}

// The log between two checkpoints may be larger than the disk.
TEST_CASE("B11 writers go on where only a checkpoint frees log on a full disk",
          "[storage][exhaustion]") {
  for_seeds(6, [&](std::uint64_t seed) {
    FullDisk small(seed);
    Simulation{bounded(seed)}.run([&] {
      CrowdedDatabase database(small.disk, small.options);
      database.make_tree(700);
      small.disk.leave_room((std::uint64_t{6} << 20U) + small.random.below(3U << 20U));
      // Some owe more than the log has for each transaction anyway, so that files must be kept.
      for (int round = 0; round < 100; ++round) {
        const char letter = static_cast<char>('a' + round % 26);
        const auto writer = database.engine->begin();
        for (std::uint64_t times = 1 + small.random.below(3); times != 0; --times)
          database.update_all(*writer, 700, letter);
        if (small.random.one_in(5)) continue;
        REQUIRE(writer->commit());
        for (auto& row : database.content) row.second.assign(700, letter);
      }
      REQUIRE(database.found() == database.content);
      REQUIRE(database.engine->verify().value().empty());
      REQUIRE(database.engine->close());
    });
  });
}

}  // namespace swizzle
