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

const std::string kNoErrors =
    "SELECT sum(apply_error_count + sync_error_count + confl_insert_exists + confl_update_missing "
    "+ confl_delete_missing) FROM pg_stat_subscription_stats";

/// The letters of the messages that a new reader of slot `peeked` gets now.
std::string letters(const std::string& options) {
  return "SELECT coalesce(string_agg(chr(get_byte(data, 0)), ''), '') FROM "
         "pg_logical_slot_peek_binary_changes('peeked', NULL, NULL, 'publication_names', 'p', " +
         options + ")";
}

}  // namespace

TEST_CASE("large transactions are sent before they commit", "[subscriptions]") {
  const Pair pair{"logical_decoding_work_mem = 64kB\nmax_prepared_transactions = 5"};
  pair.define("CREATE TABLE t (id int PRIMARY KEY, note text)");
  CHECK(ask(pair.publisher, "CREATE PUBLICATION p FOR TABLE t") == kNothing);
  CHECK(ask(pair.publisher,
            "SELECT pg_create_logical_replication_slot('peeked', 'pgoutput') IS NULL") == "f");
  CHECK(pair.subscribe("streaming = on") == kNothing);
  CHECK(await_answer(pair.subscriber, kAllReady, "t"));
  Client writer{pair.publisher};
  const auto insert = [](int from, int to) {
    return "INSERT INTO t SELECT n, repeat('x', 100) FROM generate_series(" + std::to_string(from) +
           ", " + std::to_string(to) + ") n";
  };
  CHECK(writer.ask("BEGIN; " + insert(1, 3000)) == kNothing);
  // Changes are told once they are durable, for which the writer's own commit is not needed.
  CHECK(ask(pair.publisher, "CREATE TABLE other (id int)") == kNothing);
  const std::string seen = ask(pair.publisher, letters("'proto_version', '2', 'streaming', 'on'"));
  CHECK(seen.starts_with("SRIII"));
  CHECK(seen.ends_with("IE"));
  CHECK(ask(pair.publisher, letters("'proto_version', '1'")).empty());
  CHECK(ask(pair.subscriber, "SELECT count(*) FROM t") == "0");
  // Parts that have been sent are rolled back to a savepoint.
  CHECK(writer.ask("SAVEPOINT a; " + insert(3001, 5000) + "; SAVEPOINT b; " + insert(5001, 6000) +
                   "; RELEASE b; ROLLBACK TO a; " + insert(6001, 7000)) == kNothing);
  CHECK(writer.ask("COMMIT") == kNothing);
  CHECK(pair.agree(rows_of("t")));
  CHECK(ask(pair.publisher, letters("'proto_version', '2', 'streaming', 'on'")).find('A') !=
        std::string::npos);
  CHECK(writer.ask("BEGIN; " + insert(10'001, 13'000)) == kNothing);
  // A small one between.
  CHECK(ask(pair.publisher, "UPDATE t SET note = 'small' WHERE id = 1") == kNothing);
  CHECK(pair.agree(rows_of("t")));
  CHECK(writer.ask("ROLLBACK; BEGIN; " + insert(20'001, 23'000) +
                   "; DELETE FROM t WHERE id < 2000; PREPARE TRANSACTION 'large'") == kNothing);
  CHECK(ask(pair.publisher, "COMMIT PREPARED 'large'") == kNothing);
  CHECK(pair.agree(rows_of("t")));
  CHECK(ask(pair.subscriber, kNoErrors) == "0");
}

TEST_CASE("random savepoints of large transactions", "[subscriptions]") {
  const Pair pair{"logical_decoding_work_mem = 64kB"};
  pair.define("CREATE TABLE t (id int PRIMARY KEY, n int, note text)");
  CHECK(ask(pair.publisher, "CREATE PUBLICATION p FOR TABLE t; CREATE SEQUENCE s") == kNothing);
  CHECK(pair.subscribe() == kNothing);
  CHECK(await_answer(pair.subscriber, kAllReady, "t"));
  std::mt19937 random{17};
  Client one{pair.publisher};
  Client other{pair.publisher};
  for (int round = 0; round < 6; ++round) {
    INFO("round " << round);
    for (Client* const client : {&one, &other}) CHECK(client->ask("BEGIN") == kNothing);
    int depth[2] = {0, 0};
    for (int step = 0; step < 40; ++step) {
      const auto who = random() % 2;
      Client& client = who == 0 ? one : other;
      const std::string name = "s" + std::to_string(depth[who]);
      switch (random() % 5) {
        case 0:
          CHECK(client.ask("SAVEPOINT s" + std::to_string(++depth[who])) == kNothing);
          break;
        case 1:
          if (depth[who] == 0) break;
          CHECK(client.ask("ROLLBACK TO " + name) == kNothing);
          break;
        case 2:
          if (depth[who] == 0) break;
          CHECK(client.ask("RELEASE " + name) == kNothing);
          --depth[who];
          break;
        default:
          CHECK(client.ask("INSERT INTO t SELECT nextval('s'), " + std::to_string(step) +
                           ", repeat('x', 90) FROM generate_series(1, " +
                           std::to_string(random() % 400 + 1) + ")") == kNothing);
      }
    }
    CHECK(one.ask(random() % 4 == 0 ? "ROLLBACK" : "COMMIT") == kNothing);
    CHECK(other.ask("COMMIT") == kNothing);
    CHECK(pair.agree(rows_of("t")));
  }
  CHECK(ask(pair.subscriber, kNoErrors) == "0");
}

