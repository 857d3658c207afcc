#include "sql-lite-frontend/session.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "base/posix_file_system.h"
#include "sql-lite-frontend/session/test_sink.h"
#include "storage/engine.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

/// A database in a fresh directory, with one session.
class Fixture {
 public:
  Fixture() {
    directory_ =
        std::filesystem::temp_directory_path() / ("swizzle-sql-test-" + std::to_string(::getpid()));
    std::filesystem::remove_all(directory_);
    options_.pool_bytes = std::uint64_t{64} << 20U;
    options_.log_segment_bytes = std::uint64_t{1} << 20U;
    REQUIRE(Engine::create(files_, directory_, options_));
    open();
  }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;
  ~Fixture() {
    close();
    std::filesystem::remove_all(directory_);
  }

  void open() {
    auto engine = Engine::open(files_, directory_, options_);
    REQUIRE(engine);
    engine_ = std::move(*engine);
    auto database = Database::open(*engine_);
    REQUIRE(database);
    database_ = std::move(*database);
    session_ = connect();
  }
  void close() {
    session_.reset();
    database_.reset();
    CHECK(engine_->close());
    engine_.reset();
  }
  std::unique_ptr<Session> connect() {
    SessionOptions options;
    options.backend_pid = ++pid_;
    auto session = database_->connect(options);
    REQUIRE(session);
    return std::move(*session);
  }
  Session& session() { return *session_; }

  /// Rows joined by spaces, then the tags; or "SQLSTATE message".
  std::string run(const std::string& sql) { return run(*session_, sql); }
  std::string run(Session& session, const std::string& sql) {
    sink_.clear();
    const Outcome outcome = session.simple_query(sql, sink_);
    if (!outcome) {
      return std::string{outcome.error().state.code()} + " " + outcome.error().message;
    }
    std::string text;
    for (const std::string& row : sink_.rows) text += row + " ";
    for (const std::string& tag : sink_.tags) text += tag + " ";
    if (!text.empty()) text.pop_back();
    return text;
  }
  TestSink& sink() { return sink_; }

 private:
  PosixFileSystem files_;
  EngineOptions options_;
  std::filesystem::path directory_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Session> session_;
  TestSink sink_;
  std::int32_t pid_ = 0;
};

}  // namespace

TEST_CASE("A table is written and read by key", "[sql][session]") {
  Fixture db;
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
  Fixture db;
  // The OR keeps the join from hashing: the working table is the inner side of a loop.
  CHECK(db.run("WITH RECURSIVE x(a, d) AS (SELECT 1, 0 UNION ALL SELECT t.v, d + 1 FROM (VALUES "
               "(1, 2), (2, 3)) t(k, v), x WHERE t.k = x.a OR t.k = x.a + 100) SELECT a, d FROM "
               "x") == "1|0 2|1 3|2 SELECT 3");
}

TEST_CASE("Transactions and savepoints", "[sql][session]") {
  Fixture db;
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
  Fixture db;
  db.run("CREATE TABLE t(id serial primary key, v text unique not null default 'x')");
  db.run("INSERT INTO t(v) VALUES ('a')");
  db.close();
  db.open();
  CHECK(db.run("SELECT * FROM t") == "1|a SELECT 1");
  CHECK(db.run("INSERT INTO t(v) VALUES ('a')").starts_with("23505"));
  CHECK(db.run("INSERT INTO t(v) VALUES (NULL)").starts_with("23502"));
}

TEST_CASE("Prepared statements take typed parameters", "[sql][session]") {
  Fixture db;
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
  Fixture db;
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
  Fixture db;
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
        "n|t| SELECT id AS k, upper(v) AS u FROM t; SELECT 1");
  CHECK(db.run("SELECT relkind FROM pg_class WHERE relname = 'n'") == "m SELECT 1");
  db.close();
  db.open();
  CHECK(db.run("REFRESH MATERIALIZED VIEW n; SELECT count(*) FROM n") ==
        "2 REFRESH MATERIALIZED VIEW SELECT 1");
  CHECK(db.run("DROP MATERIALIZED VIEW n") == "DROP MATERIALIZED VIEW");
  CHECK(db.run("DROP TABLE t") == "DROP TABLE");
}

