#include <catch2/catch.hpp>

#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

TEST_CASE("Rows are loaded into a table of the same transaction as if they were inserted",
          "[sql][session]") {
  TestDatabase db;
  db.run("BEGIN");
  db.run("CREATE TABLE t(id int primary key, parent int REFERENCES t, v text)");
  db.run("CREATE INDEX t_v ON t(v)");
  db.sink().copy_input = "1\t\\N\ta\n2\t1\tb\n5\t2\tc\n4\t1\td\n9\t5\ta\n";
  CHECK(db.run("COPY t FROM STDIN") == "COPY 5");
  CHECK(db.run("SELECT id FROM t WHERE v = 'a' ORDER BY id") == "1 9 SELECT 2");
  db.run("SAVEPOINT a");
  db.sink().copy_input = "20\t77\tx\n";
  CHECK(db.run("COPY t FROM STDIN").starts_with("23503"));
  db.run("ROLLBACK TO a");
  db.sink().copy_input = "20\t1\tx\n4\t1\tx\n";
  CHECK(db.run("COPY t FROM STDIN").starts_with("23505"));
  db.run("ROLLBACK TO a");
  auto other = db.connect();
  CHECK(db.run(*other, "SELECT count(*) FROM t").starts_with("42P01"));
  CHECK(db.run("COMMIT") == "COMMIT");
  CHECK(db.run(*other, "SELECT * FROM t ORDER BY id") ==
        "1|NULL|a 2|1|b 4|1|d 5|2|c 9|5|a SELECT 5");
  CHECK(db.run("DELETE FROM t WHERE id = 1").starts_with("23503"));
}

TEST_CASE("A load that fails or is rolled back leaves an empty table", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int primary key, v int)");
  db.run("INSERT INTO t SELECT g, g FROM generate_series(1, 3000) g");
  db.run("BEGIN");
  db.run("TRUNCATE t");
  db.run("SAVEPOINT a");
  CHECK(db.run("INSERT INTO t SELECT g, g FROM generate_series(1, 5000) g") == "INSERT 0 5000");
  CHECK(db.run("SELECT count(*), sum(v) FROM t") == "5000|12502500 SELECT 1");
  CHECK(db.run("INSERT INTO t SELECT id + 5000, v FROM t") == "INSERT 0 5000");
  db.run("ROLLBACK TO a");
  CHECK(db.run("SELECT count(*) FROM t") == "0 SELECT 1");
  CHECK(db.run("INSERT INTO t SELECT g, 10 / (g - 2500) FROM generate_series(1, 5000) g")
            .starts_with("22012"));
  db.run("ROLLBACK TO a");
  // The statement does not read its own rows.
  CHECK(db.run("INSERT INTO t SELECT id, v FROM t UNION ALL SELECT 1, 1") == "INSERT 0 1");
  CHECK(db.run("SELECT * FROM t") == "1|1 SELECT 1");
  db.run("ROLLBACK");
  CHECK(db.run("SELECT count(*) FROM t") == "3000 SELECT 1");
}

TEST_CASE("Keys and indexes are built over rows that are there", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int, v text, w int)");
  db.run(
      "INSERT INTO t SELECT (g * 7919) % 5003, 'v' || g, g % 10 FROM generate_series(1, 5002) g");
  CHECK(db.run("ALTER TABLE t ADD PRIMARY KEY (id)") == "ALTER TABLE");
  CHECK(db.run("SELECT count(*), min(id), max(id) FROM t") == "5002|1|5002 SELECT 1");
  CHECK(db.run("SELECT v FROM t WHERE id = 7919 % 5003") == "v1 SELECT 1");
  CHECK(db.run("CREATE UNIQUE INDEX t_v ON t(v)") == "CREATE INDEX");
  CHECK(db.run("SELECT id FROM t WHERE v = 'v1'") == "2916 SELECT 1");
  CHECK(db.run("CREATE UNIQUE INDEX t_w ON t(w)").starts_with("23505"));
  db.run("ALTER TABLE t ADD COLUMN x int DEFAULT 4");
  CHECK(db.run("ALTER TABLE t DROP CONSTRAINT t_pkey") == "ALTER TABLE");
  CHECK(db.run("SELECT count(*), sum(x) FROM t WHERE w = 3") == "500|2000 SELECT 1");
  CHECK(db.run("ALTER TABLE t ADD PRIMARY KEY (w)").starts_with("23505"));
  CHECK(db.run("SELECT id, x FROM t WHERE v = 'v1'") == "2916|4 SELECT 1");
}
