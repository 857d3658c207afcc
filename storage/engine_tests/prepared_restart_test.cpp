// Prepared transactions across stops and crashes.
#include <catch2/catch.hpp>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "storage/bulk_changes.h"
#include "storage/testing/temporary_engine.h"

using namespace swizzle;
using namespace swizzle::testing;

namespace {

using Rows = std::map<std::string, std::string>;

/// A database with some rows, and the changes of transactions that will be prepared.
class Home : public TemporaryEngine {
 public:
  using TemporaryEngine::TemporaryEngine;

  void fill(TreeId tree, int rows) {
    const auto transaction = engine->begin();
    for (int i = 0; i < rows; ++i) put(*transaction, tree, key(i), "old " + std::to_string(i));
    REQUIRE(transaction->commit());
  }
  static std::string key(int number) {
    std::string digits = std::to_string(number);
    return "key " + std::string(6 - digits.size(), '0') + digits;
  }
  void put(Transaction& transaction, TreeId tree, const std::string& key,
           const std::string& value) {
    REQUIRE(engine->tree(tree).value().insert(transaction, as_bytes(key), as_bytes(value)).value());
  }
  void update(Transaction& transaction, TreeId tree, const std::string& key,
              const std::string& value) {
    REQUIRE(engine->tree(tree).value().update(transaction, as_bytes(key), as_bytes(value)).value());
  }
  void remove(Transaction& transaction, TreeId tree, const std::string& key) {
    REQUIRE(engine->tree(tree).value().remove(transaction, as_bytes(key)).value());
  }
  /// Rows that other transactions see.
  Rows rows(TreeId tree) {
    const auto transaction = engine->begin();
    return content(*transaction, tree);
  }
  /// Rows that the prepared transaction sees.
  Rows own_rows(const std::string& gid, TreeId tree) {
    const auto taken = engine->take_prepared(gid).value();
    taken->begin_statement();
    return content(*taken, tree);
  }
  /// Returns the SQLSTATE of the lock request, or "found" or "absent".
  std::string lock(TreeId tree, const std::string& key, ReadMode mode = ReadMode::for_update) {
    const auto transaction = engine->begin();
    ValueBuffer value;
    const auto found = engine->tree(tree).value().get(*transaction, as_bytes(key), value, mode,
                                                      WaitPolicy::no_wait);
    if (!found) return std::string{found.error().state().code()};
    return *found ? "found" : "absent";
  }
  std::string insert_beside(TreeId tree, const std::string& key) {
    const auto transaction = engine->begin();
    transaction->set_lock_timeout(std::chrono::milliseconds{20});
    const auto inserted =
        engine->tree(tree).value().insert(*transaction, as_bytes(key), as_bytes("other"));
    if (!inserted) return std::string{inserted.error().state().code()};
    return *inserted ? "inserted" : "there";
  }
  std::string lock_relation(lock::RelationMode mode) {
    const auto transaction = engine->begin();
    const auto locked = transaction->lock_relation(lock::RelationId{50}, mode, WaitPolicy::no_wait);
    return locked ? "locked" : std::string{locked.error().state().code()};
  }
  void finish(const std::string& gid, bool commits) {
    const auto taken = engine->take_prepared(gid).value();
    if (commits) {
      REQUIRE(taken->commit());
    } else {
      taken->rollback();
    }
  }
  void restart(bool closes) {
    if (closes) {
      close();
      open();
    } else {
      crash();
    }
  }
  void verify() { CHECK(engine->verify().value() == std::vector<std::string>{}); }
};

}  // namespace

