// Parsed texts and plans of a session are used by others only if the statement means the same to
// them, and give no session more rights.
#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <thread>

#include "sql-lite-frontend/session/shared/database_shared.h"
#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {
namespace {

std::unique_ptr<Session> log_in(TestDatabase& db, const std::string& role,
                                const std::string& path = {}) {
  static std::int32_t pid = 5000;
  SessionOptions options;
  options.user = role;
  options.backend_pid = ++pid;
  if (!path.empty()) options.parameters = {{"search_path", path}};
  auto session = db.database().connect(std::move(options));
  REQUIRE(session);
  return std::move(*session);
}

/// Runs Parse, Bind and Execute; returns the rows, or the error.
std::string ask(Session& session, const std::string& text,
                const std::vector<std::string>& values = {}, const std::string& name = {}) {
  TestSink sink;
  std::vector<std::optional<Bytes>> parameters;
  for (const std::string& value : values) parameters.emplace_back(as_bytes(value));
  if (!name.empty()) static_cast<void>(session.close_statement(name));
  Outcome outcome = session.parse(name, text, {}, sink);
  if (outcome) outcome = session.bind({"", name, {}, parameters, {}}, sink);
  if (outcome) outcome = session.execute("", 0, sink);
  std::string answer;
  if (!outcome) answer = std::string{outcome.error().state.code()} + " " + outcome.error().message;
  REQUIRE(session.sync(sink));
  for (const std::string& row : sink.rows) answer += answer.empty() ? row : " " + row;
  return answer;
}

/// Runs a simple query.
std::string query(Session& session, const std::string& text) {
  TestSink sink;
  const Outcome outcome = session.simple_query(text, sink);
  if (!outcome) return std::string{outcome.error().state.code()} + " " + outcome.error().message;
  return sink.rows.empty() ? "" : sink.rows.front();
}

std::uint64_t taken(TestDatabase& db) {
  return db.database().shared().plans.counts().taken;
}

void make_table(TestDatabase& db) {
  db.run("CREATE TABLE t(a int PRIMARY KEY, b int); INSERT INTO t VALUES (1, 10), (2, 20)");
}

}  // namespace

TEST_CASE("A session takes over what another has planned", "[sql][session][shared_plans]") {
  TestDatabase db;
  make_table(db);
  const auto one = log_in(db, "postgres");
  const auto two = log_in(db, "postgres");
  SECTION("by Parse without a name") {
    CHECK(ask(*one, "SELECT b FROM t WHERE a = $1", {"1"}) == "10");
    const std::uint64_t before = taken(db);
    CHECK(ask(*two, "SELECT b FROM t WHERE a = $1", {"2"}) == "20");
    CHECK(taken(db) == before + 1);
    CHECK(ask(*two, "SELECT b FROM t WHERE a = $1", {"1"}) == "10");
    CHECK(taken(db) == before + 1);
  }
  SECTION("by Parse with a name, whatever the name") {
    CHECK(ask(*one, "SELECT b FROM t WHERE a = $1", {"1"}, "x") == "10");
    const std::uint64_t before = taken(db);
    CHECK(ask(*two, "SELECT b FROM t WHERE a = $1", {"2"}, "y") == "20");
    CHECK(taken(db) == before + 1);
  }
  SECTION("by Query, with other literals") {
    CHECK(db.run(*one, "SELECT b FROM t WHERE a = 1") == "10 SELECT 1");
    const std::uint64_t before = taken(db);
    CHECK(db.run(*two, "SELECT b FROM t WHERE a = 2") == "20 SELECT 1");
    CHECK(taken(db) == before + 1);
  }
  SECTION("by Query, without literals") {
    CHECK(db.run(*one, "SELECT sum(b) FROM t") == "30 SELECT 1");
    const std::uint64_t before = taken(db);
    CHECK(db.run(*two, "SELECT sum(b) FROM t") == "30 SELECT 1");
    CHECK(taken(db) == before + 1);
  }
  SECTION("of writes") {
    CHECK(ask(*one, "INSERT INTO t VALUES ($1, 1) RETURNING b", {"7"}) == "1");
    const std::uint64_t before = taken(db);
    CHECK(ask(*two, "INSERT INTO t VALUES ($1, 1) RETURNING b", {"8"}) == "1");
    CHECK(taken(db) == before + 1);
    CHECK(ask(*two, "INSERT INTO t VALUES ($1, 1) RETURNING b", {"8"}).starts_with("23505"));
  }
  SECTION("not what depends on the moment") {
    CHECK(query(*one, "SELECT 'now'::timestamptz = now()") == "t");
    const std::uint64_t before = taken(db);
    CHECK(query(*two, "SELECT 'now'::timestamptz = now()") == "t");
    CHECK(query(*two, "SELECT 'now'::timestamptz = now()") == "t");
    CHECK(taken(db) == before);
  }
}

