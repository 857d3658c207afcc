#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

using Catch::Contains;

/// Suppliers with nations, and their supplies: few rows on one side, many on the other.
void fill_for_estimates(TestDatabase& db) {
  db.run(
      "CREATE TABLE nation(id int primary key, name text);"
      "CREATE TABLE supplier(id int primary key, nation int);"
      "CREATE TABLE supply(part int, supplier int, quantity int, a text, b text, c text,"
      " PRIMARY KEY (part, supplier));"
      "CREATE TABLE sale(id int primary key, part int, supplier int, day date, at timestamptz);"
      "INSERT INTO nation SELECT i, 'nation ' || i FROM generate_series(1, 25) i;"
      "INSERT INTO supplier SELECT i, i % 25 + 1 FROM generate_series(1, 500) i;"
      "INSERT INTO supply SELECT i / 8, i * 7 % 500 + 1, i % 100, 'a', 'b', 'c'"
      " FROM generate_series(1, 8000) i;"
      "INSERT INTO sale SELECT i, i % 1000, i * 7 % 500 + 1, current_date - i % 3000,"
      " now() - i * interval '1 hour' FROM generate_series(1, 20000) i;"
      "CREATE INDEX sale_part ON sale(part, supplier); CREATE INDEX sale_at ON sale(at);"
      "CREATE INDEX sale_day ON sale(day); ANALYZE");
}

}  // namespace

TEST_CASE("A subquery that asks for rows reads no more columns than it needs", "[sql][plan]") {
  TestDatabase db;
  fill_for_estimates(db);
  // With all of its columns the index would not cover the query.
  CHECK_THAT(db.explain("SELECT count(*) FROM supplier s WHERE s.id < 3 AND EXISTS (SELECT * FROM "
                        "sale WHERE part = s.id)"),
             Contains("Index Only Scan using sale_part"));
  CHECK(db.run("SELECT count(*) FROM supplier s WHERE EXISTS (SELECT *, 1 / 0, s.nation FROM sale "
               "WHERE part = s.id ORDER BY id)") == "500 SELECT 1");
  CHECK(db.run("SELECT EXISTS (SELECT 1 / 0), EXISTS (SELECT count(*) FROM sale WHERE id < 0), "
               "EXISTS (SELECT unnest('{}'::int[])), EXISTS (SELECT id FROM sale LIMIT 0), "
               "EXISTS (SELECT DISTINCT part FROM sale OFFSET 1000)") == "t|t|f|f|f SELECT 1");
}

TEST_CASE("Of a semi-join the smaller side is kept", "[sql][plan]") {
  TestDatabase db;
  fill_for_estimates(db);
  const char* const exists =
      "SELECT id FROM supplier s WHERE EXISTS (SELECT FROM supply WHERE supplier = s.id AND "
      "quantity > 50) ORDER BY id";
  CHECK_THAT(db.explain(exists), Contains("Hash Right Semi Join"));
  const std::string joined = db.run(exists);
  CHECK(joined == db.run("SELECT DISTINCT supplier FROM supply WHERE quantity > 50 ORDER BY 1"));
  const char* const none =
      "SELECT count(*) FROM supplier s WHERE NOT EXISTS (SELECT FROM supply WHERE supplier = s.id "
      "AND quantity > 50)";
  CHECK_THAT(db.explain(none), Contains("Hash Right Anti Join"));
  CHECK(db.run(none) == db.run("SELECT 500 - count(DISTINCT supplier) FROM supply WHERE quantity > "
                               "50"));
  // Rows with a NULL key have no match, on either side.
  db.run(
      "INSERT INTO supplier VALUES (1000, NULL), (1001, 26); CREATE TABLE several(n int);"
      "INSERT INTO several SELECT nullif(i % 27, 0) FROM generate_series(1, 5000) i; ANALYZE");
  CHECK(db.run("SELECT id FROM supplier s WHERE NOT EXISTS (SELECT FROM several WHERE n = nation "
               "AND n < 26) ORDER BY id") == "1000 1001 SELECT 2");
  CHECK(db.run("SELECT count(*) FROM supplier s WHERE EXISTS (SELECT FROM several WHERE n = "
               "nation)") == "501 SELECT 1");
}

