// A violated invariant fails its statement only, and damage in the catalog affects its object only:
// the server, the session and the next start go on.
#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;
using Catch::Contains;
using Catch::StartsWith;

namespace {

/// Stores a changed definition without ALTER's checks.
template <class Change>
void damage(TestDatabase& db, const std::string& table, const Change& change) {
  Session::State& state = db.session().state();
  state.transaction.begin(SessionTransaction::Block::implicit);
  state.transaction.begin_statement();
  const TablePtr found = state.names.find_table("", table);
  REQUIRE(found);
  Relation relation = found->relation;
  change(relation);
  state.catalog.replace(*state.transaction, *found, std::move(relation));
  state.transaction.commit();
}

/// Checks that statements on other objects work.
void check_others(TestDatabase& db) {
  CHECK(db.run("SELECT 1") == "1 SELECT 1");
  CHECK_THAT(db.run("SELECT count(*) FROM pg_attrdef"), Contains("SELECT 1"));
  CHECK_THAT(db.run("SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef"), Contains("SELECT"));
  CHECK_THAT(db.run("SELECT pg_get_constraintdef(oid) FROM pg_constraint"), Contains("SELECT"));
  CHECK_THAT(db.run("SELECT pg_get_indexdef(indexrelid) FROM pg_index"), Contains("SELECT"));
  CHECK_THAT(db.run("SELECT definition FROM pg_views"), Contains("SELECT"));
  CHECK_THAT(db.run("SELECT pg_get_viewdef(oid) FROM pg_class WHERE relkind = 'v'"),
             Contains("SELECT"));
  CHECK_THAT(db.run("SELECT view_definition FROM information_schema.views"), Contains("SELECT"));
  CHECK_THAT(db.run("SELECT column_default FROM information_schema.columns"), Contains("SELECT"));
  CHECK_THAT(db.run("SELECT count(*) FROM pg_depend"), Contains("SELECT 1"));
}

}  // namespace

TEST_CASE("A generated column keeps its expression, whatever ALTER says",
          "[sql][session][faults]") {
  TestDatabase db;
  db.run(
      "CREATE TABLE g (a int, x int GENERATED ALWAYS AS (a * 2) STORED);"
      "CREATE TABLE p (a int, x int GENERATED ALWAYS AS (a * 2) STORED) PARTITION BY RANGE (a);"
      "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10)");
  for (const std::string table : {"g", "p", "p1", "ONLY p"}) {
    CHECK_THAT(db.run("ALTER TABLE " + table + " ALTER x DROP DEFAULT"), StartsWith("42601"));
    CHECK_THAT(db.run("ALTER TABLE " + table + " ALTER x SET DEFAULT 1"), StartsWith("42601"));
  }
  CHECK(db.run("INSERT INTO g VALUES (1) RETURNING x") == "2 INSERT 0 1");
  CHECK(db.run("INSERT INTO p VALUES (1) RETURNING x") == "2 INSERT 0 1");
}

