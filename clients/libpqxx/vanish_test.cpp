#include <libpq-fe.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <thread>
#include <vector>

#include "clients/testing/swizzled_process.h"

/// Clients that disappear without a message, in every state of a session, and servers that stop
/// while clients work.
namespace swizzle::clients {
namespace {

using namespace std::chrono_literals;

/// A connection that ends as if its process had been killed: the socket is closed without a
/// message.
class Doomed {
 public:
  explicit Doomed(const std::string& conninfo) : connection_(PQconnectdb(conninfo.c_str())) {
    REQUIRE(PQstatus(connection_) == CONNECTION_OK);
  }
  Doomed(const Doomed&) = delete;
  Doomed& operator=(const Doomed&) = delete;
  ~Doomed() {
    ::shutdown(PQsocket(connection_), SHUT_RDWR);
    PQfinish(connection_);
  }
  PGconn* get() { return connection_; }
  void run(const std::string& sql) { PQclear(PQexec(connection_, sql.c_str())); }
  /// Sends a query without reading the answer.
  void send(const std::string& sql) { PQsendQuery(connection_, sql.c_str()); }

 private:
  PGconn* connection_;
};

struct State {
  const char* name;
  std::function<void(Doomed&)> enter;
};

const std::vector<State>& states() {
  static const std::vector<State> kStates{
      {"idle", [](Doomed&) {}},
      {"in a transaction that has written",
       [](Doomed& doomed) { doomed.run("BEGIN; UPDATE guarded SET v = v + 1 WHERE k = 1"); }},
      {"in a failed transaction",
       [](Doomed& doomed) {
         doomed.run("BEGIN; UPDATE guarded SET v = 0 WHERE k = 2");
         doomed.run("SELECT 1/0");
       }},
      {"waiting for a row",
       [](Doomed& doomed) {
         doomed.run("BEGIN; SELECT v FROM guarded WHERE k = 3 FOR UPDATE");
         doomed.send("UPDATE guarded SET v = v + 1 WHERE k = 0");
       }},
      {"computing",
       [](Doomed& doomed) { doomed.send("SELECT count(*) FROM generate_series(1, 1000000000)"); }},
      {"sleeping", [](Doomed& doomed) { doomed.send("SELECT pg_sleep(600)"); }},
      {"not reading a large result",
       [](Doomed& doomed) {
         doomed.send("SELECT repeat('x', 1000) FROM generate_series(1, 1000000)");
       }},
      {"in the middle of COPY in",
       [](Doomed& doomed) {
         doomed.run("COPY guarded FROM STDIN");
         PQputCopyData(doomed.get(), "100\t1\n10", 8);
         PQflush(doomed.get());
       }},
      {"in the middle of COPY out",
       [](Doomed& doomed) {
         doomed.run("COPY (SELECT repeat('x', 1000) FROM generate_series(1, 1000000)) TO STDOUT");
       }},
      {"with a cursor",
       [](Doomed& doomed) {
         doomed.run(
             "BEGIN; DECLARE c CURSOR FOR SELECT * FROM guarded WHERE k > 5 FOR UPDATE; FETCH 2 "
             "FROM c");
       }},
      {"with advisory locks and a temporary table",
       [](Doomed& doomed) {
         doomed.run("SELECT pg_advisory_lock(42); CREATE TEMP TABLE mine (k int)");
       }},
      {"waiting for an advisory lock",
       [](Doomed& doomed) { doomed.send("SELECT pg_advisory_lock(7)"); }},
      {"listening", [](Doomed& doomed) { doomed.run("LISTEN anything"); }},
      {"in a pipeline",
       [](Doomed& doomed) {
         PQenterPipelineMode(doomed.get());
         for (int i = 0; i < 50; ++i) {
           PQsendQueryParams(doomed.get(), "UPDATE guarded SET v = v + 1 WHERE k = 4", 0, nullptr,
                             nullptr, nullptr, nullptr, 0);
         }
         PQflush(doomed.get());
       }},
      {"holding a table",
       [](Doomed& doomed) {
         doomed.run("BEGIN; LOCK TABLE guarded_too IN ACCESS EXCLUSIVE MODE");
       }},
  };
  return kStates;
}

/// Waits up to ten seconds for the count to become the expected value.
bool becomes(const std::function<long()>& count, long expected) {
  for (int i = 0; i < 500; ++i) {
    if (count() == expected) return true;
    std::this_thread::sleep_for(20ms);
  }
  return false;
}

long open_descriptors(pid_t process) {
  const std::filesystem::path folder = "/proc/" + std::to_string(process) + "/fd";
  return std::distance(std::filesystem::directory_iterator{folder},
                       std::filesystem::directory_iterator{});
}

long resident_megabytes(pid_t process) {
  std::ifstream file{"/proc/" + std::to_string(process) + "/statm"};
  long all = 0;
  long resident = 0;
  file >> all >> resident;
  return resident * ::sysconf(_SC_PAGESIZE) >> 20;
}

}  // namespace

TEST_CASE("a client that is killed in any state leaves no session, lock, memory or descriptor") {
  const SwizzledProcess server{SwizzledProcess::Access::peer_only,
                               {"client_connection_check_interval=50ms"}};
  pqxx::connection connection{server.conninfo()};
  pqxx::nontransaction work{connection};
  const auto count = [&](const char* sql) {
    return [&work, sql] { return work.exec1(sql)[0].as<long>(); };
  };
  constexpr const char* kOthers =
      "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid()";
  constexpr const char* kLocks = "SELECT count(*) FROM pg_locks WHERE pid <> pg_backend_pid()";
  work.exec("CREATE TABLE guarded (k int PRIMARY KEY, v int)");
  work.exec("CREATE TABLE guarded_too (k int PRIMARY KEY)");
  work.exec("INSERT INTO guarded SELECT i, 0 FROM generate_series(0, 9) i");

  // Holds the locks for which some of the doomed connections wait.
  pqxx::connection holder{server.conninfo()};
  pqxx::nontransaction holding{holder};
  holding.exec("SELECT pg_advisory_lock(7)");
  holding.exec("BEGIN; SELECT v FROM guarded WHERE k = 0 FOR UPDATE");
  const long locks_of_holder = count(kLocks)();
  const long descriptors = open_descriptors(server.process());

  const auto kill_one_of_each = [&] {
    for (const State& state : states()) {
      INFO(state.name);
      {
        Doomed doomed{server.conninfo()};
        state.enter(doomed);
      }
      CHECK(becomes(count(kOthers), 1));
      CHECK(becomes(count(kLocks), locks_of_holder));
    }
  };
  kill_one_of_each();
  const long memory = resident_megabytes(server.process());
  for (int round = 0; round < 3; ++round) kill_one_of_each();
  CHECK(becomes([&] { return open_descriptors(server.process()); }, descriptors));
#ifndef __SANITIZE_ADDRESS__
  CHECK(resident_megabytes(server.process()) < memory + 24);
#else
  CHECK(memory > 0);
#endif
  work.exec("SET lock_timeout = '2s'");
  work.exec("UPDATE guarded SET v = v WHERE k > 0");
  work.exec("BEGIN; LOCK TABLE guarded_too IN ACCESS EXCLUSIVE MODE; COMMIT");
  // Single statements of the pipeline may each have been committed, and nothing else.
  CHECK(work.exec1("SELECT sum(v) FROM guarded WHERE k <> 4")[0].as<int>() == 0);
}

namespace {

/// Clients that increment a row of their own in a loop, and reconnect when the server has gone.
class Load {
 public:
  Load(SwizzledProcess& server, int clients) : acknowledged_(static_cast<std::size_t>(clients)) {
    pqxx::connection connection{server.conninfo()};
    pqxx::nontransaction work{connection};
    work.exec("CREATE TABLE IF NOT EXISTS counted (k int PRIMARY KEY, n int)");
    for (int i = 0; i < clients; ++i) {
      work.exec_params("INSERT INTO counted VALUES ($1, 0) ON CONFLICT DO NOTHING", i);
      threads_.emplace_back([this, i, conninfo = server.conninfo()] { run(i, conninfo); });
    }
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load() { end(); }

  void end() {
    ends_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  [[nodiscard]] long acknowledged() const {
    long sum = 0;
    for (const auto& one : acknowledged_) sum += one.load();
    return sum;
  }
  bool progresses() const {
    const long before = acknowledged();
    for (int i = 0; i < 500 && acknowledged() < before + 50; ++i) std::this_thread::sleep_for(10ms);
    return acknowledged() >= before + 50;
  }
  /// Checks that each client's row has the acknowledged value, or at most one more for each stop of
  /// the server.
  void check_against(SwizzledProcess& server, int stops) const {
    pqxx::connection connection{server.conninfo()};
    pqxx::nontransaction work{connection};
    for (std::size_t i = 0; i < acknowledged_.size(); ++i) {
      const long stored = work.exec_params1("SELECT n FROM counted WHERE k = $1", i)[0].as<long>();
      CHECK(stored >= acknowledged_[i].load());
      CHECK(stored <= acknowledged_[i].load() + stops);
    }
  }

 private:
  void run(int key, const std::string& conninfo) {
    while (!ends_) {
      try {
        pqxx::connection connection{conninfo};
        connection.prepare("add", "UPDATE counted SET n = n + 1 WHERE k = $1");
        while (!ends_) {
          pqxx::work work{connection};
          work.exec_prepared0("add", key);
          work.commit();
          ++acknowledged_[static_cast<std::size_t>(key)];
        }
      } catch (const std::exception&) {
        std::this_thread::sleep_for(10ms);
      }
    }
  }

  std::atomic<bool> ends_{false};
  std::vector<std::atomic<long>> acknowledged_;
  std::vector<std::thread> threads_;
};

}  // namespace

TEST_CASE("stopped under load in each mode and started again, the server keeps what it promised",
          "[crash]") {
  SwizzledProcess server;
  Load load{server, 8};
  REQUIRE(load.progresses());
  int stops = 0;
  for (const int signal : {SIGINT, SIGQUIT, SIGINT, SIGKILL}) {
    const int code = server.stop(signal);
    if (signal == SIGINT) CHECK(code == 0);
    if (signal == SIGQUIT) CHECK(code == 2);
    ++stops;
    server.start();
    // The clients reconnect by themselves.
    REQUIRE(load.progresses());
  }
  load.end();
  load.check_against(server, stops);
}

TEST_CASE("a smart stop under load lets those work who are there, and ends with the last of them") {
  SwizzledProcess server;
  {
    Load load{server, 4};
    REQUIRE(load.progresses());
    server.send_signal(SIGTERM);
    CHECK(load.progresses());
    CHECK_THROWS_AS(pqxx::connection{server.conninfo()}, pqxx::broken_connection);
    CHECK(server.is_running());
  }
  CHECK(server.stop(0) == 0);
  server.start();
  CHECK(pqxx::connection{server.conninfo()}.is_open());
}

}  // namespace swizzle::clients
