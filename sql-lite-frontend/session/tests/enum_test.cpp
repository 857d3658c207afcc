// User-defined types, for what the corpus cannot test: restarts and other sessions.
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "base/random.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

TEST_CASE("Enums, their labels' order and what names them survive a restart",
          "[sql][session][enums]") {
  TestDatabase db;
  db.run("CREATE TYPE mood AS ENUM ('sad', 'happy')");
  db.run("ALTER TYPE mood ADD VALUE 'ok' BEFORE 'happy'");
  db.run("CREATE TABLE t(m mood PRIMARY KEY, d mood DEFAULT 'ok' CHECK (d <> 'sad'), l mood[])");
  db.run("CREATE VIEW v AS SELECT m FROM t WHERE m > 'sad'::mood");
  db.run("INSERT INTO t VALUES ('happy', DEFAULT, '{ok,sad}'), ('ok', 'happy', NULL)");
  db.run("ALTER TYPE mood RENAME TO feeling");
  db.close();
  db.open();
  CHECK(db.run("SELECT * FROM t ORDER BY m") == "ok|happy|NULL happy|ok|{ok,sad} SELECT 2");
  CHECK(db.run("SELECT * FROM v ORDER BY 1") == "ok happy SELECT 2");
  CHECK(db.run("INSERT INTO t VALUES ('sad', 'sad')").starts_with("23514"));
  CHECK(db.run("INSERT INTO t VALUES ('sad') RETURNING d") == "ok INSERT 0 1");
  CHECK(db.run("SELECT 'ok'::mood") == "42704 type \"mood\" does not exist");
  CHECK(db.run("SELECT 'x'::feeling") == "22P02 invalid input value for enum feeling: \"x\"");
  CHECK(db.run("SELECT max(m), pg_typeof(max(m)) FROM t") == "happy|feeling SELECT 1");
}

TEST_CASE("A label that one session adds is nobody's before it is committed",
          "[sql][session][enums]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE TABLE t(m mood)");
  db.run("BEGIN; ALTER TYPE mood ADD VALUE 'ok' AFTER 'sad'");
  CHECK(db.run(*other, "INSERT INTO t VALUES ('ok')").starts_with("22P02"));
  CHECK(db.run(*other, "SELECT enum_range(NULL::mood)") == "{sad,happy} SELECT 1");
  CHECK(db.run("SAVEPOINT s") == "SAVEPOINT");
  CHECK(db.run("SELECT enum_range(NULL::mood)").starts_with("55P04"));
  CHECK(db.run("ROLLBACK TO s; COMMIT") == "ROLLBACK COMMIT");
  CHECK(db.run(*other, "INSERT INTO t VALUES ('ok')") == "INSERT 0 1");
  CHECK(db.run(*other, "SELECT enum_range(NULL::mood)") == "{sad,ok,happy} SELECT 1");
}

TEST_CASE("Two sessions that add labels at once both do", "[sql][session][enums]") {
  TestDatabase db;
  constexpr int kLabels = 20;
  db.run("CREATE TYPE t AS ENUM ('first', 'last')");
  const auto add = [&](Session& session, char who, std::atomic<int>& failed) {
    TestSink sink;
    for (int i = 0; i < kLabels; ++i) {
      const std::string label = who + std::to_string(i);
      const std::string sql = "ALTER TYPE t ADD VALUE '" + label + "' BEFORE 'last'";
      if (!session.simple_query(sql, sink)) ++failed;
    }
  };
  std::atomic<int> failed = 0;
  const auto a = db.connect();
  const auto b = db.connect();
  {
    std::jthread one{[&] { add(*a, 'a', failed); }};
    std::jthread two{[&] { add(*b, 'b', failed); }};
  }
  CHECK(failed == 0);
  CHECK(db.run("SELECT count(*), count(DISTINCT enumlabel) FROM pg_enum") ==
        fmt::format("{0}|{0} SELECT 1", 2 * kLabels + 2));
}

