#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

/// Query on pg_locks for the relation `t` and the lock kinds that SQL knows.
constexpr const char* kLocksOfT =
    "SELECT pid, mode, granted FROM pg_locks WHERE locktype = 'relation' AND relation = "
    "'t'::regclass ORDER BY pid, mode";

}  // namespace

TEST_CASE("Statements lock what they name, as pg_locks shows", "[sql][session][locks]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int primary key, v int)");
  db.run("INSERT INTO t VALUES (1, 10)");
  db.run("CREATE VIEW w AS SELECT v FROM t");
  db.run("CREATE TABLE u(LIKE t)");
  db.run("CREATE TABLE p(id int PRIMARY KEY); INSERT INTO p VALUES (10)");
  db.run("ALTER TABLE t ADD CONSTRAINT positive CHECK (v > 0) NOT VALID");
  db.run("CREATE FUNCTION g() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'");
  db.run("CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION g()");
  db.run("CREATE INDEX v_of_t ON t(v)");
  const std::pair<const char*, const char*> kinds[] = {
      {"SELECT * FROM t", "1|AccessShareLock|t SELECT 1"},
      {"SELECT * FROM w", "1|AccessShareLock|t SELECT 1"},
      {"SELECT * FROM t FOR UPDATE", "1|RowShareLock|t SELECT 1"},
      {"UPDATE t SET v = 11", "1|RowExclusiveLock|t SELECT 1"},
      {"WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d", "1|RowExclusiveLock|t SELECT 1"},
      {"WITH d AS (DELETE FROM t RETURNING *) INSERT INTO u SELECT * FROM d",
       "1|RowExclusiveLock|t SELECT 1"},
      {"COPY t TO STDOUT", "1|AccessShareLock|t SELECT 1"},
      {"CREATE INDEX ON t(v)", "1|ShareLock|t SELECT 1"},
      {"ALTER INDEX v_of_t RENAME TO t_by_v", "1|ShareUpdateExclusiveLock|t SELECT 1"},
      {"ANALYZE t", "1|ShareUpdateExclusiveLock|t SELECT 1"},
      {"ALTER TABLE t ADD COLUMN x int", "1|AccessExclusiveLock|t SELECT 1"},
      {"ALTER TABLE t ADD CHECK (v > 0) NOT VALID", "1|AccessExclusiveLock|t SELECT 1"},
      {"ALTER TABLE t VALIDATE CONSTRAINT positive", "1|ShareUpdateExclusiveLock|t SELECT 1"},
      {"ALTER TABLE t ADD FOREIGN KEY (v) REFERENCES p", "1|ShareRowExclusiveLock|t SELECT 1"},
      {"ALTER TABLE u ADD FOREIGN KEY (v) REFERENCES t", "1|ShareRowExclusiveLock|t SELECT 1"},
      {"ALTER TABLE t DISABLE TRIGGER g", "1|ShareRowExclusiveLock|t SELECT 1"},
      {"ALTER TABLE t DISABLE TRIGGER USER, ALTER v SET STATISTICS 7",
       "1|ShareRowExclusiveLock|t SELECT 1"},
      {"ALTER TABLE t ALTER v SET STATISTICS 7", "1|ShareUpdateExclusiveLock|t SELECT 1"},
      {"ALTER TABLE t SET (fillfactor = 70)", "1|ShareUpdateExclusiveLock|t SELECT 1"},
      {"ALTER TABLE t RESET (fillfactor)", "1|ShareUpdateExclusiveLock|t SELECT 1"},
      {"ALTER TABLE t ALTER v SET DEFAULT 7", "1|AccessExclusiveLock|t SELECT 1"},
      {"LOCK TABLE t IN EXCLUSIVE MODE", "1|ExclusiveLock|t SELECT 1"},
      {"LOCK TABLE w IN SHARE MODE", "1|ShareLock|t SELECT 1"}};
  for (const auto& [statement, locks] : kinds) {
    INFO(statement);
    db.run("BEGIN");
    db.run(statement);
    CHECK(db.run(*other, kLocksOfT) == locks);
    db.run("ROLLBACK");
    CHECK(db.run(*other, kLocksOfT) == "SELECT 0");
  }
}

