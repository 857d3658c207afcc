// Partitions are attached and detached beside writers: no row is lost, and each is in its
// partition.
#include <fmt/format.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <thread>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

/// Inserts rows with distinct values and moves them; knows which ones exist.
class Mover {
 public:
  Mover(std::unique_ptr<Session> session, std::uint64_t number)
      : session_(std::move(session)),
        random_(number),
        next_(static_cast<int>(number) * 1'000'000) {}

  void work(const std::atomic<bool>& is_over) {
    run("SET deadlock_timeout = '1ms'");
    while (!is_over && wrong.empty()) {
      const std::string place = std::to_string(random_.below(30));
      if (random_.one_in(3)) {
        run("UPDATE t SET a = " + place + " WHERE n = " + std::to_string(next_));
      } else if (run("INSERT INTO t VALUES (" + place + ", " + std::to_string(next_ + 1) + ")")) {
        ++next_;
        ++written;
      }
    }
  }

  std::uint64_t written = 0;
  std::string wrong;

 private:
  bool run(const std::string& sql) {
    sink_.clear();
    const Outcome outcome = session_->simple_query(sql, sink_);
    if (outcome) return true;
    const std::string state{outcome.error().state.code()};
    // There is no partition for the row at the moment, or the other session is changing them.
    const bool is_expected = state == "23514" || state == "40P01" || state == "40001";
    if (!is_expected) wrong = sql + ": " + state + " " + outcome.error().message;
    return false;
  }

  std::unique_ptr<Session> session_;
  Random random_;
  int next_;
  TestSink sink_;
};

/// Reads the table and its definition until the others are done. Nothing that it asks for goes, so
/// that no answer may be an error.
class TableReader {
 public:
  explicit TableReader(std::unique_ptr<Session> session) : session_(std::move(session)) {}

  void work(const std::atomic<bool>& is_over) {
    while (!is_over && wrong.empty()) {
      for (const std::string_view sql :
           {"SELECT count(*) FROM t WHERE n = 5", "EXPLAIN SELECT * FROM t WHERE a = 100",
            "SELECT pg_get_partition_constraintdef(oid), pg_get_expr(relpartbound, oid) FROM "
            "pg_class WHERE relname IN ('t', 'low', 'middle', 'high', 'rest')"}) {
        sink_.clear();
        const Outcome outcome = session_->simple_query(sql, sink_);
        if (!outcome) {
          wrong =
              fmt::format("{}: {} {}", sql, outcome.error().state.code(), outcome.error().message);
        }
      }
    }
  }

  std::string wrong;

 private:
  std::unique_ptr<Session> session_;
  TestSink sink_;
};

std::uint64_t number_in(TestDatabase& db, const std::string& query) {
  return std::stoull(db.rows(query).at(0));
}

/// Repeats until success: it may be a deadlock's victim.
void change(TestDatabase& db, const std::string& sql) {
  for (int i = 0; i < 1000; ++i) {
    const std::string outcome = db.run(sql);
    if (outcome == "ALTER TABLE" || outcome == "CREATE TABLE" || outcome == "DROP TABLE") return;
    INFO(sql);
    REQUIRE_THAT(outcome, Catch::StartsWith("40P01"));
  }
  FAIL(sql);
}

}  // namespace

TEST_CASE("Partitions are attached and detached beside writers", "[sql][session][partitions]") {
  const bool has_default = GENERATE(false, true);
  TestDatabase db;
  db.run("CREATE TABLE t (a int, n int) PARTITION BY RANGE (a)");
  db.run("CREATE TABLE low PARTITION OF t FOR VALUES FROM (0) TO (10)");
  db.run("CREATE TABLE middle PARTITION OF t FOR VALUES FROM (10) TO (20)");
  db.run("CREATE INDEX ON t (n)");
  if (has_default) db.run("CREATE TABLE rest PARTITION OF t DEFAULT");
  std::atomic<bool> is_over{false};
  std::vector<std::unique_ptr<Mover>> writers;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    writers.push_back(std::make_unique<Mover>(db.connect(), i));
  }
  for (const auto& writer : writers) {
    threads.emplace_back([&is_over, one = writer.get()] { one->work(is_over); });
  }
  TableReader reader{db.connect()};
  threads.emplace_back([&] { reader.work(is_over); });
  for (int round = 0; round < 40; ++round) {
    change(db, "ALTER TABLE t DETACH PARTITION middle");
    if (has_default) {
      // Rows that have been inserted into the default partition meanwhile prevent the attachment.
      for (;;) {
        db.run(
            "BEGIN; LOCK TABLE t; INSERT INTO middle SELECT * FROM rest WHERE a >= 10 AND a < 20");
        db.run("DELETE FROM rest WHERE a >= 10 AND a < 20");
        db.run("ALTER TABLE t ATTACH PARTITION middle FOR VALUES FROM (10) TO (20)");
        if (db.run("COMMIT") == "COMMIT") break;
      }
    } else {
      change(db, "ALTER TABLE t ATTACH PARTITION middle FOR VALUES FROM (10) TO (20)");
    }
    change(db, "CREATE TABLE high PARTITION OF t FOR VALUES FROM (100) TO (200)");
    change(db, "DROP TABLE high");
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  INFO(reader.wrong);
  CHECK(reader.wrong.empty());
  std::uint64_t written = 0;
  for (const auto& writer : writers) {
    INFO(writer->wrong);
    CHECK(writer->wrong.empty());
    written += writer->written;
  }
  CHECK(written > 0);
  CHECK(number_in(db, "SELECT count(*) FROM t") == written);
  CHECK(number_in(db, "SELECT count(DISTINCT n) FROM t") == written);
  CHECK(number_in(db, "SELECT count(*) FROM low WHERE NOT (a >= 0 AND a < 10)") == 0);
  CHECK(number_in(db, "SELECT count(*) FROM middle WHERE NOT (a >= 10 AND a < 20)") == 0);
  if (has_default) {
    CHECK(number_in(db, "SELECT count(*) FROM rest WHERE a < 20") == 0);
  }
}