TEST_CASE("txid_current() names the transaction, whether it writes or not", "[sql][session]") {
  Fixture db;
  const std::string first = db.run("SELECT txid_current()");
  CHECK(db.run("SELECT txid_current()") != first);
  CHECK(db.run("BEGIN; SELECT txid_current() = txid_current()") == "t BEGIN SELECT 1");
}

TEST_CASE("A deferred foreign key looks at what is there at the end", "[sql][session]") {
  Fixture db;
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
  Fixture db;
  db.run("BEGIN; DECLARE c NO SCROLL CURSOR FOR SELECT generate_series(1, 3)");
  CHECK(db.run("FETCH 0 FROM c") == "FETCH 0");
  CHECK(db.run("FETCH 1 FROM c") == "1 FETCH 1");
  CHECK(db.run("MOVE 0 FROM c") == "MOVE 1");
  CHECK(db.run("FETCH 0 FROM c").starts_with("55000"));
}

TEST_CASE("What is wrong with constants is said at Bind", "[sql][session]") {
  Fixture db;
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
  Fixture db;
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
  Fixture db;
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
  Fixture db;
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
  Fixture db;
  db.session().cancel();
  CHECK(db.run("SELECT count(*) FROM generate_series(1, 10000)") == "10000 SELECT 1");
}

TEST_CASE("Another session sees what is committed, and waits for nobody to read",
          "[sql][session]") {
  Fixture db;
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
  Fixture db;
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
  Fixture db;
  for (const char* sql :
       {"CREATE TABLE a(x int) PARTITION BY RANGE (x)",
        "CREATE TRIGGER t BEFORE INSERT ON a "
        "EXECUTE FUNCTION f()",
        "MERGE INTO a USING b ON true WHEN MATCHED THEN DO NOTHING",
        "CREATE TYPE mood AS ENUM ('a')", "PREPARE TRANSACTION 'x'", "SELECT 1 GROUP BY ROLLUP (1)",
        "CREATE EXTENSION e", "GRANT USAGE ON LANGUAGE sql TO PUBLIC", "DO 'x'"}) {
    INFO(sql);
    CHECK(db.run(sql).starts_with("0A000"));
  }
}

namespace {

/// What pg_locks says of the relation `t` and the kinds of lock that SQL knows.
constexpr const char* kLocksOfT =
    "SELECT pid, mode, granted FROM pg_locks WHERE locktype = 'relation' AND relation = "
    "'t'::regclass ORDER BY pid, mode";

}  // namespace

TEST_CASE("Statements lock what they name, as pg_locks shows", "[sql][session][locks]") {
  Fixture db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int primary key, v int)");
  db.run("INSERT INTO t VALUES (1, 10)");
  db.run("CREATE VIEW w AS SELECT v FROM t");
  const std::pair<const char*, const char*> kinds[] = {
      {"SELECT * FROM t", "1|AccessShareLock|t SELECT 1"},
      {"SELECT * FROM w", "1|AccessShareLock|t SELECT 1"},
      {"SELECT * FROM t FOR UPDATE", "1|RowShareLock|t SELECT 1"},
      {"UPDATE t SET v = 11", "1|RowExclusiveLock|t SELECT 1"},
      {"COPY t TO STDOUT", "1|AccessShareLock|t SELECT 1"},
      {"CREATE INDEX ON t(v)", "1|ShareLock|t SELECT 1"},
      {"ANALYZE t", "1|ShareUpdateExclusiveLock|t SELECT 1"},
      {"ALTER TABLE t ADD COLUMN x int", "1|AccessExclusiveLock|t SELECT 1"},
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
  Fixture db;
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
  CHECK(db.run("LOCK TABLE t") == "25006 cannot execute LOCK TABLE in a read-only transaction");
}