TEST_CASE("Nobody drops a type that another session gives to a column", "[sql][session][enums]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TYPE mood AS ENUM ('sad')");
  db.run("BEGIN; CREATE TABLE t(m mood)");
  db.run(*other, "SET lock_timeout = '50ms'");
  CHECK(db.run(*other, "DROP TYPE mood").starts_with("55P03"));
  db.run("COMMIT");
  CHECK(db.run(*other, "DROP TYPE mood").starts_with("2BP01"));
  db.run(*other, "BEGIN; DROP TABLE t; DROP TYPE mood");
  db.run("SET lock_timeout = '50ms'");
  CHECK(db.run("CREATE TABLE u(m mood)").starts_with("55P03"));
  db.run(*other, "COMMIT");
  CHECK(db.run("CREATE TABLE u(m mood)") == "42704 type \"mood\" does not exist");
}

// Labels are inserted between others until there is no room; the order stays theirs.
TEST_CASE("Labels keep the order in which they were put", "[sql][session][enums][model]") {
  TestDatabase db;
  Random random{7};
  std::vector<std::string> order{"l0"};
  db.run("CREATE TYPE t AS ENUM ('l0')");
  for (int i = 1; i <= 120; ++i) {
    const std::size_t at = random.below(order.size());
    const bool after = random.below(2) == 0;
    const std::string label = "l" + std::to_string(i);
    const std::string outcome = db.run("ALTER TYPE t ADD VALUE '" + label +
                                       (after ? "' AFTER '" : "' BEFORE '") + order[at] + "'");
    if (outcome.starts_with("54000")) continue;
    REQUIRE(outcome == "ALTER TYPE");
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(at + (after ? 1 : 0)), label);
  }
  std::string expected;
  for (const std::string& label : order) expected += (expected.empty() ? "" : ",") + label;
  CHECK(db.run("SELECT enum_range(NULL::t)") == "{" + expected + "} SELECT 1");
  CHECK(db.run("SELECT string_agg(x::text, ',' ORDER BY x) FROM unnest(enum_range(NULL::t)) x") ==
        expected + " SELECT 1");
  CHECK(order.size() > 110);
}

TEST_CASE("Between two labels there is room for many, and then an error", "[sql][session][enums]") {
  TestDatabase db;
  db.run("CREATE TYPE t AS ENUM ('a', 'z')");
  std::string outcome;
  int added = 0;
  for (; added < 100; ++added) {
    outcome = db.run("ALTER TYPE t ADD VALUE 'l" + std::to_string(added) + "' BEFORE 'z'");
    if (outcome != "ALTER TYPE") break;
  }
  CHECK(added >= 40);
  CHECK(outcome == "54000 no room is left between these enum labels");
  CHECK(db.run("ALTER TYPE t ADD VALUE 'end'") == "ALTER TYPE");
}

TEST_CASE("Numbers of types and labels are no way around names", "[sql][session][enums]") {
  TestDatabase db;
  db.run("CREATE TYPE mood AS ENUM ('sad')");
  CHECK(db.run("SELECT '5'::\"#536870912\"").starts_with("42704"));
  CHECK(db.run("SELECT '5'::\"#99999999999\"").starts_with("42704"));
  const std::string number = db.rows("SELECT 'mood'::regtype::oid").at(0);
  CHECK(db.run("SELECT '5'::\"#" + number + "\"").starts_with("22P03"));
  CHECK(db.run("SELECT 'x'::\"#" + number + "\"").starts_with("22P02"));
}

TEST_CASE("A prepared statement finds the type that has the name now", "[sql][session][enums]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TYPE mood AS ENUM ('sad', 'ok')");
  db.run("PREPARE p AS SELECT 'ok'::mood > 'sad'::mood, 'ok'::mood");
  CHECK(db.run("EXECUTE p") == "t|ok SELECT 1");
  db.run(*other, "DROP TYPE mood; CREATE TYPE mood AS ENUM ('ok', 'sad')");
  CHECK(db.run("EXECUTE p") == "0A000 cached plan must not change result type");
  db.run("DEALLOCATE p; PREPARE p AS SELECT ('ok'::mood > 'sad'::mood)::text");
  CHECK(db.run("EXECUTE p") == "false SELECT 1");
  db.run(*other, "DROP TYPE mood; CREATE TYPE mood AS ENUM ('sad', 'ok')");
  CHECK(db.run("EXECUTE p") == "true SELECT 1");
  db.run(*other, "DROP TYPE mood");
  CHECK(db.run("EXECUTE p").starts_with("42704"));
}
