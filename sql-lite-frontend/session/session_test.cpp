#include "sql-lite-frontend/session.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

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
  for (const char* sql : {"CREATE TABLE a(x int) PARTITION BY RANGE (x)",
                          "CREATE TRIGGER t BEFORE INSERT ON a "
                          "EXECUTE FUNCTION f()",
                          "MERGE INTO a USING b ON true WHEN MATCHED THEN DO NOTHING",
                          "CREATE TYPE mood AS ENUM ('a')", "LISTEN x", "PREPARE TRANSACTION 'x'",
                          "SELECT 1 GROUP BY ROLLUP (1)", "CREATE MATERIALIZED VIEW m AS SELECT 1",
                          "CREATE EXTENSION e", "GRANT SELECT ON a TO b", "DO 'x'"}) {
    INFO(sql);
    CHECK(db.run(sql).starts_with("0A000"));
  }
}
