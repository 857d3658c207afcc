#include <catch2/catch.hpp>
#include <stdexcept>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

// Ends of requests: by the session itself, by a bug of ours, by a savepoint's rollback.

namespace {

std::string error_of(const Outcome& outcome) {
  if (outcome) return "none";
  return std::string{outcome.error().state.code()} + " " + outcome.error().message;
}

/// A client's sink that fails with an exception other than SqlError.
class Failing : public TestSink {
 public:
  void data_row(const OutputRow&) override { throw std::length_error{"too long for this sink"}; }
};

Outcome parse_bind(Session& session, std::string_view name, std::string_view sql) {
  TestSink sink;
  if (Outcome parsed = session.parse(name, sql, {}, sink); !parsed) return parsed;
  return session.bind(
      {.portal = name, .statement = name, .formats = {}, .values = {}, .result_formats = {}}, sink);
}

}  // namespace

TEST_CASE("A statement that ends its own session changes nothing", "[sql][session]") {
  for (const char* statement :
       {"INSERT INTO t SELECT pg_backend_pid() WHERE pg_terminate_backend(pg_backend_pid())",
        "INSERT INTO t VALUES (7), (pg_terminate_backend(pg_backend_pid())::int)",
        "UPDATE t SET a = 9 WHERE pg_terminate_backend(pg_backend_pid())",
        "DELETE FROM t WHERE pg_terminate_backend(pg_backend_pid())"}) {
    INFO(statement);
    TestDatabase db;
    db.run("CREATE TABLE t(a int); INSERT INTO t VALUES (1)");
    const auto other = db.connect();
    CHECK(db.run(*other, statement) == "57P01 terminating connection due to administrator command");
    CHECK(other->termination().has_value());
    CHECK(db.run("SELECT a FROM t") == "1 SELECT 1");
  }
}

TEST_CASE("An exception of another kind ends one request", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(a int)");
  Failing sink;
  CHECK(error_of(db.session().simple_query("INSERT INTO t VALUES (1) RETURNING a", sink)) ==
        "XX000 too long for this sink");
  CHECK(db.session().transaction_status() == TransactionStatus::idle);
  CHECK(db.run("SELECT a FROM t") == "SELECT 0");
  db.run("BEGIN");
  CHECK(error_of(db.session().simple_query("SELECT 1", sink)) == "XX000 too long for this sink");
  CHECK(db.session().transaction_status() == TransactionStatus::failed);
  CHECK(db.run("ROLLBACK") == "ROLLBACK");
  CHECK(db.run("INSERT INTO t VALUES (2)") == "INSERT 0 1");
}

TEST_CASE("Portals of the protocol end with the savepoint that they were opened after",
          "[sql][session]") {
  TestDatabase db;
  Session& session = db.session();
  TestSink sink;
  db.run("BEGIN");
  REQUIRE(parse_bind(session, "before", "SELECT g FROM generate_series(1, 5) g"));
  REQUIRE(session.execute("before", 2, sink));
  db.run("SAVEPOINT s");
  REQUIRE(parse_bind(session, "after", "SELECT g FROM generate_series(1, 5) g"));
  REQUIRE(session.execute("after", 2, sink));
  REQUIRE(parse_bind(session, "unread", "SELECT 1"));
  CHECK(
      db.run("SELECT name, is_holdable, is_binary, is_scrollable FROM pg_cursors ORDER BY name") ==
      "after|f|f|f before|f|f|f unread|f|f|f SELECT 3");
  db.run("ROLLBACK TO s");
  CHECK(error_of(session.execute("after", 2, sink)) == "34000 portal \"after\" does not exist");
  db.run("ROLLBACK TO s");
  CHECK(error_of(session.execute("unread", 2, sink)) == "34000 portal \"unread\" does not exist");
  db.run("ROLLBACK TO s");
  sink.clear();
  REQUIRE(session.execute("before", 0, sink));
  CHECK(sink.rows == std::vector<std::string>{"3", "4", "5"});
  // A portal that RELEASE hands on to the outer level is closed by an earlier savepoint's rollback.
  db.run("SAVEPOINT outer_one; SAVEPOINT inner_one");
  REQUIRE(parse_bind(session, "kept", "SELECT 1"));
  db.run("RELEASE inner_one");
  REQUIRE(session.execute("kept", 0, sink));
  db.run("ROLLBACK TO outer_one");
  CHECK(error_of(session.execute("kept", 0, sink)) == "34000 portal \"kept\" does not exist");
  db.run("ROLLBACK");
}

