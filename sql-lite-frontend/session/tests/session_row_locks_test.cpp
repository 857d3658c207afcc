#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

/// A parent table with a child, and a second session with a short lock_timeout. With key locks on
/// changed rows, and without.
class RowLocks : public TestDatabase {
 public:
  RowLocks() : TestDatabase(GENERATE(10'000U, 0U)), other(connect()) {
    run("CREATE TABLE p(id int primary key, code int unique, v int)");
    run("INSERT INTO p VALUES (1, 10, 100), (2, 20, 200)");
    run("CREATE TABLE c(id int primary key, p int references p)");
    run("CREATE TABLE c2(id int primary key, code int references p(code))");
    run(*other, "SET lock_timeout = '20ms'");
  }
  std::string ask(const std::string& sql) { return run(*other, sql); }

  /// Runs the statement in a thread of its own, beside others.
  std::string ask_apart(const std::string& sql) {
    TestSink sink;
    const Outcome outcome = other->simple_query(sql, sink);
    if (!outcome) return std::string{outcome.error().state.code()};
    std::string text;
    for (const std::string& row : sink.rows) text += row + " ";
    return text + sink.tags.back();
  }

  static constexpr const char* kTimeout = "55P03 canceling statement due to lock timeout";
  std::unique_ptr<Session> other;
};

}  // namespace

// PostgreSQL 15's table of conflicts between row-level locks.
TEST_CASE_METHOD(RowLocks, "Row locks: every pair of strengths", "[sql][session][locks]") {
  constexpr std::array<const char*, 4> strengths{"KEY SHARE", "SHARE", "NO KEY UPDATE", "UPDATE"};
  constexpr std::array<std::string_view, 4> conflicts{"...X", "..XX", ".XXX", "XXXX"};
  for (std::size_t a = 0; a < strengths.size(); ++a) {
    for (std::size_t b = 0; b < strengths.size(); ++b) {
      INFO(strengths[a] << ", then " << strengths[b]);
      const std::string query = "SELECT v FROM p WHERE id = 1 FOR ";
      run("BEGIN");
      CHECK(run(query + strengths[a]) == "100 SELECT 1");
      const bool blocks = conflicts[a][b] == 'X';
      CHECK(ask(query + strengths[b] + " NOWAIT").substr(0, 5) == (blocks ? "55P03" : "100 S"));
      CHECK(ask(query + strengths[b] + " SKIP LOCKED") == (blocks ? "SELECT 0" : "100 SELECT 1"));
      run("ROLLBACK");
    }
  }
}

TEST_CASE_METHOD(RowLocks, "A child can be inserted beside an update of its parent's other columns",
                 "[sql][session][locks]") {
  for (const char* level : {"READ COMMITTED", "REPEATABLE READ"}) {
    INFO(level);
    run("BEGIN");
    run("UPDATE p SET v = v + 1, id = id, code = code WHERE id = 1");
    ask(std::string{"BEGIN ISOLATION LEVEL "} + level);
    CHECK(ask("INSERT INTO c VALUES (1, 1)") == "INSERT 0 1");
    CHECK(ask("INSERT INTO c2 VALUES (1, 10)") == "INSERT 0 1");
    // The row that is being changed is seen in its old version.
    CHECK(ask("SELECT v FROM p WHERE id = 1 FOR KEY SHARE") == "100 SELECT 1");
    run("ROLLBACK");
    // The other way round.
    CHECK(run("UPDATE p SET v = v + 1 WHERE id = 1") == "UPDATE 1");
    run("UPDATE p SET v = v - 1 WHERE id = 1");
    CHECK(run("INSERT INTO p VALUES (1, 10, 0) ON CONFLICT (id) DO UPDATE SET code = excluded.code")
              .substr(0, 10) == "INSERT 0 1");
    ask("ROLLBACK");
  }
}

