// The states of an index that is built or dropped beside readers and writers, seen by two or three
// sessions.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "sql-lite-frontend/session/tests/asking.h"
#include "sql-lite-frontend/session/tests/index_beside_writers.h"

using namespace swizzle;
using namespace swizzle::sql;
using namespace std::chrono_literals;

namespace {

/// Waits until the statement waits for the given event, or has ended: then false.
bool waits_for(TestDatabase& db, const Asking& asking, const std::string& event) {
  const std::string query =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event = '" + event + "'";
  for (int look = 0; look < 10'000 && !asking.is_done(); ++look) {
    if (db.run(query) == "1 SELECT 1") return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

/// Waits until index i is in the given state (state_of_index()), or the statement has ended: then
/// false.
bool becomes(TestDatabase& db, const Asking& asking, const std::string& state) {
  for (int look = 0; look < 10'000 && !asking.is_done(); ++look) {
    if (state_of_index(db, db.session()) == state) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

/// Ends the transaction for which a build waits; returns the session with another one, for which it
/// waits while writers add entries to index i.
std::unique_ptr<Session> hold_while_building(TestDatabase& db, const Asking& build,
                                             Session& before) {
  auto holder = db.connect();
  db.run(*holder, "BEGIN; UPDATE t SET id = id WHERE false");
  db.run(before, "COMMIT");
  REQUIRE(becomes(db, build, "i"));
  return holder;
}

void create_two_rows(TestDatabase& db) {
  db.run("CREATE TABLE t (id int PRIMARY KEY, a int); INSERT INTO t VALUES (1, 10), (2, 20)");
}

std::string by_index(TestDatabase& db, Session& session, const std::string& query) {
  db.run(session, "SET enable_seqscan = off");
  const std::string answer = db.run(session, query);
  db.run(session, "RESET enable_seqscan");
  return answer;
}

bool uses_index(TestDatabase& db, Session& session, const std::string& query) {
  db.run(session, "SET enable_seqscan = off");
  const std::string plan = db.run(session, "EXPLAIN (COSTS off) " + query);
  db.run(session, "RESET enable_seqscan");
  return plan.find("using i ") != std::string::npos;
}

const char* const kByA = "SELECT a, id FROM t WHERE a > 0 ORDER BY a";

}  // namespace

TEST_CASE("A build waits for the writers of before, and no other session waits for it",
          "[sql][session][concurrently]") {
  TestDatabase db;
  create_two_rows(db);
  const auto before = db.connect();
  db.run(*before, "BEGIN; INSERT INTO t VALUES (3, 30)");
  const auto builder = db.connect();
  Asking build{*builder, "CREATE INDEX CONCURRENTLY i ON t (a)"};
  REQUIRE(waits_for(db, build, "virtualxid"));
  CHECK(state_of_index(db, db.session()) == "d");
  CHECK(db.run("SELECT locktype, mode FROM pg_locks WHERE NOT granted") ==
        "virtualxid|ShareLock SELECT 1");
  CHECK(db.run("SELECT phase FROM pg_stat_progress_create_index") ==
        "waiting for writers before build SELECT 1");
  CHECK_FALSE(uses_index(db, db.session(), kByA));
  CHECK(db.run("UPDATE t SET a = 21 WHERE id = 2") == "UPDATE 1");
  CHECK(db.run("INSERT INTO t VALUES (4, 40)") == "INSERT 0 1");
  CHECK(db.run("DELETE FROM t WHERE id = 1") == "DELETE 1");
  CHECK_FALSE(build.is_done());
  db.run(*before, "COMMIT");
  CHECK(build.answer() == "done");
  CHECK(state_of_index(db, db.session()) == "v");
  CHECK(uses_index(db, db.session(), kByA));
  CHECK(by_index(db, db.session(), kByA) == "21|2 30|3 40|4 SELECT 3");
}

TEST_CASE("A build waits for a row that a writer has changed, whatever becomes of it",
          "[sql][session][concurrently]") {
  const std::string change =
      GENERATE("UPDATE t SET a = 11 WHERE id = 1", "DELETE FROM t WHERE id = 1",
               "UPDATE t SET id = 9 WHERE id = 1", "INSERT INTO t VALUES (0, 5)");
  const std::string end = GENERATE("COMMIT", "ROLLBACK", "ROLLBACK TO s; COMMIT");
  const std::uint32_t row_lock_limit = GENERATE(0U, 10'000U);
  INFO(change << "; " << end << ", limit " << row_lock_limit);
  TestDatabase db{row_lock_limit};
  create_two_rows(db);
  const auto before = db.connect();
  db.run(*before, "BEGIN; INSERT INTO t VALUES (3, 30)");
  const auto builder = db.connect();
  Asking build{*builder, "CREATE INDEX CONCURRENTLY i ON t (a)"};
  REQUIRE(waits_for(db, build, "virtualxid"));
  const auto holder = hold_while_building(db, build, *before);
  const auto writer = db.connect();
  db.run(*writer, "BEGIN; SAVEPOINT s; " + change);
  db.run(*holder, "COMMIT");
  if (change.starts_with("INSERT")) {
    CHECK(build.answer() == "done");
  } else {
    REQUIRE(waits_for(db, build, "transactionid"));
  }
  db.run(*writer, end);
  if (!change.starts_with("INSERT")) CHECK(build.answer() == "done");
  db.run("SET enable_indexscan = off");
  db.run("SET enable_indexonlyscan = off");
  const std::string rows = db.run(kByA);
  db.run("RESET ALL");
  REQUIRE(uses_index(db, db.session(), kByA));
  CHECK(by_index(db, db.session(), kByA) == rows);
}

TEST_CASE("A snapshot of before a build does without the index, and its writers do not fail",
          "[sql][session][concurrently]") {
  const std::string level = GENERATE("REPEATABLE READ", "SERIALIZABLE");
  const std::string statement =
      GENERATE("CREATE INDEX CONCURRENTLY i ON t (a)", "REINDEX INDEX CONCURRENTLY i");
  INFO(level << " " << statement);
  TestDatabase db;
  create_two_rows(db);
  db.run("CREATE TABLE other (b int)");
  if (statement.starts_with("REINDEX")) db.run("CREATE INDEX i ON t (a)");
  const auto old = db.connect();
  db.run(*old, "BEGIN ISOLATION LEVEL " + level + "; SELECT count(*) FROM other");
  db.run("DELETE FROM t WHERE id = 1");
  db.run("UPDATE t SET a = 22 WHERE id = 2");
  db.run("INSERT INTO t VALUES (3, 30), (4, 40)");
  const auto builder = db.connect();
  REQUIRE(db.run(*builder, statement).find("INDEX") != std::string::npos);
  CHECK(uses_index(db, db.session(), kByA));
  CHECK(by_index(db, db.session(), kByA) == "22|2 30|3 40|4 SELECT 3");
  CHECK_FALSE(uses_index(db, *old, kByA));
  CHECK(by_index(db, *old, kByA) == "10|1 20|2 SELECT 2");
  db.run(*old, "COMMIT");
  CHECK(uses_index(db, *old, kByA));

  // It changes a row that is unchanged since its snapshot, though the entry is younger.
  db.run(*old, "BEGIN ISOLATION LEVEL " + level + "; SELECT count(*) FROM other");
  REQUIRE(db.run(*builder, "REINDEX INDEX CONCURRENTLY i") == "REINDEX");
  CHECK(db.run(*old, "UPDATE t SET a = 31 WHERE id = 3") == "UPDATE 1");
  CHECK(db.run(*old, "DELETE FROM t WHERE id = 4") == "DELETE 1");
  CHECK(db.run(*old, "INSERT INTO t VALUES (5, 50)") == "INSERT 0 1");
  CHECK(db.run(*old, "COMMIT") == "COMMIT");
  CHECK(by_index(db, db.session(), kByA) == "22|2 31|3 50|5 SELECT 3");
}

TEST_CASE("A build that is cancelled leaves an index that is not valid, and writers go on",
          "[sql][session][concurrently]") {
  TestDatabase db;
  create_two_rows(db);
  const auto before = db.connect();
  db.run(*before, "BEGIN; INSERT INTO t VALUES (3, 30)");
  const auto builder = db.connect();
  const std::string how = GENERATE("cancel", "lock_timeout", "end");
  INFO(how);
  if (how == "lock_timeout") db.run(*builder, "SET lock_timeout = 20");
  {
    Asking build{*builder, "CREATE INDEX CONCURRENTLY i ON t (a)"};
    if (how == "cancel" || how == "end") {
      REQUIRE(waits_for(db, build, "virtualxid"));
      if (how == "cancel") builder->cancel();
      Diagnostic reason;
      reason.state = SqlState{"57P01"};
      if (how == "end") builder->terminate(reason);
    }
    const std::string answer = build.answer();
    CHECK(answer == (how == "lock_timeout" ? "55P03" : how == "end" ? "57P01" : "57014"));
  }
  CHECK(state_of_index(db, db.session()) == "d");
  db.run(*before, "COMMIT");
  CHECK(db.run("INSERT INTO t VALUES (4, 40)") == "INSERT 0 1");
  CHECK(db.run("DELETE FROM t WHERE id = 1") == "DELETE 1");
  CHECK(db.run("UPDATE t SET a = 21 WHERE id = 2") == "UPDATE 1");
  CHECK_FALSE(uses_index(db, db.session(), kByA));
  const std::string mend = GENERATE("REINDEX INDEX i", "REINDEX INDEX CONCURRENTLY i",
                                    "DROP INDEX i", "DROP INDEX CONCURRENTLY i");
  CHECK(db.run(mend) == mend.substr(0, mend.starts_with("R") ? 7 : 10));
  if (mend.starts_with("R")) {
    CHECK(uses_index(db, db.session(), kByA));
    CHECK(by_index(db, db.session(), kByA) == "21|2 30|3 40|4 SELECT 3");
  } else {
    CHECK(state_of_index(db, db.session()).empty());
  }
  CHECK(db.run("SELECT swizzle_verify()") == " SELECT 1");
}

TEST_CASE("A unique index whose build meets a repeated key is left, not valid",
          "[sql][session][concurrently]") {
  TestDatabase db;
  create_two_rows(db);
  db.run("INSERT INTO t VALUES (3, 20)");
  CHECK(db.run("CREATE UNIQUE INDEX CONCURRENTLY i ON t (a)") ==
        "23505 could not create unique index \"i\"");
  CHECK(state_of_index(db, db.session()) == "d");
  CHECK(db.run("ALTER TABLE t ADD UNIQUE USING INDEX i") == "55000 index \"i\" is not valid");
  CHECK(db.run("INSERT INTO t VALUES (4, 20)") == "INSERT 0 1");
  CHECK(db.run("REINDEX INDEX i") == "23505 could not create unique index \"i\"");
  CHECK(db.run("REINDEX INDEX CONCURRENTLY i") ==
        "23505 could not create unique index \"i_ccnew\"");
  CHECK(db.run("DROP INDEX i_ccnew") == "DROP INDEX");
  CHECK(db.run("DELETE FROM t WHERE id > 2") == "DELETE 2");
  CHECK(db.run("REINDEX INDEX CONCURRENTLY i") == "REINDEX");
  CHECK(state_of_index(db, db.session()) == "v");
  CHECK(db.run("INSERT INTO t VALUES (5, 20)") ==
        "23505 duplicate key value violates unique constraint \"i\"");
}

TEST_CASE("A unique index is kept by writers while it is built", "[sql][session][concurrently]") {
  TestDatabase db;
  create_two_rows(db);
  const auto first = db.connect();
  db.run(*first, "BEGIN; SELECT count(*) FROM t; INSERT INTO t VALUES (3, 30)");
  const auto builder = db.connect();
  Asking build{*builder, "CREATE UNIQUE INDEX CONCURRENTLY i ON t (a)"};
  REQUIRE(waits_for(db, build, "virtualxid"));
  const auto before = hold_while_building(db, build, *first);
  // Row 1 has no entry yet: the repeated key shows when it gets one, or is gone by then.
  CHECK(db.run("INSERT INTO t VALUES (4, 10)") == "INSERT 0 1");
  CHECK(db.run("INSERT INTO t VALUES (5, 10)") ==
        "23505 duplicate key value violates unique constraint \"i\"");
  CHECK(db.run("INSERT INTO t VALUES (6, 10) ON CONFLICT (a) DO NOTHING").starts_with("42P10"));
  CHECK(db.run("INSERT INTO t VALUES (6, 10) ON CONFLICT DO NOTHING") == "INSERT 0 0");
  const bool resolves = GENERATE(true, false);
  if (resolves) CHECK(db.run("DELETE FROM t WHERE id = 1") == "DELETE 1");
  db.run(*before, "COMMIT");
  CHECK(build.answer() == (resolves ? "done" : "23505"));
  CHECK(state_of_index(db, db.session()) == (resolves ? "v" : "d"));
  if (!resolves) return;
  CHECK(by_index(db, db.session(), kByA) == "10|4 20|2 30|3 SELECT 3");
}

TEST_CASE("Writers that know an index and others that do not may change a row in turn",
          "[sql][session][concurrently]") {
  const std::string kind =
      GENERATE("INDEX CONCURRENTLY i ON t (a)", "UNIQUE INDEX CONCURRENTLY i ON t (a)",
               "INDEX CONCURRENTLY i ON t ((a + 0))");
  INFO(kind);
  TestDatabase db;
  create_two_rows(db);
  const auto knows = db.connect();
  const auto does_not = db.connect();
  db.run(*does_not, "SET lock_timeout = '60s'");
  db.run(*knows, "BEGIN; UPDATE t SET a = 11 WHERE id = 1");
  Asking change{*does_not, "UPDATE t SET a = 13 WHERE id = 1"};
  REQUIRE(waits_for(db, change, "transactionid"));
  const auto builder = db.connect();
  Asking build{*builder, "CREATE " + kind};
  REQUIRE(waits_for(db, build, "virtualxid"));
  // The one of the two statements is planned with the index, the other was before.
  CHECK(db.run(*knows, "UPDATE t SET a = 12 WHERE id = 1") == "UPDATE 1");
  db.run(*knows, "COMMIT");
  CHECK(change.answer() == "done");
  CHECK(build.answer() == "done");
  CHECK(db.run("INSERT INTO t VALUES (3, 12)") == "INSERT 0 1");
  CHECK(by_index(db, db.session(), "SELECT a, id FROM t WHERE a + 0 > 0 ORDER BY a") ==
        "12|3 13|1 20|2 SELECT 3");
  CHECK(by_index(db, db.session(), kByA) == "12|3 13|1 20|2 SELECT 3");
}

TEST_CASE("Writers may change a row in turn while its index is being dropped",
          "[sql][session][concurrently]") {
  const std::string kind = GENERATE("INDEX i ON t (a)", "UNIQUE INDEX i ON t (a)");
  INFO(kind);
  TestDatabase db;
  create_two_rows(db);
  db.run("CREATE " + kind);
  const auto reader = db.connect();
  db.run(*reader, "BEGIN; SELECT count(*) FROM t");
  const auto dropper = db.connect();
  Asking drop{*dropper, "DROP INDEX CONCURRENTLY i"};
  REQUIRE(becomes(db, drop, "i"));
  const auto one = db.connect();
  const auto other = db.connect();
  db.run(*other, "SET lock_timeout = '60s'");
  db.run(*one, "BEGIN; UPDATE t SET a = 11 WHERE id = 1");
  Asking change{*other, "UPDATE t SET a = 11 WHERE id = 1"};
  REQUIRE(waits_for(db, change, "transactionid"));
  db.run(*reader, "COMMIT");
  REQUIRE(becomes(db, drop, "d"));
  CHECK(db.run(*one, "UPDATE t SET a = 12 WHERE id = 1") == "UPDATE 1");
  db.run(*one, "COMMIT");
  CHECK(change.answer() == "done");
  CHECK(drop.answer() == "done");
  CHECK(db.run("SELECT a, id FROM t ORDER BY a") == "11|1 20|2 SELECT 2");
}

TEST_CASE("Rows for which an unfinished index cannot be computed can be changed and deleted",
          "[sql][session][concurrently]") {
  TestDatabase db;
  create_two_rows(db);
  db.run("INSERT INTO t VALUES (3, 0), (4, 0)");
  const std::string kind = GENERATE("INDEX CONCURRENTLY i ON t ((100 / a))",
                                    "UNIQUE INDEX CONCURRENTLY i ON t ((100 / a))",
                                    "INDEX CONCURRENTLY i ON t USING gin ((ARRAY[100 / a]))");
  INFO(kind);
  CHECK(db.run("CREATE " + kind) == "22012 division by zero");
  CHECK(state_of_index(db, db.session()) == "d");
  CHECK(db.run("UPDATE t SET a = 0 WHERE id = 1") == "UPDATE 1");
  CHECK(db.run("UPDATE t SET a = 30 WHERE id = 3") == "UPDATE 1");
  CHECK(db.run("DELETE FROM t WHERE a = 0") == "DELETE 2");
  CHECK(db.run("REINDEX INDEX i") == "REINDEX");
  CHECK(db.run("UPDATE t SET a = 0 WHERE id = 3") == "22012 division by zero");
}

TEST_CASE("A build is a deadlock's victim where a writer of before waits for it",
          "[sql][session][concurrently]") {
  TestDatabase db;
  create_two_rows(db);
  const auto before = db.connect();
  db.run(*before, "SET deadlock_timeout = '1ms'; BEGIN; INSERT INTO t VALUES (3, 30)");
  const auto builder = db.connect();
  db.run(*builder, "SET deadlock_timeout = '1ms'");
  Asking build{*builder, "CREATE INDEX CONCURRENTLY i ON t (a)"};
  REQUIRE(waits_for(db, build, "virtualxid"));
  CHECK(db.run(*before, "ALTER TABLE t ADD b int") == "ALTER TABLE");
  CHECK(build.answer() == "40P01");
  CHECK(db.run(*before, "COMMIT") == "COMMIT");
  CHECK(state_of_index(db, db.session()) == "d");
}

TEST_CASE("Two builds on a table take turns", "[sql][session][concurrently]") {
  TestDatabase db;
  create_two_rows(db);
  const auto before = db.connect();
  db.run(*before, "BEGIN; INSERT INTO t VALUES (3, 30)");
  const auto one = db.connect();
  const auto two = db.connect();
  db.run(*one, "SET deadlock_timeout = '1ms'");
  db.run(*two, "SET deadlock_timeout = '1ms'");
  Asking first{*one, "CREATE INDEX CONCURRENTLY i ON t (a)"};
  REQUIRE(waits_for(db, first, "virtualxid"));
  Asking second{*two, "CREATE INDEX CONCURRENTLY j ON t (a)"};
  REQUIRE(waits_for(db, second, "relation"));
  std::this_thread::sleep_for(20ms);
  db.run(*before, "COMMIT");
  CHECK(first.answer() == "done");
  CHECK(second.answer() == "done");
  CHECK(state_of_index(db, db.session(), "i") == "v");
  CHECK(state_of_index(db, db.session(), "j") == "v");
}

TEST_CASE("Statements prepared before a build maintain the index, and use it afterwards",
          "[sql][session][concurrently]") {
  TestDatabase db;
  create_two_rows(db);
  const auto writer = db.connect();
  db.run(*writer, "PREPARE ins AS INSERT INTO t VALUES ($1, $2)");
  db.run(*writer, "PREPARE del AS DELETE FROM t WHERE id = $1");
  CHECK(db.run(*writer, "EXECUTE ins (3, 30)") == "INSERT 0 1");
  CHECK(db.run(*writer, "EXECUTE del (1)") == "DELETE 1");
  const auto before = db.connect();
  db.run(*before, "BEGIN; INSERT INTO t VALUES (4, 40)");
  const auto builder = db.connect();
  Asking build{*builder, "CREATE INDEX CONCURRENTLY i ON t (a)"};
  REQUIRE(waits_for(db, build, "virtualxid"));
  CHECK(db.run(*writer, "EXECUTE ins (5, 50)") == "INSERT 0 1");
  CHECK(db.run(*writer, "EXECUTE del (2)") == "DELETE 1");
  db.run(*before, "COMMIT");
  CHECK(build.answer() == "done");
  CHECK(db.run(*writer, "EXECUTE ins (6, 60)") == "INSERT 0 1");
  CHECK(db.run(*writer, "EXECUTE del (3)") == "DELETE 1");
  CHECK(by_index(db, db.session(), kByA) == "40|4 50|5 60|6 SELECT 3");
}

TEST_CASE("DROP INDEX CONCURRENTLY waits for those who use the table, and holds nobody off",
          "[sql][session][concurrently]") {
  TestDatabase db;
  create_two_rows(db);
  db.run("CREATE INDEX i ON t (a)");
  const auto reader = db.connect();
  db.run(*reader, "BEGIN; DECLARE c CURSOR FOR SELECT a FROM t WHERE a > 0 ORDER BY a");
  CHECK(db.run(*reader, "FETCH c") == "10 FETCH 1");
  const auto dropper = db.connect();
  Asking drop{*dropper, "DROP INDEX CONCURRENTLY i"};
  REQUIRE(waits_for(db, drop, "virtualxid"));
  CHECK(state_of_index(db, db.session()) == "i");
  CHECK(db.run("INSERT INTO t VALUES (3, 30)") == "INSERT 0 1");
  CHECK(db.run("SELECT count(*) FROM t") == "3 SELECT 1");
  CHECK(db.run(*reader, "FETCH c") == "20 FETCH 1");
  db.run(*reader, "COMMIT");
  CHECK(drop.answer() == "done");
  CHECK(state_of_index(db, db.session()).empty());
  CHECK(db.run("INSERT INTO t VALUES (4, 40)") == "INSERT 0 1");
}

TEST_CASE("CONCURRENTLY is refused where the transaction cannot end",
          "[sql][session][concurrently]") {
  TestDatabase db;
  create_two_rows(db);
  db.run("CREATE INDEX i ON t (a)");
  for (const auto* statement : {"CREATE INDEX CONCURRENTLY ON t (a)", "DROP INDEX CONCURRENTLY i",
                                "REINDEX TABLE CONCURRENTLY t"}) {
    INFO(statement);
    CHECK(db.run(std::string{"BEGIN; "} + statement).starts_with("25001"));
    db.run("ROLLBACK");
    CHECK_THAT(db.run("DO $$ BEGIN EXECUTE '" + std::string{statement} + "'; END $$"),
               Catch::EndsWith("cannot be executed from a function"));
    CHECK(state_of_index(db, db.session()) == "v");
  }
  db.run("CREATE TEMP TABLE own (a int)");
  CHECK(db.run("BEGIN; CREATE INDEX CONCURRENTLY ON own (a)").starts_with("25001"));
  db.run("ROLLBACK");
  CHECK(db.run("CREATE INDEX CONCURRENTLY o ON own (a)") == "CREATE INDEX");
  CHECK(db.run("REINDEX TABLE CONCURRENTLY own") == "REINDEX");
  CHECK(db.run("DROP INDEX CONCURRENTLY o") == "DROP INDEX");
}

TEST_CASE("A partition is detached when nobody uses the list of before, and holds nobody off",
          "[sql][session][partitions][concurrently]") {
  TestDatabase db;
  db.run("CREATE TABLE p (a int, b text) PARTITION BY RANGE (a)");
  db.run("CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10)");
  db.run("CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20)");
  db.run("CREATE INDEX ON p (a); INSERT INTO p SELECT n, 'x' FROM generate_series(0, 19) n");
  const auto reader = db.connect();
  db.run(*reader, "BEGIN; SELECT count(*) FROM p");
  const auto detacher = db.connect();
  const bool is_cancelled = GENERATE(false, true);
  {
    Asking detach{*detacher, "ALTER TABLE p DETACH PARTITION p1 CONCURRENTLY"};
    REQUIRE(waits_for(db, detach, "virtualxid"));
    CHECK(db.run("SELECT inhrelid::regclass, inhdetachpending FROM pg_inherits WHERE inhparent = "
                 "'p'::regclass ORDER BY 1") == "p1|t p2|f SELECT 2");
    CHECK(db.run("SELECT count(*) FROM p") == "10 SELECT 1");
    CHECK(db.run("SELECT count(*) FROM p1") == "10 SELECT 1");
    CHECK(db.run("INSERT INTO p VALUES (5, 'y')").starts_with("23514"));
    CHECK(db.run("INSERT INTO p VALUES (15, 'y')") == "INSERT 0 1");
    CHECK(db.run("INSERT INTO p1 VALUES (5, 'y')") == "INSERT 0 1");
    CHECK(db.run("INSERT INTO p1 VALUES (50, 'y')").starts_with("23514"));
    if (is_cancelled) detacher->cancel();
    if (!is_cancelled) db.run(*reader, "COMMIT");
    CHECK(detach.answer() == (is_cancelled ? "57014" : "done"));
  }
  if (is_cancelled) {
    db.run(*reader, "COMMIT");
    CHECK(db.run("ALTER TABLE p DETACH PARTITION p1") == "55000 cannot detach partition \"p1\"");
    CHECK(db.run("ALTER TABLE p DETACH PARTITION p2 CONCURRENTLY") ==
          "55000 partition \"p1\" already pending detach in partitioned table \"public.p\"");
    const bool is_dropped = GENERATE(false, true);
    if (is_dropped) {
      CHECK(db.run("DROP TABLE p") == "DROP TABLE");
      CHECK(db.run("SELECT count(*) FROM pg_class WHERE relname LIKE 'p_'") == "0 SELECT 1");
      return;
    }
    CHECK(db.run("BEGIN; ALTER TABLE p DETACH PARTITION p1 FINALIZE; COMMIT") ==
          "BEGIN ALTER TABLE COMMIT");
  }
  CHECK(db.run("SELECT inhrelid::regclass, inhdetachpending FROM pg_inherits WHERE inhparent = "
               "'p'::regclass") == "p2|f SELECT 1");
  CHECK(db.run("INSERT INTO p1 VALUES (50, 'y')") ==
        "23514 new row for relation \"p1\" violates check constraint \"p1_a_check\"");
  CHECK(db.run("ALTER TABLE p1 DROP CONSTRAINT p1_a_check") == "ALTER TABLE");
  CHECK(db.run("INSERT INTO p1 VALUES (50, 'y')") == "INSERT 0 1");
  CHECK(db.run("SELECT count(*) FROM p") == "11 SELECT 1");
  CHECK(
      db.run("ALTER TABLE p ATTACH PARTITION p1 FOR VALUES FROM (0) TO (10)").starts_with("23514"));
}
