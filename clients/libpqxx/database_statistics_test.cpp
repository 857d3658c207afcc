// pg_stat_database and pg_stat_activity: how sessions of a database spend their time and end, as
// PostgreSQL 15 counts it.

#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <pqxx/pqxx>
#include <thread>

#include "clients/testing/swizzled_process.h"

namespace swizzle::clients {
namespace {

SwizzledProcess& server() {
  static SwizzledProcess process;
  return process;
}

/// Queries the statistics from another database than the one that is watched.
class Watcher {
 public:
  Watcher() : connection_(server().conninfo()) {
    pqxx::nontransaction work{connection_};
    if (work.exec("SELECT FROM pg_database WHERE datname = 'watched'").empty())
      work.exec("CREATE DATABASE watched");
  }
  [[nodiscard]] double of_watched(const std::string& column) {
    return number("SELECT " + column + " FROM pg_stat_database WHERE datname = 'watched'");
  }
  [[nodiscard]] double number(const std::string& query) {
    return pqxx::nontransaction{connection_}.exec1(query)[0].as<double>();
  }
  /// Returns the increase of a counter. Waits up to a moment for it: a session ends after its
  /// client.
  [[nodiscard]] double added(const std::string& column, double expected,
                             const std::function<void()>& act) {
    const double before = of_watched(column);
    act();
    double more = 0;
    for (int i = 0; i < 300; ++i) {
      more = of_watched(column) - before;
      if (more >= expected) break;
      std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return more;
  }

 private:
  pqxx::connection connection_;
};

std::string watched() {
  return server().conninfo("dbname=watched");
}

/// Counters of the ways in which a session can end abnormally.
constexpr const char* kEnds[] = {"sessions_abandoned", "sessions_fatal", "sessions_killed"};

}  // namespace

TEST_CASE("sessions count, and so does how they end") {
  Watcher watcher;
  std::unique_ptr<pqxx::connection> session;
  CHECK(watcher.added("sessions", 1,
                      [&] { session = std::make_unique<pqxx::connection>(watched()); }) == 1);
  std::vector<double> before;
  for (const char* const column : kEnds) before.push_back(watcher.of_watched(column));
  const auto ends = [&] {
    std::string text;
    for (std::size_t i = 0; i < std::size(kEnds); ++i)
      text += std::to_string(static_cast<int>(watcher.of_watched(kEnds[i]) - before[i]));
    return text;
  };
  SECTION("by its client") {
    session.reset();
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
    CHECK(ends() == "000");
  }
  SECTION("without a word of its client") {
    CHECK(watcher.added("sessions_abandoned", 1, [&] { ::shutdown(session->sock(), SHUT_RDWR); }) ==
          1);
    CHECK(ends() == "100");
  }
  SECTION("by an error") {
    CHECK(watcher.added("sessions_fatal", 1, [&] {
      pqxx::nontransaction{*session}.exec("SET idle_session_timeout = '30ms'");
    }) == 1);
    CHECK(ends() == "010");
  }
  SECTION("by an administrator") {
    CHECK(watcher.added("sessions_killed", 1, [&] {
      CHECK(watcher.number("SELECT pg_terminate_backend(" + std::to_string(session->backendpid()) +
                           ")::int") == 1);
    }) == 1);
    CHECK(ends() == "001");
  }
  SECTION("by itself, as an administrator") {
    CHECK(watcher.added("sessions_killed", 1, [&] {
      CHECK_THROWS(
          pqxx::nontransaction{*session}.exec("SELECT pg_terminate_backend(pg_backend_pid())"));
    }) == 1);
    CHECK(ends() == "001");
  }
  SECTION("before it began") {
    const double sessions = watcher.of_watched("sessions");
    CHECK_THROWS(pqxx::connection{server().conninfo("dbname=watched user=nobody_at_all")});
    CHECK(watcher.of_watched("sessions") == sessions);
    CHECK(ends() == "000");
  }
}

TEST_CASE("the time of sessions counts, by what they do") {
  Watcher watcher;
  const std::string columns[] = {"session_time", "active_time", "idle_in_transaction_time"};
  double before[3];
  for (int i = 0; i < 3; ++i) before[i] = watcher.of_watched(columns[i]);
  {
    pqxx::connection session{watched()};
    pqxx::nontransaction work{session};
    work.exec("SELECT pg_sleep(0.2)");
    work.exec("BEGIN");
    std::this_thread::sleep_for(std::chrono::milliseconds{150});
    work.exec_params("SELECT $1::int", 1);
    std::this_thread::sleep_for(std::chrono::milliseconds{150});
    work.exec("ROLLBACK");
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  }
  double took[3];
  for (int i = 0; i < 3; ++i) took[i] = watcher.of_watched(columns[i]) - before[i];
  CHECK(took[0] >= 600);
  CHECK(took[1] >= 200);
  CHECK(took[2] >= 300);
  // Each millisecond is one of these, or idle.
  CHECK(took[1] + took[2] <= took[0] - 100);
  CHECK(took[0] < 20'000);
}

TEST_CASE("a session that rests tells since when, not since when it last began to work") {
  Watcher watcher;
  pqxx::connection session{watched()};
  const auto of_session = [&](const std::string& what) {
    return watcher.number(
        "SELECT extract(epoch FROM " + what +
        ") * 1000 FROM pg_stat_activity WHERE pid = " + std::to_string(session.backendpid()));
  };
  CHECK(of_session("state_change - backend_start") >= 0);
  pqxx::nontransaction work{session};
  for (const char* const query : {"SELECT pg_sleep(0.3)", "BEGIN; SELECT pg_sleep(0.3)"}) {
    work.exec(query);
    CHECK(of_session("state_change - query_start") >= 300);
    CHECK(of_session("now() - state_change") < 300);
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    CHECK(of_session("now() - state_change") >= 100);
    // The state change of an idle session stays the same.
    const double since = of_session("state_change - query_start");
    for (int i = 0; i < 20; ++i) CHECK(of_session("state_change - query_start") == since);
  }
  // While a query runs, the state change is its start.
  CHECK(watcher.number("SELECT count(*) FROM pg_stat_activity WHERE pid = pg_backend_pid() "
                       "AND state_change = query_start AND state = 'active'") == 1);
}

TEST_CASE("a deadlock counts once, in the database where it was") {
  Watcher watcher;
  pqxx::connection one{watched()};
  pqxx::connection two{watched()};
  pqxx::nontransaction{one}.exec(
      "DROP TABLE IF EXISTS pair; CREATE TABLE pair (k int PRIMARY KEY, v int); "
      "INSERT INTO pair VALUES (1, 0), (2, 0)");
  const double elsewhere =
      watcher.number("SELECT sum(deadlocks) FROM pg_stat_database WHERE datname <> 'watched'");
  const bool is_caught = GENERATE(false, true);
  CHECK(watcher.added("deadlocks", 1, [&] {
    const auto update = [&](pqxx::nontransaction& work, int key) {
      const std::string statement = "UPDATE pair SET v = v + 1 WHERE k = " + std::to_string(key);
      work.exec(is_caught ? "DO $$BEGIN " + statement +
                                "; EXCEPTION WHEN deadlock_detected THEN NULL; END$$"
                          : statement);
    };
    pqxx::nontransaction first{one};
    pqxx::nontransaction second{two};
    first.exec("BEGIN");
    second.exec("BEGIN");
    first.exec("UPDATE pair SET v = 0 WHERE k = 1");
    second.exec("UPDATE pair SET v = 0 WHERE k = 2");
    std::thread other{[&] {
      try {
        update(second, 1);
        // The other session may be the deadlock's victim.
      } catch (const pqxx::deadlock_detected&) {
      }
      second.exec("ROLLBACK");
    }};
    try {
      update(first, 2);
    } catch (const pqxx::deadlock_detected&) {
    }
    first.exec("ROLLBACK");
    other.join();
  }) == 1);
  // An error that a client raises with a deadlock's SQLSTATE does not count as one.
  CHECK_THROWS(pqxx::nontransaction{one}.exec(
      "DO $$BEGIN RAISE 'as if' USING ERRCODE = 'deadlock_detected'; END$$"));
  CHECK(watcher.added("deadlocks", 1, [] {}) == 0);
  CHECK(watcher.number("SELECT sum(deadlocks) FROM pg_stat_database WHERE datname <> 'watched'") ==
        elsewhere);
}

TEST_CASE("pg_stat_database has a number in every column that PostgreSQL counts") {
  Watcher watcher;
  CHECK(watcher.number("SELECT count(*) FROM pg_stat_database d, "
                       "jsonb_each(to_jsonb(d) - 'datname' - 'checksum_last_failure') c "
                       "WHERE jsonb_typeof(c.value) = 'null'") == 0);
  // The row of no database counts failures of shared files.
  CHECK(watcher.number("SELECT checksum_failures FROM pg_stat_database "
                       "WHERE datid = 0 AND datname IS NULL") == 0);
}

}  // namespace swizzle::clients