TEST_CASE_METHOD(RowLocks, "Who refers to a key keeps it, and waits for its change",
                 "[sql][session][locks]") {
  run("SET lock_timeout = '20ms'");
  ask("BEGIN");
  CHECK(ask("INSERT INTO c VALUES (1, 1)") == "INSERT 0 1");
  CHECK(ask("INSERT INTO c2 VALUES (1, 10)") == "INSERT 0 1");
  CHECK(run("DELETE FROM p WHERE id = 1") == kTimeout);
  CHECK(run("UPDATE p SET id = 3 WHERE id = 1") == kTimeout);
  CHECK(run("UPDATE p SET code = 30 WHERE id = 1") == kTimeout);
  ask("ROLLBACK");
  for (const char* change : {"DELETE FROM p WHERE id = 1", "UPDATE p SET code = 30 WHERE id = 1",
                             "UPDATE p SET id = 3 WHERE id = 1"}) {
    INFO(change);
    run("BEGIN");
    CHECK(run(change).substr(0, 5) != "55P03");
    CHECK(ask("INSERT INTO c VALUES (1, 1)") == kTimeout);
    CHECK(ask("INSERT INTO c2 VALUES (1, 10)") == kTimeout);
    run("ROLLBACK");
  }
  // A key that was changed and committed meanwhile does not exist any more.
  ask("SET lock_timeout = '2s'");
  for (const char* level : {"READ COMMITTED", "REPEATABLE READ"}) {
    INFO(level);
    run("BEGIN");
    run("UPDATE p SET code = code + 1 WHERE id = 2");
    std::string answer;
    std::thread child{[&, sql = std::string{"BEGIN ISOLATION LEVEL "} + level] {
      TestSink sink;
      CHECK(other->simple_query(sql, sink));
      const Outcome outcome =
          other->simple_query("INSERT INTO c2 SELECT 1, code FROM p WHERE id = 2", sink);
      answer = outcome ? "inserted" : std::string{outcome.error().state.code()};
    }};
    // It has read the key, and waits for the change's outcome.
    const auto is_waiting = [&] {
      return run("SELECT count(*) FROM pg_locks WHERE NOT granted") == "1 SELECT 1";
    };
    for (int tries = 0; tries < 5000 && !is_waiting(); ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
    run("COMMIT");
    child.join();
    ask("ROLLBACK");
    CHECK(answer == (std::string_view{level} == "READ COMMITTED" ? "23503" : "40001"));
  }
}

TEST_CASE_METHOD(RowLocks, "Who refers to a key of another type keeps it, too",
                 "[sql][session][locks]") {
  run("CREATE TABLE pn(id numeric primary key)");
  run("INSERT INTO pn VALUES (1)");
  run("CREATE TABLE cn(id int primary key, p int references pn)");
  run("SET lock_timeout = '20ms'");
  ask("BEGIN");
  CHECK(ask("INSERT INTO cn VALUES (1, 1)") == "INSERT 0 1");
  CHECK(run("DELETE FROM pn") == kTimeout);
  ask("ROLLBACK");
  for (const char* change : {"DELETE FROM pn", "UPDATE pn SET id = 3"}) {
    INFO(change);
    run("BEGIN");
    CHECK(run(change).substr(0, 5) != "55P03");
    CHECK(ask("INSERT INTO cn VALUES (1, 1)") == kTimeout);
    run("ROLLBACK");
  }
}

TEST_CASE_METHOD(RowLocks, "FOR KEY SHARE at REPEATABLE READ shows the snapshot's rows",
                 "[sql][session][locks]") {
  ask("BEGIN ISOLATION LEVEL REPEATABLE READ");
  CHECK(ask("SELECT v FROM p ORDER BY id") == "100 200 SELECT 2");
  run("UPDATE p SET v = v + 1");
  CHECK(ask("SELECT v FROM p ORDER BY id FOR KEY SHARE") == "100 200 SELECT 2");
  CHECK(ask("INSERT INTO c VALUES (1, 1)") == "INSERT 0 1");
  CHECK(ask("SELECT v FROM p FOR SHARE").substr(0, 5) == "40001");
  ask("ROLLBACK");
  CHECK(ask("SELECT v FROM p ORDER BY id FOR KEY SHARE") == "101 201 SELECT 2");
}

TEST_CASE_METHOD(RowLocks, "A row that DO NOTHING meets stays free for others",
                 "[sql][session][locks]") {
  run("CREATE TABLE parts(id int PRIMARY KEY, v int) PARTITION BY LIST (id)");
  run("CREATE TABLE part PARTITION OF parts FOR VALUES IN (1, 2)");
  run("INSERT INTO parts VALUES (1, 1)");
  for (const char* const level : {"READ COMMITTED", "REPEATABLE READ"}) {
    for (const char* const sql :
         {"INSERT INTO p VALUES (1, 70, 7), (4, 10, 7) ON CONFLICT DO NOTHING",
          "INSERT INTO p VALUES (1, 70, 7) ON CONFLICT (id) DO NOTHING",
          "INSERT INTO p VALUES (5, 10, 7) ON CONFLICT (code) DO NOTHING",
          "INSERT INTO parts VALUES (1, 7) ON CONFLICT DO NOTHING"}) {
      INFO(level << ": " << sql);
      run(std::string{"BEGIN ISOLATION LEVEL "} + level);
      CHECK(run(sql) == "INSERT 0 0");
      ask("BEGIN");
      CHECK(ask("UPDATE p SET id = 3, code = 30 WHERE id = 1") == "UPDATE 1");
      CHECK(ask("DELETE FROM parts") == "DELETE 1");
      ask("ROLLBACK");
      run("ROLLBACK");
    }
  }
}

TEST_CASE_METHOD(RowLocks, "FOR KEY SHARE goes on with the row of its snapshot while the keys stay",
                 "[sql][session][locks]") {
  // Other columns change between a statement's snapshot and its lock; then a key does.
  run("CREATE FUNCTION pause() RETURNS bool LANGUAGE plpgsql AS $$ BEGIN PERFORM "
      "pg_advisory_xact_lock(1); RETURN true; END $$");
  ask("SET lock_timeout = '20s'");
  const auto asks_beside = [&](const std::string& change) {
    run("SELECT pg_advisory_lock(1)");
    std::string answer;
    std::thread asking{
        [&] { answer = ask_apart("SELECT v FROM p WHERE id = 1 AND pause() FOR KEY SHARE"); }};
    while (run("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory'") ==
           "0 SELECT 1")
      std::this_thread::yield();
    run(change);
    run("SELECT pg_advisory_unlock(1)");
    asking.join();
    return answer;
  };
  CHECK(asks_beside("UPDATE p SET v = 101 WHERE id = 1") == "100 SELECT 1");
  CHECK(asks_beside("UPDATE p SET v = 102, code = 11 WHERE id = 1") == "102 SELECT 1");
  CHECK(asks_beside("DELETE FROM p WHERE id = 1") == "SELECT 0");
}

TEST_CASE_METHOD(RowLocks, "A query sees what there was before a statement in its WITH waited",
                 "[sql][session][locks]") {
  ask("SET lock_timeout = '20s'");
  run("BEGIN");
  run("UPDATE p SET v = 101 WHERE id = 1");
  std::string answer;
  std::thread asking{[&] {
    answer = ask_apart(
        "WITH w AS (INSERT INTO p VALUES (1, 10, 7) ON CONFLICT (id) DO UPDATE SET v = excluded.v "
        "WHERE p.v = 101) SELECT v FROM p WHERE id = 1");
  }};
  while (engine().lock_waits().empty()) std::this_thread::yield();
  run("COMMIT");
  asking.join();
  CHECK(answer == "100 SELECT 1");
  CHECK(run("SELECT v FROM p WHERE id = 1") == "7 SELECT 1");
}

TEST_CASE_METHOD(RowLocks, "A large row is waited for, also FOR KEY SHARE",
                 "[sql][session][locks]") {
  run("CREATE TABLE big(id int primary key, v text)");
  run("INSERT INTO big VALUES (1, repeat('x', 20000))");
  run("BEGIN");
  run("UPDATE big SET v = repeat('y', 20000)");
  CHECK(ask("SELECT length(v) FROM big FOR KEY SHARE") == kTimeout);
  run("COMMIT");
  CHECK(ask("SELECT left(v, 1) FROM big FOR KEY SHARE") == "y SELECT 1");
}

TEST_CASE_METHOD(RowLocks, "At SERIALIZABLE by locking a reference reads its parent",
                 "[sql][session][locks]") {
  ask("SET serializable_method = locking");
  run("BEGIN");
  run("UPDATE p SET v = v + 1 WHERE id = 1");
  ask("BEGIN ISOLATION LEVEL SERIALIZABLE");
  CHECK(ask("INSERT INTO c VALUES (1, 1)") == kTimeout);
  ask("ROLLBACK");
  run("ROLLBACK");
}

TEST_CASE_METHOD(RowLocks, "pg_locks names the strengths of row locks", "[sql][session][locks]") {
  const std::pair<const char*, const char*> kinds[] = {{"KEY SHARE", "KeyShareLock"},
                                                       {"SHARE", "ShareLock"},
                                                       {"NO KEY UPDATE", "NoKeyExclusiveLock"},
                                                       {"UPDATE", "ExclusiveLock"}};
  for (const auto& [strength, name] : kinds) {
    run("BEGIN");
    run(std::string{"SELECT FROM p WHERE id = 1 FOR "} + strength);
    CHECK(ask("SELECT mode FROM pg_locks WHERE locktype = 'tuple'") ==
          std::string{name} + " SELECT 1");
    run("ROLLBACK");
  }
}
