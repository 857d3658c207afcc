// Tests of a running server's metrics, of the console over HTTP, and of the log.

#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <pqxx/pqxx>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/testing/free_port.h"
#include "clients/testing/swizzled_process.h"

namespace swizzle::clients {
namespace {

/// A socket of this process, bound and connected on request; closed with the object.
class TcpSocket {
 public:
  TcpSocket() : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {}
  TcpSocket(const TcpSocket&) = delete;
  TcpSocket& operator=(const TcpSocket&) = delete;
  ~TcpSocket() { ::close(descriptor_); }
  [[nodiscard]] int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Sends `request` and reads until the server closes.
std::string talk(int port, const std::string& request) {
  const TcpSocket socket;
  const sockaddr_in address = loopback(port);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw std::runtime_error{"nobody listens on the metrics port"};
  }
  if (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return {};
  std::string answer;
  char piece[4096];
  for (ssize_t got = 0; (got = ::recv(socket.get(), piece, sizeof piece, 0)) > 0;) {
    answer.append(piece, static_cast<std::size_t>(got));
  }
  return answer;
}

std::string get(int port, const std::string& path) {
  return talk(port, "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
}

/// Returns the value of a metric; `name` includes its labels as Prometheus writes them.
double value_of(const std::string& metrics, const std::string& name) {
  const std::size_t at = metrics.find("\n" + name + " ");
  if (at == std::string::npos) throw std::runtime_error{"no metric " + name};
  return std::stod(metrics.substr(at + name.size() + 2));
}

TEST_CASE("metrics count what a client did") {
  const int port = swizzle::testing::free_port();
  const SwizzledProcess server{SwizzledProcess::Access::peer_only,
                               {"metrics_port=" + std::to_string(port)}};
  pqxx::connection client{server.conninfo()};
  const std::string before = get(port, "/metrics");
  REQUIRE(before.starts_with("HTTP/1.1 200 OK\r\n"));
  {
    pqxx::work work{client};
    work.exec("CREATE TABLE t (k int PRIMARY KEY, v text)");
    work.exec("INSERT INTO t SELECT i, 'x' FROM generate_series(1, 100) i");
    work.commit();
  }
  {
    pqxx::nontransaction work{client};
    for (int i = 1; i <= 10; ++i) work.exec_params("SELECT v FROM t WHERE k = $1", i);
    CHECK_THROWS(work.exec("SELECT nonsense"));
    CHECK_THROWS(work.exec("INSERT INTO t VALUES (1, 'again')"));
  }
  const std::string after = get(port, "/metrics");
  const auto grew = [&](const std::string& name) {
    return value_of(after, name) - value_of(before, name);
  };
  CHECK(grew("swizzle_statement_duration_seconds_count{kind=\"select\"}") == 10);
  CHECK(grew("swizzle_statement_duration_seconds_count{kind=\"insert\"}") == 1);
  CHECK(grew("swizzle_statement_duration_seconds_count{kind=\"definition\"}") == 1);
  CHECK(grew("swizzle_statement_duration_seconds_count{kind=\"commit\"}") == 1);
  CHECK(grew("swizzle_statement_errors_total{class=\"42\"}") == 1);
  CHECK(grew("swizzle_statement_errors_total{class=\"23\"}") == 1);
  CHECK(grew("swizzle_transactions_total{outcome=\"commit\"}") >= 1);
  CHECK(grew("swizzle_log_flushes_total") >= 1);
  CHECK(grew("swizzle_log_sync_duration_seconds_count") >= 1);
  CHECK(grew("swizzle_log_bytes_total") > 1000);
  CHECK(value_of(after, "swizzle_connections") == 1);
  CHECK(value_of(after, "swizzle_sessions{state=\"idle\"}") == 1);
  CHECK(value_of(after, "swizzle_pool_frames{state=\"swizzled\"}") > 0);
}

TEST_CASE("a wait for a lock and a deadlock are counted by mode") {
  const int port = swizzle::testing::free_port();
  const SwizzledProcess server{SwizzledProcess::Access::peer_only,
                               {"metrics_port=" + std::to_string(port)}};
  pqxx::connection first{server.conninfo()};
  pqxx::connection second{server.conninfo()};
  pqxx::nontransaction{first}.exec("CREATE TABLE t (k int PRIMARY KEY)");
  pqxx::work holder{first};
  holder.exec("INSERT INTO t VALUES (1)");
  pqxx::work waiter{second};
  waiter.exec("SET LOCAL lock_timeout = '50ms'");
  CHECK_THROWS(waiter.exec("INSERT INTO t VALUES (1)"));
  const std::string metrics = get(port, "/metrics");
  CHECK(value_of(metrics, "swizzle_lock_timeouts_total") == 1);
  CHECK(value_of(metrics, "swizzle_statement_errors_total{class=\"55\"}") == 1);
  const std::regex waited{"\nswizzle_lock_waits_total\\{mode=\"[^\"]*X[^\"]*\"\\} 1\n"};
  CHECK(std::regex_search(metrics, waited));
}

TEST_CASE("the console needs nothing from elsewhere, and its figures are a whole object") {
  const int port = swizzle::testing::free_port();
  const SwizzledProcess server{SwizzledProcess::Access::peer_only,
                               {"metrics_port=" + std::to_string(port)}};
  const std::string page = get(port, "/");
  CHECK(page.find("Content-Type: text/html") != std::string::npos);
  CHECK(page.find("</html>") != std::string::npos);
  CHECK(page.find("Content-Security-Policy: default-src 'none'; script-src 'self'") !=
        std::string::npos);
  for (const char* const file : {"/", "/console.css", "/main.js", "/charts.js", "/numbers.js",
                                 "/pool.js", "/tables.js", "/views.js"}) {
    const std::string text = get(port, file);
    CAPTURE(file);
    CHECK(text.starts_with("HTTP/1.1 200"));
    CHECK(text.find("http://") == std::string::npos);
    CHECK(text.find("https://") == std::string::npos);
    CHECK(text.find("=\"//") == std::string::npos);
  }
  CHECK(get(port, "/main.js").find("Content-Type: text/javascript") != std::string::npos);
  const std::string figures = get(port, "/status.json");
  const std::size_t map = figures.find("\"map\":\"");
  REQUIRE(map != std::string::npos);
  CHECK(figures.ends_with("\"}"));
  const std::string squares = figures.substr(map + 7, figures.size() - map - 9);
  CHECK(squares.size() == 1600);
  CHECK(squares.find_first_not_of(".sSuU") == std::string::npos);
  CHECK(squares.find_first_of("sS") != std::string::npos);
  CHECK(get(port, "/health").ends_with("ready\n"));
}

TEST_CASE("what is not a request for metrics is refused, and the server goes on") {
  const int port = swizzle::testing::free_port();
  const SwizzledProcess server{SwizzledProcess::Access::peer_only,
                               {"metrics_port=" + std::to_string(port)}};
  CHECK(get(port, "/other").starts_with("HTTP/1.1 404"));
  CHECK(talk(port, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
  CHECK(get(port, "/api/sessions").starts_with("HTTP/1.1 401"));
  CHECK(talk(port, "POST /api/login HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
            .starts_with("HTTP/1.1 403"));
  CHECK(talk(port, "POST /api/login HTTP/1.1\r\nContent-Length: 5000\r\n\r\n")
            .starts_with("HTTP/1.1 400"));
  CHECK(talk(port, "nonsense\r\n\r\n").starts_with("HTTP/1.1 400"));
  // The refusal may be lost, since unread input resets the connection.
  const std::string answer = talk(port, std::string(100'000, 'x'));
  CHECK((answer.empty() || answer.starts_with("HTTP/1.1 400")));
  CHECK(get(port, "/health").ends_with("ready\n"));
  CHECK(pqxx::nontransaction{*std::make_unique<pqxx::connection>(server.conninfo())}
            .exec1("SELECT 1")[0]
            .as<int>() == 1);
}

TEST_CASE("slow statements, logins and errors come out as pgBadger reads them") {
  const SwizzledProcess server{
      SwizzledProcess::Access::peer_only,
      {"log_line_prefix=%t [%p]: user=%u,db=%d,app=%a,client=%h ", "log_min_duration_statement=0",
       "log_connections=on", "log_disconnections=on"}};
  {
    pqxx::connection client{server.conninfo("application_name=shop")};
    pqxx::nontransaction work{client};
    work.exec("SELECT 'plainly'");
    client.prepare("named", "SELECT 'prepared', $1::int");
    work.exec_prepared("named", 7);
    CHECK_THROWS(work.exec("SELECT missing_column"));
  }
  // The line about the session's end is the last.
  for (int i = 0; i < 200 && server.log().find("disconnection:") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  const std::string log = server.log();
  const std::string prefix = R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \[\d+\]: user=)" +
                             server.user() + R"(,db=postgres,app=shop,client=\[local\] )";
  for (const std::string line :
       {R"(LOG:  connection authorized: user=\S+ database=postgres application_name=shop)",
        R"(LOG:  duration: \d+\.\d{3} ms  statement: SELECT 'plainly')",
        R"(LOG:  duration: \d+\.\d{3} ms  execute named: SELECT 'prepared', \$1::int)",
        R"(ERROR:  column "missing_column" does not exist)", R"(STATEMENT:  SELECT missing_column)",
        R"(LOG:  disconnection: session time: 0:00:\d\d\.\d{3} user=\S+ database=postgres)"}) {
    CAPTURE(line, log);
    CHECK(std::regex_search(log, std::regex{prefix + line}));
  }
}

TEST_CASE("the log has the statement of a script that failed, not the script") {
  const SwizzledProcess server;
  pqxx::connection client{server.conninfo()};
  pqxx::nontransaction work{client};
  work.exec("CREATE TABLE t (k int PRIMARY KEY); PREPARE one AS SELECT 1");
  struct Case {
    const char* script;
    const char* statement;
  };
  for (const Case& at : {
           Case{"SELECT 1; SELECT 1/0; SELECT 2", "SELECT 1/0"},
           // A comment before a statement is not part of it.
           Case{"SELECT 'a;b';\n  /* why */ SELECT missing ;\nSELECT 3", "SELECT missing"},
           // A statement that completes without rows, by itself or as a container of others, counts
           // once.
           Case{"BEGIN; SET LOCAL work_mem = '1MB'; SHOW work_mem; EXECUTE one; DO $$ BEGIN "
                "PERFORM 1; "
                "END $$; EXPLAIN SELECT 1; DECLARE c CURSOR FOR SELECT 1; FETCH c; SAVEPOINT s; "
                "INSERT "
                "INTO t VALUES (1), (2); DROP TABLE missing; COMMIT",
                "DROP TABLE missing"},
           Case{"ROLLBACK; INSERT INTO t VALUES (3); INSERT INTO t VALUES (3)",
                "INSERT INTO t VALUES (3)"},
           Case{"SELECT 1; SELEC 2", "SELECT 1; SELEC 2"},
           Case{"SELECT alone;", "SELECT alone;"},
       }) {
    const std::size_t before = server.log().size();
    CHECK_THROWS(work.exec(at.script));
    const std::string log = server.log().substr(before);
    CAPTURE(log);
    const std::string line = "STATEMENT:  " + std::string{at.statement} + "\n";
    CHECK(log.find(line) != std::string::npos);
  }
  const std::size_t before = server.log().size();
  CHECK_THROWS(work.exec("ROLLBACK; DO $$ BEGIN PERFORM 5 / 0; END $$"));
  CHECK(server.log().substr(before).find("CONTEXT:  SQL statement \"SELECT 5 / 0\"\n") !=
        std::string::npos);
}

TEST_CASE("log_min_error_statement says whether an error brings its statement") {
  SwizzledProcess server{SwizzledProcess::Access::peer_only, {"log_min_error_statement=fatal"}};
  pqxx::connection client{server.conninfo()};
  pqxx::nontransaction work{client};
  const auto logged = [&](const std::string& statement) {
    const std::size_t before = server.log().size();
    CHECK_THROWS(work.exec(statement));
    return server.log().substr(before);
  };
  CHECK(work.exec1("SHOW log_min_error_statement")[0].as<std::string>() == "fatal");
  std::string log = logged("SELECT hidden");
  CHECK(log.find("ERROR:  column \"hidden\"") != std::string::npos);
  CHECK(log.find("STATEMENT") == std::string::npos);
  for (const char* level : {"debug5", "notice", "warning", "error"}) {
    work.exec("SET log_min_error_statement = " + std::string{level});
    CHECK(logged("SELECT shown").find("STATEMENT:  SELECT shown") != std::string::npos);
  }
  for (const char* level : {"log", "fatal", "panic"}) {
    work.exec("SET log_min_error_statement = " + std::string{level});
    CHECK(logged("SELECT hidden").find("STATEMENT") == std::string::npos);
  }
  CHECK_THROWS_WITH(work.exec("SET log_min_error_statement = loud"),
                    Catch::Contains("invalid value for parameter"));
  CHECK(work.exec1("SELECT context || ' ' || boot_val FROM pg_settings "
                   "WHERE name = 'log_min_error_statement'")[0]
            .as<std::string>() == "superuser error");
  work.exec("CREATE ROLE plain; SET ROLE plain");
  CHECK_THROWS_WITH(work.exec("SET log_min_error_statement = error"),
                    Catch::Contains("permission denied to set parameter"));
  work.exec("RESET ROLE; RESET log_min_error_statement");
  // Existing sessions obey reloaded settings.
  work.exec("ALTER SYSTEM SET log_min_messages = 'panic'");
  work.exec("SELECT pg_reload_conf()");
  bool is_silent = false;
  for (int i = 0; i < 200 && !is_silent; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
    is_silent = logged("SELECT silent").find("silent") == std::string::npos;
  }
  CHECK(is_silent);
}

TEST_CASE("what is logged can be changed while the server runs") {
  SwizzledProcess server;
  pqxx::connection client{server.conninfo()};
  pqxx::nontransaction work{client};
  work.exec("SELECT 'unseen'");
  work.exec("SET log_statement = 'all'");
  work.exec("SELECT 'seen'");
  work.exec("SET log_statement = 'mod'");
  work.exec("SELECT 'unseen again'");
  work.exec("/* a comment */ CREATE TABLE noted (k int)");
  work.exec("INSERT INTO noted VALUES (1)");
  std::string log = server.log();
  CHECK(log.find("LOG:  statement: SELECT 'seen'") != std::string::npos);
  CHECK(log.find("LOG:  statement: /* a comment */ CREATE TABLE noted") != std::string::npos);
  CHECK(log.find("LOG:  statement: INSERT INTO noted") != std::string::npos);
  CHECK(log.find("unseen") == std::string::npos);

  std::ofstream{server.data_directory() + "/swizzle.conf", std::ios::app} << "log_format = json\n";
  server.send_signal(SIGHUP);
  for (int i = 0; i < 200 && server.log().find("\"message\":") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  CHECK_THROWS(work.exec("SELECT \"no such\""));
  log = server.log();
  const std::string last = log.substr(log.rfind('{', log.size() - 2));
  CAPTURE(last);
  CHECK(last.find("\"error_severity\":\"ERROR\"") != std::string::npos);
  CHECK(last.find("\"state_code\":\"42703\"") != std::string::npos);
  CHECK(last.find("\"statement\":\"SELECT \\\"no such\\\"\"") != std::string::npos);
}

TEST_CASE("monitors for PostgreSQL find metrics in the views that they ask") {
  const SwizzledProcess server;
  pqxx::connection client{server.conninfo()};
  pqxx::nontransaction{client}.exec("CREATE TABLE t (k int)");
  pqxx::nontransaction work{client};
  CHECK(work.exec1("SELECT xact_commit > 0 AND blks_hit >= 0 FROM pg_stat_database "
                   "WHERE datname = current_database()")[0]
            .as<bool>());
  CHECK(
      work.exec1("SELECT count(*) FROM pg_stat_database WHERE xact_commit IS NULL")[0].as<int>() ==
      0);
  CHECK(work.exec1("SELECT num_timed + buffers_clean + buffers_alloc >= 0 "
                   "FROM pg_stat_bgwriter, pg_stat_checkpointer")[0]
            .as<bool>());
  CHECK(work.exec1("SELECT count(*) FROM pg_stat_archiver")[0].as<int>() == 1);
  // postgres_exporter exits at a unit that PostgreSQL does not have.
  CHECK(work.exec1("SELECT count(*) FROM pg_settings "
                   "WHERE unit NOT IN ('B', 'kB', '8kB', 'MB', 'ms', 's', 'min')")[0]
            .as<int>() == 0);
}

}  // namespace
}  // namespace swizzle::clients
