#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

using Catch::Contains;

/// Three outer rows, and a join of ten rows with a table that only the outer row restricts.
constexpr const char* kQuery =
    "SELECT id, (SELECT count(*) FROM p, q WHERE q.w < o.x AND p.v < q.w) FROM o ORDER BY id";

void fill_for_kept_rows(TestDatabase& db) {
  db.run("CREATE TABLE o(id int primary key, x int)");
  db.run("CREATE TABLE p(id int primary key, v int)");
  db.run("CREATE TABLE q(id int primary key, w int)");
  db.run("INSERT INTO o VALUES (1, 5), (2, 2), (3, 9)");
  db.run("INSERT INTO p SELECT n, 0 FROM generate_series(1, 10) n");
  db.run("INSERT INTO q SELECT n, n FROM generate_series(1, 20) n");
  db.run("ANALYZE");
}

std::string analyzed(TestDatabase& db) {
  return db.run(std::string{"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "} + kQuery);
}

}  // namespace

TEST_CASE("An inner side that reads the enclosing row runs once for each of these", "[sql][plan]") {
  TestDatabase db;
  fill_for_kept_rows(db);
  CHECK(db.run(kQuery) == "1|40 2|10 3|80 SELECT 3");
  const std::string kept = analyzed(db);
  INFO(kept);
  CHECK_THAT(kept, Contains("Materialize"));
  CHECK_THAT(kept, Contains("loops=3)") && !Contains("loops=10)"));
}

TEST_CASE("Without keeping it runs for each row of the join", "[sql][plan]") {
  TestDatabase db;
  fill_for_kept_rows(db);
  db.run("SET enable_material = off");
  CHECK(db.run(kQuery) == "1|40 2|10 3|80 SELECT 3");
  CHECK_THAT(analyzed(db), !Contains("Materialize"));
}
