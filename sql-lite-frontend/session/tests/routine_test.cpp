// User-defined functions, for what the corpus cannot test: restarts, other sessions, unprivileged
// roles, prepared statements.
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/simulation/simulation.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

TEST_CASE("Routines and what calls them survive a restart", "[sql][session][routines]") {
  TestDatabase db;
  db.run(
      "CREATE FUNCTION add(a int, b int DEFAULT 5) RETURNS int LANGUAGE sql IMMUTABLE AS "
      "'SELECT a + b'");
  db.run(
      "CREATE FUNCTION pairs(n int) RETURNS TABLE (x int, y text) LANGUAGE sql AS "
      "$$ SELECT i, 'n' || i FROM generate_series(1, n) i $$");
  db.run("CREATE TABLE t(a int PRIMARY KEY, b int DEFAULT add(1), CHECK (add(a) > 0))");
  db.run("CREATE VIEW v AS SELECT add(a, b) AS s FROM t");
  db.run("CREATE INDEX i ON t (add(a, a))");
  db.run("ALTER FUNCTION add RENAME TO plus");
  db.close();
  db.open();
  CHECK(db.run("INSERT INTO t VALUES (1), (2)") == "INSERT 0 2");
  CHECK(db.run("INSERT INTO t VALUES (-7)").starts_with("23514"));
  CHECK(db.run("SELECT * FROM v ORDER BY 1") == "7 8 SELECT 2");
  CHECK(db.run("SELECT plus(b => 2, a => 3), plus(1)") == "5|6 SELECT 1");
  CHECK(db.run("SELECT * FROM pairs(2)") == "1|n1 2|n2 SELECT 2");
  CHECK(db.run("SELECT a FROM t WHERE plus(a, a) = 4") == "2 SELECT 1");
  CHECK(db.run("SELECT add(1)").starts_with("42883"));
  CHECK(db.run("DROP FUNCTION plus").starts_with("2BP01"));
}

TEST_CASE("A function's alias means its value", "[sql][session][routines]") {
  TestDatabase db;
  CHECK(db.run("SELECT e, e->>'a' FROM jsonb_array_elements('[{\"a\": 1}]') e") ==
        "{\"a\": 1}|1 SELECT 1");
  db.run("CREATE FUNCTION one(OUT v int) LANGUAGE sql AS 'SELECT 5'");
  CHECK(db.run("SELECT f, f + 1 FROM one() f") == "5|6 SELECT 1");
  CHECK(db.run("SELECT f FROM one() WITH ORDINALITY f") == "(5,1) SELECT 1");
}

TEST_CASE("A function returns the rows that its table has by then", "[sql][session][routines]") {
  TestDatabase db;
  db.run("CREATE TABLE t (a int, b text); INSERT INTO t VALUES (1, 'x')");
  db.run("CREATE FUNCTION in_sql() RETURNS SETOF t LANGUAGE sql AS 'SELECT * FROM t'");
  db.run(
      "CREATE FUNCTION in_loop() RETURNS SETOF t LANGUAGE plpgsql AS $$DECLARE r t; BEGIN "
      "FOR r IN SELECT * FROM t LOOP RETURN NEXT r; END LOOP; END$$");
  db.run(
      "CREATE FUNCTION as_query() RETURNS SETOF t LANGUAGE plpgsql AS "
      "$$BEGIN RETURN QUERY SELECT * FROM t; END$$");
  const auto all = [&] {
    std::string rows;
    for (const char* const function : {"in_sql", "in_loop", "as_query"}) {
      rows += db.run(fmt::format("SELECT * FROM {}()", function)) + "; ";
    }
    return rows;
  };
  CHECK(all() == "1|x SELECT 1; 1|x SELECT 1; 1|x SELECT 1; ");
  db.run("ALTER TABLE t ADD c int DEFAULT 7");
  CHECK(all() == "1|x|7 SELECT 1; 1|x|7 SELECT 1; 1|x|7 SELECT 1; ");
  db.run("ALTER TABLE t DROP a");
  db.close();
  db.open();
  CHECK(all() == "x|7 SELECT 1; x|7 SELECT 1; x|7 SELECT 1; ");
  CHECK(db.run("DROP TABLE t").starts_with("2BP01"));
}

