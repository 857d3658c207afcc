#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/tests/test_database.h"

/// Two-phase commit in sessions, also across restarts.
namespace swizzle::sql {
namespace {

class TwoPhaseDatabase : public TestDatabase {
 public:
  TwoPhaseDatabase() { allow(); }
  void allow() {
    REQUIRE(database().shared().settings.set_at_start({"max_prepared_transactions", "5", "test"},
                                                      SettingSource::command_line));
  }
  void restart() {
    close();
    open();
    allow();
  }
};

constexpr const char* kListed = "SELECT gid, owner, database FROM pg_prepared_xacts ORDER BY gid";

}  // namespace

TEST_CASE("A prepared transaction is nobody's session's, and any commits it", "[sql][two-phase]") {
  TwoPhaseDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, v text)");
  db.run("INSERT INTO t VALUES (1, 'old')");
  CHECK(db.run("BEGIN; UPDATE t SET v = 'new' WHERE id = 1; INSERT INTO t VALUES (2, 'two')") ==
        "BEGIN UPDATE 1 INSERT 0 1");
  CHECK(db.run("PREPARE TRANSACTION 'one'") == "PREPARE TRANSACTION");
  CHECK(db.session().transaction_status() == TransactionStatus::idle);
  CHECK(db.run(kListed) == "one|postgres|postgres SELECT 1");
  CHECK(db.run("SELECT * FROM t") == "1|old SELECT 1");
  CHECK_THAT(db.run("SELECT * FROM t WHERE id = 1 FOR UPDATE NOWAIT"), Catch::StartsWith("55P03"));
  CHECK(db.run("SELECT pid IS NULL, mode FROM pg_locks WHERE relation = 't'::regclass AND "
               "locktype = 'relation' AND pid IS DISTINCT FROM pg_backend_pid()") ==
        "t|RowExclusiveLock SELECT 1");
  const auto other = db.connect();
  CHECK(db.run(*other, "COMMIT PREPARED 'one'") == "COMMIT PREPARED");
  CHECK(db.run("SELECT * FROM t ORDER BY id") == "1|new 2|two SELECT 2");
  CHECK(db.run(kListed) == "SELECT 0");
  CHECK(db.run("COMMIT PREPARED 'one'") ==
        "42704 prepared transaction with identifier \"one\" does not exist");
}

TEST_CASE("Prepared transactions are there after a restart, with their locks", "[sql][two-phase]") {
  const bool commits = GENERATE(false, true);
  TwoPhaseDatabase db;
  // One table has a primary key, the other has hidden row ids.
  db.run("CREATE TABLE t(id int PRIMARY KEY, v text)");
  db.run("CREATE TABLE u(v text)");
  db.run("INSERT INTO t VALUES (1, 'old')");
  db.run("INSERT INTO u VALUES ('old')");
  db.run("BEGIN");
  db.run("UPDATE t SET v = 'new'");
  db.run("INSERT INTO u VALUES ('new'), ('newer')");
  CHECK(db.run("SELECT pg_advisory_xact_lock(42), pg_advisory_xact_lock_shared(1, 2)") ==
        "| SELECT 1");
  CHECK(db.run("PREPARE TRANSACTION 'one'") == "PREPARE TRANSACTION");
  for (int i = 0; i < 2; ++i) {
    db.restart();
    CHECK(db.run(kListed) == "one|postgres|postgres SELECT 1");
    CHECK_THAT(db.run("SELECT * FROM t FOR UPDATE NOWAIT"), Catch::StartsWith("55P03"));
    CHECK_THAT(db.run("LOCK TABLE u IN SHARE MODE NOWAIT"), Catch::StartsWith("25P01"));
    CHECK_THAT(db.run("BEGIN; LOCK TABLE u IN SHARE MODE NOWAIT"), Catch::StartsWith("55P03"));
    db.run("ROLLBACK");
    CHECK(db.run("SELECT pg_try_advisory_lock(42), pg_try_advisory_lock(1, 2)") == "f|f SELECT 1");
    CHECK(db.run("SELECT pg_try_advisory_xact_lock_shared(1, 2)") == "t SELECT 1");
    CHECK(db.run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid IS NULL") ==
          "2 SELECT 1");
    // The invisible rows keep their hidden ids to themselves.
    CHECK(db.run("INSERT INTO u VALUES ('meanwhile')") == "INSERT 0 1");
  }
  CHECK(db.run(commits ? "COMMIT PREPARED 'one'" : "ROLLBACK PREPARED 'one'") ==
        (commits ? "COMMIT PREPARED" : "ROLLBACK PREPARED"));
  CHECK(db.run("SELECT v FROM t") == (commits ? "new SELECT 1" : "old SELECT 1"));
  CHECK(db.run("SELECT v FROM u ORDER BY v") == (commits
                                                     ? "meanwhile meanwhile new newer old SELECT 5"
                                                     : "meanwhile meanwhile old SELECT 3"));
  CHECK(db.run("SELECT pg_try_advisory_lock(42)") == "t SELECT 1");
  db.restart();
  CHECK(db.run(kListed) == "SELECT 0");
  CHECK(db.run("SELECT v FROM t") == (commits ? "new SELECT 1" : "old SELECT 1"));
}

