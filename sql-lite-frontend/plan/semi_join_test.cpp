#include <algorithm>
#include <catch2/catch.hpp>

#include "base/random.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

using Catch::Contains;

/// Creates small tables with NULLs and duplicates, and a large one with indexes.
void fill_for_semi_joins(TestDatabase& db) {
  db.run("CREATE TABLE few(id int primary key, a int, b int not null)");
  db.run("CREATE TABLE mid(id int primary key, a int, b int not null)");
  db.run("CREATE TABLE many(id int primary key, a int, b int not null)");
  db.run("INSERT INTO few SELECT i, NULLIF(i % 5, 0), i % 4 FROM generate_series(1, 12) i");
  db.run("INSERT INTO mid SELECT i, NULLIF(i % 7, 0), i % 3 FROM generate_series(1, 40) i");
  db.run("INSERT INTO many SELECT i, NULLIF(i % 90, 0), i % 100 FROM generate_series(1, 3000) i");
  db.run(
      "CREATE INDEX many_b ON many(b); CREATE TABLE none(id int primary key, a int, b int not "
      "null)");
  db.run("ANALYZE");
}

/// Compares with the condition evaluated row by row, which "IS TRUE" enforces.
void check_same(TestDatabase& db, const std::string& before, const std::string& condition) {
  INFO(db.explain(before + condition));
  CHECK(db.sorted_rows(before + condition) ==
        db.sorted_rows(before + "(" + condition + ") IS TRUE"));
}

}  // namespace

TEST_CASE("EXISTS and IN are joins", "[sql][plan]") {
  TestDatabase db;
  fill_for_semi_joins(db);
  struct Case {
    const char* query;
    std::vector<const char*> plan;
  };
  for (const Case& one : std::vector<Case>{
           {"SELECT * FROM few f WHERE EXISTS (SELECT FROM many m WHERE m.b = f.b)",
            {"Nested Loop Semi Join", "many_b"}},
           {"SELECT * FROM many m WHERE EXISTS (SELECT 1 FROM many n WHERE n.a = m.a)",
            {"Hash Semi Join"}},
           {"SELECT * FROM many m WHERE NOT EXISTS (SELECT 1 FROM many n WHERE n.a = m.b)",
            {"Hash Anti Join"}},
           {"SELECT * FROM few f WHERE NOT EXISTS (SELECT 1 FROM many m WHERE m.b = f.b)",
            {"Nested Loop Anti Join", "many_b"}},
           {"SELECT * FROM many WHERE id IN (SELECT b FROM few WHERE id < 4)",
            {"Nested Loop", "many_pkey", "few"}},
           {"SELECT * FROM many WHERE id IN (SELECT b FROM mid ORDER BY id LIMIT 5)",
            {"Nested Loop", "many_pkey", "Limit"}},
           {"SELECT * FROM few WHERE b IN (SELECT b FROM many)", {"Semi Join"}},
           {"SELECT * FROM many WHERE b NOT IN (SELECT b FROM many WHERE a = 3)", {"Anti Join"}},
           // Conditions whose result NULLs would change stay expressions.
           {"SELECT * FROM many WHERE a NOT IN (SELECT b FROM mid)", {"SubPlan"}},
           {"SELECT * FROM many WHERE b NOT IN (SELECT a FROM mid)", {"SubPlan"}},
           {"SELECT * FROM few WHERE b IN (SELECT b FROM mid) OR id = 3", {"SubPlan"}},
       }) {
    const std::string plan = db.explain(one.query);
    INFO(one.query << "\n" << plan);
    for (const char* part : one.plan) CHECK_THAT(plan, Contains(part));
  }
}