TEST_CASE("A record keeps columns of one name apart", "[sql][session][routines]") {
  TestDatabase db;
  db.run(
      "CREATE FUNCTION three() RETURNS text LANGUAGE plpgsql AS $$DECLARE r record; BEGIN "
      "SELECT 5, 10, 15 INTO r; RETURN r; END$$");
  CHECK(db.run("SELECT three()") == "(5,10,15) SELECT 1");
}

TEST_CASE("An expression of a routine sees what the routine has changed",
          "[sql][session][routines]") {
  TestDatabase db;
  db.run("CREATE TABLE t (a int PRIMARY KEY)");
  db.run(
      "CREATE FUNCTION rows() RETURNS int LANGUAGE plpgsql STABLE AS "
      "'BEGIN RETURN (SELECT count(*) FROM t); END'");
  const char* const expressions[] = {
      "n := rows();",
      "IF rows() = 2 THEN n := 2; END IF;",
      "WHILE n < rows() LOOP n := n + 1; END LOOP;",
      "FOR i IN 1..rows() LOOP n := i; END LOOP;",
      "CASE rows() WHEN 2 THEN n := 2; ELSE n := -1; END CASE;",
      "places[rows()] := 7; n := array_upper(places, 1);",
      "DECLARE m int := rows(); BEGIN n := m; END;",
      "BEGIN n := rows(); EXCEPTION WHEN others THEN n := -1; END;",
      "RETURN rows();",
  };
  for (const char* const expression : expressions) {
    INFO(expression);
    db.run("TRUNCATE t");
    db.run(
        fmt::format("CREATE OR REPLACE FUNCTION changes() RETURNS int LANGUAGE plpgsql AS "
                    "$$DECLARE n int := 0; places int[]; BEGIN INSERT INTO t VALUES (1), (2); "
                    "{} RETURN n; END$$",
                    expression));
    CHECK(db.run("SELECT changes(), rows()") == "2|0 SELECT 1");
    CHECK(db.run("SELECT rows()") == "2 SELECT 1");
  }
}

TEST_CASE("The settings of a routine end with its call, and what it has set itself stays",
          "[sql][session][routines]") {
  TestDatabase db;
  db.run(
      "CREATE FUNCTION become(who text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER "
      "SET search_path = pg_catalog SET work_mem = '1MB' AS "
      "$$BEGIN RETURN set_config('app.who', who, false) || current_setting('work_mem'); END$$");
  CHECK(db.run("SELECT become('a')") == "a1MB SELECT 1");
  CHECK(db.run("SELECT current_setting('app.who'), current_setting('work_mem')") ==
        "a|4MB SELECT 1");
  db.run("BEGIN; SELECT become('b'); ROLLBACK");
  CHECK(db.run("SELECT current_setting('app.who')") == "a SELECT 1");
  // Plans made before do not use the earlier setting.
  db.run("CREATE TABLE t (who text); INSERT INTO t VALUES ('a'), ('c')");
  db.run("PREPARE own AS SELECT who FROM t WHERE who = current_setting('app.who')");
  CHECK(db.run("EXECUTE own") == "a SELECT 1");
  CHECK(db.run("SELECT become('c')") == "c1MB SELECT 1");
  CHECK(db.run("EXECUTE own") == "c SELECT 1");
}

TEST_CASE("The void of a routine in PL/pgSQL is a value", "[sql][session][routines]") {
  TestDatabase db;
  db.run("CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS 'BEGIN END'");
  db.run("CREATE FUNCTION g() RETURNS void LANGUAGE sql AS 'SELECT 1'");
  CHECK(db.run("SELECT f() IS NULL, g() IS NULL") == "f|t SELECT 1");
  CHECK(db.run("SELECT count(f), count(*) FROM f()") == "1|1 SELECT 1");
}