TEST_CASE("a text of SQL may hold no statement", "[sql][session][faults]") {
  TestDatabase db;
  db.run(
      "CREATE FUNCTION rows_of(t text) RETURNS SETOF int LANGUAGE plpgsql AS "
      "$$ begin return query execute t; end $$");
  const std::string several = "42P11 cannot open multi-query plan as cursor";
  for (const std::string text : {"", " ", ";", " ; ;", "-- nothing", "/* nothing */", "/**/;--"}) {
    INFO(text);
    CHECK(db.run("SELECT * FROM ts_stat('" + text + "')") == several);
    CHECK(db.run("SELECT ts_rewrite('a'::tsquery, '" + text + "')") == several);
    CHECK(db.run("SELECT * FROM rows_of('" + text + "')") ==
          "42601 empty query does not return tuples");
    const auto run_in_block = [&](const std::string& body) {
      return db.run("DO $$ declare r record; c refcursor; begin " + body + " end $$");
    };
    const std::string quoted = "'" + text + "'";
    CHECK(run_in_block("execute " + quoted + ";") == "DO");
    CHECK_THAT(run_in_block("execute " + quoted + " into r;"), StartsWith("42601 INTO used"));
    CHECK(run_in_block("for r in execute " + quoted + " loop null; end loop;") == several);
    CHECK(run_in_block("open c for execute " + quoted + ";") == several);
    CHECK(run_in_block("open c no scroll for execute " + quoted + " using 1;") == several);
    CHECK_THAT(db.run("CREATE FUNCTION f() RETURNS int LANGUAGE sql AS " + quoted),
               StartsWith("42P13"));
    CHECK(db.run("CREATE OR REPLACE FUNCTION v() RETURNS void LANGUAGE sql AS " + quoted) ==
          "CREATE FUNCTION");
    CHECK(db.run("SELECT v()") == "NULL SELECT 1");
    for (const std::string& name : {"query_to_xml(" + quoted + ", true, true, '')",
                                    "query_to_xmlschema(" + quoted + ", true, true, '')",
                                    "cursor_to_xml(" + quoted + ", 1, true, true, '')"}) {
      CHECK_THAT(db.run("SELECT " + name), !StartsWith("XX000"));
    }
    TestSink sink;
    CHECK(db.session().parse("", text, {}, sink));
    CHECK(db.session().bind(
        {.portal = "", .statement = "", .formats = {}, .values = {}, .result_formats = {}}, sink));
    CHECK(db.session().describe_statement("", sink));
    CHECK(db.session().execute("", 0, sink));
    CHECK(db.session().sync(sink));
    CHECK(db.session().simple_query(text, sink));
  }
  CHECK(db.run("SELECT 1") == "1 SELECT 1");
}

TEST_CASE("a generated column without its expression costs its table's writers",
          "[sql][session][faults]") {
  TestDatabase db;
  db.run(
      "CREATE TABLE g (a int PRIMARY KEY, x int GENERATED ALWAYS AS (a * 2) STORED);"
      "INSERT INTO g VALUES (1); CREATE TABLE other (a int)");
  damage(db, "g", [](Relation& relation) { relation.columns[1].default_sql.clear(); });
  for (int start = 0; start < 2; ++start) {
    CHECK_THAT(db.run("INSERT INTO g VALUES (2)"), StartsWith("XX000"));
    CHECK_THAT(db.run("UPDATE g SET a = 3"), StartsWith("XX000"));
    CHECK(db.run("SELECT * FROM g") == "1|2 SELECT 1");
    CHECK(db.run("INSERT INTO other VALUES (1)") == "INSERT 0 1");
    check_others(db);
    db.close();
    db.open();
  }
  CHECK(db.run("ALTER TABLE g ALTER x DROP EXPRESSION") == "ALTER TABLE");
  CHECK(db.run("INSERT INTO g VALUES (2)") == "INSERT 0 1");
}

TEST_CASE("a damaged expression of an index, a check or a default costs what uses it",
          "[sql][session][faults]") {
  const auto make = [](TestDatabase& db) {
    db.run(
        "CREATE TABLE t (a int DEFAULT 1, b int CHECK (b > 0)); CREATE INDEX i ON t ((a + b));"
        "CREATE INDEX p ON t (b) WHERE a > 0; INSERT INTO t SELECT n, n FROM "
        "generate_series(1, 5) n");
  };
  for (const std::string broken : {"", "nothing +", "no_such_function(a)", "(SELECT 1"}) {
    INFO(broken);
    TestDatabase db;
    make(db);
    damage(db, "t", [&](Relation& relation) {
      relation.indexes[0].columns[0].expression_sql = broken;
      if (!broken.empty()) relation.indexes[1].predicate_sql = broken;
    });
    CHECK(db.run("SELECT a FROM t WHERE a + b = 4") == "2 SELECT 1");
    CHECK(db.run("SELECT a FROM t WHERE b = 3 AND a > 0") == "3 SELECT 1");
    CHECK_THAT(db.run("INSERT INTO t VALUES (9, 9)"), !StartsWith("INSERT"));
    check_others(db);
    db.close();
    db.open();
    CHECK(db.run("DROP INDEX i") == "DROP INDEX");
    CHECK(db.run("DROP INDEX p") == "DROP INDEX");
    CHECK(db.run("INSERT INTO t VALUES (9, 9)") == "INSERT 0 1");
  }
  for (const std::string broken : {"", "nothing +", "no_such_function(b)"}) {
    INFO(broken);
    TestDatabase db;
    make(db);
    damage(db, "t", [&](Relation& relation) {
      relation.constraints[0].check_sql = broken;
      if (!broken.empty()) relation.columns[0].default_sql = broken;
    });
    CHECK(db.run("SELECT count(*) FROM t") == "5 SELECT 1");
    CHECK_THAT(db.run("INSERT INTO t VALUES (9, 9)"), !StartsWith("INSERT"));
    check_others(db);
    CHECK(db.run("ALTER TABLE t DROP CONSTRAINT t_b_check") == "ALTER TABLE");
    CHECK(db.run("ALTER TABLE t ALTER a DROP DEFAULT") == "ALTER TABLE");
    CHECK(db.run("INSERT INTO t (b) VALUES (9)") == "INSERT 0 1");
    CHECK(db.run("DROP TABLE t") == "DROP TABLE");
  }
}

