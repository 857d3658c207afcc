#include <catch2/catch.hpp>
#include <fstream>

#include "base/memory/swapped_out.h"
#include "base/random.h"
#include "base/sanitizers.h"
#include "base/simulation/simulated_disk.h"
#include "storage/statistics.h"
#include "storage/testing/temporary_engine.h"

namespace swizzle {
namespace {

using testing::TemporaryEngine;

constexpr std::size_t kRows = 2000;

std::string row_key(std::size_t row) {
  return "row " + std::to_string(100'000 + row);
}

void fill(Engine& engine, TreeId tree) {
  const auto transaction = engine.begin();
  for (std::size_t row = 0; row < kRows; ++row)
    REQUIRE(engine.tree(tree)
                .value()
                .insert(*transaction, as_bytes(row_key(row)), as_bytes(std::string(200, 'o')))
                .value());
  REQUIRE(transaction->commit());
}

void update_all(Engine& engine, Transaction& transaction, TreeId tree, char with) {
  Tree into = engine.tree(tree).value();
  for (std::size_t row = 0; row < kRows; ++row)
    REQUIRE(
        into.update(transaction, as_bytes(row_key(row)), as_bytes(std::string(200, with))).value());
}

// Returns the bytes of this process's own memory. Pages of mapped files do not count: the system
// may take them away at any time, and their number depends on its read-ahead.
std::uint64_t own_bytes() {
  std::ifstream status{"/proc/self/statm"};
  std::uint64_t all = 0;
  std::uint64_t resident = 0;
  std::uint64_t of_files = 0;
  status >> all >> resident >> of_files;
  return (resident - of_files) * 4096;
}

EngineOptions small_undo() {
  EngineOptions options;
  options.pool_bytes = std::uint64_t{4} << 20U;
  options.log_segment_bytes = std::uint64_t{1} << 20U;
  options.log_buffer_bytes = std::uint64_t{1} << 20U;
  options.undo_memory_bytes = std::uint64_t{256} << 10U;
  return options;
}

class SpillingEngine : public TemporaryEngine {
 public:
  SpillingEngine() {
    close();
    options = small_undo();
    open();
    tree = make_tree();
    fill(*engine, tree);
  }
  [[nodiscard]] bool all_are(char with) {
    const auto reader = engine->begin();
    const auto rows = content(*reader, tree);
    return rows.size() == kRows && std::ranges::all_of(rows, [with](const auto& row) {
             return row.second == std::string(200, with);
           });
  }
  TreeId tree{};
};

}  // namespace

TEST_CASE_METHOD(SpillingEngine, "a transaction larger than its memory rolls back, bounded",
                 "[storage][undo]") {
  const auto transaction = engine->begin();
  update_all(*engine, *transaction, tree, 'a');
  [[maybe_unused]] const std::uint64_t before = own_bytes();
  // Writes 100 times 2000 undo records of 290 bytes.
  for (int round = 0; round < 100; ++round)
    update_all(*engine, *transaction, tree, static_cast<char>('b' + round % 20));
  const std::uint64_t spilled = engine->statistics().undo_spilled_bytes;
  REQUIRE(spilled > std::uint64_t{50} << 20U);
#ifndef SWIZZLE_ASAN
  REQUIRE(own_bytes() < before + (std::uint64_t{16} << 20U));
#endif
  // All files are nameless, so that none remains after a kill.
  for (const auto& entry : std::filesystem::directory_iterator(data))
    REQUIRE(entry.path().filename().native().find("scratch") == std::string::npos);
  REQUIRE(all_are('o'));
  transaction->rollback();
  REQUIRE(all_are('o'));
  REQUIRE(engine->verify().value().empty());
}

TEST_CASE_METHOD(SpillingEngine, "P37 versions that were spilled are found by old snapshots",
                 "[storage][undo]") {
  const auto old_reader = engine->begin(Isolation::repeatable_read);
  REQUIRE(get(*old_reader, tree, row_key(7)) == std::string(200, 'o'));
  const auto writer = engine->begin();
  for (char with = 'a'; with < 'e'; ++with) update_all(*engine, *writer, tree, with);
  const Transaction::Mark mark = writer->mark();
  const auto spilled = [this] { return engine->statistics().undo_spilled_bytes; };
  const std::uint64_t at_mark = spilled();
  REQUIRE(at_mark > 0);
  // Rolling back to a savepoint frees the undo records' space.
  for (int round = 0; round < 5; ++round) {
    update_all(*engine, *writer, tree, 'x');
    REQUIRE(writer->rollback_to(mark));
  }
  REQUIRE(spilled() - at_mark < (std::uint64_t{5} * kRows * 290) + (std::uint64_t{1} << 20U));
  REQUIRE(get(*writer, tree, row_key(7)) == std::string(200, 'd'));
  REQUIRE(all_are('o'));
  REQUIRE(writer->commit());
  REQUIRE(all_are('d'));
  const auto rows = content(*old_reader, tree);
  REQUIRE(rows.size() == kRows);
  for (const auto& [key, value] : rows) REQUIRE(value == std::string(200, 'o'));
}

TEST_CASE_METHOD(SpillingEngine, "P37 what was put away is read back by whoever needs it",
                 "[storage][undo]") {
  close();
  // Use stretches of a megabyte, for each of which it is known whether it is in memory.
  options.undo_memory_bytes = std::uint64_t{4} << 20U;
  open();
  REQUIRE_FALSE(swapped_out::any());
  const auto old_reader = engine->begin(Isolation::repeatable_read);
  REQUIRE(get(*old_reader, tree, row_key(7)) == std::string(200, 'o'));
  const auto update_much = [this](Transaction& transaction) {
    for (int round = 0; round < 24; ++round)
      update_all(*engine, transaction, tree, round % 2 == 0 ? 'a' : 'p');
  };
  {
    const auto writer = engine->begin();
    update_much(*writer);
    REQUIRE(swapped_out::any());
    // Read during the transaction, by scans and by key.
    REQUIRE(all_are('o'));
    for (std::size_t row = 0; row < kRows; row += 10)
      REQUIRE(get(*old_reader, tree, row_key(row)) == std::string(200, 'o'));
    update_much(*writer);
    REQUIRE(swapped_out::any());
    REQUIRE(writer->commit());
  }
  // After the transaction its versions stay for the old reader.
  for (std::size_t row = 5; row < kRows; row += 10)
    REQUIRE(get(*old_reader, tree, row_key(row)) == std::string(200, 'o'));
  const auto second = engine->begin();
  update_much(*second);
  REQUIRE(swapped_out::any());
  Tree into = engine->tree(tree).value();
  for (std::size_t row = 0; row < kRows; row += 3)
    REQUIRE(into.remove(*second, as_bytes(row_key(row))).value());
  second->rollback();
  REQUIRE(all_are('p'));
  const auto rows = content(*old_reader, tree);
  REQUIRE(rows.size() == kRows);
  for (const auto& [key, value] : rows) REQUIRE(value == std::string(200, 'o'));
  old_reader->rollback();
  REQUIRE(engine->verify().value().empty());
}

TEST_CASE_METHOD(SpillingEngine, "a large loser is undone after a kill", "[storage][undo]") {
  auto writer = engine->begin();
  for (char with = 'a'; with < 'h'; ++with) update_all(*engine, *writer, tree, with);
  {
    // Commits of another transaction make its log records durable.
    const auto other = engine->begin();
    REQUIRE(engine->tree(tree).value().insert(*other, as_bytes("z"), as_bytes("z")).value());
    REQUIRE(other->commit());
    const auto again = engine->begin();
    REQUIRE(engine->tree(tree).value().remove(*again, as_bytes("z")).value());
    REQUIRE(again->commit());
  }
  kill(std::move(writer));
  REQUIRE(all_are('o'));
}

TEST_CASE("a full disk under the undo records is 53100, and nothing has changed",
          "[storage][undo]") {
  SimulatedDisk disk;
  REQUIRE(Engine::create(disk, "/database", small_undo()));
  auto engine = Engine::open(disk, "/database", small_undo()).value();
  auto first = engine->begin();
  const TreeId tree = engine->create_tree(*first).value();
  REQUIRE(first->commit());
  fill(*engine, tree);
  auto writer = engine->begin();
  update_all(*engine, *writer, tree, 'a');
  // The fault is not injected into the log, for which a rollback would wait until it has room.
  disk.inject({.operation = DiskOperation::resize,
               .nth = 1,
               .times = 1000,
               .path_contains = "scratch",
               .error = ENOSPC});
  Result<bool> last{true};
  std::size_t row = 0;
  Tree into = engine->tree(tree).value();
  for (; last && row < 10 * kRows; ++row)
    last = into.update(*writer, as_bytes(row_key(row % kRows)), as_bytes(std::string(200, 'b')));
  REQUIRE_FALSE(last);
  REQUIRE(last.error().state() == sqlstate::disk_full);
  ValueBuffer value;
  REQUIRE(into.get(*writer, as_bytes(row_key((row - 1) % kRows)), value).value());
  REQUIRE(as_text(value.bytes()) == std::string(200, row - 1 < kRows ? 'a' : 'b'));
  writer->rollback();
  disk.clear_faults();
  auto reader = engine->begin();
  REQUIRE(into.get(*reader, as_bytes(row_key(0)), value).value());
  REQUIRE(as_text(value.bytes()) == std::string(200, 'o'));
  reader->rollback();
  REQUIRE(engine->verify().value().empty());
  writer.reset();
  reader.reset();
  first.reset();
  REQUIRE(engine->close());
}

}  // namespace swizzle
