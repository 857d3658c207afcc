#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {
namespace {

using Catch::Contains;

void fill_for_groups(TestDatabase& db) {
  db.run("CREATE TABLE t(id int primary key, a int, b text, c int)");
  db.run(
      "INSERT INTO t SELECT i, NULLIF(i * 31 % 900, 7), 'name ' || i % 40, i % 5 FROM "
      "generate_series(1, 5000) i");
  db.run("CREATE INDEX t_a ON t(a); CREATE INDEX t_bc ON t(b DESC, c); ANALYZE");
}

}  // namespace

TEST_CASE("Groups that an index has together are made one after the other", "[sql][plan]") {
  TestDatabase db;
  fill_for_groups(db);
  struct Case {
    std::string query;
    const char* step;
  };
  for (
      const Case& one : std::vector<Case>{
          {"SELECT a, count(*) FROM t GROUP BY a", "GroupAggregate"},
          {"SELECT a, count(*), sum(id), min(id) FILTER (WHERE id > 50) FROM t GROUP BY a HAVING "
           "count(*) > 3",
           "GroupAggregate"},
          {"SELECT c, b, count(*), count(DISTINCT id % 3) FROM t WHERE c <> 2 GROUP BY c, b",
           "GroupAggregate"},
          {"SELECT b, string_agg(id::text, ',' ORDER BY id) FROM t GROUP BY b", "Aggregate"},
          {"SELECT id, max(b) FROM t GROUP BY id", "GroupAggregate"},
          {"SELECT DISTINCT a FROM t", "Unique"},
          {"SELECT DISTINCT c, b FROM t", "Unique"},
          {"SELECT DISTINCT a, a + 1 FROM t", "HashAggregate"},
          {"SELECT a, b, count(*) FROM t GROUP BY a, b", "HashAggregate"},
          {"SELECT a, count(*) FROM t GROUP BY a, a ORDER BY count(*) DESC, a LIMIT 7",
           "GroupAggregate"},
          {"SELECT x, n FROM (SELECT a x, count(*) n FROM t GROUP BY a) s WHERE x BETWEEN 5 AND 90",
           "GroupAggregate"},
          {"SELECT c, (SELECT count(*) FROM (SELECT a FROM t i WHERE i.c = o.c GROUP BY a) s) FROM "
           "t o WHERE id < 9",
           "t"},
      }) {
    INFO(one.query << "\n" << db.explain(one.query));
    CHECK_THAT(db.explain(one.query), Contains(one.step));
    const std::vector<std::string> together = db.sorted_rows(one.query);
    db.run("SET enable_indexscan = off; SET enable_indexonlyscan = off");
    CHECK_THAT(db.explain(one.query), !Contains("Unique"));
    CHECK(together == db.sorted_rows(one.query));
    db.run("RESET enable_indexscan; RESET enable_indexonlyscan");
  }
  CHECK(db.sorted_rows("SELECT DISTINCT a FROM t").size() == 900);
}

TEST_CASE("An index's entries are in the order of the row's key behind its columns",
          "[sql][plan]") {
  TestDatabase db;
  fill_for_groups(db);
  for (const std::string query :
       {"SELECT id, a FROM t WHERE a > 100 ORDER BY a, id LIMIT 20",
        "SELECT id, a FROM t WHERE a > 100 ORDER BY a DESC, id DESC LIMIT 20",
        "SELECT id FROM t WHERE a = 31 ORDER BY id DESC LIMIT 3",
        "SELECT id, b, c FROM t WHERE b < 'name 3' ORDER BY b DESC, c, id LIMIT 30"}) {
    INFO(query << "\n" << db.explain(query));
    CHECK_THAT(db.explain(query), !Contains("Sort"));
    REQUIRE_THAT(db.run(query), Contains("SELECT"));
    const std::vector<std::string> rows = db.sink().rows;
    db.run("SET enable_indexscan = off; SET enable_indexonlyscan = off");
    REQUIRE_THAT(db.run(query), Contains("SELECT"));
    CHECK(rows == db.sink().rows);
    db.run("RESET enable_indexscan; RESET enable_indexonlyscan");
  }
  CHECK_THAT(db.explain("SELECT id FROM t WHERE a > 100 ORDER BY a, id DESC LIMIT 5"),
             Contains("Sort"));
  CHECK_THAT(db.explain("SELECT id FROM t WHERE a > 100 ORDER BY a, c LIMIT 5"), Contains("Sort"));
}

}  // namespace swizzle::sql