TEST_CASE("Definitions of a prepared transaction come with its commit, from whichever session",
          "[sql][two-phase]") {
  const bool restarts = GENERATE(false, true);
  const bool commits = GENERATE(false, true);
  CAPTURE(restarts, commits);
  TwoPhaseDatabase db;
  db.run("CREATE TABLE dropped(v int); INSERT INTO dropped VALUES (7)");
  db.run("CREATE TABLE altered(id int PRIMARY KEY); INSERT INTO altered VALUES (1)");
  db.run("CREATE TABLE truncated(v int); INSERT INTO truncated VALUES (1), (2)");
  db.run("CREATE SEQUENCE numbers; SELECT nextval('numbers')");
  db.run("CREATE ROLE present");
  CHECK(
      db.run("BEGIN; "
             "CREATE TABLE made(id serial PRIMARY KEY, v text); "
             "INSERT INTO made(v) SELECT 'row ' || g FROM generate_series(1, 500) g; "
             "CREATE INDEX made_v ON made(v); CREATE VIEW seen AS SELECT count(*) AS n FROM made; "
             "CREATE SCHEMA s; CREATE TYPE s.mood AS ENUM ('sad', 'happy'); "
             "CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql AS 'SELECT $1 * 2'; "
             "ALTER TABLE altered ADD COLUMN v text DEFAULT 'added'; TRUNCATE truncated; "
             "DROP TABLE dropped; ALTER SEQUENCE numbers RESTART WITH 100; CREATE ROLE newcomer; "
             "COMMENT ON TABLE altered IS 'a comment'; GRANT SELECT ON altered TO present")
          .find("ERROR") == std::string::npos);
  REQUIRE(db.run("PREPARE TRANSACTION 'ddl'") == "PREPARE TRANSACTION");
  if (restarts) db.restart();
  auto other = db.connect();
  // Until then others see none of it, and wait for its locks.
  for (const char* hidden : {"SELECT * FROM made", "SELECT 'sad'::s.mood", "SELECT twice(1)"}) {
    CHECK_THAT(db.run(*other, hidden), Catch::StartsWith("42") || Catch::StartsWith("3F000"));
  }
  db.run(*other, "SET lock_timeout = 30");
  for (const char* locked : {"SELECT * FROM altered", "SELECT * FROM dropped",
                             "CREATE TABLE made(x int)", "SELECT * FROM truncated"}) {
    CHECK_THAT(db.run(*other, locked), Catch::StartsWith("55P03"));
  }
  REQUIRE(db.run(*other, commits ? "COMMIT PREPARED 'ddl'" : "ROLLBACK PREPARED 'ddl'") ==
          (commits ? "COMMIT PREPARED" : "ROLLBACK PREPARED"));
  other.reset();
  for (int i = 0; i < 2; ++i) {
    if (commits) {
      CHECK(db.run("SELECT n FROM seen") == (i == 0 ? "500 SELECT 1" : "501 SELECT 1"));
      CHECK(db.run("SELECT id FROM made WHERE v = 'row 77'") == "77 SELECT 1");
      if (i == 0)
        CHECK(db.run("INSERT INTO made(v) VALUES ('more') RETURNING id > 500") == "t INSERT 0 1");
      CHECK(db.run("SELECT 'happy'::s.mood > 'sad', twice(21)") == "t|42 SELECT 1");
      CHECK(db.run("SELECT * FROM altered") == "1|added SELECT 1");
      CHECK(db.run("SELECT obj_description('altered'::regclass), "
                   "has_table_privilege('present', 'altered', 'SELECT')") ==
            "a comment|t SELECT 1");
      CHECK(db.run("SELECT count(*) FROM truncated") == "0 SELECT 1");
      CHECK_THAT(db.run("SELECT * FROM dropped"), Catch::StartsWith("42P01"));
      if (i == 0) CHECK(db.run("SELECT nextval('numbers')") == "100 SELECT 1");
      CHECK(db.run("SELECT count(*) FROM pg_roles WHERE rolname = 'newcomer'") == "1 SELECT 1");
    } else {
      CHECK_THAT(db.run("SELECT * FROM made"), Catch::StartsWith("42P01"));
      CHECK(db.run("SELECT * FROM altered") == "1 SELECT 1");
      CHECK(db.run("SELECT * FROM dropped") == "7 SELECT 1");
      CHECK(db.run("SELECT count(*) FROM truncated") == "2 SELECT 1");
      if (i == 0) CHECK(db.run("SELECT nextval('numbers') < 100") == "t SELECT 1");
      CHECK(db.run("SELECT count(*) FROM pg_roles WHERE rolname = 'newcomer'") == "0 SELECT 1");
    }
    CHECK(db.engine().verify().value() == std::vector<std::string>{});
    db.restart();
  }
}

