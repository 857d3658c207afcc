#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "base/sanitizers.h"
#include "sql-lite-frontend/session/tests/test_database.h"

/// PostgreSQL's limits, with its error messages.
namespace swizzle::sql {
namespace {

std::string listed(int count, const std::function<std::string(int)>& make) {
  std::string out;
  for (int i = 1; i <= count; ++i) out += (i == 1 ? "" : ",") + make(i);
  return out;
}
std::string numbers(int count) {
  return listed(count, [](int i) { return std::to_string(i); });
}
std::string named(int count, const std::string& prefix) {
  return listed(count,
                [&](int i) { return std::to_string(i) + " AS " + prefix + std::to_string(i); });
}
std::string columns(int count) {
  return listed(count, [](int i) { return "c" + std::to_string(i) + " int"; });
}

const std::string kLimitsTable = "54011 tables can have at most 1600 columns";
const std::string kList = "54011 target lists can have at most 1664 entries";

}  // namespace

TEST_CASE("a relation has at most 1600 columns, dropped ones included", "[session][limits]") {
  TestDatabase database;
  CHECK(database.run("CREATE TABLE wide (" + columns(1601) + ")") == kLimitsTable);
  CHECK(database.run("CREATE TABLE wide (" + columns(1601) + ", c1 int)") == kLimitsTable);
  CHECK(database.run("CREATE TABLE wide (" + columns(1600) + ")") == "CREATE TABLE");
  CHECK(database.run("ALTER TABLE wide ADD COLUMN one_more int") == kLimitsTable);
  CHECK(database.run("ALTER TABLE wide DROP COLUMN c1") == "ALTER TABLE");
  CHECK(database.run("ALTER TABLE wide ADD COLUMN one_more int") == kLimitsTable);
  CHECK(database.run("CREATE TABLE wider (LIKE wide, a int, b int)") == kLimitsTable);
  CHECK(database.run("CREATE VIEW seen AS SELECT " + named(1601, "c")) == kLimitsTable);
  CHECK(database.run("CREATE TABLE made AS SELECT " + named(1601, "c")) == kLimitsTable);
}

TEST_CASE("an index and a foreign key have at most 32 columns", "[session][limits]") {
  TestDatabase database;
  const auto names = [](int from, int count) {
    return listed(count, [from](int i) { return "c" + std::to_string(from + i); });
  };
  const std::string kIndex = "54011 cannot use more than 32 columns in an index";
  CHECK(database.run("CREATE TABLE t (" + columns(40) + ")") == "CREATE TABLE");
  const std::string first = names(0, 1);
  CHECK(database.run("CREATE INDEX ON t (" + names(0, 32) + ")") == "CREATE INDEX");
  CHECK(database.run("CREATE INDEX ON t (" + names(0, 33) + ")") == kIndex);
  CHECK(database.run("CREATE INDEX ON t (" + first + ") INCLUDE (" + names(1, 32) + ")") == kIndex);
  CHECK(database.run("ALTER TABLE t ADD PRIMARY KEY (" + names(0, 33) + ")") == kIndex);
  CHECK(database.run("ALTER TABLE t ADD UNIQUE (" + first + ") INCLUDE (" + names(1, 32) + ")") ==
        kIndex);
  CHECK(database.run("CREATE TABLE u (" + columns(40) + ", UNIQUE (" + names(0, 33) + "))") ==
        kIndex);
  CHECK(database.run("ALTER TABLE t ADD FOREIGN KEY (" + names(0, 33) + ") REFERENCES t (" +
                     names(0, 33) + ")") == "54011 cannot have more than 32 keys in a foreign key");
  // Reported before any of them is resolved.
  CHECK(database.run("CREATE INDEX ON t (" +
                     listed(50'000, [](int i) { return "(c0 + " + std::to_string(i) + ")"; }) +
                     ")") == kIndex);
}

TEST_CASE("a row has at most 1664 columns", "[session][limits]") {
  TestDatabase database;
  CHECK(database.run("SELECT " + numbers(1665)) == kList);
  CHECK(database.run("VALUES (" + numbers(1665) + ")") == kList);
  CHECK(database.run("SELECT 1 FROM (VALUES (" + numbers(1665) + ")) v") == kList);
  CHECK(database.run("SELECT * FROM (SELECT " + named(900, "c") + ") f, (SELECT " +
                     named(900, "d") + ") g") == kList);
  CHECK(database.run("SELECT " + numbers(60'000)) == kList);
  CHECK(database.run("SELECT ROW(" + numbers(1665) + ")") ==
        "54011 ROW expressions can have at most 1664 entries");
  CHECK(database.run("SELECT (" + numbers(1664) + ") IS NULL") == "f SELECT 1");
}

TEST_CASE("there are 65535 parameters", "[session][limits]") {
  TestDatabase database;
  CHECK(database.run("PREPARE p AS SELECT $65536::int") == "42P02 there is no parameter $65536");
  CHECK(database.run("PREPARE p AS SELECT $2000000000::int") ==
        "42P02 there is no parameter $2000000000");
}

TEST_CASE("a text that a routine runs has no parameters but those it is given",
          "[session][plpgsql]") {
  TestDatabase database;
  const std::string none = "42P02 there is no parameter $1";
  CHECK(database.run("DO $o$ BEGIN EXECUTE 'SELECT $1::int'; END $o$") == none);
  CHECK(database.run("DO $o$ DECLARE x int; BEGIN EXECUTE 'SELECT $1' INTO x; END $o$") == none);
  CHECK(database.run("DO $o$ DECLARE r record; BEGIN FOR r IN EXECUTE 'SELECT $1::int' LOOP NULL; "
                     "END LOOP; END $o$") == none);
  CHECK(database.run("SELECT ts_stat('SELECT $1::tsvector')") == none);
  const std::string second = "42P02 there is no parameter $2";
  CHECK(database.run("DO $o$ DECLARE x int; BEGIN EXECUTE 'SELECT $2::int' INTO x USING 1; END "
                     "$o$") == second);
  CHECK(database.run("DO $o$ DECLARE c refcursor; r record; BEGIN OPEN c FOR EXECUTE "
                     "'SELECT $2::int' USING 1; FETCH c INTO r; END $o$") == second);
}

TEST_CASE("a result of a polymorphic type needs an input that tells it", "[session][routines]") {
  TestDatabase database;
  const std::string refused = "42P13 cannot determine result data type";
  for (const char* signature :
       {"(anyelement) RETURNS anyrange", "(anyarray) RETURNS anymultirange",
        "(anyelement) RETURNS anycompatible", "(anycompatible) RETURNS anycompatiblerange",
        "(anycompatible) RETURNS anyelement"}) {
    CAPTURE(signature);
    CHECK(database.run(std::string{"CREATE FUNCTION f"} + signature +
                       " LANGUAGE plpgsql AS 'BEGIN RETURN $1; END'") == refused);
  }
  CHECK(database.run("CREATE FUNCTION f(anyrange) RETURNS anymultirange LANGUAGE sql AS "
                     "'SELECT multirange($1)'") == "CREATE FUNCTION");
  CHECK(database.run("SELECT f('[1,2]'::int4range)") == "{[1,3)} SELECT 1");
}

TEST_CASE("advisory locks are bounded, and gone with their session", "[session][limits]") {
  TestDatabase database;
  const std::string many =
      "SELECT bool_and(pg_try_advisory_lock(i)) FROM generate_series(1, 100001) i";
  CHECK(database.run(many) == "53200 out of shared memory");
  CHECK(database.run("SELECT pg_advisory_unlock_all()") == " SELECT 1");
  CHECK(database.run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == "0 SELECT 1");
  CHECK(
      database.run("SELECT bool_and(pg_try_advisory_lock(i)) FROM generate_series(1, 100000) i") ==
      "t SELECT 1");
}

TEST_CASE("what values take is bounded by session_memory_limit", "[session][limits]") {
  TestDatabase database;
  REQUIRE(database.run("SET session_memory_limit = '16MB'") == "SET");
  CHECK(database.run("SELECT length(repeat('x', 100000000))") == "53200 out of memory");
  CHECK(database.run("SELECT cardinality(ARRAY(SELECT generate_series(1, 300000000)))") ==
        "53200 out of memory");
  CHECK(database.run("SELECT length(repeat('x', 1000000))") == "1000000 SELECT 1");
}

TEST_CASE("what stands left of IN is not bound anew at each level", "[session][limits]") {
  TestDatabase database;
  const auto nested = [](int levels, const std::string& test) {
    std::string text = "1";
    for (int i = 0; i < levels; ++i) text = "(" + text + test + ")::int";
    return "SELECT " + text;
  };
  // With two evaluations at each level there would be 10^12.
  CHECK(database.run(nested(40, " IN (SELECT 1)")) == "1 SELECT 1");
  CHECK(database.run(nested(40, " = ANY (SELECT 1)")) == "1 SELECT 1");
  CHECK(database.run(nested(40, " <> ALL (SELECT 7)")) == "1 SELECT 1");
  std::string plain = "true";
  for (int i = 0; i < 300; ++i) plain += " IN (SELECT true)";
  CHECK(database.run("SELECT " + plain) == "t SELECT 1");
#ifndef SWIZZLE_ASAN  // larger stack frames
  CHECK(database.run(nested(1500, " = ALL (SELECT 1)")) == "1 SELECT 1");
#endif
}

TEST_CASE("what aggregates gather is bounded by session_memory_limit", "[session][limits]") {
  TestDatabase database;
  REQUIRE(database.run("SET session_memory_limit = '16MB'") == "SET");
  const std::string rows = " FROM generate_series(1, 400000) i";
  const std::string many = " FROM generate_series(1, 3000) i";
  for (const std::string& sql :
       {"SELECT cardinality(array_agg(i + 0.5))" + rows,
        "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i)" + rows + " GROUP BY i % 2",
        "SELECT mode() WITHIN GROUP (ORDER BY i)" + rows, "SELECT count(DISTINCT i)" + rows,
        "SELECT length(string_agg(i::text, '' ORDER BY i))" + rows,
        "SELECT cardinality(array_agg(repeat('x', 10000)))" + many,
        "SELECT length(string_agg(repeat('x', 10000), ''))" + many,
        "SELECT length(json_agg(repeat('x', 10000))::text)" + many,
        "SELECT sum(length(x)) FROM (SELECT string_agg(repeat('x', 100), '') OVER () x" + many +
            ") y"}) {
    CAPTURE(sql);
    CHECK(database.run(sql).starts_with("53200 out of memory"));
  }
  // All memory was released, and small results may be computed often.
  CHECK(database.run("SELECT cardinality(array_agg(i)) FROM generate_series(1, 1000) i") ==
        "1000 SELECT 1");
}

}  // namespace swizzle::sql
