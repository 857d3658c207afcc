// SERIALIZABLE by snapshot: what is marked stays marked, and what is marked is let go.
#include <catch2/catch.hpp>
#include <tuple>

#include "storage/engine_parts.h"
#include "storage/testing/temporary_engine.h"
#include "storage/txn/transaction_access.h"

namespace swizzle {

using testing::TemporaryEngine;

namespace {

std::string key_of(int number) {
  return "key " + std::to_string(1000 + number);
}

class Snapshots : public TemporaryEngine {
 public:
  Snapshots() : tree(make_tree()), rows(engine->tree(tree).value()) {
    write([&](Transaction& transaction) {
      for (int i = 0; i < 20; ++i)
        REQUIRE(rows.insert(transaction, as_bytes(key_of(i * 10)), as_bytes(std::string(100, 'v')))
                    .value());
    });
  }

  template <class Change>
  void write(Change change) {
    const auto transaction = engine->begin();
    change(*transaction);
    REQUIRE(transaction->commit());
  }
  std::unique_ptr<Transaction> begin() { return engine->begin(Isolation::serializable_snapshot); }
  int count(Transaction& transaction, const std::string& low, const std::string& high) {
    ScanRange range;
    range.low = as_bytes(low);
    range.high = as_bytes(high);
    Cursor cursor = rows.scan(transaction, range).value();
    int found = 0;
    while (cursor.next().value()) ++found;
    return found;
  }
  /// Splits and merges leaves on both sides of the key, and tidies them.
  void churn(int below) {
    for (int round = 0; round < 2; ++round) {
      write([&](Transaction& transaction) {
        for (int i = 0; i < 300; ++i)
          REQUIRE(rows.insert(transaction, as_bytes(key_of(below) + "/" + std::to_string(i)),
                              as_bytes(std::string(60, 'x')))
                      .value());
      });
      write([&](Transaction& transaction) {
        for (int i = 0; i < 300; ++i)
          REQUIRE(
              rows.remove(transaction, as_bytes(key_of(below) + "/" + std::to_string(i))).value());
      });
      const auto scanner = engine->begin();
      CHECK(content(*scanner, tree).size() == 19);
    }
  }