TEST_CASE("Joins from subqueries give the rows that the conditions mean", "[sql][plan]") {
  TestDatabase db;
  fill_for_semi_joins(db);
  for (const char* condition : {
           "EXISTS (SELECT FROM mid s WHERE s.a = f.a)",
           "NOT EXISTS (SELECT FROM mid s WHERE s.a = f.a)",
           "EXISTS (SELECT FROM none s WHERE s.a = f.a)",
           "NOT EXISTS (SELECT FROM none s WHERE s.a = f.a)",
           "EXISTS (SELECT FROM mid s WHERE s.a = f.a AND s.b < f.b AND s.id > 3)",
           "NOT EXISTS (SELECT FROM mid s WHERE s.a = f.a AND f.b = 2)",
           "EXISTS (SELECT FROM mid s WHERE s.a > f.a)",
           "EXISTS (SELECT FROM mid s JOIN many m ON m.id = s.id WHERE m.b = f.b AND s.a = f.a)",
           "NOT EXISTS (SELECT FROM mid s LEFT JOIN few g ON g.id = s.a WHERE s.b = f.b AND g.a = "
           "1)",
           "EXISTS (SELECT FROM mid s WHERE s.a = f.a AND EXISTS (SELECT FROM few g WHERE g.b = "
           "s.b AND g.a = f.a))",
           "NOT EXISTS (SELECT FROM mid s WHERE s.a = f.a AND s.b IN (SELECT g.b FROM few g WHERE "
           "g.a = f.a))",
           "EXISTS (SELECT (SELECT max(g.a) FROM few g) FROM mid s WHERE s.a = f.a ORDER BY s.id "
           "LIMIT 1)",
           "(SELECT max(g.a) FROM few g WHERE g.b = f.b) IN (SELECT s.a FROM mid s)",
           "f.a IN (SELECT s.a FROM mid s)",
           "f.a IN (SELECT s.a + 1 FROM mid s WHERE s.b = f.b)",
           "f.a IN (SELECT s.a FROM mid s WHERE s.a IS NULL)",
           "f.a IN (SELECT max(s.a) FROM mid s GROUP BY s.b)",
           "f.a IN (SELECT s.a FROM mid s UNION SELECT g.b FROM few g)",
           "f.a IN (VALUES (1), (2), (2), (NULL))",
           "f.a IN (SELECT DISTINCT s.a FROM mid s ORDER BY s.a LIMIT 2)",
           "(f.a, f.b) IN (SELECT s.a, s.b FROM mid s)",
           "f.b NOT IN (SELECT s.b FROM mid s)",
           "f.b NOT IN (SELECT s.b FROM mid s WHERE s.a = f.a)",
           "f.a NOT IN (SELECT s.a FROM mid s)",
           "f.a NOT IN (SELECT s.b FROM none s)",
           "f.b NOT IN (SELECT g.b FROM mid s LEFT JOIN few g ON g.id = s.id)",
           "f.b <> ALL (SELECT s.b FROM mid s)",
           "f.b > ANY (SELECT s.a FROM mid s WHERE s.id < f.id)",
       }) {
    check_same(db, "SELECT * FROM few f WHERE ", condition);
    check_same(db, "SELECT f.id, g.id FROM few f JOIN many g ON g.b = f.b WHERE g.a < 30 AND ",
               condition);
    check_same(db, "SELECT f.id, g.id FROM many g LEFT JOIN few f ON g.b = f.id WHERE ", condition);
    check_same(db, "SELECT count(*), min(f.a) FROM few f WHERE ", condition);
  }
}