// PostgreSQL 15's table of conflicts, through LOCK TABLE.
TEST_CASE("LOCK TABLE: every pair of modes", "[sql][session][locks]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int primary key)");
  constexpr std::array<const char*, 8> modes{
      "ACCESS SHARE", "ROW SHARE",           "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE",
      "SHARE",        "SHARE ROW EXCLUSIVE", "EXCLUSIVE",     "ACCESS EXCLUSIVE"};
  constexpr std::array<std::string_view, 8> conflicts{".......X", "......XX", "....XXXX",
                                                      "...XXXXX", "..XX.XXX", "..XXXXXX",
                                                      ".XXXXXXX", "XXXXXXXX"};
  for (std::size_t a = 0; a < modes.size(); ++a) {
    for (std::size_t b = 0; b < modes.size(); ++b) {
      INFO(modes[a] << ", then " << modes[b]);
      db.run("BEGIN");
      db.run(*other, "BEGIN");
      CHECK(db.run(std::string{"LOCK TABLE t IN "} + modes[a] + " MODE") == "LOCK TABLE");
      CHECK(db.run(*other, std::string{"LOCK TABLE t IN "} + modes[b] + " MODE NOWAIT") ==
            (conflicts[a][b] == '.' ? "LOCK TABLE"
                                    : "55P03 could not obtain lock on relation \"t\""));
      db.run("ROLLBACK");
      db.run(*other, "ROLLBACK");
    }
  }
  CHECK(db.run("LOCK TABLE t") == "25P01 LOCK TABLE can only be used in transaction blocks");
  db.run("BEGIN READ ONLY");
  CHECK(db.run("LOCK TABLE t IN ROW EXCLUSIVE MODE") == "LOCK TABLE");
  CHECK(db.run("LOCK TABLE t") == "LOCK TABLE");
}

TEST_CASE("A definition waits for readers, at every level, and readers for it",
          "[sql][session][locks]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int primary key, v int)");
  db.run("INSERT INTO t SELECT i, i FROM generate_series(1, 1000) i");
  db.run(*other, "SET lock_timeout = '20ms'");
  for (const char* level : {"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}) {
    for (const char* change : {"DROP TABLE t", "TRUNCATE t", "ALTER TABLE t ALTER v TYPE bigint",
                               "ALTER TABLE t ADD COLUMN x int", "DROP INDEX t_v"}) {
      db.run("CREATE INDEX t_v ON t(v)");
      INFO(level << ": " << change);
      db.run(std::string{"BEGIN ISOLATION LEVEL "} + level);
      CHECK(db.run("SELECT count(*) FROM t") == "1000 SELECT 1");
      CHECK(db.run(*other, change) == "55P03 canceling statement due to lock timeout");
      CHECK(db.run("SELECT count(*) FROM t") == "1000 SELECT 1");
      db.run("COMMIT");
      // The other way round.
      db.run("BEGIN");
      CHECK(db.run(change).substr(0, 5) != "55P03");
      CHECK(db.run(*other, "SELECT count(*) FROM t") ==
            "55P03 canceling statement due to lock timeout");
      db.run("ROLLBACK");
      CHECK(db.run(*other, "SELECT count(*) FROM t") == "1000 SELECT 1");
    }
  }
  // CREATE INDEX runs beside readers, but not beside writers.
  db.run("DROP INDEX t_v");
  db.run("BEGIN");
  db.run("CREATE INDEX t_v ON t(v)");
  CHECK(db.run(*other, "SELECT count(*) FROM t WHERE v = 5") == "1 SELECT 1");
  CHECK(db.run(*other, "UPDATE t SET v = 0 WHERE id = 1") ==
        "55P03 canceling statement due to lock timeout");
  db.run("COMMIT");
}

TEST_CASE("A foreign key's table is locked while the key is made", "[sql][session][locks]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int primary key)");
  db.run("BEGIN");
  CHECK(db.run("CREATE TABLE child(t int references t)") == "CREATE TABLE");
  CHECK(db.run(*other, kLocksOfT) == "1|ShareRowExclusiveLock|t SELECT 1");
  CHECK(db.run(*other, "SELECT count(*) FROM t") == "0 SELECT 1");
  db.run("COMMIT");
  // A foreign key's check locks the referenced row.
  db.run("INSERT INTO t VALUES (1)");
  db.run("BEGIN");
  CHECK(db.run("INSERT INTO child VALUES (1)") == "INSERT 0 1");
  CHECK(db.run(*other, kLocksOfT) == "1|RowShareLock|t SELECT 1");
  db.run("COMMIT");
}