TEST_CASE("a view that cannot be read costs its own readers", "[sql][session][faults]") {
  for (const std::string broken : {"", "SELECT", "SELECT FROM FROM", "SELECT 1; SELECT 2",
                                   "SELECT no_such_column AS a FROM t", "SHOW work_mem"}) {
    INFO(broken);
    TestDatabase db;
    db.run("CREATE TABLE t (a int); CREATE VIEW v AS SELECT a FROM t; CREATE VIEW w AS SELECT 1 a");
    damage(db, "v", [&](Relation& relation) { relation.view_sql = broken; });
    db.close();
    db.open();
    CHECK_THAT(db.run("SELECT a FROM v"), !Contains("SELECT 0"));
    CHECK_THAT(db.run("INSERT INTO v VALUES (1)"), !StartsWith("INSERT"));
    CHECK(db.run("SELECT * FROM w") == "1 SELECT 1");
    CHECK(db.run("INSERT INTO t VALUES (1)") == "INSERT 0 1");
    check_others(db);
    CHECK(db.run("ALTER TABLE t ADD c int") == "ALTER TABLE");
    CHECK(db.run("CREATE OR REPLACE VIEW v AS SELECT a FROM t") == "CREATE VIEW");
    CHECK(db.run("SELECT a FROM v") == "1 SELECT 1");
  }
}

TEST_CASE("literals and parameters of a domain whose check runs a function",
          "[sql][session][faults]") {
  TestDatabase db;
  db.run(
      "CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'select 1';"
      "CREATE FUNCTION two() RETURNS int LANGUAGE plpgsql AS $$ begin return (select 2); end $$;"
      "CREATE DOMAIN d int CHECK (value > one()) CHECK (value > two() - 1);"
      "CREATE TYPE c AS (x d); CREATE DOMAIN dd d CHECK (value > one());"
      "CREATE TABLE q (x d, y d[], z c, w dd)");
  for (int again = 0; again < 2; ++again) {
    CHECK(db.run("INSERT INTO q VALUES ('2')") == "INSERT 0 1");
    CHECK(db.run("INSERT INTO q VALUES ('2', '{3}', '(4)', '5')") == "INSERT 0 1");
    CHECK(db.run("INSERT INTO q VALUES ('2'), ('3')") == "INSERT 0 2");
    CHECK_THAT(db.run("INSERT INTO q VALUES ('1')"), StartsWith("23514"));
    CHECK_THAT(db.run("INSERT INTO q VALUES ('2', '{1}')"), StartsWith("23514"));
    CHECK_THAT(db.run("INSERT INTO q VALUES ('2', null, '(0)')"), StartsWith("23514"));
    CHECK(db.run("SELECT '7'::d") == "7 SELECT 1");
    CHECK(db.run("UPDATE q SET x = '4' WHERE x = '3'").starts_with("UPDATE"));
  }
  // Bind reads parameter values outside of a transaction.
  TestSink sink;
  REQUIRE(db.session().parse("", "INSERT INTO q VALUES ($1, $2, $3, $4)", {}, sink));
  const auto text = [](std::string_view value) { return std::optional<Bytes>{as_bytes(value)}; };
  const std::optional<Bytes> good[] = {text("2"), text("{2}"), text("(2)"), text("2")};
  REQUIRE(db.session().bind(
      {.portal = "", .statement = "", .formats = {}, .values = good, .result_formats = {}}, sink));
  REQUIRE(db.session().execute("", 0, sink));
  REQUIRE(db.session().sync(sink));
  const std::optional<Bytes> bad[] = {text("1"), text("{2}"), text("(2)"), text("2")};
  const Outcome refused = db.session().bind(
      {.portal = "", .statement = "", .formats = {}, .values = bad, .result_formats = {}}, sink);
  REQUIRE(!refused);
  CHECK(refused.error().state.code() == "23514");
  REQUIRE(db.session().sync(sink));
  CHECK(db.run("SELECT 1") == "1 SELECT 1");
}