TEST_CASE("A prepared transaction is there after a stop or a crash, and can be ended either way",
          "[storage][prepared][crash]") {
  const bool closes = GENERATE(false, true);
  const bool commits = GENERATE(false, true);
  const int restarts = GENERATE(1, 3);
  CAPTURE(closes, commits, restarts);
  Home in;
  const TreeId tree = in.make_tree();
  in.fill(tree, 200);
  const Rows before = in.rows(tree);
  Rows after = before;
  {
    const auto transaction = in.engine->begin();
    for (int i = 0; i < 200; i += 3) {
      // Change the end of a value, its middle, all of it, and several times.
      in.update(*transaction, tree, Home::key(i), "old and new");
      in.update(*transaction, tree, Home::key(i),
                after[Home::key(i)] = "new " + std::string(300, 'n'));
    }
    for (int i = 1; i < 200; i += 6) {
      in.remove(*transaction, tree, Home::key(i));
      after.erase(Home::key(i));
    }
    in.put(*transaction, tree, Home::key(1), after[Home::key(1)] = "once more");
    for (int i = 300; i < 320; ++i)
      in.put(*transaction, tree, Home::key(i), after[Home::key(i)] = "inserted");
    REQUIRE(transaction->lock_relation(lock::RelationId{50}, lock::RelationMode::row_exclusive));
    REQUIRE(transaction->prepare("one", as_bytes("the note")));
  }
  for (int i = 0; i < restarts; ++i) {
    in.restart(closes);
    const auto all = in.engine->prepared();
    REQUIRE(all.size() == 1);
    CHECK(all.front().gid == "one");
    CHECK(as_text(all.front().note) == "the note");
    CHECK(in.rows(tree) == before);
    CHECK(in.own_rows("one", tree) == after);
    for (const int changed : {0, 1, 7, 300}) CHECK(in.lock(tree, Home::key(changed)) == "55P03");
    CHECK(in.lock(tree, Home::key(2)) == "found");
    CHECK(in.insert_beside(tree, Home::key(301)) == "55P03");
    CHECK(in.insert_beside(tree, Home::key(400 + i)) == "inserted");
    CHECK(in.lock_relation(lock::RelationMode::share) == "55P03");
    CHECK(in.lock_relation(lock::RelationMode::row_share) == "locked");
  }
  in.finish("one", commits);
  CHECK(in.rows(tree) == (commits ? after : before));
  CHECK(in.lock(tree, Home::key(0)) == "found");
  CHECK(in.lock_relation(lock::RelationMode::access_exclusive) == "locked");
  in.restart(closes);
  CHECK(in.engine->prepared().empty());
  CHECK(in.rows(tree) == (commits ? after : before));
  in.verify();
}

TEST_CASE("What was only locked is locked after a restart, gaps as well",
          "[storage][prepared][crash]") {
  Home in;
  const TreeId tree = in.make_tree();
  in.fill(tree, 20);
  {
    const auto transaction = in.engine->begin(Isolation::serializable);
    ValueBuffer value;
    REQUIRE(in.get(*transaction, tree, Home::key(3), ReadMode::for_update));
    CHECK_FALSE(in.get(*transaction, tree, "key 000007x"));
    in.put(*transaction, tree, "key 000010x", "own");
    REQUIRE(transaction->prepare("one", {}));
    const auto sharer = in.engine->begin();
    REQUIRE(in.get(*sharer, tree, Home::key(15), ReadMode::for_key_share));
    REQUIRE(sharer->prepare("two", {}));
  }
  for (int i = 0; i < 2; ++i) {
    in.crash();
    CHECK(in.lock(tree, Home::key(3)) == "55P03");
    CHECK(in.insert_beside(tree, "key 000007y") == "55P03");
    CHECK(in.insert_beside(tree, "key 000004y") == "inserted");
    CHECK(in.lock(tree, Home::key(15)) == "55P03");
    CHECK(in.lock(tree, Home::key(15), ReadMode::for_no_key_update) == "found");
  }
  in.finish("one", false);
  in.finish("two", true);
  CHECK(in.insert_beside(tree, "key 000007y") == "inserted");
  CHECK(in.lock(tree, Home::key(3)) == "found");
}

