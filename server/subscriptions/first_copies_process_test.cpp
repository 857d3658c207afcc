#include <atomic>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "server/subscriptions/testing/publisher_pair.h"

namespace swizzle::server {
namespace {

using testing::ask;
using testing::await_answer;
using testing::Client;
using testing::kAllReady;
using testing::kNothing;
using testing::Pair;
using testing::rows_of;

const std::string kCopyWorkers =
    "SELECT count(*) FROM pg_stat_subscription WHERE worker_type = 'table synchronization'";

std::string name_of(int number) {
  return "t" + std::to_string(number);
}

/// Tables t1 … with some rows at the publisher.
void make_tables(const Pair& pair, int count, int rows) {
  for (int i = 1; i <= count; ++i) {
    pair.define("CREATE TABLE " + name_of(i) + " (id int PRIMARY KEY, n int, pad text)");
    CHECK(ask(pair.publisher, "INSERT INTO " + name_of(i) +
                                  " SELECT n, n % 7, repeat('x', 50) FROM generate_series(1, " +
                                  std::to_string(rows) + ") n") == kNothing);
  }
  CHECK(ask(pair.publisher, "CREATE PUBLICATION p FOR ALL TABLES") == kNothing);
}

/// Changes rows of all tables until it goes.
class Writer {
 public:
  Writer(std::string publisher, int tables, int rows)
      : thread_([this, publisher = std::move(publisher), tables, rows] {
          std::mt19937 random{11};
          Client client{publisher};
          for (int i = 0; !stops_.load(); ++i) {
            const std::string id = std::to_string(random() % static_cast<unsigned>(rows) + 1);
            const std::string table = name_of(i % tables + 1);
            const std::string added = std::to_string(1'000'000 + i);
            client.ask("BEGIN; UPDATE " + table + " SET n = n + 1 WHERE id = " + id +
                       "; INSERT INTO " + table + " VALUES (" + added + ", 0, 'new'); COMMIT");
            if (i % 5 == 0) client.ask("DELETE FROM " + table + " WHERE id = " + added);
          }
        }) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    stops_.store(true);
    thread_.join();
  }

 private:
  std::atomic<bool> stops_{false};
  std::thread thread_;
};

void check_equal(const Pair& pair, int tables) {
  INFO(pair.home.log_of("subscriber.log"));
  for (int i = 1; i <= tables; ++i) CHECK(pair.agree(rows_of(name_of(i))));
  CHECK(await_answer(pair.subscriber, kAllReady, "t"));
  CHECK(ask(pair.subscriber,
            "SELECT sum(confl_insert_exists + confl_update_missing + confl_delete_missing) FROM "
            "pg_stat_subscription_stats") == "0");
  // The copies' slots have gone.
  CHECK(await_answer(pair.publisher, "SELECT count(*) FROM pg_replication_slots", "1"));
}

}  // namespace

