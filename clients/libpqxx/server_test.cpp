// The server as a process: logins, timeouts, signals, and the state after a kill.

#include <libpq-fe.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <pqxx/pqxx>
#include <set>
#include <thread>

#include "clients/testing/swizzled_process.h"

namespace swizzle::clients {
namespace {

struct CloseConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
using RawConnection = std::unique_ptr<PGconn, CloseConnection>;

/// Connects by libpq itself, for what libpqxx does not show.
RawConnection raw_connect(const std::string& conninfo) {
  return RawConnection{PQconnectdb(conninfo.c_str())};
}

template <class Action>
std::string sqlstate_of(Action&& action) {
  try {
    action();
  } catch (const pqxx::sql_error& error) {
    return error.sqlstate();
  }
  return "none";
}

/// Makes a certificate for 127.0.0.1 with the openssl program.
void make_certificate(const std::string& directory) {
  const std::string command =
      "openssl req -new -x509 -days 2 -nodes -subj /CN=127.0.0.1 -newkey rsa:2048 -keyout " +
      directory + "/server.key -out " + directory + "/server.crt 2>/dev/null && chmod 600 " +
      directory + "/server.key";
  REQUIRE(std::system(command.c_str()) == 0);
}

TEST_CASE("passwords let in over TCP, wrong ones do not") {
  const SwizzledProcess server{SwizzledProcess::Access::password};
  pqxx::connection right{server.tcp_conninfo()};
  CHECK(pqxx::nontransaction{right}.exec1("SELECT 1")[0].as<int>() == 1);
  const std::string wrong = "host=127.0.0.1 port=" + std::to_string(server.port()) +
                            " dbname=postgres password=wrong user=";
  const auto refused = raw_connect(wrong + server.user());
  CHECK(PQstatus(refused.get()) == CONNECTION_BAD);
  CHECK(std::string{PQerrorMessage(refused.get())}.find("password authentication failed") !=
        std::string::npos);
  const auto unknown = raw_connect(wrong + "nobody_at_all");
  CHECK(std::string{PQerrorMessage(unknown.get())}.find(
            "password authentication failed for user \"nobody_at_all\"") != std::string::npos);
}

// The statement that pg_dumpall writes for a role.
TEST_CASE("a role that is made of its verifier logs in with its password") {
  const SwizzledProcess server{SwizzledProcess::Access::password};
  pqxx::connection connection{server.conninfo()};
  pqxx::nontransaction work{connection};
  work.exec("CREATE ROLE ann LOGIN PASSWORD 'ann''s word'");
  const auto verifier =
      work.exec1("SELECT rolpassword FROM pg_authid WHERE rolname = 'ann'")[0].as<std::string>();
  CHECK(verifier.starts_with("SCRAM-SHA-256$4096:"));
  CHECK(work.exec1("SELECT rolpassword FROM pg_roles WHERE rolname = 'ann'")[0].as<std::string>() ==
        "********");
  work.exec("DROP ROLE ann");
  work.exec("CREATE ROLE ann LOGIN PASSWORD '" + verifier + "'");
  const std::string where =
      "host=127.0.0.1 dbname=postgres user=ann port=" + std::to_string(server.port());
  CHECK(PQstatus(raw_connect(where + " password='ann\\'s word'").get()) == CONNECTION_OK);
  CHECK(PQstatus(raw_connect(where + " password=wrong").get()) == CONNECTION_BAD);
}

TEST_CASE("the data directory never holds the password") {
  const SwizzledProcess server{SwizzledProcess::Access::password};
  {
    pqxx::connection connection{server.conninfo()};
    pqxx::nontransaction{connection}.exec("CREATE ROLE ann LOGIN PASSWORD '" +
                                          std::string{SwizzledProcess::kPassword} + "'");
  }
  const auto ann =
      raw_connect("host=127.0.0.1 port=" + std::to_string(server.port()) +
                  " user=ann dbname=postgres password='" + SwizzledProcess::kPassword + "'");
  CHECK(PQstatus(ann.get()) == CONNECTION_OK);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(server.data_directory())) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file{entry.path(), std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    CAPTURE(entry.path());
    CHECK(bytes.find(SwizzledProcess::kPassword) == std::string::npos);
  }
}

TEST_CASE("TLS by two settings, with channel binding") {
  SwizzledProcess server{SwizzledProcess::Access::password};
  const auto plain = raw_connect(server.tcp_conninfo("sslmode=require"));
  CHECK(PQstatus(plain.get()) == CONNECTION_BAD);
  make_certificate(server.data_directory());
  std::ofstream{server.data_directory() + "/swizzle.conf", std::ios::app}
      << "ssl_cert_file = 'server.crt'\nssl_key_file = 'server.key'\n";
  server.send_signal(SIGHUP);
  RawConnection tls;
  for (int i = 0; i < 200 && PQstatus(tls.get()) != CONNECTION_OK; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    tls = raw_connect(server.tcp_conninfo("sslmode=require channel_binding=require"));
  }
  REQUIRE(PQstatus(tls.get()) == CONNECTION_OK);
  CHECK(PQsslInUse(tls.get()) == 1);
  // Larger than a TLS record in both directions.
  const std::string query = "SELECT '" + std::string(100'000, 'x') + "'";
  PGresult* result = PQexec(tls.get(), query.c_str());
  CHECK(PQgetlength(result, 0, 0) == 100'000);
  PQclear(result);
  const auto ask = [&](const char* text) {
    PGresult* answer = PQexec(tls.get(), text);
    std::string value = PQgetvalue(answer, 0, 0);
    PQclear(answer);
    return value;
  };
  CHECK(ask("SHOW ssl") == "on");
  CHECK(ask("SELECT concat_ws(' ', ssl, version, cipher, bits) FROM pg_stat_ssl "
            "WHERE pid = pg_backend_pid()") ==
        std::string{"t "} + PQsslAttribute(tls.get(), "protocol") + " " +
            PQsslAttribute(tls.get(), "cipher") + " " + PQsslAttribute(tls.get(), "key_bits"));
}

TEST_CASE("rules are read again on HUP; bad ones are ignored") {
  SwizzledProcess server;
  const std::string rules = server.data_directory() + "/swizzle_hba.conf";
  std::ofstream{rules} << "nonsense\n";
  server.send_signal(SIGHUP);
  std::this_thread::sleep_for(std::chrono::milliseconds{100});
  CHECK(PQstatus(raw_connect(server.conninfo()).get()) == CONNECTION_OK);
  std::ofstream{rules} << "local all all reject\n";
  server.send_signal(SIGHUP);
  RawConnection refused = raw_connect(server.conninfo());
  for (int i = 0; i < 200 && PQstatus(refused.get()) == CONNECTION_OK; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    refused = raw_connect(server.conninfo());
  }
  CHECK(std::string{PQerrorMessage(refused.get())}.find("rejects connection") != std::string::npos);
}

/// Two sessions that insert the same key: the first has it locked, the second waits.
class LockedOut {
 public:
  explicit LockedOut(const SwizzledProcess& server)
      : holder_(server.conninfo()), waiter_(server.conninfo()) {
    pqxx::nontransaction{holder_}.exec("CREATE TABLE t (k int PRIMARY KEY)");
    hold_ = std::make_unique<pqxx::work>(holder_);
    hold_->exec("INSERT INTO t VALUES (1)");
  }

  /// Waits until `interrupt` ends the wait; returns its SQLSTATE. After ten seconds the first
  /// session commits, so that a defect fails instead of hanging.
  std::string wait_for_end(const std::function<void(pqxx::connection&)>& interrupt) {
    std::atomic<bool> done{false};
    std::thread other{[&] {
      std::this_thread::sleep_for(std::chrono::milliseconds{200});
      interrupt(waiter_);
      for (int i = 0; i < 1000 && !done; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
      }
      hold_->abort();
    }};
    pqxx::nontransaction wait{waiter_};
    const std::string state = sqlstate_of([&] { wait.exec("INSERT INTO t VALUES (1)"); });
    done = true;
    other.join();
    return state;
  }
  pqxx::connection& waiter() { return waiter_; }

 private:
  pqxx::connection holder_;
  pqxx::connection waiter_;
  std::unique_ptr<pqxx::work> hold_;
};

TEST_CASE("a statement that waits for a lock can be cancelled") {
  const SwizzledProcess server;
  LockedOut scene{server};
  CHECK(scene.wait_for_end([](pqxx::connection& waiter) { waiter.cancel_query(); }) == "57014");
  CHECK(pqxx::nontransaction{scene.waiter()}.exec1("SELECT 1")[0].as<int>() == 1);
}

TEST_CASE("statement_timeout ends a statement that waits for a lock") {
  const SwizzledProcess server;
  LockedOut scene{server};
  pqxx::nontransaction{scene.waiter()}.exec("SET statement_timeout = '300ms'");
  CHECK(scene.wait_for_end([](pqxx::connection&) {}) == "57014");
  CHECK(pqxx::nontransaction{scene.waiter()}.exec1("SELECT 1")[0].as<int>() == 1);
}

TEST_CASE("statement_timeout ends the statement, says so, and leaves the session alone") {
  const SwizzledProcess server;
  pqxx::connection connection{server.conninfo()};
  {
    pqxx::work work{connection};
    work.exec("SET LOCAL statement_timeout = '20ms'");
    try {
      work.exec("SELECT pg_sleep(20)");
      FAIL("it slept");
    } catch (const pqxx::sql_error& error) {
      CHECK(error.sqlstate() == "57014");
      CHECK_THAT(error.what(), Catch::Contains("due to statement timeout"));
    }
  }
  // The error that ended the statement is sent only once.
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  for (int i = 0; i < 3; ++i) {
    CHECK(pqxx::nontransaction{connection}.exec1("SELECT 1")[0].as<int>() == 1);
  }
}

TEST_CASE("a statement that computes can be cancelled and timed") {
  const SwizzledProcess server;
  pqxx::connection connection{server.conninfo()};
  pqxx::nontransaction work{connection};
  std::thread canceller{[&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
    connection.cancel_query();
  }};
  CHECK(sqlstate_of([&] { work.exec("SELECT pg_sleep(20)"); }) == "57014");
  canceller.join();
  work.exec("SET statement_timeout = '50ms'");
  CHECK(sqlstate_of([&] { work.exec("SELECT count(*) FROM generate_series(1, 1000000000)"); }) ==
        "57014");
  work.exec("SET statement_timeout = 0");
}

/// Cancels the request of `connection`; returns true once the server has closed the cancelling
/// connection.
bool cancel(PGconn* connection) {
  const std::unique_ptr<PGcancel, decltype(&PQfreeCancel)> cancel{PQgetCancel(connection),
                                                                  &PQfreeCancel};
  std::array<char, 256> error{};
  return PQcancel(cancel.get(), error.data(), static_cast<int>(error.size())) == 1;
}

/// Runs it by the extended protocol; returns the SQLSTATE, or "" for success.
std::string state_of(PGconn* connection, const char* query) {
  const std::unique_ptr<PGresult, decltype(&PQclear)> result{
      PQexecParams(connection, query, 0, nullptr, nullptr, nullptr, nullptr, 0), &PQclear};
  const char* const state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
  return state == nullptr ? "" : state;
}

TEST_CASE("a cancel that comes as its statement ends does not reach the next one") {
  const SwizzledProcess server;
  const auto connection = raw_connect(server.conninfo());
  REQUIRE(state_of(connection.get(), "CREATE TABLE t (k int PRIMARY KEY)").empty());
  const bool in_block = GENERATE(false, true);
  CAPTURE(in_block);
  std::map<std::string, int> ends;
  for (int round = 0; round < 150; ++round) {
    if (in_block) REQUIRE(state_of(connection.get(), "BEGIN").empty());
    // From before the end of the query to after it.
    bool is_cancelled = false;
    std::thread canceller{[&, pause = std::chrono::microseconds{500 + 20 * round}] {
      std::this_thread::sleep_for(pause);
      is_cancelled = cancel(connection.get());
    }};
    ++ends[state_of(connection.get(), "SELECT pg_sleep(0.002)")];
    canceller.join();
    REQUIRE(is_cancelled);
    if (in_block) REQUIRE(state_of(connection.get(), "ROLLBACK").empty());
    REQUIRE(state_of(connection.get(), "INSERT INTO t VALUES (1)").empty());
    REQUIRE(state_of(connection.get(), "DELETE FROM t").empty());
  }
  CHECK(ends[""] + ends["57014"] == 150);
}

TEST_CASE("a client that vanishes frees what it held") {
  const SwizzledProcess server;
  pqxx::connection survivor{server.conninfo()};
  pqxx::nontransaction work{survivor};
  work.exec("CREATE TABLE t (k int PRIMARY KEY)");
  {
    const auto vanishing = raw_connect(server.conninfo());
    PQclear(PQexec(vanishing.get(), "BEGIN"));
    PQclear(PQexec(vanishing.get(), "INSERT INTO t VALUES (1)"));
  }
  work.exec("SET statement_timeout = '5s'");
  work.exec("INSERT INTO t VALUES (1)");
  CHECK(work.exec1("SELECT count(*) FROM t")[0].as<int>() == 1);
}

TEST_CASE("smart, fast and immediate stops") {
  SwizzledProcess server;
  {
    pqxx::connection connection{server.conninfo()};
    pqxx::nontransaction{connection}.exec("CREATE TABLE t (k int PRIMARY KEY)");
    SECTION("fast ends a session in the middle of a transaction") {
      pqxx::connection open{server.conninfo()};
      pqxx::work work{open};
      work.exec("INSERT INTO t VALUES (1)");
      CHECK(server.stop(SIGINT) == 0);
      CHECK_THROWS(work.exec("SELECT 1"));
    }
    SECTION("smart waits for the last session and lets no new one in") {
      server.send_signal(SIGTERM);
      std::this_thread::sleep_for(std::chrono::milliseconds{100});
      CHECK(PQstatus(raw_connect(server.conninfo()).get()) == CONNECTION_BAD);
      CHECK(server.is_running());
      CHECK(pqxx::nontransaction{connection}.exec1("SELECT 1")[0].as<int>() == 1);
      connection.disconnect();
      CHECK(server.stop(0) == 0);
    }
    SECTION("immediate is like a crash") {
      CHECK(server.stop(SIGQUIT) == 2);
    }
  }
  server.start();
  pqxx::connection connection{server.conninfo()};
  CHECK(pqxx::nontransaction{connection}.exec1("SELECT count(*) FROM t")[0].as<int>() == 0);
}

TEST_CASE("the command line says what is wrong") {
  const auto run = [](std::vector<std::string> words) {
    return SwizzledProcess::run_swizzled(words);
  };
  CHECK(run({"help"}).exit_code == 0);
  CHECK(run({"-D"}).exit_code == 2);
  CHECK(run({"frobnicate", "-D", "/tmp"}).exit_code == 2);
  CHECK(run({"init", "-D", "/nowhere/at/all"}).output.find("needs a password") !=
        std::string::npos);
  CHECK(run({"init", "--peer-only", "-U", "pg_one", "-D", "/nowhere/at/all"})
            .output.find("role names cannot begin with \"pg_\"") != std::string::npos);
  CHECK(run({"init", "--peer-only", "-D", "/nowhere/at/all"}).exit_code == 1);
  CHECK(run({"-D", "/nowhere"}).output.find("swizzled init -D /nowhere") != std::string::npos);
  CHECK(run({"status", "-D", "/nowhere"}).exit_code == 3);
  const SwizzledProcess server;
  const auto second = run({"-D", server.data_directory(), "-p", "1", "-k", server.directory()});
  CHECK(second.exit_code == 1);
  CHECK(second.output.find("is another server (PID " + std::to_string(server.process()) + ")") !=
        std::string::npos);
  CHECK(run({"status", "-D", server.data_directory()}).exit_code == 0);
  CHECK(run({"init", "--peer-only", "-D", server.data_directory()}).exit_code == 1);
}

/// Keys whose commit was acknowledged, recorded outside of the server.
class Acknowledged {
 public:
  void add(int key) {
    const std::scoped_lock lock{mutex_};
    keys_.insert(key);
  }
  [[nodiscard]] std::set<int> keys() const {
    const std::scoped_lock lock{mutex_};
    return keys_;
  }

 private:
  mutable std::mutex mutex_;
  std::set<int> keys_;
};

/// Inserts pairs of rows until the server is gone. Each pair is a transaction: (k, 0), (k, 1).
void insert_until_killed(const std::string& conninfo, std::atomic<int>& next_key,
                         Acknowledged& acknowledged) {
  try {
    pqxx::connection connection{conninfo};
    connection.prepare("put", "INSERT INTO pairs VALUES ($1, $2)");
    for (;;) {
      const int key = next_key++;
      pqxx::work work{connection};
      work.exec_prepared("put", key, 0);
      work.exec_prepared("put", key, 1);
      work.commit();
      acknowledged.add(key);
    }
  } catch (const std::exception&) {
    // The server was killed. The transaction in progress was not acknowledged, so it may be there
    // or not.
  }
}

TEST_CASE("what was acknowledged before a kill -9 is there after it, whole", "[crash]") {
  SwizzledProcess server;
  {
    pqxx::connection connection{server.conninfo()};
    pqxx::nontransaction{connection}.exec(
        "CREATE TABLE pairs (k int, half int, PRIMARY KEY (k, half))");
  }
  std::atomic<int> next_key{0};
  Acknowledged acknowledged;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back([&] { insert_until_killed(server.conninfo(), next_key, acknowledged); });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{150 + 100 * round});
    server.kill();
    for (std::thread& client : clients) client.join();
    server.start();
    pqxx::connection connection{server.conninfo()};
    pqxx::nontransaction look{connection};
    std::multiset<int> found;
    for (const auto& row : look.exec("SELECT k FROM pairs")) found.insert(row[0].as<int>());
    const std::set<int> promised = acknowledged.keys();
    CHECK(promised.size() > static_cast<std::size_t>(round));
    std::size_t lost = 0;
    for (const int key : promised) lost += found.count(key) == 2 ? 0U : 1U;
    CHECK(lost == 0);
    std::size_t halves = 0;
    for (const int key : found) halves += found.count(key) == 2 ? 0U : 1U;
    CHECK(halves == 0);
  }
}

TEST_CASE("lists of stop words of a directory replace those that are built in") {
  namespace fs = std::filesystem;
  const fs::path lists =
      fs::temp_directory_path() / ("swizzle-stop-words-" + std::to_string(::getpid()));
  fs::create_directories(lists);
  std::ofstream{lists / "german.stop"} << "der\nUND  is no part of it\n\nim";
  std::ofstream{lists / "legal.stop"} << "hereby\n";
  std::ofstream{lists / "english.stop"} << "hound\n";
  std::ofstream{lists / "notes.txt"} << "not a list";
  {
    SwizzledProcess server{SwizzledProcess::Access::peer_only,
                           {"stop_words_directory=" + lists.string()}};
    pqxx::connection connection{server.conninfo()};
    pqxx::nontransaction session{connection};
    const auto value = [&](const std::string& sql) {
      return session.exec1("SELECT " + sql)[0].as<std::string>();
    };
    CHECK(value("to_tsvector('german', 'Der Hund und im Hof die Katzen')") ==
          "'die':6 'hof':5 'hund':2 'katz':7");
    CHECK(value("to_tsvector('english', 'the hound')") == "'the':1");
    CHECK(value("to_tsvector('french', 'le chien')") == "'chien':2");
    CHECK(value("dictinitoption FROM pg_ts_dict WHERE dictname = 'german_stem'") ==
          "language = 'german', stopwords = 'german'");
    session.exec0("CREATE TEXT SEARCH DICTIONARY legal (TEMPLATE = simple, StopWords = legal)");
    CHECK(value("ts_lexize('legal', 'HEREBY')") == "{}");
    CHECK(value("ts_lexize('legal', 'Sold')") == "{sold}");
    CHECK(sqlstate_of([&] {
            session.exec("CREATE TEXT SEARCH DICTIONARY f (TEMPLATE = simple, StopWords = none)");
          }) == "0A000");
  }
  // A list that is missing or no text is reported at the start.
  std::ofstream{lists / "broken.stop"} << "\xff\xfe\n";
  CHECK_THROWS(SwizzledProcess{SwizzledProcess::Access::peer_only,
                               {"stop_words_directory=" + lists.string()}});
  CHECK_THROWS(SwizzledProcess{SwizzledProcess::Access::peer_only,
                               {"stop_words_directory=/nowhere/at/all"}});
  fs::remove_all(lists);
}

}  // namespace
}  // namespace swizzle::clients
