// Tables that inherit from others, where sessions meet, and in the long run.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/asking.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

constexpr const char* kFamily =
    "CREATE TABLE p (a int PRIMARY KEY, b int); CREATE TABLE c (x text, PRIMARY KEY (a)) INHERITS "
    "(p); CREATE TABLE g (y int) INHERITS (c); INSERT INTO p VALUES (1, 1); INSERT INTO c VALUES "
    "(2, 2, 'c'); INSERT INTO g VALUES (3, 3, 'g', 3)";

}  // namespace

TEST_CASE("A prepared statement of another session meets new children, and misses dropped ones",
          "[sql][inheritance]") {
  TestDatabase db;
  db.run(kFamily);
  const auto other = db.connect();
  REQUIRE(db.run(*other, "PREPARE all_rows AS SELECT count(*), sum(b) FROM p") == "PREPARE");
  REQUIRE(db.run(*other, "PREPARE one (int) AS UPDATE p SET b = b + 1 WHERE a = $1") == "PREPARE");
  for (int i = 0; i < 7; ++i) {
    CHECK(db.run(*other, "EXECUTE one (2)") == "UPDATE 1");
    CHECK(db.run(*other, "EXECUTE all_rows") == fmt::format("3|{} SELECT 1", 7 + i));
  }
  REQUIRE(db.run("CREATE TABLE c2 () INHERITS (p); INSERT INTO c2 VALUES (2, 100)") ==
          "CREATE TABLE INSERT 0 1");
  CHECK(db.run(*other, "EXECUTE all_rows") == "4|113 SELECT 1");
  CHECK(db.run(*other, "EXECUTE one (2)") == "UPDATE 2");
  REQUIRE(db.run("ALTER TABLE g NO INHERIT c") == "ALTER TABLE");
  CHECK(db.run(*other, "EXECUTE all_rows") == "3|112 SELECT 1");
  REQUIRE(db.run("ALTER TABLE g INHERIT p") == "ALTER TABLE");
  CHECK(db.run(*other, "EXECUTE all_rows") == "4|115 SELECT 1");
  REQUIRE(db.run("DROP TABLE c2") == "DROP TABLE");
  CHECK(db.run(*other, "EXECUTE all_rows") == "3|14 SELECT 1");
  CHECK(db.run(*other, "EXECUTE one (2)") == "UPDATE 1");
}

TEST_CASE("A plan that others share notices a child", "[sql][inheritance]") {
  TestDatabase db;
  db.run("CREATE TABLE p (a int)");
  const auto other = db.connect();
  for (int i = 0; i < 7; ++i) {
    CHECK(db.run("SELECT count(*) FROM p") == "0 SELECT 1");
    CHECK(db.run(*other, "SELECT count(*) FROM p") == "0 SELECT 1");
  }
  REQUIRE(db.run("CREATE TABLE c () INHERITS (p); INSERT INTO c VALUES (1)") ==
          "CREATE TABLE INSERT 0 1");
  CHECK(db.run(*other, "SELECT count(*) FROM p") == "1 SELECT 1");
  CHECK(db.run("SELECT count(*) FROM ONLY p") == "0 SELECT 1");
}

TEST_CASE("A statement on a parent locks its children", "[sql][inheritance][locks]") {
  TestDatabase db;
  db.run(kFamily);
  const auto other = db.connect();
  db.run(*other, "SET lock_timeout = '20ms'");
  REQUIRE(db.run("BEGIN; SELECT count(*) FROM p") == "3 BEGIN SELECT 1");
  for (const char* sql : {"DROP TABLE g", "ALTER TABLE g ADD COLUMN z int", "TRUNCATE c",
                          "ALTER TABLE g NO INHERIT c"}) {
    INFO(sql);
    CHECK(db.run(*other, sql).starts_with("55P03"));
  }
  CHECK(db.run(*other, "CREATE TABLE more () INHERITS (p)") == "CREATE TABLE");
  REQUIRE(db.run("COMMIT; BEGIN; SELECT count(*) FROM ONLY p") == "1 COMMIT BEGIN SELECT 1");
  CHECK(db.run(*other, "ALTER TABLE g ADD COLUMN z int") == "ALTER TABLE");
  REQUIRE(db.run("COMMIT; BEGIN; LOCK TABLE p IN SHARE MODE") == "COMMIT BEGIN LOCK TABLE");
  CHECK(db.run(*other, "INSERT INTO g VALUES (9)").starts_with("55P03"));
  REQUIRE(db.run("COMMIT; BEGIN; LOCK TABLE ONLY p IN SHARE MODE") == "COMMIT BEGIN LOCK TABLE");
  CHECK(db.run(*other, "INSERT INTO g VALUES (9)") == "INSERT 0 1");
  db.run("COMMIT");
}