TEST_CASE("Whoever calls a function calls what it is by then", "[sql][session][routines]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'");
  db.run("PREPARE p AS SELECT f()");
  CHECK(db.run("EXECUTE p") == "1 SELECT 1");
  CHECK(db.run(*other, "SELECT f()") == "1 SELECT 1");
  db.run(*other, "CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 2'");
  CHECK(db.run("EXECUTE p") == "2 SELECT 1");
  db.run(*other, "BEGIN; CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 3'");
  CHECK(db.run(*other, "SELECT f()") == "3 SELECT 1");
  CHECK(db.run("EXECUTE p") == "2 SELECT 1");
  db.run(*other, "ROLLBACK");
  CHECK(db.run(*other, "SELECT f()") == "2 SELECT 1");
  db.run(*other, "DROP FUNCTION f(); CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 4'");
  CHECK(db.run("EXECUTE p") == "4 SELECT 1");
  db.run(*other, "DROP FUNCTION f()");
  CHECK(db.run("EXECUTE p").starts_with("42883"));
}

TEST_CASE("Two sessions replace a function while others call it", "[sql][session][routines]") {
  TestDatabase db;
  db.run("CREATE FUNCTION f(n int) RETURNS int LANGUAGE sql AS 'SELECT n'");
  constexpr int kRounds = 60;
  std::mutex mutex;
  std::vector<std::string> wrong;
  const auto run = [&](Session* session, const std::string& sql) {
    TestSink sink;
    const Outcome outcome = session->simple_query(sql, sink);
    if (outcome) return;
    const std::lock_guard hold{mutex};
    wrong.push_back(outcome.error().message);
  };
  const auto replace = [&](Session* session, int offset) {
    for (int i = 0; i < kRounds; ++i) {
      run(session, fmt::format("CREATE OR REPLACE FUNCTION f(n int) RETURNS int LANGUAGE sql AS "
                               "'SELECT n + {}'",
                               offset));
    }
  };
  // All rows of a statement come from one version.
  const auto call = [&](Session* session) {
    for (int i = 0; i < kRounds; ++i) {
      run(session, "SELECT 1 / (count(DISTINCT f(x) - x) = 1)::int FROM generate_series(1, 3) x");
    }
  };
  const auto a = db.connect();
  const auto b = db.connect();
  const auto c = db.connect();
  const auto d = db.connect();
  std::thread one{[&] { replace(a.get(), 10); }};
  std::thread two{[&] { replace(b.get(), 20); }};
  std::thread three{[&] { call(c.get()); }};
  call(d.get());
  one.join();
  two.join();
  three.join();
  CHECK(wrong == std::vector<std::string>{});
}

