// SERIALIZABLE by snapshots: two and three sessions, one statement at a time.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/tests/beside.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

constexpr const char* kBegin = "BEGIN ISOLATION LEVEL SERIALIZABLE";
const std::string kFailure =
    "40001 could not serialize access due to read/write dependencies among transactions";

/// Three sessions with a table of accounts; no statement may wait.
struct Sessions {
  Sessions() {
    one.run("CREATE TABLE t(id int PRIMARY KEY, class int, v int)");
    one.run("CREATE INDEX ON t(class)");
    one.run("INSERT INTO t VALUES (1, 1, 10), (2, 1, 20), (3, 2, 100), (4, 2, 200)");
    one.run("ANALYZE t");
    for (Session* const session : {&one.session(), two.get(), three.get()})
      one.run(*session, "SET lock_timeout = '20ms'");
  }
  std::string first(const std::string& text) { return one.run(text); }
  std::string second(const std::string& text) { return one.run(*two, text); }
  std::string third(const std::string& text) { return one.run(*three, text); }
  void begin_both() {
    first(kBegin);
    second(kBegin);
  }

  TestDatabase one;
  std::unique_ptr<Session> two = one.connect();
  std::unique_ptr<Session> three = one.connect();
};

}  // namespace

TEST_CASE_METHOD(Sessions, "SERIALIZABLE readers and writers of the same rows do not wait",
                 "[sql][session][serializable]") {
  begin_both();
  CHECK(first("SELECT sum(v) FROM t") == "330 SELECT 1");
  CHECK(second("UPDATE t SET v = v + 1 WHERE id = 1") == "UPDATE 1");
  CHECK(first("SELECT sum(v) FROM t") == "330 SELECT 1");
  CHECK(second("COMMIT") == "COMMIT");
  CHECK(first("SELECT sum(v) FROM t") == "330 SELECT 1");
  CHECK(first("COMMIT") == "COMMIT");
}

TEST_CASE_METHOD(Sessions, "SERIALIZABLE refuses one of two sums that miss each other's row",
                 "[sql][session][serializable]") {
  const bool by_index = GENERATE(true, false);
  for (Session* const session : {&one.session(), two.get()})
    one.run(*session, by_index ? "SET enable_seqscan = off" : "SET enable_indexscan = off");
  begin_both();
  CHECK(first("SELECT sum(v) FROM t WHERE class = 1") == "30 SELECT 1");
  CHECK(second("SELECT sum(v) FROM t WHERE class = 2") == "300 SELECT 1");
  CHECK(first("INSERT INTO t VALUES (5, 2, 30)") == "INSERT 0 1");
  CHECK(second("INSERT INTO t VALUES (6, 1, 300)") == "INSERT 0 1");
  CHECK(first("COMMIT") == "COMMIT");
  CHECK(second("COMMIT") == kFailure);
  CHECK(second("SELECT count(*) FROM t") == "5 SELECT 1");
}

TEST_CASE_METHOD(Sessions, "SERIALIZABLE lets two go on that read and change other rows",
                 "[sql][session][serializable]") {
  begin_both();
  CHECK(first("SELECT v FROM t WHERE id = 1") == "10 SELECT 1");
  CHECK(second("SELECT v FROM t WHERE id = 4") == "200 SELECT 1");
  CHECK(first("UPDATE t SET v = 11 WHERE id = 2") == "UPDATE 1");
  CHECK(second("UPDATE t SET v = 201 WHERE id = 3") == "UPDATE 1");
  CHECK(first("COMMIT") == "COMMIT");
  CHECK(second("COMMIT") == "COMMIT");
}

TEST_CASE_METHOD(Sessions, "SERIALIZABLE sees that a missing row was looked for",
                 "[sql][session][serializable]") {
  begin_both();
  CHECK(first("SELECT v FROM t WHERE id = 7") == "SELECT 0");
  CHECK(second("SELECT v FROM t WHERE id = 8") == "SELECT 0");
  CHECK(first("INSERT INTO t VALUES (8, 1, 1)") == "INSERT 0 1");
  CHECK(second("INSERT INTO t VALUES (7, 1, 1)") == "INSERT 0 1");
  CHECK(second("COMMIT") == "COMMIT");
  CHECK(first("COMMIT") == kFailure);
}

