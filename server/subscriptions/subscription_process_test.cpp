#include <catch2/catch.hpp>
#include <random>
#include <string>

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

}  // namespace

TEST_CASE("a subscription copies tables and follows their changes", "[subscriptions]") {
  const Pair pair;
  pair.define("CREATE TABLE t (id int PRIMARY KEY, name text, amount numeric(10, 2))");
  pair.define("CREATE TABLE bare (a int, b text)");
  CHECK(ask(pair.publisher,
            "ALTER TABLE bare REPLICA IDENTITY FULL; INSERT INTO t SELECT n, 'name ' || n, n / 3.0 "
            "FROM generate_series(1, 1000) n; INSERT INTO bare VALUES (1, 'x'), (1, 'x'), (NULL, "
            "NULL); CREATE PUBLICATION p FOR TABLE t, bare") == kNothing);
  CHECK(pair.subscribe() == kNothing);
  CHECK(await_answer(pair.subscriber, kAllReady, "t"));
  INFO(pair.home.log_of("subscriber.log"));
  CHECK(pair.agree(rows_of("t")));
  CHECK(pair.agree(rows_of("bare")));
  for (const std::string change :
       {"INSERT INTO t VALUES (2000, NULL, 1)", "UPDATE t SET name = 'other' WHERE id % 7 = 0",
        "UPDATE t SET id = id + 10000 WHERE id <= 5", "DELETE FROM t WHERE id % 10 = 3",
        "UPDATE bare SET b = 'one' WHERE a IS NULL", "DELETE FROM bare WHERE a = 1",
        "INSERT INTO bare VALUES (2, 'quote '' \\ tab \t')",
        "BEGIN; INSERT INTO t VALUES (3000, 'a', 1); SAVEPOINT s; INSERT INTO t VALUES (3001, 'b', "
        "1); ROLLBACK TO s; UPDATE t SET amount = 5 WHERE id = 3000; COMMIT",
        "BEGIN; DELETE FROM t; ROLLBACK"}) {
    INFO(change);
    ask(pair.publisher, change);
  }
  CHECK(pair.agree(rows_of("t")));
  CHECK(pair.agree(rows_of("bare")));
  CHECK(ask(pair.publisher, "TRUNCATE t; INSERT INTO t VALUES (1, 'again', 0)") == kNothing);
  CHECK(pair.agree(rows_of("t")));
  CHECK(ask(pair.subscriber, "SELECT received_lsn IS NOT NULL FROM pg_stat_subscription") == "t");
  CHECK(await_answer(pair.publisher,
                     "SELECT confirmed_flush_lsn >= (SELECT pg_current_wal_lsn()) - 1000 FROM "
                     "pg_replication_slots",
                     "t"));
  CHECK(ask(pair.subscriber, "DROP SUBSCRIPTION s") == kNothing);
  CHECK(ask(pair.publisher, "SELECT count(*) FROM pg_replication_slots") == "0");
}

TEST_CASE("a subscription is altered while it is followed", "[subscriptions]") {
  const Pair pair;
  pair.define("CREATE TABLE t (id int PRIMARY KEY, name text)");
  pair.define("CREATE TABLE u (id int PRIMARY KEY)");
  CHECK(ask(pair.publisher, "CREATE PUBLICATION p FOR TABLE t; INSERT INTO t VALUES (1, 'one')") ==
        kNothing);
  CHECK(pair.subscribe() == kNothing);
  CHECK(pair.agree(rows_of("t")));
  // A table that comes later.
  CHECK(ask(pair.publisher,
            "ALTER PUBLICATION p ADD TABLE u; INSERT INTO u SELECT "
            "generate_series(1, 100)") == kNothing);
  CHECK(ask(pair.subscriber, "ALTER SUBSCRIPTION s REFRESH PUBLICATION") == kNothing);
  CHECK(pair.agree(rows_of("u")));
  CHECK(await_answer(pair.subscriber, kAllReady, "t"));
  CHECK(ask(pair.publisher, "INSERT INTO u VALUES (101); DELETE FROM u WHERE id < 50") == kNothing);
  CHECK(pair.agree(rows_of("u")));
  // While it is disabled, nothing comes.
  CHECK(ask(pair.subscriber, "ALTER SUBSCRIPTION s DISABLE") == kNothing);
  CHECK(await_answer(pair.subscriber, "SELECT count(pid) FROM pg_stat_subscription", "0"));
  CHECK(ask(pair.publisher, "INSERT INTO t VALUES (2, 'two')") == kNothing);
  CHECK(ask(pair.subscriber, "SELECT count(*) FROM t") == "1");
  CHECK(ask(pair.subscriber, "ALTER SUBSCRIPTION s ENABLE") == kNothing);
  CHECK(pair.agree(rows_of("t")));
  // A row that is here already stops it, until the row goes.
  CHECK(ask(pair.subscriber, "INSERT INTO t VALUES (3, 'local')") == kNothing);
  CHECK(ask(pair.publisher, "INSERT INTO t VALUES (3, 'three'), (4, 'four')") == kNothing);
  CHECK(await_answer(pair.subscriber,
                     "SELECT apply_error_count > 0 AND confl_insert_exists > 0 FROM "
                     "pg_stat_subscription_stats",
                     "t"));
  CHECK(ask(pair.subscriber, "DELETE FROM t WHERE id = 3") == kNothing);
  CHECK(pair.agree(rows_of("t")));
  // A definition that changes on both sides.
  pair.define("ALTER TABLE t ADD COLUMN more int DEFAULT 7");
  CHECK(ask(pair.publisher,
            "INSERT INTO t VALUES (5, 'five', 5); UPDATE t SET more = 8 WHERE id = "
            "1") == kNothing);
  CHECK(pair.agree(rows_of("t")));
  CHECK(ask(pair.subscriber, "SELECT pg_terminate_backend(pid) FROM pg_stat_subscription") == "t");
  CHECK(ask(pair.publisher, "INSERT INTO t VALUES (6, 'six', 6)") == kNothing);
  CHECK(pair.agree(rows_of("t")));
  CHECK(ask(pair.subscriber, "DROP SUBSCRIPTION s") == kNothing);
  CHECK(ask(pair.publisher, "SELECT count(*) FROM pg_replication_slots") == "0");
}

