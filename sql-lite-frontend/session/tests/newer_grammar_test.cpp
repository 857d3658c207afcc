// Statements that the grammars of PostgreSQL 14 to 18 brought; the corpus has PostgreSQL's answers.
#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;
using Catch::Matchers::Contains;

TEST_CASE("A subquery without an alias has a name in views alone", "[sql][session][newer]") {
  TestDatabase db;
  CHECK(db.run("SELECT a FROM (SELECT 1 AS a), (SELECT 2 AS b) WHERE b = 2") == "1 SELECT 1");
  CHECK_THAT(db.run("SELECT unnamed_subquery.a FROM (SELECT 1 AS a)"), Contains("42P01"));
  CHECK(
      db.run("SELECT unnamed_subquery.a FROM (SELECT 1 AS a) unnamed_subquery, (SELECT 2 AS b)") ==
      "1 SELECT 1");
  db.run("CREATE VIEW v AS SELECT a, b FROM (SELECT 1 AS a), (SELECT 2 AS b)");
  const std::string text = db.run("SELECT pg_get_viewdef('v'::regclass)");
  CHECK_THAT(text, Contains("unnamed_subquery_1.b"));
  CHECK_THAT(text, Contains("AS b) unnamed_subquery_1"));
}