TEST_CASE("A shared plan gives nobody a right", "[sql][session][shared_plans]") {
  TestDatabase db;
  make_table(db);
  db.run("CREATE ROLE ann LOGIN; CREATE ROLE bob LOGIN; GRANT SELECT ON t TO ann");
  const std::string text = "SELECT b FROM t WHERE a = $1";
  const auto owner = log_in(db, "postgres");
  const auto ann = log_in(db, "ann");
  CHECK(ask(*owner, text, {"1"}) == "10");
  CHECK(ask(*ann, text, {"1"}) == "10");
  SECTION("another role has none") {
    CHECK(ask(*log_in(db, "bob"), text, {"1"}) == "42501 permission denied for table t");
  }
  SECTION("it was taken back") {
    db.run("REVOKE SELECT ON t FROM ann");
    CHECK(ask(*log_in(db, "ann"), text, {"1"}) == "42501 permission denied for table t");
    CHECK(ask(*ann, text, {"1"}) == "42501 permission denied for table t");
    db.run("GRANT SELECT (a) ON t TO ann");
    CHECK(ask(*log_in(db, "ann"), text, {"1"}) == "42501 permission denied for table t");
    db.run("GRANT SELECT (b) ON t TO ann");
    CHECK(ask(*log_in(db, "ann"), text, {"1"}) == "10");
  }
  SECTION("a role that acts as another has the other's") {
    const auto boss = log_in(db, "postgres");
    CHECK(ask(*boss, text, {"1"}) == "10");
    db.run(*boss, "SET ROLE bob");
    CHECK(ask(*boss, text, {"1"}) == "42501 permission denied for table t");
    db.run(*boss, "RESET ROLE");
    CHECK(ask(*boss, text, {"2"}) == "20");
  }
  SECTION("the table has a new owner") {
    db.run("REVOKE SELECT ON t FROM ann; ALTER TABLE t OWNER TO bob");
    CHECK(ask(*log_in(db, "bob"), text, {"1"}) == "10");
    CHECK(ask(*log_in(db, "ann"), text, {"1"}) == "42501 permission denied for table t");
  }
  SECTION("the schema is closed") {
    db.run("CREATE SCHEMA s; CREATE TABLE s.u(c int); INSERT INTO s.u VALUES (5)");
    db.run("GRANT USAGE ON SCHEMA s TO ann; GRANT SELECT ON s.u TO ann");
    CHECK(ask(*ann, "SELECT c FROM s.u") == "5");
    CHECK(ask(*log_in(db, "ann"), "SELECT c FROM s.u") == "5");
    db.run("REVOKE USAGE ON SCHEMA s FROM ann");
    CHECK(ask(*log_in(db, "ann"), "SELECT c FROM s.u") == "42501 permission denied for schema s");
    CHECK(ask(*log_in(db, "ann", "s, public"), "SELECT c FROM u").starts_with("42P01"));
  }
  SECTION("a view's owner has lost his") {
    db.run("GRANT SELECT ON t TO bob; GRANT CREATE ON SCHEMA public TO bob");
    const auto bob = log_in(db, "bob");
    db.run(*bob, "CREATE VIEW v AS SELECT b FROM t; GRANT SELECT ON v TO ann");
    CHECK(ask(*ann, "SELECT sum(b) FROM v") == "30");
    db.run("REVOKE SELECT ON t FROM bob");
    CHECK(ask(*log_in(db, "ann"), "SELECT sum(b) FROM v") == "42501 permission denied for table t");
  }
  SECTION("membership has ended") {
    db.run("CREATE ROLE readers; GRANT SELECT ON t TO readers; GRANT readers TO bob");
    CHECK(ask(*log_in(db, "bob"), text, {"1"}) == "10");
    db.run("REVOKE readers FROM bob");
    CHECK(ask(*log_in(db, "bob"), text, {"1"}) == "42501 permission denied for table t");
  }
}

