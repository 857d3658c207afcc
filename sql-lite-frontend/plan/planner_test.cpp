#include <algorithm>
#include <catch2/catch.hpp>

#include "base/random.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

using Catch::Contains;
using Rows = std::vector<std::string>;

/// Inserts 5,000 orders of 100 customers, and 20 regions.
void fill_for_plans(TestDatabase& db) {
  db.run("CREATE TABLE region(id int primary key, name text not null)");
  db.run(
      "CREATE TABLE customer(id int primary key, region int not null, name text not null, "
      "email text)");
  db.run(
      "CREATE TABLE orders(id int primary key, customer int not null, day date not null, "
      "total int, note text)");
  db.run("INSERT INTO region SELECT i, 'r' || i FROM generate_series(1, 20) i");
  db.run(
      "INSERT INTO customer SELECT i, i % 20 + 1, 'name' || i, lower('Mail' || i) FROM "
      "generate_series(1, 100) i");
  db.run(
      "INSERT INTO orders SELECT i, i % 100 + 1, date '2020-01-01' + i % 365, i * 7 % 1000, "
      "CASE WHEN i % 50 = 0 THEN 'note' || i END FROM generate_series(1, 5000) i");
  db.run("CREATE INDEX orders_customer ON orders(customer)");
  db.run("CREATE INDEX orders_day_total ON orders(day, total)");
  db.run("CREATE INDEX orders_total ON orders(total)");
  db.run("CREATE INDEX customer_lower ON customer(lower(name))");
  db.run("CREATE INDEX orders_noted ON orders(id) WHERE note IS NOT NULL");
  db.run("CREATE INDEX customer_name ON customer(name)");
  db.run("ANALYZE");
}

struct Case {
  const char* query;
  std::vector<const char*> plan;  ///< lines that the plan must have
  std::vector<const char*> not_in_plan = {};
};

void check(TestDatabase& db, const Case& expected) {
  const std::string plan = db.explain(expected.query);
  INFO(expected.query << "\n" << plan);
  for (const char* line : expected.plan) CHECK_THAT(plan, Contains(line));
  for (const char* line : expected.not_in_plan) CHECK_THAT(plan, !Contains(line));
  // The rows must be the same as without any index.
  auto rows_of = [&] {
    const std::string outcome = db.run(expected.query);
    CHECK_THAT(outcome, Contains("SELECT "));
    return db.sink().rows;
  };
  std::vector<std::string> found = rows_of();
  db.run("SET enable_indexscan = off; SET enable_indexonlyscan = off");
  std::vector<std::string> wanted = rows_of();
  db.run("RESET enable_indexscan; RESET enable_indexonlyscan");
  if (!std::string{expected.query}.contains("ORDER BY")) {
    std::ranges::sort(found);
    std::ranges::sort(wanted);
  }
  CHECK(found == wanted);
}

}  // namespace

