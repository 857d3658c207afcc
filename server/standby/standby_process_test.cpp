// A primary and its standby as processes: the copy, following, a crash of either, the promotion.
#include <libpq-fe.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "server/standby/testing/two_servers.h"

namespace swizzle::server {
namespace {

using Catch::Contains;
using namespace testing;
using Session = std::unique_ptr<PGconn, EndSession>;

constexpr int kPrimaryPort = TwoServers::kPrimaryPort;
constexpr int kStandbyPort = TwoServers::kStandbyPort;

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
  CHECK(ask(servers.primary, "INSERT INTO rows SELECT n FROM generate_series(1001, 3000) n") ==
        kNothing);
  home.kill("second");
  CHECK(ask(servers.primary, "INSERT INTO rows VALUES (3001)") == kNothing);
  home.start("second", kStandbyPort);
  REQUIRE(servers.has_all());
  home.kill("second");
  CHECK(ask(servers.primary, "INSERT INTO rows VALUES (3002)") == kNothing);
  home.kill("first");
  const std::size_t told = home.log_of("second").size();
  home.start("second", kStandbyPort);

  // A row that the standby never got is what the promotion costs.
  for (int i = 0;
       i < 3000 && home.log_of("second").find("entering standby mode", told) == std::string::npos;
       ++i)
    ::usleep(10'000);
  REQUIRE(home.run({"promote", "-D", home.data("second")}) == 0);
  REQUIRE(home.is_open("second"));
  CHECK(ask(servers.standby, "SELECT count(*) || ' ' || max(n) FROM rows") == "3001 3001");
  CHECK(ask(servers.standby, "INSERT INTO rows VALUES (4000)") == kNothing);
  CHECK(home.run({"promote", "-D", home.data("second")}) == 1);

  add_setting(home, "first", "primary_conninfo = '" + servers.standby + "'");
  std::ofstream{home.data("first") + "/standby.signal"} << std::flush;
  home.start("first", kPrimaryPort);
  CHECK(home.await_end("first") == 1);
  CHECK_THAT(home.log_of("first"), Contains("is not a part of timeline 2"));
}

TEST_CASE("a standby whose settings ask for what there is not does not start") {
  TwoServers servers;
  ServerHome& home = servers.home;
  home.kill("second");
  add_setting(home, "second", "recovery_min_apply_delay = 5min");
  home.start("second", kStandbyPort);
  CHECK(home.await_end("second") == 1);
  CHECK_THAT(home.log_of("second"), Contains("recovery_min_apply_delay"));
}

TEST_CASE("a commit waits for the standby that synchronous_standby_names asks for") {
  TwoServers servers;
  ServerHome& home = servers.home;
  REQUIRE(servers.has_all());
  const auto set_names = [&](const std::string& names) {
    CHECK(ask(servers.primary, "ALTER SYSTEM SET synchronous_standby_names = '" + names + "'") ==
          kNothing);
    CHECK(ask(servers.primary, "SELECT pg_reload_conf()") == "t");
    return await_answer(servers.primary, "SHOW synchronous_standby_names", names);
  };
  REQUIRE(set_names("walreceiver"));
  CHECK(ask(servers.primary, "SELECT sync_state || sync_priority FROM pg_stat_replication") ==
        "sync1");
  CHECK(ask(servers.primary, "INSERT INTO rows VALUES (2001)") == kNothing);
  CHECK(ask(servers.primary, "SELECT sync_state FROM pg_stat_get_wal_senders()") == "sync");

  home.kill("second");
  REQUIRE(await_answer(servers.primary, "SELECT count(*) FROM pg_stat_replication", "0"));
  CHECK(ask(servers.primary, "SET synchronous_commit = local; INSERT INTO rows VALUES (2002)") ==
        kNothing);
  CHECK(ask(servers.primary, "SELECT count(*) FROM rows") == "1002");
  const std::string waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  Session waiting{PQconnectdb(servers.primary.c_str())};
  std::string warning;
  PQsetNoticeProcessor(
      waiting.get(),
      [](void* text, const char* message) { *static_cast<std::string*>(text) += message; },
      &warning);
  REQUIRE(PQsendQuery(waiting.get(), "INSERT INTO rows VALUES (2003)") == 1);
  REQUIRE(await_answer(servers.primary, waits, "1"));
  CHECK(ask(servers.primary,
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") ==
        "t");
  const std::unique_ptr<PGresult, EndSession> done{PQgetResult(waiting.get())};
  CHECK(PQresultStatus(done.get()) == PGRES_COMMAND_OK);
  CHECK_THAT(warning, Contains("canceling wait for synchronous replication") &&
                          Contains("might not have been replicated"));
  CHECK(PQgetResult(waiting.get()) == nullptr);

  // One waits until the standby is back, and one is ended, without having been told of a commit.
  REQUIRE(PQsendQuery(waiting.get(), "INSERT INTO rows VALUES (2004)") == 1);
  const Session ended{PQconnectdb(servers.primary.c_str())};
  REQUIRE(PQsendQuery(ended.get(), "INSERT INTO rows VALUES (2005)") == 1);
  REQUIRE(await_answer(servers.primary, waits, "2"));
  const std::string pid = std::to_string(PQbackendPID(ended.get()));
  CHECK(ask(servers.primary, "SELECT pg_terminate_backend(" + pid + ")") == "t");
  const std::unique_ptr<PGresult, EndSession> refused{PQgetResult(ended.get())};
  CHECK(PQresultStatus(refused.get()) == PGRES_FATAL_ERROR);
  home.start("second", kStandbyPort);
  const std::unique_ptr<PGresult, EndSession> confirmed{PQgetResult(waiting.get())};
  CHECK(PQresultStatus(confirmed.get()) == PGRES_COMMAND_OK);

  home.kill("first");
  REQUIRE(home.run({"promote", "-D", home.data("second")}) == 0);
  REQUIRE(home.is_open("second"));
  CHECK(ask(servers.standby, "SELECT count(*) FROM rows WHERE n BETWEEN 2001 AND 2005") == "5");
}

TEST_CASE("what cannot be a standby is refused by name") {
  ServerHome home;
  REQUIRE(home.run({"init", "-D", home.data("first"), "--peer-only"}) == 0);
  home.start("first", kPrimaryPort);
  REQUIRE(home.is_open("first"));
  const std::string primary = home.conninfo(kPrimaryPort);
  const auto refused = [&](const std::vector<std::string>& words, const std::string& why) {
    const std::string before = home.log_of("tried");
    CHECK(home.run(words, "tried.log") == 1);
    CHECK_THAT(home.log_of("tried").substr(before.size()), Contains(why));
  };
  refused({"init", "-D", home.data("second"), "--standby-of", "host=" + home.path() + " port=1"},
          "could not connect to the primary server");
  refused({"init", "-D", home.data("second"), "--standby-of", primary + " user=nobody"},
          "could not connect to the primary server");
  refused({"init", "-D", home.data("first"), "--standby-of", primary}, "exists");
  CHECK(ask(primary, "SELECT pg_create_physical_replication_slot('s')") != kNothing);
  refused({"init", "-D", home.data("second"), "--standby-of", primary, "--slot", "s"},
          "replication slot \"s\" already exists");
  refused({"promote", "-D", home.data("first")}, "server is not in standby mode");
  refused({"rewind", "-D", home.data("first"), "--source", primary}, "a server is running in");
  refused({"rewind", "-D", home.data("nowhere"), "--source", primary}, "has no database");
  REQUIRE(home.run({"init", "-D", home.data("another"), "--peer-only"}) == 0);
  refused({"rewind", "-D", home.data("another"), "--source", primary},
          "source and target are different databases");
  home.kill("first");
  refused({"rewind", "-D", home.data("first"), "--source", "host=" + home.path() + " port=1"},
          "could not connect to the primary server");
}

namespace {

/// A primary that has gone on alone, for a while, and another one in its place.
struct PartedServers : TwoServers {
  enum class End : std::uint8_t { killed, stopped };
  explicit PartedServers(End end) : TwoServers{"hot_standby = on\n"} {
    CHECK(ask(primary,
              "CREATE TABLE much AS SELECT n, repeat('x', 500) filler "
              "FROM generate_series(1, 20000) n; "
              "ALTER TABLE much ADD PRIMARY KEY (n); CHECKPOINT") == kNothing);
    REQUIRE(has_all());
    home.kill("second");
    CHECK(ask(primary,
              "UPDATE much SET filler = 'lost' WHERE n % 1000 = 0; "
              "CREATE TABLE never_replicated (n int); "
              "INSERT INTO rows VALUES (5001)") == kNothing);
    if (end == End::killed) {
      home.kill("first");
    } else {
      REQUIRE(home.run({"stop", "-D", home.data("first")}) == 0);
      home.await_end("first");
    }
    home.start("second", kStandbyPort);
    REQUIRE(await_answer(standby, "SELECT count(*) FROM much", "20000"));
    REQUIRE(home.run({"promote", "-D", home.data("second")}) == 0);
    REQUIRE(await_answer(standby, "INSERT INTO rows VALUES (6001) RETURNING 1", "1"));
    CHECK(ask(standby, "UPDATE much SET filler = 'new' WHERE n % 3000 = 0") == kNothing);
    std::ofstream{home.data("first") + "/swizzle.auto.conf", std::ios::app} << "hot_standby = on\n";
  }
  int rewind() {
    return home.run({"rewind", "-D", home.data("first"), "--source", standby}, "rewind.log");
  }
  void follow_again() {
    home.start("first", kPrimaryPort);
    const std::string sums =
        "SELECT (SELECT sum(n) FROM rows) || ' ' || count(*) || ' ' || sum(length(filler)) || ' ' "
        "|| "
        "count(*) FILTER (WHERE filler = 'new') FROM much";
    CHECK(ask(standby, "INSERT INTO rows VALUES (6002)") == kNothing);
    const std::string wanted = ask(standby, sums);
    REQUIRE(await_answer(primary, sums, wanted));
    CHECK_THAT(ask(primary, "SELECT * FROM never_replicated"), Contains("42P01"));
    CHECK(ask(primary, "SELECT pg_is_in_recovery()") == "t");
    CHECK(ask(primary, "SELECT count(*) FROM rows WHERE n > 5000") == "2");
  }
};

}  // namespace

TEST_CASE("an old primary that was killed is rewound, and follows the one that took over") {
  PartedServers servers{PartedServers::End::killed};
  ServerHome& home = servers.home;
  INFO(home.log_of("rewind"));
  REQUIRE(servers.rewind() == 0);
  servers.follow_again();
  // And back.
  home.kill("second");
  REQUIRE(home.run({"promote", "-D", home.data("first")}) == 0);
  REQUIRE(await_answer(servers.primary, "INSERT INTO rows VALUES (7001) RETURNING 1", "1"));
  REQUIRE(home.run({"rewind", "-D", home.data("second"), "--source", servers.primary},
                   "rewind.log") == 0);
  home.start("second", kStandbyPort);
  REQUIRE(await_answer(servers.standby, "SELECT count(*) FROM rows WHERE n > 5000", "3"));
}

TEST_CASE("an old primary that was stopped is rewound, also after a rewind that was interrupted") {
  PartedServers servers{PartedServers::End::stopped};
  ServerHome& home = servers.home;
  // A directory in the way of a file of the copy.
  const std::filesystem::path in_the_way =
      std::filesystem::path{home.data("first")} / "engine" / "backup-end";
  std::filesystem::create_directories(in_the_way / "full");
  CHECK(servers.rewind() == 1);
  home.start("first", kPrimaryPort);
  CHECK(home.await_end("first") == 1);
  CHECK_THAT(home.log_of("first"),
             Contains("a rewind of directory") && Contains("has begun and not finished"));
  std::filesystem::remove_all(in_the_way);
  INFO(home.log_of("rewind"));
  REQUIRE(servers.rewind() == 0);
  servers.follow_again();
  // Nothing to do a second time.
  home.kill("first");
  CHECK(servers.rewind() == 1);
  CHECK_THAT(home.log_of("rewind"), Contains("both servers are on timeline 2"));
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