TEST_CASE("Who may call a function, and whose rights it has", "[sql][session][routines]") {
  TestDatabase db;
  db.run("CREATE ROLE low LOGIN; CREATE TABLE secret(a int); INSERT INTO secret VALUES (7)");
  db.run("CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT a FROM secret'");
  db.run(
      "CREATE FUNCTION owners() RETURNS int LANGUAGE sql SECURITY DEFINER AS "
      "'SELECT a FROM secret'");
  db.run(
      "CREATE FUNCTION who() RETURNS text LANGUAGE sql SECURITY DEFINER AS "
      "'SELECT current_user::text'");
  db.run(
      "CREATE FUNCTION keeps() RETURNS text LANGUAGE sql SECURITY DEFINER AS "
      "$$ SELECT set_config('work_mem', '5MB', true); SELECT mine()::text || current_user $$");
  const auto low = db.connect();
  db.run(*low, "SET ROLE low");
  CHECK(db.run(*low, "SELECT mine()") == "42501 permission denied for table secret");
  CHECK(db.run(*low, "SELECT owners()") == "7 SELECT 1");
  CHECK(db.run(*low, "SELECT who() = current_user::text") == "f SELECT 1");
  // Calls and settings inside neither take the owner's rights from the routine nor give them to the
  // caller.
  CHECK(db.run(*low, "SELECT keeps() = '7' || who()") == "t SELECT 1");
  CHECK(db.run(*low, "SELECT mine()") == "42501 permission denied for table secret");
  CHECK(db.run(*low, "SELECT current_user") == "low SELECT 1");
  CHECK(db.run(*low, "SELECT has_function_privilege('owners()', 'execute')") == "t SELECT 1");
  db.run("REVOKE EXECUTE ON FUNCTION owners() FROM PUBLIC");
  CHECK(db.run(*low, "SELECT owners()") == "42501 permission denied for function owners");
  CHECK(db.run(*low, "SELECT has_function_privilege('owners()', 'execute')") == "f SELECT 1");
  db.run("GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO low");
  CHECK(db.run(*low, "SELECT owners()") == "7 SELECT 1");
  CHECK(db.run(*low, "DROP FUNCTION owners()") == "42501 must be owner of function owners");
  CHECK(db.run(*low, "ALTER FUNCTION owners() STABLE") == "42501 must be owner of function owners");
  CHECK(db.run("DROP ROLE low").starts_with("2BP01"));
  db.run("ALTER DEFAULT PRIVILEGES REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC");
  db.run("CREATE FUNCTION later() RETURNS int LANGUAGE sql AS 'SELECT 1'");
  CHECK(db.run(*low, "SELECT later()") == "42501 permission denied for function later");
}

TEST_CASE("A function that calls itself for ever ends with 54001, and the session goes on",
          "[sql][session][routines]") {
  TestDatabase db;
  db.run("CREATE FUNCTION forever(n int) RETURNS int LANGUAGE sql AS 'SELECT forever(n + 1)'");
  db.run("CREATE FUNCTION there(n int) RETURNS int LANGUAGE sql AS 'SELECT n'");
  db.run("CREATE FUNCTION back(n int) RETURNS int LANGUAGE sql AS 'SELECT there(n + 1)'");
  db.run("CREATE OR REPLACE FUNCTION there(n int) RETURNS int LANGUAGE sql AS 'SELECT back(n)'");
  CHECK(db.run("SELECT forever(1)").starts_with("54001"));
  CHECK(db.run("SELECT there(1)").starts_with("54001"));
  CHECK(db.run("SELECT 1") == "1 SELECT 1");
}

TEST_CASE("CALL takes the parameters of its statement in the procedure's types",
          "[sql][session][routines]") {
  TestDatabase db;
  db.run(
      "CREATE PROCEDURE p(a int, b int[], INOUT s text) LANGUAGE sql AS "
      "'SELECT (a + b[2])::text || s'");
  TestSink sink;
  const std::optional<Bytes> values[] = {as_bytes("40"), as_bytes("{1,2}"), as_bytes("!")};
  REQUIRE(db.session().parse("s", "CALL p($1, $2, $3)", {}, sink));
  REQUIRE(db.session().describe_statement("s", sink));
  CHECK(sink.parameter_types == std::vector<std::uint32_t>{23, 1007, 25});
  REQUIRE(db.session().bind({"", "s", {}, values, {}}, sink));
  REQUIRE(db.session().execute("", 0, sink));
  REQUIRE(db.session().sync(sink));
  CHECK(sink.rows == std::vector<std::string>{"42!"});
  db.run(
      "DROP PROCEDURE p; CREATE PROCEDURE p(a text, b text, INOUT s text) LANGUAGE sql AS "
      "'SELECT a || b || s'");
  sink.clear();
  REQUIRE(db.session().bind({"", "s", {}, values, {}}, sink));
  const Outcome changed = db.session().execute("", 0, sink);
  REQUIRE_FALSE(changed);
  CHECK(changed.error().state.code() == "42883");
  CHECK(db.session().sync(sink));
}

