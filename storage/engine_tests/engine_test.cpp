#include "storage/engine.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "storage/engine_parts.h"
#include "storage/statistics.h"
#include "storage/testing/temporary_engine.h"
#include "storage/txn/rows/overflow.h"
#include "storage/txn/transaction_access.h"

namespace swizzle {
using testing::TemporaryEngine;

TEST_CASE_METHOD(TemporaryEngine, "what is committed survives, what is not leaves no trace",
                 "[storage][engine]") {
  const TreeId tree = make_tree();
  {
    const auto transaction = engine->begin();
    Tree t = engine->tree(tree).value();
    REQUIRE(t.insert(*transaction, as_bytes("a"), as_bytes("1")).value());
    REQUIRE(t.insert(*transaction, as_bytes("b"), as_bytes("2")).value());
    REQUIRE_FALSE(t.insert(*transaction, as_bytes("a"), as_bytes("3")).value());
    REQUIRE(transaction->commit());
  }
  auto loser = engine->begin();
  Tree t = engine->tree(tree).value();
  REQUIRE(t.update(*loser, as_bytes("a"), as_bytes("changed")).value());
  REQUIRE(t.remove(*loser, as_bytes("b")).value());
  REQUIRE(t.insert(*loser, as_bytes("c"), as_bytes("new")).value());
  CHECK(get(*loser, tree, "a") == "changed");
  CHECK(get(tree, "a") == "1");
  CHECK(get(tree, "b") == "2");
  CHECK(get(tree, "c") == std::nullopt);

  SECTION("rollback") {
    loser->rollback();
  }
  SECTION("rollback by destruction") {
    loser.reset();
  }
  SECTION("crash") {
    // A later commit makes the open transaction's records durable.
    const TreeId other = make_tree();
    CHECK(raw(other) > raw(tree));
    // A killed process does not roll back.
    kill(std::move(loser));
  }
  CHECK(get(tree, "a") == "1");
  CHECK(get(tree, "b") == "2");
  CHECK(get(tree, "c") == std::nullopt);
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(TemporaryEngine, "a clean stop and start keeps everything", "[storage][engine]") {
  const TreeId tree = make_tree();
  std::map<std::string, std::string> model;
  std::mt19937_64 random(7);
  for (int round = 0; round < 40; ++round) {
    auto transaction = engine->begin();
    Tree t = engine->tree(tree).value();
    for (int i = 0; i < 100; ++i) {
      const std::string key = "key" + std::to_string(random() % 2000);
      const std::string value(random() % 200, 'v');
      if (random() % 3 == 0) {
        REQUIRE(t.remove(*transaction, as_bytes(key)).value() == (model.erase(key) == 1));
      } else if (model.contains(key)) {
        REQUIRE(t.update(*transaction, as_bytes(key), as_bytes(value)).value());
        model[key] = value;
      } else {
        REQUIRE(t.insert(*transaction, as_bytes(key), as_bytes(value)).value());
        model[key] = value;
      }
    }
    REQUIRE(transaction->commit());
    transaction.reset();
    if (round % 10 == 4) crash();
    if (round % 10 == 9) {
      close();
      open();
    }
    const auto reader = engine->begin();
    REQUIRE(content(*reader, tree) == model);
    REQUIRE(content(*reader, tree, Direction::backward) == model);
  }
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(TemporaryEngine, "readers see one state, and writers do not wait for them",
                 "[storage][engine][versions]") {
  const TreeId tree = make_tree();
  const auto write = [&](const char* value) {
    const auto transaction = engine->begin();
    Tree t = engine->tree(tree).value();
    if (!t.update(*transaction, as_bytes("k"), as_bytes(value)).value())
      REQUIRE(t.insert(*transaction, as_bytes("k"), as_bytes(value)).value());
    REQUIRE(transaction->commit());
  };
  write("old");
  const auto reader = engine->begin(Isolation::repeatable_read);
  CHECK(get(*reader, tree, "k") == "old");
  write("new");
  write("newer");
  CHECK(get(*reader, tree, "k") == "old");
  CHECK(get(tree, "k") == "newer");
  {
    const auto transaction = engine->begin();
    REQUIRE(engine->tree(tree).value().remove(*transaction, as_bytes("k")).value());
    REQUIRE(transaction->commit());
  }
  CHECK(get(*reader, tree, "k") == "old");
  CHECK(content(*reader, tree).size() == 1);
  CHECK(get(tree, "k") == std::nullopt);
  // The first updater wins.
  const auto late = engine->tree(tree).value().update(*reader, as_bytes("k"), as_bytes("late"));
  CHECK_FALSE(late.value_or(false));
  reader->rollback();
}

TEST_CASE_METHOD(TemporaryEngine, "versions of threads that have ended go",
                 "[storage][engine][versions]") {
  const TreeId tree = make_tree();
  const auto write = [&](const std::string& prefix, int rows) {
    const auto transaction = engine->begin();
    for (int i = 0; i < rows; ++i)
      REQUIRE(engine->tree(tree)
                  .value()
                  .insert(*transaction, as_bytes(prefix + std::to_string(i)), as_bytes("value"))
                  .value());
    REQUIRE(transaction->commit());
  };
  const auto reader = engine->begin(Isolation::repeatable_read);
  CHECK(get(*reader, tree, "k") == std::nullopt);
  std::thread{[&] { write("loaded", 20'000); }}.join();
  const std::uint64_t loaded = engine->statistics().version_bytes;
  REQUIRE(loaded > 20'000);
  reader->rollback();
  // Wait for the reclaimer.
  for (int i = 0; i < 1000 && engine->statistics().version_bytes > loaded / 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  CHECK(engine->statistics().version_bytes < loaded / 2);
}

TEST_CASE_METHOD(TemporaryEngine, "a queue's consumers do not walk over the ghosts of those before",
                 "[storage][engine][versions]") {
  const TreeId tree = make_tree();
  const auto key_of = [](int number) { return fmt::format("{:04}", number); };
  {
    const auto transaction = engine->begin();
    for (int i = 0; i < 400; ++i)
      REQUIRE(engine->tree(tree)
                  .value()
                  .insert(*transaction, as_bytes(key_of(i)), as_bytes(""))
                  .value());
    REQUIRE(transaction->commit());
  }
  // While there is a writer, recently changed rows are looked up among the versions.
  const auto writer = engine->begin();
  REQUIRE(engine->tree(tree).value().insert(*writer, as_bytes("new"), as_bytes("")).value());
  constexpr int kConsumed = 300;
  {
    const auto transaction = engine->begin();
    for (int i = 0; i < kConsumed; ++i)
      REQUIRE(engine->tree(tree).value().remove(*transaction, as_bytes(key_of(i))).value());
    REQUIRE(transaction->commit());
  }
  // Wait for the reclaimer.
  const std::uint64_t kept = engine->statistics().version_bytes;
  for (int i = 0; i < 1000 && engine->statistics().version_bytes > kept / 10; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  REQUIRE(engine->statistics().version_bytes <= kept / 10);
  const auto looks_for_the_first = [&] {
    const auto transaction = engine->begin();
    Cursor cursor = engine->tree(tree)
                        .value()
                        .scan(*transaction, {}, Direction::forward, ReadMode::for_update)
                        .value();
    REQUIRE(cursor.next().value());
    CHECK(as_text(cursor.key()) == key_of(kConsumed));
    return transaction->leaf_requests();
  };
  // The background tidier removes the ghosts beside the consumers. Two looks remain: the leaf, and
  // the locked row.
  std::uint64_t looks = looks_for_the_first();
  for (int i = 0; i < 1000 && looks != 2; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    looks = looks_for_the_first();
  }
  CHECK(looks == 2);
}

TEST_CASE_METHOD(TemporaryEngine, "a database without logging opens again once it was closed",
                 "[storage][engine]") {
  close();
  std::filesystem::remove_all(data);
  options.logging = false;
  REQUIRE(Engine::create(*files, data, options));
  open();
  const TreeId tree = make_tree();
  for (int round = 0; round < 3; ++round) {
    auto transaction = engine->begin();
    for (int i = 0; i < 2000; ++i)
      REQUIRE(
          engine->tree(tree)
              .value()
              .insert(*transaction, as_bytes(std::to_string(round * 2000 + i)), as_bytes("value"))
              .value());
    REQUIRE(transaction->commit());
    transaction.reset();
    REQUIRE(engine->checkpoint());
    close();
    open();
    CHECK(engine->verify().value().empty());
    const auto reader = engine->begin();
    CHECK(content(*reader, tree).size() == 2000U * (static_cast<unsigned>(round) + 1));
  }
}

TEST_CASE("a log whose segments are longer than what one write may reach opens again",
          "[storage][engine]") {
  // A restart after a crash zeroes that much after the log's end.
  TemporaryEngine database(std::uint64_t{16} << 20U);
  const TreeId tree = database.make_tree();
  database.crash();
  database.crash();
  CHECK(database.get(tree, "k") == std::nullopt);
}

TEST_CASE_METHOD(TemporaryEngine, "large values live in the overflow tree", "[storage][engine]") {
  const TreeId tree = make_tree();
  const std::string large(100'000, 'L');
  {
    const auto transaction = engine->begin();
    Tree t = engine->tree(tree).value();
    REQUIRE(t.insert(*transaction, as_bytes("big"), as_bytes(large)).value());
    REQUIRE(transaction->commit());
  }
  crash();
  CHECK(get(tree, "big") == large);
  {
    const auto transaction = engine->begin();
    const auto mark = transaction->mark();
    Tree t = engine->tree(tree).value();
    REQUIRE(t.update(*transaction, as_bytes("big"), as_bytes("small")).value());
    CHECK(get(*transaction, tree, "big") == "small");
    REQUIRE(transaction->rollback_to(mark));
    CHECK(get(*transaction, tree, "big") == large);
    REQUIRE(t.remove(*transaction, as_bytes("big")).value());
    REQUIRE(transaction->commit());
  }
  CHECK(get(tree, "big") == std::nullopt);
}

TEST_CASE_METHOD(TemporaryEngine, "a large value that misses a chunk is XX001, for all who want it",
                 "[storage][engine]") {
  const TreeId tree = make_tree();
  {
    const auto transaction = engine->begin();
    Tree t = engine->tree(tree).value();
    REQUIRE(t.insert(*transaction, as_bytes("big"), as_bytes(std::string(100'000, 'L'))).value());
    REQUIRE(t.insert(*transaction, as_bytes("other"), as_bytes(std::string(9000, 'o'))).value());
    REQUIRE(transaction->commit());
  }
  {
    const auto transaction = engine->begin();
    Tree chunks = engine->tree(kOverflowTree).value();
    std::vector<std::byte> third;
    {
      Cursor cursor = chunks.scan(*transaction, {}).value();
      for (int i = 0; i < 3; ++i) REQUIRE(cursor.next().value());
      third.assign(cursor.key().begin(), cursor.key().end());
    }
    REQUIRE(chunks.remove(*transaction, third).value());
    REQUIRE(transaction->commit());
  }
  const auto state_of = [](const auto& result) {
    REQUIRE_FALSE(result);
    return result.error().state();
  };
  Tree t = engine->tree(tree).value();
  ValueBuffer value;
  {
    const auto transaction = engine->begin();
    CHECK(state_of(t.get(*transaction, as_bytes("big"), value)) == sqlstate::data_corrupted);
  }
  {
    const auto transaction = engine->begin();
    CHECK(state_of(t.update(*transaction, as_bytes("big"), as_bytes("small"))) ==
          sqlstate::data_corrupted);
    transaction->rollback();
  }
  {
    const auto transaction = engine->begin();
    CHECK(state_of(t.remove(*transaction, as_bytes("big"))) == sqlstate::data_corrupted);
    transaction->rollback();
  }
  CHECK(get(tree, "other") == std::string(9000, 'o'));
}

TEST_CASE_METHOD(TemporaryEngine, "numbers of large values never repeat", "[storage][engine]") {
  const TreeId id = make_tree();
  const std::string value(5'000, 'L');
  const auto insert = [&](Transaction& transaction, const std::string& key) {
    REQUIRE(
        engine->tree(id).value().insert(transaction, as_bytes(key), as_bytes(value + key)).value());
  };
  // The last of a transaction's values for which 24 bits suffice, and the next ones; then values of
  // later transactions.
  const auto first = engine->begin();
  insert(*first, "a0");
  TransactionState& state = TransactionAccess::state(*first);
  state.large_values = (std::uint64_t{1} << 24U) - 1;
  for (const char* key : {"a1", "a2", "a3"}) insert(*first, key);
  REQUIRE(first->commit());
  for (const char* key : {"b0", "b1"}) {
    const auto next = engine->begin();
    insert(*next, key);
    insert(*next, std::string(key) + "x");
    REQUIRE(next->commit());
  }
  // The same for transaction numbers, which have 40 bits there.
  state.engine.registry->start_ids_at(TxnId{(std::uint64_t{1} << 40U) + 1});
  for (const char* key : {"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"}) {
    const auto next = engine->begin();
    insert(*next, key);
    REQUIRE(next->commit());
  }
  {
    const auto reader = engine->begin();
    for (const char* key : {"a0", "a1", "a2", "a3", "b0", "b0x", "b1", "b1x", "c0", "c7"})
      CHECK(get(*reader, id, key) == value + key);
    const auto remover = engine->begin();
    for (const char* key : {"a2", "c3"})
      REQUIRE(engine->tree(id).value().remove(*remover, as_bytes(key)).value());
    REQUIRE(remover->commit());
  }
  const auto last = engine->begin();
  insert(*last, "d0");
  TransactionAccess::state(*last).large_values = std::uint64_t{1} << 32U;
  const auto refused = engine->tree(id).value().insert(*last, as_bytes("d1"), as_bytes(value));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().state() == sqlstate::program_limit_exceeded);
}

TEST_CASE_METHOD(TemporaryEngine, "a tree's size is that of its pages", "[storage][engine]") {
  const TreeId empty = make_tree();
  const TreeId small_rows = make_tree();
  const TreeId large_rows = make_tree();
  const auto fill = [&](TreeId tree, int rows, std::size_t bytes) {
    const std::uint64_t before = engine->statistics().pages_allocated;
    const auto transaction = engine->begin();
    Tree t = engine->tree(tree).value();
    for (int i = 0; i < rows; ++i) {
      REQUIRE(t.insert(*transaction, as_bytes(fmt::format("{:06}", i)),
                       as_bytes(std::string(bytes, 'x')))
                  .value());
    }
    REQUIRE(transaction->commit());
    return engine->statistics().pages_allocated - before;
  };
  const std::uint64_t small_pages = fill(small_rows, 20'000, 200);
  const std::uint64_t large_pages = fill(large_rows, 20, 50'000);
  CHECK(engine->size_of(empty)->pages == 1);
  CHECK(engine->size_of(empty)->overflow_pages == 0);
  // The root existed before; leaves without an entry in their parent are not counted.
  const auto small_size = engine->size_of(small_rows).value();
  CHECK(small_size.pages <= small_pages + 1);
  CHECK(small_size.pages >= small_pages * 9 / 10);
  CHECK(small_size.overflow_pages == 0);
  const auto large_size = engine->size_of(large_rows).value();
  CHECK(large_size.pages == 1);
  CHECK(large_size.overflow_pages >= large_pages * 9 / 10);
  CHECK(large_size.overflow_pages <= large_pages);
}

TEST_CASE_METHOD(TemporaryEngine, "a page that is damaged on disk is rebuilt when it is read",
                 "[storage][engine]") {
  const TreeId tree = make_tree();
  {
    const auto transaction = engine->begin();
    Tree t = engine->tree(tree).value();
    for (int i = 0; i < 3000; ++i)
      REQUIRE(t.insert(*transaction, as_bytes(std::to_string(i)), as_bytes("value")).value());
    REQUIRE(transaction->commit());
  }
  close();
  {
    std::fstream file(data / "data", std::ios::in | std::ios::out | std::ios::binary);
    for (int page = 1; page < 20; ++page) {
      file.seekp(page * 8192 + 4000);
      file.write("damage", 6);
    }
  }
  open();
  const auto reader = engine->begin();
  CHECK(content(*reader, tree).size() == 3000);
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(TemporaryEngine, "P34 a statement that fails leaves the transaction usable",
                 "[storage][engine]") {
  const TreeId tree = make_tree();
  const auto transaction = engine->begin();
  Tree t = engine->tree(tree).value();
  transaction->begin_statement();
  REQUIRE(t.insert(*transaction, as_bytes("kept"), as_bytes("1")).value());
  transaction->begin_statement();
  const auto mark = transaction->mark();
  REQUIRE(t.insert(*transaction, as_bytes("gone"), as_bytes("2")).value());
  CHECK(get(*transaction, tree, "gone") == std::nullopt);  // its own statement does not see it
  REQUIRE(transaction->rollback_to(mark));
  transaction->begin_statement();
  CHECK(get(*transaction, tree, "kept") == "1");
  CHECK(get(*transaction, tree, "gone") == std::nullopt);
  REQUIRE(transaction->commit());
  CHECK(get(tree, "kept") == "1");
}

TEST_CASE_METHOD(TemporaryEngine, "ranges are the same in both directions, wherever they begin",
                 "[storage][engine]") {
  const TreeId tree = make_tree();
  Tree t = engine->tree(tree).value();
  const auto key = [](int number) { return "key " + std::to_string(10'000 + number); };
  constexpr int kRows = 600;
  {
    const auto transaction = engine->begin();
    for (int i = 0; i < kRows; ++i)
      REQUIRE(t.insert(*transaction, as_bytes(key(i)), as_bytes(std::string(300, 'v'))).value());
    REQUIRE(transaction->commit());
  }
  const auto isolation = GENERATE(Isolation::read_committed, Isolation::serializable);
  const auto reader = engine->begin(isolation);
  for (int low = 0; low < kRows; low += 7) {
    for (const int length : {1, 5, 30, 200}) {
      const std::string first = key(low);
      const std::string last = key(low + length);
      ScanRange range;
      range.low = as_bytes(first);
      range.high = as_bytes(last);
      for (const Direction direction : {Direction::forward, Direction::backward}) {
        int rows = 0;
        Cursor cursor = t.scan(*reader, range, direction).value();
        while (cursor.next().value()) ++rows;
        INFO("[" << low << ", +" << length << ")");
        CHECK(rows == std::min(length, kRows - low));
      }
    }
  }
}

}  // namespace swizzle