TEST_CASE_METHOD(Sessions, "SERIALIZABLE refuses a reader that sees a batch closed too early",
                 "[sql][session][serializable]") {
  // A receipt goes into the batch that was open; the batch is closed, and reported, meanwhile.
  first("CREATE TABLE batch(number int); INSERT INTO batch VALUES (1)");
  first("CREATE TABLE receipt(batch int, amount int)");
  const char* const begin_report = GENERATE("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY",
                                            "BEGIN ISOLATION LEVEL SERIALIZABLE");
  first(kBegin);
  CHECK(first("INSERT INTO receipt SELECT number, 100 FROM batch") == "INSERT 0 1");
  second(kBegin);
  CHECK(second("UPDATE batch SET number = number + 1") == "UPDATE 1");
  CHECK(second("COMMIT") == "COMMIT");
  third(begin_report);
  CHECK(third("SELECT number FROM batch") == "2 SELECT 1");
  SECTION("the report comes before the receipt") {
    CHECK(third("SELECT sum(amount) FROM receipt WHERE batch = 1") == "NULL SELECT 1");
    CHECK(third("COMMIT") == "COMMIT");
    CHECK(first("COMMIT") == kFailure);
  }
  SECTION("the receipt comes before the report") {
    CHECK(first("COMMIT") == "COMMIT");
    CHECK(third("SELECT sum(amount) FROM receipt WHERE batch = 1") == kFailure);
  }
}

TEST_CASE_METHOD(Sessions, "SERIALIZABLE READ ONLY DEFERRABLE waits for a safe snapshot",
                 "[sql][session][serializable]") {
  const char* const begin = "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE";
  first(kBegin);
  CHECK(first("UPDATE t SET v = 11 WHERE id = 1") == "UPDATE 1");
  const bool cancels = GENERATE(true, false);
  second(begin);
  std::atomic<bool> has_answer{false};
  std::string answer;
  std::thread waiter{[&] {
    answer = answer_of(*two, "SELECT v FROM t WHERE id = 1");
    has_answer = true;
  }};
  std::this_thread::sleep_for(std::chrono::milliseconds{50});
  CHECK_FALSE(has_answer);
  if (cancels) {
    two->cancel();
    waiter.join();
    CHECK(answer.starts_with("57014"));
    second("ROLLBACK");
    CHECK(first("COMMIT") == "COMMIT");
    return;
  }
  CHECK(first("COMMIT") == "COMMIT");
  waiter.join();
  // The snapshot of before the commit has turned out to be safe.
  CHECK(answer == "10 SELECT 1");
  CHECK(second("UPDATE t SET v = 12").starts_with("25006"));
  second("ROLLBACK");
  // Its reads are in nobody's way.
  second(begin);
  CHECK(second("SELECT sum(v) FROM t") == "331 SELECT 1");
  first(kBegin);
  CHECK(first("UPDATE t SET v = 12 WHERE id = 1") == "UPDATE 1");
  CHECK(first("COMMIT") == "COMMIT");
  CHECK(second("COMMIT") == "COMMIT");
}

TEST_CASE_METHOD(Sessions, "SERIALIZABLE: the first of two to change a row wins",
                 "[sql][session][serializable]") {
  begin_both();
  CHECK(second("SELECT v FROM t WHERE id = 1") == "10 SELECT 1");
  CHECK(first("UPDATE t SET v = v + 1 WHERE id = 1") == "UPDATE 1");
  CHECK(first("COMMIT") == "COMMIT");
  CHECK(second("UPDATE t SET v = v + 1 WHERE id = 1") ==
        "40001 could not serialize access due to concurrent update");
}

