// Sessions on a standby, as processes: what they see, what they may not do, and their end.
#include <libpq-fe.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/standby/testing/two_servers.h"

namespace swizzle::server {
namespace {

using Catch::Contains;
using namespace testing;

/// A primary, and a standby that is read.
struct ReadStandby : TwoServers {
  explicit ReadStandby(const std::string& settings = "", const std::string& of_both = "")
      : TwoServers{"hot_standby = on\n" + settings, of_both} {
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

TEST_CASE("monitors are told where a standby is, and since when") {
  ReadStandby servers{"wal_receiver_status_interval = 1s\n", "max_prepared_transactions = 5\n"};
  CHECK(ask(servers.primary, "INSERT INTO rows VALUES (1001)") == kNothing);
  REQUIRE(await_answer(servers.standby, "SELECT count(*) FROM rows", "1001"));
  CHECK(ask(servers.standby,
            "SELECT now() - pg_last_xact_replay_timestamp() "
            "BETWEEN interval '-1s' AND interval '20s'") == "t");
  CHECK(ask(servers.primary, "SELECT pg_last_xact_replay_timestamp() IS NULL") == "t");
  // An idle standby has everything, and says so.
  REQUIRE(await_answer(servers.primary,
                       "SELECT replay_lsn = pg_current_wal_lsn() AND flush_lsn = replay_lsn "
                       "FROM pg_stat_replication",
                       "t"));
  CHECK(ask(servers.standby, "SELECT pg_last_wal_replay_lsn() = pg_last_wal_receive_lsn()") == "t");
  CHECK(ask(servers.standby,
            "SELECT status || slot_name || (latest_end_lsn = flushed_lsn) || received_tli || "
            "(last_msg_receipt_time >= last_msg_send_time - interval '1s') || (sender_port > 0) || "
            "(conninfo LIKE '%port=%') || (pid > 0) FROM pg_stat_wal_receiver") ==
        "streamingstrue1truetruetruetrue");
  CHECK(ask(servers.primary, "SELECT count(*) FROM pg_stat_wal_receiver") == "0");
  // Lags are known after some log, and not after a while without.
  CHECK(ask(servers.primary, "INSERT INTO rows VALUES (1002)") == kNothing);
  REQUIRE(await_answer(servers.primary,
                       "SELECT write_lag > interval '0' AND flush_lag >= write_lag AND "
                       "replay_lag >= flush_lag AND replay_lag < interval '20s' "
                       "FROM pg_stat_replication",
                       "t"));
  CHECK(await_answer(servers.primary,
                     "SELECT write_lag IS NULL AND flush_lag IS NULL AND replay_lag IS NULL "
                     "FROM pg_stat_get_wal_senders()",
                     "t"));
  // The primary's prepared transactions are seen here.
  CHECK(ask(servers.primary, "BEGIN; INSERT INTO rows VALUES (1003); PREPARE TRANSACTION 'p'") ==
        kNothing);
  REQUIRE(await_answer(servers.standby,
                       "SELECT gid || ' ' || database || ' ' || (owner = current_user) || ' ' || "
                       "(prepared <= now() + interval '1s') FROM pg_prepared_xacts",
                       "p postgres true true"));
  CHECK(ask(servers.standby, "SELECT count(*) FROM rows") == "1002");
  CHECK(ask(servers.primary, "COMMIT PREPARED 'p'") == kNothing);
  REQUIRE(await_answer(servers.standby, "SELECT count(*) FROM pg_prepared_xacts", "0"));
  CHECK(ask(servers.standby, "SELECT count(*) FROM rows") == "1003");
  // Once it is promoted, its positions stay.
  CHECK(ask(servers.standby, "SELECT pg_promote()") == "t");
  CHECK(ask(servers.standby,
            "SELECT pg_last_xact_replay_timestamp() < now() AND "
            "pg_last_wal_replay_lsn() <= pg_current_wal_lsn()") == "t");
  CHECK(ask(servers.standby, "SELECT count(*) FROM pg_stat_wal_receiver") == "0");
}

TEST_CASE("with remote_apply a commit is seen on the standby once it is acknowledged") {
  ReadStandby servers;
  CHECK(ask(servers.primary, "CREATE TABLE seen (n int PRIMARY KEY, by int)") == kNothing);
  CHECK(ask(servers.primary, "ALTER SYSTEM SET synchronous_standby_names = '*'") == kNothing);
  CHECK(ask(servers.primary, "SELECT pg_reload_conf()") == "t");
  REQUIRE(await_answer(servers.primary, "SELECT sync_state FROM pg_stat_replication", "sync"));
  std::atomic<int> missed{0};
  std::atomic<int> failed{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&, i] {
      Client writer{servers.primary};
      Client reader{servers.standby};
      if (writer.ask("SET synchronous_commit = remote_apply") != kNothing) ++failed;
      for (int n = 1; n <= 12; ++n) {
        const std::string row = std::to_string(100 * i + n);
        if (writer.ask("INSERT INTO seen VALUES (" + row + ", " + std::to_string(i) + ")") !=
            kNothing)
          ++failed;
        if (reader.ask("SELECT count(*) FROM seen WHERE by = " + std::to_string(i)) !=
            std::to_string(n))
          ++missed;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  CHECK(failed == 0);
  CHECK(missed == 0);
  // Replay that pauses keeps the commit waiting; a weaker level does not wait for it.
  CHECK(ask(servers.standby, "SELECT pg_wal_replay_pause()") == kNothing);
  ::usleep(500'000);
  CHECK(ask(servers.primary, "INSERT INTO seen VALUES (1000, 0)") == kNothing);
  std::atomic<bool> is_acknowledged{false};
  std::thread waiting{[&] {
    ask(servers.primary,
        "SET synchronous_commit = remote_apply; INSERT INTO seen VALUES (1001, 0)");
    is_acknowledged = true;
  }};
  ::usleep(1'000'000);
  CHECK(!is_acknowledged);
  CHECK(ask(servers.primary,
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "1");
  CHECK(ask(servers.standby, "SELECT pg_wal_replay_resume()") == kNothing);
  waiting.join();
  CHECK(ask(servers.standby, "SELECT count(*) FROM seen WHERE n >= 1000") == "2");
}

TEST_CASE("a promotion keeps its sessions, and they write") {
  ReadStandby servers;
  // The primary takes more numbers of objects than the standby knew to be reserved at its start.
  CHECK(ask(servers.primary,
            "DO $$ BEGIN FOR i IN 1..100 LOOP EXECUTE 'CREATE TABLE many_' || i || ' ()'; "
            "END LOOP; END $$") == kNothing);
  CHECK(ask(servers.primary,
            "CREATE TABLE later (n serial PRIMARY KEY, t text); "
            "CREATE INDEX later_t ON later (t); "
            "CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql "
            "AS 'SELECT 2 * count(*)::int FROM rows WHERE n < $1'") == kNothing);
  REQUIRE(await_answer(servers.standby, "SELECT count(*) FROM later", "0"));
  Client idle{servers.standby};
  CHECK(idle.ask("PREPARE counting AS SELECT count(*) FROM rows") == kNothing);
  CHECK(idle.ask("EXECUTE counting") == "1000");
  CHECK(idle.ask("SELECT twice(11)") == "20");
  CHECK(idle.ask("DECLARE kept CURSOR WITH HOLD FOR SELECT n FROM rows ORDER BY n") == kNothing);
  CHECK(idle.ask("FETCH kept") == "1");
  // A statement that runs for too long, and a snapshot, would keep the promotion waiting.
  Client in_block{servers.standby};
  CHECK(in_block.ask("BEGIN") == kNothing);
  CHECK(in_block.ask("SELECT count(*) FROM rows") == "1000");
  CHECK(in_block.ask("SAVEPOINT s") == kNothing);
  Client failed{servers.standby};
  failed.ask("BEGIN");
  CHECK_THAT(failed.ask("SELECT 1 / 0"), Contains("22012"));
  Client untouched{servers.standby};
  untouched.ask("BEGIN");
  Client snapshot{servers.standby};
  snapshot.ask("BEGIN ISOLATION LEVEL REPEATABLE READ");
  CHECK(snapshot.ask("SELECT count(*) FROM rows") == "1000");
  Client running{servers.standby};
  std::string ran;
  std::thread long_one{[&] { ran = running.ask("SELECT pg_sleep(30) FROM rows LIMIT 1"); }};
  ::usleep(300'000);
  CHECK(servers.has_all());
  REQUIRE(servers.home.run({"promote", "-D", servers.home.data("second")}) == 0);
  REQUIRE(await_answer(servers.standby, "SELECT pg_is_in_recovery()", "f"));
  long_one.join();
  CHECK_THAT(ran, Contains("40001") && Contains("due to conflict with recovery"));
  CHECK_THAT(snapshot.ask("SELECT 1"), Contains("terminating connection due to conflict"));

  CHECK(idle.parameter("in_hot_standby") == "on");
  CHECK(idle.ask("SHOW transaction_read_only") == "off");
  CHECK(idle.parameter("in_hot_standby") == "off");
  CHECK(idle.ask("SELECT pending_restart FROM pg_settings WHERE name = 'in_hot_standby'") == "f");
  CHECK(idle.ask("EXECUTE counting") == "1000");
  CHECK(idle.ask("INSERT INTO rows VALUES (1001)") == kNothing);
  CHECK(idle.ask("EXECUTE counting") == "1001");
  CHECK(idle.ask("SELECT twice(11)") == "20");
  CHECK(idle.ask("FETCH kept") == "2");
  CHECK(idle.ask("INSERT INTO later (t) VALUES ('x') RETURNING n") == "1");
  CHECK(idle.ask("SELECT n FROM later WHERE t = 'x'") == "1");
  // Numbers of objects go on behind the primary's.
  CHECK(idle.ask("CREATE TABLE newest (n int)") == kNothing);
  CHECK(idle.ask("SELECT 'newest'::regclass::oid > 'later'::regclass::oid") == "t");
  CHECK(idle.ask("SELECT count(*) FROM later") == "1");
  CHECK(idle.ask("CREATE TEMP TABLE own (n int); DROP TABLE own") == kNothing);

  // A transaction that began in recovery stays read-only to its end.
  CHECK(in_block.ask("SHOW transaction_read_only") == "on");
  CHECK_THAT(in_block.ask("INSERT INTO rows VALUES (1)"), Contains("25006"));
  CHECK(in_block.ask("ROLLBACK TO s") == kNothing);
  CHECK(in_block.ask("SELECT count(*) FROM rows") == "1001");
  CHECK_THAT(in_block.ask("SET TRANSACTION READ WRITE"), Contains("25001"));
  CHECK(in_block.ask("ROLLBACK") == kNothing);
  CHECK(in_block.ask("INSERT INTO rows VALUES (1002)") == kNothing);
  CHECK_THAT(failed.ask("SELECT 1"), Contains("25P02"));
  CHECK(failed.ask("ROLLBACK") == kNothing);
  CHECK(failed.ask("DELETE FROM rows WHERE n = 1002") == kNothing);
  // As PostgreSQL has it, if nothing has run in it.
  CHECK(untouched.ask("SET TRANSACTION READ WRITE") == kNothing);
  CHECK(untouched.ask("INSERT INTO rows VALUES (1003)") == kNothing);
  CHECK(untouched.ask("COMMIT") == kNothing);

  Client fresh{servers.standby};
  CHECK(fresh.parameter("in_hot_standby") == "off");
  CHECK(fresh.ask("SELECT count(*) FROM rows") == "1002");
  CHECK(fresh.ask("SELECT pg_last_wal_receive_lsn() >= pg_last_wal_replay_lsn()") == "t");
  CHECK_THAT(fresh.ask("SELECT pg_promote()"),
             Contains("55000") && Contains("recovery is not in progress") &&
                 Contains("Recovery control functions can only be executed during recovery."));
  // And it can be stopped and started.
  REQUIRE(servers.home.run({"stop", "-D", servers.home.data("second")}) == 0);
  servers.home.await_end("second");
  servers.home.start("second", TwoServers::kStandbyPort);
  REQUIRE(await_answer(servers.standby, "SELECT count(*) FROM rows", "1002"));
}

TEST_CASE("pg_promote() waits for the promotion, beside sessions that read and write") {
  ReadStandby servers;
  CHECK(ask(servers.primary, "CREATE ROLE plain LOGIN") == kNothing);
  REQUIRE(
      await_answer(servers.standby, "SELECT count(*) FROM pg_roles WHERE rolname = 'plain'", "1"));
  CHECK_THAT(ask(servers.standby, "SET ROLE plain; SELECT pg_promote()"),
             Contains("42501") && Contains("permission denied for function pg_promote"));
  Client promoting{servers.standby};
  CHECK_THAT(promoting.ask("SELECT pg_promote(true, 0)"),
             Contains("22003") && Contains("\"wait_seconds\" must not be negative or zero"));
  CHECK_THAT(promoting.ask("SELECT pg_promote() FROM rows"),
             Contains("0A000") && Contains("Use pg_promote(wait => false)."));
  CHECK_THAT(promoting.ask("DO $$BEGIN PERFORM pg_promote(); END$$"), Contains("0A000"));
  CHECK(promoting.ask("SELECT pg_is_in_recovery()") == "t");
  CHECK(servers.has_all());
  std::atomic<bool> stops{false};
  std::atomic<int> written{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&, i] {
      Client client{servers.standby};
      for (int n = 0; !stops; ++n) {
        const std::string counted = client.ask(
            "SELECT count(*) FROM rows WHERE n <= 1000 AND n > " + std::to_string(n % 3));
        if (counted != std::to_string(1000 - n % 3) && counted.find("40001") == std::string::npos)
          ++wrong;
        const std::string done =
            client.ask("INSERT INTO rows VALUES (" + std::to_string(10'000 * (i + 1) + n) + ")");
        if (done == kNothing)
          ++written;
        else if (done.find("25006") == std::string::npos)
          ++wrong;
      }
    });
  }
  ::usleep(300'000);
  CHECK(promoting.ask("SELECT pg_promote()") == "t");
  CHECK(promoting.parameter("in_hot_standby") == "off");
  CHECK(promoting.ask("INSERT INTO rows VALUES (0)") == kNothing);
  ::usleep(500'000);
  stops = true;
  for (std::thread& client : clients) client.join();
  CHECK(wrong == 0);
  CHECK(written > 0);
  CHECK(promoting.ask("SELECT count(*) FROM rows") == std::to_string(1001 + written));
}

}  // namespace swizzle::server