TEST_CASE("A costly subquery is asked of few rows", "[sql][plan]") {
  TestDatabase db;
  fill_for_estimates(db);
  const std::string query =
      "SELECT s.id FROM supplier s, nation n WHERE s.id IN (SELECT supplier FROM supply WHERE part "
      "IN (SELECT id FROM nation WHERE name LIKE 'nation%') AND quantity > (SELECT sum(y.id) % 90 "
      "FROM sale y WHERE y.part = supply.part AND y.supplier = supply.supplier)) AND s.nation = "
      "n.id AND n.name = 'nation 3' ORDER BY 1";
  const std::string plan = db.explain(query);
  INFO(plan);
  // First the suppliers of one nation, then their supplies, then the sales.
  CHECK_THAT(plan, Contains("Semi Join") && Contains("Join Filter: (supply.quantity > (SubPlan"));
  CHECK(plan.find("Semi Join") < plan.find("Seq Scan on supplier"));
  CHECK(plan.find("Semi Join") < plan.find("Hash Cond: (nation = id)"));
  CHECK(db.run(query) ==
        db.run("SELECT DISTINCT s.id FROM supplier s JOIN supply p ON p.supplier = s.id JOIN "
               "nation n ON n.id = p.part JOIN (SELECT part, supplier, sum(id) % 90 AS n FROM sale "
               "GROUP BY 1, 2) y ON y.part = p.part AND y.supplier = p.supplier WHERE p.quantity > "
               "y.n AND s.nation = 3 ORDER BY 1"));
}

TEST_CASE("What depends on the time alone is foreseen", "[sql][plan]") {
  TestDatabase db;
  fill_for_estimates(db);
  for (const char* condition :
       {"at > now() - interval '1 day'", "at >= current_timestamp - '10 hours'::interval",
        "day > current_date - 5", "at > (now() - interval '1 day')::timestamptz"}) {
    INFO(condition);
    CHECK_THAT(db.explain(std::string{"SELECT * FROM sale WHERE "} + condition),
               Contains("Index Scan using sale_"));
  }
  CHECK_THAT(db.explain("SELECT * FROM sale WHERE at > now() - interval '2 years'"),
             Contains("Seq Scan"));
  // For types that no index compares, only the number of rows is estimated.
  const auto rows_of = [&](const std::string& condition) {
    return db.explain("SELECT * FROM sale WHERE " + condition, "COSTS on");
  };
  CHECK_THAT(rows_of("day < date '1990-01-01' + interval '3 months'"), Contains("rows=1 "));
  CHECK_THAT(rows_of("day < now() + interval '10 days'"), Contains("rows=20000 "));
  CHECK_THAT(rows_of("day > '1990-01-01'::date + 1 / 0"), Contains("rows=6667 "));
}

TEST_CASE("A range by a parameter is planned with its value", "[sql][plan]") {
  TestDatabase db;
  fill_for_estimates(db);
  db.run("CREATE INDEX sale_supplier ON sale(supplier); ANALYZE");
  db.run("PREPARE p(int) AS SELECT count(day) FROM sale WHERE supplier > $1");
  const auto plan_for = [&](const char* value) {
    std::string plan;
    db.run(std::string{"EXPLAIN (COSTS off) EXECUTE p("} + value + ")");
    for (const std::string& row : db.sink().rows) plan += row + "\n";
    return plan;
  };
  CHECK_THAT(plan_for("498"), Contains("Index Scan using sale_supplier"));
  CHECK_THAT(plan_for("10"), Contains("Seq Scan on sale"));
  CHECK_THAT(plan_for("NULL"), Contains("Index Scan using sale_supplier"));
  CHECK(db.run("EXECUTE p(499); EXECUTE p(500); EXECUTE p(NULL)") ==
        db.run("SELECT count(day) FROM sale WHERE supplier > 499; SELECT 0; SELECT 0"));
  db.run("SET plan_cache_mode = force_generic_plan");
  CHECK_THAT(plan_for("498"), Contains("Seq Scan on sale"));
}

