#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {
namespace {

using Catch::Contains;

void fill_for_windows(TestDatabase& db) {
  db.run("CREATE TABLE t(id int PRIMARY KEY, g int, k int, x text)");
  db.run(
      "INSERT INTO t SELECT i, nullif(i % 37, 36), nullif((i * 7919) % 101, 100), "
      "nullif('name ' || i % 5, 'name 4') FROM generate_series(1, 4000) i");
  db.run("CREATE INDEX t_gk ON t(g, k, id); ANALYZE");
}

}  // namespace

TEST_CASE("Rows beyond the last that a ranking lets through are not read", "[sql][plan]") {
  TestDatabase db;
  fill_for_windows(db);
  const std::string ranked = "SELECT * FROM (SELECT id, g, k, {} OVER ({}) n FROM t) s WHERE {}";
  const std::vector<std::string> calls{"row_number()", "rank()", "dense_rank()"};
  const std::vector<std::string> windows{"ORDER BY id",
                                         "ORDER BY k, id",
                                         "ORDER BY x, id DESC",
                                         "PARTITION BY g ORDER BY k, id",
                                         "PARTITION BY x ORDER BY id",
                                         "PARTITION BY x ORDER BY id DESC",
                                         "PARTITION BY x ORDER BY k DESC, id",
                                         "PARTITION BY g, x ORDER BY k NULLS FIRST, x, id",
                                         "PARTITION BY k % 3 ORDER BY x DESC NULLS LAST, g, id",
                                         "PARTITION BY g, k ORDER BY id",
                                         "ORDER BY k"};
  const std::vector<std::string> conditions{"n <= 10",         "n < 4",
                                            "n = 7",           "3 >= n",
                                            "n <= 0",          "n = 0",
                                            "n < -5",          "n = 1 + g % 1",
                                            "n > 90",          "n <= NULL::int8",
                                            "n <= g",          "n <= 5 AND n > 2",
                                            "n <> 3",          "n <= 4 OR id = 8",
                                            "n = 5 AND g = 3", "n BETWEEN 2 AND 4",
                                            "n <= 2.5"};
  for (const std::string& call : calls) {
    for (const std::string& window : windows) {
      // The order of equal rows is undefined.
      if (window == "ORDER BY k" && call == "row_number()") continue;
      for (const std::string& condition : conditions) {
        const std::string query = fmt::format(fmt::runtime(ranked), call, window, condition);
        // With another call in the window, all rows are kept and the condition is evaluated above.
        const std::string whole = fmt::format(
            "SELECT id, g, k, n FROM (SELECT id, g, k, {} OVER ({}) n, last_value(id) OVER ({}) l "
            "FROM t OFFSET 0) s WHERE {}",
            call, window, window, condition);
        INFO(query << "\n" << db.explain(query));
        CHECK(db.sorted_rows(query) == db.sorted_rows(whole));
      }
    }
  }
  const auto explained = [&](const char* call, const char* window, const char* condition) {
    return db.explain(fmt::format(fmt::runtime(ranked), call, window, condition));
  };
  CHECK_THAT(explained("rank()", "ORDER BY k", "n <= 10"), Contains("Run Condition"));
  CHECK_THAT(explained("rank()", "ORDER BY k", "n >= 10"), !Contains("Run Condition"));
  CHECK_THAT(explained("ntile(5)", "ORDER BY k", "n <= 2"), !Contains("Run Condition"));
  CHECK_THAT(explained("row_number()", "ORDER BY id", "n <= 10"),
             Contains("Run Condition") && Contains("Index Scan") && !Contains("Sort"));
  const char* const by_partition = "PARTITION BY x ORDER BY k, id";
  CHECK_THAT(explained("row_number()", by_partition, "n <= 10"), Contains("Partition Limit"));
  CHECK_THAT(explained("rank()", by_partition, "n <= 10"), !Contains("Partition Limit"));
  CHECK_THAT(explained("row_number()", by_partition, "n <= g"), !Contains("Partition Limit"));
  // Rows that are not read cannot fail.
  CHECK(db.sorted_rows("SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) n FROM t "
                       "WHERE 1 / (20 - id) < 5) s WHERE n <= 3") ==
        std::vector<std::string>{"1", "2", "3"});
}