TEST_CASE("two servers follow each other without circles", "[subscriptions]") {
  const Pair pair;
  pair.define("CREATE TABLE t (id int PRIMARY KEY, note text)");
  pair.define("CREATE PUBLICATION p FOR TABLE t");
  CHECK(ask(pair.publisher, "INSERT INTO t SELECT n, 'first' FROM generate_series(1, 100) n") ==
        kNothing);
  CHECK(pair.subscribe("origin = none") == kNothing);
  CHECK(await_answer(pair.subscriber, kAllReady, "t"));
  CHECK(pair.agree(rows_of("t")));
  CHECK(ask(pair.publisher, "CREATE SUBSCRIPTION back CONNECTION '" + pair.subscriber +
                                "' PUBLICATION p WITH (origin = none, copy_data = false)") ==
        kNothing);
  for (int i = 0; i < 20; ++i) {
    const std::string n = std::to_string(i + 1);
    CHECK(ask(pair.publisher, "INSERT INTO t VALUES (1000 + " + n + ", 'here')") == kNothing);
    CHECK(ask(pair.subscriber, "INSERT INTO t VALUES (2000 + " + n +
                                   ", 'there'); UPDATE t SET "
                                   "note = note || '.' WHERE id = " +
                                   n) == kNothing);
  }
  CHECK(await_answer(pair.publisher, "SELECT count(*) FROM t WHERE note IN ('there', 'first.')",
                     "40"));
  CHECK(pair.agree(rows_of("t")));
  // A circle would have ended in keys that exist.
  for (const std::string& server : {pair.publisher, pair.subscriber})
    CHECK(ask(server,
              "SELECT sum(apply_error_count + confl_insert_exists) FROM "
              "pg_stat_subscription_stats") == "0");
  // A reader of everything is told the origin.
  CHECK(ask(pair.subscriber,
            "SELECT pg_create_logical_replication_slot('all', 'pgoutput') IS NULL") == "f");
  CHECK(ask(pair.publisher, "INSERT INTO t VALUES (3000, 'last')") == kNothing);
  CHECK(pair.agree(rows_of("t")));
  const auto letters_for = [](const std::string& origin) {
    return "SELECT coalesce(string_agg(chr(get_byte(data, 0)), ''), '') FROM "
           "pg_logical_slot_peek_binary_changes('all', NULL, NULL, 'proto_version', '1', "
           "'publication_names', 'p', 'origin', '" +
           origin + "')";
  };
  // The worker's commits become durable a little later.
  CHECK(await_answer(pair.subscriber, letters_for("any"), "BORIC"));
  CHECK(ask(pair.subscriber, letters_for("none")).empty());
}

TEST_CASE("a subscription survives crashes of either side", "[subscriptions][slow]") {
  Pair pair{"checkpoint_timeout = 30s"};
  pair.define("CREATE TABLE t (id int PRIMARY KEY, version int NOT NULL DEFAULT 0)");
  pair.define("CREATE TABLE log (id bigint PRIMARY KEY, of int)");
  CHECK(ask(pair.publisher,
            "INSERT INTO t SELECT n FROM generate_series(1, 200) n; CREATE PUBLICATION p FOR ALL "
            "TABLES; CREATE SEQUENCE numbers") == kNothing);
  CHECK(pair.subscribe() == kNothing);
  std::mt19937 random{7};
  for (int round = 0; round < 6; ++round) {
    INFO("round " << round);
    {
      Client writer{pair.publisher};
      for (int i = 0; i < 150; ++i) {
        const std::string id = std::to_string(random() % 200 + 1);
        writer.ask("BEGIN; UPDATE t SET version = version + 1 WHERE id = " + id +
                   "; INSERT INTO log VALUES (nextval('numbers'), " + id + "); COMMIT");
      }
    }
    const std::string killed = round % 2 == 0 ? "subscriber" : "publisher";
    pair.home.kill(killed);
    pair.start(killed);
    INFO(pair.home.log_of("subscriber.log"));
    CHECK(pair.agree(rows_of("t")));
    CHECK(pair.agree(rows_of("log")));
  }
}

}  // namespace swizzle::server
