// Domains, for what the corpus cannot test: restarts and other sessions.
#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

TEST_CASE("Domains, what they check and what is stored of them survive a restart",
          "[sql][session][domains]") {
  TestDatabase db;
  db.run("CREATE DOMAIN positive AS int DEFAULT 7 CHECK (VALUE > 0)");
  db.run("CREATE DOMAIN small AS positive CONSTRAINT few CHECK (VALUE < 100)");
  db.run("CREATE DOMAIN code AS varchar(3) NOT NULL");
  db.run("CREATE DOMAIN pair AS small[]");
  db.run("CREATE TABLE t(p positive PRIMARY KEY, s small, c code, a small[], b pair, gone code)");
  db.run("CREATE INDEX ON t(s); CREATE INDEX ON t(c)");
  db.run("INSERT INTO t VALUES (1, 2, 'abc', '{3,4}', '{5}', 'x'), (9, 8, 'def', NULL, NULL, 'y')");
  db.run("ALTER TABLE t DROP COLUMN gone");
  db.run("ALTER DOMAIN positive ADD CONSTRAINT odd CHECK (VALUE % 2 = 1) NOT VALID");
  db.close();
  db.open();
  CHECK(db.run("SELECT * FROM t ORDER BY p") == "1|2|abc|{3,4}|{5} 9|8|def|NULL|NULL SELECT 2");
  CHECK(db.run("SELECT p FROM t WHERE s = 8") == "9 SELECT 1");
  CHECK(db.run("SELECT p FROM t WHERE c = 'abc'") == "1 SELECT 1");
  CHECK(db.run("INSERT INTO t VALUES (2, 3, 'a')") ==
        "23514 value for domain positive violates check constraint \"odd\"");
  CHECK(db.run("INSERT INTO t VALUES (3, 101, 'a')") ==
        "23514 value for domain small violates check constraint \"few\"");
  CHECK(db.run("INSERT INTO t VALUES (3, 5, NULL)") ==
        "23502 domain code does not allow null values");
  CHECK(db.run("INSERT INTO t(c, s) VALUES ('a', 1) RETURNING p") == "7 INSERT 0 1");
  CHECK(db.run("ALTER DOMAIN positive VALIDATE CONSTRAINT odd").starts_with("0A000"));
  db.run("ALTER TABLE t DROP COLUMN a, DROP COLUMN b");
  CHECK(db.run("ALTER DOMAIN positive VALIDATE CONSTRAINT odd").starts_with("23514"));
}

TEST_CASE("Rows keep the form of a dropped column whose domain is gone",
          "[sql][session][domains]") {
  TestDatabase db;
  db.run("CREATE DOMAIN big AS bigint; CREATE TABLE t(a int, b big, c text)");
  db.run("INSERT INTO t VALUES (1, 2, 'three')");
  db.run("DROP DOMAIN big CASCADE");
  db.close();
  db.open();
  CHECK(db.run("SELECT * FROM t") == "1|three SELECT 1");
  CHECK(db.run("INSERT INTO t VALUES (4, 'six'); SELECT * FROM t ORDER BY 1") ==
        "1|three 4|six INSERT 0 1 SELECT 2");
}

