// Exhausted resources: the transaction that needs more gets an error, rollbacks always have what
// they need, and all others go on, also after a restart.
#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "storage/engine_tests/crowded_database.h"

namespace swizzle {

using namespace test;
using std::chrono::seconds;

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
    // A transaction that wants to grow gets the error; room reserved for rollbacks is not given
    // away.
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
    // The failed request has returned the room that rollbacks need.
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
  // Open transactions change different rows of the same leaves to varying lengths.
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

// Values that a rollback restores may all belong into one half of a split leaf, whose fence has
// grown.
TEST_CASE("B11 a half of a leaf with long fences has room for all that a rollback puts back there",
          "[storage][exhaustion]") {
  for_seeds(120, [&](std::uint64_t seed) {
    SimulatedDisk disk{seed};
    create_crowded(disk);
    Simulation{bounded(seed)}.run([&] {
      CrowdedDatabase database(disk);
      Random random{seed};
      const std::string alike(random.one_in(2) ? 1000 : random.below(1000), 'p');
      const auto key = [&](std::uint64_t number) {
        return alike + std::to_string(1'000'000 + number);
      };
      const std::size_t length = 100 + random.below(900);
      constexpr std::uint64_t kStep = 10'000;
      constexpr std::uint64_t kMade = 80;
      std::vector<std::uint64_t> large;
      std::vector<std::uint64_t> small;
      std::vector<std::pair<std::string, std::string>> rows;
      bool is_large = false;
      for (std::uint64_t row = 0; row < kMade; ++row) {
        if (random.one_in(5)) is_large = !is_large;
        (is_large ? large : small).push_back(row * kStep);
        rows.emplace_back(key(row * kStep), std::string(is_large ? length : random.below(20), 'o'));
      }
      std::ranges::shuffle(rows, std::mt19937_64{seed});
      const auto maker = database.engine->begin();
      database.tree = database.engine->create_tree(*maker).value();
      for (const auto& [at, value] : rows) {
        REQUIRE(database.in().insert(*maker, as_bytes(at), as_bytes(value)).value());
        database.content[at] = value;
      }
      REQUIRE(maker->commit());
      const auto writer = database.engine->begin();
      for (const std::uint64_t number : large)
        REQUIRE(database.in()
                    .update(*writer, as_bytes(key(number)),
                            as_bytes(std::string(random.below(20), 's')))
                    .value());
      for (std::uint64_t left = random.below(400); left != 0;) {
        const std::string at = key(small[random.below(small.size())] + random.below(kStep));
        const std::string value(random.below(random.one_in(3) ? 500 : 40), 'f');
        if (database.content.contains(at)) continue;
        const auto other = database.engine->begin();
        REQUIRE(database.in().insert(*other, as_bytes(at), as_bytes(value)).value());
        REQUIRE(other->commit());
        database.content[at] = value;
        --left;
      }
      disk.inject(no_room_in("data", DiskOperation::resize, UINT64_MAX));
      REQUIRE(database.fill_up(1) == sqlstate::disk_full);
      writer->rollback();
      REQUIRE(database.found() == database.content);
      REQUIRE(database.engine->verify().value().empty());
    });
  });
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

}  // namespace swizzle