TEST_CASE("A shared plan means what the session means", "[sql][session][shared_plans]") {
  TestDatabase db;
  make_table(db);
  db.run("CREATE SCHEMA s; CREATE TABLE s.t(a int, b int); INSERT INTO s.t VALUES (1, 77)");
  const std::string text = "SELECT b FROM t WHERE a = 1";
  const auto plain = log_in(db, "postgres");
  CHECK(ask(*plain, text) == "10");
  SECTION("by its search path") {
    CHECK(ask(*log_in(db, "postgres", "s"), text) == "77");
    CHECK(ask(*log_in(db, "postgres", "s, public"), text) == "77");
    CHECK(ask(*log_in(db, "postgres", "public, s"), text) == "10");
    CHECK(ask(*log_in(db, "postgres", "pg_catalog"), text).starts_with("42P01"));
    db.run("ALTER TABLE s.t RENAME TO other");
    CHECK(ask(*log_in(db, "postgres", "s, public"), text) == "10");
  }
  SECTION("by a table that is nearer since") {
    db.run("CREATE SCHEMA near");
    CHECK(ask(*log_in(db, "postgres", "near, public"), text) == "10");
    db.run("CREATE TABLE near.t(a int, b int); INSERT INTO near.t VALUES (1, 55)");
    CHECK(ask(*log_in(db, "postgres", "near, public"), text) == "55");
  }
  SECTION("by its temporary tables") {
    const auto hidden = log_in(db, "postgres");
    CHECK(ask(*hidden, text) == "10");
    db.run(*hidden, "CREATE TEMP TABLE t(a int, b int); INSERT INTO t VALUES (1, 99)");
    CHECK(ask(*hidden, text) == "99");
    CHECK(ask(*plain, text) == "10");
    CHECK(ask(*log_in(db, "postgres"), text) == "10");
    const auto other = log_in(db, "postgres");
    db.run(*other, "CREATE TEMP TABLE t(a int, b text); INSERT INTO t VALUES (1, 'x')");
    CHECK(ask(*other, text) == "x");
    db.run(*hidden, "DROP TABLE t");
    CHECK(ask(*hidden, text) == "10");
  }
  SECTION("by how its constants are read") {
    const std::string date = "SELECT extract(month FROM '01/02/2020'::date)";
    const std::string time = "SELECT '2020-01-01 00:00'::timestamptz = '2020-01-01 00:00+00'";
    CHECK(ask(*plain, date) == "1");
    CHECK(ask(*plain, time) == "t");
    const auto other = log_in(db, "postgres");
    db.run(*other, "SET datestyle = 'ISO, DMY'; SET timezone = 'America/New_York'");
    CHECK(ask(*other, date) == "2");
    CHECK(ask(*other, time) == "f");
    CHECK(ask(*plain, date) == "1");
    CHECK(ask(*log_in(db, "postgres"), time) == "t");
  }
  SECTION("by the types that it gives") {
    TestSink sink;
    const auto other = log_in(db, "postgres");
    const std::uint32_t integer[] = {23};
    const std::uint32_t bigint[] = {20};
    REQUIRE(plain->parse("", "SELECT $1", integer, sink));
    REQUIRE(other->parse("", "SELECT $1", bigint, sink));
    REQUIRE(other->describe_statement("", sink));
    CHECK(sink.parameter_types == std::vector<std::uint32_t>{20});
  }
}

