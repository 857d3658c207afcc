#include <libpq-fe.h>
#include <poll.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "clients/testing/honest_client.h"
#include "clients/testing/swizzled_process.h"

/// Statements that need more memory than there is: each fails with 53200 or uses files, others are
/// answered meanwhile, and the memory is released afterwards.
namespace swizzle::clients {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kLimitMb = 160;
constexpr std::size_t kPoolMb = 64;
/// Code, stacks, buffers, the allocator's reserve, and memory that is copied while it grows.
constexpr std::size_t kRestMb = 500;
/// The same while nothing runs.
constexpr std::size_t kKeptMb = 80;
constexpr milliseconds kLongestWait{100};

SwizzledProcess& server() {
  static SwizzledProcess process{SwizzledProcess::Access::peer_only,
                                 {"reactor_threads=1", "server_memory_limit=160MB",
                                  "shared_buffers=64MB", "session_memory_limit=10GB"}};
  return process;
}

Connection connect() {
  return connect_to(server().conninfo());
}

/// Returns "ok", or the SQLSTATE of the error; discards rows as they come.
std::string run(PGconn* connection, const std::string& sql) {
  if (PQsendQuery(connection, sql.c_str()) == 0) return PQerrorMessage(connection);
  PQsetSingleRowMode(connection);
  std::string outcome = "ok";
  while (PGresult* const result = PQgetResult(connection)) {
    const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (state != nullptr) outcome = state;
    if (PQstatus(connection) == CONNECTION_BAD) outcome = PQerrorMessage(connection);
    PQclear(result);
  }
  return outcome;
}

std::string value(PGconn* connection, const std::string& sql) {
  PGresult* const result = PQexec(connection, sql.c_str());
  std::string found = PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : PQerrorMessage(connection);
  PQclear(result);
  return found;
}

/// Returns a field of the server's process in megabytes: "VmRSS" is the present, "VmHWM" the peak.
std::size_t megabytes(const std::string& field) {
  std::ifstream status{"/proc/" + std::to_string(server().process()) + "/status"};
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(field + ":")) continue;
    return std::stoul(line.substr(field.size() + 1)) / 1024;
  }
  throw std::runtime_error{field + " is nowhere"};
}

/// Checks the peak, except under a sanitizer, which keeps memory of its own and freed memory.
void check_most_held() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  CHECK(megabytes("VmHWM") < kLimitMb + kPoolMb + kRestMb);
#endif
}

struct Hungry {
  std::string sql;
  std::string outcome = "53200";
};

void expect_bounded(const std::vector<Hungry>& statements) {
  const Connection connection = connect();
  HonestClient honest{server().conninfo()};
  for (const Hungry& hungry : statements) {
    INFO(hungry.sql.substr(0, 100));
    CHECK(run(connection.get(), hungry.sql) == hungry.outcome);
    check_most_held();
    CHECK(value(connection.get(), "SELECT 'goes on'") == "goes on");
  }
  honest.finish();
  CHECK(honest.failures() == 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // All but the few that the machine itself may delay.
  CHECK(honest.percentile(0.98) <= kLongestWait);
  // Freed memory has been returned to the system.
  CHECK(megabytes("VmRSS") < kLimitMb + kPoolMb + kKeptMb);
#endif
}

}  // namespace

TEST_CASE("values that take more than the server may keep are 53200", "[memory]") {
  expect_bounded({
      {"SELECT array_agg(i) FROM generate_series(1, 1000000000) i"},
      {"SELECT cardinality(ARRAY(SELECT generate_series(1, 60000000)))"},
      {"SELECT length(format('%1000000000s', 'x'))"},
      {"SELECT length(to_char(1, repeat('9', 50000000)))"},
      {"SELECT length(to_char(now(), repeat('YYYY', 10000000)))"},
      {"SELECT length(lpad('x', 268000000))"},
      {"SELECT length(repeat('x', 500000000))"},
      {"SELECT string_agg(i::text, ',') FROM generate_series(1, 1000000000) i"},
      {"SELECT json_agg(i) FROM generate_series(1, 1000000000) i"},
      {"SELECT jsonb_object_agg(i, i) FROM generate_series(1, 1000000000) i"},
      {"SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY i) FROM generate_series(1, 1000000000) "
       "i"},
      {"SELECT x, x, x, x, x, x FROM (SELECT repeat('x', 40000000) x OFFSET 0) y"},
      {"SELECT array_fill(1, ARRAY[60000000]) IS NULL"},
      {"SELECT cardinality(string_to_array(repeat('a,', 20000000), ','))"},
      {"SELECT ('{' || repeat('1,', 10000000) || '1}')::int[] IS NULL"},
      {"SELECT length(jsonb_pretty(('[' || repeat('1,', 10000000) || '1]')::jsonb))"},
      {"SELECT count(*) FROM regexp_split_to_table(repeat('a,', 20000000), ',')", "ok"},
  });
}

