#include <string>

#include "sql-lite-frontend/session/tests/beside.h"

using namespace swizzle;
using namespace swizzle::sql;

TEST_CASE("Who waits for a table that is dropped meanwhile finds the next one of its name, or none",
          "[sql][session][locks]") {
  TestDatabase db;
  const auto other = db.connect();
  for (const char* statement : {"COPY t FROM STDIN",
                                "COPY t TO STDOUT",
                                "COPY t (a) FROM STDIN WHERE a > 0",
                                "SELECT a FROM t",
                                "INSERT INTO t VALUES (1)",
                                "UPDATE t SET a = 2",
                                "DELETE FROM t",
                                "TRUNCATE t",
                                "ANALYZE t",
                                "VACUUM t",
                                "LOCK TABLE t",
                                "BEGIN; LOCK TABLE t; COMMIT",
                                "CREATE INDEX ON t (a)",
                                "REINDEX TABLE t",
                                "ALTER TABLE t ADD COLUMN c int",
                                "ALTER TABLE t RENAME TO u",
                                "COMMENT ON TABLE t IS 'x'",
                                "GRANT SELECT ON t TO PUBLIC",
                                "CREATE VIEW v AS SELECT a FROM t",
                                "CREATE TABLE r (a int REFERENCES t)",
                                "CREATE STATISTICS s ON a, b FROM t",
                                "DROP TABLE t",
                                "CREATE TABLE l (LIKE t)",
                                "CREATE PUBLICATION p FOR TABLE t",
                                "CREATE TABLE w AS TABLE t",
                                "DECLARE k CURSOR WITH HOLD FOR SELECT a FROM t",
                                "EXPLAIN ANALYZE SELECT a FROM t"}) {
    for (const char* next : {"CREATE TABLE t (a int PRIMARY KEY, b text)",
                             "CREATE VIEW t AS SELECT 1 AS a", "SELECT 1"}) {
      INFO(statement << " beside DROP TABLE t; " << next);
      db.run("DROP VIEW IF EXISTS v");
      db.run("DROP TABLE IF EXISTS r, l, w, u CASCADE");
      db.run("DROP VIEW IF EXISTS t");
      db.run("DROP TABLE IF EXISTS t CASCADE");
      db.run("DROP PUBLICATION IF EXISTS p");
      REQUIRE(db.run("CREATE TABLE t (a int)") == "CREATE TABLE");
      REQUIRE(db.run("BEGIN; DROP TABLE t") == "BEGIN DROP TABLE");
      db.run(next);
      const std::string answer = answer_beside(db, *other, statement);
      CHECK_FALSE(answer.starts_with("XX000"));
      db.run(*other, "ROLLBACK");
      CHECK(db.run(*other, "SELECT 1") == "1 SELECT 1");
    }
  }
}

TEST_CASE(
    "VACUUM and ANALYZE of a table that is held wait for it, or leave it out if they are told to",
    "[sql][session][locks]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t (a int)");
  db.run(*other, "SET lock_timeout = 100");
  db.run("BEGIN; LOCK TABLE t IN SHARE MODE");
  for (const char* const statement : {"VACUUM t", "ANALYZE t", "VACUUM (ANALYZE) t"}) {
    INFO(statement);
    CHECK(db.run(*other, statement).starts_with("55P03"));
  }
  CHECK(db.run(*other, "VACUUM (SKIP_LOCKED) t") == "VACUUM");
  CHECK(db.run(*other, "VACUUM (SKIP_LOCKED, ANALYZE) t") == "VACUUM");
  CHECK(db.run(*other, "ANALYZE (SKIP_LOCKED) t") == "ANALYZE");
  CHECK(db.run(*other, "ANALYZE (SKIP_LOCKED)") == "ANALYZE");
  db.run("COMMIT");
  CHECK(db.run(*other, "VACUUM (ANALYZE) t") == "VACUUM");
}

