// Sessions on a standby, as processes: what they see, what they may not do, and their end.
#include <libpq-fe.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "server/standby/testing/two_servers.h"

namespace swizzle::server {
namespace {

using Catch::Matchers::Contains;
using namespace testing;

/// A primary, and a standby that is read.
struct ReadStandby : TwoServers {
  explicit ReadStandby(const std::string& settings = "")
      : TwoServers{"hot_standby = on\n" + settings} {
    REQUIRE(await_answer(standby, "SELECT count(*) FROM rows", "1000"));
  }
};

}  // namespace

TEST_CASE("sessions on a standby read, and are refused what they may not do") {
  ReadStandby servers;
  Client reader{servers.standby};
  CHECK(reader.parameter("in_hot_standby") == "on");
  CHECK(reader.ask("SELECT pg_is_in_recovery()") == "t");
  CHECK(reader.ask("SHOW transaction_read_only") == "on");
  CHECK(reader.ask("SELECT pg_last_wal_receive_lsn() >= pg_last_wal_replay_lsn()") == "t");
  CHECK_THAT(reader.ask("INSERT INTO rows VALUES (1)"),
             Contains("25006") && Contains("cannot execute INSERT in a read-only transaction"));
  CHECK_THAT(reader.ask("CREATE TABLE other (n int)"),
             Contains("25006") && Contains("cannot execute CREATE TABLE in a read-only"));
  CHECK_THAT(reader.ask("CREATE TEMP TABLE other (n int)"), Contains("25006"));
  CHECK_THAT(reader.ask("SELECT * FROM rows FOR UPDATE"),
             Contains("25006") && Contains("cannot execute SELECT FOR UPDATE in a read-only"));
  CHECK_THAT(reader.ask("LISTEN c"), Contains("cannot execute LISTEN during recovery"));
  CHECK_THAT(reader.ask("VACUUM"), Contains("cannot execute VACUUM during recovery"));
  CHECK_THAT(reader.ask("SELECT pg_current_wal_lsn()"), Contains("recovery is in progress"));
  CHECK_THAT(reader.ask("SELECT txid_current()"), Contains("during recovery"));
  reader.ask("BEGIN");
  CHECK_THAT(reader.ask("SET TRANSACTION READ WRITE"),
             Contains("cannot set transaction read-write mode during recovery"));
  reader.ask("ROLLBACK");
  CHECK_THAT(reader.ask("BEGIN ISOLATION LEVEL SERIALIZABLE"),
             Contains("0A000") && Contains("cannot use serializable mode in a hot standby") &&
                 Contains("You can use REPEATABLE READ instead."));
  reader.ask("ROLLBACK");
  reader.ask("BEGIN");
  CHECK_THAT(reader.ask("LOCK TABLE rows IN SHARE MODE"), Contains("during recovery"));
  reader.ask("ROLLBACK");
  reader.ask("BEGIN");
  CHECK_THAT(reader.ask("PREPARE TRANSACTION 'p'"),
             Contains("cannot execute PREPARE TRANSACTION during recovery"));
  reader.ask("ROLLBACK");
  CHECK(reader.ask("SELECT count(*) FROM rows") == "1000");
}

TEST_CASE("sessions on a standby see what is committed, and definitions as they are by then") {
  ReadStandby servers;
  Client reader{servers.standby};
  Client writer{servers.primary};
  reader.ask("PREPARE counting AS SELECT count(*) FROM rows");
  CHECK(reader.ask("EXECUTE counting") == "1000");
  writer.ask("BEGIN");
  writer.ask("INSERT INTO rows VALUES (1001)");
  writer.ask("CREATE TABLE made (n int)");
  CHECK(ask(servers.primary, "INSERT INTO rows VALUES (1002)") == kNothing);
  REQUIRE(await_answer(servers.standby, "SELECT count(*) FROM rows", "1001"));
  CHECK(reader.ask("EXECUTE counting") == "1001");
  CHECK(reader.ask("SELECT count(*) FROM rows WHERE n = 1001") == "0");
  CHECK_THAT(reader.ask("SELECT * FROM made"), Contains("42P01"));
  writer.ask("COMMIT");
  REQUIRE(await_answer(servers.standby, "SELECT count(*) FROM rows", "1002"));
  CHECK(reader.ask("SELECT count(*) FROM made") == "0");
  CHECK(ask(servers.primary, "ALTER TABLE rows ADD COLUMN t text DEFAULT 'new'") == kNothing);
  CHECK(ask(servers.primary, "CREATE INDEX by_n ON rows (n)") == kNothing);
  REQUIRE(await_answer(servers.standby, "SELECT t FROM rows WHERE n = 5", "new"));
  CHECK(reader.ask("EXECUTE counting") == "1002");
  CHECK(ask(servers.primary, "DROP TABLE rows; CREATE TABLE rows (n int)") == kNothing);
  REQUIRE(await_answer(servers.standby, "SELECT count(*) FROM rows", "0"));
  CHECK(reader.ask("EXECUTE counting") == "0");
  CHECK(ask(servers.primary, "CREATE ROLE somebody") == kNothing);
  REQUIRE(await_answer(servers.standby, "SELECT count(*) FROM pg_roles WHERE rolname = 'somebody'",
                       "1"));
}

TEST_CASE("a reader that replay has waited for is cancelled, or its session ended") {
  ReadStandby servers{"max_standby_streaming_delay = 1s\n"};
  Client reader{servers.standby};
  reader.ask("BEGIN ISOLATION LEVEL REPEATABLE READ");
  CHECK(reader.ask("SELECT count(*) FROM rows") == "1000");
  CHECK(ask(servers.primary, "INSERT INTO rows VALUES (1001)") == kNothing);
  ::usleep(300'000);
  CHECK(reader.ask("SELECT count(*) FROM rows") == "1000");
  CHECK_THAT(
      reader.ask("SELECT pg_sleep(20)"),
      Contains("40001") && Contains("canceling statement due to conflict with recovery") &&
          Contains("User query might have needed to see row versions that must be removed."));
  reader.ask("ROLLBACK");
  REQUIRE(await_answer(servers.standby, "SELECT count(*) FROM rows", "1001"));
  CHECK(reader.ask("SELECT count(*) FROM rows") == "1001");
  // At READ COMMITTED each statement sees what is replayed by then.
  reader.ask("BEGIN");
  CHECK(reader.ask("SELECT count(*) FROM rows") == "1001");
  CHECK(ask(servers.primary, "INSERT INTO rows VALUES (1002)") == kNothing);
  REQUIRE(await_answer(servers.standby, "SELECT count(*) FROM rows", "1002"));
  CHECK(reader.ask("SELECT count(*) FROM rows") == "1002");
  // A cursor keeps its view.
  reader.ask("DECLARE c CURSOR FOR SELECT count(*) FROM rows");
  CHECK(ask(servers.primary, "INSERT INTO rows VALUES (1003)") == kNothing);
  REQUIRE(await_answer(servers.standby, "SELECT count(*) FROM rows", "1003"));
  // A socket that is closed with a query in it may lose the server's last words.
  ::usleep(100'000);
  CHECK_THAT(reader.ask("SELECT 1"), Contains("terminating connection due to conflict"));
}

TEST_CASE("replay pauses and goes on") {
  ReadStandby servers;
  CHECK(ask(servers.standby, "SELECT pg_is_wal_replay_paused()") == "f");
  CHECK(ask(servers.standby, "SELECT pg_wal_replay_pause()") == kNothing);
  CHECK(ask(servers.standby, "SELECT pg_is_wal_replay_paused()") == "t");
  ::usleep(500'000);
  CHECK(ask(servers.primary, "INSERT INTO rows VALUES (1001)") == kNothing);
  ::usleep(1'000'000);
  CHECK(ask(servers.standby, "SELECT count(*) FROM rows") == "1000");
  CHECK(ask(servers.standby, "SELECT pg_wal_replay_resume()") == kNothing);
  CHECK(await_answer(servers.standby, "SELECT count(*) FROM rows", "1001"));
}

TEST_CASE("transfers on the primary keep their sum on the standby, through kills of the standby") {
  ReadStandby servers;
  CHECK(ask(servers.primary,
            "CREATE TABLE accounts AS SELECT n id, 100 balance FROM generate_series(1, 500) n; "
            "ALTER TABLE accounts ADD PRIMARY KEY (id); CREATE TABLE done (n int)") == kNothing);
  std::atomic<bool> stops{false};
  std::thread transfers{[&] {
    Client writer{servers.primary};
    for (int i = 1; !stops; ++i) {
      const std::string from = std::to_string(1 + i * 7 % 500);
      const std::string to = std::to_string(1 + i * 13 % 500);
      writer.ask("BEGIN; UPDATE accounts SET balance = balance - 1 WHERE id = " + from +
                 "; UPDATE accounts SET balance = balance + 1 WHERE id = " + to +
                 "; INSERT INTO done VALUES (" + std::to_string(i) + "); " +
                 (i % 5 == 0 ? "ROLLBACK" : "COMMIT"));
    }
  }};
  std::thread definitions{[&] {
    Client definer{servers.primary};
    for (int i = 0; !stops; ++i) {
      definer.ask("CREATE TABLE t" + std::to_string(i) + " (n int)");
      definer.ask("CREATE INDEX ON accounts (balance)");
      definer.ask("DROP INDEX accounts_balance_idx");
      definer.ask("DROP TABLE t" + std::to_string(i));
      ::usleep(100'000);
    }
  }};
  const std::string sums =
      "SELECT sum(balance) || ' ' || (SELECT coalesce(max(n), 0) FROM done) FROM accounts";
  int looks = 0;
  int newest = 0;
  bool is_right = true;
  std::string wrong;
  for (int round = 0; round < 3 && is_right; ++round) {
    REQUIRE(await_answer(servers.standby, "SELECT count(*) FROM accounts", "500"));
    Client reader{servers.standby};
    for (int i = 0; i < 300 && is_right; ++i) {
      reader.ask("BEGIN ISOLATION LEVEL REPEATABLE READ");
      const std::string first = reader.ask(sums);
      const std::string second = reader.ask(sums);
      reader.ask("COMMIT");
      const std::size_t space = first.find(' ');
      const int now = space == std::string::npos ? 0 : std::atoi(first.c_str() + space);
      is_right = first == second && first.starts_with("50000 ") && now >= newest;
      if (!is_right) wrong = first + " | " + second + " after " + std::to_string(newest);
      newest = std::max(newest, now);
      ++looks;
      ::usleep(5'000);
    }
    if (round < 2) {
      servers.home.kill("second");
      servers.home.start("second", TwoServers::kStandbyPort);
    }
  }
  stops = true;
  transfers.join();
  definitions.join();
  INFO(wrong);
  CHECK(is_right);
  CHECK(looks == 900);
  CHECK(newest > 100);
}

TEST_CASE("a promotion ends the readers' sessions, and the server writes") {
  ReadStandby servers;
  Client reader{servers.standby};
  CHECK(reader.ask("SELECT count(*) FROM rows") == "1000");
  REQUIRE(servers.home.run({"promote", "-D", servers.home.data("second")}) == 0);
  REQUIRE(servers.home.is_open("second"));
  CHECK_THAT(reader.ask("SELECT 1"), Contains("57P01") || Contains("terminating connection") ||
                                         Contains("server closed the connection"));
  Client writer{servers.standby};
  CHECK(writer.parameter("in_hot_standby") == "off");
  CHECK(writer.ask("SELECT pg_is_in_recovery()") == "f");
  CHECK(writer.ask("INSERT INTO rows VALUES (1001)") == kNothing);
  CHECK(writer.ask("SELECT count(*) FROM rows") == "1001");
}

}  // namespace swizzle::server
