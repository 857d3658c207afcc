#include "sql-lite-frontend/session.h"

#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"
#include "sql-lite-frontend/types/type_id.h"

using namespace swizzle;
using namespace swizzle::sql;

TEST_CASE("A table is written and read by key", "[sql][session]") {
  TestDatabase db;
  CHECK(db.run("CREATE TABLE t(id int primary key, v text)") == "CREATE TABLE");
  CHECK(db.run("INSERT INTO t VALUES (1, 'one'), (2, 'two')") == "INSERT 0 2");
  CHECK(db.run("SELECT * FROM t WHERE id = 2") == "2|two SELECT 1");
  CHECK(db.run("UPDATE t SET v = 'zwei' WHERE id = 2") == "UPDATE 1");
  CHECK(db.run("SELECT v FROM t ORDER BY id DESC") == "zwei one SELECT 2");
  CHECK(db.run("DELETE FROM t WHERE id = 1") == "DELETE 1");
  CHECK(db.run("SELECT count(*) FROM t") == "1 SELECT 1");
  CHECK(db.run("INSERT INTO t VALUES (2, 'again')") ==
        "23505 duplicate key value violates unique constraint \"t_pkey\"");
  CHECK(db.run("SELECT nothing FROM t") == "42703 column \"nothing\" does not exist");
}

TEST_CASE("Each round of a recursive query reads its own working table", "[sql][session]") {
  TestDatabase db;
  // The OR prevents a hash join: the working table is the inner side of a nested loop.
  CHECK(db.run("WITH RECURSIVE x(a, d) AS (SELECT 1, 0 UNION ALL SELECT t.v, d + 1 FROM (VALUES "
               "(1, 2), (2, 3)) t(k, v), x WHERE t.k = x.a OR t.k = x.a + 100) SELECT a, d FROM "
               "x") == "1|0 2|1 3|2 SELECT 3");
}

TEST_CASE("Transactions and savepoints", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int primary key, v int)");
  CHECK(db.run("BEGIN") == "BEGIN");
  CHECK(db.session().transaction_status() == TransactionStatus::in_block);
  db.run("INSERT INTO t VALUES (1, 1)");
  CHECK(db.run("ROLLBACK") == "ROLLBACK");
  CHECK(db.run("SELECT count(*) FROM t") == "0 SELECT 1");
  db.run("BEGIN");
  db.run("INSERT INTO t VALUES (1, 1)");
  db.run("SAVEPOINT a");
  CHECK(db.run("INSERT INTO t VALUES (1, 1)").starts_with("23505"));
  CHECK(db.session().transaction_status() == TransactionStatus::failed);
  CHECK(db.run("SELECT 1").starts_with("25P02"));
  CHECK(db.run("ROLLBACK TO a") == "ROLLBACK");
  CHECK(db.run("INSERT INTO t VALUES (2, 2)") == "INSERT 0 1");
  CHECK(db.run("COMMIT") == "COMMIT");
  CHECK(db.run("SELECT id FROM t ORDER BY 1") == "1 2 SELECT 2");
  CHECK(db.run("INSERT INTO t VALUES (3, 3); INSERT INTO t VALUES (1, 1)").starts_with("23505"));
  CHECK(db.run("SELECT count(*) FROM t") == "2 SELECT 1");
}

TEST_CASE("Definitions and rows survive a restart", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id serial primary key, v text unique not null default 'x')");
  db.run("INSERT INTO t(v) VALUES ('a')");
  db.close();
  db.open();
  CHECK(db.run("SELECT * FROM t") == "1|a SELECT 1");
  CHECK(db.run("INSERT INTO t(v) VALUES ('a')").starts_with("23505"));
  CHECK(db.run("INSERT INTO t(v) VALUES (NULL)").starts_with("23502"));
}

TEST_CASE("A sequence goes on behind what it gave after a restart", "[sql][session]") {
  // The limit recorded in advance may be exactly the last number returned.
  for (const int given : {1, 2, 31, 32, 33, 34, 64, 65}) {
    INFO(given);
    TestDatabase db;
    db.run("CREATE SEQUENCE s");
    db.run("SELECT count(nextval('s')) FROM generate_series(1, " + std::to_string(given) + ")");
    db.close();
    db.open();
    CHECK(std::stoi(db.run("SELECT nextval('s')")) > given);
  }
}

