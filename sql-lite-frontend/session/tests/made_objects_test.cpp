// User-defined aggregates, operators and casts, and extensions, for what the corpus cannot test:
// restarts, other sessions, memory limits, prepared statements.
#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;
using Catch::Contains;
using Catch::StartsWith;

TEST_CASE("Made aggregates, operators, casts and extensions survive a restart",
          "[sql][session][made]") {
  TestDatabase db;
  db.run("CREATE FUNCTION near(int, int) RETURNS bool LANGUAGE sql AS 'SELECT abs($1 - $2) < 2'");
  db.run("CREATE OPERATOR ~~~ (leftarg = int, rightarg = int, function = near)");
  db.run("CREATE AGGREGATE total (int) (sfunc = int4pl, stype = int, initcond = '100')");
  db.run("CREATE TYPE mood AS ENUM ('sad', 'ok')");
  db.run("CREATE CAST (varchar AS mood) WITH INOUT AS ASSIGNMENT");
  CHECK(db.run("CREATE EXTENSION pgcrypto") == "CREATE EXTENSION");
  db.run(
      "CREATE TABLE t (a int CHECK (a ~~~ 1), h bytea GENERATED ALWAYS AS "
      "(digest(a::text, 'md5')) STORED)");
  db.run("CREATE VIEW v AS SELECT total(a), bool_or(a ~~~ 2) FROM t");
  db.close();
  db.open();
  CHECK(db.run("INSERT INTO t VALUES (1), (2)") == "INSERT 0 2");
  CHECK_THAT(db.run("INSERT INTO t VALUES (9)"), StartsWith("23514"));
  CHECK(db.run("SELECT * FROM v") == "103|t SELECT 1");
  CHECK(db.run("SELECT h = digest('1', 'md5') FROM t WHERE a = 1") == "t SELECT 1");
  db.run("CREATE TABLE m (f mood)");
  CHECK(db.run("INSERT INTO m VALUES ('ok'::varchar)") == "INSERT 0 1");
  CHECK_THAT(db.run("DROP EXTENSION pgcrypto"), StartsWith("2BP01"));
  CHECK(db.run("DROP EXTENSION pgcrypto CASCADE") == "DROP EXTENSION");
  db.close();
  db.open();
  CHECK_THAT(db.run("SELECT digest('1', 'md5')"), StartsWith("42883"));
  CHECK(db.run("SELECT count(*) FROM pg_extension") == "1 SELECT 1");
}

TEST_CASE("A statement that was prepared calls what an aggregate is made of by then",
          "[sql][session][made]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE FUNCTION plus(int, int) RETURNS int LANGUAGE sql AS 'SELECT $1 + $2'");
  db.run("CREATE AGGREGATE total (int) (sfunc = plus, stype = int, initcond = '0')");
  db.run("CREATE OPERATOR |+| (leftarg = int, rightarg = int, function = plus)");
  db.run("PREPARE p AS SELECT total(g), 1 |+| 2 FROM generate_series(1, 3) g");
  CHECK(db.run("EXECUTE p") == "6|3 SELECT 1");
  db.run(*other,
         "CREATE OR REPLACE FUNCTION plus(int, int) RETURNS int LANGUAGE sql AS 'SELECT $1 - $2'");
  CHECK(db.run("EXECUTE p") == "-6|-1 SELECT 1");
  db.run(*other, "DROP OPERATOR |+| (int, int)");
  CHECK_THAT(db.run("EXECUTE p"), StartsWith("42883"));
  db.run(*other, "CREATE OPERATOR |+| (leftarg = int, rightarg = int, function = int4mul)");
  CHECK(db.run("EXECUTE p") == "-6|2 SELECT 1");
}

TEST_CASE("Two sessions make one extension: the second finds it", "[sql][session][made]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("BEGIN");
  CHECK(db.run("CREATE EXTENSION unaccent") == "CREATE EXTENSION");
  db.run(*other, "SET lock_timeout = '50ms'");
  CHECK_THAT(db.run(*other, "CREATE EXTENSION unaccent"), StartsWith("55P03"));
  CHECK_THAT(db.run(*other, "SELECT unaccent('é')"), StartsWith("42883"));
  db.run("COMMIT");
  CHECK(db.run(*other, "SELECT unaccent('é')") == "e SELECT 1");
  CHECK_THAT(db.run(*other, "CREATE EXTENSION unaccent"), StartsWith("42710"));
  CHECK(db.run(*other, "CREATE EXTENSION IF NOT EXISTS unaccent") == "CREATE EXTENSION");
}

TEST_CASE("What a made aggregate keeps counts as the session's memory", "[sql][session][made]") {
  TestDatabase db;
  db.run("CREATE AGGREGATE all_of (text) (sfunc = array_append, stype = text[], initcond = '{}')");
  CHECK(db.run("SELECT array_length(all_of(g::text), 1) FROM generate_series(1, 300) g") ==
        "300 SELECT 1");
  db.run("SET session_memory_limit = '24MB'");
  const std::string outcome = db.run(
      "SELECT g % 50, array_length(all_of(repeat('x', 40000)), 1) FROM "
      "generate_series(1, 2000) g GROUP BY 1");
  CHECK_THAT(outcome, StartsWith("53200"));
  CHECK(db.run("SELECT 1") == "1 SELECT 1");
}