TEST_CASE("Conditions choose an index, and answer by it", "[sql][plan]") {
  TestDatabase db;
  fill_for_plans(db);
  for (const Case& one : std::vector<Case>{
           {"SELECT * FROM orders WHERE id = 7", {"Index Scan using orders_pkey", "(id = 7)"}},
           {"SELECT * FROM orders WHERE customer = 7",
            {"Index Scan using orders_customer", "Index Cond: (customer = 7)"}},
           {"SELECT * FROM orders WHERE id BETWEEN 10 AND 20",
            {"Index Scan using orders_pkey", "(id >= 10) AND (id <= 20)"}},
           {"SELECT * FROM orders WHERE total > 1", {"Seq Scan on orders", "Filter: (total > 1)"}},
           {"SELECT * FROM orders WHERE customer IN (3, 5, 5, 9)",
            {"Index Scan using orders_customer", "= ANY"}},
           {"SELECT * FROM orders WHERE id = 3 OR id = 4990 OR id < 2 OR (id > 17 AND id < 19)",
            {"Index Scan using orders_pkey", "Index Cond", " OR "}},
           {"SELECT id FROM orders WHERE id < 5 OR id < 9 OR id = 7 ORDER BY id DESC",
            {"Index Scan Backward using orders_pkey"},
            {"Sort"}},
           {"SELECT * FROM orders WHERE day = date '2020-02-03' AND total < 500",
            {"Index Scan using orders_day_total", "AND (total < 500)"}},
           {"SELECT * FROM customer WHERE lower(name) = 'name42'",
            {"Index Scan using customer_lower", "lower(name) = 'name42'"}},
           {"SELECT * FROM customer WHERE name LIKE 'name4%'",
            {"Index Scan using customer_name", "name >= 'name4'", "Filter: (name ~~ 'name4%'"}},
           {"SELECT * FROM customer WHERE name LIKE '%4'", {"Seq Scan on customer"}},
           {"SELECT id, note FROM orders WHERE note IS NOT NULL AND id < 400",
            {"using orders_noted"}},
           {"SELECT id FROM orders WHERE note IS NULL AND id < 40",
            {"orders_pkey"},
            {"orders_noted"}},
       }) {
    check(db, one);
  }
}

TEST_CASE("A comparison of rows begins to read where the first fields say", "[sql][plan]") {
  TestDatabase db;
  fill_for_plans(db);
  const std::vector<Case> cases{
      {"SELECT id FROM orders WHERE (day, total) > ('2020-12-28', 500) ORDER BY id",
       {"orders_day_total", "Index Cond: (day >= '2020-12-28'::date)",
        "Filter: (ROW(day, total) > ROW('2020-12-28'::date, 500))"}},
      {"SELECT id FROM orders WHERE (4990, 3) <= (id, customer) ORDER BY id",
       {"orders_pkey", "Index Cond: (4990 <= id)"}},
      {"SELECT id FROM orders WHERE (id, customer) BETWEEN (10, 5) AND (12, 9) ORDER BY id",
       {"orders_pkey", "Index Cond: ((id >= 10) AND (id <= 12))"}},
      {"SELECT o.id FROM orders o JOIN region r ON (o.id, o.customer) < (r.id, 7) ORDER BY 1",
       {"ROW(o.id, o.customer) < ROW(r.id, 7)"}},
  };
  for (const Case& one : cases) check(db, one);
}

TEST_CASE("What stands in an index is read from it alone", "[sql][plan]") {
  TestDatabase db;
  fill_for_plans(db);
  for (const Case& one : std::vector<Case>{
           {"SELECT day, total FROM orders WHERE day = date '2020-02-03'",
            {"Index Only Scan using orders_day_total"}},
           {"SELECT day, total, id FROM orders WHERE day = date '2020-02-03' AND total > 5",
            {"Index Only Scan using orders_day_total"}},
           {"SELECT count(*) FROM orders WHERE customer = 3",
            {"Index Only Scan using orders_customer"}},
           {"SELECT customer, id FROM orders WHERE customer > 97",
            {"Index Only Scan using orders_customer"}},
           {"SELECT day, note FROM orders WHERE day = date '2020-02-03'",
            {"Index Scan using orders_day_total"}},
       }) {
    check(db, one);
  }
  db.run("BEGIN");
  db.run("UPDATE orders SET customer = 1000 WHERE id = 5");
  db.run("INSERT INTO orders VALUES (6000, 1000, '2021-01-01', NULL, NULL)");
  CHECK(db.run("SELECT id FROM orders WHERE customer = 1000 ORDER BY id") == "5 6000 SELECT 2");
  db.run("ROLLBACK");
  CHECK(db.run("SELECT id FROM orders WHERE customer = 1000") == "SELECT 0");
  CHECK(db.run("SELECT count(*) FROM orders") == "5000 SELECT 1");
}