TEST_CASE("Prepared statements take typed parameters", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int primary key, v text)");
  TestSink sink;
  REQUIRE(db.session().parse("s", "INSERT INTO t VALUES ($1, $2)", {}, sink));
  REQUIRE(db.session().describe_statement("s", sink));
  CHECK(sink.parameter_types == std::vector<std::uint32_t>{23, 25});
  const std::optional<Bytes> values[] = {as_bytes("7"), std::nullopt};
  for (int i = 0; i < 2; ++i) {
    sink.clear();
    const Outcome bound = db.session().bind({"", "s", {}, values, {}}, sink);
    REQUIRE(bound);
    const Outcome executed = db.session().execute("", 0, sink);
    CHECK(executed.has_value() == (i == 0));
    CHECK(db.session().sync(sink));
  }
  CHECK(db.run("SELECT id, v FROM t") == "7|NULL SELECT 1");
}

TEST_CASE("P34 a statement that fails at its last row leaves nothing behind", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int primary key, v int check (v < 100))");
  db.run("INSERT INTO t SELECT i, i FROM generate_series(1, 50) i");
  db.run("BEGIN");
  db.run("SAVEPOINT s");
  CHECK(db.run("UPDATE t SET v = v + 50").starts_with("23514"));
  db.run("ROLLBACK TO s");
  CHECK(db.run("SELECT sum(v) FROM t") == "1275 SELECT 1");
  CHECK(db.run("INSERT INTO t VALUES (51, 1), (52, 2), (1, 3)").starts_with("23505"));
  db.run("ROLLBACK TO s");
  CHECK(db.run("INSERT INTO t VALUES (51, 1)") == "INSERT 0 1");
  CHECK(db.run("COMMIT") == "COMMIT");
  CHECK(db.run("SELECT count(*), max(id) FROM t") == "51|51 SELECT 1");
}

TEST_CASE("A materialized view keeps its rows until it is refreshed", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int primary key, v text); INSERT INTO t VALUES (1, 'one')");
  CHECK(db.run("CREATE MATERIALIZED VIEW m AS SELECT id AS k, upper(v) AS u FROM t") == "SELECT 1");
  db.run("INSERT INTO t VALUES (2, 'two')");
  CHECK(db.run("SELECT * FROM m") == "1|ONE SELECT 1");
  CHECK(db.run("CREATE UNIQUE INDEX m_k ON m (k)") == "CREATE INDEX");
  CHECK(db.run("INSERT INTO m VALUES (3, 'x')") == "42809 cannot change materialized view \"m\"");
  CHECK(db.run("REFRESH MATERIALIZED VIEW m") == "REFRESH MATERIALIZED VIEW");
  CHECK(db.run("SELECT u FROM m WHERE k = 2") == "TWO SELECT 1");
  CHECK(db.run("BEGIN; DELETE FROM t; REFRESH MATERIALIZED VIEW m; ROLLBACK") ==
        "BEGIN DELETE 2 REFRESH MATERIALIZED VIEW ROLLBACK");
  CHECK(db.run("SELECT count(*) FROM m") == "2 SELECT 1");
  CHECK(db.run("DROP TABLE t").starts_with("2BP01"));
  CHECK(db.run("DROP VIEW m") == "42809 \"m\" is not a view");
  db.run("ALTER MATERIALIZED VIEW m RENAME TO n");
  CHECK(db.run("SELECT matviewname, hasindexes, definition FROM pg_matviews") ==
        "n|t| SELECT id AS k,\n    upper(v) AS u\n   FROM t; SELECT 1");
  CHECK(db.run("SELECT relkind FROM pg_class WHERE relname = 'n'") == "m SELECT 1");
  db.close();
  db.open();
  CHECK(db.run("REFRESH MATERIALIZED VIEW n; SELECT count(*) FROM n") ==
        "2 REFRESH MATERIALIZED VIEW SELECT 1");
  CHECK(db.run("DROP MATERIALIZED VIEW n") == "DROP MATERIALIZED VIEW");
  CHECK(db.run("DROP TABLE t") == "DROP TABLE");
}