TEST_CASE("pseudo-types beside each other under every operator", "[sql][session][faults]") {
  TestDatabase db;
  constexpr std::string_view kTypes[] = {"anyelement",
                                         "anyarray",
                                         "anynonarray",
                                         "anyenum",
                                         "anyrange",
                                         "anymultirange",
                                         "anycompatible",
                                         "anycompatiblearray",
                                         "anycompatiblenonarray",
                                         "anycompatiblerange",
                                         "anycompatiblemultirange",
                                         "\"any\"",
                                         "cstring",
                                         "record",
                                         "record[]",
                                         "void",
                                         "trigger",
                                         "internal",
                                         "event_trigger",
                                         "language_handler",
                                         "int4range",
                                         "int4multirange",
                                         "int4[]",
                                         "text"};
  constexpr std::string_view kOperators[] = {"=",  "<", "<>", "||", "@>", "<@", "&&", "-|-",
                                             "+",  "*", "-",  "->", "~",  "<<", ">>", "&<",
                                             "&>", "?", "|",  "#",  "/",  "%",  "^",  "@@"};
  TestSink sink;
  for (const std::string_view left : kTypes) {
    for (const std::string_view right : kTypes) {
      for (const std::string_view op : kOperators) {
        const std::string text = fmt::format("SELECT NULL::{} {} NULL::{}", left, op, right);
        const Outcome outcome = db.session().parse("", text, {}, sink);
        if (!outcome && outcome.error().state == sqlstate::internal_error)
          FAIL(text << ": " << outcome.error().message);
        if (!db.session().sync(sink)) FAIL(text);
      }
    }
  }
  CHECK(db.run("SELECT NULL::anyrange = NULL::anyrange") ==
        "42804 argument declared anyrange is not a range type but type anyrange");
  CHECK(db.run("SELECT range_le(NULL::anyrange, NULL::anyrange)") ==
        "42804 argument declared anyrange is not a range type but type anyrange");
  CHECK(db.run("SELECT NULL::anyelement <@ NULL::anyrange") ==
        "42804 argument declared anyrange is not a range type but type anyrange");
  CHECK_THAT(db.run("SELECT NULL::anyenum = NULL"), StartsWith("42"));
}

TEST_CASE("A parameter that was not given costs its statement", "[sql][session][faults]") {
  TestDatabase db;
  db.run("CREATE TABLE t (a int PRIMARY KEY); INSERT INTO t VALUES (1)");
  for (const std::string text :
       {"SELECT $1::int + 1", "SELECT * FROM t WHERE a = $1", "SELECT a FROM t ORDER BY a + $1",
        "SELECT count(*) FROM t LIMIT $1", "UPDATE t SET a = $1", "INSERT INTO t VALUES ($1)"}) {
    INFO(text);
    TestSink sink;
    REQUIRE(db.session().parse("", text, {}, sink));
    const std::byte one[] = {std::byte{'1'}};
    const std::optional<Bytes> values[] = {Bytes{one}};
    REQUIRE(db.session().bind(
        {.portal = "", .statement = "", .formats = {}, .values = values, .result_formats = {}},
        sink));
    for (const auto& [name, portal] : db.session().state().portals.all())
      portal->parameters.clear();
    const Outcome outcome = db.session().execute("", 0, sink);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().state.code() == "XX000");
    REQUIRE(db.session().sync(sink));
    CHECK(db.run("SELECT a FROM t") == "1 SELECT 1");
  }
}