TEST_CASE("Order comes from an index where that is cheaper", "[sql][plan]") {
  TestDatabase db;
  fill_for_plans(db);
  for (const Case& one : std::vector<Case>{
           {"SELECT * FROM orders ORDER BY id", {"Index Scan using orders_pkey"}, {"Sort"}},
           {"SELECT * FROM orders ORDER BY id DESC LIMIT 3",
            {"Limit", "Index Scan Backward using orders_pkey"},
            {"Sort"}},
           {"SELECT id, total FROM orders ORDER BY total, id LIMIT 5",
            {"Limit", "Index Only Scan using orders_total"},
            {"Sort"}},
           {"SELECT id, total FROM orders ORDER BY total, note LIMIT 5",
            {"Limit", "Sort", "Sort Key: total, note"}},
           {"SELECT day, total FROM orders ORDER BY day DESC, total DESC LIMIT 4",
            {"Index Only Scan Backward using orders_day_total"},
            {"Sort"}},
           {"SELECT day, total FROM orders WHERE day = date '2020-02-03' ORDER BY total",
            {"Index Only Scan using orders_day_total"},
            {"Sort"}},
           {"SELECT note FROM orders ORDER BY note", {"Sort", "Seq Scan on orders"}},
           {"SELECT max(id) FROM orders",
            {"Aggregate", "Limit", "Scan Backward using orders_pkey"}},
           {"SELECT min(total) FROM orders WHERE total > 10", {"Limit", "orders_total"}},
           {"SELECT max(total) FROM orders", {"Limit", "Backward", "orders_total"}},
           {"SELECT max(note) FROM orders", {"Aggregate", "Seq Scan"}, {"Limit"}},
           {"SELECT min(id) FROM orders WHERE id < 0", {"Limit"}},
           {"SELECT min(total), max(id), max(total) + 1 FROM orders HAVING max(id) > 7",
            {"Result", "Backward using orders_total", "Backward using orders_pkey"},
            {"Aggregate"}},
           {"SELECT min(total), max(total) FROM orders WHERE total BETWEEN 10 AND 600",
            {"Result", "(total >= 10) AND (total <= 600)"},
            {"Aggregate"}},
           {"SELECT min(id), max(id) FROM orders WHERE id < 0", {"Result"}},
           {"SELECT min(total), max(note) FROM orders", {"Aggregate", "Seq Scan"}, {"Result"}},
           {"SELECT min(total), count(*) FROM orders", {"Aggregate"}, {"Result"}},
       }) {
    check(db, one);
  }
  db.run(
      "CREATE TABLE n(a int, b int); CREATE INDEX n_a ON n(a); INSERT INTO n SELECT NULL, i "
      "FROM generate_series(1, 2000) i; INSERT INTO n VALUES (3, 0), (8, 0)");
  check(db, {"SELECT max(a) FROM n", {"Limit", "Backward using n_a"}});
  check(db, {"SELECT min(a) FROM n", {"Limit", "n_a"}});
}

TEST_CASE("Joins begin where the fewest rows are", "[sql][plan]") {
  TestDatabase db;
  fill_for_plans(db);
  for (const Case& one : std::vector<Case>{
           {"SELECT o.id FROM orders o, customer c, region r WHERE o.customer = c.id AND c.region "
            "= r.id AND c.name = 'name7'",
            {"Nested Loop", "customer_name", "orders_customer", "region_pkey"}},
           {"SELECT count(*) FROM orders o JOIN customer c ON c.email = o.note",
            {"Hash Join", "Hash Cond"}},
           {"SELECT o.id, c.name FROM orders o JOIN customer c ON c.id = o.customer WHERE o.id = 9",
            {"Nested Loop", "orders_pkey", "customer_pkey"}},
           {"SELECT c.name, o.id FROM customer c LEFT JOIN orders o ON o.customer = c.id AND "
            "o.total > 990",
            {"Join"}},
       }) {
    check(db, one);
  }
}