TEST_CASE("Who waits for an object that goes, or is another's, looks for it again by its name",
          "[sql][session][locks]") {
  struct Case {
    const char* there;
    const char* change;
    const char* statement;
    const char* answer;
  };
  // A definition that uses an object must fail if the object was dropped meanwhile, and a drop must
  // see the definitions made meanwhile. scripts/wait-diff tests all kinds.
  constexpr Case kCases[] = {
      {"CREATE TABLE t (a int)", "DROP TABLE t", "CREATE VIEW v AS TABLE t", "42P01"},
      {"CREATE TABLE t (a int)", "ALTER TABLE t RENAME TO u; CREATE TABLE t (z text)",
       "ALTER TABLE t ADD COLUMN b int", "ALTER TABLE"},
      {"CREATE TABLE t (a int, b int); CREATE INDEX i ON t (a); CREATE INDEX j ON t (b)",
       "ALTER INDEX j RENAME TO k", "DROP INDEX j", "42704"},
      {"CREATE TABLE t (a int); CREATE UNIQUE INDEX i ON t (a)",
       "CREATE TABLE u (a int REFERENCES t (a))", "DROP INDEX i", "2BP01"},
      {"CREATE TABLE t (a int)", "CREATE VIEW v AS TABLE t", "DROP TABLE t", "2BP01"},
      {"CREATE SCHEMA s", "DROP SCHEMA s", "CREATE TABLE s.t (a int)", "3F000"},
      {"CREATE SCHEMA s", "CREATE TABLE s.t (a int)", "DROP SCHEMA s", "2BP01"},
      {"CREATE SCHEMA s", "CREATE FUNCTION s.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
       "DROP SCHEMA s", "2BP01"},
      {"CREATE ROLE r", "DROP ROLE r", "CREATE SCHEMA s AUTHORIZATION r", "42704"},
      {"CREATE ROLE r; CREATE TABLE t (a int)", "GRANT SELECT ON t TO r", "DROP ROLE r", "2BP01"},
      {"CREATE TYPE e AS ENUM ('a'); CREATE TABLE t (a int)", "DROP TYPE e",
       "CREATE VIEW v AS SELECT 'a'::e AS x", "42704"},
      {"CREATE TYPE e AS ENUM ('a')", "CREATE TABLE t (x text DEFAULT 'a'::e::text)", "DROP TYPE e",
       "2BP01"},
      {"CREATE TABLE t (a int); CREATE TABLE u (a int); CREATE PUBLICATION p FOR TABLE t",
       "ALTER PUBLICATION p ADD TABLE u", "ALTER PUBLICATION p DROP TABLE t", "ALTER PUBLICATION"},
      {"CREATE TABLE t (a int); CREATE PUBLICATION p", "DROP TABLE t",
       "ALTER PUBLICATION p ADD TABLE t", "42P01"},
      {"CREATE SEQUENCE s", "CREATE VIEW v AS SELECT last_value FROM s", "DROP SEQUENCE s",
       "2BP01"},
      {"CREATE SEQUENCE s", "CREATE VIEW v AS SELECT nextval('s')", "DROP SEQUENCE s", "2BP01"},
      {"CREATE SEQUENCE s", "DROP SEQUENCE s", "CREATE VIEW v AS SELECT nextval('s')", "42P01"},
      {"CREATE TYPE e AS ENUM ('a')", "DROP TYPE e", "CREATE VIEW v AS SELECT 'e'::regtype",
       "42704"},
      {"CREATE TABLE t (a int)", "DROP TABLE t", "CREATE TABLE x (LIKE t)", "42P01"},
      // A relation has a row type of the same name.
      {"SELECT 1", "CREATE TABLE x (a int)", "CREATE TYPE x AS ENUM ('a')", "42710"},
      {"SELECT 1", "CREATE TYPE x AS ENUM ('a')", "CREATE VIEW x AS SELECT 1 AS a", "42710"},
      {"CREATE TABLE t (a int)", "CREATE INDEX x ON t (a)", "CREATE TYPE x AS (b int)", "42P07"},
      {"CREATE TABLE t (a int)", "CREATE TYPE x AS (b int)", "CREATE INDEX x ON t (a)", "42P07"},
      {"CREATE DOMAIN d AS int", "CREATE TABLE x (a int)", "ALTER DOMAIN d RENAME TO x", "42710"},
      {"CREATE TABLE t (a int)", "CREATE DOMAIN x AS int", "ALTER TABLE t RENAME TO x", "42710"},
  };
  for (const Case& one : kCases) {
    INFO(one.statement << " beside " << one.change);
    TestDatabase db;
    const auto other = db.connect();
    db.run(one.there);
    const std::string begun = db.run(std::string{"BEGIN; "} + one.change);
    REQUIRE(begun.starts_with("BEGIN "));
    CHECK(answer_beside(db, *other, one.statement).starts_with(one.answer));
    db.run(*other, "ROLLBACK");
  }
}

TEST_CASE("Who acts for a role that has been dropped sets no default privileges for it",
          "[sql][session][locks]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE ROLE r; SET ROLE r");
  REQUIRE(db.run(*other, "DROP ROLE r") == "DROP ROLE");
  CHECK(db.run("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC").starts_with("42704"));
  CHECK(db.run("SELECT count(*) FROM pg_default_acl") == "0 SELECT 1");
  CHECK(db.run("RESET ROLE; CREATE TABLE t (a int)") == "RESET CREATE TABLE");
}

TEST_CASE("Who waits for a table whose name becomes another's uses that one, with the rights to it",
          "[sql][session][locks]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE ROLE r");
  for (const char* statement :
       {"COPY t FROM STDIN", "LOCK TABLE t IN ROW EXCLUSIVE MODE", "INSERT INTO t VALUES (1)",
        "UPDATE t SET a = 1", "DELETE FROM t"}) {
    for (const bool is_allowed : {true, false}) {
      INFO(statement << (is_allowed ? "" : " without a right to what gets the name"));
      db.run("DROP TABLE IF EXISTS t, u, was");
      db.run("CREATE TABLE t (a int); CREATE TABLE u (a int)");
      db.run(is_allowed ? "GRANT ALL ON t, u TO r" : "GRANT ALL ON t TO r");
      db.run(*other, "SET ROLE r; BEGIN");
      REQUIRE(db.run("BEGIN; ALTER TABLE t RENAME TO was; ALTER TABLE u RENAME TO t") ==
              "BEGIN ALTER TABLE ALTER TABLE");
      const std::string answer = answer_beside(db, *other, statement);
      INFO(answer);
      CHECK(answer.starts_with("42501") == !is_allowed);
      if (is_allowed) {
        CHECK(db.run(*other,
                     "SELECT 't'::regclass::oid IN (SELECT relation FROM pg_locks WHERE "
                     "mode = 'RowExclusiveLock' AND pid = pg_backend_pid())") == "t SELECT 1");
      }
      db.run(*other, "ROLLBACK; RESET ROLE");
    }
  }
}
