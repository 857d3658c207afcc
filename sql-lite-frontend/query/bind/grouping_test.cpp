// GROUP BY, aggregates and window functions: what an expression above them may read.
#include <catch2/catch.hpp>

#include "sql-lite-frontend/query/bind/testing/fixed_names.h"

using namespace swizzle::sql;

namespace {

struct Grouped : TestBinding {
  Grouped() {
    names.add_table("t", {{"id", TypeId::int4}, {"a", TypeId::int4}, {"v", TypeId::text}}, {0});
  }
  std::string ungrouped(const std::string& column) {
    return "42803 column \"" + column +
           "\" must appear in the GROUP BY clause or be used in an aggregate function";
  }
};

}  // namespace

TEST_CASE_METHOD(Grouped, "A grouped query reads keys and aggregates alone", "[sql][bind]") {
  CHECK(error("SELECT a, count(*) FROM t GROUP BY a") == "bound");
  CHECK(error("SELECT v, count(*) FROM t GROUP BY a") == ungrouped("t.v"));
  CHECK(error("SELECT a + 1, count(*) FROM t GROUP BY a + 1") == "bound");
  CHECK(error("SELECT a, count(*) FROM t GROUP BY a + 1") == ungrouped("t.a"));
  CHECK(error("SELECT count(*) FROM t HAVING a > 1") == ungrouped("t.a"));
  CHECK(error("SELECT count(*) FROM t ORDER BY a") == ungrouped("t.a"));
  CHECK(error("SELECT (SELECT t.v) FROM t GROUP BY a") ==
        "42803 subquery uses ungrouped column \"t.v\" from outer query");
}

TEST_CASE_METHOD(Grouped, "The primary key among the keys determines the row", "[sql][bind]") {
  CHECK(error("SELECT v, count(*) FROM t GROUP BY id") == "bound");
  CHECK(binder().needed_keys().size() == 1);
  CHECK(error("SELECT v, count(*) FROM t GROUP BY id, a") == "bound");
  CHECK(error("SELECT a, count(*) FROM t GROUP BY a") == "bound");
  CHECK(binder().needed_keys().empty());
}

TEST_CASE_METHOD(Grouped, "GROUP BY takes output names and places, an input column first",
                 "[sql][bind]") {
  CHECK(query("SELECT a AS k FROM t GROUP BY k")->group_keys.size() == 1);
  CHECK(query("SELECT a, v FROM t GROUP BY 1, 2")->group_keys.size() == 2);
  CHECK(query("SELECT a FROM t GROUP BY a, a")->group_keys.size() == 1);
  CHECK(error("SELECT a AS v FROM t GROUP BY v") == ungrouped("t.a"));
  CHECK(error("SELECT a FROM t GROUP BY 2") == "42P10 GROUP BY position 2 is not in select list");
  CHECK(error("SELECT count(*) FROM t GROUP BY 1") ==
        "42803 aggregate functions are not allowed in GROUP BY");
}

TEST_CASE_METHOD(Grouped, "Grouping sets are multiplied out", "[sql][bind]") {
  CHECK(query("SELECT count(*) FROM t GROUP BY ROLLUP (a, v)")->grouping_sets.sets.size() == 3);
  CHECK(query("SELECT count(*) FROM t GROUP BY CUBE (a, v)")->grouping_sets.sets.size() == 4);
  CHECK(query("SELECT count(*) FROM t GROUP BY a, ROLLUP (v)")->grouping_sets.sets.size() == 2);
  CHECK(query("SELECT count(*) FROM t GROUP BY GROUPING SETS ((a), (v), ())")
            ->grouping_sets.sets.size() == 3);
  CHECK(query("SELECT count(*) FROM t GROUP BY DISTINCT ROLLUP (a), ROLLUP (a)")
            ->grouping_sets.sets.size() == 2);
  CHECK(error("SELECT GROUPING(v) FROM t GROUP BY a") ==
        "42803 arguments to GROUPING must be grouping expressions of the associated query level");
}

TEST_CASE_METHOD(Grouped, "Aggregates and windows stand where PostgreSQL has them", "[sql][bind]") {
  const std::pair<const char*, const char*> refused[] = {
      {"SELECT 1 FROM t WHERE count(*) > 0", "42803 aggregate functions are not allowed in WHERE"},
      {"SELECT 1 FROM t JOIN t x ON sum(x.a) > 0",
       "42803 aggregate functions are not allowed in JOIN conditions"},
      {"SELECT sum(count(*)) FROM t", "42803 aggregate function calls cannot be nested"},
      {"SELECT 1 FROM t WHERE rank() OVER () > 0",
       "42P20 window functions are not allowed in WHERE"},
      {"SELECT sum(rank() OVER ()) FROM t",
       "42803 aggregate function calls cannot contain window function calls"},
      {"SELECT rank() OVER (ORDER BY rank() OVER ()) FROM t",
       "42P20 window functions are not allowed in window definitions"},
      {"SELECT rank() FROM t", "42809 window function rank requires an OVER clause"},
      {"SELECT 1 FROM t WHERE generate_series(1, a) > 0",
       "0A000 set-returning functions are not allowed in WHERE"},
      {"SELECT 1 FROM t LIMIT generate_series(1, 2)",
       "0A000 set-returning functions are not allowed in LIMIT"},
      {"SELECT rank() OVER w FROM t", "42704 window \"w\" does not exist"},
  };
  for (const auto& [sql, told] : refused) {
    INFO(sql);
    CHECK(error(sql) == told);
  }
  CHECK(error("SELECT rank() OVER (ORDER BY sum(a)) FROM t") == "bound");
  CHECK(query("SELECT sum(a), sum(a), sum(id) FROM t")->aggregates.size() == 2);
}