TEST_CASE("A write to a parent waits for a child's row, and sees its newest version",
          "[sql][inheritance]") {
  TestDatabase db;
  db.run(kFamily);
  const auto other = db.connect();
  REQUIRE(db.run("BEGIN; UPDATE g SET b = 30") == "BEGIN UPDATE 1");
  db.run(*other, "SET lock_timeout = '20ms'");
  CHECK(db.run(*other, "UPDATE p SET b = b + 1").starts_with("55P03"));
  CHECK(db.run(*other, "SELECT a FROM p FOR UPDATE").starts_with("55P03"));
  CHECK(db.run(*other, "SELECT a FROM p ORDER BY a FOR UPDATE SKIP LOCKED") == "1 2 SELECT 2");
  CHECK(db.run(*other, "DELETE FROM ONLY p WHERE a = 7") == "DELETE 0");
  db.run(*other, "SET lock_timeout = 0");
  {
    Asking asking{*other, "UPDATE p SET b = b + 1 WHERE b IN (3, 30) RETURNING a, b"};
    for (int look = 0; look < 4000 && !asking.is_done(); ++look) {
      if (db.run("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") ==
          "1 SELECT 1") {
        break;
      }
    }
    REQUIRE(db.run("COMMIT") == "COMMIT");
  }
  CHECK(db.run("SELECT a, b FROM p ORDER BY a") == "1|1 2|2 3|31 SELECT 3");
}

TEST_CASE("ALTER TABLE of a parent changes its heirs", "[sql][inheritance]") {
  TestDatabase db;
  db.run(kFamily);
  CHECK(db.run("ALTER TABLE p ADD COLUMN z int DEFAULT 7 NOT NULL CHECK (z > 0)") == "ALTER TABLE");
  CHECK(db.run("SELECT a, z FROM p ORDER BY a") == "1|7 2|7 3|7 SELECT 3");
  CHECK(db.run("INSERT INTO g (a, z) VALUES (4, 0)").starts_with("23514"));
  CHECK(db.run("INSERT INTO g (a, z) VALUES (4, NULL)").starts_with("23502"));
  CHECK(db.run("ALTER TABLE g DROP COLUMN z") == "42P16 cannot drop inherited column \"z\"");
  CHECK(db.run("ALTER TABLE p RENAME z TO zz; ALTER TABLE p ALTER zz TYPE bigint") ==
        "ALTER TABLE ALTER TABLE");
  CHECK(db.run("SELECT zz, pg_typeof(zz) FROM g") == "7|bigint SELECT 1");
  CHECK(db.run("ALTER TABLE p DROP COLUMN zz") == "ALTER TABLE");
  CHECK(db.run("SELECT zz FROM g").starts_with("42703"));
  CHECK(db.run("SELECT count(*) FROM pg_constraint WHERE conname LIKE 'p_z%'") == "0 SELECT 1");
}

TEST_CASE("Inheritance outlives the server", "[sql][inheritance]") {
  TestDatabase db;
  db.run(kFamily);
  db.close();
  db.open();
  CHECK(db.run("SELECT tableoid::regclass, a FROM p ORDER BY a") == "p|1 c|2 g|3 SELECT 3");
  CHECK(db.run("ALTER TABLE p ADD COLUMN z int DEFAULT 7") == "ALTER TABLE");
  CHECK(db.run("SELECT a, z FROM g") == "3|7 SELECT 1");
  CHECK(db.run("DROP TABLE p").starts_with("2BP01"));
  CHECK(db.run("DROP TABLE p CASCADE; SELECT count(*) FROM pg_inherits") ==
        "0 DROP TABLE SELECT 1");
}