TEST_CASE("txid_current() names the transaction, whether it writes or not", "[sql][session]") {
  TestDatabase db;
  const std::string first = db.run("SELECT txid_current()");
  CHECK(db.run("SELECT txid_current()") != first);
  CHECK(db.run("BEGIN; SELECT txid_current() = txid_current()") == "t BEGIN SELECT 1");
}

TEST_CASE("A deferred foreign key looks at what is there at the end", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE p(id int primary key)");
  db.run("CREATE TABLE c(id int primary key, p int REFERENCES p DEFERRABLE INITIALLY DEFERRED)");
  CHECK(db.run("BEGIN; INSERT INTO c VALUES (1, 7); DELETE FROM c; COMMIT").ends_with("COMMIT"));
  CHECK(db.run("BEGIN; INSERT INTO c VALUES (1, 7); UPDATE c SET p = NULL; COMMIT")
            .ends_with("COMMIT"));
  db.run("INSERT INTO p VALUES (1); INSERT INTO c VALUES (2, 1)");
  CHECK(db.run("BEGIN; DELETE FROM p; INSERT INTO p VALUES (1); COMMIT").ends_with("COMMIT"));
  CHECK(db.run("BEGIN; DELETE FROM p; DELETE FROM c WHERE p = 1; COMMIT").ends_with("COMMIT"));
  CHECK(db.run("BEGIN; INSERT INTO c VALUES (3, 7); COMMIT").starts_with("23503"));
  db.run("INSERT INTO p VALUES (1); INSERT INTO c VALUES (4, 1)");
  CHECK(db.run("BEGIN; DELETE FROM p; COMMIT").starts_with("23503"));
  CHECK(db.run("BEGIN; DELETE FROM p; SET CONSTRAINTS ALL IMMEDIATE").starts_with("23503"));
  db.run("ROLLBACK");
}

TEST_CASE("A cursor without scrolling may be asked for no row", "[sql][session]") {
  TestDatabase db;
  db.run("BEGIN; DECLARE c NO SCROLL CURSOR FOR SELECT generate_series(1, 3)");
  CHECK(db.run("FETCH 0 FROM c") == "FETCH 0");
  CHECK(db.run("FETCH 1 FROM c") == "1 FETCH 1");
  CHECK(db.run("MOVE 0 FROM c") == "MOVE 1");
  CHECK(db.run("FETCH 0 FROM c").starts_with("55000"));
}

namespace {

/// Collects rows in the form in which they go to the client.
class ByteSink final : public TestSink {
 public:
  std::string bytes;
  std::vector<std::uint32_t> types;
  void row_description(std::span<const OutputColumn> list) override {
    types.clear();
    for (const OutputColumn& column : list) types.push_back(column.type_oid);
  }
  void data_row(const OutputRow& row) override { row.append_data_row(bytes); }
};

}  // namespace

TEST_CASE("FETCH and EXECUTE give the formats that Bind asks for", "[sql][session]") {
  TestDatabase db;
  using Formats = std::vector<Format>;
  db.run("BEGIN; DECLARE c SCROLL CURSOR FOR SELECT 7::int2 AS a, 8::int2 AS b");
  db.run("DECLARE d BINARY SCROLL CURSOR FOR SELECT 7::int2 AS a, 8::int2 AS b");
  db.run("PREPARE p AS SELECT 7::int2 AS a, 8::int2 AS b");
  const std::string text{
      "\0\0\0\1"
      "7\0\0\0\1"
      "8",
      10};
  const std::string binary{"\0\0\0\2\0\7\0\0\0\2\0\10", 12};
  for (const char* statement : {"FETCH FIRST FROM c", "FETCH FIRST FROM d", "EXECUTE p"}) {
    INFO(statement);
    for (const Formats& formats :
         {Formats{}, Formats{Format::text}, Formats{Format::binary}, Formats{2, Format::binary}}) {
      ByteSink sink;
      REQUIRE(db.session().parse("", statement, {}, sink));
      REQUIRE(db.session().bind({"", "", {}, {}, formats}, sink));
      REQUIRE(db.session().execute("", 0, sink));
      const bool as_text = formats.empty() || formats[0] == Format::text;
      CHECK(sink.bytes.ends_with(as_text ? text : binary));
    }
  }
  TestSink sink;
  const Formats three(3, Format::binary);
  REQUIRE(db.session().parse("", "FETCH FIRST FROM c", {}, sink));
  CHECK_FALSE(db.session().bind({"", "", {}, {}, three}, sink));
}

