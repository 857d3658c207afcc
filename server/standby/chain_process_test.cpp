// Standbys as processes, without a primary, with an archive, and behind each other.
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "server/standby/testing/two_servers.h"

namespace swizzle::server {
namespace {

using Catch::Contains;
using namespace testing;

constexpr int kThirdPort = 7003;
constexpr int kFourthPort = 7004;

/// Makes the server of the directory follow another one, once it is read again.
void follow(const ServerHome& home, const std::string& name, const std::string& other,
            const std::string& slot = "") {
  add_setting(home, name, "primary_conninfo = '" + other + "'");
  add_setting(home, name, "primary_slot_name = '" + slot + "'");
}

const std::string kReads = "hot_standby = on\nwal_retrieve_retry_interval = 100ms\n";
void insert(const std::string& primary, const std::string& number) {
  CHECK(ask(primary, "INSERT INTO rows VALUES (" + number + ")") == kNothing);
}

const std::string kTimeline = "SELECT received_tli FROM pg_stat_wal_receiver";

/// Returns the primary's identifier as the replication protocol tells it: without a sign.
std::string system_identifier(const TwoServers& servers) {
  return ask(servers.primary,
             "SELECT system_identifier + CASE WHEN system_identifier < 0 "
             "THEN 18446744073709551616 ELSE 0 END FROM pg_control_system()");
}

}  // namespace

TEST_CASE("a standby that follows nobody is read, and can be promoted") {
  ServerHome home;
  REQUIRE(home.run({"init", "-D", home.data("first"), "--peer-only"}) == 0);
  add_setting(home, "first", kReads);
  home.start("first", TwoServers::kPrimaryPort);
  REQUIRE(home.is_open("first"));
  const std::string first = home.conninfo(TwoServers::kPrimaryPort);
  CHECK(ask(first, "CREATE TABLE rows AS SELECT n FROM generate_series(1, 1000) n") == kNothing);
  REQUIRE(home.run({"stop", "-D", home.data("first")}) == 0);
  REQUIRE(home.await_end("first") == 0);
  std::ofstream{home.data("first") + "/standby.signal"} << std::flush;
  home.start("first", TwoServers::kPrimaryPort);
  REQUIRE(await_answer(first, "SELECT pg_is_in_recovery()", "t"));
  CHECK(ask(first, "SELECT count(*) FROM rows") == "1000");
  CHECK_THAT(home.log_of("first"), Contains("follows nobody"));
  CHECK(home.run({"reload", "-D", home.data("first")}) == 0);
  // Stopped and started anew, it is what it was.
  home.kill("first");
  home.start("first", TwoServers::kPrimaryPort);
  REQUIRE(await_answer(first, "SELECT count(*) FROM rows", "1000"));
  REQUIRE(home.run({"promote", "-D", home.data("first")}) == 0);
  CHECK(ask(first, "INSERT INTO rows VALUES (1001)") == kNothing);
  CHECK(ask(first, "SELECT count(*) FROM rows") == "1001");
}

TEST_CASE("a directory tells tools of PostgreSQL what it is") {
  TwoServers servers{kReads};
  ServerHome& home = servers.home;
  const auto control = [&](const std::string& name) {
    std::filesystem::remove(home.path() + "/control.log");
    CHECK(home.run({"control", "-D", home.data(name)}, "control.log") == 0);
    return home.log_of("control");
  };
  REQUIRE(servers.has_all());
  CHECK_THAT(control("first"), Contains("Database cluster state:               in production\n"));
  CHECK_THAT(control("second"),
             Contains("Database cluster state:               in archive recovery\n"));
  const std::string id = system_identifier(servers);
  for (const char* name : {"first", "second"})
    CHECK_THAT(control(name), Contains("Database system identifier:           " + id + "\n"));
  CHECK(home.run({"recover", "-D", home.data("first")}) == 1);
  const std::string end = ask(servers.primary, "SELECT pg_current_wal_lsn()");

  home.kill("second");
  CHECK_THAT(control("second"),
             Contains("shut down in recovery") &&
                 Contains("Min recovery ending loc's timeline:   1\n") &&
                 Contains("Minimum recovery ending location:     " + end + "\n"));
  CHECK(home.run({"recover", "-D", home.data("second")}, "recover.log") == 1);
  CHECK_THAT(home.log_of("recover"), Contains("standby's directory"));
  home.kill("first");
  CHECK_THAT(control("first"), Contains("in production"));
  CHECK(home.run({"recover", "-D", home.data("first")}) == 0);
  CHECK_THAT(control("first"), Contains("Database cluster state:               shut down\n"));

  CHECK(home.run({"-D", home.data("first"), "-C", "wal_buffers"}, "shown.log") == 0);
  CHECK(home.log_of("shown") == "1024\n");
  CHECK(home.run({"-D", home.data("first"), "-C", "none_such"}) == 1);
  CHECK(home.run({"ping", "-q", "-h", home.path(), "-p",
                  std::to_string(TwoServers::kPrimaryPort)}) == 2);
  home.start("first", TwoServers::kPrimaryPort);
  REQUIRE(home.is_open("first"));
  CHECK(home.run({"ping", "-q", "-h", home.path(), "-p",
                  std::to_string(TwoServers::kPrimaryPort)}) == 0);
}

TEST_CASE("a standby takes log from the archive, and the rest from its primary") {
  const std::string archive =
      std::filesystem::temp_directory_path() / ("archive-" + std::to_string(::getpid()));
  std::filesystem::create_directories(archive);
  {
    TwoServers servers{kReads, "archive_command = 'cp %p " + archive + "/%f'\n"};
    ServerHome& home = servers.home;
    REQUIRE(await_answer(servers.standby, "SELECT count(*) FROM rows", "1000"));
    home.kill("second");
    REQUIRE(await_answer(servers.primary, "SELECT active FROM pg_replication_slots", "f"));
    CHECK(ask(servers.primary, "SELECT pg_drop_replication_slot('s')") == kNothing);
    for (int i = 0; i < 8; ++i) {
      CHECK(ask(servers.primary, "INSERT INTO rows VALUES (" + std::to_string(1001 + i) + ")") ==
            kNothing);
      ask(servers.primary, "SELECT pg_switch_wal()");
      CHECK(ask(servers.primary, "CHECKPOINT") == kNothing);
    }
    // Without a primary the archive is all there is. Of what it has, the last record is not redone.
    add_setting(home, "second", "primary_conninfo = ''");
    add_setting(home, "second", "primary_slot_name = ''");
    add_setting(home, "second", "restore_command = 'cp " + archive + "/%f %p'");
    home.start("second", TwoServers::kStandbyPort);
    CHECK(await_answer(servers.standby, "SELECT count(*) >= 1007 FROM rows", "t"));
    CHECK_THAT(home.log_of("second"), Contains("restored the log from the archive"));
    follow(home, "second", servers.primary);
    CHECK(home.run({"reload", "-D", home.data("second")}) == 0);
    CHECK(ask(servers.primary, "INSERT INTO rows VALUES (1009)") == kNothing);
    CHECK(await_answer(servers.standby, "SELECT count(*) FROM rows", "1009"));
  }
  std::filesystem::remove_all(archive);
}

TEST_CASE("a stop in good order leaves nothing behind that was acknowledged") {
  TwoServers servers{kReads};
  ServerHome& home = servers.home;
  REQUIRE(servers.has_all());
  constexpr int kClients = 4;
  std::array<std::atomic<int>, kClients> acknowledged{};
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      Client client{servers.primary};
      for (int n = 1;; ++n) {
        const std::string number = std::to_string(1'000'000 * (i + 1) + n);
        if (client.ask("INSERT INTO rows VALUES (" + number + ")") != kNothing) return;
        acknowledged[static_cast<std::size_t>(i)] = n;
      }
    });
  }
  ::usleep(1'000'000);
  CHECK(home.run({"stop", "-D", home.data("first")}) == 0);
  for (std::thread& client : clients) client.join();
  CHECK(home.await_end("first") == 0);
  REQUIRE(home.run({"promote", "-D", home.data("second")}) == 0);
  for (int i = 0; i < kClients; ++i) {
    const std::string first = std::to_string(1'000'000 * (i + 1));
    const int there =
        std::stoi(ask(servers.standby, "SELECT count(*) FROM rows WHERE n > " + first +
                                           " AND n < " + first + "+ 1000000"));
    CHECK(there >= acknowledged[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("a standby feeds another, which follows it through promotions") {
  TwoServers servers{kReads};
  ServerHome& home = servers.home;
  const std::string third = home.conninfo(kThirdPort);
  const std::string fourth = home.conninfo(kFourthPort);
  REQUIRE(home.run({"init", "-D", home.data("third"), "--standby-of", servers.primary}) == 0);
  add_setting(home, "third", kReads);
  follow(home, "third", servers.standby, "third");
  REQUIRE(await_answer(servers.standby, "SELECT count(*) FROM rows", "1000"));
  CHECK(ask(servers.standby,
            "SELECT lsn IS NOT NULL FROM pg_create_physical_replication_slot('third', true)") ==
        "t");
  home.start("third", kThirdPort);
  insert(servers.primary, "1001");
  REQUIRE(await_answer(third, "SELECT count(*) FROM rows", "1001"));
  CHECK(await_answer(servers.standby, "SELECT count(*) FROM pg_stat_replication", "1"));
  CHECK(ask(servers.primary, "SELECT count(*) FROM pg_stat_replication") == "1");
  CHECK(ask(servers.standby, "SELECT slot_name || active FROM pg_replication_slots") ==
        "thirdtrue");
  CHECK(Client{servers.standby + " replication=true"}.ask("IDENTIFY_SYSTEM") ==
        system_identifier(servers));
  CHECK_THAT(Client{servers.standby + " replication=true"}.ask("BASE_COPY"),
             Contains("0A000") && Contains("a standby cannot be copied"));
  CHECK_THAT(ask(servers.standby, "SELECT pg_create_logical_replication_slot('l', 'pgoutput')"),
             Contains("logical decoding") || Contains("logical replication slots"));

  // The slot is there after a crash, and what it is for goes on.
  home.kill("second");
  insert(servers.primary, "1002");
  home.start("second", TwoServers::kStandbyPort);
  REQUIRE(await_answer(third, "SELECT count(*) FROM rows", "1002"));
  CHECK(ask(servers.standby, "SELECT slot_name || active FROM pg_replication_slots") ==
        "thirdtrue");

  // The one in the middle is promoted: the third goes on with it.
  home.kill("first");
  REQUIRE(home.run({"promote", "-D", home.data("second")}) == 0);
  insert(servers.standby, "1003");
  REQUIRE(await_answer(third, "SELECT count(*) FROM rows", "1003"));
  CHECK(ask(third, kTimeline) == "2");
  CHECK(ask(servers.standby, "SELECT slot_name || active FROM pg_replication_slots") ==
        "thirdtrue");

  // A fourth behind the third. Then the first one is promoted again, and the third turns to it.
  REQUIRE(home.run({"init", "-D", home.data("fourth"), "--standby-of", servers.standby}) == 0);
  add_setting(home, "fourth", kReads);
  follow(home, "fourth", third);
  home.start("fourth", kFourthPort);
  REQUIRE(home.run({"rewind", "-D", home.data("first"), "--source", servers.standby}) == 0);
  add_setting(home, "first", kReads);
  home.start("first", TwoServers::kPrimaryPort);
  insert(servers.standby, "1004");
  REQUIRE(await_answer(servers.primary, "SELECT count(*) FROM rows", "1004"));
  REQUIRE(await_answer(third, "SELECT count(*) FROM rows", "1004"));
  REQUIRE(await_answer(fourth, "SELECT count(*) FROM rows", "1004"));
  CHECK(ask(fourth, kTimeline) == "2");
  REQUIRE(await_answer(servers.standby,
                       "SELECT bool_and(flush_lsn >= pg_current_wal_lsn()) AND count(*) = 2 FROM "
                       "pg_stat_replication",
                       "t"));
  home.kill("second");
  REQUIRE(home.run({"promote", "-D", home.data("first")}) == 0);
  insert(servers.primary, "1005");
  follow(home, "third", servers.primary);
  CHECK(home.run({"reload", "-D", home.data("third")}) == 0);
  REQUIRE(await_answer(third, "SELECT count(*) FROM rows", "1005"));
  REQUIRE(await_answer(fourth, "SELECT count(*) FROM rows", "1005"));
  CHECK(ask(third, kTimeline) == "3");
  CHECK(ask(fourth, kTimeline) == "3");
}

}  // namespace swizzle::server