TEST_CASE("A transaction that changes the family and is rolled back leaves it as it was",
          "[sql][inheritance]") {
  TestDatabase db;
  db.run(kFamily);
  db.run(
      "BEGIN; ALTER TABLE g NO INHERIT c; DROP TABLE c; CREATE TABLE n () INHERITS (p); "
      "ALTER TABLE p RENAME a TO k; ROLLBACK");
  CHECK(db.run("SELECT tableoid::regclass, a FROM p ORDER BY a") == "p|1 c|2 g|3 SELECT 3");
  CHECK(db.run("SELECT inhrelid::regclass FROM pg_inherits ORDER BY 1") == "c g SELECT 2");
}

namespace {

/// Four tables of which each inherits from the one before, and what is in them.
class Family {
 public:
  Family(TestDatabase& db, std::uint64_t seed) : db_(db), random_(seed) {
    run("CREATE TABLE t0 (a int, b int)");
    run("CREATE TABLE t1 (c int) INHERITS (t0)");
    run("CREATE TABLE t2 (d text, b int, a int)");
    run("ALTER TABLE t2 INHERIT t0");
    run("CREATE TABLE t3 (e int) INHERITS (t1, t2)");
    run("CREATE INDEX ON t1 (a); CREATE INDEX ON t3 (b)");
  }

  void step() {
    const int table = static_cast<int>(random_.below(4));
    const int key = static_cast<int>(random_.below(20));
    const bool only = random_.one_in(4);
    const std::string name = fmt::format("{}t{}", only ? "ONLY " : "", table);
    switch (random_.below(4)) {
      case 0:
      case 1:
        run(fmt::format("INSERT INTO t{} (a, b) VALUES ({}, 0)", table, key));
        rows_.push_back({table, key, 0});
        return;
      case 2: {
        std::size_t count = 0;
        for (Row& row : rows_) {
          if (!is_of(row, table, only) || row.a != key) continue;
          ++row.b;
          row.a = (row.a + 7) % 20;
          ++count;
        }
        CHECK(run(fmt::format("UPDATE {} SET b = b + 1, a = (a + 7) % 20 WHERE a = {}", name,
                              key)) == fmt::format("UPDATE {}", count));
        return;
      }
      default: {
        const std::size_t before = rows_.size();
        std::erase_if(rows_,
                      [&](const Row& row) { return is_of(row, table, only) && row.a == key; });
        CHECK(run(fmt::format("DELETE FROM {} WHERE a = {}", name, key)) ==
              fmt::format("DELETE {}", before - rows_.size()));
        return;
      }
    }
  }

  void check() {
    for (int table = 0; table < 4; ++table) {
      for (const bool only : {false, true}) {
        std::vector<std::string> expected;
        for (const Row& row : rows_) {
          if (is_of(row, table, only))
            expected.push_back(fmt::format("t{}|{}|{}", row.table, row.a, row.b));
        }
        std::ranges::sort(expected);
        CHECK(db_.sorted_rows(fmt::format("SELECT tableoid::regclass, a, b FROM {}t{}",
                                          only ? "ONLY " : "", table)) == expected);
      }
    }
  }

 private:
  struct Row {
    int table;
    int a;
    int b;
  };
  /// True if the table's name means the row: t3 inherits from all, t1 and t2 from t0.
  static bool is_of(const Row& row, int table, bool only) {
    if (row.table == table) return true;
    return !only && (table == 0 || (row.table == 3 && table < 3));
  }
  std::string run(const std::string& sql) { return db_.run(sql); }

  TestDatabase& db_;
  Random random_;
  std::vector<Row> rows_;
};

}  // namespace

TEST_CASE("A family of tables answers as lists of rows do", "[sql][inheritance]") {
  TestDatabase db;
  Family family{db, 20};
  for (int i = 0; i < 400; ++i) {
    family.step();
    if (i % 40 == 39) family.check();
  }
}
