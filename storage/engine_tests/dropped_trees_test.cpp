#include <catch2/catch.hpp>
#include <thread>

#include "storage/engine.h"
#include "storage/engine_parts.h"
#include "storage/statistics.h"
#include "storage/testing/temporary_engine.h"
#include "storage/txn/rows/overflow.h"
#include "storage/txn/transaction_access.h"

namespace swizzle {
using testing::TemporaryEngine;

TEST_CASE_METHOD(TemporaryEngine, "dropped trees give their pages back", "[storage][engine]") {
  const TreeId tree = make_tree();
  {
    const auto transaction = engine->begin();
    Tree t = engine->tree(tree).value();
    for (int i = 0; i < 5000; ++i)
      REQUIRE(t.insert(*transaction, as_bytes(std::to_string(i)), as_bytes("value")).value());
    REQUIRE(transaction->commit());
  }
  {
    const auto transaction = engine->begin();
    REQUIRE(engine->drop_tree(*transaction, tree));
    transaction->rollback();
  }
  CHECK(get(tree, "17") == "value");
  {
    // A reader may finish.
    const auto reader = engine->begin(Isolation::repeatable_read);
    Cursor cursor = engine->tree(tree).value().scan(*reader, {}).value();
    REQUIRE(cursor.next().value());
    const auto transaction = engine->begin();
    REQUIRE(engine->drop_tree(*transaction, tree));
    REQUIRE(transaction->commit());
    int rows = 1;
    while (cursor.next().value()) ++rows;
    CHECK(rows == 5000);
  }
  REQUIRE(engine->shrink());
  CHECK_FALSE(engine->tree(tree).has_value());
  const TreeId kept = make_tree();
  {
    // A drop that a rollback to an earlier mark has undone does not happen at commit.
    const auto transaction = engine->begin();
    Tree t = engine->tree(kept).value();
    REQUIRE(t.insert(*transaction, as_bytes("before"), as_bytes("value")).value());
    const auto mark = transaction->mark();
    REQUIRE(engine->drop_tree(*transaction, kept));
    REQUIRE(transaction->rollback_to(mark));
    REQUIRE(transaction->commit());
  }
  REQUIRE(engine->begin()->commit());
  CHECK(get(kept, "before") == "value");
  crash();
  CHECK(get(kept, "before") == "value");
  CHECK_FALSE(engine->tree(tree).has_value());
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(TemporaryEngine, "T5 a drop right behind a savepoint is taken back with it",
                 "[storage][engine]") {
  const TreeId tree = make_tree();
  const auto in_tree = [&](const auto& work) {
    const auto transaction = engine->begin();
    work(*transaction);
    REQUIRE(transaction->commit());
  };
  in_tree([&](Transaction& transaction) {
    REQUIRE(
        engine->tree(tree).value().insert(transaction, as_bytes("key"), as_bytes("value")).value());
  });
  in_tree([&](Transaction& transaction) {
    const Transaction::Mark before = transaction.mark();
    REQUIRE(engine->drop_tree(transaction, tree));
    REQUIRE(transaction.rollback_to(before));
  });
  CHECK(get(tree, "key") == "value");
  // The reaper of dropped trees has run.
  REQUIRE(engine->shrink());
  close();
  open();
  CHECK(get(tree, "key") == "value");
}

TEST_CASE_METHOD(TemporaryEngine, "a tree that somebody looks at stays until he has looked",
                 "[storage][engine]") {
  const TreeId id = make_tree();
  {
    const auto transaction = engine->begin();
    Tree tree = engine->tree(id).value();
    for (int i = 0; i < 200; ++i)
      REQUIRE(
          tree.insert(*transaction, as_bytes(std::to_string(i)), as_bytes(std::string(500, 'v')))
              .value());
    REQUIRE(transaction->commit());
  }
  const auto looker = engine->begin();
  TreeTable& trees = *TransactionAccess::state(*looker).engine.trees;
  const auto drop = [&] {
    const auto transaction = engine->begin();
    REQUIRE(engine->drop_tree(*transaction, id));
    REQUIRE(transaction->commit());
  };
  {
    const TreeTable::Hold hold(trees);
    AnyTree* const tree = trees.find(id).value();
    drop();
    CHECK(tree->verify().value().empty());
    CHECK(tree->pages().value().size() > 10);
  }
  CHECK(engine->size_of(id).value().pages > 0);
  // In the background.
  REQUIRE(engine->shrink());
  CHECK(engine->size_of(id).value().pages == 0);
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(TemporaryEngine, "a tree that the directory did not get leaves no page behind",
                 "[storage][engine]") {
  const TreeId other = make_tree();
  const auto pages = engine->statistics().pages_allocated;
  // A transaction that locks all records of the directory, and the gaps between, keeps new rows
  // out.
  const auto reader = engine->begin(Isolation::serializable);
  content(*reader, TreeId::directory);
  auto creator = engine->begin();

  SECTION("because of an error") {
    creator->set_lock_timeout(std::chrono::milliseconds{20});
    const auto created = engine->create_tree(*creator);
    REQUIRE_FALSE(created);
    CHECK(created.error().state() == sqlstate::lock_not_available);
    CHECK(engine->statistics().pages_allocated == pages);
    REQUIRE(creator->commit());
  }
  SECTION("because its creator may only read") {
    const auto only_reads = engine->begin(Isolation::read_committed, Access::read_only);
    CHECK_FALSE(engine->create_tree(*only_reads));
    CHECK(engine->statistics().pages_allocated == pages);
  }
  SECTION("because of a crash in between") {
    Engine& killed = *engine;
    Transaction& waiting = *creator;
    std::thread waits([&] { static_cast<void>(killed.create_tree(waiting)); });
    while (killed.statistics().lock_waits == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    CHECK(killed.statistics().pages_allocated == pages + 1);
    {
      // Makes the log durable up to here.
      const auto writer = killed.begin();
      Tree tree = killed.tree(other).value();
      REQUIRE(tree.insert(*writer, as_bytes("key"), as_bytes("value")).value());
      REQUIRE(writer->commit());
    }
    kill(std::move(creator));
    waiting.cancel();
    waits.join();
    CHECK(get(other, "key") == "value");
    CHECK(engine->statistics().pages_allocated == pages);
  }
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(TemporaryEngine, "dropped trees take their large values with them",
                 "[storage][engine]") {
  constexpr TreeId kLargeValues{1};
  const std::string large(50'000, 'L');
  const auto fill = [&](TreeId tree) {
    const auto transaction = engine->begin();
    Tree t = engine->tree(tree).value();
    for (int i = 0; i < 60; ++i)
      REQUIRE(t.insert(*transaction, as_bytes(std::to_string(i)), as_bytes(large)).value());
    REQUIRE(transaction->commit());
  };
  const auto chunks = [&] {
    const auto transaction = engine->begin();
    return content(*transaction, kLargeValues).size();
  };
  const TreeId kept = make_tree();
  fill(kept);
  const std::size_t chunks_kept = chunks();
  const TreeId dropped = make_tree();
  fill(dropped);
  REQUIRE(chunks() == 2 * chunks_kept);
  {
    const auto transaction = engine->begin();
    REQUIRE(engine->drop_tree(*transaction, dropped));
    REQUIRE(transaction->commit());
  }
  SECTION("in the background") {}
  SECTION("after a crash") {
    crash();
  }
  REQUIRE(engine->shrink());
  CHECK(chunks() == chunks_kept);
  CHECK(get(kept, "7") == large);
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(TemporaryEngine,
                 "T5 a drop of large values logs little, and visits each leaf once",
                 "[storage][engine]") {
  constexpr int kValues = 24;
  constexpr std::size_t kValueBytes = std::size_t{1} << 20U;
  constexpr std::uint64_t kAllBytes = kValues * kValueBytes;
  // Neighbours of the dropped tree's chunks on both sides.
  const auto fill = [&](int values) {
    const TreeId tree = make_tree();
    const auto transaction = engine->begin();
    Tree into = engine->tree(tree).value();
    for (int i = 0; i < values; ++i)
      REQUIRE(into.insert(*transaction, as_bytes(std::to_string(i)),
                          as_bytes(std::string(kValueBytes, 'L')))
                  .value());
    REQUIRE(transaction->commit());
    return tree;
  };
  const TreeId before = fill(1);
  const TreeId dropped = fill(kValues);
  const TreeId after = fill(1);
  const std::uint64_t pages = engine->statistics().pages_allocated;
  {
    const auto transaction = engine->begin();
    REQUIRE(engine->drop_tree(*transaction, dropped));
    REQUIRE(transaction->commit());
  }
  const EngineStatistics begun = engine->statistics();
  REQUIRE(engine->shrink());
  const EngineStatistics ended = engine->statistics();
  const std::uint64_t freed = pages - ended.pages_allocated;
  INFO(ended.log_tail - begun.log_tail << " bytes and " << ended.log_records - begun.log_records
                                       << " records of log, " << freed << " pages");
  CHECK(freed > kAllBytes / kPageBytes * 9 / 10);
  CHECK(ended.log_tail - begun.log_tail < kAllBytes / 10);
  CHECK(ended.log_records - begun.log_records < 6 * freed);
  CHECK(ended.pages_read - begun.pages_read < 2 * freed);
  for (const TreeId kept : {before, after}) CHECK(get(kept, "0")->size() == kValueBytes);
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(TemporaryEngine, "T5 a wait for dropped trees' pages ends when it is asked to",
                 "[storage][engine][waits]") {
  class Impatience final : public Overseer {
   public:
    void look() override {
      if (Runtime::current().now() > asked_at_) throw std::runtime_error{"end"};
    }

   private:
    TimePoint asked_at_ = Runtime::current().now() + std::chrono::milliseconds{50};
  };
  const TreeId tree = make_tree();
  const auto transaction = engine->begin();
  // Nothing is reaped meanwhile.
  const TreeReaper::Pause pause(*TransactionAccess::state(*transaction).engine.reaper);
  REQUIRE(engine->drop_tree(*transaction, tree));
  REQUIRE(transaction->commit());
  Impatience impatience;
  const OversightScope scope{impatience};
  CHECK(engine->shrink());
}

}  // namespace swizzle