TEST_CASE("A large prepared transaction marks its rows after a restart as before",
          "[storage][prepared][crash]") {
  const bool commits = GENERATE(false, true);
  Home in;
  in.close();
  in.options.row_lock_limit = 50;
  in.options.undo_memory_bytes = 20'000;
  in.open();
  const TreeId tree = in.make_tree();
  in.fill(tree, 600);
  const Rows before = in.rows(tree);
  Rows after = before;
  {
    const auto transaction = in.engine->begin();
    for (int i = 0; i < 600; i += 2)
      in.update(*transaction, tree, Home::key(i), after[Home::key(i)] = "new");
    for (int i = 1; i < 600; i += 10) {
      in.remove(*transaction, tree, Home::key(i));
      after.erase(Home::key(i));
    }
    REQUIRE(transaction->prepare("large", {}));
  }
  in.crash();
  CHECK(in.rows(tree) == before);
  CHECK(in.own_rows("large", tree) == after);
  for (const int changed : {0, 598, 1, 591}) CHECK(in.lock(tree, Home::key(changed)) == "55P03");
  CHECK(in.lock(tree, Home::key(598), ReadMode::for_key_share) == "found");
  CHECK(in.lock(tree, Home::key(3)) == "found");
  in.finish("large", commits);
  CHECK(in.rows(tree) == (commits ? after : before));
  CHECK(in.lock(tree, Home::key(598)) == "found");
  in.verify();
}

// Entries without values that are removed together are one undo record, but several changes in the
// log.
TEST_CASE("Entries that a prepared transaction has removed together are there for others",
          "[storage][prepared][crash]") {
  const bool commits = GENERATE(false, true);
  Home in;
  in.close();
  in.options.row_lock_limit = 5;
  in.open();
  const TreeId tree = in.make_tree();
  const TreeId entries = in.make_tree();
  in.fill(tree, 20);
  {
    const auto transaction = in.engine->begin();
    for (int i = 0; i < 400; ++i) in.put(*transaction, entries, Home::key(i), "");
    REQUIRE(transaction->commit());
  }
  const Rows before = in.rows(entries);
  Rows after = before;
  {
    const auto transaction = in.engine->begin();
    transaction->begin_statement();
    for (int i = 0; i < 10; ++i) in.update(*transaction, tree, Home::key(i), "new");
    REQUIRE(in.get(*transaction, tree, Home::key(15), ReadMode::for_update));
    REQUIRE(in.engine->tree(tree)
                .value()
                .move(*transaction, as_bytes(Home::key(15)), as_bytes("moved"), as_bytes("value"))
                .value());
    std::vector<std::string> keys;
    for (int i = 50; i < 350; ++i) keys.push_back(Home::key(i));
    std::vector<Removal> removals;
    for (const std::string& key : keys) removals.push_back({as_bytes(key), std::nullopt});
    const Tree of = in.engine->tree(entries).value();
    for (std::span<const Removal> left{removals}; !left.empty();) {
      const std::size_t done = remove_first(of, *transaction, left).value();
      REQUIRE(done != 0);
      left = left.subspan(done);
    }
    for (const std::string& key : keys) after.erase(key);
    CHECK(Engine::changed_keys(*transaction, entries).size() == 300);
    REQUIRE(transaction->prepare("runs", {}));
  }
  CHECK(in.rows(entries) == before);
  for (int i = 0; i < 2; ++i) {
    in.crash();
    CHECK(in.rows(entries) == before);
    CHECK(in.own_rows("runs", entries) == after);
    for (const int removed : {50, 200, 349}) CHECK(in.lock(entries, Home::key(removed)) == "55P03");
    CHECK(in.lock(entries, Home::key(350)) == "found");
  }
  const auto reader = in.engine->begin(Isolation::repeatable_read);
  reader->begin_statement();
  CHECK(in.get(*reader, tree, Home::key(15)) == "old 15");
  in.finish("runs", commits);
  Tree::KeyPath path;
  ValueBuffer to;
  CHECK(in.engine->tree(tree).value().trace(*reader, as_bytes(Home::key(15)), path, to) ==
        (commits ? Tree::Fate::moved : Tree::Fate::stays));
  CHECK(in.rows(entries) == (commits ? after : before));
  in.verify();
}

