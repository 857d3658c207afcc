#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

/// Values that a user may not read are not revealed in other ways either.
namespace swizzle::sql {
namespace {

std::unique_ptr<Session> log_in_as(TestDatabase& db, const std::string& role) {
  static std::int32_t pid = 2000;
  SessionOptions options;
  options.user = role;
  options.backend_pid = ++pid;
  auto session = db.database().connect(std::move(options));
  REQUIRE(session);
  return std::move(*session);
}

/// Returns the DETAIL of the statement's error.
std::string detail_of(TestDatabase& db, Session& session, const std::string& sql) {
  db.sink().clear();
  const Outcome outcome = session.simple_query(sql, db.sink());
  REQUIRE_FALSE(outcome);
  return outcome.error().detail;
}

}  // namespace

TEST_CASE("details of errors show what one may read or has given", "[sql][session][roles]") {
  TestDatabase db;
  db.run(
      "CREATE ROLE ann LOGIN; CREATE TABLE t (a int PRIMARY KEY, b int UNIQUE, c int NOT NULL,"
      "CHECK (b < 9)); CREATE UNIQUE INDEX e ON t ((c + 0));"
      "INSERT INTO t VALUES (1, 1, 77), (2, 2, 78);"
      "GRANT INSERT, UPDATE, SELECT (a) ON t TO ann");
  const auto ann = log_in_as(db, "ann");
  const auto detail = [&](const std::string& sql) { return detail_of(db, *ann, sql); };
  CHECK(detail("UPDATE t SET b = 9 WHERE a = 1") == "Failing row contains (a, b) = (1, 9).");
  CHECK(detail("INSERT INTO t (a, b) VALUES (3, 3)") == "Failing row contains (a, b) = (3, 3).");
  CHECK(detail("INSERT INTO t VALUES (1, 3, 3)") == "Key (a)=(1) already exists.");
  CHECK(detail("INSERT INTO t VALUES (3, 1, 3)").empty());
  CHECK(detail("INSERT INTO t VALUES (3, 3, 77)").empty());
  db.run("GRANT SELECT ON t TO ann");
  CHECK(detail("UPDATE t SET b = 9 WHERE a = 1") == "Failing row contains (1, 9, 77).");
  CHECK(detail("INSERT INTO t VALUES (3, 1, 3)") == "Key (b)=(1) already exists.");
  CHECK(detail("INSERT INTO t VALUES (3, 3, 77)") == "Key ((c + 0))=(77) already exists.");
}

TEST_CASE("statistics are shown to those who may read the column", "[sql][session][roles]") {
  TestDatabase db;
  db.run(
      "CREATE ROLE ann LOGIN; CREATE TABLE t (a int, b int);"
      "INSERT INTO t SELECT n, n FROM generate_series(1, 100) n; ANALYZE t;"
      "GRANT SELECT (a) ON t TO ann");
  const auto ann = log_in_as(db, "ann");
  CHECK(db.run(*ann, "SELECT attname FROM pg_stats WHERE tablename = 't'") == "a SELECT 1");
}

TEST_CASE("rights to a view's columns count for each column", "[sql][session][roles]") {
  TestDatabase db;
  db.run(
      "CREATE ROLE ann LOGIN; CREATE TABLE t (a int, b int, c int);"
      "INSERT INTO t VALUES (1, 1, 1); CREATE VIEW v AS SELECT a, b AS x, c FROM t;"
      "CREATE VIEW w AS SELECT x, a FROM v WHERE c = 1;"
      "GRANT SELECT (a), UPDATE (x), INSERT (a) ON v TO ann; GRANT SELECT (x) ON w TO ann");
  const auto ann = log_in_as(db, "ann");
  const auto run = [&](const std::string& sql) { return db.run(*ann, sql); };
  const std::string refused = "42501 permission denied for view v";
  CHECK(run("SELECT a FROM v") == "1 SELECT 1");
  CHECK(run("SELECT x FROM v") == refused);
  CHECK(run("SELECT 1 FROM v WHERE x = 1") == refused);
  CHECK(run("SELECT * FROM v") == refused);
  CHECK(run("SELECT count(*) FROM v") == "1 SELECT 1");
  CHECK(run("SELECT x FROM w") == "1 SELECT 1");
  CHECK(run("SELECT a FROM w") == "42501 permission denied for view w");
  CHECK(run("UPDATE v SET x = 2") == "UPDATE 1");
  CHECK(run("UPDATE v SET a = 2") == refused);
  CHECK(run("UPDATE v SET x = a") == "UPDATE 1");
  CHECK(run("UPDATE v SET x = c") == refused);
  CHECK(run("UPDATE v SET x = 2 WHERE c = 1") == refused);
  CHECK(run("UPDATE v SET x = 2 RETURNING a") == "1 UPDATE 1");
  CHECK(run("UPDATE v SET x = 2 RETURNING x") == refused);
  CHECK(run("INSERT INTO v (a) VALUES (5)") == "INSERT 0 1");
  CHECK(run("INSERT INTO v (x) VALUES (5)") == refused);
  CHECK(run("SELECT a FROM v FOR UPDATE") == "1 5 SELECT 2");
  CHECK(run("DELETE FROM v") == refused);
}

TEST_CASE("who asks for a plan, or makes a table like another, needs the rights",
          "[sql][session][roles]") {
  TestDatabase db;
  db.run(
      "CREATE ROLE ann LOGIN; CREATE TABLE t (a int PRIMARY KEY, b int);"
      "GRANT INSERT, UPDATE ON t TO ann; GRANT CREATE ON SCHEMA public TO ann");
  const auto ann = log_in_as(db, "ann");
  const auto run = [&](const std::string& sql) { return db.run(*ann, sql); };
  const std::string refused = "42501 permission denied for table t";
  CHECK(run("EXPLAIN SELECT * FROM t") == refused);
  CHECK(run("EXPLAIN DELETE FROM t") == refused);
  CHECK(run("PREPARE p AS SELECT * FROM t") == "PREPARE");
  CHECK(run("EXPLAIN EXECUTE p") == refused);
  CHECK(run("CREATE TABLE z (LIKE t)") == refused);
  CHECK(run("INSERT INTO t VALUES (1, 1) ON CONFLICT (a) DO NOTHING") == refused);
  db.run("GRANT SELECT (a) ON t TO ann");
  CHECK(run("INSERT INTO t VALUES (1, 1) ON CONFLICT (a) DO NOTHING") == "INSERT 0 1");
  CHECK(run("INSERT INTO t VALUES (1, 1) ON CONFLICT (a) DO UPDATE SET b = 1") == "INSERT 0 1");
  CHECK(run("INSERT INTO t VALUES (1, 1) ON CONFLICT (a) DO UPDATE SET b = EXCLUDED.a") ==
        "INSERT 0 1");
  CHECK(run("INSERT INTO t VALUES (1, 1) ON CONFLICT (a) DO UPDATE SET b = EXCLUDED.b") == refused);
}

TEST_CASE("temporary tables are their owner's", "[sql][session][roles]") {
  TestDatabase db;
  db.run("CREATE ROLE ann LOGIN; CREATE TEMP TABLE mine (a int); SET ROLE ann");
  CHECK(db.run("SELECT * FROM mine") == "42501 permission denied for table mine");
  CHECK(db.run("DROP TABLE mine") == "42501 must be owner of table mine");
  db.run("RESET ROLE; REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC");
  const auto ann = log_in_as(db, "ann");
  CHECK(db.run(*ann, "CREATE TEMP TABLE t (a int)") ==
        "42501 permission denied to create temporary tables in database \"postgres\"");
}

TEST_CASE("grant options do not come back to who gave them", "[sql][session][roles]") {
  TestDatabase db;
  db.run(
      "CREATE ROLE owner; CREATE ROLE bob; CREATE ROLE carol; CREATE SCHEMA s AUTHORIZATION owner;"
      "GRANT USAGE ON SCHEMA s TO bob, carol; SET ROLE owner; CREATE TABLE s.t (a int);"
      "GRANT SELECT ON s.t TO bob WITH GRANT OPTION; SET ROLE bob;"
      "GRANT SELECT ON s.t TO carol WITH GRANT OPTION");
  CHECK(db.run("SET ROLE carol; GRANT SELECT ON s.t TO bob WITH GRANT OPTION") ==
        "0LP01 grant options cannot be granted back to your own grantor");
  CHECK(db.run("SET ROLE carol; GRANT SELECT ON s.t TO bob") == "SET GRANT");
  CHECK(db.run("SET ROLE owner; REVOKE SELECT ON s.t FROM bob CASCADE") == "SET REVOKE");
  CHECK(db.run("SET ROLE carol; SELECT * FROM s.t") == "42501 permission denied for table t");
  CHECK(db.run("SET ROLE bob; SELECT * FROM s.t") == "42501 permission denied for table t");
}

}  // namespace swizzle::sql
