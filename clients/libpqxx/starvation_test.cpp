#include <libpq-fe.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "clients/testing/honest_client.h"
#include "clients/testing/swizzled_process.h"

/// One reactor with a client that keeps it as busy as a statement can, and one with a light load:
/// the first is ended by its statement_timeout, the second is answered meanwhile.
namespace swizzle::clients {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kTimeout{100};
/// Allowance for other load on the machine, and for releasing memory: the tree of a long JSON text
/// has hundreds of megabytes in small pieces.
constexpr milliseconds kLatestEnd{2000};
/// The parser cannot be interrupted, and takes a second for some megabytes.
constexpr milliseconds kLatestEndOfText{4000};
constexpr milliseconds kHonestWait{50};
constexpr milliseconds kLongestWait{500};

SwizzledProcess& server() {
  static SwizzledProcess process{SwizzledProcess::Access::peer_only, {"reactor_threads=1"}};
  return process;
}

Connection connect() {
  return connect_to(server().conninfo());
}

/// "ok", or the SQLSTATE of its error.
std::string run(PGconn* connection, const std::string& sql) {
  PGresult* const result = PQexec(connection, sql.c_str());
  const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  std::string outcome = state != nullptr ? state : "ok";
  if (PQresultStatus(result) == PGRES_BAD_RESPONSE || PQstatus(connection) == CONNECTION_BAD) {
    outcome = PQerrorMessage(connection);
  }
  PQclear(result);
  return outcome;
}

std::string repeated(const std::string& part, std::size_t count, const std::string& between = {}) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) out += between;
    out += part;
  }
  return out;
}

std::string nested(const std::string& before, const std::string& middle, const std::string& after,
                   std::size_t levels) {
  return repeated(before, levels) + middle + repeated(after, levels);
}

template <class Make>
std::string listed(std::size_t count, const std::string& between, const Make& make) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    if (i != 0) out += between;
    out += make(std::to_string(i));
  }
  return out;
}

struct Case {
  std::string name;
  std::string sql;
  bool is_malformed = false;
};

