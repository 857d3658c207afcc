// Texts of view definitions, which tools compare: as PostgreSQL 15 prints them.
#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;
using Catch::Contains;

namespace {

std::string shown(TestDatabase& db, const std::string& view, const std::string& pretty) {
  return db.run("SELECT pg_get_viewdef('" + view + "'::regclass, " + pretty + ")");
}

void make_viewed_tables(TestDatabase& db) {
  db.run("CREATE TABLE a (id int PRIMARY KEY, n text, v varchar(9))");
  db.run("CREATE TABLE b (id int PRIMARY KEY, a_id int, p numeric(8,2))");
}

}  // namespace

TEST_CASE("A view's text shows columns, casts and parentheses as PostgreSQL does",
          "[sql][session][view_text]") {
  TestDatabase db;
  make_viewed_tables(db);
  db.run(
      "CREATE VIEW w AS SELECT *, CASE WHEN id > 1 THEN 'x' END FROM a WHERE v = 'q' AND "
      "v IN ('r', 's') ORDER BY lower(n) DESC");
  CHECK(shown(db, "w", "false") ==
        " SELECT id,\n    n,\n    v,\n        CASE\n"
        "            WHEN (id > 1) THEN 'x'::text\n            ELSE NULL::text\n"
        "        END AS \"case\"\n   FROM a\n"
        "  WHERE (((v)::text = 'q'::text) AND ((v)::text = ANY "
        "((ARRAY['r'::character varying, 's'::character varying])::text[])))\n"
        "  ORDER BY (lower(n)) DESC; SELECT 1");
  CHECK_THAT(shown(db, "w", "true"),
             Contains("WHERE v::text = 'q'::text AND (v::text = ANY (ARRAY['r'"));
}

TEST_CASE("Relations of one name are told apart in a view's text", "[sql][session][view_text]") {
  TestDatabase db;
  make_viewed_tables(db);
  db.run(
      "CREATE VIEW w AS SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b a WHERE a.a_id = 1) AND "
      "id IN (SELECT id FROM a)");
  CHECK(shown(db, "w", "false") ==
        " SELECT id\n   FROM a\n  WHERE ((EXISTS ( SELECT 1\n           FROM b a_1\n"
        "          WHERE (a_1.a_id = 1))) AND (id IN ( SELECT a_1.id\n"
        "           FROM a a_1))); SELECT 1");
}

TEST_CASE("A view's text shows joins, groups, windows and parts of a union",
          "[sql][session][view_text]") {
  TestDatabase db;
  make_viewed_tables(db);
  db.run(
      "CREATE VIEW joined AS SELECT a.id, sum(b.p) AS total FROM a LEFT JOIN b ON b.a_id = a.id "
      "AND b.p > 1 GROUP BY a.id HAVING count(*) > 1");
  CHECK(shown(db, "joined", "false") ==
        " SELECT a.id,\n    sum(b.p) AS total\n   FROM (a\n"
        "     LEFT JOIN b ON (((b.a_id = a.id) AND (b.p > (1)::numeric))))\n"
        "  GROUP BY a.id\n HAVING (count(*) > 1); SELECT 1");
  CHECK(shown(db, "joined", "true") ==
        " SELECT a.id,\n    sum(b.p) AS total\n   FROM a\n"
        "     LEFT JOIN b ON b.a_id = a.id AND b.p > 1::numeric\n"
        "  GROUP BY a.id\n HAVING count(*) > 1; SELECT 1");
  db.run(
      "CREATE VIEW parts(k) AS SELECT id FROM a UNION ALL SELECT a_id FROM b ORDER BY 1 DESC "
      "LIMIT 3");
  CHECK(shown(db, "parts", "false") ==
        " SELECT a.id AS k\n   FROM a\nUNION ALL\n SELECT b.a_id AS k\n   FROM b\n"
        "  ORDER BY 1 DESC\n LIMIT 3; SELECT 1");
  db.run(
      "CREATE VIEW within AS WITH w AS (SELECT id + 1 AS i FROM a) SELECT i - (2 - i) * 3 AS r, "
      "count(*) OVER (PARTITION BY i ORDER BY i ROWS 1 PRECEDING) FROM w");
  CHECK(shown(db, "within", "true") ==
        " WITH w AS (\n         SELECT a.id + 1 AS i\n           FROM a\n        )\n"
        " SELECT i - (2 - i) * 3 AS r,\n    count(*) OVER (PARTITION BY i ORDER BY i "
        "ROWS 1 PRECEDING) AS count\n   FROM w; SELECT 1");
}

TEST_CASE("A view's text has the names that its tables have by then", "[sql][session][view_text]") {
  TestDatabase db;
  make_viewed_tables(db);
  db.run("CREATE VIEW w AS SELECT n, a.id FROM a WHERE v IS NULL");
  db.run("ALTER TABLE a RENAME COLUMN n TO m");
  db.run("ALTER TABLE a ADD COLUMN more int");
  db.run("ALTER TABLE a RENAME TO c");
  CHECK(shown(db, "w", "false") ==
        " SELECT m AS n,\n    id\n   FROM c\n  WHERE (v IS NULL); SELECT 1");
}

TEST_CASE("A policy with a subquery is shown as PostgreSQL does", "[sql][session][view_text]") {
  TestDatabase db;
  make_viewed_tables(db);
  db.run(
      "CREATE POLICY own ON b USING (a_id IN (SELECT a.id FROM a WHERE a.n = CURRENT_USER AND "
      "a.id = b.a_id) AND p > 0)");
  CHECK(db.run("SELECT qual FROM pg_policies") ==
        "((a_id IN ( SELECT a.id\n   FROM a\n  WHERE ((a.n = CURRENT_USER) AND "
        "(a.id = b.a_id)))) AND (p > (0)::numeric)) SELECT 1");
  db.run("ALTER POLICY own ON b USING (EXISTS (SELECT 1 FROM b WHERE a_id = b.id))");
  CHECK(db.run("SELECT qual FROM pg_policies") ==
        "(EXISTS ( SELECT 1\n   FROM b b_1\n  WHERE (b_1.a_id = b_1.id))) SELECT 1");
}
