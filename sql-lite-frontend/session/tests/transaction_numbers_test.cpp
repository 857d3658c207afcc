#include "sql-lite-frontend/session/shared/transaction_numbers.h"

#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <set>

#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/tests/test_database.h"
#include "sql-lite-frontend/types/sql_error.h"

/// Numbers of transactions, and their visibility in snapshots.
namespace swizzle::sql {
namespace {

using Status = TransactionNumbers::Status;

std::string shown(const TransactionNumbers::Seen& seen) {
  std::string text = fmt::format("{}:{}:", seen.first, seen.behind);
  for (const std::int64_t number : seen.running) text += fmt::format(" {}", number);
  return text;
}

}  // namespace

TEST_CASE("A snapshot sees the numbers whose end it has seen", "[sql][numbers]") {
  TransactionNumbers numbers;
  numbers.begin_at(10);
  CHECK(shown(numbers.seen_at(Lsn{100})) == "10:10:");
  for (int i = 0; i < 4; ++i) CHECK(numbers.take() == 10 + i);
  CHECK(shown(numbers.seen_at(Lsn{100})) == "10:10:");
  numbers.end(11, true, Lsn{200});
  CHECK(shown(numbers.seen_at(Lsn{199})) == "10:10:");
  CHECK(shown(numbers.seen_at(Lsn{200})) == "10:12: 10");
  numbers.end(12, false, Lsn{300});
  CHECK(shown(numbers.seen_at(Lsn{200})) == "10:13: 10");
  numbers.end(10, true, Lsn{400});
  numbers.end(13, true, Lsn{300});
  CHECK(shown(numbers.seen_at(Lsn{300})) == "10:14: 10");
  CHECK(shown(numbers.seen_at(Lsn{400})) == "14:14:");
  CHECK(numbers.status(10) == Status::committed);
  CHECK(numbers.status(12) == Status::aborted);
  CHECK(numbers.take() == 14);
  CHECK(numbers.status(14) == Status::in_progress);
  CHECK_FALSE(numbers.status(9));
  CHECK_THROWS_AS(numbers.status(15), SqlError);

  numbers.take_up(3);
  CHECK(shown(numbers.seen_at(Lsn{400})) == "3:14: 3");
  CHECK(numbers.status(3) == Status::in_progress);
  // For numbers that all snapshots see, only the outcome is kept.
  numbers.forget_before(Lsn{300});
  CHECK(numbers.status(12) == Status::aborted);
  CHECK(shown(numbers.seen_at(Lsn{300})) == "3:14: 3 10");
}

TEST_CASE("Numbers that a snapshot may miss are forgotten in the end, and it is told so",
          "[sql][numbers]") {
  TransactionNumbers numbers;
  numbers.begin_at(1);
  constexpr std::uint64_t kMany = 1'000'002;
  for (std::uint64_t i = 1; i <= kMany; ++i) numbers.end(numbers.take(), true, Lsn{100 + i});
  CHECK(numbers.is_full());
  numbers.forget_before(Lsn{50});
  CHECK_FALSE(numbers.is_full());
  CHECK_THROWS_AS(numbers.seen_at(Lsn{50}), SqlError);
  CHECK(shown(numbers.seen_at(Lsn{100 + kMany})) == fmt::format("{0}:{0}:", kMany + 1));
  CHECK_FALSE(numbers.status(1'000));
  CHECK(numbers.status(kMany) == Status::committed);
}

TEST_CASE("pg_current_snapshot() tells which transactions it sees", "[sql][numbers]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int PRIMARY KEY, x xid8 DEFAULT pg_current_xact_id())");
  db.run("INSERT INTO t VALUES (1)");
  db.run(*other, "BEGIN; INSERT INTO t VALUES (2)");
  db.run(*other, "CREATE TABLE own AS SELECT pg_current_xact_id() x");
  const std::string number = db.run(*other, "SELECT pg_current_xact_id()").substr(0, 16);
  const std::string sees = "SELECT pg_visible_in_snapshot('" + number + "', pg_current_snapshot())";
  const std::string is_first =
      "SELECT pg_snapshot_xmin(pg_current_snapshot()) = '" + number + "'::xid8";
  CHECK(db.run(sees) == "f SELECT 1");
  CHECK(db.run(is_first) == "t SELECT 1");
  CHECK(db.run("INSERT INTO t VALUES (3)") == "INSERT 0 1");
  CHECK(db.run("SELECT id, pg_visible_in_snapshot(x, pg_current_snapshot()) FROM t ORDER BY id") ==
        "1|t 3|t SELECT 2");
  CHECK(db.run("SELECT count(*) FROM pg_snapshot_xip(pg_current_snapshot()) x WHERE x = '" +
               number + "'") == "1 SELECT 1");
  CHECK(db.run("SELECT pg_xact_status('" + number + "')") == "in progress SELECT 1");
  // A snapshot from before the commit does not show it afterwards.
  const auto reader = db.connect();
  db.run(*reader, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM t");
  const std::string before = db.run(*reader, "SELECT pg_current_snapshot()");
  CHECK(db.run(*other, "COMMIT") == "COMMIT");
  CHECK(db.run(*reader, sees) == "f SELECT 1");
  CHECK(db.run(*reader, "SELECT pg_current_snapshot()") == before);
  CHECK(db.run(*reader, "SELECT count(*) FROM t") == "2 SELECT 1");
  CHECK(db.run(sees) == "t SELECT 1");
  CHECK(db.run("SELECT pg_xact_status('" + number + "')") == "committed SELECT 1");
  db.run(*reader, "COMMIT");
  CHECK(db.run(*reader, sees) == "t SELECT 1");
}

TEST_CASE("A prepared transaction is one that runs, after a restart as well", "[sql][numbers]") {
  const bool commits = GENERATE(true, false);
  TestDatabase db;
  const auto allow = [&] {
    REQUIRE(db.database().shared().settings.set_at_start({"max_prepared_transactions", "5", "test"},
                                                         SettingSource::command_line));
  };
  allow();
  db.run("CREATE TABLE t(id int PRIMARY KEY)");
  db.run("BEGIN; INSERT INTO t VALUES (1)");
  const std::string number = db.run("SELECT pg_current_xact_id()").substr(0, 16);
  CHECK(db.run("PREPARE TRANSACTION 'p'") == "PREPARE TRANSACTION");
  const std::string sees = "SELECT pg_visible_in_snapshot('" + number + "', pg_current_snapshot())";
  CHECK(db.run(sees) == "f SELECT 1");
  db.close();
  db.open();
  allow();
  CHECK(db.run(sees) == "f SELECT 1");
  CHECK(db.run("SELECT pg_xact_status('" + number + "')") == "in progress SELECT 1");
  db.run(commits ? "COMMIT PREPARED 'p'" : "ROLLBACK PREPARED 'p'");
  CHECK(db.run(sees) == "t SELECT 1");
  CHECK(db.run("SELECT pg_xact_status('" + number + "')") ==
        (commits ? "committed SELECT 1" : "aborted SELECT 1"));
}

TEST_CASE("A queue that is read by snapshots meets every event once", "[sql][numbers]") {
  const auto seed = GENERATE(1U, 2U, 3U, 4U, 5U, 6U);
  INFO("seed " << seed);
  std::mt19937 random{seed};
  TestDatabase db;
  db.run("CREATE TABLE events(id int PRIMARY KEY, x xid8 DEFAULT pg_current_xact_id())");
  db.run("CREATE TABLE ticks(id int PRIMARY KEY, s pg_snapshot DEFAULT pg_current_snapshot())");
  db.run("INSERT INTO ticks VALUES (0)");
  struct Writer {
    std::unique_ptr<Session> session;
    std::set<int> written;
  };
  std::array<Writer, 5> writers;
  for (Writer& writer : writers) writer.session = db.connect();
  std::set<std::string> committed;
  std::multiset<std::string> met;
  int events = 0;
  int ticks = 0;
  const auto tick = [&] {
    db.run(fmt::format("INSERT INTO ticks VALUES ({})", ++ticks));
    for (const std::string& event : db.rows(fmt::format(
             "SELECT e.id FROM events e, ticks a, ticks b WHERE a.id = {} AND b.id = {} AND "
             "pg_visible_in_snapshot(e.x, b.s) AND NOT pg_visible_in_snapshot(e.x, a.s)",
             ticks - 1, ticks))) {
      met.insert(event);
    }
  };
  const auto finish = [&](Writer& writer, bool commits) {
    db.run(*writer.session, commits ? "COMMIT" : "ROLLBACK");
    for (const int event : writer.written) {
      if (commits) committed.insert(std::to_string(event));
    }
    writer.written.clear();
  };
  for (int step = 0; step < 300; ++step) {
    Writer& writer = writers[random() % writers.size()];
    switch (random() % 5) {
      case 0:
      case 1:
        if (writer.written.empty()) {
          db.run(*writer.session,
                 random() % 2 == 0 ? "BEGIN" : "BEGIN ISOLATION LEVEL SERIALIZABLE");
        }
        db.run(*writer.session, fmt::format("INSERT INTO events VALUES ({})", ++events));
        writer.written.insert(events);
        break;
      case 2:
      case 3:
        if (!writer.written.empty()) finish(writer, random() % 4 != 0);
        break;
      default:
        tick();
    }
  }
  for (Writer& writer : writers) {
    if (!writer.written.empty()) finish(writer, true);
  }
  tick();
  CHECK(std::set<std::string>{met.begin(), met.end()} == committed);
  CHECK(met.size() == committed.size());
}

}  // namespace swizzle::sql
