#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <random>
#include <thread>

#include "storage/testing/temporary_engine.h"

namespace swizzle {

using testing::TemporaryEngine;

namespace {

std::string account(int number) {
  return "account " + std::to_string(1000 + number);
}

std::int64_t number_in(const ValueBuffer& value) {
  return std::stoll(std::string(as_text(value.bytes())));
}

/// Runs `body` until it commits; repeats it after deadlocks and serialization failures.
template <class Body>
void until_committed(Engine& engine, Isolation isolation, Body body) {
  while (true) {
    const auto transaction = engine.begin(isolation);
    Result<> done = body(*transaction);
    if (done) done = transaction->commit();
    if (done) return;
    const SqlState state = done.error().state();
    INVARIANT(state == sqlstate::deadlock_detected || state == sqlstate::serialization_failure);
    transaction->rollback();
  }
}

Result<std::int64_t> balance(Tree& tree, Transaction& transaction, int number, ReadMode mode) {
  ValueBuffer value;
  ASSIGN_OR_RETURN(const bool found, tree.get(transaction, as_bytes(account(number)), value, mode));
  INVARIANT(found);
  return number_in(value);
}

Result<> set_balance(Tree& tree, Transaction& transaction, int number, std::int64_t to) {
  ASSIGN_OR_RETURN(const bool found, tree.update(transaction, as_bytes(account(number)),
                                                 as_bytes(std::to_string(to))));
  INVARIANT(found);
  return {};
}

class Bank : public TemporaryEngine {
 public:
  static constexpr int kAccounts = 200;
  static constexpr std::int64_t kEach = 100;

  Bank() : tree(make_tree()) {
    const auto transaction = engine->begin();
    Tree t = engine->tree(tree).value();
    for (int i = 0; i < kAccounts; ++i)
      REQUIRE(
          t.insert(*transaction, as_bytes(account(i)), as_bytes(std::to_string(kEach))).value());
    REQUIRE(transaction->commit());
  }
  void transfer(std::mt19937_64& random, Isolation isolation) {
    std::uniform_int_distribution<int> any(0, kAccounts - 1);
    const int from = any(random);
    const int to = (from + 1 + any(random) % (kAccounts - 1)) % kAccounts;
    Tree t = engine->tree(tree).value();
    until_committed(*engine, isolation, [&](Transaction& transaction) -> Result<> {
      ASSIGN_OR_RETURN(const auto a, balance(t, transaction, from, ReadMode::for_update));
      RETURN_IF_ERROR(set_balance(t, transaction, from, a - 7));
      ASSIGN_OR_RETURN(const auto b, balance(t, transaction, to, ReadMode::for_update));
      return set_balance(t, transaction, to, b + 7);
    });
  }
  std::int64_t sum(Isolation isolation, Direction direction) {
    std::int64_t total = 0;
    until_committed(*engine, isolation, [&](Transaction& transaction) -> Result<> {
      total = 0;
      transaction.begin_statement();
      ASSIGN_OR_RETURN(Tree t, engine->tree(tree));
      ASSIGN_OR_RETURN(Cursor cursor, t.scan(transaction, {}, direction));
      while (true) {
        ASSIGN_OR_RETURN(const bool more, cursor.next());
        if (!more) return {};
        total += std::stoll(std::string(as_text(cursor.value())));
      }
    });
    return total;
  }
  TreeId tree;
};

}  // namespace

TEST_CASE_METHOD(Bank, "P36 every sum is whole while transfers commit, at every level",
                 "[storage][isolation]") {
  const auto isolation = GENERATE(Isolation::read_committed, Isolation::repeatable_read,
                                  Isolation::serializable, Isolation::serializable_snapshot);
  std::atomic<bool> stop{false};
  std::atomic<int> transfers{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      std::mt19937_64 random(i);
      while (!stop) {
        transfer(random, isolation);
        ++transfers;
      }
    });
  for (int i = 0; i < 40 || transfers < 100; ++i)
    CHECK(sum(isolation, i % 2 == 0 ? Direction::forward : Direction::backward) ==
          kAccounts * kEach);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(engine->verify().value().empty());
}