TEST_CASE("What ALTER DOMAIN says holds for statements that were prepared before",
          "[sql][session][domains]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE DOMAIN d AS int DEFAULT 1; CREATE TABLE t(a int, d d)");
  db.run("PREPARE i AS INSERT INTO t(a) VALUES ($1) RETURNING d");
  db.run("PREPARE v AS INSERT INTO t VALUES ($1, $2) RETURNING d");
  db.run("PREPARE c AS SELECT ($1::int)::d");
  CHECK(db.run("EXECUTE i(1)") == "1 INSERT 0 1");
  CHECK(db.run("EXECUTE v(1, 5)") == "5 INSERT 0 1");
  CHECK(db.run("EXECUTE c(5)") == "5 SELECT 1");
  db.run(*other, "ALTER DOMAIN d SET DEFAULT 2");
  CHECK(db.run("EXECUTE i(1)") == "2 INSERT 0 1");
  db.run(*other, "ALTER DOMAIN d ADD CONSTRAINT below CHECK (VALUE < 3) NOT VALID");
  CHECK(db.run("EXECUTE i(1)") == "2 INSERT 0 1");
  CHECK(db.run("EXECUTE v(1, 5)").starts_with("23514"));
  CHECK(db.run("EXECUTE c(5)").starts_with("23514"));
  db.run(*other, "ALTER DOMAIN d DROP DEFAULT; ALTER DOMAIN d DROP CONSTRAINT below");
  db.run(*other, "UPDATE t SET d = 1; ALTER DOMAIN d SET NOT NULL");
  CHECK(db.run("EXECUTE i(1)") == "23502 domain d does not allow null values");
  CHECK(db.run("EXECUTE c(NULL)") == "23502 domain d does not allow null values");
  // The same texts, whose plans another session has made.
  CHECK(db.run(*other, "INSERT INTO t(a) VALUES (1)").starts_with("23502"));
  db.run("ALTER DOMAIN d DROP NOT NULL");
  CHECK(db.run(*other, "INSERT INTO t(a) VALUES (1)") == "INSERT 0 1");
}

TEST_CASE("A new rule waits for who writes, and then looks at what was written",
          "[sql][session][domains]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE DOMAIN d AS int; CREATE TABLE t(d d)");
  db.run(*other, "SET lock_timeout = '50ms'");
  db.run("BEGIN; INSERT INTO t VALUES (-1)");
  CHECK(db.run(*other, "ALTER DOMAIN d ADD CHECK (VALUE > 0)").starts_with("55P03"));
  db.run("COMMIT");
  CHECK(db.run(*other, "ALTER DOMAIN d ADD CHECK (VALUE > 0)") ==
        "23514 column \"d\" of table \"t\" contains values that violate the new constraint");
  db.run("DELETE FROM t");
  db.run(*other, "BEGIN; ALTER DOMAIN d ADD CHECK (VALUE > 0)");
  db.run("SET lock_timeout = '50ms'");
  CHECK(db.run("INSERT INTO t VALUES (-1)").starts_with("55P03"));
  db.run(*other, "COMMIT");
  CHECK(db.run("INSERT INTO t VALUES (-1)").starts_with("23514"));
}

TEST_CASE("Nobody drops a domain that another session gives to a column",
          "[sql][session][domains]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE DOMAIN d AS int");
  db.run("BEGIN; CREATE TABLE t(d d, l d[])");
  db.run(*other, "SET lock_timeout = '50ms'");
  CHECK(db.run(*other, "DROP DOMAIN d").starts_with("55P03"));
  db.run("COMMIT");
  CHECK(db.run(*other, "DROP DOMAIN d").starts_with("2BP01"));
  CHECK(db.run(*other, "DROP DOMAIN d CASCADE") == "DROP DOMAIN");
}

TEST_CASE("A domain's number is no way around its checks", "[sql][session][domains]") {
  TestDatabase db;
  db.run("CREATE DOMAIN d AS int CHECK (VALUE > 0)");
  const std::string number = db.rows("SELECT 'd'::regtype::oid").at(0);
  CHECK(db.run("SELECT '5'::\"#" + number + "\"") == "5 SELECT 1");
  CHECK(db.run("SELECT '0'::\"#" + number + "\"").starts_with("23514"));
  CHECK(db.run("SELECT '{0}'::\"#" + number + "\"[]").starts_with("23514"));
  CHECK(db.run("SELECT '5'::\"#1073741824\"").starts_with("42704"));
}

TEST_CASE("A check that uses its own domain ends with an error", "[sql][session][domains]") {
  TestDatabase db;
  db.run("CREATE DOMAIN d AS int");
  db.run(
      "CREATE FUNCTION f(int) RETURNS bool LANGUAGE plpgsql AS "
      "'BEGIN RETURN ($1::d) IS NOT NULL; END'");
  db.run("ALTER DOMAIN d ADD CHECK (f(VALUE))");
  CHECK(db.run("SELECT 1::d").starts_with("54001"));
  CHECK(db.run("SELECT 1") == "1 SELECT 1");
}
