// Log and data share a disk that open transactions fill up to its last block. exhaustion_test.cpp
// has the cases of one of the two.
#include <algorithm>
#include <vector>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "storage/engine_tests/crowded_database.h"

namespace swizzle {

using namespace test;
using std::chrono::seconds;

namespace {

/// A small shared disk, filled by up to three open transactions with savepoints to which they roll
/// back.
struct FullDisk {
  explicit FullDisk(std::uint64_t with) : seed(with), random{with}, disk{with} {
    // Small segments, so that little of the log exists in advance.
    options.log_segment_bytes = std::uint64_t{512} << 10U;
    options.log_buffer_bytes = std::uint64_t{256} << 10U;
    create_crowded(disk, options);
  }
  struct Writer {
    std::unique_ptr<Transaction> transaction;
    bool is_refused = false;
  };

  using Writers = std::vector<Writer>;

  /// Pre: the database outlives the writers.
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
    // Each old row belongs to one writer; new rows to all.
    const std::string key = crowded_key(
        static_cast<int>(random.below(kCrowdedRows / writers.size()) * writers.size() + number));
    const std::string value(random.below(random.one_in(2) ? 1900 : 90), 'w');
    if (random.one_in(5)) return database.in().update(transaction, as_bytes(key), as_bytes(value));
    if (random.one_in(9)) return database.in().remove(transaction, as_bytes(key));
    return database.in().insert(
        transaction, as_bytes(key + behind + " and " + std::to_string(random())), as_bytes(value));
  }

  std::uint64_t seed;
  Random random;
  /// Every third seed has long keys, and so long fences.
  const std::string behind = std::string(seed % 3 == 0 ? 400 + seed % 400 : 0, 'k');
  SimulatedDisk disk;
  EngineOptions options = few_pages();
  Content content;  ///< committed content
  TreeId tree{};
};

/// Opens a crashed database without more room, until the power is cut at the `cut`-th change of the
/// disk (0: never).
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

// A scan past ghosts removes them, which must work without room as well.
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

TEST_CASE("B11 what is prepared is rolled back on a disk that was filled after a restart",
          "[storage][exhaustion][prepared][crash]") {
  for_seeds(6, [](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    create_crowded(disk);
    Content content;
    TreeId tree{};
    Simulation{bounded(seed)}.run([&] {
      CrowdedDatabase database(disk);
      database.make_tree(900);
      const auto transaction = database.engine->begin();
      // Shorten in two steps, and roll the second one back.
      database.update_all(*transaction, 500);
      const Transaction::Mark mark = transaction->mark();
      database.update_all(*transaction, 100);
      if (seed % 2 == 0) REQUIRE(transaction->rollback_to(mark));
      REQUIRE(transaction->prepare("p", {}));
      content = database.content;
      tree = database.tree;
    });
    disk.crash(seed + 1);
    const auto outcome = Simulation{bounded(seed)}.run([&] {
      CrowdedDatabase database(disk);
      database.tree = tree;
      database.content = content;
      disk.leave_room(std::uint64_t{1} << 20U);
      REQUIRE(database.fill_up(1) == sqlstate::disk_full);
      const auto prepared = database.engine->take_prepared("p").value();
      prepared->rollback();
      REQUIRE(database.found() == database.content);
      REQUIRE(database.engine->verify().value().empty());
    });
    REQUIRE(outcome != Simulation::Outcome::stopped);
  });
}

TEST_CASE("B11 a checkpoint takes no blocks of a full disk", "[storage][exhaustion]") {
  SimulatedDisk disk{9};
  create_crowded(disk);
  Simulation{bounded(9)}.run([&] {
    CrowdedDatabase database(disk);
    // This start has written each copy at most once by now.
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
      // Some owe more than the reserve that each transaction has anyway, so that rollback files are
      // needed.
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