TEST_CASE_METHOD(Bank, "P39 no update is lost", "[storage][isolation]") {
  const auto isolation = GENERATE(Isolation::read_committed, Isolation::repeatable_read,
                                  Isolation::serializable, Isolation::serializable_snapshot);
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      Tree t = engine->tree(tree).value();
      for (int round = 0; round < kRounds; ++round)
        until_committed(*engine, isolation, [&](Transaction& transaction) -> Result<> {
          ASSIGN_OR_RETURN(const auto now, balance(t, transaction, 5, ReadMode::for_update));
          return set_balance(t, transaction, 5, now + 1);
        });
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(get(tree, account(5)) == std::to_string(kEach + kThreads * kRounds));
}

TEST_CASE_METHOD(TemporaryEngine, "P7 a serializable scan sees no phantom",
                 "[storage][isolation]") {
  const TreeId tree = make_tree();
  Tree t = engine->tree(tree).value();
  {
    const auto transaction = engine->begin();
    for (int i = 0; i < 400; i += 2)
      REQUIRE(t.insert(*transaction, as_bytes(account(i)), as_bytes(std::string(60, 'v'))).value());
    REQUIRE(transaction->commit());
  }
  const auto reader = engine->begin(Isolation::serializable);
  const auto count = [&] { return content(*reader, tree).size(); };
  CHECK(count() == 200);

  // Its own inserts split the gaps and the leaves.
  for (int i = 1; i < 400; i += 8)
    REQUIRE(t.insert(*reader, as_bytes(account(i)), as_bytes(std::string(200, 'o'))).value());
  const std::size_t with_own = count();
  CHECK(with_own == 250);

  const auto writer = engine->begin();
  writer->set_lock_timeout(std::chrono::milliseconds{20});
  for (const int i : {3, 5, 155, 157, 251, 397}) {
    const auto inserted = t.insert(*writer, as_bytes(account(i)), as_bytes("phantom"));
    REQUIRE_FALSE(inserted.has_value());
    CHECK(inserted.error().state() == sqlstate::lock_not_available);
  }
  const auto removed = t.remove(*writer, as_bytes(account(100)));
  CHECK_FALSE(removed.has_value());
  CHECK(count() == with_own);
  writer->rollback();
  REQUIRE(reader->commit());
  const auto after = engine->begin();
  CHECK(t.insert(*after, as_bytes(account(3)), as_bytes("no phantom")).value());
  REQUIRE(after->commit());
}

TEST_CASE_METHOD(TemporaryEngine, "write skew: allowed at REPEATABLE READ, not at SERIALIZABLE",
                 "[storage][isolation]") {
  const TreeId tree = make_tree();
  Tree t = engine->tree(tree).value();
  {
    const auto transaction = engine->begin();
    REQUIRE(t.insert(*transaction, as_bytes("a"), as_bytes("1")).value());
    REQUIRE(t.insert(*transaction, as_bytes("b"), as_bytes("1")).value());
    REQUIRE(transaction->commit());
  }
  const auto isolation = GENERATE(Isolation::repeatable_read, Isolation::serializable);
  const auto one = engine->begin(isolation);
  const auto two = engine->begin(isolation);
  for (Transaction* transaction : {one.get(), two.get()}) {
    transaction->set_lock_timeout(std::chrono::milliseconds{20});
    CHECK(get(*transaction, tree, "a") == "1");
    CHECK(get(*transaction, tree, "b") == "1");
  }
  const bool first = t.update(*one, as_bytes("a"), as_bytes("0")).has_value();
  const bool second = t.update(*two, as_bytes("b"), as_bytes("0")).has_value();
  CHECK((first && second) == (isolation == Isolation::repeatable_read));
  one->rollback();
  two->rollback();
}