TEST_CASE("rows that a statement keeps go to files, or are 53200", "[memory]") {
  const Connection connection = connect();
  REQUIRE(run(connection.get(), "CREATE TABLE parents (id int PRIMARY KEY)") == "ok");
  REQUIRE(run(connection.get(), "INSERT INTO parents SELECT generate_series(1, 1000)") == "ok");
  expect_bounded({
      {"SELECT count(DISTINCT i) FROM generate_series(1, 100000000) i"},
      {"SELECT length(string_agg(i::text, '' ORDER BY i)) FROM generate_series(1, 100000000) i"},
      {"SELECT 0 NOT IN (SELECT i FROM generate_series(1, 3000000) i)", "ok"},
      {"SELECT count(*) FROM (SELECT i FROM generate_series(1, 3000000) i EXCEPT "
       "SELECT i FROM generate_series(1, 3000000) i) x",
       "ok"},
      {"SELECT count(*) FROM (SELECT i FROM generate_series(1, 2000000) i GROUP BY i) x", "ok"},
      {"SELECT count(*) FROM (SELECT a FROM generate_series(1, 1000) a, generate_series(1, 1000) b "
       "ORDER BY a * b) x",
       "ok"},
      {"WITH RECURSIVE t(n) AS (SELECT 1 UNION SELECT n + 1 FROM t) SELECT count(*) FROM t"},
  });
}