TEST_CASE("LIMIT, order, writes and locks above joins from subqueries", "[sql][plan]") {
  TestDatabase db;
  fill_for_semi_joins(db);
  CHECK(db.run("SELECT id FROM many m WHERE EXISTS (SELECT FROM mid s WHERE s.a = m.a) "
               "ORDER BY id DESC LIMIT 3") == "2976 2975 2974 SELECT 3");
  CHECK(db.run("SELECT id FROM many WHERE id IN (SELECT b + 10 FROM mid) ORDER BY id") ==
        "10 11 12 SELECT 3");
  CHECK(db.run(
            "SELECT count(*) FROM (SELECT 1 FROM many WHERE b IN (SELECT b FROM few) LIMIT 7) q") ==
        "7 SELECT 1");
  CHECK(db.run("SELECT id FROM many WHERE id IN (SELECT b + 10 FROM mid) ORDER BY id FOR UPDATE") ==
        "10 11 12 SELECT 3");
  CHECK(db.run("UPDATE many SET a = -1 WHERE id IN (SELECT b + 10 FROM mid) RETURNING id") ==
        "10 11 12 UPDATE 3");
  CHECK(db.run("DELETE FROM many m WHERE NOT EXISTS (SELECT FROM mid s WHERE s.b = m.b)") ==
        "DELETE 2910");
  CHECK(db.run("DELETE FROM many WHERE id IN (SELECT id FROM many ORDER BY id LIMIT 5)") ==
        "DELETE 5");
  CHECK(db.run("SELECT count(*) FROM many") == "85 SELECT 1");
  CHECK(db.run("PREPARE p(int) AS SELECT count(*) FROM few WHERE b IN (SELECT b FROM mid WHERE id "
               "= $1);"
               "EXECUTE p(1); EXECUTE p(2); EXECUTE p(1)") ==
        "3 3 3 PREPARE SELECT 1 SELECT 1 SELECT 1");
}

TEST_CASE("Random subqueries in WHERE mean the same as joins and as expressions", "[sql][plan]") {
  TestDatabase db;
  fill_for_semi_joins(db);
  Random random{20261120};
  const auto pick = [&](std::vector<std::string> from) { return from[random.below(from.size())]; };
  const auto table = [&] { return pick({"few", "mid", "many", "none"}); };
  const auto column = [&] { return pick({"id", "a", "b"}); };
  for (int round = 0; round < 120; ++round) {
    const std::string inner = table();
    std::string where = "s." + column() + pick({" = ", " = ", " = ", " < "}) + "f." + column();
    if (random.one_in(2)) where += " AND s." + column() + " < " + std::to_string(random.below(50));
    if (random.one_in(4)) where += " AND f." + column() + " > 2";
    std::string condition;
    if (random.one_in(2)) {
      condition =
          pick({"EXISTS", "NOT EXISTS"}) + " (SELECT FROM " + inner + " s WHERE " + where + ")";
    } else {
      const std::string correlated = random.one_in(3) ? " WHERE " + where : "";
      condition = "f." + column() + pick({" IN ", " NOT IN "}) + "(SELECT s." + column() +
                  " FROM " + inner + " s" + correlated + ")";
    }
    const std::string from = pick(
        {"few f", "mid f", "mid f JOIN few g ON g.b = f.b", "few g LEFT JOIN mid f ON f.a = g.id"});
    check_same(db, "SELECT f.id FROM " + from + " WHERE ", condition);
  }
}

TEST_CASE("Several keys of one index are merged at once", "[sql][plan]") {
  TestDatabase db;
  db.run("CREATE TABLE p(a int, b int, c int, PRIMARY KEY (a, b))");
  db.run("CREATE TABLE q(a int, b int, c int)");
  db.run("INSERT INTO p SELECT i / 70, i % 70, i FROM generate_series(1, 7000) i");
  db.run("INSERT INTO q SELECT i / 65, NULLIF(i % 65, 7), i FROM generate_series(1, 7000) i");
  db.run("CREATE INDEX q_ab ON q(a, b, c); ANALYZE");
  const std::string query = "SELECT p.c, q.c FROM p LEFT JOIN q ON q.b = p.b AND p.a = q.a";
  CHECK_THAT(db.explain(query), Contains("Merge Cond: ((p.a = q.a) AND (p.b = q.b))"));
  const std::vector<std::string> merged = db.sorted_rows(query);
  db.run("SET enable_mergejoin = off");
  CHECK(merged == db.sorted_rows(query));
  CHECK(merged.size() == 7000);
}