TEST_CASE_METHOD(TemporaryEngine,
                 "P38 a row that was removed and came back is seen once by an old snapshot",
                 "[storage][isolation]") {
  const TreeId tree = make_tree();
  Tree t = engine->tree(tree).value();
  const auto write = [&](auto change) {
    const auto transaction = engine->begin();
    change(*transaction);
    REQUIRE(transaction->commit());
  };
  write([&](Transaction& transaction) {
    for (int i = 0; i < 100; ++i)
      REQUIRE(t.insert(transaction, as_bytes(account(i)), as_bytes("old")).value());
  });
  const auto reader = engine->begin(Isolation::repeatable_read);
  const auto before = content(*reader, tree);
  write([&](Transaction& transaction) {
    for (int i = 0; i < 100; ++i) REQUIRE(t.remove(transaction, as_bytes(account(i))).value());
  });
  write([&](Transaction& transaction) {
    for (int i = 0; i < 100; i += 3)
      REQUIRE(t.insert(transaction, as_bytes(account(i)), as_bytes("new")).value());
  });
  // Insert enough rows between them that the leaves split, and that ghosts would be removed if they
  // could.
  write([&](Transaction& transaction) {
    for (int i = 0; i < 2000; ++i)
      REQUIRE(t.insert(transaction, as_bytes(account(i % 100) + "/" + std::to_string(i)),
                       as_bytes(std::string(50, 'x')))
                  .value());
  });
  CHECK(content(*reader, tree) == before);
  CHECK(content(*reader, tree, Direction::backward) == before);
  reader->rollback();
  const auto fresh = engine->begin();
  CHECK(content(*fresh, tree).size() == 2000 + 34);
}

TEST_CASE_METHOD(TemporaryEngine, "P8 an insert that waits for a key is done once, or refused",
                 "[storage][isolation]") {
  const TreeId tree = make_tree();
  Tree t = engine->tree(tree).value();
  enum class First : std::uint8_t { commits, rolls_back, only_looks };
  const First first = GENERATE(First::commits, First::rolls_back, First::only_looks);
  const auto holder = engine->begin(first == First::only_looks ? Isolation::serializable
                                                               : Isolation::read_committed);
  if (first == First::only_looks)
    CHECK_FALSE(get(*holder, tree, "key"));
  else
    REQUIRE(t.insert(*holder, as_bytes("key"), as_bytes("first")).value());
  std::optional<bool> inserted;
  std::thread waiter{[&] {
    const auto transaction = engine->begin();
    inserted = t.insert(*transaction, as_bytes("key"), as_bytes("second")).value();
    INVARIANT(transaction->commit().has_value());
  }};
  while (std::ranges::none_of(engine->locks(), [](const lock::LockRow& row) {
    return row.state == lock::LockRow::State::waiting;
  }))
    std::this_thread::yield();
  // a row without a commit is not visible.
  CHECK_FALSE(get(tree, "key"));
  if (first == First::commits)
    REQUIRE(holder->commit());
  else
    holder->rollback();
  waiter.join();
  CHECK(inserted == (first != First::commits));
  CHECK(get(tree, "key") == (first == First::commits ? "first" : "second"));
  const auto reader = engine->begin();
  CHECK(content(*reader, tree).size() == 1);
}

TEST_CASE_METHOD(TemporaryEngine, "a key that is kept may change what stands under it",
                 "[storage][isolation]") {
  const TreeId rows = make_tree();
  Tree tree = engine->tree(rows).value();
  const auto first = engine->begin();
  REQUIRE(tree.insert(*first, as_bytes("a"), as_bytes("old")).value());
  REQUIRE(first->commit());
  ValueBuffer value;
  const auto writer = engine->begin();
  REQUIRE(tree.update(*writer, as_bytes("a"), as_bytes("new")).value());
  for (const Isolation level : {Isolation::read_committed, Isolation::repeatable_read}) {
    const auto reader = engine->begin(level);
    // An uncommitted change is not visible to others, and does not make them wait.
    CHECK(get(*reader, rows, "a", ReadMode::for_key_share) == "old");
    CHECK_FALSE(tree.get(*reader, as_bytes("a"), value, ReadMode::for_share, WaitPolicy::no_wait));
  }
  const auto keeper = engine->begin();
  REQUIRE(get(*keeper, rows, "a", ReadMode::for_key_share) == "old");
  CHECK(get(*writer, rows, "a", ReadMode::for_key_share) == "new");
  REQUIRE(writer->commit());
  CHECK(get(*keeper, rows, "a", ReadMode::for_key_share) == "new");
  const auto remover = engine->begin();
  remover->set_lock_timeout(std::chrono::milliseconds{5});
  CHECK_FALSE(tree.remove(*remover, as_bytes("a")));
  REQUIRE(remover->rollback_to({}));
  CHECK(tree.update(*remover, as_bytes("a"), as_bytes("newer")).value());
  REQUIRE(remover->commit());
  // A newer version than the snapshot's is no conflict for a reader that only keeps the key.
  CHECK(get(*keeper, rows, "a", ReadMode::for_key_share) == "newer");
}