TEST_CASE("transactions that are prepared there are prepared here", "[subscriptions]") {
  Pair pair{"max_prepared_transactions = 5"};
  pair.define("CREATE TABLE t (id int PRIMARY KEY, note text)");
  CHECK(ask(pair.publisher, "CREATE PUBLICATION p FOR TABLE t; INSERT INTO t VALUES (1, 'one')") ==
        kNothing);
  CHECK(pair.subscribe("two_phase = true") == kNothing);
  CHECK(await_answer(pair.subscriber, "SELECT subtwophasestate FROM pg_subscription", "e"));
  CHECK(ask(pair.publisher, "SELECT two_phase FROM pg_replication_slots") == "t");
  CHECK(ask(pair.subscriber, "ALTER SUBSCRIPTION s REFRESH PUBLICATION")
            .starts_with("42601 ERROR:  ALTER SUBSCRIPTION ... REFRESH with copy_data is not "
                         "allowed when two_phase is enabled"));
  const std::string kPrepared = "SELECT count(*) FROM pg_prepared_xacts";
  CHECK(ask(pair.publisher, "BEGIN; INSERT INTO t VALUES (2, 'two'); PREPARE TRANSACTION 'a'") ==
        kNothing);
  CHECK(ask(pair.publisher, "BEGIN; INSERT INTO t VALUES (3, 'three'); PREPARE TRANSACTION 'b'") ==
        kNothing);
  CHECK(await_answer(pair.subscriber, kPrepared, "2"));
  CHECK(ask(pair.subscriber,
            "SELECT bool_and(gid ~ '^pg_gid_[0-9]+_[0-9]+$') FROM "
            "pg_prepared_xacts") == "t");
  CHECK(ask(pair.subscriber, "SELECT count(*) FROM t") == "1");
  CHECK(ask(pair.publisher, "UPDATE t SET note = 'uno' WHERE id = 1") == kNothing);
  CHECK(pair.agree(rows_of("t")));
  for (const std::string killed : {"subscriber", "publisher"}) {
    pair.home.kill(killed);
    pair.start(killed);
    CHECK(ask(pair.subscriber, kPrepared) == "2");
  }
  CHECK(ask(pair.publisher, "COMMIT PREPARED 'a'") == kNothing);
  CHECK(ask(pair.publisher, "ROLLBACK PREPARED 'b'") == kNothing);
  CHECK(await_answer(pair.subscriber, kPrepared, "0"));
  CHECK(pair.agree(rows_of("t")));
  CHECK(ask(pair.subscriber, "SELECT count(*) FROM t") == "2");
  // Tables that are not published have nothing to tell.
  CHECK(ask(pair.publisher,
            "CREATE TABLE own (id int); BEGIN; INSERT INTO own VALUES (1); PREPARE "
            "TRANSACTION 'c'") == kNothing);
  CHECK(ask(pair.publisher, "COMMIT PREPARED 'c'") == kNothing);
  CHECK(ask(pair.publisher, "INSERT INTO t VALUES (9, 'nine')") == kNothing);
  CHECK(pair.agree(rows_of("t")));
  CHECK(ask(pair.subscriber,
            "SELECT sum(confl_insert_exists + confl_update_missing) FROM "
            "pg_stat_subscription_stats") == "0");
}

TEST_CASE("values of all kinds come in their binary form", "[subscriptions]") {
  const Pair pair;
  pair.define("CREATE TYPE mood AS ENUM ('sad', 'happy'); CREATE TYPE pair AS (a int, b text)");
  pair.define(
      "CREATE TABLE t (id int PRIMARY KEY, n numeric, f float8, s text, b bytea, d date, ts "
      "timestamptz, i interval, j jsonb, u uuid, a int[], r int4range, m mood, p pair, flag bool)");
  CHECK(ask(pair.publisher, "CREATE PUBLICATION p FOR TABLE t") == kNothing);
  const std::string row =
      ", 12345.678901, 1e-300, 'text', '\\xdeadbeef', '2020-02-29', '2020-02-29 12:00:00.5+00', "
      "'1 year 2 days 3 s', '{\"a\": [1, null]}', '00000000-0000-0000-0000-000000000007', '{1, "
      "NULL, 3}', '[1,5)', 'happy', '(7, \"x y\")', true)";
  CHECK(ask(pair.publisher, "INSERT INTO t VALUES (1" + row) == kNothing);
  CHECK(pair.subscribe("binary = true") == kNothing);
  CHECK(await_answer(pair.subscriber, kAllReady, "t"));
  CHECK(
      ask(pair.publisher, "INSERT INTO t VALUES (2" + row +
                              "; INSERT INTO t (id) VALUES (3); "
                              "UPDATE t SET n = 'NaN', s = NULL WHERE id = 1; UPDATE t SET id = 5 "
                              "WHERE id = 3") == kNothing);
  CHECK(pair.agree(rows_of("t")));
  CHECK(ask(pair.subscriber, kNoErrors) == "0");
}