TEST_CASE("Conditions go down to where rows are read", "[sql][plan]") {
  TestDatabase db;
  fill_for_plans(db);
  db.run(
      "CREATE VIEW busy AS SELECT customer, count(*) AS n, max(total) AS most FROM orders GROUP "
      "BY customer");
  db.run(
      "CREATE VIEW both_ends AS SELECT id, total FROM orders WHERE total < 50 UNION ALL SELECT "
      "id, total FROM orders WHERE total > 950");
  for (const Case& one : std::vector<Case>{
           {"SELECT * FROM (SELECT id, total * 2 AS double FROM orders) x WHERE id = 12",
            {"orders_pkey"}},
           {"SELECT * FROM (SELECT id, total * 2 AS double FROM orders) x WHERE double = 14",
            {"Filter: ((total * 2) = 14)"}},
           {"SELECT * FROM busy WHERE customer = 8", {"orders_customer", "(customer = 8)"}},
           {"SELECT * FROM busy WHERE n > 49 AND customer < 5", {"(customer < 5)"}},
           {"SELECT * FROM both_ends WHERE id = 13", {"Append", "orders_pkey", "(id = 13)"}},
           {"SELECT * FROM (SELECT id FROM orders EXCEPT SELECT id FROM customer) x WHERE id < 103",
            {"(id < 103)"}},
           {"SELECT o.id FROM customer c JOIN orders o ON o.customer = c.id WHERE c.id = 5",
            {"(customer = 5)", "(id = 5)"}},
           {"SELECT c.id, o.id FROM customer c LEFT JOIN orders o ON o.customer = c.id WHERE o.id "
            "= "
            "7",
            {"orders_pkey"},
            {"Left Join"}},
           {"SELECT c.id, o.id FROM customer c LEFT JOIN orders o ON o.customer = c.id WHERE "
            "o.total IS NULL",
            {"Right Join"}},
           {"SELECT 1 FROM orders WHERE 1 = 2", {"One-Time Filter"}},
       }) {
    check(db, one);
  }
  CHECK(db.run("SELECT x FROM (SELECT id AS x FROM orders LIMIT 5) y WHERE x > 5") == "SELECT 0");
}

TEST_CASE("A correlated subquery reads anew what it kept", "[sql][plan]") {
  TestDatabase db;
  db.run("CREATE TABLE a(x int); CREATE TABLE b(x int, y int); CREATE TABLE c(y int)");
  db.run(
      "INSERT INTO a VALUES (1), (2); INSERT INTO b VALUES (1, 1), (2, 5); INSERT INTO c VALUES "
      "(2), (3)");
  CHECK(db.run("SELECT x, (SELECT count(*) FROM c, b WHERE c.y < b.y AND b.x = a.x) FROM a ORDER "
               "BY x") == "1|0 2|2 SELECT 2");
}

