// Rows removed by one log record come back one by one, so a crash may find only some of them
// restored: in the middle of a rollback, and in the middle of the restart that completes it.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <optional>

#include "base/simulation/simulated_disk.h"
#include "base/simulation/simulation.h"
#include "storage/bulk_changes.h"
#include "storage/testing/database_home.h"
#include "storage/testing/temporary_engine.h"
#include "storage/txn/transaction_access.h"

namespace swizzle {
namespace {

using test::kHome;

std::string row_key(int number) {
  return fmt::format("row {:05}", number);
}

/// Removes rows; checks their values only if `value` is given.
void remove_all(const Tree& tree, Transaction& transaction, int rows,
                const std::optional<std::string>& value) {
  std::vector<std::string> keys;
  for (int i = 0; i < rows; ++i) keys.push_back(row_key(i));
  std::vector<Removal> removals;
  for (const std::string& key : keys) {
    removals.push_back({as_bytes(key), std::nullopt});
    if (value) removals.back().seen = as_bytes(*value);
  }
  for (std::span<const Removal> left{removals}; !left.empty();) {
    const std::size_t done = remove_first(tree, transaction, left).value();
    REQUIRE(done > 0);
    left = left.subspan(done);
  }
}

void insert_all(Tree tree, Transaction& transaction, int rows, const std::string& value) {
  for (int i = 0; i < rows; ++i)
    REQUIRE(tree.insert(transaction, as_bytes(row_key(i)), as_bytes(value)).value());
}

/// Returns options with so few pages and so little log that both are written continuously.
EngineOptions small_options() {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{64} * 8704;
  options.log_segment_bytes = std::uint64_t{256} << 10U;
  options.log_buffer_bytes = std::uint64_t{256} << 10U;
  return options;
}

constexpr int kManyRows = 900;
const std::string kLongValue(1000, 'v');

/// Creates a database that crashed while a transaction had removed everything.
TreeId lose_removals(SimulatedDisk& disk) {
  REQUIRE(Engine::create(disk, kHome, small_options()));
  REQUIRE(disk.sync_directory("/"));
  TreeId rows{};
  Simulation{1}.run([&] {
    const auto engine = Engine::open(disk, kHome, small_options()).value();
    const auto first = engine->begin();
    rows = engine->create_tree(*first).value();
    insert_all(engine->tree(rows).value(), *first, kManyRows, kLongValue);
    REQUIRE(first->commit());
    const auto loser = engine->begin();
    loser->begin_statement();
    remove_all(engine->tree(rows).value(), *loser, kManyRows, kLongValue);
    // A commit that makes the removals' log records durable.
    const auto other = engine->begin();
    REQUIRE(engine->tree(rows).value().insert(*other, as_bytes("other"), {}).value());
    REQUIRE(other->commit());
    disk.cut_power();
    Runtime::current().yield();
  });
  disk.crash(1);
  return rows;
}

/// Opens the database until the power is cut at the `cut`-th change of the disk (0: never).
Simulation::Outcome reopen(SimulatedDisk& disk, std::uint64_t cut, TreeId rows) {
  return Simulation{cut + 1}.run([&] {
    if (cut != 0) disk.cut_power_at(DiskOperation::change, cut);
    auto opened = Engine::open(disk, kHome, small_options());
    if (!opened) FAIL(opened.error().message());
    const std::unique_ptr<Engine> engine = std::move(*opened);
    const auto reader = engine->begin();
    Cursor cursor = engine->tree(rows).value().scan(*reader, {}).value();
    std::map<std::string, std::string> found;
    while (cursor.next().value()) found.emplace(as_text(cursor.key()), as_text(cursor.value()));
    REQUIRE(found.erase("other") == 1);
    CHECK(found.size() == kManyRows);
    for (const auto& [key, value] : found) REQUIRE(value == kLongValue);
    CHECK(engine->verify().value().empty());
  });
}

}  // namespace

TEST_CASE_METHOD(testing::TemporaryEngine,
                 "T18 a rollback that ended in the middle of a leaf goes on", "[storage][engine]") {
  constexpr int kRows = 12;
  const TreeId rows = make_tree();
  {
    const auto transaction = engine->begin();
    insert_all(engine->tree(rows).value(), *transaction, kRows, "old");
    REQUIRE(transaction->commit());
  }
  const int undone = GENERATE(1, 5, 11, 12);
  auto writer = engine->begin();
  writer->begin_statement();
  remove_all(engine->tree(rows).value(), *writer, kRows, "old");
  TransactionState& state = TransactionAccess::state(*writer);
  REQUIRE(state.undo->count() == kRows);
  state.undo_to(static_cast<std::uint64_t>(kRows - undone));
  {
    const auto other = engine->begin();
    REQUIRE(engine->tree(rows).value().insert(*other, as_bytes("other"), {}).value());
    REQUIRE(other->commit());
  }
  kill(std::move(writer));
  const auto reader = engine->begin();
  auto found = content(*reader, rows);
  CHECK(found.erase("other") == 1);
  CHECK(found.size() == kRows);
  for (const auto& [key, value] : found) CHECK(value == "old");
}

TEST_CASE("T19 a rollback that a power cut ended in the middle of a run goes on",
          "[storage][engine][crash]") {
  constexpr int kRows = 3000;
  EngineOptions options = small_options();
  options.log_buffer_bytes = std::uint64_t{64} << 10U;
  options.row_lock_limit = 0;
  int cuts = 0;
  for (std::uint64_t cut = 1; cut <= 20; ++cut) {
    INFO("the power went at change " << cut);
    SimulatedDisk disk{cut};
    REQUIRE(Engine::create(disk, kHome, options));
    REQUIRE(disk.sync_directory("/"));
    TreeId entries{};
    const auto ended = Simulation{cut}.run([&] {
      const auto engine = Engine::open(disk, kHome, options).value();
      const auto first = engine->begin();
      entries = engine->create_tree(*first).value();
      insert_all(engine->tree(entries).value(), *first, kRows, "");
      REQUIRE(first->commit());
      const auto loser = engine->begin();
      loser->begin_statement();
      ValueBuffer nothing;
      const Tree tree = engine->tree(entries).value();
      REQUIRE_FALSE(tree.get(*loser, as_bytes("nothing"), nothing).value());
      remove_all(tree, *loser, kRows, std::nullopt);
      REQUIRE(TransactionAccess::state(*loser).undo->count() < kRows / 20);
      disk.cut_power_at(DiskOperation::change, cut);
      loser->rollback();
    });
    cuts += ended == Simulation::Outcome::stopped;
    disk.crash(cut);
    Simulation{cut}.run([&] {
      const auto engine = Engine::open(disk, kHome, options).value();
      const auto reader = engine->begin();
      Cursor cursor = engine->tree(entries).value().scan(*reader, {}).value();
      int found = 0;
      while (cursor.next().value()) ++found;
      CHECK(found == kRows);
      CHECK(engine->verify().value().empty());
    });
  }
  CHECK(cuts > 5);
}

TEST_CASE("T18 a restart that ended in the middle of a leaf goes on, however often",
          "[storage][engine][crash]") {
  SimulatedDisk lost{1};
  const TreeId rows = lose_removals(lost);
  int cuts = 0;
  // Earlier changes of the disk belong to redo; by later ones undo has finished.
  for (std::uint64_t cut = 60; cut < 120; ++cut) {
    INFO("the power went at change " << cut);
    const auto disk = lost.copy(cut);
    if (reopen(*disk, cut, rows) == Simulation::Outcome::stopped) ++cuts;
    disk->crash(cut);
    // Cut once more during the rest.
    static_cast<void>(reopen(*disk, cut + 20, rows));
    disk->crash(cut + 1);
    REQUIRE(reopen(*disk, 0, rows) != Simulation::Outcome::stopped);
  }
  CHECK(cuts > 30);
}

}  // namespace swizzle
