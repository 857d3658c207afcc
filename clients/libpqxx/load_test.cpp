#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <pqxx/pqxx>
#include <random>
#include <string>
#include <thread>

#include "clients/testing/seed.h"
#include "clients/testing/swizzled_process.h"

/// COPY into empty tables, which bulk loads them: killed in the middle, by two clients at once, and
/// with more data than memory.
namespace swizzle::clients {
namespace {

using namespace std::chrono_literals;

constexpr const char* kCopyRows = "COPY loaded FROM STDIN";

void run(const SwizzledProcess& server, const char* sql) {
  pqxx::connection connection{server.conninfo()};
  pqxx::nontransaction{connection}.exec(sql);
}

long number(const SwizzledProcess& server, const char* sql) {
  pqxx::connection connection{server.conninfo()};
  return pqxx::nontransaction{connection}.exec1(sql)[0].as<long>();
}

void create_table(const SwizzledProcess& server) {
  run(server,
      "CREATE TABLE loaded (k int PRIMARY KEY, v text NOT NULL);"
      "CREATE INDEX loaded_by_value ON loaded (v)");
}

/// A client's COPY of rows with the keys [first, first + rows), some hundred bytes each.
class Load {
 public:
  explicit Load(const SwizzledProcess& server)
      : connection_(PQconnectdb(server.conninfo().c_str()), PQfinish) {
    REQUIRE(PQstatus(connection_.get()) == CONNECTION_OK);
    const Answer begun{PQexec(connection_.get(), kCopyRows), PQclear};
    REQUIRE(PQresultStatus(begun.get()) == PGRES_COPY_IN);
  }

  /// Returns false if the server has gone.
  bool send(int first, int rows, std::size_t row_bytes = 100) {
    std::string piece;
    for (int key = first; key < first + rows; ++key) {
      piece += std::to_string(key) + '\t' + value_of(key, row_bytes) + '\n';
      if (piece.size() < (1U << 16U) && key + 1 < first + rows) continue;
      const int size = static_cast<int>(piece.size());
      if (PQputCopyData(connection_.get(), piece.data(), size) != 1) return false;
      piece.clear();
    }
    return PQflush(connection_.get()) == 0;
  }

  /// Returns "" once the rows are committed, else the SQLSTATE, or "gone".
  std::string finish() {
    // Try even if the server has gone: it may have sent the reason.
    PQputCopyEnd(connection_.get(), nullptr);
    return outcome();
  }

  /// Aborts the COPY, which must leave nothing. Returns the SQLSTATE.
  std::string give_up() {
    PQputCopyEnd(connection_.get(), "changed my mind");
    return outcome();
  }

  [[nodiscard]] int pid() const { return PQbackendPID(connection_.get()); }

 private:
  using Answer = std::unique_ptr<PGresult, decltype(&PQclear)>;

  std::string outcome() {
    std::string state = "gone";
    while (PGresult* const next = PQgetResult(connection_.get())) {
      const Answer answer{next, PQclear};
      const char* const field = PQresultErrorField(next, PG_DIAG_SQLSTATE);
      if (PQresultStatus(next) == PGRES_COPY_IN) break;
      if (PQresultStatus(next) == PGRES_COMMAND_OK) state.clear();
      if (field != nullptr) state = field;
      if (PQstatus(connection_.get()) != CONNECTION_OK) break;
    }
    return state;
  }