// As in PostgreSQL 15.
TEST_CASE("Whether a cursor goes back follows from its query", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, v int)");
  const std::pair<const char*, const char*> queries[] = {
      {"SELECT * FROM t", "t"},
      {"SELECT v + 1 FROM t WHERE id > 3 ORDER BY v", "t"},
      {"SELECT * FROM t LIMIT 3", "t"},
      {"SELECT 1", "f"},
      {"VALUES (1), (2)", "t"},
      {"SELECT g FROM generate_series(1, 3) g", "t"},
      {"SELECT id FROM t UNION ALL SELECT v FROM t", "t"},
      {"SELECT v, count(*) FROM t GROUP BY v", "f"},
      {"SELECT v, count(*) FROM t GROUP BY v ORDER BY count(*)", "t"},
      {"SELECT count(*) FROM t", "f"},
      {"SELECT a.id FROM t a, t b", "f"},
      {"SELECT a.id FROM t a JOIN t b ON a.v = b.id ORDER BY b.v", "t"},
      {"SELECT id, row_number() OVER () FROM t", "f"},
      {"SELECT * FROM t FOR UPDATE", "f"},
  };
  for (const auto& [query, goes_back] : queries) {
    INFO(query);
    db.run("BEGIN");
    db.run(std::string{"DECLARE c CURSOR FOR "} + query);
    CHECK(db.run("SELECT is_scrollable FROM pg_cursors") == std::string{goes_back} + " SELECT 1");
    const bool goes = std::string_view{goes_back} == "t";
    CHECK(db.run("FETCH BACKWARD 1 FROM c") ==
          (goes ? "FETCH 0" : "55000 cursor can only scan forward"));
    db.run("ROLLBACK");
  }
}

TEST_CASE("pg_cursors shows what is open", "[sql][session]") {
  TestDatabase db;
  db.run("BEGIN");
  db.run("DECLARE a CURSOR FOR SELECT 1");
  db.run("DECLARE b BINARY NO SCROLL CURSOR WITH HOLD FOR SELECT 2");
  const char* kOpen =
      "SELECT name, statement, is_holdable, is_binary, is_scrollable, creation_time <= "
      "clock_timestamp() FROM pg_cursors ORDER BY name";
  CHECK(db.run(kOpen) ==
        "a|DECLARE a CURSOR FOR SELECT 1|f|f|f|t "
        "b|DECLARE b BINARY NO SCROLL CURSOR WITH HOLD FOR SELECT 2|t|t|f|t SELECT 2");
  db.run("CLOSE a");
  db.run("COMMIT");
  CHECK(db.run("SELECT name FROM pg_cursors") == "b SELECT 1");
  db.run("CLOSE ALL");
  CHECK(db.run("SELECT name FROM pg_cursors") == "SELECT 0");
}

TEST_CASE("Messages for debugging go to the clients that want them", "[sql][session]") {
  TestDatabase db;
  const auto told = [&](const std::string& sql) {
    db.run(sql);
    std::string text;
    for (const Diagnostic& notice : db.sink().notices) {
      text += std::string{severity_name(notice.severity)} + " " + notice.message + "\n";
    }
    return text;
  };
  const std::string create = "CREATE TABLE t(a int PRIMARY KEY, b serial UNIQUE, c int)";
  CHECK(told(create) == "");
  db.run("DROP TABLE t; SET client_min_messages = debug1");
  CHECK(told(create) ==
        "DEBUG CREATE TABLE will create implicit sequence \"t_b_seq\" for serial column \"t.b\"\n"
        "DEBUG CREATE TABLE / PRIMARY KEY will create implicit index \"t_pkey\" for table \"t\"\n"
        "DEBUG CREATE TABLE / UNIQUE will create implicit index \"t_b_key\" for table \"t\"\n");
  CHECK(told("CREATE INDEX ON t(c)") ==
        "DEBUG building index \"t_c_idx\" on table \"t\" serially\n");
  CHECK(told("ALTER TABLE t ADD UNIQUE (c)") ==
        "DEBUG ALTER TABLE / ADD UNIQUE will create implicit index \"t_c_key\" for table \"t\"\n"
        "DEBUG building index \"t_c_key\" on table \"t\" serially\n");
  CHECK(told("ALTER TABLE t ADD FOREIGN KEY (c) REFERENCES t (a)") ==
        "DEBUG validating foreign key constraint \"t_c_fkey\"\n");
  CHECK(told("ALTER TABLE t ADD CHECK (c > 0)") == "DEBUG verifying table \"t\"\n");
  CHECK(told("ALTER TABLE t ALTER c SET NOT NULL") == "DEBUG verifying table \"t\"\n");
  db.run("SET client_min_messages = log");
  CHECK(told("CREATE INDEX ON t(c)") == "");
  CHECK(told("DROP TABLE IF EXISTS nosuch") ==
        "NOTICE table \"nosuch\" does not exist, skipping\n");
  db.run("SET client_min_messages = warning");
  CHECK(told("DROP TABLE IF EXISTS nosuch") == "");
  CHECK(told("COMMIT") == "WARNING there is no transaction in progress\n");
  db.run("SET client_min_messages = error");
  CHECK(told("COMMIT") == "");
}