TEST_CASE("nobody waits while much memory comes, grows and goes, or large files do", "[memory]") {
  SwizzledProcess large{SwizzledProcess::Access::peer_only,
                        {"reactor_threads=1", "server_memory_limit=2GB"}};
  const Connection connection = connect_to(large.conninfo());
  REQUIRE(run(connection.get(), "SET statement_timeout = '3s'") == "ok");
  for (const char* const sql : {
           "SELECT FROM generate_series(1, 100000) a, generate_series(1, 100000) b ORDER BY a + b",
           "WITH RECURSIVE r(n, t) AS (SELECT 1, repeat('x', 1000) UNION ALL SELECT n + 1, t FROM "
           "r) SELECT count(*) FROM r",
           "WITH RECURSIVE r(n, t) AS (SELECT 1, repeat('x', 1000) UNION SELECT n + 1, t FROM r) "
           "SELECT count(*) FROM r",
           "SELECT length(string_agg(i::text, ',' ORDER BY i DESC)) FROM generate_series(1, "
           "100000000) i",
           "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY i) FROM generate_series(1, "
           "100000000) i",
           "SELECT json_agg(i) FROM generate_series(1, 1000000000) i",
       }) {
    INFO(sql);
    HonestClient honest{large.conninfo()};
    const std::string outcome = run(connection.get(), sql);
    CHECK((outcome == "57014" || outcome == "53200"));
    honest.finish();
    CHECK(honest.failures() == 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // The machine itself may delay a request.
    CHECK(honest.percentile(0.98) <= kLongestWait);
    CHECK(honest.percentile(1) <= 5 * kLongestWait);
#endif
  }
}

TEST_CASE("a text that takes more to be read than the server may keep is 53200", "[memory]") {
  constexpr std::size_t kBytes = std::size_t{16} << 20U;
  const auto repeated = [](const std::string& part) {
    std::string text;
    text.reserve(kBytes + part.size());
    while (text.size() < kBytes) text += part;
    return text;
  };
  std::vector<Hungry> statements;
  for (const auto& [begin, part, end] :
       std::vector<std::array<std::string, 3>>{{"SELECT 5 IN (1", ",1", ")"},
                                               {"SELECT 1", ",1", ""},
                                               {"VALUES (1)", ",(1)", ""},
                                               {"SELECT a", ",a", ""},
                                               {"SELECT ''", ",''", ""},
                                               {"SELECT 1", "+1", ""},
                                               {"SELECT 1", ";SELECT 1", ""},
                                               {"SELECT ARRAY[1", ",$1", "]"},
                                               {"PREPARE p AS SELECT 5 IN (1", ",1", ")"},
                                               {"CREATE VIEW v AS SELECT 5 IN (1", ",1", ") x"},
                                               {"EXPLAIN SELECT 5 IN (1", ",1", ")"},
                                               {"SET search_path = a", ",a", ""},
                                               {"DROP TABLE a", ",a", ""}}) {
    statements.push_back({begin + repeated(part) + end});
  }
  expect_bounded(statements);
}

TEST_CASE("a message that is longer than what the server may keep ends its session alone",
          "[memory]") {
  const Connection connection = connect();
  const std::string outcome =
      run(connection.get(), "SELECT length('" + std::string(std::size_t{200} << 20U, 'x') + "')");
  CHECK_THAT(outcome, Catch::Contains("out of memory"));
  check_most_held();
  CHECK(value(connect().get(), "SELECT 'goes on'") == "goes on");
}

TEST_CASE("sessions that keep much keep no more together than the server may", "[memory]") {
  std::vector<Connection> connections;
  std::vector<std::string> outcomes;
  for (int i = 0; i < 4; ++i) {
    connections.push_back(connect());
    PGconn* const connection = connections.back().get();
    REQUIRE(run(connection, "SET work_mem = '1GB'") == "ok");
    REQUIRE(run(connection, "BEGIN") == "ok");
    outcomes.push_back(
        run(connection,
            "DECLARE c CURSOR FOR SELECT g FROM generate_series(1, 1000000) g ORDER BY -g"));
  }
  CHECK(outcomes.front() == "ok");
  CHECK(outcomes.back() == "53200");
  // The memory of an ended session is released.
  for (std::size_t i = 0; i + 1 < connections.size(); ++i) connections[i].reset();
  PGconn* const last = connections.back().get();
  REQUIRE(run(last, "ROLLBACK") == "ok");
  std::string outcome;
  for (int i = 0; i < 100 && outcome != "ok"; ++i) {
    outcome = run(last, "SELECT g FROM generate_series(1, 500000) g ORDER BY -g OFFSET 499999");
    std::this_thread::sleep_for(milliseconds{20});
  }
  CHECK(outcome == "ok");
}

TEST_CASE("a client that does not read has the server keep little", "[memory]") {
  const Connection deaf = connect();
  const std::size_t before = megabytes("VmRSS");
  REQUIRE(PQsendQuery(deaf.get(), "SELECT repeat('x', 100000) FROM generate_series(1, 100000)") ==
          1);
  std::this_thread::sleep_for(milliseconds{500});
  CHECK(megabytes("VmRSS") < before + 20);
  const Connection other = connect();
  CHECK(value(other.get(), "SELECT 'answered'") == "answered");
}

TEST_CASE("what is too much says which setting allows it", "[memory]") {
  const Connection connection = connect();
  PGresult* result = PQexec(connection.get(), "SELECT repeat('x', 500000000)");
  CHECK(std::string{PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY)} == "out of memory");
  CHECK_THAT(PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL),
             Catch::Contains("server_memory_limit allows 163840 kB"));
  CHECK_THAT(PQresultErrorField(result, PG_DIAG_MESSAGE_HINT),
             Catch::Contains("server_memory_limit"));
  PQclear(result);
  REQUIRE(run(connection.get(), "SET session_memory_limit = '16MB'") == "ok");
  result = PQexec(connection.get(), "SELECT repeat('x', 500000000)");
  CHECK_THAT(PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL),
             Catch::Contains("session_memory_limit allows 16384 kB"));
  CHECK_THAT(PQresultErrorField(result, PG_DIAG_MESSAGE_HINT),
             Catch::Contains("session_memory_limit"));
  PQclear(result);
}

}  // namespace swizzle::clients
