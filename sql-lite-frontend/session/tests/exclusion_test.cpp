// Exclusion constraints with concurrent sessions, against a model, and across a restart. Cases of a
// single session are in the corpus.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

using Catch::Contains;
using Catch::StartsWith;

constexpr const char* kBusy = "55P03";
constexpr const char* kExcluded = "23P01";

void make_rooms(TestDatabase& db, const std::string& words = {}) {
  db.run("CREATE EXTENSION btree_gist");
  REQUIRE(db.run("CREATE TABLE t(id int primary key, room int, during int4range, "
                 "CONSTRAINT x EXCLUDE USING gist (during WITH &&, room WITH =) " +
                 words + ")") == "CREATE TABLE");
}

std::string booking(int id, int room, int from, int to) {
  return "(" + std::to_string(id) + ", " + std::to_string(room) + ", '[" + std::to_string(from) +
         "," + std::to_string(to) + ")')";
}

}  // namespace

TEST_CASE("Who books what another is booking, or gives up, waits for the other",
          "[sql][session][exclusion]") {
  TestDatabase db;
  make_rooms(db);
  const auto other = db.connect();
  db.run("INSERT INTO t VALUES (1, 1, '[1,5)'), (2, 1, '[5,9)')");
  db.run(*other, "SET lock_timeout = '30ms'");
  const auto book = [&](int id, int room, int from, int to) {
    return db.run(*other, "INSERT INTO t VALUES " + booking(id, room, from, to));
  };
  // The outcome of an insert in progress decides.
  db.run("BEGIN; INSERT INTO t VALUES (3, 1, '[20,30)')");
  CHECK_THAT(book(4, 1, 25, 40), StartsWith(kBusy));
  CHECK_THAT(db.run(*other, "UPDATE t SET during = '[29,30)' WHERE id = 2"), StartsWith(kBusy));
  CHECK(book(4, 2, 25, 40) == "INSERT 0 1");  // in another room
  CHECK(db.run(*other, "DELETE FROM t WHERE id = 4") == "DELETE 1");
  db.run("ROLLBACK");
  CHECK(book(4, 1, 25, 40) == "INSERT 0 1");
  CHECK(db.run(*other, "DELETE FROM t WHERE id = 4") == "DELETE 1");
  db.run("BEGIN; INSERT INTO t VALUES (3, 1, '[20,30)'); COMMIT");
  CHECK_THAT(book(4, 1, 25, 40), StartsWith(kExcluded));
  // A range whose row is being removed may be restored.
  for (const char* gives_up :
       {"DELETE FROM t WHERE id = 3", "UPDATE t SET during = '[60,61)' WHERE id = 3",
        "UPDATE t SET room = 8 WHERE id = 3", "UPDATE t SET during = NULL WHERE id = 3"}) {
    INFO(gives_up);
    db.run("BEGIN");
    db.run(gives_up);
    CHECK_THAT(book(4, 1, 25, 40), StartsWith(kBusy));
    db.run("ROLLBACK");
    CHECK_THAT(book(4, 1, 25, 40), StartsWith(kExcluded));
    db.run("BEGIN");
    db.run(gives_up);
    db.run("COMMIT");
    CHECK(book(4, 1, 25, 40) == "INSERT 0 1");
    db.run("DELETE FROM t WHERE id IN (3, 4)");
    db.run("INSERT INTO t VALUES (3, 1, '[20,30)')");
  }
  // An update that keeps the range excludes no others.
  db.run("BEGIN; UPDATE t SET during = during WHERE id = 3; UPDATE t SET id = 33 WHERE id = 2");
  CHECK_THAT(book(4, 2, 1, 2), Contains("INSERT 0 1"));
  db.run("ROLLBACK");
}

TEST_CASE("An exclusion holds for what came after the snapshot", "[sql][session][exclusion]") {
  TestDatabase db;
  make_rooms(db);
  const auto other = db.connect();
  for (const char* level : {"REPEATABLE READ", "SERIALIZABLE"}) {
    INFO(level);
    db.run("DELETE FROM t");
    db.run(*other, std::string{"BEGIN ISOLATION LEVEL "} + level);
    CHECK(db.run(*other, "SELECT count(*) FROM pg_class WHERE relname = 'nothing'") ==
          "0 SELECT 1");
    db.run("INSERT INTO t VALUES (1, 1, '[1,5)')");
    CHECK_THAT(db.run(*other, "INSERT INTO t VALUES (2, 1, '[4,6)')"), StartsWith(kExcluded));
    db.run(*other, "ROLLBACK");
  }
}

