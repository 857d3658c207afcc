#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <thread>

#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/asking.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;
using namespace std::chrono_literals;

// Every wait of a statement for others is ended by lock_timeout, by a cancel (such as
// statement_timeout), and by the session's end; meanwhile other sessions can see it.

namespace {

struct Wait {
  const char* before;  ///< creates the objects
  const char* holder;  ///< holds the lock in an open transaction
  const char* waiter;  ///< waits for it
  const char* event;   ///< wait_event in pg_stat_activity
};

constexpr Wait kWaits[] = {
    {"CREATE TABLE t(id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1)", "UPDATE t SET v = 2",
     "UPDATE t SET v = 3", "transactionid"},
    {"CREATE TABLE t(id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1)",
     "SELECT * FROM t FOR SHARE", "SELECT * FROM t FOR UPDATE", "transactionid"},
    {"CREATE TABLE t(id int PRIMARY KEY)", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)",
     "transactionid"},
    {"CREATE TABLE t(id int PRIMARY KEY)", "INSERT INTO t VALUES (1)",
     "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", "transactionid"},
    {"CREATE TABLE t(id int PRIMARY KEY); INSERT INTO t VALUES (1); "
     "CREATE TABLE c(id int REFERENCES t)",
     "DELETE FROM t", "INSERT INTO c VALUES (1)", "transactionid"},
    {"CREATE TABLE t(id int PRIMARY KEY); INSERT INTO t VALUES (1)", "UPDATE t SET id = 2",
     "SET serializable_method = locking; BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT * FROM t",
     "transactionid"},
    {"CREATE TABLE t(id int)", "LOCK TABLE t", "SELECT * FROM t", "relation"},
    {"CREATE TABLE t(id int)", "SELECT * FROM t", "TRUNCATE t", "relation"},
    {"CREATE TABLE t(id int)", "INSERT INTO t VALUES (1)", "CREATE INDEX ON t(id)", "relation"},
    {"CREATE TABLE t(id int)", "INSERT INTO t VALUES (1)", "REINDEX TABLE t", "relation"},
    {"CREATE TABLE t(id int)", "INSERT INTO t VALUES (1)", "CREATE INDEX CONCURRENTLY ON t(id)",
     "virtualxid"},
    {"CREATE TABLE t(id int); CREATE INDEX ON t(id)", "INSERT INTO t VALUES (1)",
     "REINDEX TABLE CONCURRENTLY t", "virtualxid"},
    {"CREATE TABLE t(id int); CREATE INDEX i ON t(id)", "SELECT * FROM t",
     "DROP INDEX CONCURRENTLY i", "virtualxid"},
    {"CREATE TABLE t(id int)", "LOCK TABLE t IN SHARE UPDATE EXCLUSIVE MODE",
     "CREATE INDEX CONCURRENTLY ON t(id)", "relation"},
    {"CREATE TABLE t(id int)", "LOCK TABLE t", "VACUUM ANALYZE t", "relation"},
    {"CREATE TABLE t(id int)", "LOCK TABLE t", "ANALYZE t", "relation"},
    {"CREATE TABLE t(id int)", "LOCK TABLE t", "COPY t TO STDOUT", "relation"},
    {"CREATE TABLE t(id int)", "LOCK TABLE t", "DO $$ BEGIN DELETE FROM t; END $$", "relation"},
    {"CREATE MATERIALIZED VIEW t AS SELECT 1", "SELECT * FROM t", "REFRESH MATERIALIZED VIEW t",
     "relation"},
    {"CREATE SEQUENCE t", "ALTER SEQUENCE t INCREMENT 2", "ALTER SEQUENCE t INCREMENT 3",
     "relation"},
    {"CREATE SEQUENCE t", "ALTER SEQUENCE t INCREMENT 2", "SELECT nextval('t')", "relation"},
    {"CREATE SEQUENCE t", "ALTER SEQUENCE t RESTART", "SELECT setval('t', 7)", "relation"},
    {"CREATE SEQUENCE t", "SELECT nextval('t')", "ALTER SEQUENCE t INCREMENT 2", "relation"},
    {"", "SELECT pg_advisory_lock(1)", "SELECT pg_advisory_lock(1)", "advisory"},
    {"", "SELECT pg_advisory_xact_lock(1)", "SELECT pg_advisory_xact_lock_shared(1)", "advisory"},
    {"", "CREATE TABLE t(a int)", "CREATE TABLE t(a int)", "transactionid"},
    {"", "CREATE SCHEMA s", "CREATE SCHEMA s", "transactionid"},
    {"", "CREATE TYPE e AS ENUM ('a')", "CREATE TYPE e AS ENUM ('a')", nullptr},
    {"", "CREATE ROLE r", "CREATE ROLE r", "transactionid"},
    {"CREATE ROLE r", "ALTER ROLE r CREATEDB", "ALTER ROLE r CREATEROLE", nullptr},
    {"CREATE ROLE r", "ALTER ROLE r CREATEDB", "DROP ROLE r", nullptr},
    {"CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DROP FUNCTION f()",
     "DROP FUNCTION f()", nullptr},
    {"CREATE DATABASE d", "ALTER DATABASE d CONNECTION LIMIT 7", "DROP DATABASE d", nullptr},
    {"CREATE DATABASE d", "ALTER DATABASE d CONNECTION LIMIT 7", "ALTER DATABASE d RENAME TO e",
     nullptr},
    {"CREATE DATABASE d", "ALTER DATABASE d CONNECTION LIMIT 7",
     "ALTER DATABASE d CONNECTION LIMIT 8", nullptr},
    {"CREATE PUBLICATION p", "ALTER PUBLICATION p RENAME TO q", "DROP PUBLICATION p", nullptr},
};

