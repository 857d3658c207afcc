// Statements as deep as PostgreSQL allows, and deeper than any stack. scripts/depth-fuzz does it
// over the wire.
#include <catch2/catch.hpp>
#include <ctime>
#include <set>
#include <utility>

#include "base/fibers/fiber_runtime.h"
#include "base/sanitizers.h"
#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {
namespace {

std::string times(std::size_t count, std::string_view text) {
  std::string all;
  all.reserve(count * text.size());
  while (count-- > 0) all += text;
  return all;
}

/// `before` and `after` repeated around an expression.
struct Nesting {
  std::string_view start;
  std::string_view before;
  std::string_view middle;
  std::string_view after;
  std::size_t depth;  ///< depth that PostgreSQL 15 still answers with rows

  [[nodiscard]] std::string statement(std::size_t levels) const {
    return std::string{start} + times(levels, before) + std::string{middle} + times(levels, after);
  }
};

constexpr Nesting kNestings[] = {
    {"SELECT ", "1+", "1", "", 1000},
    {"SELECT 1", "", "", "+1", 1000},
    {"SELECT 'a'", "", "", "||'a'", 1000},
    {"SELECT ", "+ ", "1", "", 1000},
    {"SELECT ", "abs(", "1", ")", 1000},
    {"SELECT ", "(1+", "1", ")", 1000},
    {"SELECT ", "(", "1", ")", 5000},
    {"SELECT ", "NOT ", "true", "", 5000},
    {"SELECT ", "CASE WHEN true THEN ", "1", " END", 1000},
    {"SELECT 1", "", "", "::int", 10'000},
    {"SELECT 'a'", "", "", " COLLATE \"C\"", 10'000},
    {"SELECT ", "coalesce(null,", "1", ")", 1000},
    {"SELECT ", "(true AND (false OR ", "true", "))", 1000},
    {"SELECT ", "(", "1", " IS NULL)", 1000},
    {"SELECT ", "(SELECT ", "1", ")", 1000},
    {"SELECT * FROM ", "(SELECT * FROM ", "(SELECT 1 AS a) t", ") t", 1000},
    {"SELECT ", "EXISTS (SELECT 1 WHERE ", "true", ")", 1000},
    {"", "SELECT 1 UNION ALL ", "SELECT 1", "", 1000},
    {"", "(SELECT 1 UNION ALL ", "SELECT 1", ")", 1000},
    {"SELECT true", "", "", " AND true", 10'000},
    {"SELECT false", "", "", " OR true", 10'000},
};

constexpr std::string_view kTooDeep = "54001 stack depth limit exceeded";

/// Returns a statement's outcome: rows, or the SQLSTATE.
std::string outcome(TestDatabase& database, const std::string& statement) {
  const std::string text = database.run(statement);
  const bool is_error = text.size() > 6 && text[5] == ' ' && database.sink().tags.empty();
  return is_error ? text.substr(0, 5) : "rows";
}

/// Runs `body` on a fiber with a stack of the server's size.
template <class Body>
void on_fiber(const Body& body) {
  FiberRuntime runtime{{.reactors = 1}};
  runtime.spawn("deep", body)->join();
}

}  // namespace

TEST_CASE("Statements may be as deep as in PostgreSQL", "[sql][stack]") {
  std::vector<std::string> failed;
  on_fiber([&] {
    TestDatabase database;
    for (const Nesting& nesting : kNestings) {
      const std::string got = outcome(database, nesting.statement(nesting.depth));
      if (got != "rows") failed.push_back(nesting.statement(1) + ": " + got);
    }
  });
  CAPTURE(failed);
  CHECK(failed.empty());
}

TEST_CASE("Deeper than the stack is an error, whatever nests", "[sql][stack]") {
  std::vector<std::string> wrong;
  on_fiber([&] {
    TestDatabase database;
    for (const Nesting& nesting : kNestings) {
      // Lists of ANDs and ORs are flat; negations have the grammar's own limit.
      const std::string got = outcome(database, nesting.statement(200'000));
      const bool is_flat = nesting.after.ends_with(" true");
      const std::set<std::string> right =
          is_flat ? std::set<std::string>{"rows"} : std::set<std::string>{"54001", "42601"};
      if (!right.contains(got)) wrong.push_back(nesting.statement(1) + ": " + got);
    }
    if (database.run("SELECT 7") != "7 SELECT 1") wrong.emplace_back("and then");
  });
  CAPTURE(wrong);
  CHECK(wrong.empty());
}

// An operand that is compared with several others is bound once for each of them. Nested, this
// would double at every level: gigabytes for a statement of a few hundred bytes.
TEST_CASE("What nests in comparisons is told, or is too much", "[sql][stack]") {
  constexpr std::size_t kLevels = 40;
  constexpr std::clock_t kMostTime = 10 * CLOCKS_PER_SEC;
  constexpr std::pair<std::string_view, std::string_view> kAround[] = {
      {"((", ") IN (a, b))"},
      {"((", ") NOT IN (b, true))"},
      {"(a IN (", ", b))"},
      {"(ROW(", ", 1) IN (ROW(true, 1), ROW(false, 2)))"},
      {"(ROW(true, 1) IN (ROW(", ", 1), ROW(false, 2)))"},
      {"(ROW(", ", 1) < ROW(true, 2))"},
      {"(ROW(true, 1) >= ROW(", ", 2))"},
      {"(ROW(", ", 1)::flags IN (ROW(a, 1)::flags, ROW(b, 2)::flags))"},
      {"(ROW(a, 1)::flags IN (ROW(", ", 1)::flags, ROW(b, 2)))"},
      {"(ROW(", ", 1) IN (ROW(a, 1)::flags, ROW(b, 2)::flags))"},
      {"(ROW(", ", 1) IS DISTINCT FROM ROW(true, 1))"},
      {"(ROW(", ", 1) = (SELECT true, 1))"},
      {"(ROW(", ", 1) = ANY (SELECT true, 1))"},
      {"((", ") BETWEEN a AND b)"},
      {"((", ") NOT BETWEEN SYMMETRIC a AND b)"},
      {"(a BETWEEN SYMMETRIC (", ") AND b)"},
      {"((", ") = ANY (ARRAY[a, b]))"},
      {"NULLIF(", ", a)"},
      {"COALESCE(", ", b)"},
      {"GREATEST(", ", b)"},
      {"CASE ", " WHEN a THEN b ELSE a END"},
      {"(ROW(", ", 1)::flags).f"},
      {"(to_jsonb(", ") = ANY (ARRAY[to_jsonb(a)]))"},
      {"((SELECT ", ") IN (a, b))"},
      {"((make_date(2000, 1, 1 + (", ")::int), make_date(2001, 1, 1)) OVERLAPS (now(), now()))"},
  };
  std::vector<std::string> wrong;
  on_fiber([&] {
    TestDatabase database;
    database.run("CREATE TYPE flags AS (f bool, n int)");
    const auto ask = [&](const std::string& before, const std::string& after) {
      const std::clock_t began = std::clock();
      const std::string got =
          outcome(database, "SELECT " + times(kLevels, before) + "a" + times(kLevels, after) +
                                " FROM (VALUES (true, false)) v (a, b)");
      const bool is_late = std::clock() - began > kMostTime;
      if (is_late || (got != "rows" && got != "54001")) {
        wrong.push_back(before + after + ": " + got + (is_late ? " late" : ""));
      }
    };
    for (std::size_t i = 0; i < std::size(kAround); ++i) {
      const auto& [before, after] = kAround[i];
      const auto& [before_too, after_too] = kAround[(i + 1) % std::size(kAround)];
      ask(std::string{before}, std::string{after});
      ask(std::string{before} + std::string{before_too},
          std::string{after_too} + std::string{after});
    }
    // A long list is not nested.
    std::string list = "(ROW(a, 0) IN (ROW(b, 1)";
    for (int i = 2; i <= 20'000; ++i) list += ", ROW(b, " + std::to_string(i) + ")";
    const std::string got =
        database.run("SELECT " + list + ")) FROM (VALUES (true, true)) v (a, b)");
    if (got != "f SELECT 1") wrong.push_back(got);
  });
  CAPTURE(wrong);
  CHECK(wrong.empty());
}

TEST_CASE("What does not depend on the row around is computed once", "[sql][stack]") {
  constexpr std::size_t kLevels = 40;  // of three rows each
  constexpr std::string_view kAround[] = {
      "a IN (SELECT a FROM t WHERE ",
      "a NOT IN (SELECT a - 9 FROM t WHERE ",
      "(a, b) IN (SELECT a, b FROM t WHERE ",
      "(a, b) NOT IN (SELECT b, a - 9 FROM t WHERE ",
      "(a, 1) = ANY (SELECT a, 1 FROM t WHERE ",
      "a <= ALL (SELECT b + 9 FROM t WHERE ",
      "a <> ANY (SELECT a + 9 FROM t WHERE ",
      "(a, b) <> ALL (SELECT b, a + 9 FROM t WHERE ",
      "(1, 1) = (SELECT 1, count(*) % 2 FROM t WHERE ",
      "1 <= (SELECT count(*) FROM t WHERE ",
      "EXISTS (SELECT 1 FROM t WHERE ",
  };
  std::vector<std::string> wrong;
  on_fiber([&] {
    TestDatabase database;
    database.run("CREATE TABLE t (a int, b int); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)");
    for (const std::string_view around : kAround) {
      const std::string got = database.run("SELECT count(*) FROM t WHERE " +
                                           times(kLevels, around) + "true" + times(kLevels, ")"));
      if (got != "3 SELECT 1") wrong.push_back(std::string{around} + got);
    }
  });
  CAPTURE(wrong);
  CHECK(wrong.empty());
}

TEST_CASE("JSON is as deep as the stack allows", "[sql][stack]") {
  std::vector<std::string> answers;
  on_fiber([&] {
    TestDatabase database;
    const auto ask = [&](const std::string& sql) { answers.push_back(database.run(sql)); };
    ask("CREATE TABLE j (a jsonb)");
    ask("INSERT INTO j SELECT (repeat('[', 9000) || repeat(']', 9000))::jsonb");
    ask("SELECT length(a::text), length((a || a)::text), length((a - 0)::text) FROM j");
    ask("SELECT length(jsonb_strip_nulls(a)::text), a = a, a @> a FROM j");
    ask("SELECT count(DISTINCT a), count(*) FROM (SELECT a FROM j UNION ALL SELECT a FROM j) t");
    ask("SELECT length(jsonb_pretty((repeat('[', 990) || repeat(']', 990))::jsonb)) > 990000");
    for (const std::string type : {"json", "jsonb"}) {
      ask("SELECT (repeat('[', 100000) || repeat(']', 100000))::" + type);
      ask("SELECT (repeat('{\"a\":', 100000) || '1' || repeat('}', 100000))::" + type);
    }
  });
  const std::string too_deep{kTooDeep};
  CHECK(answers == std::vector<std::string>{"CREATE TABLE", "INSERT 0 1", "18000|36000|2 SELECT 1",
                                            "18000|t|t SELECT 1", "1|2 SELECT 1", "t SELECT 1",
                                            too_deep, too_deep, too_deep, too_deep});
}

TEST_CASE("Views upon views are dropped however many they are", "[sql][stack]") {
  std::vector<std::string> answers;
  on_fiber([&] {
    TestDatabase database;
    const auto ask = [&](const std::string& sql) { answers.push_back(database.run(sql)); };
    database.run("CREATE TABLE below (a int); CREATE VIEW v0 AS SELECT a FROM below");
    for (int i = 1; i <= 150; ++i) {
      const std::string made = database.run("CREATE VIEW v" + std::to_string(i) +
                                            " AS SELECT * FROM v" + std::to_string(i - 1));
      if (made != "CREATE VIEW") answers.push_back(made);
    }
    ask("CREATE TABLE other (a int)");
    ask("DROP TABLE other");
    ask("DROP TABLE below");
    ask("SELECT * FROM v150");
    ask("DROP TABLE below CASCADE");
    // Stored text is printed from the syntax tree and parsed again.
    ask("CREATE VIEW deep AS SELECT " + times(1000, "(SELECT ") + "1 AS a" + times(1000, ")"));
    ask("CREATE VIEW deeper AS SELECT 1" + times(8000, "+1") + " AS a");
  });
  std::set<std::string> last{answers.at(5), answers.at(6)};
  answers.resize(5);
  for (const std::string& answer : last) {
    CHECK((answer == "CREATE VIEW" || answer == kTooDeep));
  }
  CHECK(answers ==
        std::vector<std::string>{"CREATE TABLE", "DROP TABLE",
                                 "2BP01 cannot drop table below because other objects depend on it",
                                 "SELECT 0", "DROP TABLE"});
}

TEST_CASE("Rows that refer to one another in a list are deleted together", "[sql][stack]") {
  std::vector<std::string> answers;
  on_fiber([&] {
    TestDatabase database;
    const auto ask = [&](const std::string& sql) { answers.push_back(database.run(sql)); };
    ask("CREATE TABLE list (id int PRIMARY KEY, up int REFERENCES list ON DELETE CASCADE)");
    ask("CREATE INDEX ON list (up)");
    ask("INSERT INTO list SELECT g, nullif(g - 1, 0) FROM generate_series(1, 2000) g");
    ask("DELETE FROM list WHERE id = 1");
    ask("SELECT count(*) FROM list");
  });
  CHECK(answers == std::vector<std::string>{"CREATE TABLE", "CREATE INDEX", "INSERT 0 2000",
                                            "DELETE 1", "0 SELECT 1"});
}

TEST_CASE("What runs without parameters says that there are none", "[sql][session]") {
  TestDatabase database;
  CHECK(database.run("CREATE TABLE made AS SELECT $1::int AS x") ==
        "42P02 there is no parameter $1");
  CHECK(database.run("COPY (SELECT $1::int) TO STDOUT") == "42P02 there is no parameter $1");
  CHECK(database.run("EXPLAIN ANALYZE SELECT $1::int") == "42P02 there is no parameter $1");
}

TEST_CASE("Long lists are flat", "[sql][stack]") {
  std::vector<std::string> answers;
  on_fiber([&] {
    TestDatabase database;
    const auto numbers = [](std::size_t count, std::string_view before, std::string_view after) {
      std::string text;
      for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) text += before;
        text += std::to_string(i);
        text += after;
      }
      return text;
    };
    const auto ask = [&](const std::string& sql) { answers.push_back(database.run(sql)); };
    ask("SELECT 99999 IN (" + numbers(100'000, ", ", "") + ")");
    ask("SELECT count(*) FROM (" + numbers(5000, " UNION ALL SELECT ", "").insert(0, "SELECT ") +
        ") u");
    ask("SELECT 1 WHERE " + numbers(10'000, " AND ", " >= 0"));
    std::string chain = "WITH w0 AS (SELECT 1 AS a)";
    for (int i = 1; i <= 30'000; ++i) {
      chain += ", w" + std::to_string(i) + " AS (SELECT * FROM w" + std::to_string(i - 1) + ")";
    }
    ask(chain + " SELECT * FROM w30000");
    ask("SELECT 1 FROM " + numbers(10'000, ", (SELECT 1) t", "").insert(0, "(SELECT 1) t"));
  });
#ifdef SWIZZLE_ASAN  // its threads have larger stacks
  constexpr std::string_view kLongChain = "54000 too many range table entries";
#else
  constexpr std::string_view kLongChain = kTooDeep;
#endif
  CHECK(answers == std::vector<std::string>{"t SELECT 1", "5000 SELECT 1", "1 SELECT 1",
                                            std::string{kLongChain},
                                            "54000 too many tables in one query (limit 64)"});
}

}  // namespace swizzle::sql