/// Returns expressions that keep a processor busy within a single value.
std::vector<Case> long_expressions() {
  const std::string million = "repeat('a', 1000000)";
  return {
      {"position of a periodic needle",
       "SELECT position(repeat('a', 100000) || 'b' in repeat('a', 20000000))"},
      {"replace of a periodic needle",
       "SELECT length(replace(repeat('a', 20000000), repeat('a', 100000) || 'b', ''))"},
      {"replace that grows", "SELECT length(replace(repeat('x', 100000000), 'x', 'yyyyyyyyyy'))"},
      {"repeat", "SELECT length(repeat('x', 1000000000)) FROM generate_series(1, 20)"},
      {"repeat of one text after another",
       "SELECT sum(length(repeat(i::text, 3000000))) FROM generate_series(1, 1000) i"},
      {"md5", "SELECT md5(repeat('x', 1000000000))"},
      {"sha512", "SELECT sha512(repeat('x', 1000000000)::bytea)"},
      {"regexp_replace", "SELECT length(regexp_replace(repeat('x', 100000000), 'x', 'y', 'g'))"},
      {"regexp_split_to_array",
       "SELECT cardinality(regexp_split_to_array(repeat('x,', 20000000), ','))"},
      {"large counted repeat", "SELECT repeat('a', 30000000) ~ '(a?){250}a{250}b'"},
      {"large counted repeats within each other",
       "SELECT repeat('a', 3000000) ~ '((a?){100}(a?){100}){5}b'"},
      {"split_part from the end", "SELECT split_part(repeat('x,', 300000000), ',', -2)"},
      {"string_to_array", "SELECT cardinality(string_to_array(repeat('x,', 50000000), ','))"},
      {"translate", "SELECT length(translate(repeat('x', 50000000), 'abcdefx', '1234567'))"},
      {"translate with a long list",
       "SELECT length(translate(repeat('x', 1000000), (SELECT string_agg(chr(i + 200), '') FROM "
       "generate_series(1, 20000) i), ''))"},
      {"trim with a long list",
       "SELECT length(btrim(repeat('x', 3000000), (SELECT string_agg(chr(i + 200), '') FROM "
       "generate_series(1, 20000) i) || 'x'))"},
      {"reverse", "SELECT length(reverse(repeat('x', 500000000)))"},
      {"upper", "SELECT length(upper(repeat('x', 1000000000)))"},
      {"lpad", "SELECT length(lpad('x', 250000000, 'abc'))"},
      {"encode", "SELECT length(encode(repeat('x', 500000000)::bytea, 'base64'))"},
      {"LIKE with many stars",
       "SELECT repeat('a', 10000000) LIKE '%' || repeat('a%', 1000) || 'b%a%b'"},
      {"overlap of large arrays",
       "SELECT array_agg(i) && array_agg(-i) FROM generate_series(1, 1000000) i"},
      {"containment of large arrays",
       "SELECT array_agg(i) @> array_agg(2 * i) FROM generate_series(1, 1000000) i"},
      {"array_remove in a loop",
       "SELECT sum(cardinality(array_remove(a, i))) FROM generate_series(1, 10000) i, (SELECT "
       "array_agg(j) a FROM generate_series(1, 100000) j) x"},
      {"array_fill", "SELECT cardinality(array_fill(1, ARRAY[100000000]))"},
      {"array_to_string", "SELECT length(array_to_string(array_fill(1, ARRAY[30000000]), ','))"},
      {"jsonb containment",
       "SELECT a @> b FROM (SELECT jsonb_agg(i) a, jsonb_agg(-i) b FROM generate_series(1, "
       "300000) i) x"},
      {"jsonb of a long text",
       "SELECT length(('[' || repeat('1,', 30000000) || '1]')::jsonb::text)"},
      {"power", "SELECT length((9.9999::numeric ^ 130000)::text) FROM generate_series(1, 100)"},
      {"factorial", "SELECT length(factorial(32000)::text) FROM generate_series(1, 100)"},
      {"numeric division",
       "SELECT sum(length((repeat('7', 130000)::numeric / repeat('3', 65000)::numeric)::text)) "
       "FROM generate_series(1, 100)"},
      {"exponential", "SELECT sum(exp(5999.5::numeric + i / 7.0)) FROM generate_series(1, 2000) i"},
      {"logarithm",
       "SELECT sum(ln(repeat('7', 130000)::numeric + i)) FROM generate_series(1, 2000) i"},
      {"to_char of a long template", "SELECT length(to_char(1, repeat('9', 100000000)))"},
      {"to_char of a long date template",
       "SELECT length(to_char(now(), repeat('YYYY', 20000000)))"},
      {"concat", "SELECT length(concat(repeat('x', 300000000), repeat('y', 300000000)))"},
      {"quote_literal", "SELECT length(quote_literal(repeat('''', 300000000)))"},
      {"hex", "SELECT length(decode(repeat('ab', 250000000), 'hex'))"},
      {"count of characters",
       "SELECT sum(length(repeat('ä', 200000000))) FROM generate_series(1, 10)"},
      {"equality of long texts",
       "SELECT count(*) FROM generate_series(1, 1000) i, (SELECT repeat('x', 100000000) a, "
       "repeat('x', 100000000) b) t WHERE a = b"},
      {"to_tsvector",
       "SELECT length(to_tsvector('english', repeat('the fat rats ate ', 3000000)))"},
      {"to_tsvector of one hyphenated word",
       "SELECT length(to_tsvector('simple', repeat('aa-', 30000000) || 'b'))"},
      {"ts_headline",
       "SELECT length(ts_headline(repeat('the fat rats ate ', 3000000), 'rat & cat'))"},
      {"a long tsquery", "SELECT numnode((repeat('a & ', 3000000) || 'b')::tsquery)"},
      {"tsquery against tsvector",
       "SELECT count(*) FROM generate_series(1, 100000) i, (SELECT (string_agg(j::text, ' <-> '))"
       "::tsquery q, string_agg(j::text, ' ')::tsvector v FROM generate_series(1, 2000) j) x "
       "WHERE v @@ q"},
      {"a long jsonpath", "SELECT length((('$' || repeat('.a', 20000000))::jsonpath)::text)"},
      {"jsonpath over everything",
       "SELECT jsonb_path_exists(('[' || repeat('1,', 300000) || '1]')::jsonb, '$[*] ? (@ < "
       "$[*])', '{}', true) FROM generate_series(1, 100)"},
      {"a multirange of many",
       "SELECT range_agg(int4range(i * 2, i * 2 + 1)) * range_agg(int4range(i * 3, i * 3 + 2)) "
       "FROM "
       "generate_series(1, 3000000) i"},
      {"bits", "SELECT bit_count(repeat('10', 100000000)::varbit << 3)"},
      {"position of bits", "SELECT position('11' in repeat('10', 100000000)::varbit)"},
      {"comparison of many numbers", "SELECT 1 WHERE " + million + " ~ '[[:alpha:]]{1,200}x'"},
  };
}

