// Meanings of names: columns, aliases, stars, joins, WITH queries, and views.
#include <catch2/catch.hpp>

#include "sql-lite-frontend/query/bind/testing/fixed_names.h"

using namespace swizzle::sql;

namespace {

struct TwoTables : TestBinding {
  TwoTables() {
    names.add_table("t", {{"id", TypeId::int4}, {"a", TypeId::int4}, {"v", TypeId::text}}, {0});
    names.add_table("u", {{"id", TypeId::int8}, {"b", TypeId::float8}});
  }
};

}  // namespace

TEST_CASE_METHOD(TwoTables, "A column is found in the nearest query that has it", "[sql][bind]") {
  CHECK(targets("SELECT a, b FROM t, u") == "a integer, b double precision");
  CHECK(targets("SELECT (SELECT b FROM t LIMIT 1) FROM u") == "b double precision");
  const auto inner = query("SELECT (SELECT a + u.b FROM t LIMIT 1) FROM u");
  CHECK(inner->outer_slots.empty());

  CHECK(error("SELECT id FROM t, u") == "42702 column reference \"id\" is ambiguous");
  CHECK(error("SELECT t.id FROM t, u") == "bound");
  CHECK(error("SELECT x.id FROM t") == "42P01 missing FROM-clause entry for table \"x\"");
  CHECK(error("SELECT t.id FROM t AS x") ==
        "42P01 invalid reference to FROM-clause entry for table \"t\"\n"
        "Perhaps you meant to reference the table alias \"x\".");
  CHECK(error("SELECT vv FROM t") ==
        "42703 column \"vv\" does not exist\n"
        "Perhaps you meant to reference the column \"t.v\".");
  CHECK(error("SELECT 1 FROM none") == "42P01 relation \"none\" does not exist");
  CHECK(error("SELECT 1 FROM t, t") == "42712 table name \"t\" specified more than once");
}

TEST_CASE_METHOD(TwoTables, "A subquery in FROM sees items to its left only with LATERAL",
                 "[sql][bind]") {
  CHECK(error("SELECT 1 FROM t, LATERAL (SELECT a) s") == "bound");
  CHECK(error("SELECT 1 FROM t, (SELECT t.a) s") ==
        "42P01 invalid reference to FROM-clause entry for table \"t\"\n"
        "To reference that table, you must mark this subquery with LATERAL.");
  CHECK(error("SELECT 1 FROM t RIGHT JOIN LATERAL (SELECT t.a) s ON true") ==
        "42P10 invalid reference to FROM-clause entry for table \"t\"");
}

TEST_CASE_METHOD(TwoTables, "A star means the visible columns, merged ones first", "[sql][bind]") {
  CHECK(targets("SELECT * FROM t") == "id integer, a integer, v text");
  CHECK(targets("SELECT u.*, 1 AS one FROM t, u") == "id bigint, b double precision, one integer");
  CHECK(targets("SELECT * FROM t JOIN u USING (id)") ==
        "id bigint, a integer, v text, b double precision");
  CHECK(targets("SELECT * FROM t NATURAL LEFT JOIN u") ==
        "id bigint, a integer, v text, b double precision");
  CHECK(targets("SELECT * FROM (t JOIN u USING (id)) AS j (x)") ==
        "x bigint, a integer, v text, b double precision");
  CHECK(error("SELECT *") == "42601 SELECT * with no tables specified is not valid");
  CHECK(error("SELECT 1 FROM t JOIN u USING (a)") ==
        "42703 column \"a\" specified in USING clause does not exist in right table");
}

TEST_CASE_METHOD(TwoTables, "WITH queries are found before tables, and only behind themselves",
                 "[sql][bind]") {
  CHECK(targets("WITH t AS (SELECT 1 AS one) SELECT * FROM t") == "one integer");
  CHECK(targets("WITH c (x) AS (SELECT v FROM t) SELECT x FROM c") == "x text");
  CHECK(error("WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT 1 FROM a").substr(0, 37) ==
        "42P01 relation \"b\" does not exist\nUse");
  CHECK(
      targets("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n") ==
      "i integer");
  CHECK(error("WITH RECURSIVE n (i) AS (SELECT i FROM n UNION ALL SELECT 1) SELECT * FROM n") ==
        "42P19 recursive reference to query \"n\" must not appear within its non-recursive term");
  CHECK(error("WITH c AS (SELECT 1), c AS (SELECT 2) SELECT 1") ==
        "42712 WITH query name \"c\" specified more than once");
}

TEST_CASE_METHOD(TwoTables, "A view is its query, and its names are those of its definition",
                 "[sql][bind]") {
  names.add_view("w", {{"x", TypeId::int4}, {"y", TypeId::text}}, "SELECT t.a, t.v FROM t");
  CHECK(targets("SELECT * FROM w") == "x integer, y text");
  query("SELECT x FROM w");
  CHECK(binder().dependencies().size() == 2);
  REQUIRE(binder().relations_read().size() == 1);
  CHECK(binder().relations_read().front().name == "w");
}

TEST_CASE_METHOD(TwoTables, "The binder notes what a statement depends on", "[sql][bind]") {
  query("SELECT a FROM t JOIN u ON u.id = t.id");
  CHECK(binder().dependencies().size() == 2);
  CHECK(binder().written().empty());
  CHECK_FALSE(binder().is_single_use());
  query("SELECT 'now'::timestamptz");
  CHECK(binder().is_single_use());
  write("INSERT INTO t VALUES (1, 2, 'x')");
  CHECK(binder().written().size() == 1);
}