/// Returns false if the statement has ended without waiting.
bool waits(TestDatabase& db, const Asking& asking, const char* event) {
  const std::string query =
      "SELECT count(*), max(wait_event) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
  std::string seen;
  for (int look = 0; look < 4000 && !asking.is_done(); ++look) {
    seen = db.run(query);
    if (seen.starts_with("1|")) {
      if (event != nullptr) CHECK(seen == "1|" + std::string{event} + " SELECT 1");
      return true;
    }
    std::this_thread::sleep_for(1ms);
  }
  UNSCOPED_INFO("seen last: " << seen);
  return false;
}

/// Calls `end` while the statement waits; returns the outcome.
std::string end_of(TestDatabase& db, const Wait& wait, Session& waiter,
                   const std::function<void(Session&)>& end) {
  Asking asking(waiter, wait.waiter);
  if (!waits(db, asking, wait.event)) return "did not wait: " + asking.answer();
  const auto began = std::chrono::steady_clock::now();
  end(waiter);
  std::string answer = asking.answer();
  if (std::chrono::steady_clock::now() - began > 2s) answer += " late";
  return answer;
}

void for_each_wait(const std::function<void(TestDatabase&, const Wait&, Session&)>& check) {
  for (const Wait& wait : kWaits) {
    INFO(wait.holder << " / " << wait.waiter);
    TestDatabase db;
    if (*wait.before != '\0') REQUIRE_FALSE(db.run(wait.before).empty());
    const auto holder = db.connect();
    const std::string held = db.run(*holder, std::string{"BEGIN; "} + wait.holder);
    REQUIRE(held.find("BEGIN") != std::string::npos);
    const auto waiter = db.connect();
    check(db, wait, *waiter);
    db.run(*holder, "ROLLBACK");
  }
}

}  // namespace

TEST_CASE("Every wait for others ends by a cancel", "[sql][session][locks][waits]") {
  for_each_wait([](TestDatabase& db, const Wait& wait, Session& waiter) {
    CHECK(end_of(db, wait, waiter, [](Session& session) { session.cancel(); }) == "57014");
    db.run(waiter, "ROLLBACK");
    CHECK(db.run(waiter, "SELECT 1") == "1 SELECT 1");
  });
}

TEST_CASE("Every wait for others ends with its session", "[sql][session][locks][waits]") {
  for_each_wait([](TestDatabase& db, const Wait& wait, Session& waiter) {
    Diagnostic reason;
    reason.severity = Severity::fatal;
    reason.state = SqlState{"57P01"};
    reason.message = "shutting down";
    CHECK(end_of(db, wait, waiter, [&](Session& session) { session.terminate(reason); }) ==
          "57P01");
  });
}

TEST_CASE("Every wait for a lock obeys lock_timeout", "[sql][session][locks][waits]") {
  for_each_wait([](TestDatabase& db, const Wait& wait, Session& waiter) {
    db.run(waiter, "SET lock_timeout = 30");
    const auto began = std::chrono::steady_clock::now();
    CHECK(db.run(waiter, wait.waiter).starts_with("55P03"));
    CHECK(std::chrono::steady_clock::now() - began < 3s);
  });
}

TEST_CASE("DROP DATABASE keeps nobody out while it waits, and says who is in it",
          "[sql][session][locks][waits]") {
  TestDatabase db;
  REQUIRE(db.run("CREATE DATABASE d") == "CREATE DATABASE");
  const auto in_d = [&] {
    SessionOptions options;
    options.database = "d";
    options.backend_pid = 1000;
    return db.database().connect(options);
  };
  const auto holder = db.connect();
  db.run(*holder, "BEGIN; ALTER DATABASE d CONNECTION LIMIT 7");
  {
    Asking asking(db.session(), "DROP DATABASE d");
    const auto watcher = db.connect();
    for (int look = 0; look < 4000 && db.engine().lock_waits().empty(); ++look)
      std::this_thread::sleep_for(1ms);
    CHECK(in_d());
    db.session().cancel();
    CHECK(asking.answer() == "57014");
  }
  db.run(*holder, "COMMIT");
  {
    auto user = in_d();
    REQUIRE(user);
    const auto began = std::chrono::steady_clock::now();
    TestSink sink;
    const Outcome outcome = db.session().simple_query("DROP DATABASE d", sink);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().state.code() == "55006");
    CHECK(outcome.error().message == "database \"d\" is being accessed by other users");
    CHECK(outcome.error().detail == "There is 1 other session using the database.");
    const auto took = std::chrono::steady_clock::now() - began;
    CHECK(took > 4s);
    CHECK(took < 8s);
    // Such a wait can be cancelled as well.
    Asking asking(db.session(), "DROP DATABASE d");
    std::this_thread::sleep_for(50ms);
    db.session().cancel();
    CHECK(asking.answer() == "57014");
    // A session that leaves in time does not prevent the drop.
    Asking again(db.session(), "DROP DATABASE d");
    std::this_thread::sleep_for(50ms);
    user->reset();
    CHECK(again.answer() == "done");
  }
  CHECK_FALSE(in_d());
  CHECK(db.run("SELECT count(*) FROM pg_database WHERE datname = 'd'") == "0 SELECT 1");
  CHECK(db.run("CREATE DATABASE d; SELECT 1").starts_with("25001"));
  CHECK(db.run("CREATE DATABASE d") == "CREATE DATABASE");
}