TEST_CASE_METHOD(TemporaryEngine, "P9 a ghost that somebody has locked stays, and so does its gap",
                 "[storage][isolation]") {
  const TreeId tree = make_tree();
  Tree t = engine->tree(tree).value();
  const auto write = [&](auto change) {
    const auto transaction = engine->begin();
    change(*transaction);
    REQUIRE(transaction->commit());
  };
  write([&](Transaction& transaction) {
    for (int i = 0; i < 20; ++i)
      REQUIRE(t.insert(transaction, as_bytes(account(i * 10)), as_bytes(std::string(100, 'v')))
                  .value());
  });
  write([&](Transaction& transaction) {
    REQUIRE(t.remove(transaction, as_bytes(account(100))).value());
  });
  // Its locks on the ghost and the gaps around it protect the fact that the row does not exist.
  const auto reader = engine->begin(Isolation::serializable);
  ScanRange range;
  const std::string low = account(100);
  const std::string high = account(110);
  range.low = as_bytes(low);
  range.high = as_bytes(high);
  const auto rows = [&] {
    Cursor cursor = t.scan(*reader, range).value();
    int count = 0;
    while (cursor.next().value()) ++count;
    return count;
  };
  CHECK(rows() == 0);
  // The leaf is compacted, tidied, split and merged again.
  for (int round = 0; round < 3; ++round) {
    write([&](Transaction& transaction) {
      for (int i = 0; i < 300; ++i)
        REQUIRE(t.insert(transaction, as_bytes(account(20) + "/" + std::to_string(i)),
                         as_bytes(std::string(60, 'x')))
                    .value());
    });
    write([&](Transaction& transaction) {
      for (int i = 0; i < 300; ++i)
        REQUIRE(t.remove(transaction, as_bytes(account(20) + "/" + std::to_string(i))).value());
    });
    const auto scanner = engine->begin();
    CHECK(content(*scanner, tree).size() == 19);
  }
  const auto writer = engine->begin();
  writer->set_lock_timeout(std::chrono::milliseconds{20});
  for (const std::string& phantom : {low, low + "1", account(105), account(109) + "z"}) {
    const auto inserted = t.insert(*writer, as_bytes(phantom), as_bytes("phantom"));
    INFO(phantom);
    REQUIRE_FALSE(inserted.has_value());
    CHECK(inserted.error().state() == sqlstate::lock_not_available);
  }
  CHECK(rows() == 0);
  CHECK(engine->verify().value().empty());
}

// A row is overwritten only if it is unchanged since the snapshot.
TEST_CASE_METHOD(Bank, "P36 P39 transfers that lock nothing before they write keep the sum",
                 "[storage][isolation][stress]") {
  const auto isolation = GENERATE(Isolation::repeatable_read, Isolation::serializable,
                                  Isolation::serializable_snapshot);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      std::mt19937_64 random(i);
      std::uniform_int_distribution<int> any(0, 9);
      Tree t = engine->tree(tree).value();
      for (int round = 0; round < 60; ++round) {
        const int from = any(random);
        const int to = (from + 1 + any(random) % 9) % 10;
        until_committed(*engine, isolation, [&](Transaction& transaction) -> Result<> {
          ASSIGN_OR_RETURN(const auto a, balance(t, transaction, from, ReadMode::snapshot));
          ASSIGN_OR_RETURN(const auto b, balance(t, transaction, to, ReadMode::snapshot));
          RETURN_IF_ERROR(set_balance(t, transaction, from, a - 3));
          return set_balance(t, transaction, to, b + 3);
        });
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(sum(isolation, Direction::forward) == kAccounts * kEach);
}

}  // namespace swizzle