  TreeId tree;
  Tree rows;
};

}  // namespace

TEST_CASE_METHOD(Snapshots, "a marked gap stays marked while leaves are split and merged",
                 "[storage][isolation][serializable]") {
  write([&](Transaction& transaction) {
    REQUIRE(rows.remove(transaction, as_bytes(key_of(100))).value());
  });
  const std::string low = key_of(100);
  const std::string high = key_of(110);
  for (const std::string& phantom : {low, low + "1", key_of(105), key_of(109) + "z"}) {
    INFO(phantom);
    const auto reader = begin();
    CHECK(count(*reader, low, high) == 0);
    churn(20);
    churn(90);
    churn(150);
    const auto writer = begin();
    CHECK(get(*writer, tree, key_of(10)));
    // A key beside the gap's ends, by a transaction that is not serializable, splits it.
    REQUIRE(rows.insert(*writer, as_bytes(phantom), as_bytes("phantom")).value());
    REQUIRE(rows.update(*reader, as_bytes(key_of(10)), as_bytes("new")).value());
    REQUIRE(reader->commit());
    const auto committed = writer->commit();
    REQUIRE_FALSE(committed.has_value());
    CHECK(committed.error().state() == sqlstate::serialization_failure);
  }
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(Snapshots, "a marked gap stays marked when a leaf is cut in its middle",
                 "[storage][isolation][serializable]") {
  // The shortest separator near the middle would be "key 11", in the gap before key 1100.
  const auto [low, high, phantom] = GENERATE(
      std::tuple{"key 1095", "key 1100", "key 1099"}, std::tuple{"key 1095", "key 1100", "key 110"},
      std::tuple{"key 1096", "key 1097", "key 1096"}, std::tuple{"key 11", "key 1100", "key 11"});
  INFO(phantom);
  const auto reader = begin();
  CHECK(count(*reader, low, high) == 0);
  const auto insert_behind = [&](Transaction& transaction, int row, int number) {
    REQUIRE(rows.insert(transaction, as_bytes(key_of(row * 10 + 1 + number)),
                        as_bytes(std::string(400, 'x')))
                .value());
  };
  // As many bytes on either side, so that the leaf is cut between them.
  write([&](Transaction& transaction) {
    for (int number = 0; number < 40; ++number) {
      insert_behind(transaction, number % 8, number / 8);
      insert_behind(transaction, 18 - number % 8, number / 8);
    }
  });
  const auto writer = begin();
  CHECK(get(*writer, tree, key_of(10)));
  REQUIRE(rows.insert(*writer, as_bytes(phantom), as_bytes("phantom")).value());
  REQUIRE(rows.update(*reader, as_bytes(key_of(10)), as_bytes("new")).value());
  REQUIRE(reader->commit());
  const auto committed = writer->commit();
  REQUIRE_FALSE(committed.has_value());
  CHECK(committed.error().state() == sqlstate::serialization_failure);
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(Snapshots, "marks go when no transaction runs beside them",
                 "[storage][isolation][serializable]") {
  EngineParts& parts = TransactionAccess::state(*engine->begin()).engine;
  for (int round = 0; round < 50; ++round) {
    const auto one = begin();
    const auto two = begin();
    CHECK(count(*one, key_of(0), key_of(90)) == 9);
    CHECK(get(*two, tree, key_of(120)));
    CHECK_FALSE(get(*two, tree, key_of(121)));
    REQUIRE(rows.update(*one, as_bytes(key_of(150)), as_bytes("one")).value());
    CHECK_FALSE(parts.conflicts.marks().empty());
    REQUIRE(one->commit());
    if (round % 2 == 0)
      REQUIRE(two->commit());
    else
      two->rollback();
    CHECK(parts.conflicts.kept() < 4);
  }
  const auto last = begin();
  CHECK(get(*last, tree, key_of(0)));
  REQUIRE(last->commit());
  const auto end = begin();
  CHECK_FALSE(get(*end, tree, "none"));
  end->rollback();
  CHECK(parts.conflicts.marks().empty());
  CHECK(parts.conflicts.kept() == 0);
}

TEST_CASE_METHOD(Snapshots,
                 "a transaction that has failed with 40001 sees in its next try what it has missed",
                 "[storage][isolation][serializable]") {
  const auto level = GENERATE(Isolation::repeatable_read, Isolation::serializable_snapshot);
  for (int round = 0; round < 50; ++round) {
    const auto late = engine->begin(level);
    CHECK(get(*late, tree, key_of(10)));
    const auto other = engine->begin();
    REQUIRE(rows.update(*other, as_bytes(key_of(10)), as_bytes("other")).value());
    // It is not durable when its locks go.
    REQUIRE(other->commit_unforced());
    const auto failed = rows.update(*late, as_bytes(key_of(10)), as_bytes("late"));
    REQUIRE_FALSE(failed);
    CHECK(failed.error().state() == sqlstate::serialization_failure);
    late->rollback();
    const auto again = engine->begin(level);
    REQUIRE(rows.update(*again, as_bytes(key_of(10)), as_bytes("again")));
    REQUIRE(again->commit());
  }
}

TEST_CASE_METHOD(Snapshots, "a serializable scan of many keys marks the tree",
                 "[storage][isolation][serializable]") {
  write([&](Transaction& transaction) {
    for (int i = 0; i < 5000; ++i)
      REQUIRE(
          rows.insert(transaction, as_bytes("many " + std::to_string(10'000 + i)), as_bytes("m"))
              .value());
  });
  EngineParts& parts = TransactionAccess::state(*engine->begin()).engine;
  const auto reader = begin();
  CHECK(content(*reader, tree).size() == 5020);
  CHECK(parts.conflicts.marks().count() == 1);
  const auto writer = begin();
  CHECK(get(*writer, tree, key_of(10)));
  REQUIRE(rows.insert(*writer, as_bytes("zzz"), as_bytes("phantom")).value());
  REQUIRE(rows.update(*reader, as_bytes(key_of(10)), as_bytes("new")).value());
  REQUIRE(reader->commit());
  CHECK_FALSE(writer->commit());
}

}  // namespace swizzle