TEST_CASE("Random queries give the same rows whatever the planner may use", "[sql][plan]") {
  TestDatabase db;
  fill_for_plans(db);
  const std::uint64_t seed = GENERATE(11U, 12U);
  INFO("seed " << seed);
  Random random{seed};
  const auto number = [&](std::uint64_t below) { return std::to_string(random.below(below)); };
  const auto pick = [&](std::initializer_list<std::string> of) {
    return *(of.begin() + random.below(of.size()));
  };
  const auto condition = [&]() -> std::string {
    switch (random.below(7)) {
      case 0:
        return "o.id " + pick({"<", ">", "=", "<="}) + " " + number(5000);
      case 1:
        return "o.customer IN (" + number(100) + ", " + number(100) + ")";
      case 2:
        return "(o.total < " + number(300) + " OR o.total = " + number(1000) + " OR o.total > " +
               number(1000) + ")";
      case 3:
        return "c.name LIKE 'name" + number(10) + "%'";
      case 4:
        return "o.note IS " + pick({"NULL", "NOT NULL"});
      case 5:
        return "c.region = " + number(21);
      default:
        return "o.day = date '2020-01-01' + " + number(365);
    }
  };
  for (int round = 0; round < 60; ++round) {
    const std::string join = pick({"JOIN", "LEFT JOIN"});
    std::string query = "SELECT o.id, c.name, r.name FROM orders o " + join +
                        " customer c ON c.id = o.customer " + pick({"JOIN", "LEFT JOIN"}) +
                        " region r ON r.id = c.region WHERE " + condition() + " AND " + condition();
    if (random.below(2) == 0) query += " ORDER BY o.id DESC LIMIT " + number(50);
    INFO(query);
    std::vector<std::vector<std::string>> results;
    for (const char* off :
         {"enable_seqscan", "enable_indexscan", "enable_indexonlyscan", "enable_hashjoin",
          "enable_mergejoin", "enable_nestloop", "enable_material", "enable_sort"}) {
      db.run(std::string{"SET "} + off + " = off");
      INFO(db.run(query).substr(0, 100));
      REQUIRE_THAT(db.run(query), Contains("SELECT"));
      results.push_back(db.sink().rows);
      std::ranges::sort(results.back());
      db.run(std::string{"RESET "} + off);
    }
    for (const auto& result : results) CHECK(result == results[0]);
  }
}

TEST_CASE("EXPLAIN has PostgreSQL's shape", "[sql][plan]") {
  TestDatabase db;
  fill_for_plans(db);
  const std::string bare = "ANALYZE, COSTS off, TIMING off, SUMMARY off, BUFFERS off";
  CHECK(db.explain("SELECT * FROM region WHERE id = 3", bare) ==
        "Index Scan using region_pkey on region (actual rows=1.00 loops=1)\n  Index Cond: (id = "
        "3)\n");
  CHECK_THAT(db.explain("SELECT * FROM region WHERE name > 'r5'", bare),
             Contains("Seq Scan on region (actual rows=4.00 loops=1)") &&
                 Contains("Rows Removed by Filter: 16"));
  CHECK_THAT(db.explain("SELECT * FROM region WHERE id = 3", bare + ", BUFFERS"),
             Contains("Buffers: shared hit="));
  CHECK_THAT(db.explain("SELECT * FROM region WHERE id = 3", "ANALYZE"),
             Contains("(cost=") && Contains("(actual time=") && Contains("Planning Time: ") &&
                 Contains("Execution Time: "));
  CHECK_THAT(db.explain("SELECT id FROM region", "VERBOSE, COSTS off"), Contains("Output: "));
  CHECK_THAT(db.explain("SELECT * FROM orders o JOIN customer c ON c.email = o.note"),
             Contains("->  Hash\n"));
  CHECK_THAT(db.explain("UPDATE region SET name = name WHERE id = 3", bare), Contains("rows=1"));
  CHECK(db.explain("SELECT * FROM region WHERE id = 3", "FORMAT JSON, COSTS off") ==
        "[\n  {\n    \"Plan\": {\n      \"Node Type\": \"Index Scan\",\n"
        "      \"Parallel Aware\": false,\n      \"Async Capable\": false,\n"
        "      \"Scan Direction\": \"Forward\",\n      \"Index Name\": \"region_pkey\",\n"
        "      \"Relation Name\": \"region\",\n      \"Alias\": \"region\",\n"
        "      \"Disabled\": false,\n"
        "      \"Index Cond\": \"(id = 3)\"\n    }\n  }\n]\n");
  CHECK(db.explain("SELECT * FROM region WHERE id = 3", "FORMAT YAML, COSTS off")
            .starts_with("- Plan: \n    Node Type: \"Index Scan\"\n    Parallel Aware: false\n"));
  db.run("SET enable_seqscan = off");
  CHECK_THAT(db.explain("SELECT name FROM region", "FORMAT XML, COSTS off"),
             Contains("      <Disabled>true</Disabled>\n"));
  db.run("RESET enable_seqscan");
  CHECK_THAT(db.run("EXPLAIN (ANALYZE, WAL) SELECT 1"), Contains("0A000"));
  CHECK_THAT(db.run("EXPLAIN (WAL) SELECT 1"), Contains("22023"));
  CHECK_THAT(db.run("EXPLAIN (NOTHING) SELECT 1"), Contains("42601"));
}

