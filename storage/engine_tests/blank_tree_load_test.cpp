// Bulk loads of trees that other transactions know.
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "base/random.h"
#include "storage/testing/temporary_engine.h"
#include "storage/testing/tree_loads.h"

namespace swizzle {

using testing::Content;
using testing::content_of;
using testing::kBlankTree;
using testing::key_of;
using testing::load;
using testing::TemporaryEngine;

TEST_CASE("a committed tree is loaded when it is blank and nobody is at it", "[storage][engine]") {
  TemporaryEngine db;
  const TreeId tree = db.make_tree();
  Tree handle = db.engine->tree(tree).value();
  const auto transaction = db.engine->begin();
  {
    // A transaction that has written there, or reads there at SERIALIZABLE, prevents the load.
    const auto other = db.engine->begin(Isolation::serializable);
    CHECK(db.content(*other, tree).empty());
    CHECK(db.engine->start_load(*transaction, tree, kBlankTree).value() == nullptr);
    other->rollback();
    const auto writer = db.engine->begin();
    REQUIRE(handle.insert(*writer, as_bytes("a"), as_bytes("1")).value());
    CHECK(db.engine->start_load(*transaction, tree, kBlankTree).value() == nullptr);
    writer->rollback();
  }
  // A ghost is left until the background tidier has removed it.
  bool becomes_blank = false;
  for (int i = 0; i < 1000 && !becomes_blank; ++i) {
    becomes_blank = db.engine->is_blank(tree).value();
    if (!becomes_blank) std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  CHECK(becomes_blank);
  const TreeId blank = db.make_tree();
  const auto old_reader = db.engine->begin(Isolation::repeatable_read);
  CHECK(db.content(*old_reader, blank).empty());
  load(*db.engine, *transaction, blank, content_of(3000));
  CHECK(db.content(*transaction, blank) == content_of(3000));
  {
    // Snapshot readers go on; writers and locking readers are kept out.
    const auto other = db.engine->begin();
    CHECK(db.content(*other, blank).empty());
    CHECK_FALSE(db.get(*other, blank, key_of(7)));
    other->set_lock_timeout(Duration{1'000'000});
    Tree rows = db.engine->tree(blank).value();
    const auto inserted = rows.insert(*other, as_bytes("a"), as_bytes("1"));
    REQUIRE_FALSE(inserted.has_value());
    CHECK(inserted.error().state() == sqlstate::lock_not_available);
    ValueBuffer value;
    CHECK_FALSE(rows.get(*other, as_bytes(key_of(7)), value, ReadMode::for_share).has_value());
  }
  REQUIRE(transaction->commit());
  CHECK(db.content(*old_reader, blank).empty());
  CHECK(db.content(*old_reader, blank, Direction::backward).empty());
  const auto reader = db.engine->begin();
  CHECK(db.content(*reader, blank) == content_of(3000));
  CHECK(db.engine->verify().value() == std::vector<std::string>{});
}

TEST_CASE("a snapshot older than a load sees its own rows in the tree, and no others",
          "[storage][engine]") {
  TemporaryEngine db;
  const TreeId tree = db.make_tree();
  const auto old = db.engine->begin(Isolation::repeatable_read);
  CHECK(db.content(*old, tree).empty());
  const auto loader = db.engine->begin();
  load(*db.engine, *loader, tree, content_of(300));
  REQUIRE(loader->commit());
  old->begin_statement();
  Tree handle = db.engine->tree(tree).value();
  REQUIRE(handle.insert(*old, as_bytes("key/1"), as_bytes("own")).value());
  REQUIRE(handle.insert(*old, as_bytes("key/2"), as_bytes("own")).value());
  CHECK_FALSE(handle.insert(*old, as_bytes(key_of(8)), as_bytes("not new")).value());
  old->begin_statement();
  CHECK(db.content(*old, tree) == Content{{"key/1", "own"}, {"key/2", "own"}});
  REQUIRE(handle.update(*old, as_bytes("key/1"), as_bytes("changed")).value());
  REQUIRE(handle.remove(*old, as_bytes("key/2")).value());
  CHECK(db.content(*old, tree) == Content{{"key/1", "own"}, {"key/2", "own"}});
  old->begin_statement();
  CHECK(db.content(*old, tree) == Content{{"key/1", "changed"}});
  CHECK(db.get(*old, tree, "key/1") == "changed");
  CHECK_FALSE(db.get(*old, tree, key_of(8)));
  REQUIRE(old->commit());
  const auto reader = db.engine->begin();
  CHECK(db.content(*reader, tree).size() == 301);
}

TEST_CASE("a key that was asked for in the middle of a load is found where the load has put it",
          "[storage][engine]") {
  TemporaryEngine db;
  const TreeId tree = db.make_tree();
  const auto loader = db.engine->begin();
  const auto loading = db.engine->start_load(*loader, tree, kBlankTree).value();
  const auto reader = db.engine->begin();
  Tree rows = db.engine->tree(tree).value();
  const Content content = content_of(3000);
  const std::string last = content.rbegin()->first;
  const std::array<Bytes, 1> keys{as_bytes(last)};
  std::size_t added = 0;
  for (const auto& [key, value] : content) {
    // The rightmost leaf accepts any key until there is another one after it.
    if (++added == content.size() / 2) rows.prefetch(*reader, keys);
    REQUIRE(loading->add(as_bytes(key), as_bytes(value)).value());
  }
  REQUIRE(loading->finish().has_value());
  REQUIRE(loader->commit());
  CHECK(db.get(*reader, tree, last) == content.rbegin()->second);
}

TEST_CASE("a kill in the middle of a load of a committed tree leaves it empty",
          "[storage][engine][crash]") {
  const bool finished = GENERATE(false, true);
  TemporaryEngine db;
  const TreeId kept = db.make_tree();
  const TreeId tree = db.make_tree();
  auto transaction = db.engine->begin();
  const auto loading = db.engine->start_load(*transaction, tree, kBlankTree).value();
  for (const auto& [key, value] : content_of(6000))
    REQUIRE(loading->add(as_bytes(key), as_bytes(value)).value());
  if (finished) {
    REQUIRE(loading->finish().value() == 6000);
    Tree handle = db.engine->tree(tree).value();
    for (std::uint64_t i = 0; i < 300; ++i)
      REQUIRE(handle.insert(*transaction, as_bytes(key_of(i) + "+"), as_bytes("more")).value());
  }
  {
    const auto other = db.engine->begin();
    REQUIRE(db.engine->tree(kept).value().insert(*other, as_bytes("k"), as_bytes("v")).value());
    REQUIRE(other->commit());
  }
  db.kill(std::move(transaction));
  {
    const auto reader = db.engine->begin();
    CHECK(db.content(*reader, tree).empty());
  }
  CHECK(db.get(kept, "k") == "v");
  CHECK(db.engine->verify().value() == std::vector<std::string>{});
  const auto again = db.engine->begin();
  load(*db.engine, *again, tree, content_of(10));
  REQUIRE(again->commit());
}

TEST_CASE("who reads a tree while it is loaded, emptied and loaded again sees nothing or all",
          "[storage][engine][stress]") {
  TemporaryEngine db;
  const TreeId tree = db.make_tree();
  const Content content = content_of(4000);
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> reads{0};
  std::atomic<std::uint64_t> torn{0};
  const auto read = [&](std::uint64_t seed) {
    Random random{seed};
    Tree handle = db.engine->tree(tree).value();
    ValueBuffer value;
    while (!done.load()) {
      const auto transaction = db.engine->begin();
      transaction->begin_statement();
      const bool expected = handle.get(*transaction, as_bytes(key_of(0)), value).value();
      for (int i = 0; i < 20; ++i) {
        const std::string key = key_of(random.below(4000));
        torn += handle.get(*transaction, as_bytes(key), value).value() == expected ? 0U : 1U;
      }
      const auto direction = random.one_in(2) ? Direction::forward : Direction::backward;
      Cursor cursor = handle.scan(*transaction, {}, direction).value();
      std::uint64_t rows = 0;
      while (cursor.next().value()) ++rows;
      torn += rows == (expected ? content.size() : 0) ? 0U : 1U;
      ++reads;
    }
  };
  std::thread first{read, 1};
  std::thread second{read, 2};
  for (int round = 0; round < 25; ++round) {
    const auto transaction = db.engine->begin();
    load(*db.engine, *transaction, tree, content);
    if (round == 24) {
      REQUIRE(transaction->commit());
    } else {
      transaction->rollback();
    }
  }
  const std::uint64_t before = reads.load();
  while (reads.load() < before + 4) std::this_thread::yield();
  done = true;
  first.join();
  second.join();
  CHECK(torn.load() == 0);
  CHECK(db.engine->verify().value() == std::vector<std::string>{});
}

}  // namespace swizzle