TEST_CASE("A cancel ends what a function does", "[sql][session][routines]") {
  TestDatabase db;
  db.run(
      "CREATE FUNCTION slow() RETURNS bigint LANGUAGE sql AS "
      "'SELECT count(*) FROM generate_series(1, 100000000)'");
  std::atomic<bool> done{false};
  std::thread cancels{[&] {
    // Repeat: a cancel before the statement begins has no effect.
    while (!done) {
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
      db.session().cancel();
    }
  }};
  CHECK(db.run("SELECT slow()").starts_with("57014"));
  done = true;
  cancels.join();
  while (db.run("SELECT 2") != "2 SELECT 1") {
  }
  CHECK(db.run("SELECT 1") == "1 SELECT 1");
}

TEST_CASE("What a failed function wrote is gone", "[sql][session][routines]") {
  TestDatabase db;
  db.run("CREATE TABLE t(a int PRIMARY KEY)");
  db.run(
      "CREATE FUNCTION put(a int) RETURNS int LANGUAGE sql AS "
      "'INSERT INTO t VALUES (a); SELECT 1 / (a - 2)'");
  CHECK(db.run("SELECT put(x) FROM generate_series(3, 1, -1) x").starts_with("22012"));
  CHECK(db.run("SELECT count(*) FROM t") == "0 SELECT 1");
  CHECK(db.run("BEGIN; SELECT put(5); SAVEPOINT s") == "0 BEGIN SELECT 1 SAVEPOINT");
  CHECK(db.run("SELECT put(2)").starts_with("22012"));
  CHECK(db.run("ROLLBACK TO s; COMMIT") == "ROLLBACK COMMIT");
  CHECK(db.run("SELECT * FROM t") == "5 SELECT 1");
}

TEST_CASE("A routine's variable says which part of an index is read", "[sql][session][routines]") {
  TestDatabase db;
  db.run("CREATE TABLE names(id int PRIMARY KEY, name text, state int)");
  db.run("INSERT INTO names SELECT i, 'n' || i, i % 1000 FROM generate_series(1, 20000) i");
  db.run("CREATE INDEX by_name ON names(name)");
  db.run("CREATE INDEX open_ones ON names(id) WHERE state = 7");
  db.run("ANALYZE names");
  db.run(
      "CREATE FUNCTION in_sql(p text) RETURNS bigint LANGUAGE sql AS "
      "'SELECT count(*) FROM names WHERE name LIKE p'");
  db.run(
      "CREATE FUNCTION in_plpgsql(p text) RETURNS bigint LANGUAGE plpgsql AS "
      "$$ DECLARE n bigint; BEGIN SELECT count(*) INTO n FROM names WHERE name LIKE p; "
      "RETURN n; END $$");
  db.run(
      "CREATE FUNCTION in_part(s int) RETURNS bigint LANGUAGE plpgsql AS "
      "$$ BEGIN RETURN (SELECT count(*) FROM names WHERE state = s); END $$");
  const auto whole_scans = [&] {
    return db.run("SELECT seq_scan FROM pg_stat_user_tables WHERE relname = 'names'");
  };
  const std::string before = whole_scans();
  CHECK(db.run("SELECT in_sql('n1999%'), in_sql('n777')") == "11|1 SELECT 1");
  CHECK(db.run("SELECT in_plpgsql('n1999%'), in_plpgsql('n777')") == "11|1 SELECT 1");
  CHECK(db.run("SELECT in_part(7)") == "20 SELECT 1");
  CHECK(whole_scans() == before);
  // Rows that the index does not find are still returned.
  CHECK(db.run("SELECT in_plpgsql('%999'), in_part(8)") == "20|20 SELECT 1");
}