TEST_CASE("EXPLAIN ANALYZE tells of pages without being asked", "[sql][plan]") {
  TestDatabase db;
  fill_for_plans(db);
  CHECK_THAT(db.explain("SELECT * FROM region WHERE id = 3", "ANALYZE"), Contains("Buffers: "));
  CHECK_THAT(db.explain("SELECT * FROM region WHERE id = 3", "BUFFERS"), !Contains("Buffers: "));
}

TEST_CASE("EXPLAIN (GENERIC_PLAN) shows a plan of parameters without values", "[sql][plan]") {
  TestDatabase db;
  fill_for_plans(db);
  CHECK(db.explain("SELECT name FROM region WHERE id = $1", "GENERIC_PLAN, COSTS off") ==
        "Index Scan using region_pkey on region\n  Index Cond: (id = $1)\n");
  CHECK_THAT(db.explain("UPDATE region SET name = $2 WHERE id = $1", "GENERIC_PLAN, COSTS off"),
             Contains("Index Cond: (id = $1)"));
  CHECK_THAT(db.run("EXPLAIN SELECT name FROM region WHERE id = $1"), Contains("42P02"));
  CHECK_THAT(db.run("EXPLAIN (GENERIC_PLAN) SELECT 1 WHERE $1 IS NULL"), Contains("42P18"));
  db.run("PREPARE p(int) AS SELECT name FROM region WHERE id = $1");
  CHECK_THAT(db.explain("EXECUTE p(3)", "COSTS off"),
             Contains("(id = 3)") || Contains("(id = $1)"));
  CHECK_THAT(db.explain("EXECUTE p(3)", "GENERIC_PLAN, COSTS off"), Contains("(id = $1)"));
  CHECK(db.run("EXECUTE p(3)") == "r3 SELECT 1");
}

TEST_CASE("EXPLAIN (SERIALIZE) converts the rows, and tells how many bytes they are",
          "[sql][plan]") {
  TestDatabase db;
  fill_for_plans(db);
  const std::string bare = "ANALYZE, COSTS off, TIMING off, SUMMARY off, BUFFERS off, ";
  const std::string long_rows = "SELECT repeat('x', 1000) FROM region";
  CHECK_THAT(db.explain(long_rows, bare + "SERIALIZE"),
             Contains("\nSerialization: output=20kB  format=text\n"));
  CHECK_THAT(db.explain(long_rows, bare + "SERIALIZE binary"),
             Contains("\nSerialization: output=20kB  format=binary\n"));
  CHECK_THAT(db.explain(long_rows, "ANALYZE, SERIALIZE"), Contains("Serialization: time="));
  CHECK_THAT(db.explain("UPDATE region SET name = name", bare + "SERIALIZE"),
             Contains("\nSerialization: output=0kB  format=text\n"));
  CHECK_THAT(db.explain(long_rows, bare + "SERIALIZE none"), !Contains("Serialization"));
  CHECK_THAT(db.explain(long_rows, bare + "SERIALIZE, FORMAT JSON"),
             Contains("\"Serialization\": {\n      \"Output Volume\": 20,\n"
                      "      \"Format\": \"text\"\n    }"));
}