TEST_CASE("Rows that cannot be among the first of their partition are not sorted", "[sql][plan]") {
  TestDatabase db;
  fill_for_windows(db);
  const auto sorted_rows_of = [&](const std::string& window) {
    const std::string plan = db.explain(
        "SELECT * FROM (SELECT id, row_number() OVER (" + window + ") n FROM t) s WHERE n <= 10",
        "ANALYZE, COSTS off, TIMING off");
    INFO(plan);
    const std::size_t at = plan.find("Partition Limit");
    REQUIRE(at != std::string::npos);
    const std::size_t rows = plan.find("rows=", plan.find("actual", at));
    return std::stoi(plan.substr(rows + 5));
  };
  CHECK(sorted_rows_of("PARTITION BY x ORDER BY k, id") < 1500);
  CHECK(sorted_rows_of("PARTITION BY x ORDER BY k DESC, id") < 1500);
  CHECK(sorted_rows_of("PARTITION BY x ORDER BY id") == 50);
  // Rows arrive in the opposite order.
  CHECK(sorted_rows_of("PARTITION BY x ORDER BY -id") == 4000);
  // Each partition has a sorter of its own.
  db.run("SET work_mem = '64kB'");
  CHECK(sorted_rows_of("PARTITION BY -id ORDER BY k") == 4000);
}

TEST_CASE("A condition on the partition is asked before the window", "[sql][plan]") {
  TestDatabase db;
  fill_for_windows(db);
  const auto query = [](const std::string& condition) {
    return "SELECT id, s FROM (SELECT id, g, k, sum(id) OVER (PARTITION BY g ORDER BY id) s, "
           "max(k) OVER (PARTITION BY g, x) m FROM t) w WHERE " +
           condition;
  };
  const auto whole = [&](const std::string& condition) {
    std::string text = query(condition);
    return text.replace(text.find("FROM t)"), 6, "FROM t OFFSET 0");
  };
  for (const char* condition : {"g = 3", "g IN (1, 5)", "g = 3 AND k > 50", "k = 3", "g + 1 < 3",
                                "g = k", "g IS NULL", "g = 3 AND s > 100000", "m = 100"}) {
    INFO(condition << "\n" << db.explain(query(condition)));
    CHECK(db.sorted_rows(query(condition)) == db.sorted_rows(whole(condition)));
  }
  CHECK_THAT(db.explain(query("g = 3")), Contains("Index Cond: (g = 3)"));
  CHECK_THAT(db.explain(query("k = 3")), !Contains("Index"));
}

TEST_CASE("A window's rows are sorted once for it and for ORDER BY, or not at all", "[sql][plan]") {
  TestDatabase db;
  fill_for_windows(db);
  const auto sorts = [&](const std::string& query) {
    const std::string plan = db.explain(query);
    std::size_t count = 0;
    for (auto at = plan.find("Sort Key"); at != std::string::npos;
         at = plan.find("Sort Key", at + 1)) {
      ++count;
    }
    return count;
  };
  CHECK(sorts("SELECT id, row_number() OVER (ORDER BY id) FROM t ORDER BY id LIMIT 5") == 0);
  CHECK(sorts("SELECT x, id, row_number() OVER (ORDER BY x, id) FROM t ORDER BY x, id") == 1);
  CHECK(sorts("SELECT x, id, row_number() OVER (ORDER BY x, id) FROM t ORDER BY x") == 1);
  CHECK(sorts("SELECT x, id, row_number() OVER (ORDER BY x, id) FROM t ORDER BY id") == 2);
  CHECK(sorts("SELECT x, id, row_number() OVER (ORDER BY x) FROM t ORDER BY x DESC") == 2);
  CHECK(db.rows("SELECT id, sum(id) OVER (ORDER BY id) FROM t ORDER BY id LIMIT 3") ==
        std::vector<std::string>{"1|1", "2|3", "3|6"});
  CHECK(db.rows("SELECT DISTINCT x, dense_rank() OVER (ORDER BY x) FROM t ORDER BY x LIMIT 2") ==
        std::vector<std::string>{"name 0|1", "name 1|2"});
}

}  // namespace swizzle::sql