TEST_CASE("An aggregate over itself, and functions that call one another, end with 54001",
          "[sql][session][made]") {
  TestDatabase db;
  db.run("CREATE FUNCTION step(int, int) RETURNS int LANGUAGE sql AS 'SELECT $1 + $2'");
  db.run("CREATE AGGREGATE deep (int) (sfunc = step, stype = int, initcond = '0')");
  db.run(
      "CREATE OR REPLACE FUNCTION step(int, int) RETURNS int LANGUAGE sql AS "
      "'SELECT deep($2) FROM generate_series(1, 2)'");
  CHECK_THAT(db.run("SELECT deep(1)"), StartsWith("54001"));
  db.run("CREATE FUNCTION there(n int) RETURNS int LANGUAGE plpgsql AS 'begin return n; end'");
  db.run(
      "CREATE FUNCTION back(n int) RETURNS int LANGUAGE plpgsql AS "
      "'begin return there(n + 1); end'");
  db.run(
      "CREATE OR REPLACE FUNCTION there(n int) RETURNS int LANGUAGE plpgsql AS "
      "'begin return back(n); end'");
  CHECK_THAT(db.run("SELECT there(1)"), StartsWith("54001"));
  db.run("CREATE TABLE t (a int)");
  db.run(
      "CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS "
      "'begin insert into t values (new.a + 1); return new; end'");
  db.run("CREATE TRIGGER again AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION again()");
  CHECK_THAT(db.run("INSERT INTO t VALUES (1)"), StartsWith("54001"));
  CHECK(db.run("SELECT count(*) FROM t") == "0 SELECT 1");
  // Deep recursion, but not endless.
  db.run(
      "CREATE FUNCTION sum_to(n int) RETURNS int LANGUAGE plpgsql AS "
      "'begin if n = 0 then return 0; end if; return n + sum_to(n - 1); end'");
  CHECK(db.run("SELECT sum_to(100)") == "5050 SELECT 1");
}

TEST_CASE("Names of extensions that are not there are refused with those that are",
          "[sql][session][made]") {
  TestDatabase db;
  CHECK_THAT(db.run("CREATE EXTENSION postgis"),
             Contains("0A000 extension \"postgis\" is not available"));
  CHECK_THAT(db.run("CREATE FUNCTION f() RETURNS int LANGUAGE c AS '$libdir/none', 'f'"),
             StartsWith("58P01"));
  CHECK_THAT(db.run("CREATE FUNCTION f() RETURNS int LANGUAGE internal AS 'no_such_thing'"),
             StartsWith("42883"));
  CHECK_THAT(db.run("CREATE AGGREGATE p (float8 ORDER BY int) (sfunc = int4pl, stype = int)"),
             StartsWith("0A000"));
}

TEST_CASE("pg_stat_statements has a view like PostgreSQL's, in the extension's schema",
          "[sql][session][made]") {
  TestDatabase db;
  CHECK(db.run("CREATE EXTENSION pg_stat_statements") == "CREATE EXTENSION");
  CHECK(db.run("SELECT count(*) FROM pg_attribute WHERE attrelid = "
               "'public.pg_stat_statements'::regclass AND attnum > 0") == "43 SELECT 1");
  db.run("SELECT 1 + 1");
  CHECK(db.run("SELECT sum(calls) > 0 FROM public.pg_stat_statements") == "t SELECT 1");
  CHECK(db.run("DROP EXTENSION pg_stat_statements") == "DROP EXTENSION");
  CHECK_THAT(db.run("SELECT * FROM public.pg_stat_statements"), StartsWith("42P01"));
}

TEST_CASE("A view's text names functions and operators for whoever reads it",
          "[sql][session][made]") {
  TestDatabase db;
  db.run("CREATE FUNCTION f(int) RETURNS int LANGUAGE sql AS 'SELECT $1'");
  db.run("CREATE OPERATOR ~~~ (leftarg = int, rightarg = int, function = int4pl)");
  db.run("CREATE VIEW v AS SELECT f(1) ~~~ f(2) AS n");
  CHECK(db.run("SELECT pg_get_viewdef('v'::regclass)") == " SELECT f(1) ~~~ f(2) AS n; SELECT 1");
  db.run("ALTER FUNCTION f RENAME TO g");
  db.run("SET search_path = ''");
  CHECK(db.run("SELECT pg_get_viewdef('public.v'::regclass)") ==
        " SELECT public.g(1) OPERATOR(public.~~~) public.g(2) AS n; SELECT 1");
  CHECK(db.run("SELECT * FROM public.v") == "3 SELECT 1");
}

TEST_CASE("Nobody drops a function that another session's definition has begun to call",
          "[sql][session][made]") {
  const std::vector<std::string> definitions{
      "CREATE INDEX ON t (f(a))", "CREATE TABLE u (a int DEFAULT f(1))",
      "ALTER TABLE t ADD CHECK (a === 1)", "CREATE VIEW v AS SELECT f(a) FROM t",
      "CREATE DOMAIN d AS int CHECK (f(VALUE) > 0)"};
  for (const std::string& definition : definitions) {
    INFO(definition);
    TestDatabase db;
    const auto other = db.connect();
    db.run("CREATE TABLE t (a int)");
    db.run("CREATE FUNCTION f(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1'");
    db.run("CREATE FUNCTION f(int, int) RETURNS bool LANGUAGE sql AS 'SELECT true'");
    db.run("CREATE OPERATOR === (leftarg = int, rightarg = int, function = f)");
    db.run(*other, "SET lock_timeout = '50ms'");
    CHECK_THAT(db.run("BEGIN; " + definition), StartsWith("BEGIN"));
    const bool is_operator = definition.contains("===");
    const std::string drop = is_operator ? "DROP OPERATOR === (int, int)" : "DROP FUNCTION f(int)";
    CHECK_THAT(db.run(*other, drop), StartsWith("55P03"));
    db.run("COMMIT");
    CHECK_THAT(db.run(*other, drop), StartsWith("2BP01"));
  }
}