TEST_CASE("EXPLAIN and DECLARE have their query's parameters", "[sql][session]") {
  TestDatabase db;
  db.run("BEGIN");
  const std::optional<Bytes> values[] = {as_bytes("3")};
  for (const char* statement : {"EXPLAIN SELECT oid FROM pg_class WHERE relnatts > $1",
                                "EXPLAIN (FORMAT JSON) SELECT 1 WHERE $1::int2 > 1",
                                "DECLARE c CURSOR FOR SELECT generate_series(1, $1::int2)"}) {
    INFO(statement);
    ByteSink sink;
    REQUIRE(db.session().parse("s", statement, {}, sink));
    REQUIRE(db.session().describe_statement("s", sink));
    CHECK(sink.parameter_types.size() == 1);
    if (sink.types.size() == 1) {
      const bool as_json = std::string_view{statement}.find("JSON") != std::string_view::npos;
      CHECK(sink.types[0] == raw(as_json ? TypeId::json : TypeId::text));
    }
    REQUIRE(db.session().bind({"", "s", {}, values, {}}, sink));
    REQUIRE(db.session().execute("", 0, sink));
    REQUIRE(db.session().close_statement("s"));
  }
  CHECK(db.run("FETCH ALL FROM c") == "1 2 3 FETCH 3");
  CHECK(db.run("EXPLAIN SELECT $1").starts_with("42P02"));
}

TEST_CASE("regprocedure names a function by its argument types", "[sql][session]") {
  TestDatabase db;
  CHECK(db.run("SELECT 'lower(text)'::regprocedure, 'abs( int4 )'::regprocedure::oid::int") ==
        "lower(text)|1397 SELECT 1");
  CHECK(db.run("SELECT 'pg_catalog.substr(text, integer, int)'::regprocedure") ==
        "substr(text,integer,integer) SELECT 1");
  CHECK(db.run("SELECT 'now()'::regprocedure, to_regprocedure('abs(text)')") ==
        "now()|NULL SELECT 1");
  CHECK(db.run("SELECT 'nosuch(text)'::regprocedure").starts_with("42883"));
  CHECK(db.run("SELECT 'lower'::regprocedure").starts_with("22P02"));
  CHECK(db.run("SELECT 'lower(nosuch)'::regprocedure").starts_with("42704"));
}

TEST_CASE("Parse and Bind complain in PostgreSQL's order", "[sql][session]") {
  TestDatabase db;
  TestSink sink;
  Session& session = db.session();
  const auto state_of = [](const Outcome& outcome) {
    return outcome ? std::string{"none"} : std::string{outcome.error().state.code()};
  };
  REQUIRE(session.parse("a", "SELECT 1", {}, sink));
  CHECK(state_of(session.parse("a", "selct", {}, sink)) == "42601");
  CHECK(state_of(session.parse("a", "SELECT nosuch", {}, sink)) == "42703");
  CHECK(state_of(session.parse("a", "SELECT 2", {}, sink)) == "42P05");
  REQUIRE(session.parse("", "SELECT 1", {}, sink));
  CHECK(state_of(session.parse("", "SELECT nosuch", {}, sink)) == "42703");
  CHECK(state_of(session.bind({"", "", {}, {}, {}}, sink)) == "26000");
  db.run("BEGIN; SELECT nosuch");
  const std::optional<Bytes> values[] = {as_bytes("1")};
  CHECK(state_of(session.bind({"", "a", {}, values, {}}, sink)) == "08P01");
  CHECK(state_of(session.bind({"", "a", {}, {}, {}}, sink)) == "25P02");
}

