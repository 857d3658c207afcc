// A text that Parse has seen before is neither parsed nor planned again, as long as its meaning is
// the same.
#include <catch2/catch.hpp>
#include <optional>

#include "sql-lite-frontend/session/shared/statement_cache.h"
#include "sql-lite-frontend/session/tests/test_database.h"
#include "sql-lite-frontend/statement/statement.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

/// Runs a text as a driver without prepared statements does; returns "columns: rows", or the
/// SQLSTATE.
std::string ask(TestDatabase& db, const std::string& text,
                const std::vector<std::string>& values = {},
                const std::vector<std::uint32_t>& types = {}) {
  TestSink sink;
  Session& session = db.session();
  std::vector<std::optional<Bytes>> parameters;
  for (const std::string& value : values) parameters.emplace_back(as_bytes(value));
  Outcome outcome = session.parse("", text, types, sink);
  if (outcome) outcome = session.bind({"", "", {}, parameters, {}}, sink);
  if (outcome) outcome = session.describe_portal("", sink);
  if (outcome) outcome = session.execute("", 0, sink);
  std::string answer{outcome ? "" : outcome.error().state.code()};
  REQUIRE(session.sync(sink));
  if (!outcome) return answer;
  for (const std::string& column : sink.columns) answer += column + " ";
  answer += ":";
  for (const std::string& row : sink.rows) answer += " " + row;
  return answer;
}

}  // namespace

TEST_CASE("A text parsed again means what it means now", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(a int); INSERT INTO t VALUES (1), (2)");
  CHECK(ask(db, "SELECT * FROM t ORDER BY 1") == "a : 1 2");
  CHECK(ask(db, "SELECT * FROM t ORDER BY 1") == "a : 1 2");

  SECTION("after its table has changed") {
    db.run("ALTER TABLE t ADD b int DEFAULT 5");
    CHECK(ask(db, "SELECT * FROM t ORDER BY 1") == "a b : 1|5 2|5");
    db.run("ALTER TABLE t ALTER a TYPE text");
    db.run("INSERT INTO t VALUES ('10', 6)");
    CHECK(ask(db, "SELECT * FROM t ORDER BY 1") == "a b : 1|5 10|6 2|5");
    db.run("DROP TABLE t");
    CHECK(ask(db, "SELECT * FROM t ORDER BY 1") == "42P01");
    db.run("CREATE TABLE t(z int)");
    CHECK(ask(db, "SELECT * FROM t ORDER BY 1") == "z :");
  }
  SECTION("where another table has the name") {
    db.run("CREATE SCHEMA s; CREATE TABLE s.t(c text)");
    db.run("SET search_path = s");
    CHECK(ask(db, "SELECT * FROM t ORDER BY 1") == "c :");
    db.run("SET search_path = public");
    CHECK(ask(db, "SELECT * FROM t ORDER BY 1") == "a : 1 2");
    db.run("CREATE TEMP TABLE t(d text)");
    CHECK(ask(db, "SELECT * FROM t ORDER BY 1") == "d :");
    db.run("DISCARD TEMP");
    CHECK(ask(db, "SELECT * FROM t ORDER BY 1") == "a : 1 2");
  }
  SECTION("within a transaction that changes it and takes that back") {
    db.run("BEGIN");
    db.run("ALTER TABLE t RENAME a TO b");
    CHECK(ask(db, "SELECT * FROM t ORDER BY 1") == "b : 1 2");
    db.run("ROLLBACK");
    CHECK(ask(db, "SELECT * FROM t ORDER BY 1") == "a : 1 2");
  }
  SECTION("by a role that may not read it") {
    db.run("CREATE ROLE nobody");
    db.run("SET ROLE nobody");
    CHECK(ask(db, "SELECT * FROM t ORDER BY 1") == "42501");
    db.run("RESET ROLE");
    CHECK(ask(db, "SELECT * FROM t ORDER BY 1") == "a : 1 2");
  }
  SECTION("in a transaction that has failed") {
    db.run("BEGIN; SELECT 1/0");
    CHECK(ask(db, "SELECT * FROM t ORDER BY 1") == "25P02");
    db.run("ROLLBACK");
    CHECK(ask(db, "SELECT * FROM t ORDER BY 1") == "a : 1 2");
  }
}

TEST_CASE("A text has a meaning for each list of given types", "[sql][session]") {
  TestDatabase db;
  for (int i = 0; i < 2; ++i) {
    CHECK(ask(db, "SELECT pg_typeof($1)", {"1"}, {23}) == "pg_typeof : integer");
    CHECK(ask(db, "SELECT pg_typeof($1)", {"1"}, {20}) == "pg_typeof : bigint");
    CHECK(ask(db, "SELECT pg_typeof($1)", {"1"}) == "42P18");
  }
}

TEST_CASE("A text parsed again runs beside a portal of the same text", "[sql][session]") {
  TestDatabase db;
  TestSink sink;
  Session& session = db.session();
  db.run("BEGIN");
  REQUIRE(session.parse("", "SELECT generate_series(1, 3)", {}, sink));
  REQUIRE(session.bind({"one", "", {}, {}, {}}, sink));
  REQUIRE(session.execute("one", 1, sink));
  REQUIRE(session.parse("", "SELECT generate_series(1, 3)", {}, sink));
  REQUIRE(session.bind({"two", "", {}, {}, {}}, sink));
  REQUIRE(session.execute("two", 2, sink));
  REQUIRE(session.execute("one", 0, sink));
  CHECK(sink.rows == std::vector<std::string>{"1", "1", "2", "2", "3"});
}

TEST_CASE("Names that are cut are told each time", "[sql][session]") {
  TestDatabase db;
  const std::string text = "SELECT 1 AS " + std::string(70, 'x');
  for (int i = 0; i < 2; ++i) {
    TestSink sink;
    REQUIRE(db.session().parse("", text, {}, sink));
    CHECK(sink.notices.size() == 1);
  }
}

TEST_CASE("A cache of statements keeps those that are asked for", "[sql][session]") {
  StatementCache cache{8};
  const auto hot = std::make_shared<Statement>();
  cache.put("hot", hot, 1);
  for (int i = 0; i < 1000; ++i) {
    cache.put(std::to_string(i), std::make_shared<Statement>(), 1);
    CHECK(cache.find("hot") == hot);
    CHECK(cache.size() <= 8);
  }
  CHECK(cache.find("5") == nullptr);
  cache.erase("hot");
  CHECK(cache.find("hot") == nullptr);
}

TEST_CASE("A cache of statements is bounded in memory", "[sql][session]") {
  constexpr std::size_t kEntries = 8;
  constexpr std::size_t kLarge = StatementCache::kBytesOfEntry * 2;
  StatementCache cache{kEntries};
  for (int i = 0; i < 1000; ++i) {
    cache.put(std::to_string(i), std::make_shared<Statement>(), kLarge);
    CHECK(cache.find(std::to_string(i)) != nullptr);
    CHECK(cache.size() * kLarge <= kEntries * StatementCache::kBytesOfEntry);
  }
  cache.put("999", std::make_shared<Statement>(), kEntries * StatementCache::kBytesOfEntry);
  CHECK(cache.find("999") == nullptr);
}