TEST_CASE("PL/pgSQL numbers output parameters among the others", "[sql][session][routines]") {
  TestDatabase db;
  db.run(
      "CREATE FUNCTION middle(a int, OUT b int, c int) LANGUAGE plpgsql AS "
      "'BEGIN $2 := $1 * 10 + $3; END'");
  CHECK(db.run("SELECT middle(4, 2)") == "42 SELECT 1");
}

TEST_CASE("A view shows the attributes that it knew of a function's rows",
          "[sql][session][routines]") {
  TestDatabase db;
  db.run(
      "CREATE TABLE t (a int, b int); INSERT INTO t VALUES (1, 2);"
      "CREATE FUNCTION rows() RETURNS SETOF t LANGUAGE sql AS 'SELECT * FROM t';"
      "CREATE VIEW v AS SELECT * FROM rows();"
      "CREATE VIEW beside AS SELECT * FROM ROWS FROM (rows(), generate_series(7, 7));"
      "ALTER TABLE t ADD COLUMN c int DEFAULT 3");
  CHECK(db.run("SELECT * FROM v") == "1|2 SELECT 1");
  CHECK(db.run("SELECT * FROM beside") == "1|2|7 SELECT 1");
  CHECK(db.run("ALTER TABLE t DROP COLUMN b").starts_with("2BP01"));
  CHECK(db.run("ALTER TABLE t DROP COLUMN c") == "ALTER TABLE");
  CHECK(db.run("SELECT * FROM v") == "1|2 SELECT 1");
}

TEST_CASE("Temporary functions are their session's and end with it", "[sql][session][routines]") {
  TestDatabase db;
  auto other = db.connect();
  db.run("CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 1'");
  const std::string missing = "42883 function pg_temp.f() does not exist";
  CHECK(db.run(*other, "SELECT pg_temp.f()") == missing);
  CHECK(db.run(*other, "CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 2'") ==
        "CREATE FUNCTION");
  CHECK(db.run(*other, "SELECT pg_temp.f()") == "2 SELECT 1");
  CHECK(db.run("SELECT pg_temp.f()") == "1 SELECT 1");
  CHECK(db.run("SELECT count(*) FROM pg_proc WHERE proname = 'f'") == "1 SELECT 1");
  CHECK(db.session().state().catalog.routines().size() == 2);
  other.reset();
  CHECK(db.session().state().catalog.routines().size() == 1);
  CHECK(db.run("SELECT pg_temp.f()") == "1 SELECT 1");
  CHECK(db.run("DISCARD ALL") == "DISCARD ALL");
  CHECK(db.run("SELECT pg_temp.f()") == missing);
  CHECK(db.run("CREATE FUNCTION pg_temp.g() RETURNS int LANGUAGE sql AS 'SELECT 3';"
               "CREATE TABLE t (a int DEFAULT pg_temp.g())")
            .starts_with("0A000 using the temporary function \"g\" in a permanent object"));
}

TEST_CASE("A crash leaves no temporary functions", "[sql][session][routines][crash]") {
  SimulatedDisk disk{1};
  Simulation{1}.run([&] { TestDatabase{disk}.run("SELECT 1"); });
  disk.sync_everything();
  constexpr TestDatabase::Existing kExisting{std::uint64_t{16} << 20U};
  Simulation{1}.run([&] {
    TestDatabase db{disk, kExisting};
    db.run(
        "CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 1';"
        "CREATE FUNCTION g() RETURNS int LANGUAGE sql AS 'SELECT 2'");
    disk.cut_power();
  });
  disk.crash(1);
  // The first start removes it, the second finds it gone.
  for (int start = 0; start < 2; ++start) {
    Simulation{2}.run([&] {
      TestDatabase db{disk, kExisting};
      CHECK(db.session().state().catalog.routines().size() == 1);
      CHECK(db.run("SELECT g()") == "2 SELECT 1");
      CHECK(db.run("CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 4';"
                   "SELECT pg_temp.f()") == "4 CREATE FUNCTION SELECT 1");
    });
  }
}