TEST_CASE("A definition waits for readers, at every level, and readers for it",
          "[sql][session][locks]") {
  Fixture db;
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
      // And the other way round.
      db.run("BEGIN");
      CHECK(db.run(change).substr(0, 5) != "55P03");
      CHECK(db.run(*other, "SELECT count(*) FROM t") ==
            "55P03 canceling statement due to lock timeout");
      db.run("ROLLBACK");
      CHECK(db.run(*other, "SELECT count(*) FROM t") == "1000 SELECT 1");
    }
  }
  // An index is built beside readers, but not beside writers.
  db.run("DROP INDEX t_v");
  db.run("BEGIN");
  db.run("CREATE INDEX t_v ON t(v)");
  CHECK(db.run(*other, "SELECT count(*) FROM t WHERE v = 5") == "1 SELECT 1");
  CHECK(db.run(*other, "UPDATE t SET v = 0 WHERE id = 1") ==
        "55P03 canceling statement due to lock timeout");
  db.run("COMMIT");
}

TEST_CASE("A foreign key's table is locked while the key is made", "[sql][session][locks]") {
  Fixture db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int primary key)");
  db.run("BEGIN");
  CHECK(db.run("CREATE TABLE child(t int references t)") == "CREATE TABLE");
  CHECK(db.run(*other, kLocksOfT) == "1|ShareRowExclusiveLock|t SELECT 1");
  CHECK(db.run(*other, "SELECT count(*) FROM t") == "0 SELECT 1");
  db.run("COMMIT");
  // A row that refers to another is checked by a reader that locks it.
  db.run("INSERT INTO t VALUES (1)");
  db.run("BEGIN");
  CHECK(db.run("INSERT INTO child VALUES (1)") == "INSERT 0 1");
  CHECK(db.run(*other, kLocksOfT) == "1|RowShareLock|t SELECT 1");
  db.run("COMMIT");
}

TEST_CASE("Statements that run while definitions change see one or the other",
          "[sql][session][locks]") {
  Fixture db;
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
  CHECK(wrong == "");
}

TEST_CASE("The snapshot that versions are kept for is visible", "[sql][session]") {
  Fixture db;
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
  Fixture db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int primary key, v int, w text)");
  db.run("CREATE INDEX t_v ON t(v)");
  db.run("INSERT INTO t SELECT i, i, 'row ' || i FROM generate_series(1, 300) i");
  db.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
  CHECK(db.run("SELECT count(*) FROM t") == "300 SELECT 1");
  db.run(*other, "UPDATE t SET v = v + 1000 WHERE id % 3 = 0");
  db.run(*other, "DELETE FROM t WHERE id % 3 = 1");
  db.run(*other, "INSERT INTO t SELECT i, i - 1000, 'new' FROM generate_series(1001, 1100) i");
  // Through the old key and not through the new one; the index alone says the same as the table.
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

TEST_CASE("SERIALIZABLE READ ONLY DEFERRABLE reads a snapshot", "[sql][session]") {
  Fixture db;
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
  // The others lock what they read.
  db.run("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY");
  CHECK(db.run("SELECT v FROM t") == "11 SELECT 1");
  CHECK(db.run(*other, "UPDATE t SET v = 12").starts_with("55P03"));
  db.run("COMMIT");
}