/// Returns statements that are busy between rows.
std::vector<Case> long_plans() {
  return {
      {"cross join",
       "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b"},
      {"cross join that finds nothing",
       "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b WHERE a * "
       "b "
       "= -1"},
      {"series", "SELECT count(*) FROM generate_series(1, 1000000000)"},
      {"series in the target list",
       "SELECT count(*) FROM (SELECT generate_series(1, 1000000000)) x"},
      {"array of a series", "SELECT cardinality(ARRAY(SELECT generate_series(1, 300000000)))"},
      {"series of numerics",
       "SELECT count(*) FROM generate_series(1::numeric, 1000000000::numeric)"},
      {"sort", "SELECT i FROM generate_series(1, 20000000) i ORDER BY md5(i::text) LIMIT 1"},
      {"DISTINCT", "SELECT count(DISTINCT i % 1000003) FROM generate_series(1, 30000000) i"},
      {"GROUP BY",
       "SELECT count(*) FROM (SELECT i, count(*) FROM generate_series(1, 20000000) i "
       "GROUP BY i) x"},
      {"window",
       "SELECT sum(s) FROM (SELECT sum(i) OVER (ORDER BY i ROWS BETWEEN 10000 PRECEDING "
       "AND CURRENT ROW) s FROM generate_series(1, 1000000) i) x"},
      {"array_agg", "SELECT cardinality(array_agg(i)) FROM generate_series(1, 100000000) i"},
      {"string_agg in an order",
       "SELECT length(string_agg(i::text, '' ORDER BY (i::bigint * 7919) % 1000003)) FROM "
       "generate_series(1, 5000000) i"},
      {"percentile_disc",
       "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY (i::bigint * 7919) % 1000003) FROM "
       "generate_series(1, 5000000) i"},
      {"string_agg", "SELECT length(string_agg('x', ',')) FROM generate_series(1, 100000000)"},
      {"unnest", "SELECT count(*) FROM unnest(array_fill(1, ARRAY[100000000]))"},
      {"recursion",
       "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT "
       "count(*) FROM r"},
      {"recursion without rows to show",
       "WITH RECURSIVE r(i) AS (SELECT 1 UNION SELECT (i + 1) % 5000000 FROM r) SELECT count(*) "
       "FROM r"},
      {"correlated subqueries",
       "SELECT sum((SELECT count(*) FROM generate_series(1, i))) FROM generate_series(1, 100000) "
       "i"},
      {"regexp_matches", "SELECT count(*) FROM regexp_matches(repeat('x', 30000000), 'x', 'g')"},
      {"jsonb_array_elements",
       "SELECT count(*) FROM jsonb_array_elements(('[' || repeat('1,', 5000000) || '1]')::jsonb)"},
  };
}