TEST_CASE("Bytes that are no text are 22021", "[sql][session]") {
  TestDatabase db;
  CHECK(db.run("SELECT E'\\xff'").starts_with("22021"));
}

TEST_CASE("A parameter of type void is none: what comes out of JDBC's calls", "[sql][session]") {
  TestDatabase db;
  TestSink sink;
  REQUIRE(db.session().parse("", "SELECT abs($1::void, $2::int4)", {}, sink));
  const std::optional<Bytes> values[] = {std::nullopt, as_bytes("-3")};
  REQUIRE(db.session().bind({"", "", {}, values, {}}, sink));
  REQUIRE(db.session().execute("", 0, sink));
  CHECK(sink.rows == std::vector<std::string>{"3"});
}

TEST_CASE("What is wrong with constants is said at Bind", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int primary key)");
  TestSink sink;
  const auto state_at_bind = [&](std::string_view sql) {
    const Outcome parsed = db.session().parse("", sql, {}, sink);
    if (!parsed) return "Parse " + std::string{parsed.error().state.code()};
    const Outcome bound = db.session().bind({"", "", {}, {}, {}}, sink);
    const std::string state = bound ? "fine" : std::string{bound.error().state.code()};
    CHECK(db.session().sync(sink));
    return state;
  };
  CHECK(state_at_bind("SELECT 1 / 0") == "22012");
  CHECK(state_at_bind("SELECT 1 / 0 FROM t") == "22012");
  CHECK(state_at_bind("SELECT id FROM t WHERE id = 1 + 1 / 0") == "22012");
  CHECK(state_at_bind("SELECT CASE WHEN true THEN 1 ELSE 1 / 0 END") == "fine");
  CHECK(state_at_bind("SELECT coalesce(1, 1 / 0)") == "fine");
  CHECK(state_at_bind("SELECT id / 0 FROM t") == "fine");
  CHECK(state_at_bind("SELECT 1 / 0, nothing FROM t") == "Parse 42703");
}

TEST_CASE("A portal gives its rows in portions", "[sql][session]") {
  TestDatabase db;
  TestSink sink;
  REQUIRE(db.session().parse("", "SELECT i FROM generate_series(1, 5) i", {}, sink));
  REQUIRE(db.session().bind({"p", "", {}, {}, {}}, sink));
  REQUIRE(db.session().execute("p", 2, sink));
  CHECK(sink.tags == std::vector<std::string>{"(suspended)"});
  REQUIRE(db.session().execute("p", 2, sink));
  REQUIRE(db.session().execute("p", 2, sink));
  CHECK(sink.rows == std::vector<std::string>{"1", "2", "3", "4", "5"});
  CHECK(sink.tags.back() == "SELECT 1");
  REQUIRE(db.session().sync(sink));
  const Outcome gone = db.session().execute("p", 0, sink);
  REQUIRE_FALSE(gone);
  CHECK(gone.error().state.code() == "34000");
}

TEST_CASE("Execute describes nothing, whatever the statement", "[sql][session]") {
  TestDatabase db;
  db.run("PREPARE p AS SELECT 7 AS seven");
  TestSink sink;
  for (const char* text : {"SHOW work_mem", "EXECUTE p", "EXPLAIN SELECT 1"}) {
    REQUIRE(db.session().parse("", text, {}, sink));
    REQUIRE(db.session().bind({"", "", {}, {}, {}}, sink));
    sink.clear();
    REQUIRE(db.session().execute("", 0, sink));
    CHECK(sink.columns.empty());
    CHECK(sink.rows.size() == 1);
    REQUIRE(db.session().sync(sink));
  }
}

TEST_CASE("A changed result is told as PostgreSQL tells it", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(a int)");
  TestSink sink;
  REQUIRE(db.session().parse("s", "SELECT * FROM t", {}, sink));
  REQUIRE(db.session().sync(sink));
  db.run("ALTER TABLE t ADD b int");
  const Outcome changed = db.session().bind({"", "s", {}, {}, {}}, sink);
  REQUIRE_FALSE(changed);
  CHECK(changed.error().message == "cached plan must not change result type");
  CHECK(changed.error().routine == "RevalidateCachedQuery");
}