TEST_CASE("partitions are followed as such, or as their partitioned table", "[subscriptions]") {
  const Pair pair;
  const std::string kTable =
      "CREATE TABLE t (id int, region int, note text, PRIMARY KEY (id, region)) PARTITION BY LIST "
      "(region)";
  // The columns of a partition have another order.
  CHECK(ask(pair.publisher,
            kTable +
                "; CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1); CREATE TABLE t2 (note text, "
                "region int NOT NULL, id int NOT NULL, PRIMARY KEY (id, region)); ALTER TABLE t "
                "ATTACH PARTITION t2 FOR VALUES IN (2); INSERT INTO t SELECT n, n % 2 + 1, 'first' "
                "FROM generate_series(1, 100) n") == kNothing);
  const std::string change =
      "INSERT INTO t VALUES (1001, 1, 'new'), (1002, 2, 'new'); UPDATE t SET note = 'changed' "
      "WHERE id % 5 = 0; UPDATE t SET region = 3 - region WHERE id % 7 = 0; DELETE FROM t WHERE id "
      "% 11 = 0; TRUNCATE t1; INSERT INTO t1 VALUES (2001, 1, 'after')";
  SECTION("by their own names") {
    CHECK(ask(pair.publisher, "CREATE PUBLICATION p FOR TABLE t") == kNothing);
    CHECK(ask(pair.subscriber,
              kTable + "; CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1); CREATE TABLE t2 "
                       "PARTITION OF t FOR VALUES IN (2)") == kNothing);
    CHECK(ask(pair.publisher,
              "SELECT string_agg(tablename, ',' ORDER BY tablename) FROM pg_publication_tables") ==
          "t1,t2");
    CHECK(pair.subscribe() == kNothing);
    CHECK(await_answer(pair.subscriber, kAllReady, "t"));
    CHECK(ask(pair.publisher, change) == kNothing);
    CHECK(pair.agree(rows_of("t")));
  }
  SECTION("as the partitioned table, into one with other partitions") {
    CHECK(ask(pair.publisher,
              "CREATE PUBLICATION p FOR TABLE t WITH (publish_via_partition_root = true)") ==
          kNothing);
    CHECK(ask(pair.subscriber,
              "CREATE TABLE t (id int, region int, note text, PRIMARY KEY (id, region)) PARTITION "
              "BY HASH (id); CREATE TABLE a PARTITION OF t FOR VALUES WITH (modulus 2, remainder "
              "0); CREATE TABLE b PARTITION OF t FOR VALUES WITH (modulus 2, remainder 1)") ==
          kNothing);
    CHECK(ask(pair.publisher,
              "SELECT string_agg(tablename, ',' ORDER BY tablename) FROM pg_publication_tables") ==
          "t");
    CHECK(pair.subscribe() == kNothing);
    CHECK(await_answer(pair.subscriber, kAllReady, "t"));
    CHECK(pair.agree(rows_of("t")));
    // TRUNCATE of a partition is not told.
    CHECK(ask(pair.publisher,
              "INSERT INTO t VALUES (1001, 1, 'new'), (1002, 2, 'new'); UPDATE t SET note = "
              "'changed' WHERE id % 5 = 0; UPDATE t SET region = 3 - region WHERE id % 7 = 0; "
              "DELETE FROM t WHERE id % 11 = 0; UPDATE t SET id = id + 5000 WHERE id < 10") ==
          kNothing);
    CHECK(pair.agree(rows_of("t")));
    CHECK(ask(pair.subscriber,
              "SELECT (SELECT count(*) > 0 FROM a) AND (SELECT count(*) > 0 FROM "
              "b)") == "t");
    CHECK(ask(pair.publisher, "TRUNCATE t; INSERT INTO t VALUES (1, 1, 'last')") == kNothing);
    CHECK(pair.agree(rows_of("t")));
  }
  SECTION("as the partitioned table, a part of it, into a table") {
    CHECK(ask(pair.publisher,
              "CREATE PUBLICATION p FOR TABLE t (region, id) WHERE (region = 2) WITH "
              "(publish_via_partition_root)") == kNothing);
    CHECK(ask(pair.subscriber, "CREATE TABLE t (id int, region int, PRIMARY KEY (id, region))") ==
          kNothing);
    CHECK(pair.subscribe() == kNothing);
    CHECK(await_answer(pair.subscriber, kAllReady, "t"));
    CHECK(ask(pair.publisher, change) == kNothing);
    const std::string part = "SELECT string_agg(id::text, ',' ORDER BY id) FROM t WHERE region = 2";
    CHECK(pair.agree(part));
    CHECK(ask(pair.subscriber, "SELECT count(*) FROM t WHERE region <> 2") == "0");
  }
  CHECK(ask(pair.subscriber, kNoErrors) == "0");
}

}  // namespace swizzle::server