/// Returns texts that are busy before anything runs.
std::vector<Case> long_texts() {
  const auto integer = [](const std::string& i) { return i; };
  return {
      {"nested comments", "SELECT " + repeated("/*", 20000) + repeated("*/", 20000) + " 1"},
      {"a literal of 30 MB", "SELECT length('" + repeated("x", 30'000'000) + "')"},
      {"VALUES of 300,000 rows",
       "SELECT count(*) FROM (VALUES " +
           listed(300'000, ",", [](const std::string& i) { return "(" + i + ")"; }) + ") v"},
      {"IN of 300,000", "SELECT count(*) FROM generate_series(1, 10) i WHERE i IN (" +
                            listed(300'000, ",", integer) + ")"},
      {"IN of 100,000 expressions",
       "SELECT count(*) FROM generate_series(1, 10) i WHERE i IN (" +
           listed(100'000, ",", [](const std::string& i) { return i + "+i"; }) + ")"},
      {"OR of 5,000", "SELECT count(*) FROM pg_class WHERE " +
                          listed(5'000, " OR ",
                                 [](const std::string& i) {
                                   return "relpages = " + i + " AND reltuples = " + i;
                                 })},
      {"AND of 5,000",
       "SELECT count(*) FROM pg_class WHERE " +
           listed(5'000, " AND ", [](const std::string& i) { return "relpages <> " + i; })},
      {"CASE of 20,000",
       "SELECT CASE 1 " +
           listed(20'000, " ", [](const std::string& i) { return "WHEN -" + i + " THEN " + i; }) +
           " END"},
      {"an array of 300,000", "SELECT cardinality(ARRAY[" + listed(300'000, ",", integer) + "])"},
      {"a target list of 60,000", "SELECT " + listed(60'000, ",", integer)},
      {"a table of 40,000 columns",
       "CREATE TABLE wide (" +
           listed(40'000, ",", [](const std::string& i) { return "c" + i + " int"; }) + ")"},
      {"100,000 statements", repeated("SELECT 1", 100'000, ";")},
      {"INSERT of 100,000 rows",
       "CREATE TEMP TABLE filled (a int, b text); INSERT INTO filled VALUES " +
           listed(100'000, ",", [](const std::string& i) { return "(" + i + ", 'x')"; })},
      {"a malformed text of 10 MB", "SELECT " + repeated("1 +", 3'000'000) + " )", true},
      {"FROM of 200 tables",
       "SELECT 1 FROM " + listed(200, ", ", [](const std::string& i) { return "pg_class c" + i; }) +
           " LIMIT 1"},
      {"a body of 20,000 levels",
       "DO $$ BEGIN " + nested("IF true THEN ", "NULL; ", "END IF; ", 20'000) + "END $$"},
      {"a body of 20,000 loops",
       "DO $$ BEGIN " + nested("FOR i IN 1..1 LOOP ", "NULL; ", "END LOOP; ", 20'000) + "END $$"},
      {"EXISTS of 700 levels",
       "SELECT 1 WHERE " + nested("EXISTS (SELECT 1 FROM pg_class WHERE ", "true", ")", 700)},
      {"subqueries of 1,000 levels", "SELECT " + nested("(SELECT ", "1", ")", 1000)},
      {"IN of 700 levels",
       "SELECT " + repeated("true IN (SELECT ", 700) + "true" + repeated(")", 700)},
      {"jsonb of 2,000 levels", "SELECT " + nested("jsonb_build_array(", "1", ")", 2000)},
  };
}

/// Returns nested calls, two in each, to the given depth: few rows at each call, but endless calls.
std::string calls(const std::string& name, const std::string& before, const std::string& after,
                  const std::string& argument = "x") {
  constexpr int kLevels = 40;
  std::string sql = "CREATE FUNCTION " + name +
                    "0(x int) RETURNS int LANGUAGE sql VOLATILE AS "
                    "'SELECT x';";
  for (int i = 1; i <= kLevels; ++i) {
    const std::string below = name + std::to_string(i - 1) + "(" + argument + ")";
    sql += "CREATE FUNCTION " + name + std::to_string(i) + "(x int) RETURNS int LANGUAGE " + before;
    sql += below + " + " + below + after + ";";
  }
  return sql;
}

/// Returns the routines that the cases below call.
std::vector<std::string> routines() {
  return {
      calls("query", "sql VOLATILE AS 'SELECT ", "'"),
      calls("block", "plpgsql AS 'BEGIN RETURN ", "; END'"),
      calls("text", "plpgsql AS 'DECLARE r int; BEGIN EXECUTE ''SELECT ",
            "'' INTO r USING x; RETURN r; END'", "$1"),
      R"(CREATE FUNCTION twice(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN IF x <= 0 THEN
         RETURN 1; END IF; RETURN twice(x - 1) + twice(x - 1); END')",
      R"(CREATE FUNCTION costly(x int) RETURNS bool LANGUAGE sql VOLATILE
         AS 'SELECT query10(x) <> 7')",
      "CREATE DOMAIN checked AS int CHECK (costly(VALUE))",
      R"(CREATE FUNCTION plus(x int, y int) RETURNS int LANGUAGE sql VOLATILE
         AS 'SELECT x % 7 + y')",
      "CREATE AGGREGATE added(int) (SFUNC = plus, STYPE = int, INITCOND = '0')",
      "CREATE OPERATOR <+> (FUNCTION = plus, LEFTARG = int, RIGHTARG = int)",
      "CREATE TABLE levels (level int)",
      R"(CREATE FUNCTION deeper() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF NEW.level > 0 THEN
         INSERT INTO levels VALUES (NEW.level - 1), (NEW.level - 1); END IF; RETURN NULL; END')",
      "CREATE TRIGGER deeper AFTER INSERT ON levels FOR EACH ROW EXECUTE FUNCTION deeper()",
      "CREATE TABLE counted (k int); INSERT INTO counted VALUES (0)",
  };
}

/// Returns statements that are busy with one call after another.
std::vector<Case> long_routines() {
  const auto loop = [](const std::string& steps) {
    return "DO $$ DECLARE n int := 0; r record; c refcursor; BEGIN LOOP " + steps +
           " END LOOP; END $$";
  };
  return {
      {"SQL functions within each other", "SELECT query40(1)"},
      {"SQL functions of each row", "SELECT sum(query3(i)) FROM generate_series(1, 10000000) i"},
      {"PL/pgSQL functions within each other", "SELECT block40(1)"},
      {"texts that functions run", "SELECT text40(1)"},
      {"a function that calls itself", "SELECT twice(60)"},
      {"a domain's CHECK", "SELECT i::checked FROM generate_series(1, 100000) i"},
      {"an aggregate of the user's", "SELECT added(i) FROM generate_series(1, 100000000) i"},
      {"an operator of the user's", "SELECT max(i <+> i) FROM generate_series(1, 100000000) i"},
      {"triggers that fire triggers", "INSERT INTO levels VALUES (40)"},
      {"a loop of nothing", loop("NULL;")},
      {"a loop of assignments", loop("n := n + 1;")},
      {"a loop of queries", loop("PERFORM 1;")},
      {"a loop of texts", loop("EXECUTE 'SELECT 1';")},
      {"a loop of writes", loop("UPDATE counted SET k = k + 1;")},
      {"a loop of errors",
       loop("BEGIN n := 1 / 0; EXCEPTION WHEN division_by_zero THEN NULL; END;")},
      {"a loop of savepoints",
       loop("BEGIN PERFORM 1; EXCEPTION WHEN division_by_zero THEN NULL; END;")},
      {"a loop of cursors", loop("OPEN c FOR SELECT 1; FETCH c INTO n; CLOSE c;")},
      {"a loop of loops", loop("FOR r IN SELECT 1 LOOP NULL; END LOOP;")},
      {"a loop of definitions", loop("CREATE TEMP TABLE made (a int); DROP TABLE made;")},
      {"a loop of settings", loop("PERFORM set_config('work_mem', '4MB', true);")},
      {"texts of rows in rows",
       nested("SELECT ROW(y, y)::text AS y FROM (", "SELECT '\"' AS y", ") s", 24)},
      {"comparisons within each other",
       "SELECT " + nested("(ROW(", "a", ", 1) IN (ROW(true, 1), ROW(false, 2)))", 40) +
           " FROM (VALUES (true)) v (a)"},
      {"rows that are looked for in each other",
       "SELECT " + nested("(SELECT count(*) FROM pg_class WHERE (oid, relname) NOT IN (SELECT oid, "
                          "relname FROM pg_class WHERE oid::int8 <> ",
                          "1", "))", 20)},
  };
}

/// Returns the objects for definitions: a table with many partitions, a schema with many tables.
std::vector<std::string> many_tables() {
  return {
      "CREATE TABLE parts (a int NOT NULL, b text) PARTITION BY RANGE (a)",
      R"(DO $$ BEGIN FOR i IN 1..1000 LOOP EXECUTE format('CREATE TABLE part_%s PARTITION OF parts
         FOR VALUES FROM (%s) TO (%s)', i, i, i + 1); END LOOP; END $$)",
      "CREATE SCHEMA many",
      R"(DO $$ BEGIN FOR i IN 1..1000 LOOP EXECUTE format('CREATE TABLE many.t%s (a int PRIMARY KEY,
         b text DEFAULT ''x'', c int UNIQUE)', i); END LOOP; END $$)",
  };
}

/// Returns statements that are busy with one table after another.
std::vector<Case> long_definitions() {
  const auto undone = [](const std::string& sql) { return "BEGIN; " + sql + "; ROLLBACK"; };
  const auto loop = [&](const std::string& text) {
    return undone("DO $$ BEGIN FOR i IN 1..3000 LOOP EXECUTE format('" + text +
                  "', i, i, i + 1); END LOOP; END $$");
  };
  return {
      {"a column for 1,000 partitions", undone("ALTER TABLE parts ADD COLUMN z int")},
      {"another type in 1,000 partitions", undone("ALTER TABLE parts ALTER b TYPE varchar(9)")},
      {"a default in 1,000 partitions", undone("ALTER TABLE parts ALTER b SET DEFAULT 'x'")},
      {"a check in 1,000 partitions", undone("ALTER TABLE parts ADD CHECK (a > 0)")},
      {"a key of 1,000 partitions", undone("ALTER TABLE parts ADD PRIMARY KEY (a)")},
      {"an index of 1,000 partitions", undone("CREATE INDEX ON parts (b)")},
      {"another name in 1,000 partitions", undone("ALTER TABLE parts RENAME b TO z")},
      {"a trigger of 1,000 partitions",
       undone("CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; "
              "CREATE TRIGGER note BEFORE INSERT ON parts FOR EACH ROW EXECUTE FUNCTION note()")},
      {"1,000 empty partitions", undone("TRUNCATE parts")},
      {"no more 1,000 partitions", undone("DROP TABLE parts")},
      {"1,000 locks", undone("LOCK TABLE parts")},
      {"a plan of 1,000 partitions", "SELECT count(*) FROM parts x JOIN parts y USING (a)"},
      {"writes to 1,000 partitions", undone("INSERT INTO parts SELECT i, 'x' FROM "
                                            "generate_series(1, 1000) i; UPDATE parts SET a = a % "
                                            "1000 + 1; DELETE FROM parts")},
      {"3,000 partitions more",
       loop("CREATE TABLE more_%s PARTITION OF parts FOR VALUES FROM (%s0000) TO (%s0000)")},
      {"3,000 tables more", loop("CREATE TABLE more_%s (a int PRIMARY KEY, b int UNIQUE)")},
      {"3,000 views more", loop("CREATE VIEW more_%s AS SELECT a + %s AS a FROM parts")},
      {"no more schema", undone("DROP SCHEMA many CASCADE")},
      {"no more owner", undone("DROP OWNED BY current_user")},
      {"rights to all tables", undone("GRANT SELECT ON ALL TABLES IN SCHEMA many TO PUBLIC")},
      {"all columns there are", "SELECT count(*) FROM information_schema.columns, pg_class"},
      {"all that depends", "SELECT count(*) FROM pg_depend, pg_class"},
      {"an analysis of 1,000 partitions", "ANALYZE parts"},
  };
}

struct Measured {
  std::string outcome;
  milliseconds took{};
  milliseconds usual_wait{};  ///< 99 % of the honest client's waits were shorter
  milliseconds longest_wait{};
  int failures = 0;

  [[nodiscard]] bool is_fair(milliseconds latest_end) const {
    // It must be an answer or an error, not the end of the connection.
    return outcome.size() <= 5 && took < latest_end && usual_wait < kHonestWait &&
           longest_wait < kLongestWait && failures == 0;
  }
};

Measured measure(const Case& one) {
  Connection busy = connect();
  run(busy.get(), "SET statement_timeout = '" + std::to_string(kTimeout.count()) + "ms'");
  HonestClient honest{server().conninfo()};
  const auto begin = Clock::now();
  Measured measured;
  measured.outcome = run(busy.get(), one.sql);
  measured.took = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
  honest.finish();
  measured.usual_wait = honest.percentile(0.99);
  measured.longest_wait = honest.percentile(1);
  measured.failures = honest.failures();
  return measured;
}

void check_that_nobody_starves(const std::vector<Case>& cases,
                               milliseconds latest_end = kLatestEnd) {
  // Other load may take the processor away, but not each time.
  constexpr int kTries = 3;
  for (const Case& one : cases) {
    Measured measured = measure(one);
    for (int i = 1; i < kTries && !measured.is_fair(latest_end); ++i) measured = measure(one);
    std::ostringstream line;
    line << one.name << ": " << measured.outcome << " after " << measured.took.count()
         << " ms; beside it 99 % were answered within " << measured.usual_wait.count()
         << " ms, all within " << measured.longest_wait.count() << " ms, " << measured.failures
         << " failed\n";
    if (std::getenv("SWIZZLE_SHOW_WAITS") != nullptr) std::fputs(line.str().c_str(), stderr);
    INFO(line.str());
    CHECK(measured.is_fair(latest_end));
    // Otherwise the case has shown nothing.
    CHECK(measured.outcome.starts_with("42") == one.is_malformed);
  }
}

}  // namespace

TEST_CASE("nobody starves beside a long expression", "[starvation]") {
  check_that_nobody_starves(long_expressions());
}

TEST_CASE("nobody starves beside a long plan", "[starvation]") {
  check_that_nobody_starves(long_plans());
}

TEST_CASE("nobody starves beside calls upon calls", "[starvation]") {
  Connection first = connect();
  for (const std::string& sql : routines()) REQUIRE(run(first.get(), sql) == "ok");
  check_that_nobody_starves(long_routines());
}

TEST_CASE("nobody starves beside a long definition", "[starvation]") {
  Connection first = connect();
  for (const std::string& sql : many_tables()) REQUIRE(run(first.get(), sql) == "ok");
  check_that_nobody_starves(long_definitions());
}

TEST_CASE("nobody starves beside a long text", "[starvation]") {
  check_that_nobody_starves(long_texts(), kLatestEndOfText);
}

}  // namespace swizzle::clients
