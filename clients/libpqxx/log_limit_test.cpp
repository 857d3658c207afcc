#include <libpq-fe.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <pqxx/pqxx>
#include <string>
#include <thread>

#include "clients/testing/swizzled_process.h"

/// A transaction that keeps too much of the log is ended, whatever its session is doing.
namespace swizzle::clients {
namespace {

using namespace std::chrono_literals;

/// A client of plain libpq, which also shows messages that the client has not asked for.
class Client {
 public:
  explicit Client(const SwizzledProcess& server)
      : connection_(PQconnectdb(server.conninfo().c_str())) {
    REQUIRE(PQstatus(connection_) == CONNECTION_OK);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { PQfinish(connection_); }
  [[nodiscard]] PGconn* get() const noexcept { return connection_; }

  /// Returns the first SQLSTATE with which it fails or that the server has sent before; empty if
  /// none.
  std::string run(const char* sql) {
    PQsendQuery(connection_, sql);
    std::string first;
    while (PGresult* const result = PQgetResult(connection_)) {
      const std::string state = state_of(result);
      if (first.empty()) first = state;
    }
    return first;
  }
  static std::string state_of(PGresult* result) {
    const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    std::string text = state == nullptr ? "" : state;
    PQclear(result);
    return text;
  }

 private:
  PGconn* connection_;
};

bool becomes(pqxx::connection& watcher, const std::string& query, const std::string& wanted) {
  for (int tries = 0; tries < 500; ++tries) {
    if (pqxx::nontransaction{watcher}.exec1(query)[0].as<std::string>() == wanted) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

/// Writes some megabytes of log.
void write_much(pqxx::connection& connection) {
  for (int i = 0; i < 3; ++i) {
    pqxx::nontransaction{connection}.exec(
        "INSERT INTO much SELECT i, repeat('x', 500) FROM generate_series(1, 3000) i; "
        "TRUNCATE much");
  }
}

}  // namespace

TEST_CASE("max_transaction_wal_size ends whoever keeps more of the log") {
  const SwizzledProcess server{SwizzledProcess::Access::peer_only,
                               {"max_transaction_wal_size=2MB"}};
  pqxx::connection watcher{server.conninfo()};
  pqxx::nontransaction{watcher}.exec(
      "CREATE TABLE kept(a int primary key, v int); INSERT INTO kept VALUES (1, 1); "
      "CREATE TABLE much(a int, v text)");
  const std::string others = "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid()";
  SECTION("an idle one, because of what others write") {
    Client forgotten{server};
    CHECK(forgotten.run("BEGIN; UPDATE kept SET v = 2").empty());
    write_much(watcher);
    CHECK(becomes(watcher, others, "0"));
    CHECK(forgotten.run("COMMIT") == "53400");
    CHECK(PQstatus(forgotten.get()) == CONNECTION_BAD);
  }
  SECTION("not a failed one, which keeps no log any more") {
    Client forgotten{server};
    CHECK(forgotten.run("BEGIN; UPDATE kept SET v = 2").empty());
    CHECK(forgotten.run("SELECT 1/0") == "22012");
    write_much(watcher);
    std::this_thread::sleep_for(1200ms);
    CHECK(forgotten.run("SELECT 1") == "25P02");
    CHECK(forgotten.run("ROLLBACK; SELECT 1").empty());
  }
  SECTION("one that writes too much itself: the session stays") {
    Client busy{server};
    CHECK(busy.run("INSERT INTO kept SELECT i, 0 FROM generate_series(10, 100000000) i") ==
          "53400");
    CHECK(busy.run("SELECT 1").empty());
  }
  SECTION("one that waits for its client in a COPY") {
    Client loader{server};
    PQclear(PQexec(loader.get(), "COPY kept FROM STDIN"));
    // The table has a row, so COPY inserts row by row.
    std::string rows;
    for (int i = 10; i < 5000; ++i) rows += std::to_string(i) + "\t1\n";
    REQUIRE(PQputCopyData(loader.get(), rows.data(), static_cast<int>(rows.size())) == 1);
    REQUIRE(PQflush(loader.get()) == 0);
    REQUIRE(becomes(watcher, "SELECT count(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL",
                    "1"));
    write_much(watcher);
    CHECK(becomes(watcher, "SELECT count(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL",
                  "0"));
    PQputCopyEnd(loader.get(), nullptr);
    CHECK(Client::state_of(PQgetResult(loader.get())) == "53400");
  }
  SECTION("nobody who only reads, and nobody who writes little") {
    Client reader{server};
    Client writer{server};
    CHECK(reader.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM kept").empty());
    write_much(watcher);
    CHECK(writer.run("BEGIN; INSERT INTO kept VALUES (2, 2)").empty());
    std::this_thread::sleep_for(1200ms);
    CHECK(writer.run("ROLLBACK").empty());
    CHECK(reader.run("COMMIT").empty());
  }
  CHECK(becomes(watcher, "SELECT sum(v) FROM kept", "1"));
}

}  // namespace swizzle::clients