TEST_CASE("Statements that run while definitions change see one or the other",
          "[sql][session][locks]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int primary key, v int)");
  db.run("INSERT INTO t SELECT i, 1 FROM generate_series(1, 500) i");
  std::atomic<bool> stop{false};
  std::atomic<int> reads{0};
  std::string wrong;
  std::thread reader{[&] {
    TestSink sink;
    while (!stop) {
      sink.clear();
      const Outcome outcome = other->simple_query("SELECT sum(v), count(*) FROM t", sink);
      if (!outcome) {
        wrong = std::string{outcome.error().state.code()} + " " + outcome.error().message;
        return;
      }
      if (sink.rows != std::vector<std::string>{"500|500"}) wrong = sink.rows.front();
      ++reads;
    }
  }};
  // Each makes a new tree and drops the old one.
  for (int i = 0; i < 30 || reads < 30; ++i) {
    const char* const type = i % 2 == 0 ? "bigint" : "int";
    if (db.run(std::string{"ALTER TABLE t ALTER v TYPE "} + type) != "ALTER TABLE") break;
    if (!wrong.empty()) break;
  }
  stop = true;
  reader.join();
  CHECK(wrong.empty());
}

TEST_CASE("Nothing is left to be redone or rolled back after a clean start", "[sql][session]") {
  TestDatabase db;
  CHECK(db.run("SELECT count(*), count(since) FROM swizzle_recovery") == "0|0 SELECT 1");
}

TEST_CASE("The snapshot that versions are kept for is visible", "[sql][session]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int primary key, v int)");
  db.run("INSERT INTO t SELECT i, i FROM generate_series(1, 100) i");
  db.run(*other, "BEGIN ISOLATION LEVEL REPEATABLE READ");
  db.run(*other, "SELECT count(*) FROM t");
  for (int i = 0; i < 5; ++i) db.run("UPDATE t SET v = v + 1");
  CHECK(
      db.run(
          "SELECT pid, held_bytes > 5 * 100 * 72, too_old FROM swizzle_snapshots WHERE pid = 2") ==
      "2|t|f SELECT 1");
  CHECK(db.run("SELECT bytes > 5 * 100 * 72, snapshots_given_up FROM swizzle_version_store") ==
        "t|0 SELECT 1");
  db.run(*other, "COMMIT");
  CHECK(db.run("SELECT count(*) FROM swizzle_snapshots WHERE pid = 2") == "0 SELECT 1");
}

TEST_CASE("P40 a row that moved in an index is found where the snapshot has it", "[sql][session]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int primary key, v int, w text)");
  db.run("CREATE INDEX t_v ON t(v)");
  db.run("INSERT INTO t SELECT i, i, 'row ' || i FROM generate_series(1, 300) i");
  db.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
  CHECK(db.run("SELECT count(*) FROM t") == "300 SELECT 1");
  db.run(*other, "UPDATE t SET v = v + 1000 WHERE id % 3 = 0");
  db.run(*other, "DELETE FROM t WHERE id % 3 = 1");
  db.run(*other, "INSERT INTO t SELECT i, i - 1000, 'new' FROM generate_series(1001, 1100) i");
  // Through the old key and not the new one; a scan of the index alone agrees with the table.
  CHECK(db.run("SELECT id, w FROM t WHERE v = 6") == "6|row 6 SELECT 1");
  CHECK(db.run("SELECT id FROM t WHERE v = 1006") == "SELECT 0");
  CHECK(db.run("SELECT count(*), sum(v) FROM t WHERE v BETWEEN 1 AND 5000") ==
        "300|45150 SELECT 1");
  CHECK(db.run("SELECT v FROM t WHERE v > 297 ORDER BY v") == "298 299 300 SELECT 3");
  CHECK(db.run("SELECT v FROM t WHERE v < 4 ORDER BY v DESC") == "3 2 1 SELECT 3");
  CHECK(db.run("SELECT count(*) FROM t a JOIN t b ON a.v = b.v") == "300 SELECT 1");
  db.run("COMMIT");
  CHECK(db.run("SELECT id FROM t WHERE v = 6 ORDER BY id") == "1006 SELECT 1");
  CHECK(db.run("SELECT id FROM t WHERE v = 1006") == "6 SELECT 1");
}

