// Locks are released before commits are durable; later commits must not be durable before earlier
// ones.
#include <catch2/catch.hpp>

#include "base/invariant.h"
#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/bulk_changes.h"
#include "storage/engine.h"
#include "storage/statistics.h"
#include "storage/testing/database_home.h"

namespace swizzle {
namespace {

using test::kHome;
constexpr lock::RelationId kRelation{7};

/// Runs `body` over a new engine with one tree, in the seed's interleaving.
void simulate(std::uint64_t seed, const std::function<void(Engine&, TreeId)>& body) {
  SimulatedDisk disk{seed};
  EngineOptions options;
  options.pool_bytes = std::uint64_t{64} * 8704;
  options.log_segment_bytes = std::uint64_t{256} << 10U;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  // Cover both kinds of changes: rows marked in undo records, and rows with key locks.
  if (seed % 2 == 0) options.row_lock_limit = 0;
  INVARIANT(Engine::create(disk, kHome, options).has_value());
  Simulation simulation{seed};
  simulation.run([&] {
    auto engine = Engine::open(disk, kHome, options).value();
    TreeId tree{};
    {
      const auto transaction = engine->begin();
      tree = engine->create_tree(*transaction).value();
      INVARIANT(transaction->commit().has_value());
    }
    body(*engine, tree);
    INVARIANT(engine->close().has_value());
  });
}

std::size_t rows_in(Engine& engine, TreeId tree, Transaction& transaction) {
  Cursor cursor = engine.tree(tree).value().scan(transaction, {}).value();
  std::size_t rows = 0;
  while (cursor.next().value()) ++rows;
  return rows;
}

void insert(Engine& engine, TreeId tree, Transaction& transaction, int number) {
  INVARIANT(engine.tree(tree)
                .value()
                .insert(transaction, as_bytes("row " + std::to_string(number)), as_bytes("v"))
                .value());
}

}  // namespace

TEST_CASE("P10 a change of definition sees every row of the writers it waited for",
          "[storage][isolation][simulation]") {
  std::size_t in_time = 0;
  for_seeds(60, [&](std::uint64_t seed) {
    std::size_t acknowledged = 0;
    std::size_t seen = 0;
    simulate(seed, [&](Engine& engine, TreeId tree) {
      std::vector<std::unique_ptr<Task>> tasks;
      for (int i = 0; i < 4; ++i)
        tasks.push_back(Runtime::current().spawn("writer", [&, i] {
          const auto transaction = engine.begin();
          INVARIANT(
              transaction->lock_relation(kRelation, lock::RelationMode::row_exclusive).has_value());
          insert(engine, tree, *transaction, i);
          INVARIANT(transaction->commit().has_value());
          ++acknowledged;
        }));
      tasks.push_back(Runtime::current().spawn("definer", [&] {
        const auto transaction = engine.begin();
        INVARIANT(transaction->lock_relation(kRelation, lock::RelationMode::access_exclusive)
                      .has_value());
        transaction->begin_statement();
        const std::size_t told = acknowledged;
        seen = rows_in(engine, tree, *transaction);
        in_time += seen > told ? 1U : 0U;
        transaction->rollback();
        // The lock keeps new writers out, so all rows that it did not see were added after it.
        std::size_t now = 0;
        for (int i = 0; i < 4; ++i) {
          const auto other = engine.begin(Isolation::serializable);
          now = std::max(now, rows_in(engine, tree, *other));
        }
        INVARIANT(seen >= told && now >= seen);
      }));
      for (const auto& task : tasks) task->join();
    });
  });
  // Check that this happened while commits were on their way to the disk.
  CHECK(in_time > 0);
}

TEST_CASE("P10 what a statement has locked and read, the next one's snapshot shows",
          "[storage][isolation][simulation]") {
  for_seeds(60, [&](std::uint64_t seed) {
    simulate(seed, [&](Engine& engine, TreeId tree) {
      {
        const auto transaction = engine.begin();
        INVARIANT(engine.tree(tree)
                      .value()
                      .insert(*transaction, as_bytes("counter"), as_bytes("0"))
                      .value());
        INVARIANT(transaction->commit().has_value());
      }
      std::vector<std::unique_ptr<Task>> tasks;
      for (int i = 0; i < 4; ++i)
        tasks.push_back(Runtime::current().spawn("session", [&] {
          Tree t = engine.tree(tree).value();
          for (int round = 0; round < 5; ++round) {
            const auto transaction = engine.begin();
            transaction->begin_statement();
            ValueBuffer value;
            INVARIANT(
                t.get(*transaction, as_bytes("counter"), value, ReadMode::for_update).value());
            const int locked = std::stoi(std::string(as_text(value.bytes())));
            transaction->begin_statement();
            INVARIANT(t.get(*transaction, as_bytes("counter"), value).value());
            // Its own lock excludes changes by others.
            INVARIANT(std::stoi(std::string(as_text(value.bytes()))) == locked);
            INVARIANT(
                t.update(*transaction, as_bytes("counter"), as_bytes(std::to_string(locked + 1)))
                    .value());
            INVARIANT(transaction->commit().has_value());
          }
        }));
      for (const auto& task : tasks) task->join();
      const auto transaction = engine.begin();
      ValueBuffer value;
      INVARIANT(engine.tree(tree).value().get(*transaction, as_bytes("counter"), value).value());
      INVARIANT(as_text(value.bytes()) == "20");
    });
  });
}

TEST_CASE("P10 who waits for a lock that was shared sees what its holders have written",
          "[storage][isolation][simulation]") {
  std::size_t not_durable = 0;
  for_seeds(60, [&](std::uint64_t seed) {
    simulate(seed, [&](Engine& engine, TreeId tree) {
      const Bytes guard = as_bytes("guard");
      {
        const auto transaction = engine.begin();
        INVARIANT(engine.tree(tree).value().insert(*transaction, guard, as_bytes("-")).value());
        INVARIANT(transaction->commit().has_value());
      }
      std::size_t sharing = 0;
      std::size_t acknowledged = 0;
      std::vector<std::unique_ptr<Task>> tasks;
      for (int i = 0; i < 4; ++i)
        tasks.push_back(Runtime::current().spawn("writer", [&, i] {
          const auto transaction = engine.begin();
          transaction->begin_statement();
          const ReadMode mode = i % 2 == 0 ? ReadMode::for_share : ReadMode::for_key_share;
          ValueBuffer value;
          INVARIANT(engine.tree(tree).value().get(*transaction, guard, value, mode).value());
          ++sharing;
          insert(engine, tree, *transaction, i);
          INVARIANT(transaction->commit().has_value());
          ++acknowledged;
        }));
      tasks.push_back(Runtime::current().spawn("counter", [&] {
        const auto transaction = engine.begin();
        transaction->begin_statement();
        ValueBuffer value;
        INVARIANT(engine.tree(tree)
                      .value()
                      .get(*transaction, guard, value, ReadMode::for_update)
                      .value());
        // The row is not shared now, so all transactions that shared it have ended.
        const std::size_t told = sharing;
        not_durable += told > acknowledged ? 1U : 0U;
        transaction->begin_statement();
        const std::size_t seen = rows_in(engine, tree, *transaction) - 1;
        INVARIANT(seen >= told);
        INVARIANT(transaction->commit().has_value());
      }));
      for (const auto& task : tasks) task->join();
    });
  });
  CHECK(not_durable > 0);
}

TEST_CASE("An inner statement sees the latest, and the outer one what it saw before",
          "[storage][isolation]") {
  for_seeds(1, [&](std::uint64_t seed) {
    simulate(seed, [&](Engine& engine, TreeId tree) {
      for (const Isolation level : {Isolation::read_committed, Isolation::repeatable_read}) {
        const auto reader = engine.begin(level);
        reader->begin_statement();
        const std::size_t before = rows_in(engine, tree, *reader);
        const int number = static_cast<int>(before) * 10;
        insert(engine, tree, *reader, number);
        const auto writer = engine.begin();
        insert(engine, tree, *writer, number + 1);
        INVARIANT(writer->commit().has_value());
        INVARIANT(rows_in(engine, tree, *reader) == before);
        {
          const InnerStatement inner{*reader};
          INVARIANT(rows_in(engine, tree, *reader) == before + 2);
          insert(engine, tree, *reader, number + 2);
          INVARIANT(rows_in(engine, tree, *reader) == before + 2);
          const InnerStatement within{*reader, ReadView::Sees::durable};
          const std::size_t of_others = level == Isolation::read_committed ? 1 : 0;
          INVARIANT(rows_in(engine, tree, *reader) == before + 2 + of_others);
        }
        INVARIANT(rows_in(engine, tree, *reader) == before);
        reader->begin_statement();
        const std::size_t of_others = level == Isolation::read_committed ? 1 : 0;
        INVARIANT(rows_in(engine, tree, *reader) == before + 2 + of_others);
        INVARIANT(reader->commit().has_value());
      }
    });
  });
}

TEST_CASE("A record that has moved is found again by whoever has seen it before",
          "[storage][isolation]") {
  for_seeds(1, [&](std::uint64_t seed) {
    simulate(seed, [&](Engine& engine, TreeId tree) {
      Tree t = engine.tree(tree).value();
      for (const bool is_large : {false, true}) {
        const std::string value = is_large ? std::string(20'000, 'v') : "v";
        const auto setup = engine.begin();
        for (const char* key : {"1", "2", "3"})
          INVARIANT(t.insert(*setup, as_bytes(key), as_bytes(value)).value());
        INVARIANT(setup->commit().has_value());
        const auto reader = engine.begin();
        reader->begin_statement();
        INVARIANT(rows_in(engine, tree, *reader) == 3);
        // Move 1 → 4 → 5 and 2 → 1; remove 3 and insert it again.
        const auto mover = engine.begin();
        INVARIANT(t.move(*mover, as_bytes("1"), as_bytes("4"), as_bytes(value)).value());
        INVARIANT(t.move(*mover, as_bytes("2"), as_bytes("1"), as_bytes(value)).value());
        INVARIANT(t.move(*mover, as_bytes("4"), as_bytes("5"), as_bytes(value)).value());
        INVARIANT(t.remove(*mover, as_bytes("3")).value());
        INVARIANT(t.insert(*mover, as_bytes("3"), as_bytes(value)).value());
        INVARIANT(!t.move(*mover, as_bytes("1"), as_bytes("3"), as_bytes(value)).value());
        const auto place_of = [&](std::string key) {
          ValueBuffer to;
          for (Tree::KeyPath path;;) {
            switch (t.trace(*reader, as_bytes(key), path, to)) {
              case Tree::Fate::stays:
                return key;
              case Tree::Fate::gone:
                return std::string{"gone"};
              case Tree::Fate::moved:
                key = as_text(to.bytes());
            }
          }
        };
        // Not before it has committed.
        INVARIANT(place_of("1") == "1");
        INVARIANT(mover->commit().has_value());
        INVARIANT(place_of("1") == "5");
        INVARIANT(place_of("2") == "1");
        INVARIANT(place_of("3") == "gone");
        // Another record is under the key and looks the same.
        INVARIANT(!remove_unchanged(t, *reader, as_bytes("1"), as_bytes(value)).value());
        INVARIANT(!remove_unchanged(t, *reader, as_bytes("3"), as_bytes(value)).value());
        reader->rollback();
        const auto cleaner = engine.begin();
        for (const char* key : {"1", "3", "5"})
          INVARIANT(t.remove(*cleaner, as_bytes(key)).value());
        INVARIANT(cleaner->commit().has_value());
      }
    });
  });
}

TEST_CASE("a snapshot shows a synchronous commit when it is durable, whoever commits beside it",
          "[storage][isolation][simulation]") {
  std::size_t seen = 0;
  for_seeds(60, [&](std::uint64_t seed) {
    simulate(seed, [&](Engine& engine, TreeId tree) {
      constexpr int kWriters = 4;
      constexpr int kRounds = 6;
      // End of the log before the commit of each row; the commit record is at or after it.
      std::vector<std::uint64_t> begun(kWriters * kRounds, UINT64_MAX);
      int running = kWriters;
      const auto pause = [] {
        Runtime::current().sleep_until(Runtime::current().now() + std::chrono::microseconds{30});
      };
      std::vector<std::unique_ptr<Task>> tasks;
      for (int writer = 0; writer < kWriters; ++writer)
        tasks.push_back(Runtime::current().spawn("synchronous", [&, writer] {
          for (int round = 0; round < kRounds; ++round) {
            const int row = writer * kRounds + round;
            const auto transaction = engine.begin();
            insert(engine, tree, *transaction, row);
            begun[static_cast<std::size_t>(row)] = engine.statistics().log_tail;
            INVARIANT(transaction->commit().has_value());
          }
          --running;
        }));
      tasks.push_back(Runtime::current().spawn("asynchronous", [&] {
        for (int round = 0; running != 0; ++round) {
          {
            const auto transaction = engine.begin();
            insert(engine, tree, *transaction, 1000 + round);
            INVARIANT(transaction->commit(Transaction::Durability::asynchronous).has_value());
          }
          // The row is visible to all transactions at once.
          const auto reader = engine.begin();
          ValueBuffer value;
          const std::string own = "row " + std::to_string(1000 + round);
          INVARIANT(engine.tree(tree).value().get(*reader, as_bytes(own), value).value());
          pause();
        }
      }));
      tasks.push_back(Runtime::current().spawn("reader", [&] {
        while (running != 0) {
          const auto reader = engine.begin();
          reader->begin_statement();
          Tree t = engine.tree(tree).value();
          for (std::size_t row = 0; row < begun.size(); ++row) {
            ValueBuffer value;
            const std::string key = "row " + std::to_string(row);
            if (!t.get(*reader, as_bytes(key), value).value()) continue;
            ++seen;
            INVARIANT(engine.statistics().log_durable > begun[row]);
          }
          pause();
        }
      }));
      for (const auto& task : tasks) task->join();
    });
  });
  CHECK(seen > 0);
}

}  // namespace swizzle
