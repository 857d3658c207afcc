// A primary and its standby as processes: the copy, following, a crash of either, the promotion.
#include <libpq-fe.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "server/session/testing/swizzled_process.h"

namespace swizzle::server {
namespace {

using Catch::Matchers::Contains;
using testing::ServerHome;

constexpr int kPrimaryPort = 7001;
constexpr int kStandbyPort = 7002;

struct EndSession {
  void operator()(PGconn* session) const { PQfinish(session); }
  void operator()(PGresult* answer) const { PQclear(answer); }
};
using Session = std::unique_ptr<PGconn, EndSession>;

/// Returns the first value, or the error.
std::string ask(const std::string& conninfo, const std::string& sql) {
  const Session session{PQconnectdb(conninfo.c_str())};
  if (PQstatus(session.get()) != CONNECTION_OK) return PQerrorMessage(session.get());
  const std::unique_ptr<PGresult, EndSession> answer{PQexec(session.get(), sql.c_str())};
  if (PQresultStatus(answer.get()) == PGRES_FATAL_ERROR) return PQresultErrorMessage(answer.get());
  return PQntuples(answer.get()) == 0 ? "" : PQgetvalue(answer.get(), 0, 0);
}

void add_setting(const ServerHome& home, const std::string& name, const std::string& line) {
  std::ofstream file{home.data(name) + "/swizzle.auto.conf", std::ios::app};
  file << line << '\n';
}

/// A primary with a table, and a standby that has been copied from it and started.
struct TwoServers {
  TwoServers() {
    REQUIRE(home.run({"init", "-D", home.data("first"), "--peer-only"}) == 0);
    home.start("first", kPrimaryPort);
    REQUIRE(home.is_open("first"));
    CHECK(ask(primary, "CREATE TABLE rows AS SELECT n FROM generate_series(1, 1000) n") == "");
    INFO(home.log_of("init"));
    REQUIRE(home.run({"init", "-D", home.data("second"), "--standby-of", primary, "--slot", "s"},
                     "init.log") == 0);
    home.start("second", kStandbyPort);
  }
  /// Waits until the standby has what the primary has.
  bool has_all() const {
    for (int i = 0; i < 3000; ++i) {
      if (ask(primary, "SELECT flush_lsn >= pg_current_wal_lsn() FROM pg_stat_replication") == "t")
        return true;
      ::usleep(10'000);
    }
    return false;
  }

  ServerHome home;
  const std::string primary = home.conninfo(kPrimaryPort);
  const std::string standby = home.conninfo(kStandbyPort);
};

}  // namespace

TEST_CASE("a standby follows, survives a crash, and takes over; the old primary cannot return") {
  TwoServers servers;
  ServerHome& home = servers.home;
  REQUIRE(servers.has_all());
  CHECK_THAT(ask(servers.standby, "SELECT 1"),
             Contains("the database system is not accepting connections") &&
                 Contains("Hot standby mode is disabled"));
  CHECK(ask(servers.primary, "SELECT slot_type || active FROM pg_replication_slots") ==
        "physicaltrue");
  CHECK(ask(servers.primary, "INSERT INTO rows SELECT n FROM generate_series(1001, 3000) n") == "");
  home.kill("second");
  CHECK(ask(servers.primary, "INSERT INTO rows VALUES (3001)") == "");
  home.start("second", kStandbyPort);
  REQUIRE(servers.has_all());
  home.kill("second");
  CHECK(ask(servers.primary, "INSERT INTO rows VALUES (3002)") == "");
  home.kill("first");
  home.start("second", kStandbyPort);

  // A row that the standby never got is what the promotion costs.
  for (int i = 0;
       i < 3000 && home.log_of("second").find("entering standby mode") == std::string::npos; ++i)
    ::usleep(10'000);
  REQUIRE(home.run({"promote", "-D", home.data("second")}) == 0);
  REQUIRE(home.is_open("second"));
  CHECK(ask(servers.standby, "SELECT count(*) || ' ' || max(n) FROM rows") == "3001 3001");
  CHECK(ask(servers.standby, "INSERT INTO rows VALUES (4000)") == "");
  CHECK(home.run({"promote", "-D", home.data("second")}) == 1);

  add_setting(home, "first", "primary_conninfo = '" + servers.standby + "'");
  std::ofstream{home.data("first") + "/standby.signal"};
  home.start("first", kPrimaryPort);
  CHECK(home.await_end("first") == 1);
  CHECK_THAT(home.log_of("first"), Contains("is not a part of timeline 2"));
}

TEST_CASE("a standby whose settings ask for what there is not does not start") {
  TwoServers servers;
  ServerHome& home = servers.home;
  home.kill("second");
  add_setting(home, "second", "restore_command = 'cp /archive/%f %p'");
  home.start("second", kStandbyPort);
  CHECK(home.await_end("second") == 1);
  CHECK_THAT(home.log_of("second"), Contains("restore_command"));
}

TEST_CASE("a standby without its signal file becomes a server of another timeline") {
  TwoServers servers;
  ServerHome& home = servers.home;
  REQUIRE(servers.has_all());
  home.kill("second");
  std::filesystem::remove(home.data("second") + "/standby.signal");
  home.start("second", kStandbyPort);
  REQUIRE(home.is_open("second"));
  CHECK(ask(servers.standby, "SELECT count(*) FROM rows") == "1000");
  CHECK_THAT(home.log_of("second"), Contains("timeline 2 begins"));
}

}  // namespace swizzle::server