TEST_CASE("A prepared transaction keeps its group over a restart", "[sql][session][exclusion]") {
  TestDatabase db;
  const auto allow = [&] {
    REQUIRE(db.database().shared().settings.set_at_start({"max_prepared_transactions", "5", "test"},
                                                         SettingSource::command_line));
  };
  allow();
  make_rooms(db);
  REQUIRE(db.run("BEGIN; INSERT INTO t VALUES (1, 1, '[1,5)'); PREPARE TRANSACTION 'one'") ==
          "BEGIN INSERT 0 1 PREPARE TRANSACTION");
  db.close();
  db.open();
  allow();
  db.run("SET lock_timeout = '30ms'");
  CHECK_THAT(db.run("INSERT INTO t VALUES (2, 1, '[4,6)')"), StartsWith(kBusy));
  db.run("COMMIT PREPARED 'one'");
  CHECK_THAT(db.run("INSERT INTO t VALUES (2, 1, '[4,6)')"), StartsWith(kExcluded));
  CHECK(db.run("INSERT INTO t VALUES (2, 1, '[5,6)')") == "INSERT 0 1");
}

namespace {

struct Booking {
  int room;
  int from;
  int to;
};
using Bookings = std::map<int, Booking>;

bool are_apart(const Booking& a, const Booking& b) {
  if (a.room != b.room || a.from == a.to || b.from == b.to) return true;
  return a.to <= b.from || b.to <= a.from;
}
bool fits(const Bookings& rows, int id, const Booking& wanted) {
  return std::ranges::all_of(
      rows, [&](const auto& row) { return row.first == id || are_apart(row.second, wanted); });
}
bool all_fit(const Bookings& rows) {
  return std::ranges::all_of(rows,
                             [&](const auto& row) { return fits(rows, row.first, row.second); });
}
std::string shown(const Bookings& rows) {
  std::string text;
  for (const auto& [id, row] : rows) {
    text +=
        std::to_string(id) + "|" + std::to_string(row.room) + "|" +
        (row.from == row.to ? std::string{"empty"}
                            : "[" + std::to_string(row.from) + "," + std::to_string(row.to) + ")") +
        " ";
  }
  return text + "SELECT " + std::to_string(rows.size());
}

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : random_(seed) {}
  int below(int count) {
    return static_cast<int>(random_.below(static_cast<std::uint64_t>(count)));
  }
  Booking booking() {
    const int from = below(60);
    return {below(3), from, from + below(9)};
  }

 private:
  Random random_;
};

}  // namespace

TEST_CASE("Random bookings are taken when none overlaps, as a model says",
          "[sql][session][exclusion]") {
  constexpr std::uint64_t kSeed = 20261126;
  INFO("seed " << kSeed);
  TestDatabase db;
  make_rooms(db);
  Chance chance{kSeed};
  Bookings committed;
  int taken = 0;
  int refused = 0;
  for (int round = 0; round < 150; ++round) {
    Bookings rows = committed;
    db.run("BEGIN");
    for (int step = 0; step < 12; ++step) {
      const int id = chance.below(25);
      const Booking wanted = chance.booking();
      Bookings next = rows;
      std::string statement = "DELETE FROM t WHERE id = " + std::to_string(id);
      const int kind = chance.below(4);
      if (kind == 0) {
        next.erase(id);
      } else if (rows.contains(id)) {
        statement = "UPDATE t SET room = " + std::to_string(wanted.room) + ", during = '[" +
                    std::to_string(wanted.from) + "," + std::to_string(wanted.to) +
                    ")' WHERE id = " + std::to_string(id);
        next[id] = wanted;
      } else {
        statement = "INSERT INTO t VALUES " + booking(id, wanted.room, wanted.from, wanted.to);
        next[id] = wanted;
      }
      const bool may = kind == 0 || fits(rows, id, wanted);
      db.run("SAVEPOINT s");
      const std::string outcome = db.run(statement);
      INFO("round " << round << ", step " << step << ": " << statement << ": " << outcome);
      REQUIRE(outcome.starts_with(kExcluded) == !may);
      if (may && chance.below(6) != 0) {
        rows = std::move(next);
      } else {
        db.run("ROLLBACK TO s");
      }
      ++(may ? taken : refused);
    }
    if (chance.below(4) == 0) {
      db.run("ROLLBACK");
    } else {
      REQUIRE(db.run("COMMIT") == "COMMIT");
      committed = rows;
    }
    REQUIRE(db.run("SELECT id, room, during FROM t ORDER BY id") == shown(committed));
  }
  CHECK(taken > 300);
  CHECK(refused > 300);
}