TEST_CASE("Who waits for what a prepared transaction has goes on when it is finished",
          "[sql][two-phase]") {
  TwoPhaseDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 10)");
  db.run("BEGIN; UPDATE t SET v = v + 1; PREPARE TRANSACTION 'one'");
  db.restart();
  const auto waiting = db.connect();
  std::string outcome;
  TestSink sink;
  {
    const auto task = Runtime::current().spawn("waiter", [&] {
      const Outcome done = waiting->simple_query("UPDATE t SET v = v * 2 RETURNING v", sink);
      outcome = done ? sink.rows.front() : std::string{done.error().state.code()};
    });
    while (db.run("SELECT count(*) FROM pg_locks WHERE NOT granted") == "0 SELECT 1") {
    }
    // As in PostgreSQL, 0 is a prepared transaction.
    CHECK(db.run("SELECT pg_blocking_pids(pid) FROM pg_locks WHERE NOT granted") == "{0} SELECT 1");
    CHECK(db.run("COMMIT PREPARED 'one'") == "COMMIT PREPARED");
    task->join();
  }
  CHECK(outcome == "22");
}

TEST_CASE("Deferred constraints are asked when a transaction is prepared, whose end it is then",
          "[sql][two-phase]") {
  TwoPhaseDatabase db;
  db.run("CREATE TABLE p(id int PRIMARY KEY)");
  db.run("CREATE TABLE c(p int REFERENCES p DEFERRABLE INITIALLY DEFERRED)");
  db.run("BEGIN; INSERT INTO c VALUES (1)");
  CHECK_THAT(db.run("PREPARE TRANSACTION 'one'"), Catch::StartsWith("23503"));
  CHECK(db.session().transaction_status() == TransactionStatus::idle);
  CHECK(db.run("SELECT count(*) FROM c") == "0 SELECT 1");
  CHECK(db.run(kListed) == "SELECT 0");
  db.run("BEGIN; INSERT INTO c VALUES (1); INSERT INTO p VALUES (1)");
  CHECK(db.run("PREPARE TRANSACTION 'one'") == "PREPARE TRANSACTION");
  // Locks of its foreign keys' checks stay.
  db.restart();
  CHECK(db.run("COMMIT PREPARED 'one'") == "COMMIT PREPARED");
  CHECK(db.run("SELECT * FROM c") == "1 SELECT 1");
}

