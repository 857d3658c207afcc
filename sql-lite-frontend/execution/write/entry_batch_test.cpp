#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/random.h"
#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {
namespace {

using Catch::Contains;

/// Checks that the table and each of its indexes have the same rows.
void require_indexes_agree(TestDatabase& db) {
  for (const char* query :
       {"SELECT id, a, b FROM t WHERE a >= 0 ORDER BY a, id", "SELECT b, id FROM t ORDER BY b, id",
        "SELECT id FROM t WHERE a > 50 AND b IS NULL ORDER BY id",
        "SELECT a, count(*), sum(id) FROM t WHERE a BETWEEN 10 AND 90 GROUP BY a ORDER BY a"}) {
    INFO(query);
    db.run("SET enable_indexscan = off; SET enable_indexonlyscan = off");
    REQUIRE_THAT(db.run(query), Contains("SELECT"));
    const std::vector<std::string> rows = db.sink().rows;
    db.run("RESET enable_indexscan; RESET enable_indexonlyscan; SET enable_seqscan = off");
    REQUIRE_THAT(db.run(query), Contains("SELECT"));
    REQUIRE(rows == db.sink().rows);
    db.run("SET enable_indexonlyscan = off");
    REQUIRE_THAT(db.run(query), Contains("SELECT"));
    REQUIRE(rows == db.sink().rows);
    db.run("RESET enable_seqscan; RESET enable_indexonlyscan");
  }
}

void fill_for_batches(TestDatabase& db) {
  db.run("CREATE TABLE t(id int primary key, a int, b int UNIQUE, c text)");
  db.run("CREATE INDEX t_a ON t(a); CREATE INDEX t_partial ON t(id) WHERE a > 50 AND b IS NULL");
  db.run("CREATE INDEX t_expression ON t((a + id) DESC, c)");
  db.run("INSERT INTO t VALUES (0, 1, 0, 'first')");
}

}  // namespace

TEST_CASE("Statements of many rows leave tables and indexes that agree", "[sql][execute]") {
  TestDatabase db;
  fill_for_batches(db);
  Random random{20261121};
  const auto number = [&](std::uint64_t below) { return std::to_string(random.below(below)); };
  const auto range = [&] {
    const std::uint64_t low = random.below(3000);
    return "id BETWEEN " + std::to_string(low) + " AND " + std::to_string(low + random.below(900));
  };
  for (int round = 0; round < 60; ++round) {
    std::string statement;
    switch (random.below(7)) {
      case 0:
      case 1: {
        const std::string from = std::to_string(random.below(4000) * 10);
        statement =
            "INSERT INTO t SELECT i, i * 37 % 101, CASE WHEN i % 5 > 0 THEN i END, 'c' || i % "
            "7 FROM generate_series(" +
            from + ", " + from + " + " + number(400) + ") i" +
            (random.one_in(2) ? " WHERE i NOT IN (SELECT id FROM t)" : "");
        break;
      }
      case 2:
        statement = "UPDATE t SET a = (a * 7 + " + number(50) + ") % 101 WHERE " + range();
        break;
      case 3:
        statement = "UPDATE t SET id = id + 100000 WHERE " + range();
        break;
      case 4:
        statement = "UPDATE t SET b = NULL, c = 'changed' WHERE " + range();
        break;
      case 5:
        statement = "DELETE FROM t WHERE " + range() + " AND a % 3 = " + number(3);
        break;
      default:
        statement =
            "UPDATE t SET a = x.a + 1 FROM t x WHERE x.id % 400 = t.id % 400 AND t." + range();
    }
    INFO(statement);
    const bool rolls_back = random.one_in(5);
    if (rolls_back) db.run("BEGIN; SAVEPOINT s");
    db.run(statement);
    if (rolls_back) db.run("ROLLBACK TO s; COMMIT");
    require_indexes_agree(db);
  }
}

TEST_CASE("An entry that goes and comes again in one statement is in the index", "[sql][execute]") {
  TestDatabase db;
  db.run("CREATE TABLE s(id int primary key, a int); CREATE INDEX s_a ON s(a)");
  db.run("INSERT INTO s SELECT i, i / 100 FROM generate_series(2, 900) i");
  // Each row takes the key of the one before it, and mostly its index entry as well.
  CHECK(db.run("UPDATE s SET id = id - 1") == "UPDATE 899");
  db.run("SET enable_seqscan = off");
  CHECK(db.run("SELECT count(*), sum(id) FROM s WHERE a >= 0") == "899|404550 SELECT 1");
}

TEST_CASE("A statement that fails behind many rows leaves nothing of them in indexes",
          "[sql][execute]") {
  TestDatabase db;
  fill_for_batches(db);
  db.run("INSERT INTO t SELECT i, i % 101, i, 'x' FROM generate_series(1, 500) i");
  CHECK_THAT(db.run("INSERT INTO t SELECT i, 5, i, 'y' FROM generate_series(1000, 500, -1) i"),
             Contains("23505"));
  CHECK_THAT(db.run("UPDATE t SET a = a + 1, b = CASE WHEN id = 480 THEN 3 ELSE b END"),
             Contains("23505"));
  CHECK_THAT(db.run("DELETE FROM t WHERE 1 / (490 - id) >= -5"), Contains("22012"));
  require_indexes_agree(db);
  CHECK(db.run("SELECT count(*), sum(a) FROM t") == "501|24857 SELECT 1");
  // The same plan again, which must not keep state of the run before.
  db.run(
      "PREPARE p(int, int) AS INSERT INTO t SELECT i, 5, i, 'y' FROM generate_series($1, $2, -1) "
      "i");
  CHECK_THAT(db.run("EXECUTE p(1000, 500)"), Contains("23505"));
  CHECK(db.run("EXECUTE p(1000, 501)") == "INSERT 0 500");
  require_indexes_agree(db);
}

TEST_CASE("Rows that refer to others of their statement are found by the check of the key",
          "[sql][execute]") {
  TestDatabase db;
  db.run("CREATE TABLE n(id int primary key, up int REFERENCES n ON DELETE CASCADE)");
  db.run("CREATE INDEX n_up ON n(up); INSERT INTO n VALUES (0, NULL)");
  CHECK(db.run("INSERT INTO n SELECT i, i / 2 FROM generate_series(1, 600) i") == "INSERT 0 600");
  CHECK_THAT(db.run("INSERT INTO n SELECT i, i * 3 FROM generate_series(601, 800) i"),
             Contains("23503"));
  CHECK_THAT(db.run("DELETE FROM n WHERE id BETWEEN 1 AND 100"), Contains("DELETE 100"));
  CHECK(db.run("SELECT count(*) FROM n") == "1 SELECT 1");
}

}  // namespace swizzle::sql
