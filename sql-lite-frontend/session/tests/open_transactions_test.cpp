#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/beside.h"
#include "storage/statistics.h"

using namespace swizzle;
using namespace swizzle::sql;

// Sessions that keep a transaction open: how others see them and end the transaction.

namespace {

Diagnostic reason() {
  Diagnostic reason;
  reason.severity = Severity::fatal;
  reason.state = SqlState{"53400"};
  reason.message = "too much log";
  return reason;
}

TxnId only_writer(TestDatabase& db) {
  const auto writers = db.engine().writers();
  REQUIRE(writers.size() == 1);
  return writers.front().id;
}

constexpr const char* kOther =
    "SELECT xact_start IS NOT NULL, xact_start <= query_start, backend_xid IS NOT NULL, "
    "backend_xmin IS NOT NULL FROM pg_stat_activity WHERE pid = 2";

}  // namespace

TEST_CASE("pg_stat_activity shows since when a transaction is open and what it keeps",
          "[sql][session]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(a int)");
  CHECK(db.run(kOther) == "f|NULL|f|f SELECT 1");
  db.run(*other, "BEGIN");
  CHECK(db.run(kOther) == "t|t|f|f SELECT 1");
  db.run(*other, "INSERT INTO t VALUES (1)");
  CHECK(db.run(kOther) == "t|t|t|f SELECT 1");
  CHECK(db.run("SELECT backend_xid FROM pg_stat_activity WHERE pid = 2") ==
        std::to_string(raw(only_writer(db))) + " SELECT 1");
  db.run(*other, "COMMIT");
  CHECK(db.run(kOther) == "f|NULL|f|f SELECT 1");
  db.run(*other, "BEGIN ISOLATION LEVEL REPEATABLE READ");
  db.run(*other, "SELECT * FROM t");
  CHECK(db.run(kOther) == "t|t|f|t SELECT 1");
  // Changes by writers from now on are not visible to it.
  db.run("BEGIN");
  db.run("INSERT INTO t VALUES (2)");
  CHECK(db.run("SELECT o.backend_xmin = own.backend_xid FROM pg_stat_activity o, pg_stat_activity "
               "own WHERE o.pid = 2 AND own.pid = 1") == "t SELECT 1");
  db.run("ROLLBACK");
  db.run(*other, "ROLLBACK");
  CHECK(db.run("SELECT xact_start = now() FROM pg_stat_activity WHERE pid = 1") == "t SELECT 1");
}

TEST_CASE("Ending an idle session's transaction ends the session", "[sql][session]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(a int); INSERT INTO t VALUES (1)");
  db.run(*other, "BEGIN; UPDATE t SET a = 2");
  const TxnId writer = only_writer(db);
  // Ending another transaction leaves this one alone.
  CHECK_FALSE(other->end_transaction(TxnId{raw(writer) + 1}, reason()));
  CHECK_FALSE(db.session().end_transaction(writer, reason()));
  CHECK_FALSE(other->termination());
  CHECK(other->end_transaction(writer, reason()));
  REQUIRE(other->termination());
  CHECK(other->termination()->state == SqlState{"53400"});
  CHECK(db.run(*other, "COMMIT") == "53400 too much log");
  CHECK(db.run("SELECT a FROM t") == "1 SELECT 1");
}

TEST_CASE("Ending a transaction that has ended ends nothing", "[sql][session]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(a int)");
  db.run(*other, "BEGIN; INSERT INTO t VALUES (2)");
  const TxnId writer = only_writer(db);
  db.run(*other, "COMMIT");
  CHECK_FALSE(other->end_transaction(writer, reason()));
  CHECK(db.run(*other, "BEGIN; INSERT INTO t VALUES (3); COMMIT") == "BEGIN INSERT 0 1 COMMIT");
}