TEST_CASE("A cancel without a running request does nothing", "[sql][session]") {
  TestDatabase db;
  db.session().cancel();
  CHECK(db.run("SELECT count(*) FROM generate_series(1, 10000)") == "10000 SELECT 1");
}

TEST_CASE("Another session sees what is committed, and waits for nobody to read",
          "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int primary key, v int)");
  db.run("INSERT INTO t VALUES (1, 10)");
  const auto other = db.connect();
  CHECK(db.run(*other, "SELECT v FROM t WHERE id = 1") == "10 SELECT 1");
  db.run("BEGIN");
  db.run("UPDATE t SET v = 11 WHERE id = 1");
  CHECK(db.run(*other, "SELECT v FROM t WHERE id = 1") == "10 SELECT 1");
  db.run("COMMIT");
  CHECK(db.run(*other, "SELECT v FROM t WHERE id = 1") == "11 SELECT 1");
  db.run("ALTER TABLE t ADD COLUMN w text DEFAULT 'new'");
  CHECK(db.run(*other, "SELECT * FROM t WHERE id = 1") == "1|11|new SELECT 1");
}

TEST_CASE("Errors name what they are about", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE parent(id int primary key)");
  db.run("CREATE TABLE child(id int, p int CONSTRAINT to_parent REFERENCES parent)");
  TestSink sink;
  const Outcome outcome = db.session().simple_query("INSERT INTO child VALUES (1, 7)", sink);
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().schema == "public");
  CHECK(outcome.error().table == "child");
  CHECK(outcome.error().constraint == "to_parent");
  CHECK(outcome.error().detail == "Key (p)=(7) is not present in table \"parent\".");
}

TEST_CASE("What is not supported is refused by name", "[sql][session]") {
  TestDatabase db;
  for (const char* sql :
       {"LOAD 'x'", "CREATE EXTENSION e", "GRANT USAGE ON LANGUAGE sql TO PUBLIC"}) {
    INFO(sql);
    CHECK(db.run(sql).starts_with("0A000"));
  }
}

TEST_CASE("pg_sleep takes any number", "[sql][session]") {
  TestDatabase db;
  CHECK(db.run("SELECT pg_sleep('NaN'), pg_sleep(-1e300), pg_sleep(1e-300)") == "|| SELECT 1");
}

TEST_CASE("A message may make the same name twice", "[sql][session]") {
  TestDatabase db;
  CHECK(db.run("BEGIN; DECLARE c CURSOR FOR SELECT 1; FETCH c; CLOSE c; "
               "DECLARE c CURSOR FOR SELECT 2; FETCH c; COMMIT") ==
        "1 2 BEGIN DECLARE CURSOR FETCH 1 CLOSE CURSOR DECLARE CURSOR FETCH 1 COMMIT");
  CHECK(db.run("PREPARE p AS SELECT 'first'; EXECUTE p; DEALLOCATE p; "
               "PREPARE p (text) AS SELECT $1; EXECUTE p('second')") ==
        "first second PREPARE SELECT 1 DEALLOCATE PREPARE SELECT 1");
  CHECK(db.run("CREATE SCHEMA one; CREATE VIEW one.v AS SELECT 1; CREATE VIEW v AS SELECT 2") ==
        "CREATE SCHEMA CREATE VIEW CREATE VIEW");
  CHECK(db.run("TABLE one.v") == "1 SELECT 1");
  CHECK(db.run("TABLE v") == "2 SELECT 1");
  db.run("DROP VIEW v; CREATE VIEW v AS SELECT 3; CREATE OR REPLACE VIEW v AS SELECT 4");
  CHECK(db.run("TABLE v") == "4 SELECT 1");
  db.run("CREATE MATERIALIZED VIEW one.m AS SELECT 5; CREATE MATERIALIZED VIEW m AS SELECT 6");
  CHECK(db.run("REFRESH MATERIALIZED VIEW m; TABLE m") == "6 REFRESH MATERIALIZED VIEW SELECT 1");
}