TEST_CASE("SERIALIZABLE READ ONLY DEFERRABLE reads a snapshot where others lock what they read",
          "[sql][session]") {
  TestDatabase db;
  db.run("SET serializable_method = locking");
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int primary key, v int)");
  db.run("INSERT INTO t VALUES (1, 10)");
  db.run(*other, "SET lock_timeout = '20ms'");
  db.run("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE");
  CHECK(db.run("SHOW transaction_isolation") == "serializable SHOW");
  CHECK(db.run("SELECT v FROM t") == "10 SELECT 1");
  CHECK(db.run(*other, "UPDATE t SET v = 11") == "UPDATE 1");
  CHECK(db.run("SELECT v FROM t") == "10 SELECT 1");
  CHECK(db.run("UPDATE t SET v = 12").starts_with("25006"));
  db.run("ROLLBACK");
  // Other levels lock what they read.
  db.run("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY");
  CHECK(db.run("SELECT v FROM t") == "11 SELECT 1");
  CHECK(db.run(*other, "UPDATE t SET v = 12").starts_with("55P03"));
  db.run("COMMIT");
}

TEST_CASE("SET transaction_isolation is for the present transaction", "[sql][session]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int primary key, v int)");
  db.run("INSERT INTO t VALUES (1, 10)");
  db.run("BEGIN");
  CHECK(db.run("SET transaction_isolation = 'repeatable read'") == "SET");
  CHECK(db.run("SHOW transaction_isolation") == "repeatable read SHOW");
  CHECK(db.run("SELECT v FROM t") == "10 SELECT 1");
  db.run(*other, "UPDATE t SET v = 11");
  CHECK(db.run("SELECT v FROM t") == "10 SELECT 1");
  CHECK(db.run("SET transaction_isolation = 'serializable'").starts_with("25001"));
  db.run("ROLLBACK");
  CHECK(db.run("SELECT v FROM t") == "11 SELECT 1");
  CHECK(db.run("SHOW transaction_isolation") == "read committed SHOW");
}

TEST_CASE("A rollback to a savepoint ends the locks on relations that were taken since",
          "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t (id int PRIMARY KEY, a int); INSERT INTO t VALUES (1, 10)");
  const auto other = db.connect();
  const std::string statement =
      GENERATE("SELECT * FROM t", "UPDATE t SET a = 11", "INSERT INTO t VALUES (2, 20)",
               "SELECT * FROM t FOR UPDATE", "LOCK TABLE t IN SHARE UPDATE EXCLUSIVE MODE");
  const bool reads_before = GENERATE(false, true);
  INFO(statement << ", read before: " << reads_before);
  db.run("BEGIN");
  if (reads_before) db.run("SELECT * FROM t");
  db.run("SAVEPOINT s; " + statement);
  CHECK_THAT(db.run(*other, "LOCK TABLE t IN ACCESS EXCLUSIVE MODE NOWAIT"),
             Catch::StartsWith("25P01"));
  CHECK_THAT(db.run(*other, "BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE NOWAIT"),
             Catch::StartsWith("55P03"));
  db.run(*other, "ROLLBACK");
  db.run("ROLLBACK TO s");
  CHECK(db.run("SELECT count(*) FROM pg_locks JOIN pg_class ON relation = pg_class.oid WHERE "
               "relname = 't' AND mode <> 'AccessShareLock'") == "0 SELECT 1");
  const std::string locked = db.run(*other, "BEGIN; LOCK TABLE t IN SHARE MODE NOWAIT");
  CHECK(locked == "BEGIN LOCK TABLE");
  db.run(*other, "ROLLBACK");
  CHECK_THAT(db.run(*other, "BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE NOWAIT"),
             Catch::StartsWith(reads_before ? "55P03" : "BEGIN LOCK TABLE"));
  db.run(*other, "ROLLBACK");
  CHECK(db.run("UPDATE t SET a = 12 WHERE id = 1") == "UPDATE 1");
  CHECK(db.run("COMMIT") == "COMMIT");
}