TEST_CASE("A shared plan is as new as the definitions", "[sql][session][shared_plans]") {
  TestDatabase db;
  make_table(db);
  const std::string text = "SELECT * FROM t ORDER BY a LIMIT 1";
  const auto one = log_in(db, "postgres");
  const auto two = log_in(db, "postgres");
  CHECK(ask(*one, text) == "1|10");
  SECTION("which have changed") {
    db.run("ALTER TABLE t ADD c int DEFAULT 3");
    CHECK(ask(*two, text) == "1|10|3");
    CHECK(ask(*one, text) == "1|10|3");
    db.run("ALTER TABLE t DROP b");
    CHECK(ask(*one, text) == "1|3");
    CHECK(ask(*two, text) == "1|3");
    db.run("DROP TABLE t; CREATE TABLE t(a text); INSERT INTO t VALUES ('x')");
    CHECK(ask(*two, text) == "x");
    CHECK(ask(*one, text) == "x");
    db.run("DROP TABLE t");
    CHECK(ask(*log_in(db, "postgres"), text).starts_with("42P01"));
  }
  SECTION("whose numbers are in it") {
    db.run("CREATE SEQUENCE n");
    CHECK(ask(*one, "SELECT nextval('n')") == "1");
    CHECK(ask(*two, "SELECT nextval('n')") == "2");
    db.run("DROP SEQUENCE n; CREATE SEQUENCE n START 50");
    CHECK(ask(*log_in(db, "postgres"), "SELECT nextval('n')") == "50");
  }
  SECTION("not those of a transaction that goes on") {
    db.run(*one, "BEGIN; CREATE TABLE fresh(a int); INSERT INTO fresh VALUES (1)");
    CHECK(db.run(*one, "SELECT * FROM fresh") == "1 SELECT 1");
    CHECK(db.run(*two, "SELECT * FROM fresh").starts_with("42P01"));
    db.run(*one, "ROLLBACK");
    CHECK(db.run(*one, "SELECT * FROM fresh").starts_with("42P01"));
    db.run(*one, "BEGIN; ALTER TABLE t ADD c int DEFAULT 3");
    CHECK(db.run(*one, "SELECT * FROM t WHERE a = 1") == "1|10|3 SELECT 1");
    db.run(*one, "ROLLBACK");
    CHECK(db.run(*two, "SELECT * FROM t WHERE a = 1") == "1|10 SELECT 1");
    CHECK(db.run(*one, "SELECT * FROM t WHERE a = 1") == "1|10 SELECT 1");
  }
  SECTION("nor an index that is younger than what a transaction sees") {
    const std::string by_b = "SELECT a FROM t WHERE b = 10";
    const auto old = log_in(db, "postgres");
    db.run(*old, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t");
    db.run("UPDATE t SET b = 11 WHERE a = 1; CREATE INDEX ON t(b); SET enable_seqscan = off");
    db.run(*two, "SET enable_seqscan = off");
    db.run(*old, "SET enable_seqscan = off");
    CHECK(query(*two, by_b).empty());
    CHECK(query(*old, by_b) == "1");
    db.run(*old, "COMMIT");
    CHECK(query(*old, by_b).empty());
  }
  SECTION("and as what ANALYZE has found") {
    CHECK(ask(*one, "SELECT count(*) FROM t") == "2");
    db.run("INSERT INTO t SELECT i, i FROM generate_series(10, 2000) i");
    CHECK(db.run("ANALYZE t") == "ANALYZE");
    const std::uint64_t before = taken(db);
    CHECK(ask(*two, "SELECT count(*) FROM t") == "1993");
    CHECK(taken(db) == before);
  }
}

TEST_CASE("What sessions share is bounded", "[sql][session][shared_plans]") {
  TestDatabase db;
  make_table(db);
  constexpr int kTexts = 3000;
  for (int i = 0; i < kTexts; ++i) {
    REQUIRE(ask(db.session(), "SELECT b AS c" + std::to_string(i) + " FROM t WHERE a = $1",
                {"1"}) == "10");
  }
  const auto counts = db.database().shared().plans.counts();
  CHECK(counts.plans > 500);
  CHECK(counts.plans <= 2000);
}

TEST_CASE("Plans are shared while definitions change", "[sql][session][shared_plans][threads]") {
  TestDatabase db;
  make_table(db);
  constexpr int kRounds = 150;
  std::atomic<bool> is_over = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!is_over) {
        // Sometimes use a new session, which has only the shared plans.
        const auto session = [&] {
          static std::atomic<std::int32_t> pid = 9000;
          SessionOptions options;
          options.backend_pid = ++pid;
          return std::move(*db.database().connect(std::move(options)));
        }();
        for (int again = 0; again < 3; ++again) {
          const std::string row = query(*session, "SELECT * FROM t WHERE a = 1");
          if (row != "1|10" && row != "1|10|3") ++wrong;
          if (query(*session, "SELECT sum(b) FROM t WHERE a < 3") != "30") ++wrong;
        }
      }
    });
  }
  for (int round = 0; round < kRounds; ++round) {
    db.run("ALTER TABLE t ADD c int DEFAULT 3");
    db.run("ALTER TABLE t DROP c");
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

}  // namespace swizzle::sql
