#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/random.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

using Catch::Contains;

constexpr const char* kWaited = "55P03";
constexpr const char* kRepeated = "23505";

}  // namespace

TEST_CASE("A deferrable key waits for whoever takes it or gives it up", "[sql][session][keys]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int primary key, a int UNIQUE DEFERRABLE)");
  db.run("INSERT INTO t VALUES (1, 1), (2, 2)");
  db.run(*other, "SET lock_timeout = '30ms'");
  const auto insert = [&](int id, int a) {
    return db.run(*other,
                  "INSERT INTO t VALUES (" + std::to_string(id) + ", " + std::to_string(a) + ")");
  };
  for (const char* gives_up : {"UPDATE t SET a = 5 WHERE id = 1", "DELETE FROM t WHERE id = 1"}) {
    INFO(gives_up);
    db.run("BEGIN");
    db.run(gives_up);
    CHECK_THAT(insert(3, 1), Contains(kWaited));
    db.run("ROLLBACK");
    CHECK_THAT(insert(3, 1), Contains(kRepeated));
  }
  db.run("BEGIN");
  db.run("DELETE FROM t WHERE id = 1");
  db.run("COMMIT");
  CHECK_THAT(insert(3, 1), Contains("INSERT 0 1"));

  db.run("BEGIN");
  db.run("INSERT INTO t VALUES (4, 7)");
  CHECK_THAT(insert(5, 7), Contains(kWaited));
  db.run("COMMIT");
  CHECK_THAT(insert(5, 7), Contains(kRepeated));

  // A key inserted after the transaction's snapshot conflicts as well.
  db.run(*other, "BEGIN ISOLATION LEVEL REPEATABLE READ");
  CHECK(db.run(*other, "SELECT count(*) FROM t WHERE a = 8") == "0 SELECT 1");
  db.run("INSERT INTO t VALUES (8, 8)");
  const std::string outcome = insert(9, 8);
  CHECK((outcome.contains(kRepeated) || outcome.contains("40001")));
  db.run(*other, "ROLLBACK");
}

TEST_CASE("Transactions over a deferred key commit when no value repeats", "[sql][session][keys]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int primary key, a int UNIQUE DEFERRABLE INITIALLY DEFERRED)");
  Random random{20261122};
  std::map<int, int> committed;
  const auto one_of = [&](int count) {
    return static_cast<int>(random.below(static_cast<std::uint64_t>(count)));
  };
  int commits = 0;
  int failures = 0;
  for (int round = 0; round < 300; ++round) {
    std::map<int, int> rows = committed;
    db.run("BEGIN");
    for (int step = one_of(5); step >= 0; --step) {
      const int id = one_of(8);
      const int a = one_of(10);
      const std::string where = " WHERE id = " + std::to_string(id);
      switch (one_of(3)) {
        case 0:
          db.run("DELETE FROM t" + where);
          rows.erase(id);
          break;
        case 1:
          db.run("UPDATE t SET a = " + std::to_string(a) + where);
          if (rows.contains(id)) rows[id] = a;
          break;
        default:
          db.run("INSERT INTO t VALUES (" + std::to_string(id) + ", " + std::to_string(a) +
                 ") ON CONFLICT (id) DO UPDATE SET a = excluded.a");
          rows[id] = a;
      }
    }
    std::set<int> values;
    for (const auto& [id, a] : rows) values.insert(a);
    const bool is_unique = values.size() == rows.size();
    const std::string outcome = db.run("COMMIT");
    INFO("round " << round << ": " << outcome);
    CHECK_THAT(outcome, Contains(is_unique ? "COMMIT" : kRepeated));
    if (is_unique) committed = rows;
    ++(is_unique ? commits : failures);
    std::string expected;
    for (const auto& [id, a] : committed) {
      expected += std::to_string(id) + "|" + std::to_string(a) + " ";
    }
    CHECK(db.run("SELECT id, a FROM t ORDER BY id") ==
          expected + "SELECT " + std::to_string(committed.size()));
  }
  CHECK(commits > 30);
  CHECK(failures > 30);
}