TEST_CASE("Two large tables in the same order are merged", "[sql][plan]") {
  TestDatabase db;
  db.run("CREATE TABLE l(id int primary key, a int, b int); CREATE TABLE r(id int, n int, c int)");
  db.run("INSERT INTO l SELECT i, NULLIF(i % 400, 0), i FROM generate_series(1, 6000, 2) i");
  db.run(
      "INSERT INTO r SELECT CASE WHEN i % 9 > 0 THEN i / 3 END, i % 5, i FROM generate_series(1, "
      "9000) i");
  db.run("CREATE INDEX r_id ON r(id, n, c); CREATE INDEX l_a ON l(a, b); ANALYZE");
  struct Case {
    const char* query;
    bool merges;
  };
  for (const Case& one : std::vector<Case>{
           {"SELECT l.id, r.n FROM l JOIN r ON r.id = l.id", true},
           {"SELECT l.id, r.n, r.c FROM l, r WHERE l.id = r.id AND l.b > 500 AND r.n <> 2", true},
           {"SELECT count(*), sum(l.b + r.c) FROM l JOIN r ON l.a = r.id", true},
           {"SELECT l.id, r.c FROM l JOIN r ON r.id = l.id AND r.c < l.b * 3", true},
           {"SELECT x.id, y.id FROM l x JOIN l y ON x.id = y.id", true},
           {"SELECT l.id FROM l JOIN r ON r.id = l.id WHERE EXISTS (SELECT FROM r s WHERE s.n = "
            "l.a)",
            true},
           {"SELECT l.id FROM l WHERE NOT EXISTS (SELECT FROM r WHERE r.id = l.id)", true},
           {"SELECT l.id FROM l WHERE EXISTS (SELECT * FROM r WHERE r.id = l.id AND r.n < 3) AND b "
            "> 70",
            true},
           {"SELECT l.id FROM l WHERE id IN (SELECT r.id FROM r WHERE r.c <> l.b)", true},
           {"SELECT l.id FROM l WHERE NOT EXISTS (SELECT FROM r WHERE r.id = l.id AND l.b > 2000)",
            true},
           {"SELECT r.c FROM r WHERE NOT EXISTS (SELECT FROM l WHERE r.id = l.id)", true},
           {"SELECT l.id, r.n FROM l JOIN r ON r.id = l.id WHERE l.id = 7", false},
           {"SELECT l.id, r.n FROM l LEFT JOIN r ON r.id = l.id", true},
           {"SELECT r.c, l.b FROM r LEFT JOIN l ON l.id = r.id WHERE r.n > 1", true},
           {"SELECT l.id, r.n FROM l LEFT JOIN r ON r.id = l.id AND r.n = 3 AND l.b < 3000", true},
           {"SELECT l.id, r.n FROM l LEFT JOIN r ON r.id = l.id AND l.b < 0", true},
           {"SELECT l.id, r.n FROM l LEFT JOIN r ON r.id = l.id AND 1 = 2", true},
           {"SELECT id, r.n FROM l LEFT JOIN r USING (id) WHERE r.n IS NULL", true},
           {"SELECT count(*), sum(x.c), count(y.c) FROM r x LEFT JOIN r y ON x.id = y.id AND x.n = "
            "y.n AND y.c > 50",
            true},
           {"SELECT x.c, y.c FROM r x JOIN r y ON x.n = y.n AND x.id = y.id AND x.c = y.c", true},
           {"SELECT x.b, y.b FROM l x JOIN l y ON x.a = y.a AND x.b = y.b", true},
           {"SELECT g.i, (SELECT sum(r.c) FROM l LEFT JOIN r ON r.id = l.id AND r.n = g.i) FROM "
            "generate_series(0, 5) g(i)",
            true},
       }) {
    INFO(one.query << "\n" << db.explain(one.query));
    CHECK(db.explain(one.query).contains("Merge") == one.merges);
    const std::vector<std::string> merged = db.sorted_rows(one.query);
    db.run("SET enable_mergejoin = off");
    CHECK_THAT(db.explain(one.query), !Contains("Merge"));
    CHECK(merged == db.sorted_rows(one.query));
    db.run("RESET enable_mergejoin");
  }
}