TEST_CASE("Exported snapshots of a session share one place, and others go on beside them",
          "[sql][session]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(a int)");
  db.run("INSERT INTO t VALUES (1)");
  db.run("BEGIN");
  CHECK(db.run("SELECT count(pg_export_snapshot()) FROM generate_series(1, 8200)") ==
        "8200 SELECT 1");
  CHECK(db.engine().snapshots().size() <= 2);
  const std::string first = db.rows("SELECT pg_export_snapshot()").front();
  db.run(*other, "INSERT INTO t VALUES (2)");
  const std::string second = db.rows("SELECT pg_export_snapshot()").front();
  const auto sees = [&](const std::string& snapshot) {
    db.run(*other, "BEGIN ISOLATION LEVEL REPEATABLE READ");
    db.run(*other, "SET TRANSACTION SNAPSHOT '" + snapshot + "'");
    const std::string rows = db.run(*other, "SELECT count(*) FROM t");
    db.run(*other, "COMMIT");
    return rows;
  };
  CHECK(sees(first) == "1 SELECT 1");
  CHECK(sees(second) == "2 SELECT 1");
  CHECK(sees(first) == "1 SELECT 1");
  db.run("COMMIT");
  CHECK(db.engine().snapshots().empty());
  CHECK(sees(first).starts_with("25P02"));
}

TEST_CASE("With every place for transactions taken statements are refused, superusers are not",
          "[sql][session]") {
  TestDatabase db;
  db.run("CREATE ROLE plain");
  const auto plain = db.connect();
  db.run(*plain, "SET SESSION AUTHORIZATION plain");
  std::vector<std::unique_ptr<Transaction>> open;
  for (auto begun = db.engine().try_begin(); begun; begun = db.engine().try_begin())
    open.push_back(std::move(*begun));
  // The place that it had before has been taken by another.
  CHECK(db.run(*plain, "SELECT 1") == "53400 too many transactions are open");
  CHECK(db.run(*plain, "BEGIN") == "53400 too many transactions are open");
  CHECK(db.run(*plain, "SELECT 1") == "53400 too many transactions are open");
  CHECK(db.run("SELECT 1") == "1 SELECT 1");
  CHECK(db.run("CREATE TABLE t(a serial)") == "CREATE TABLE");
  CHECK(db.run("INSERT INTO t DEFAULT VALUES") == "INSERT 0 1");
  CHECK(db.run("BEGIN; SELECT pg_export_snapshot() IS NOT NULL; COMMIT") ==
        "t BEGIN SELECT 1 COMMIT");
  const auto late = db.connect();
  CHECK(db.run(*late, "SELECT 1") == "1 SELECT 1");
  open.pop_back();
  CHECK(db.run(*plain, "SELECT 1") == "1 SELECT 1");
  CHECK(
      db.run(*plain, "BEGIN; SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT 1; COMMIT") ==
      "1 BEGIN SET SELECT 1 COMMIT");
}