TEST_CASE("Who waits for a record that has moved follows it, also after a restart",
          "[storage][prepared][crash]") {
  Home in;
  const TreeId tree = in.make_tree();
  in.fill(tree, 5);
  {
    const auto transaction = in.engine->begin();
    REQUIRE(in.get(*transaction, tree, Home::key(2), ReadMode::for_update));
    REQUIRE(in.engine->tree(tree)
                .value()
                .move(*transaction, as_bytes(Home::key(2)), as_bytes("moved"), as_bytes("value"))
                .value());
    REQUIRE(transaction->prepare("one", {}));
  }
  in.crash();
  const auto reader = in.engine->begin(Isolation::repeatable_read);
  reader->begin_statement();
  CHECK(in.get(*reader, tree, Home::key(2)) == "old 2");
  in.finish("one", true);
  Tree::KeyPath path;
  ValueBuffer to;
  CHECK(in.engine->tree(tree).value().trace(*reader, as_bytes(Home::key(2)), path, to) ==
        Tree::Fate::moved);
  CHECK(as_text(to.bytes()) == "moved");
}

TEST_CASE("Trees that a prepared transaction made, dropped and loaded, over restarts",
          "[storage][prepared][crash]") {
  const bool commits = GENERATE(false, true);
  const bool closes = GENERATE(false, true);
  CAPTURE(commits, closes);
  Home in;
  const TreeId kept = in.make_tree();
  const TreeId dropped = in.make_tree();
  const TreeId blank = in.make_tree();
  in.fill(kept, 50);
  in.fill(dropped, 500);
  const Rows of_dropped = in.rows(dropped);
  TreeId made{};
  TreeId loaded{};
  Rows of_load;
  const std::string large(20'000, 'L');
  {
    const auto transaction = in.engine->begin();
    made = in.engine->create_tree(*transaction).value();
    in.put(*transaction, made, "in a new tree", large);
    in.update(*transaction, dropped, Home::key(7), "before it goes");
    REQUIRE(in.engine->drop_tree(*transaction, dropped));
    loaded = in.engine->create_tree(*transaction).value();
    for (const TreeId into : {loaded, blank}) {
      const auto load =
          in.engine->start_load(*transaction, into, Engine::Loadable::blank_tree).value();
      REQUIRE(load != nullptr);
      for (int i = 0; i < 2000; ++i) {
        const std::string value = i == 1000 ? large : "loaded";
        REQUIRE(load->add(as_bytes(Home::key(i)), as_bytes(value)).value());
        of_load[Home::key(i)] = value;
      }
      REQUIRE(load->finish());
    }
    in.update(*transaction, blank, Home::key(0), "and changed");
    // Both fail.
    const TreeId short_lived = in.engine->create_tree(*transaction).value();
    in.put(*transaction, short_lived, "k", "v");
    REQUIRE(in.engine->drop_tree(*transaction, short_lived));
    REQUIRE(transaction->prepare("trees", {}));
  }
  for (int i = 0; i < 2; ++i) {
    in.restart(closes);
    CHECK(in.rows(dropped) == of_dropped);
    CHECK(in.rows(blank).empty());
    CHECK(in.rows(loaded).empty());
    CHECK(in.own_rows("trees", loaded) == of_load);
    CHECK(in.insert_beside(blank, "k") == "55P03");
    CHECK(in.insert_beside(kept, "x" + std::to_string(i)) == "inserted");
  }
  in.finish("trees", commits);
  if (commits) {
    Rows of_blank = of_load;
    of_blank[Home::key(0)] = "and changed";
    CHECK(in.rows(loaded) == of_load);
    CHECK(in.rows(blank) == of_blank);
    CHECK(in.get(made, "in a new tree") == large);
  } else {
    CHECK(in.rows(dropped) == of_dropped);
    CHECK(in.rows(blank).empty());
    CHECK_FALSE(in.engine->tree(loaded));
    CHECK_FALSE(in.engine->tree(made));
    CHECK(in.insert_beside(blank, "k") == "inserted");
  }
  REQUIRE(in.engine->shrink());
  in.verify();
  in.restart(closes);
  CHECK(in.engine->tree(dropped).has_value() == !commits);
  if (commits) CHECK(in.rows(loaded) == of_load);
  in.verify();
}

TEST_CASE("Checkpoints keep what is prepared, and the log that its rollback needs",
          "[storage][prepared][crash]") {
  const bool commits = GENERATE(false, true);
  Home in(std::uint64_t{256} << 10U);
  const TreeId tree = in.make_tree();
  in.fill(tree, 100);
  const Rows before = in.rows(tree);
  {
    const auto transaction = in.engine->begin();
    for (int i = 0; i < 100; ++i) in.update(*transaction, tree, Home::key(i), "new");
    REQUIRE(transaction->prepare("one", {}));
  }
  // Other transactions log several segments.
  const TreeId other = in.make_tree();
  for (int round = 0; round < 6; ++round) {
    {
      const auto transaction = in.engine->begin();
      for (int i = 0; i < 100; ++i)
        in.put(*transaction, other, Home::key(round * 100 + i), std::string(4000, 'x'));
      REQUIRE(transaction->commit());
    }
    REQUIRE(in.engine->checkpoint());
    if (round % 2 == 1) in.crash();
  }
  CHECK(in.rows(tree) == before);
  in.finish("one", commits);
  for (int i = 0; i < 2; ++i) {
    CHECK(in.get(tree, Home::key(99)) == (commits ? "new" : "old 99"));
    in.crash();
  }
}

// Restart rebuilds the transaction's state from the log: it must equal the state before.
TEST_CASE("Prepared transactions of random changes survive restarts as a model says",
          "[storage][prepared][crash]") {
  for_seeds(20, [](std::uint64_t seed) {
    Random random{seed};
    Home in;
    in.close();
    in.options.row_lock_limit = random.one_in(2) ? 10 : 10'000;
    in.open();
    const TreeId tree = in.make_tree();
    in.fill(tree, 300);
    Rows before = in.rows(tree);
    Rows after = before;
    {
      const auto transaction = in.engine->begin();
      Tree of = in.engine->tree(tree).value();
      for (std::uint64_t steps = random.between(1, 300); steps > 0; --steps) {
        const auto mark = transaction->mark();
        const Rows at_mark = after;
        const std::string key = Home::key(static_cast<int>(random.below(400)));
        const std::string value(random.one_in(20) ? random.between(5000, 30'000) : random.below(90),
                                static_cast<char>('a' + random.below(26)));
        switch (random.below(4)) {
          case 0:
            REQUIRE(of.remove(*transaction, as_bytes(key)).value() == (after.erase(key) == 1));
            break;
          case 1:
            if (!after.contains(key) &&
                of.insert(*transaction, as_bytes(key), as_bytes(value)).value())
              after[key] = value;
            break;
          default:
            if (of.update(*transaction, as_bytes(key), as_bytes(value)).value()) after[key] = value;
        }
        if (random.one_in(10)) {
          REQUIRE(transaction->rollback_to(mark));
          after = at_mark;
        }
      }
      REQUIRE(transaction->prepare("random", {}));
    }
    for (std::uint64_t restarts = random.between(1, 3); restarts > 0; --restarts) {
      if (random.one_in(2)) REQUIRE(in.engine->checkpoint());
      in.restart(random.one_in(2));
      REQUIRE(in.rows(tree) == before);
      REQUIRE(in.own_rows("random", tree) == after);
    }
    const bool commits = random.one_in(2);
    in.finish("random", commits);
    REQUIRE(in.rows(tree) == (commits ? after : before));
    if (random.one_in(2)) in.restart(random.one_in(2));
    REQUIRE(in.rows(tree) == (commits ? after : before));
    in.verify();
  });
}