TEST_CASE("Transactions over a deferred exclusion commit when none overlaps",
          "[sql][session][exclusion]") {
  constexpr std::uint64_t kSeed = 7;
  INFO("seed " << kSeed);
  TestDatabase db;
  make_rooms(db, "DEFERRABLE INITIALLY DEFERRED");
  Chance chance{kSeed};
  Bookings committed;
  int commits = 0;
  int failures = 0;
  for (int round = 0; round < 250; ++round) {
    Bookings rows = committed;
    db.run("BEGIN");
    for (int step = chance.below(5); step >= 0; --step) {
      const int id = chance.below(12);
      const Booking wanted = chance.booking();
      if (chance.below(3) == 0) {
        db.run("DELETE FROM t WHERE id = " + std::to_string(id));
        rows.erase(id);
        continue;
      }
      db.run("INSERT INTO t VALUES " + booking(id, wanted.room, wanted.from, wanted.to) +
             " ON CONFLICT (id) DO UPDATE SET room = excluded.room, during = excluded.during");
      rows[id] = wanted;
    }
    const std::string outcome = db.run("COMMIT");
    INFO("round " << round << ": " << outcome);
    REQUIRE(outcome.starts_with(all_fit(rows) ? "COMMIT" : kExcluded));
    ++(all_fit(rows) ? commits : failures);
    if (all_fit(rows)) committed = rows;
    REQUIRE(db.run("SELECT id, room, during FROM t ORDER BY id") == shown(committed));
  }
  CHECK(commits > 30);
  CHECK(failures > 30);
}

TEST_CASE("Sessions that book at the same time never get what overlaps",
          "[sql][session][exclusion]") {
  TestDatabase db;
  make_rooms(db);
  constexpr int kSessions = 4;
  constexpr int kEach = 150;
  std::vector<std::unique_ptr<Session>> sessions;
  for (int i = 0; i < kSessions; ++i) sessions.push_back(db.connect());
  std::vector<int> taken(kSessions);
  std::vector<std::string> odd(kSessions);
  std::vector<std::thread> threads;
  for (int number = 0; number < kSessions; ++number) {
    threads.emplace_back([&, number] {
      Chance chance{static_cast<std::uint64_t>(100 + number)};
      TestSink sink;
      Session& session = *sessions[static_cast<std::size_t>(number)];
      for (int i = 0; i < kEach; ++i) {
        Booking wanted = chance.booking();
        if (wanted.from == wanted.to) ++wanted.to;
        const int id = number * 1000 + i;
        const bool gives_up = chance.below(3) == 0;
        std::string script = "BEGIN; INSERT INTO t VALUES " +
                             booking(id, wanted.room, wanted.from, wanted.to) + "; ";
        if (gives_up) script += "DELETE FROM t WHERE id = " + std::to_string(id - 1) + "; ";
        script += chance.below(5) == 0 ? "ROLLBACK" : "COMMIT";
        sink.clear();
        const Outcome outcome = session.simple_query(script, sink);
        if (outcome) {
          taken[static_cast<std::size_t>(number)] += script.ends_with("COMMIT") ? 1 : 0;
          continue;
        }
        const std::string state{outcome.error().state.code()};
        if (state != kExcluded) odd[static_cast<std::size_t>(number)] += state + " ";
        sink.clear();
        static_cast<void>(session.simple_query("ROLLBACK", sink));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < kSessions; ++i) {
    INFO("session " << i);
    CHECK(taken[static_cast<std::size_t>(i)] > 0);
    CHECK(odd[static_cast<std::size_t>(i)].empty());
  }
  CHECK(db.run("SELECT count(*) FROM t a JOIN t b ON a.id < b.id AND a.room = b.room AND "
               "a.during && b.during") == "0 SELECT 1");
  CHECK(db.run("ALTER TABLE t ADD EXCLUDE USING gist (room WITH =, during WITH &&)") ==
        "ALTER TABLE");
}