TEST_CASE("REPEATABLE READ begins with the first statement that has a snapshot in PostgreSQL",
          "[sql][session]") {
  struct Case {
    const char* statement;
    bool takes;
  };
  constexpr Case kCases[] = {{"SELECT 1", true},
                             {"SELECT now()", true},
                             {"VALUES (1)", true},
                             {"SHOW work_mem", false},
                             {"SET work_mem = '5MB'", false},
                             {"SET LOCAL search_path = public", false},
                             {"RESET work_mem", false},
                             {"SAVEPOINT a", false},
                             {"LOCK TABLE u", false},
                             {"SET CONSTRAINTS ALL DEFERRED", false},
                             {"LISTEN x", false},
                             {"NOTIFY x", false},
                             {"UNLISTEN *", false},
                             {"SET TRANSACTION READ WRITE", false},
                             {"DECLARE c CURSOR FOR SELECT 1", true},
                             {"EXPLAIN SELECT 1", true},
                             {"PREPARE p AS SELECT 1", true},
                             {"DEALLOCATE ALL", true},
                             {"CLOSE ALL", true},
                             {"DISCARD PLANS", true},
                             {"DO $$ BEGIN END $$", true},
                             {"CREATE TABLE z(a int)", true},
                             {"CREATE TABLE z AS SELECT 1", true},
                             {"DROP TABLE y", true},
                             {"ALTER TABLE y ADD c int", true},
                             {"COMMENT ON TABLE y IS 'x'", true},
                             {"CREATE INDEX ON y(b)", true},
                             {"TRUNCATE y", true},
                             {"GRANT SELECT ON y TO PUBLIC", true},
                             {"COPY u TO STDOUT", true},
                             {"ANALYZE u", true},
                             {"CREATE SCHEMA s", true}};
  for (const Case& one : kCases) {
    INFO(one.statement);
    TestDatabase db;
    const auto other = db.connect();
    db.run("CREATE TABLE t(a int); CREATE TABLE u(a int); CREATE TABLE y(b int)");
    db.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    REQUIRE_FALSE(db.run(one.statement).starts_with("42"));
    db.run(*other, "INSERT INTO t VALUES (1)");
    CHECK(db.run("SELECT count(*) FROM t") == (one.takes ? "0 SELECT 1" : "1 SELECT 1"));
    db.run("ROLLBACK; DEALLOCATE ALL; BEGIN");
    db.run(one.statement);
    const std::string set = db.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    if (one.takes) CHECK(set.starts_with("25001"));
  }
}

TEST_CASE("Locks of rows are counted in the session's memory", "[sql][session][memory]") {
  TestDatabase db;
  db.run("CREATE TABLE p(id int PRIMARY KEY); CREATE TABLE c(p int REFERENCES p)");
  db.run("INSERT INTO p SELECT generate_series(1, 120000)");
  const auto other = db.connect();
  db.run(*other, "SET lock_timeout = 100");
  // Many parents are referred to, and their table stays open to writers.
  db.run("BEGIN");
  CHECK(db.run("INSERT INTO c SELECT generate_series(1, 110000)") == "INSERT 0 110000");
  CHECK(db.engine().statistics().lock_escalations == 0);
  CHECK(db.run(*other, "INSERT INTO p VALUES (0)") == "INSERT 0 1");
  CHECK(db.run(*other, "DELETE FROM p WHERE id = 120000") == "DELETE 1");
  CHECK(db.run(*other, "DELETE FROM p WHERE id = 1").starts_with("55P03"));
  db.run("ROLLBACK; SET session_memory_limit = '4MB'");
  CHECK(db.run("BEGIN; SELECT count(*) FROM (SELECT 1 FROM p FOR SHARE) q").starts_with("53200"));
  db.run("ROLLBACK");
  // All places were released.
  for (int again = 0; again < 3; ++again)
    CHECK(db.run("BEGIN; SELECT count(*) FROM (SELECT 1 FROM p WHERE id < 5000 FOR SHARE) q; "
                 "ROLLBACK") == "5000 BEGIN SELECT 1 ROLLBACK");
}

TEST_CASE("ON CONFLICT DO NOTHING at REPEATABLE READ does not pass over a row that it cannot see",
          "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, v text UNIQUE)");
  const auto other = db.connect();
  for (const char* insert : {"INSERT INTO t VALUES (1, 'a') ON CONFLICT DO NOTHING",
                             "INSERT INTO t VALUES (1, 'b') ON CONFLICT (id) DO NOTHING",
                             "INSERT INTO t VALUES (2, 'a') ON CONFLICT (v) DO NOTHING"}) {
    INFO(insert);
    db.run("DELETE FROM t; BEGIN; INSERT INTO t VALUES (1, 'a')");
    CHECK(answer_beside(db, *other, std::string{"BEGIN ISOLATION LEVEL REPEATABLE READ; "} + insert)
              .starts_with("40001"));
    db.run(*other, "ROLLBACK");
    db.run("DELETE FROM t; BEGIN; INSERT INTO t VALUES (1, 'a')");
    CHECK(answer_beside(db, *other, insert) == "INSERT 0 0");
  }
}
