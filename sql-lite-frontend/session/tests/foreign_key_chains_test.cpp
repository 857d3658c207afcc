// Referential actions that cause further ones, over chains of rows of any length.
#include <catch2/catch.hpp>
#include <string>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

std::string of_rows(TestDatabase& db, const std::string& what) {
  const std::string rows = db.run("SELECT " + what + " FROM t");
  return rows.substr(0, rows.rfind(" SELECT"));
}

}  // namespace

TEST_CASE("A list of rows that refer to each other goes with its first one", "[sql][session]") {
  TestDatabase db;
  const std::string rows = "100000";
  db.run("CREATE TABLE t(id int PRIMARY KEY, next int REFERENCES t ON DELETE CASCADE)");
  db.run("CREATE INDEX ON t(next)");
  db.run("INSERT INTO t VALUES (0, NULL)");
  db.run("INSERT INTO t SELECT g, g - 1 FROM generate_series(1, " + rows + ") g");
  CHECK(of_rows(db, "count(*)") == "100001");
  CHECK(db.run("DELETE FROM t WHERE id = 0") == "DELETE 1");
  CHECK(of_rows(db, "count(*)") == "0");
}

TEST_CASE("A list of rows stays if its last one has to", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, next int REFERENCES t ON DELETE CASCADE)");
  db.run("CREATE TABLE other(id int REFERENCES t)");
  db.run("CREATE INDEX ON t(next)");
  db.run("INSERT INTO t VALUES (0, NULL)");
  db.run("INSERT INTO t SELECT g, g - 1 FROM generate_series(1, 1000) g");
  db.run("INSERT INTO other VALUES (1000)");
  CHECK(db.run("DELETE FROM t WHERE id = 0").starts_with("23503"));
  CHECK(of_rows(db, "count(*)") == "1001");
  CHECK(db.run("DELETE FROM other; DELETE FROM t WHERE id = 0") == "DELETE 1 DELETE 1");
  CHECK(of_rows(db, "count(*)") == "0");
}

TEST_CASE("Without an index a chain of rows is followed, too", "[sql][session]") {
  TestDatabase db;
  db.run(
      "CREATE TABLE t(tenant int, id int, parent int, PRIMARY KEY (tenant, id), "
      "FOREIGN KEY (tenant, parent) REFERENCES t ON DELETE CASCADE ON UPDATE CASCADE)");
  db.run("INSERT INTO t VALUES (1, 0, NULL)");
  db.run("INSERT INTO t SELECT 1, g, g - 1 FROM generate_series(1, 2000) g");
  CHECK(db.run("UPDATE t SET tenant = 2 WHERE id = 0") == "UPDATE 1");
  CHECK(of_rows(db, "min(tenant), max(tenant), count(*)") == "2|2|2001");
  CHECK(db.run("DELETE FROM t WHERE id = 0") == "DELETE 1");
  CHECK(of_rows(db, "count(*)") == "0");
}

TEST_CASE("What an action that failed has left to do is forgotten", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, next int REFERENCES t ON DELETE CASCADE)");
  db.run("CREATE TABLE kept(id int REFERENCES t)");
  db.run("INSERT INTO t VALUES (1, NULL), (2, 1), (3, 2), (4, NULL), (5, 4)");
  db.run("INSERT INTO kept VALUES (2)");
  db.run("BEGIN; SAVEPOINT s");
  CHECK(db.run("DELETE FROM t WHERE id = 1").starts_with("23503"));
  db.run("ROLLBACK TO s");
  CHECK(db.run("DELETE FROM t WHERE id = 4") == "DELETE 1");
  db.run("COMMIT");
  CHECK(of_rows(db, "string_agg(id::text, ',' ORDER BY id)") == "1,2,3");
}