TEST_CASE("EXPLAIN shows subqueries and WITH queries under the steps that run them",
          "[sql][plan]") {
  TestDatabase db;
  fill_for_plans(db);
  CHECK(db.explain("SELECT id, (SELECT count(*) FROM orders o WHERE o.customer = c.id) FROM "
                   "customer c WHERE region > (SELECT avg(id) FROM region)") ==
        "Seq Scan on customer c\n"
        "  Filter: ((region)::numeric > $1)\n"
        "  InitPlan 2 (returns $1)\n"
        "    ->  Aggregate\n"
        "          ->  Seq Scan on region\n"
        "  SubPlan 1\n"
        "    ->  Aggregate\n"
        "          ->  Index Only Scan using orders_customer on orders o\n"
        "                Index Cond: (customer = c.id)\n");
  CHECK(db.explain("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) "
                   "SELECT * FROM r WHERE n NOT IN (SELECT id FROM region WHERE name IS NULL)") ==
        "CTE Scan on r\n"
        "  Filter: (NOT (hashed SubPlan 1))\n"
        "  CTE r\n"
        "    ->  Recursive Union\n"
        "          ->  Result\n"
        "          ->  WorkTable Scan on r\n"
        "                Filter: (n < 5)\n"
        "  SubPlan 1\n"
        "    ->  Seq Scan on region\n"
        "          Filter: (name IS NULL)\n");
  CHECK_THAT(db.explain("UPDATE region SET name = (SELECT max(name) FROM customer WHERE region = "
                        "region.id) WHERE id < 3"),
             Contains("Update on region\n") && Contains("SubPlan 1\n"));
  const std::string json =
      db.explain("SELECT ARRAY(SELECT id FROM region)", "FORMAT JSON, COSTS off");
  CHECK_THAT(json, Contains("\"Parent Relationship\": \"InitPlan\",\n") &&
                       Contains("\"Subplan Name\": \"InitPlan 1 (returns $0)\""));
  CHECK_THAT(db.explain("SELECT (SELECT name FROM region WHERE id = c.region) FROM customer c",
                        "ANALYZE, COSTS off, TIMING off, SUMMARY off"),
             Contains("SubPlan 1\n") && Contains("region (actual rows=1.00 loops=100)"));
}

TEST_CASE("What the outer row gives is a constant of a subquery's join", "[sql][plan]") {
  TestDatabase db;
  fill_for_plans(db);
  // Neither the outer row's customer nor, by the join's equality, the orders of it need a full
  // scan.
  const std::string plan = db.explain(
      "SELECT id, (SELECT sum(total) FROM customer k, orders o WHERE o.customer = k.id AND k.id = "
      "c.id AND o.note IS NOT NULL) FROM customer c");
  CHECK_THAT(plan, Contains("orders_customer") && Contains("customer_pkey") &&
                       !Contains("Merge Join") && !Contains("Seq Scan on orders"));
}

TEST_CASE("A sample is one of all rows, whatever else is asked of them", "[sql][plan]") {
  TestDatabase db;
  fill_for_plans(db);
  const std::string sample = "orders TABLESAMPLE BERNOULLI (20) REPEATABLE (1)";
  const Rows all = db.rows("SELECT id FROM " + sample + " WHERE id + 0 BETWEEN 100 AND 200");
  CHECK(all.size() > 5);
  CHECK(all.size() < 40);
  // With the key's index, rows would have other positions in the scan.
  CHECK(db.sorted_rows("SELECT id FROM " + sample + " WHERE id BETWEEN 100 AND 200") == all);
  CHECK_THAT(db.explain("SELECT id FROM " + sample + " WHERE id = 7"), Contains("Sample Scan"));
  CHECK(db.rows("SELECT id FROM orders TABLESAMPLE BERNOULLI (20) REPEATABLE (2) WHERE id + 0 "
                "BETWEEN 100 AND 200") != all);
  // SYSTEM takes or skips neighbours together.
  CHECK(db.run("SELECT count(*) < 50 FROM (SELECT id - lag(id) OVER (ORDER BY id) AS step FROM "
               "orders TABLESAMPLE SYSTEM (50) REPEATABLE (1)) s WHERE step > 1") == "t SELECT 1");
}