TEST_CASE("What cannot be prepared is refused as PostgreSQL refuses it", "[sql][two-phase]") {
  TwoPhaseDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY)");
  const std::pair<const char*, const char*> kRefused[] = {
      {"CREATE TEMP TABLE x(i int)",
       "0A000 cannot PREPARE a transaction that has operated on temporary objects"},
      {"LISTEN channel",
       "0A000 cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY"},
      {"NOTIFY channel",
       "0A000 cannot PREPARE a transaction that has executed LISTEN, UNLISTEN, or NOTIFY"},
      {"DECLARE c CURSOR WITH HOLD FOR SELECT 1",
       "0A000 cannot PREPARE a transaction that has created a cursor WITH HOLD"},
      {"SELECT pg_advisory_lock(1), pg_advisory_xact_lock(1)",
       "0A000 cannot PREPARE while holding both session-level and transaction-level locks on the "
       "same object"}};
  for (const auto& [statement, refusal] : kRefused) {
    INFO(statement);
    db.run("BEGIN");
    db.run("INSERT INTO t VALUES (1)");
    db.run(statement);
    CHECK(db.run("PREPARE TRANSACTION 'one'") == refusal);
    CHECK(db.session().transaction_status() == TransactionStatus::idle);
    CHECK(db.run("SELECT count(*) FROM t") == "0 SELECT 1");
    db.run("SELECT pg_advisory_unlock_all()");
  }
  db.run("CREATE TEMP TABLE x(i int); INSERT INTO x VALUES (1)");
  for (const char* use : {"SELECT * FROM x", "INSERT INTO x VALUES (2)", "COPY x TO STDOUT"}) {
    INFO(use);
    db.run("BEGIN");
    db.run(use);
    CHECK_THAT(db.run("PREPARE TRANSACTION 'one'"), Catch::Contains("temporary objects"));
  }
  // An open transaction alone is no reason for a refusal.
  CHECK(db.run("BEGIN; INSERT INTO t VALUES (1); PREPARE TRANSACTION 'one'") ==
        "BEGIN INSERT 0 1 PREPARE TRANSACTION");
  CHECK(db.run("ROLLBACK PREPARED 'one'") == "ROLLBACK PREPARED");
}

TEST_CASE("Only its owner finishes a prepared transaction, in its database", "[sql][two-phase]") {
  TwoPhaseDatabase db;
  db.run("CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN");
  REQUIRE(db.run("CREATE DATABASE other") == "CREATE DATABASE");
  db.run("BEGIN; SET LOCAL ROLE alice; PREPARE TRANSACTION 'of alice'");
  db.restart();
  SessionOptions options;
  options.user = "bob";
  options.backend_pid = 90;
  auto bob = db.database().connect(options);
  REQUIRE(bob);
  CHECK(db.run(**bob, "ROLLBACK PREPARED 'of alice'") ==
        "42501 permission denied to finish prepared transaction");
  options.user = "postgres";
  options.database = "other";
  options.backend_pid = 91;
  {
    auto elsewhere = db.database().connect(options);
    REQUIRE(elsewhere);
    CHECK(db.run(**elsewhere, "COMMIT PREPARED 'of alice'") ==
          "0A000 prepared transaction belongs to another database");
    CHECK(db.run(**elsewhere, "BEGIN; PREPARE TRANSACTION 'elsewhere'") ==
          "BEGIN PREPARE TRANSACTION");
  }
  CHECK_THAT(db.run("DROP DATABASE other"), Catch::StartsWith("55006"));
  CHECK(db.run(kListed) == "elsewhere|postgres|other of alice|alice|postgres SELECT 2");
  options.database = "postgres";
  options.user = "alice";
  options.backend_pid = 92;
  auto alice = db.database().connect(options);
  REQUIRE(alice);
  CHECK(db.run(**alice, "COMMIT PREPARED 'of alice'") == "COMMIT PREPARED");
  bob->reset();
  alice->reset();
}

TEST_CASE("As many as max_prepared_transactions says, and none by default", "[sql][two-phase]") {
  TwoPhaseDatabase db;
  for (int i = 0; i < 5; ++i) {
    CHECK(db.run("BEGIN; PREPARE TRANSACTION 'p" + std::to_string(i) + "'") ==
          "BEGIN PREPARE TRANSACTION");
  }
  CHECK(db.run("BEGIN; PREPARE TRANSACTION 'p5'") ==
        "53200 maximum number of prepared transactions reached");
  CHECK(db.run("BEGIN; PREPARE TRANSACTION 'p0'") ==
        "42710 transaction identifier \"p0\" is already in use");
  // Existing ones can be finished whatever the setting is.
  db.close();
  db.open();
  CHECK(db.run("SHOW max_prepared_transactions") == "0 SHOW");
  CHECK(db.run("COMMIT PREPARED 'p0'") == "COMMIT PREPARED");
  CHECK(db.run("BEGIN; PREPARE TRANSACTION 'p9'") == "55000 prepared transactions are disabled");
  for (int i = 1; i < 5; ++i) db.run("ROLLBACK PREPARED 'p" + std::to_string(i) + "'");
  CHECK(db.run(kListed) == "SELECT 0");
}

}  // namespace swizzle::sql
