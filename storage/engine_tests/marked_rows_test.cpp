// A transaction that changes many records keeps no lock for each: its undo records mark them and
// exclude others as locks would.
#include <catch2/catch.hpp>
#include <thread>

#include "storage/bulk_changes.h"
#include "storage/statistics.h"
#include "storage/testing/temporary_engine.h"

namespace swizzle {
namespace {

using namespace std::chrono_literals;

std::string marked_key(int number) {
  return "row " + std::to_string(100'000 + number);
}

class MarkedRows : public testing::TemporaryEngine {
 public:
  MarkedRows() { limit_locks(0); }

  void limit_locks(std::uint32_t to) {
    engine.reset();
    options.row_lock_limit = to;
    open();
    if (rows != TreeId{}) return;
    rows = make_tree();
    const auto transaction = engine->begin();
    for (int i = 0; i < 10; ++i)
      REQUIRE(tree().insert(*transaction, as_bytes(marked_key(i)), as_bytes("old")).value());
    REQUIRE(transaction->commit());
  }
  [[nodiscard]] Tree tree() const { return engine->tree(rows).value(); }
  Result<bool> update(Transaction& transaction, int number, std::string_view value = "new") const {
    return tree().update(transaction, as_bytes(marked_key(number)), as_bytes(value));
  }
  Result<bool> remove(Transaction& transaction, int number) const {
    return tree().remove(transaction, as_bytes(marked_key(number)));
  }
  Result<bool> lock(Transaction& transaction, int number, ReadMode mode,
                    WaitPolicy wait = WaitPolicy::no_wait) const {
    ValueBuffer ignored;
    return tree().get(transaction, as_bytes(marked_key(number)), ignored, mode, wait);
  }
  [[nodiscard]] std::size_t key_locks() const {
    const auto rows_of_locks = engine->locks();
    return static_cast<std::size_t>(
        std::ranges::count(rows_of_locks, lock::LockRow::Kind::key, &lock::LockRow::kind));
  }
  [[nodiscard]] std::size_t waiters() const {
    const auto rows_of_locks = engine->locks();
    return static_cast<std::size_t>(
        std::ranges::count(rows_of_locks, lock::LockRow::State::waiting, &lock::LockRow::state));
  }
  void await_waiters(std::size_t count) const {
    while (waiters() < count) std::this_thread::yield();
  }

  TreeId rows{};
};

std::string outcome(const Result<bool>& result) {
  if (!result) return std::string{result.error().state().code()};
  return *result ? "done" : "skipped";
}

constexpr const char* kBlocked = "55P03";

}  // namespace

TEST_CASE_METHOD(MarkedRows, "locks of a large transaction are bounded, however it writes",
                 "[storage][locks][bulk]") {
  constexpr int kRows = 20'000;
  limit_locks(100);
  const auto measure = [&](Transaction& transaction) {
    CHECK(transaction.id() != TxnId::none);
    CHECK(key_locks() <= 300);
    // At 56 bytes each, the locks of all rows would take more than a megabyte.
    CHECK(engine->statistics().lock_bytes < 200'000);
  };
  {
    const auto transaction = engine->begin();
    for (int i = 10; i < kRows; ++i)
      REQUIRE(tree().insert(*transaction, as_bytes(marked_key(i)), as_bytes("old")).value());
    measure(*transaction);
    REQUIRE(transaction->commit());
  }
  const auto writer = engine->begin();
  writer->begin_statement();
  for (int i = 0; i < kRows; ++i) {
    // As UPDATE does; and in two steps if a key to which others may refer changes.
    REQUIRE(lock(*writer, i, ReadMode::for_no_key_update).value());
    if (i % 2 == 0) REQUIRE(lock(*writer, i, ReadMode::for_update).value());
    REQUIRE(update(*writer, i).value());
  }
  measure(*writer);
  for (int i = 0; i < kRows; i += 2) REQUIRE(remove(*writer, i).value());
  for (int i = 1; i < kRows; i += 4)
    REQUIRE(tree()
                .move(*writer, as_bytes(marked_key(i)), as_bytes(marked_key(i - 1)), as_bytes("m"))
                .value());
  measure(*writer);
  REQUIRE(writer->commit());
  CHECK(engine->locks().empty());
  const auto reader = engine->begin();
  CHECK(content(*reader, rows).size() == kRows / 2);
}

TEST_CASE_METHOD(MarkedRows, "T17 a mark hides no version that somebody may need",
                 "[storage][locks][bulk]") {
  const auto commit_one = [&](std::string_view value) {
    const auto transaction = engine->begin();
    REQUIRE(update(*transaction, 1, value).value());
    REQUIRE(transaction->commit());
  };
  const auto row = [&](Transaction& transaction, int number) {
    return get(transaction, rows, marked_key(number));
  };
  // As a statement that changes the rows that it reads.
  const auto change_all = [&](Transaction& transaction, std::string_view value) {
    transaction.begin_statement();
    CHECK(content(transaction, rows).size() == 10);
    for (int i = 0; i < 10; ++i) REQUIRE(update(transaction, i, value).value());
  };
  SECTION("a snapshot is older") {
    const auto reader = engine->begin(Isolation::repeatable_read);
    CHECK(row(*reader, 5) == "old");
    commit_one("one");
    const auto writer = engine->begin();
    change_all(*writer, "two");
    CHECK(row(*reader, 1) == "old");
    REQUIRE(writer->commit());
    CHECK(row(*reader, 1) == "old");
    CHECK(row(*reader, 2) == "old");
  }
  SECTION("the same transaction has changed the rows, in this order and in another") {
    commit_one("one");
    const auto writer = engine->begin();
    change_all(*writer, "two");
    const Transaction::Mark mark = writer->mark();
    change_all(*writer, "three");
    writer->begin_statement();
    CHECK(row(*writer, 1) == "three");
    for (int i = 9; i >= 0; --i) REQUIRE(remove(*writer, i).value());
    // Its own statement does not see what it does.
    CHECK(row(*writer, 3) == "three");
    const auto reader = engine->begin();
    CHECK(row(*reader, 1) == "one");
    CHECK(row(*reader, 3) == "old");
    REQUIRE(writer->rollback_to(mark));
    writer->begin_statement();
    CHECK(row(*writer, 1) == "two");
    writer->rollback();
    CHECK(row(*engine->begin(), 1) == "one");
    CHECK(row(*engine->begin(), 3) == "old");
  }
  SECTION("somebody has changed a row of the leaf and has not committed") {
    const auto other = engine->begin();
    REQUIRE(update(*other, 5, "other's").value());
    const auto writer = engine->begin();
    writer->set_lock_timeout(20ms);
    writer->begin_statement();
    CHECK(content(*writer, rows).size() == 10);
    for (int i = 0; i < 5; ++i) REQUIRE(update(*writer, i, "two").value());
    CHECK(outcome(update(*writer, 5, "two")) == kBlocked);
    other->rollback();
    REQUIRE(update(*writer, 5, "two").value());
    REQUIRE(writer->commit());
    CHECK(row(*engine->begin(), 5) == "two");
  }
  SECTION("somebody changes a row between two of its own") {
    const auto writer = engine->begin();
    writer->set_lock_timeout(20ms);
    writer->begin_statement();
    CHECK(content(*writer, rows).size() == 10);
    REQUIRE(update(*writer, 1, "two").value());
    const auto other = engine->begin();
    REQUIRE(update(*other, 5, "other's").value());
    REQUIRE(update(*writer, 3, "two").value());
    CHECK(outcome(update(*writer, 5, "two")) == kBlocked);
    const auto late = engine->begin(Isolation::repeatable_read);
    CHECK(row(*late, 5) == "old");
    REQUIRE(other->commit());
    REQUIRE(update(*writer, 5, "two").value());
    REQUIRE(writer->commit());
    for (const int i : {1, 3, 5}) CHECK(row(*late, i) == "old");
  }
}

TEST_CASE_METHOD(MarkedRows, "a marked row is locked as strongly as its change was",
                 "[storage][locks][bulk]") {
  const auto writer = engine->begin();
  REQUIRE(update(*writer, 1).value());
  REQUIRE(remove(*writer, 2).value());
  REQUIRE(tree().insert(*writer, as_bytes(marked_key(20)), as_bytes("new")).value());
  REQUIRE(lock(*writer, 3, ReadMode::for_update).value());
  REQUIRE(update(*writer, 3).value());
  // The key had no record to remove or change, so it keeps its lock.
  CHECK_FALSE(remove(*writer, 30).value());
  CHECK_FALSE(tree().insert(*writer, as_bytes(marked_key(4)), as_bytes("new")).value());

  const auto other = engine->begin();
  other->set_lock_timeout(2ms);
  const std::size_t before = engine->locks().size();
  CHECK(outcome(lock(*other, 1, ReadMode::for_key_share)) == "done");
  for (const ReadMode mode :
       {ReadMode::for_share, ReadMode::for_no_key_update, ReadMode::for_update})
    for (const int row : {1, 2, 3, 20}) {
      INFO("row " << row << " mode " << static_cast<int>(mode));
      CHECK(outcome(lock(*other, row, mode)) == kBlocked);
      CHECK(outcome(lock(*other, row, mode, WaitPolicy::skip)) == "skipped");
    }
  for (const int row : {2, 3, 20})
    CHECK(outcome(lock(*other, row, ReadMode::for_key_share)) == kBlocked);
  CHECK(outcome(update(*other, 1)) == kBlocked);
  CHECK(outcome(remove(*other, 1)) == kBlocked);
  CHECK(outcome(update(*other, 2)) == kBlocked);
  for (const int row : {20, 30, 4})
    CHECK(outcome(tree().insert(*other, as_bytes(marked_key(row)), as_bytes("mine"))) == kBlocked);
  CHECK_FALSE(tree().lock_key(*other, as_bytes(marked_key(1))));
  // The refused operations have left only the free key's lock and intents.
  CHECK(engine->locks().size() <= before + 3);
  // Others continue meanwhile.
  for (const int row : {5, 6}) CHECK(outcome(update(*other, row)) == "done");
  CHECK(outcome(remove(*other, 7)) == "done");
  CHECK(outcome(update(*writer, 8)) == "done");
}

TEST_CASE_METHOD(MarkedRows, "who waits for a marked row gets it when its writer has ended",
                 "[storage][locks][bulk]") {
  const bool commits = GENERATE(true, false);
  auto writer = engine->begin();
  REQUIRE(update(*writer, 1).value());
  std::vector<std::string> outcomes(3);
  const auto wait = [&](std::size_t at, Isolation level, auto act) {
    return std::thread{[&, at, level, act] {
      const auto transaction = engine->begin(level);
      transaction->begin_statement();
      ValueBuffer seen;
      INVARIANT(tree().get(*transaction, as_bytes(marked_key(9)), seen).has_value());
      outcomes[at] = act(*transaction);
    }};
  };
  std::thread updater = wait(0, Isolation::read_committed, [&](Transaction& transaction) {
    return outcome(update(transaction, 1, "third"));
  });
  std::thread repeatable = wait(1, Isolation::repeatable_read, [&](Transaction& transaction) {
    return outcome(update(transaction, 1, "fourth"));
  });
  std::thread reader = wait(2, Isolation::serializable, [&](Transaction& transaction) {
    // Row 1 is the second.
    Cursor cursor = tree().scan(transaction, {}).value();
    INVARIANT(cursor.next().value() && cursor.next().value());
    return std::string{as_text(cursor.value())};
  });
  await_waiters(3);
  if (commits)
    REQUIRE(writer->commit());
  else
    writer->rollback();
  for (std::thread* thread : {&updater, &repeatable, &reader}) thread->join();
  CHECK(outcomes[0] == "done");
  CHECK(outcomes[1] == (commits ? "40001" : "done"));
  CHECK(outcomes[2] == (commits ? "new" : "old"));
  CHECK(engine->locks().empty());
}

TEST_CASE_METHOD(MarkedRows, "a savepoint gives back what was marked since, and nothing older",
                 "[storage][locks][bulk]") {
  const auto writer = engine->begin();
  REQUIRE(update(*writer, 1).value());
  REQUIRE(lock(*writer, 3, ReadMode::for_update).value());
  const Transaction::Mark savepoint = writer->mark();
  REQUIRE(update(*writer, 1, "again").value());
  REQUIRE(update(*writer, 2).value());
  REQUIRE(update(*writer, 3).value());
  std::string waited;
  std::thread waiter{[&] {
    const auto transaction = engine->begin();
    waited = outcome(update(*transaction, 2, "other's"));
    INVARIANT(transaction->commit().has_value());
  }};
  await_waiters(1);
  REQUIRE(writer->rollback_to(savepoint));
  waiter.join();
  CHECK(waited == "done");
  const auto other = engine->begin();
  CHECK(outcome(lock(*other, 1, ReadMode::for_share)) == kBlocked);
  CHECK(outcome(lock(*other, 3, ReadMode::for_key_share)) == kBlocked);
  REQUIRE(update(*writer, 4).value());
  CHECK(outcome(lock(*other, 4, ReadMode::for_share)) == kBlocked);
  REQUIRE(writer->commit());
  CHECK(get(rows, marked_key(1)) == "new");
  CHECK(get(rows, marked_key(2)) == "other's");
  CHECK(get(rows, marked_key(3)) == "old");
}

TEST_CASE_METHOD(MarkedRows, "two who mark rows and want each other's are a deadlock",
                 "[storage][locks][bulk]") {
  const auto one = engine->begin();
  const auto two = engine->begin();
  REQUIRE(update(*one, 1).value());
  REQUIRE(update(*two, 2).value());
  Result<bool> of_one;
  std::thread waiter{[&] {
    of_one = update(*one, 2);
    if (!of_one) one->rollback();
  }};
  await_waiters(1);
  const Result<bool> of_two = update(*two, 1);
  if (!of_two) two->rollback();
  waiter.join();
  CHECK(outcome(of_one) + outcome(of_two) == "done40P01");
  REQUIRE_FALSE(of_two);
  CHECK(of_two.error().detail().find("on transaction") != std::string::npos);
}

TEST_CASE_METHOD(MarkedRows, "what lies side by side is removed together, up to what others have",
                 "[storage][locks][bulk]") {
  limit_locks(GENERATE(0U, 1000U));
  const auto other = engine->begin();
  REQUIRE(update(*other, 6).value());
  std::vector<std::string> keys;
  for (int i = 1; i < 9; ++i) keys.push_back(marked_key(i));
  std::vector<Removal> removals;
  for (const std::string& key : keys) removals.push_back({as_bytes(key), as_bytes("old")});

  const auto writer = engine->begin();
  writer->begin_statement();
  REQUIRE(remove_first(tree(), *writer, removals).value() == 5);
  // A record of another transaction, an absent one, and a changed one.
  CHECK(remove_first(tree(), *writer, std::span{removals}.subspan(5)).value() == 0);
  CHECK(remove_first(tree(), *writer, std::span{removals}.first(1)).value() == 0);
  removals[6].seen = as_bytes("elder");
  CHECK(remove_first(tree(), *writer, std::span{removals}.subspan(6)).value() == 0);
  removals[6].seen = as_bytes("old");
  const Transaction::Mark savepoint = writer->mark();
  CHECK(remove_first(tree(), *writer, std::span{removals}.subspan(6)).value() == 2);
  for (const int row : {1, 5, 7, 8}) {
    other->set_lock_timeout(2ms);
    CHECK(outcome(lock(*other, row, ReadMode::for_key_share)) == kBlocked);
  }
  REQUIRE(writer->rollback_to(savepoint));
  CHECK(outcome(lock(*other, 8, ReadMode::for_update)) == "done");
  CHECK(get(rows, marked_key(1)) == "old");
  REQUIRE(other->commit());
  if (GENERATE(true, false)) {
    REQUIRE(writer->commit());
    CHECK_FALSE(get(rows, marked_key(5)));
  } else {
    writer->rollback();
    CHECK(get(rows, marked_key(5)) == "old");
  }
  CHECK(get(rows, marked_key(7)) == "old");
  CHECK(get(rows, marked_key(6)) == "new");
}

TEST_CASE_METHOD(MarkedRows, "what was removed together is back after a restart",
                 "[storage][locks][bulk]") {
  std::vector<std::string> keys;
  for (int i = 1; i < 9; ++i) keys.push_back(marked_key(i));
  std::vector<Removal> removals;
  for (const std::string& key : keys) removals.push_back({as_bytes(key), std::nullopt});
  auto writer = engine->begin();
  REQUIRE(remove_first(tree(), *writer, removals).value() == removals.size());
  {
    const auto other = engine->begin();
    REQUIRE(update(*other, 9).value());
    REQUIRE(other->commit());
  }
  kill(std::move(writer));
  for (const std::string& key : keys) CHECK(get(rows, key) == "old");
  CHECK(get(rows, marked_key(9)) == "new");
}

TEST_CASE_METHOD(MarkedRows, "who wants more of a row that he has marked waits for no waiter",
                 "[storage][locks][bulk]") {
  const auto writer = engine->begin();
  REQUIRE(update(*writer, 1).value());
  std::thread waiter{[&] {
    const auto transaction = engine->begin();
    INVARIANT(lock(*transaction, 1, ReadMode::for_share, WaitPolicy::wait).has_value());
  }};
  await_waiters(1);
  writer->set_lock_timeout(1s);
  CHECK(outcome(remove(*writer, 1)) == "done");
  REQUIRE(writer->commit());
  waiter.join();
}

TEST_CASE_METHOD(MarkedRows, "a wait for a marked row can be cancelled", "[storage][locks][bulk]") {
  const auto writer = engine->begin();
  REQUIRE(update(*writer, 1).value());
  const auto other = engine->begin();
  std::string waited;
  std::thread waiter{[&] { waited = outcome(update(*other, 1)); }};
  await_waiters(1);
  other->cancel();
  waiter.join();
  CHECK(waited == "57014");
  other->rollback();
  REQUIRE(writer->commit());
  CHECK(engine->locks().empty());
}

TEST_CASE_METHOD(MarkedRows, "rows that a lost transaction has marked are free after a restart",
                 "[storage][locks][bulk]") {
  auto writer = engine->begin();
  REQUIRE(update(*writer, 1).value());
  REQUIRE(remove(*writer, 2).value());
  {
    const auto other = engine->begin();
    REQUIRE(update(*other, 5).value());
    REQUIRE(other->commit());
  }
  kill(std::move(writer));
  CHECK(get(rows, marked_key(1)) == "old");
  CHECK(get(rows, marked_key(2)) == "old");
  CHECK(get(rows, marked_key(5)) == "new");
  const auto next = engine->begin();
  CHECK(outcome(update(*next, 1)) == "done");
  CHECK(outcome(remove(*next, 2)) == "done");
}

}  // namespace swizzle