TEST_CASE("SET transaction_isolation is for the present transaction", "[sql][session]") {
  Fixture db;
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

TEST_CASE("Rows are loaded into a table of the same transaction as if they were inserted",
          "[sql][session]") {
  Fixture db;
  db.run("BEGIN");
  db.run("CREATE TABLE t(id int primary key, parent int REFERENCES t, v text)");
  db.run("CREATE INDEX t_v ON t(v)");
  db.sink().copy_input = "1\t\\N\ta\n2\t1\tb\n5\t2\tc\n4\t1\td\n9\t5\ta\n";
  CHECK(db.run("COPY t FROM STDIN") == "COPY 5");
  CHECK(db.run("SELECT id FROM t WHERE v = 'a' ORDER BY id") == "1 9 SELECT 2");
  db.run("SAVEPOINT a");
  db.sink().copy_input = "20\t77\tx\n";
  CHECK(db.run("COPY t FROM STDIN").starts_with("23503"));
  db.run("ROLLBACK TO a");
  db.sink().copy_input = "20\t1\tx\n4\t1\tx\n";
  CHECK(db.run("COPY t FROM STDIN").starts_with("23505"));
  db.run("ROLLBACK TO a");
  auto other = db.connect();
  CHECK(db.run(*other, "SELECT count(*) FROM t").starts_with("42P01"));
  CHECK(db.run("COMMIT") == "COMMIT");
  CHECK(db.run(*other, "SELECT * FROM t ORDER BY id") ==
        "1|NULL|a 2|1|b 4|1|d 5|2|c 9|5|a SELECT 5");
  CHECK(db.run("DELETE FROM t WHERE id = 1").starts_with("23503"));
}

TEST_CASE("A load that fails or is rolled back leaves an empty table", "[sql][session]") {
  Fixture db;
  db.run("CREATE TABLE t(id int primary key, v int)");
  db.run("INSERT INTO t SELECT g, g FROM generate_series(1, 3000) g");
  db.run("BEGIN");
  db.run("TRUNCATE t");
  db.run("SAVEPOINT a");
  CHECK(db.run("INSERT INTO t SELECT g, g FROM generate_series(1, 5000) g") == "INSERT 0 5000");
  CHECK(db.run("SELECT count(*), sum(v) FROM t") == "5000|12502500 SELECT 1");
  CHECK(db.run("INSERT INTO t SELECT id + 5000, v FROM t") == "INSERT 0 5000");
  db.run("ROLLBACK TO a");
  CHECK(db.run("SELECT count(*) FROM t") == "0 SELECT 1");
  CHECK(db.run("INSERT INTO t SELECT g, 10 / (g - 2500) FROM generate_series(1, 5000) g")
            .starts_with("22012"));
  db.run("ROLLBACK TO a");
  // Reads nothing of itself.
  CHECK(db.run("INSERT INTO t SELECT id, v FROM t UNION ALL SELECT 1, 1") == "INSERT 0 1");
  CHECK(db.run("SELECT * FROM t") == "1|1 SELECT 1");
  db.run("ROLLBACK");
  CHECK(db.run("SELECT count(*) FROM t") == "3000 SELECT 1");
}

TEST_CASE("Keys and indexes are built over rows that are there", "[sql][session]") {
  Fixture db;
  db.run("CREATE TABLE t(id int, v text, w int)");
  db.run(
      "INSERT INTO t SELECT (g * 7919) % 5003, 'v' || g, g % 10 FROM generate_series(1, 5002) g");
  CHECK(db.run("ALTER TABLE t ADD PRIMARY KEY (id)") == "ALTER TABLE");
  CHECK(db.run("SELECT count(*), min(id), max(id) FROM t") == "5002|1|5002 SELECT 1");
  CHECK(db.run("SELECT v FROM t WHERE id = 7919 % 5003") == "v1 SELECT 1");
  CHECK(db.run("CREATE UNIQUE INDEX t_v ON t(v)") == "CREATE INDEX");
  CHECK(db.run("SELECT id FROM t WHERE v = 'v1'") == "2916 SELECT 1");
  CHECK(db.run("CREATE UNIQUE INDEX t_w ON t(w)").starts_with("23505"));
  db.run("ALTER TABLE t ADD COLUMN x int DEFAULT 4");
  CHECK(db.run("ALTER TABLE t DROP CONSTRAINT t_pkey") == "ALTER TABLE");
  CHECK(db.run("SELECT count(*), sum(x) FROM t WHERE w = 3") == "500|2000 SELECT 1");
  CHECK(db.run("ALTER TABLE t ADD PRIMARY KEY (w)").starts_with("23505"));
  CHECK(db.run("SELECT id, x FROM t WHERE v = 'v1'") == "2916|4 SELECT 1");
}