TEST_CASE_METHOD(Sessions, "Only SERIALIZABLE transactions are ordered among each other",
                 "[sql][session][serializable]") {
  first(kBegin);
  second("BEGIN ISOLATION LEVEL REPEATABLE READ");
  CHECK(first("SELECT sum(v) FROM t WHERE class = 1") == "30 SELECT 1");
  CHECK(second("SELECT sum(v) FROM t WHERE class = 2") == "300 SELECT 1");
  CHECK(first("INSERT INTO t VALUES (5, 2, 30)") == "INSERT 0 1");
  CHECK(second("INSERT INTO t VALUES (6, 1, 300)") == "INSERT 0 1");
  CHECK(first("COMMIT") == "COMMIT");
  CHECK(second("COMMIT") == "COMMIT");
}

TEST_CASE_METHOD(Sessions, "A marked gap stays marked on both sides of a new key",
                 "[sql][session][serializable]") {
  begin_both();
  CHECK(first("SELECT count(*) FROM t WHERE id BETWEEN 10 AND 30") == "0 SELECT 1");
  CHECK(second("SELECT v FROM t WHERE id = 2") == "20 SELECT 1");
  // It is not serializable itself, and splits the gap that the first has read.
  CHECK(third("INSERT INTO t VALUES (20, 9, 9)") == "INSERT 0 1");
  CHECK(second("INSERT INTO t VALUES (25, 9, 9)") == "INSERT 0 1");
  CHECK(first("UPDATE t SET v = 21 WHERE id = 2") == "UPDATE 1");
  CHECK(first("COMMIT") == "COMMIT");
  CHECK(second("COMMIT") == kFailure);
}

TEST_CASE_METHOD(Sessions, "serializable_method = locking makes SERIALIZABLE wait",
                 "[sql][session][serializable]") {
  for (Session* const session : {&one.session(), two.get()})
    one.run(*session, "SET serializable_method = locking");
  begin_both();
  CHECK(first("SELECT v FROM t WHERE id = 1") == "10 SELECT 1");
  CHECK(second("UPDATE t SET v = 11 WHERE id = 1").starts_with("55P03"));
}

TEST_CASE("A SERIALIZABLE transaction that waits prepared is ordered like one that runs",
          "[sql][session][serializable]") {
  TestDatabase db;
  const auto allow_prepared = [&] {
    REQUIRE(db.database().shared().settings.set_at_start({"max_prepared_transactions", "4", "test"},
                                                         SettingSource::command_line));
  };
  allow_prepared();
  auto other = db.connect();
  db.run("CREATE TABLE t(id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1), (2, 2)");
  const bool restarts = GENERATE(false, true);
  db.run(kBegin);
  CHECK(db.run("SELECT v FROM t WHERE id = 1") == "1 SELECT 1");
  if (!restarts) {
    db.run(*other, kBegin);
    CHECK(db.run(*other, "SELECT v FROM t WHERE id = 2") == "2 SELECT 1");
  }
  CHECK(db.run("UPDATE t SET v = 20 WHERE id = 2") == "UPDATE 1");
  CHECK(db.run("PREPARE TRANSACTION 'p'") == "PREPARE TRANSACTION");
  if (restarts) {
    other.reset();
    db.close();
    db.open();
    allow_prepared();
    other = db.connect();
    db.run(*other, kBegin);
    CHECK(db.run(*other, "SELECT v FROM t WHERE id = 2") == kFailure);
    db.run(*other, "ROLLBACK");
    db.run(*other, kBegin);
  }
  const std::string changed = db.run(*other, "UPDATE t SET v = 10 WHERE id = 1");
  const std::string committed = db.run(*other, "COMMIT");
  CHECK((changed == kFailure || committed == kFailure));
  CHECK(db.run("COMMIT PREPARED 'p'") == "COMMIT PREPARED");
  db.run(kBegin);
  CHECK(db.run("UPDATE t SET v = 10 WHERE id = 1") == "UPDATE 1");
  CHECK(db.run("COMMIT") == "COMMIT");
}
