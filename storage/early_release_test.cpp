// Locks go before commits are durable; who comes after them must not be behind them.
#include <catch2/catch.hpp>

#include "base/invariant.h"
#include "base/seeded_runs.h"
#include "base/simulated_disk.h"
#include "base/simulation.h"
#include "storage/engine.h"
#include "storage/testing/database_home.h"

namespace swizzle {
namespace {

using test::kHome;
constexpr lock::RelationId kRelation{7};

/// Runs `body` over a fresh engine with one tree, with the seed's interleaving.
void simulate(std::uint64_t seed, const std::function<void(Engine&, TreeId)>& body) {
  SimulatedDisk disk{seed};
  EngineOptions options;
  options.pool_bytes = std::uint64_t{64} * 8704;
  options.log_segment_bytes = std::uint64_t{256} << 10U;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
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
        // Nobody can have come in between, so all that it did not see came after it.
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
  // It did come while commits were on their way to the disk.
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
            // Its own lock keeps everybody else from changing it.
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

}  // namespace swizzle