TEST_CASE("tables are copied beside each other and beside changes", "[subscriptions]") {
  const Pair pair{"max_sync_workers_per_subscription = 2"};
  constexpr int kTables = 4;
  constexpr int kRows = 500;
  make_tables(pair, kTables, kRows);
  // Two copies wait here, so a third does not begin, and what is copied later follows then. CREATE
  // SUBSCRIPTION reads the tables' definitions, so the lock must let readers in.
  Client holder{pair.subscriber};
  CHECK(holder.ask("BEGIN; LOCK TABLE t1, t2, t3, t4 IN SHARE MODE") == kNothing);
  {
    const Writer writer{pair.publisher, kTables, kRows};
    CHECK(pair.subscribe() == kNothing);
    CHECK(await_answer(pair.subscriber, kCopyWorkers, "2"));
    ::usleep(500'000);
    CHECK(ask(pair.subscriber, kCopyWorkers) == "2");
    CHECK(ask(pair.subscriber,
              "SELECT string_agg(srsubstate::text, '' ORDER BY srsubstate) FROM "
              "pg_subscription_rel") == "ddii");
    CHECK(ask(pair.publisher,
              "SELECT count(*) FROM pg_replication_slots WHERE slot_name ~ "
              "'^pg_[0-9]+_sync_[0-9]+_[0-9]+$'") == "2");
    CHECK(holder.ask("COMMIT") == kNothing);
    CHECK(await_answer(pair.subscriber, kAllReady, "t"));
    ::usleep(200'000);
  }
  check_equal(pair, kTables);
  CHECK(ask(pair.subscriber,
            "SELECT apply_error_count + sync_error_count FROM pg_stat_subscription_stats") == "0");
  CHECK(ask(pair.subscriber, "DROP SUBSCRIPTION s") == kNothing);
  CHECK(ask(pair.publisher, "SELECT count(*) FROM pg_replication_slots") == "0");
}

TEST_CASE("a subscription goes with the slots of copies that are under way", "[subscriptions]") {
  const Pair pair;
  make_tables(pair, 2, 100);
  Client holder{pair.subscriber};
  CHECK(holder.ask("BEGIN; LOCK TABLE t1, t2 IN SHARE MODE") == kNothing);
  CHECK(pair.subscribe() == kNothing);
  CHECK(await_answer(pair.publisher, "SELECT count(*) FROM pg_replication_slots", "3"));
  CHECK(ask(pair.subscriber, "DROP SUBSCRIPTION s") == kNothing);
  CHECK(ask(pair.publisher, "SELECT count(*) FROM pg_replication_slots") == "0");
  CHECK(holder.ask("ROLLBACK") == kNothing);
  // A table that is being copied cannot go; one that is not published any more can.
  CHECK(holder.ask("BEGIN; LOCK TABLE t1 IN SHARE MODE; SAVEPOINT locked") == kNothing);
  CHECK(pair.subscribe() == kNothing);
  CHECK(await_answer(pair.subscriber,
                     "SELECT string_agg(srsubstate::text, '' ORDER BY srrelid) FROM "
                     "pg_subscription_rel",
                     "dr"));
  CHECK(holder.ask("DROP TABLE t1")
            .starts_with("22023 ERROR:  could not drop relation mapping for subscription "
                         "\"s\"\nDETAIL:  Table "
                         "synchronization for relation \"t1\" is in progress and is in state "
                         "\"d\".\nHINT:  Use "
                         "ALTER SUBSCRIPTION ... ENABLE to enable subscription if not already "
                         "enabled or use DROP "
                         "SUBSCRIPTION ... to drop the subscription.\n"));
  CHECK(holder.ask("ROLLBACK TO locked") == kNothing);
  CHECK(await_answer(pair.publisher, "SELECT count(*) FROM pg_replication_slots", "2"));
  CHECK(ask(pair.publisher, "DROP PUBLICATION p; CREATE PUBLICATION p FOR TABLE t2") == kNothing);
  CHECK(ask(pair.subscriber, "ALTER SUBSCRIPTION s REFRESH PUBLICATION") == kNothing);
  CHECK(ask(pair.publisher, "SELECT count(*) FROM pg_replication_slots") == "1");
  CHECK(holder.ask("ROLLBACK; DROP TABLE t1") == kNothing);
  CHECK(ask(pair.subscriber, "SELECT count(*) FROM pg_subscription_rel") == "1");
}

TEST_CASE("first copies survive crashes of either side", "[subscriptions][slow]") {
  Pair pair;
  constexpr int kTables = 3;
  constexpr int kRows = 20'000;
  make_tables(pair, kTables, kRows);
  std::mt19937 random{3};
  for (int round = 0; round < 8; ++round) {
    INFO("round " << round);
    const std::string killed = round % 2 == 0 ? "subscriber" : "publisher";
    CHECK(pair.subscribe() == kNothing);
    {
      const Writer writer{pair.publisher, kTables, kRows};
      ::usleep(static_cast<unsigned>(random() % 400'000));
      pair.home.kill(killed);
    }
    pair.start(killed);
    {
      const Writer writer{pair.publisher, kTables, kRows};
      CHECK(await_answer(pair.subscriber, kAllReady, "t"));
    }
    check_equal(pair, kTables);
    CHECK(ask(pair.subscriber, "DROP SUBSCRIPTION s") == kNothing);
    CHECK(ask(pair.subscriber, "TRUNCATE t1, t2, t3") == kNothing);
    CHECK(ask(pair.publisher,
              "DELETE FROM t1 WHERE id >= 1000000; DELETE FROM t2 WHERE id >= "
              "1000000; DELETE FROM t3 WHERE id >= 1000000") == kNothing);
  }
}

TEST_CASE("two subscriptions bring rows into one table", "[subscriptions]") {
  const Pair pair;
  pair.define("CREATE TABLE t (id int PRIMARY KEY, n int)");
  CHECK(ask(pair.publisher,
            "INSERT INTO t SELECT n, 0 FROM generate_series(1, 1000) n; CREATE PUBLICATION even "
            "FOR TABLE t WHERE (id % 2 = 0); CREATE PUBLICATION odd FOR TABLE t WHERE (id % 2 = "
            "1)") == kNothing);
  for (const std::string which : {"even", "odd"})
    CHECK(ask(pair.subscriber, "CREATE SUBSCRIPTION " + which + " CONNECTION '" + pair.publisher +
                                   "' PUBLICATION " + which) == kNothing);
  CHECK(await_answer(pair.subscriber, kAllReady, "t"));
  CHECK(ask(pair.subscriber, "SELECT count(*) FROM pg_subscription_rel") == "2");
  CHECK(pair.agree(rows_of("t")));
  CHECK(ask(pair.publisher,
            "UPDATE t SET n = 1 WHERE id <= 10; DELETE FROM t WHERE id BETWEEN 11 AND 20; INSERT "
            "INTO t SELECT n, 2 FROM generate_series(2001, 2010) n; UPDATE t SET id = id + 3001 "
            "WHERE id BETWEEN 21 AND 25") == kNothing);
  CHECK(pair.agree(rows_of("t")));
  // Each ends without the other.
  CHECK(ask(pair.subscriber, "DROP SUBSCRIPTION even") == kNothing);
  CHECK(ask(pair.publisher, "UPDATE t SET n = 3 WHERE id IN (1, 2)") == kNothing);
  CHECK(await_answer(pair.subscriber, "SELECT n FROM t WHERE id = 1", "3"));
  CHECK(ask(pair.subscriber, "SELECT n FROM t WHERE id = 2") == "1");
}

}  // namespace swizzle::server