  static std::string value_of(int key, std::size_t bytes) {
    std::string value = std::to_string((static_cast<unsigned>(key) * 2654435761U) % 1'000'000U);
    value.resize(std::max(bytes, value.size()), 'x');
    return value;
  }

  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

/// Checks the number of rows in the table and in its index, and verifies.
void check_rows(const SwizzledProcess& server, long expected) {
  CHECK(number(server, "SELECT count(*) FROM loaded") == expected);
  CHECK(number(server, "SELECT count(*) FROM loaded WHERE v >= '0'") == expected);
  CHECK(number(server, "SELECT length(swizzle_verify())") == 0);
}

/// Returns the number of kills; LOAD_KILLS sets more for a campaign.
int kill_rounds() {
  const char* const text = std::getenv("LOAD_KILLS");
  return text == nullptr ? 6 : std::atoi(text);
}

}  // namespace

TEST_CASE("a server killed in the middle of a COPY has all rows of it or none", "[crash]") {
  constexpr int kRows = 40'000;
  const unsigned seed = testing::seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  SwizzledProcess server;
  create_table(server);
  for (int round = 0; round < kill_rounds(); ++round) {
    CAPTURE(round);
    const int clients = 1 + round % 2;
    std::atomic<long> acknowledged{0};
    std::vector<std::thread> loads;
    for (int client = 0; client < clients; ++client) {
      loads.emplace_back([&, client, load = std::make_shared<Load>(server)] {
        if (load->send(client * kRows, kRows) && load->finish().empty()) acknowledged += kRows;
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{random() % 250});
    server.kill();
    for (std::thread& load : loads) load.join();
    server.start();
    const long found = number(server, "SELECT count(*) FROM loaded");
    // A commit may be durable although its client was not told.
    CHECK(found >= acknowledged);
    CHECK(found % kRows == 0);
    check_rows(server, found);
    run(server, "TRUNCATE loaded");
    Load again{server};
    REQUIRE(again.send(0, 1000));
    CHECK(again.finish().empty());
    check_rows(server, 1000);
    run(server, "TRUNCATE loaded");
  }
}

TEST_CASE("two clients load one table that has no rows") {
  constexpr int kRows = 30'000;
  const SwizzledProcess server;
  create_table(server);
  Load first{server};
  Load second{server};
  // One of them may have to wait until the other has committed.
  const auto load_both = [&](int second_begins_at) {
    std::array<std::string, 2> outcomes{"not sent", "not sent"};
    std::thread other{[&] {
      if (second.send(second_begins_at, kRows)) outcomes[1] = second.finish();
    }};
    if (first.send(0, kRows)) outcomes[0] = first.finish();
    other.join();
    std::ranges::sort(outcomes);
    return outcomes;
  };
  SECTION("different keys: all rows are there") {
    CHECK(load_both(kRows) == std::array<std::string, 2>{});
    check_rows(server, 2 * kRows);
  }
  SECTION("the same keys: one of them fails, the other's rows are there") {
    CHECK(load_both(0) == std::array<std::string, 2>{"", "23505"});
    check_rows(server, kRows);
  }
  SECTION("one gives up: the other's rows are there") {
    CHECK(first.send(0, kRows));
    std::string outcome = "not sent";
    std::thread other{[&] {
      if (second.send(kRows / 2, kRows)) outcome = second.finish();
    }};
    CHECK(first.give_up() == "57014");
    other.join();
    CHECK(outcome.empty());
    check_rows(server, kRows);
  }
}

TEST_CASE("COPY of more than fits into shared_buffers") {
  constexpr int kRows = 60'000;
  SwizzledProcess server{SwizzledProcess::Access::peer_only, {"shared_buffers=16MB"}};
  create_table(server);
  {
    Load load{server};
    REQUIRE(load.send(0, kRows, 1000));
    CHECK(load.finish().empty());
  }
  check_rows(server, kRows);
  // Load into a table with rows and roll back: the rows are removed one by one.
  {
    Load load{server};
    REQUIRE(load.send(kRows, kRows / 2, 1000));
    CHECK(load.give_up() == "57014");
  }
  check_rows(server, kRows);
  server.kill();
  server.start();
  check_rows(server, kRows);
}

TEST_CASE("pg_terminate_backend ends a session in the middle of a COPY or of a result") {
  const SwizzledProcess server;
  create_table(server);
  pqxx::connection killer{server.conninfo()};
  pqxx::nontransaction work{killer};
  const auto terminate = [&](int pid) {
    work.exec("SELECT pg_terminate_backend(" + std::to_string(pid) + ")");
  };
  const auto is_alone = [&] {
    for (int tries = 0; tries < 500; ++tries) {
      constexpr const char* kOthers =
          "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid()";
      if (work.exec1(kOthers)[0].as<int>() == 0) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  };
  SECTION("that waits for rows") {
    Load load{server};
    REQUIRE(load.send(0, 500));
    terminate(load.pid());
    CHECK(is_alone());
    CHECK(load.finish() == "57P01");
  }
  SECTION("that waits for a client which does not read") {
    const std::unique_ptr<PGconn, decltype(&PQfinish)> reader{
        PQconnectdb(server.conninfo().c_str()), PQfinish};
    const int pid = PQbackendPID(reader.get());
    PQsendQuery(reader.get(), "SELECT repeat('x', 1000) FROM generate_series(1, 1000000)");
    // It waits once its socket is full.
    pollfd socket{PQsocket(reader.get()), POLLIN, 0};
    REQUIRE(::poll(&socket, 1, 5'000) == 1);
    std::this_thread::sleep_for(100ms);
    terminate(pid);
    CHECK(is_alone());
  }
  CHECK(work.exec1("SELECT count(*) FROM loaded")[0].as<int>() == 0);
}

}  // namespace swizzle::clients
