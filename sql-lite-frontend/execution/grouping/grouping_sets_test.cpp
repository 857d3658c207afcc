#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

using Rows = std::vector<std::string>;

TestDatabase& with_pairs(TestDatabase& db) {
  db.run("CREATE TABLE g(a int, b int)");
  db.run("INSERT INTO g VALUES (1, 1), (1, 2), (2, 1), (NULL, 1)");
  return db;
}

}  // namespace

TEST_CASE("A condition on a key of several grouping sets is asked of their groups",
          "[sql][grouping]") {
  TestDatabase db;
  with_pairs(db);
  const std::string sets = "(SELECT a, count(*) AS n FROM g GROUP BY ROLLUP (a)) s";
  CHECK(db.rows("SELECT n FROM " + sets + " WHERE a IS NULL ORDER BY n") == Rows{"1", "4"});
  CHECK(db.rows("SELECT n FROM " + sets + " WHERE a = 1") == Rows{"2"});
  CHECK(db.rows("SELECT n FROM " + sets + " WHERE coalesce(a, 1) = 1 ORDER BY n") ==
        Rows{"1", "2", "4"});
}

TEST_CASE("A grouping set without keys has a group without rows", "[sql][grouping]") {
  TestDatabase db;
  with_pairs(db);
  CHECK(db.rows("SELECT a, count(*) FROM g WHERE false GROUP BY CUBE (a)") == Rows{"NULL|0"});
  CHECK(db.rows("SELECT count(*) FROM g WHERE false GROUP BY GROUPING SETS ((), ())") ==
        Rows{"0", "0"});
  CHECK(db.rows("SELECT a FROM g WHERE false GROUP BY GROUPING SETS (a, b)").empty());
}

TEST_CASE("A column of another query stays as it is where a grouping set leaves it out",
          "[sql][grouping]") {
  TestDatabase db;
  with_pairs(db);
  CHECK(db.rows("SELECT g.a, s.k, s.n FROM g, LATERAL (SELECT g.b AS k, count(*) AS n FROM g x "
                "WHERE x.b = g.b GROUP BY ROLLUP (g.b)) s WHERE g.a = 1 ORDER BY 1, 3, 2") ==
        Rows{"1|2|1", "1|NULL|1", "1|1|3", "1|NULL|3"});
  CHECK(db.rows("SELECT b, (SELECT count(*) FROM (SELECT 1 FROM g x GROUP BY ROLLUP (g.b)) s), b "
                "FROM g WHERE a = 1 ORDER BY b") == Rows{"1|2|1", "2|2|2"});
}

TEST_CASE("Grouping sets read their rows once", "[sql][grouping]") {
  TestDatabase db;
  with_pairs(db);
  const std::string plan =
      db.explain("SELECT a, b, count(*) FROM g GROUP BY CUBE (a, b)", "COSTS off");
  INFO(plan);
  CHECK(plan.starts_with("MixedAggregate"));
  CHECK(plan.find("Scan") == plan.rfind("Scan"));
  CHECK(plan.contains("Hash Key: a, b"));
  CHECK(plan.contains("Group Key: ()"));
}

TEST_CASE("Many grouping sets can be canceled", "[sql][grouping]") {
  TestDatabase db;
  db.run("CREATE TABLE many AS SELECT i AS a FROM generate_series(1, 20000) i");
  std::atomic<bool> done{false};
  std::thread cancels{[&] {
    // Repeat: a cancel before the statement begins has no effect.
    while (!done) {
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
      db.session().cancel();
    }
  }};
  CHECK(db.run("SELECT count(*) FROM (SELECT 1 FROM many GROUP BY CUBE (a, a + 1, a + 2, a + 3, "
               "a + 4, a + 5, a + 6, a + 7, a + 8, a + 9, a + 10)) s")
            .starts_with("57014"));
  done = true;
  cancels.join();
}