TEST_CASE("What an index does for a parameter's value alone is planned with it", "[sql][plan]") {
  TestDatabase db;
  db.run(
      "CREATE TABLE task(id int primary key, name text, state text, weight int);"
      "INSERT INTO task SELECT i, 'task ' || i, CASE WHEN i % 1000 = 0 THEN 'open' ELSE 'done' END,"
      " i % 100 FROM generate_series(1, 20000) i;"
      "CREATE INDEX task_name ON task(name);"
      "CREATE INDEX task_open ON task(weight) WHERE state = 'open';"
      "CREATE INDEX task_heavy ON task(state, name) WHERE weight >= 99; ANALYZE");
  const auto explain = [&](const std::string& execute) {
    std::string plan;
    db.run("EXPLAIN (COSTS off) EXECUTE " + execute);
    for (const std::string& row : db.sink().rows) plan += row + "\n";
    return plan;
  };
  db.run("PREPARE named(text) AS SELECT count(weight) FROM task WHERE name LIKE $1");
  CHECK_THAT(explain("named('task 123%')"), Contains("Index Scan using task_name"));
  CHECK_THAT(explain("named('%12')"), Contains("Seq Scan"));
  CHECK_THAT(explain("named(NULL)"), Contains("Seq Scan"));
  CHECK(db.run("EXECUTE named('task 123%'); EXECUTE named('%12'); EXECUTE named('task 7')") ==
        "111 200 1 SELECT 1 SELECT 1 SELECT 1");
  db.run("PREPARE begun(text) AS SELECT count(weight) FROM task WHERE name LIKE $1 || '%'");
  CHECK_THAT(explain("begun('task 123')"), Contains("Index Scan using task_name"));
  CHECK(db.run("EXECUTE begun('task 123'); EXECUTE begun('')") == "111 20000 SELECT 1 SELECT 1");

  db.run("PREPARE in_state(text) AS SELECT count(name) FROM task WHERE state = $1 AND weight = 0");
  CHECK_THAT(explain("in_state('open')"), Contains("Index Scan using task_open"));
  CHECK_THAT(explain("in_state('done')"), !Contains("task_open"));
  CHECK(db.run("EXECUTE in_state('open'); EXECUTE in_state('done'); EXECUTE in_state('open')") ==
        "20 180 20 SELECT 1 SELECT 1 SELECT 1");
  db.run("PREPARE heavy(int) AS SELECT count(id) FROM task WHERE state = 'open' AND weight > $1");
  CHECK(db.run("EXECUTE heavy(98); EXECUTE heavy(-1); EXECUTE heavy(99)") ==
        "0 20 0 SELECT 1 SELECT 1 SELECT 1");

  // The same by statements that differ only in literals.
  const auto scans = [&](const char* index) {
    return std::stoi(db.rows("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = '" +
                             std::string{index} + "'")[0]);
  };
  const int named = scans("task_name");
  const int open = scans("task_open");
  for (const char* state : {"open", "done", "open"}) {
    const std::string counted = state[0] == 'o' ? "20" : "180";
    CHECK(db.run("SELECT count(name) FROM task WHERE state = '" + std::string{state} +
                 "' AND weight = 0") == counted + " SELECT 1");
  }
  for (const char* pattern : {"task 123%", "task 134%", "%14"}) {
    db.run("SELECT count(weight) FROM task WHERE name LIKE '" + std::string{pattern} + "'");
  }
  CHECK(scans("task_name") - named == 2);
  CHECK(scans("task_open") - open == 2);
}
