#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

// Sessions that keep a transaction open: how others see them, and end the transaction.

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
  // Writers from now on are not visible to it.
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
  // Of another transaction it is left alone.
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
