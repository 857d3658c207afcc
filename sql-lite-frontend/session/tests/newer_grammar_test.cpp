// Statements that the grammars of PostgreSQL 14 to 18 brought; the corpus has PostgreSQL's answers.
#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;
using Catch::Contains;

TEST_CASE("A subquery without an alias has a name in views alone", "[sql][session][newer]") {
  TestDatabase db;
  CHECK(db.run("SELECT a FROM (SELECT 1 AS a), (SELECT 2 AS b) WHERE b = 2") == "1 SELECT 1");
  CHECK_THAT(db.run("SELECT unnamed_subquery.a FROM (SELECT 1 AS a)"), Contains("42P01"));
  CHECK(
      db.run("SELECT unnamed_subquery.a FROM (SELECT 1 AS a) unnamed_subquery, (SELECT 2 AS b)") ==
      "1 SELECT 1");
  db.run("CREATE VIEW v AS SELECT a, b FROM (SELECT 1 AS a), (SELECT 2 AS b)");
  const std::string text = db.run("SELECT pg_get_viewdef('v'::regclass)");
  CHECK_THAT(text, Contains("unnamed_subquery_1.b"));
  CHECK_THAT(text, Contains("AS b) unnamed_subquery_1"));
}

TEST_CASE("A virtual column of a row that an outer join lacks is NULL", "[sql][session][newer]") {
  TestDatabase db;
  db.run("CREATE TABLE t (id int PRIMARY KEY, v int GENERATED ALWAYS AS (coalesce(id, 0) + 1))");
  db.run("INSERT INTO t VALUES (1)");
  CHECK(db.run("SELECT x, v FROM (VALUES (1), (2)) y (x) LEFT JOIN t ON id = x ORDER BY x") ==
        "1|2 2|NULL SELECT 2");
  CHECK(db.run("INSERT INTO t VALUES (5) RETURNING old.v, new.v") == "NULL|6 INSERT 0 1");
}

TEST_CASE("A virtual column is computed where it is asked for alone", "[sql][session][newer]") {
  TestDatabase db;
  db.run("CREATE TABLE t (a int, v int GENERATED ALWAYS AS (100 / a) VIRTUAL)");
  db.run("INSERT INTO t VALUES (0), (5)");
  CHECK(db.run("SELECT v FROM t WHERE a > 0") == "20 SELECT 1");
  CHECK_THAT(db.run("SELECT v FROM t"), Contains("22012"));
  CHECK(db.run("SELECT a FROM t u WHERE EXISTS (SELECT FROM t WHERE a > 0 AND v = u.a * 4) ") ==
        "5 SELECT 1");
}

TEST_CASE("The right to a virtual column is not one to what it reads", "[sql][session][newer]") {
  TestDatabase db;
  db.run("CREATE TABLE t (a int, b int, v int GENERATED ALWAYS AS (a + b) VIRTUAL)");
  db.run("INSERT INTO t VALUES (1, 2)");
  db.run("CREATE ROLE reader");
  db.run("GRANT SELECT (v) ON t TO reader");
  db.run("SET ROLE reader");
  CHECK(db.run("SELECT v, v + v FROM t") == "3|6 SELECT 1");
  CHECK_THAT(db.run("SELECT v, a FROM t"), Contains("42501"));
  db.run("RESET ROLE");
}

TEST_CASE("NOT NULL of a virtual column is asked of what it is computed to",
          "[sql][session][newer]") {
  TestDatabase db;
  db.run("CREATE TABLE t (a int, v int GENERATED ALWAYS AS (nullif(a, 3)) NOT NULL)");
  CHECK(db.run("INSERT INTO t VALUES (1)") == "INSERT 0 1");
  CHECK_THAT(db.run("INSERT INTO t VALUES (3)"), Contains("23502"));
  CHECK_THAT(db.run("UPDATE t SET a = 3"), Contains("23502"));
}

TEST_CASE("SEARCH and CYCLE add columns that a star inside does not mean",
          "[sql][session][newer]") {
  TestDatabase db;
  const std::string loop = "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n % 2 + 1 FROM r) ";
  CHECK(db.run(loop + "CYCLE n SET c USING p SELECT * FROM r") ==
        "1|f|{(1)} 2|f|{(1),(2)} 1|t|{(1),(2),(1)} SELECT 3");
  CHECK(db.run("WITH RECURSIVE r (a, b) AS (SELECT 1, 2 UNION ALL SELECT r.* FROM r WHERE a < 0) "
               "SEARCH BREADTH FIRST BY b SET o SELECT * FROM r") == "1|2|(0,2) SELECT 1");
  CHECK_THAT(db.run("WITH r AS (SELECT 1 AS n) CYCLE n SET c USING p SELECT * FROM r"),
             Contains("42601"));
}

TEST_CASE("Constraints that are not enforced refuse nothing", "[sql][session][newer]") {
  TestDatabase db;
  db.run("CREATE TABLE t (id int PRIMARY KEY)");
  db.run("CREATE TABLE c (a int CHECK (a > 0) NOT ENFORCED, b int REFERENCES t NOT ENFORCED)");
  CHECK(db.run("INSERT INTO c VALUES (-1, 5)") == "INSERT 0 1");
  CHECK_THAT(db.run("ALTER TABLE c ALTER CONSTRAINT c_b_fkey ENFORCED"), Contains("23503"));
  db.run("INSERT INTO t VALUES (5)");
  CHECK(db.run("ALTER TABLE c ALTER CONSTRAINT c_b_fkey ENFORCED") == "ALTER TABLE");
  CHECK_THAT(db.run("INSERT INTO c VALUES (-1, 6)"), Contains("23503"));
  CHECK_THAT(db.run("DELETE FROM t"), Contains("23503"));
  CHECK_THAT(db.run("ALTER TABLE c VALIDATE CONSTRAINT c_a_check"), Contains("55000"));
}

TEST_CASE("A hypothetical row is placed where the sort would put it", "[sql][session][newer]") {
  TestDatabase db;
  db.run("CREATE TABLE h (x int, y text)");
  db.run("INSERT INTO h VALUES (1, 'a'), (2, 'b'), (2, 'c'), (NULL, 'd')");
  const std::string of = " WITHIN GROUP (ORDER BY x) FROM h";
  CHECK(db.run("SELECT rank(2)" + of) == "2 SELECT 1");
  CHECK(db.run("SELECT rank(NULL)" + of) == "4 SELECT 1");
  CHECK(db.run("SELECT dense_rank(5)" + of) == "3 SELECT 1");
  CHECK(db.run("SELECT percent_rank(2)" + of) == "0.25 SELECT 1");
  CHECK(db.run("SELECT cume_dist(2)" + of) == "0.8 SELECT 1");
  CHECK(db.run("SELECT rank(2, 'b') WITHIN GROUP (ORDER BY x DESC, y DESC) FROM h") ==
        "3 SELECT 1");
}

TEST_CASE("COPY leaves out rows that it cannot read, as many as it may", "[sql][session][newer]") {
  TestDatabase db;
  db.run("CREATE TABLE t (a int)");
  db.sink().copy_input = "1\nx\n3\ny\n";
  CHECK_THAT(db.run("COPY t FROM STDIN (ON_ERROR ignore, REJECT_LIMIT 1)"), Contains("22P02"));
  CHECK(db.run("COPY t FROM STDIN (ON_ERROR ignore, REJECT_LIMIT 2)") == "COPY 2");
  CHECK(db.run("SELECT sum(a) FROM t") == "4 SELECT 1");
}

TEST_CASE("NOT NULL constraints have names", "[sql][session][newer][not-null]") {
  TestDatabase db;
  db.run(
      "CREATE TABLE t (a int NOT NULL, b int CONSTRAINT bn NOT NULL, c serial, PRIMARY KEY (a))");
  const std::string names =
      "SELECT conname FROM pg_constraint WHERE conrelid = 't'::regclass AND contype = 'n' "
      "ORDER BY conname";
  CHECK(db.run(names) == "bn t_a_not_null t_c_not_null SELECT 3");
  CHECK(db.run("ALTER TABLE t DROP CONSTRAINT bn") == "ALTER TABLE");
  CHECK(db.run("INSERT INTO t VALUES (1, NULL)") == "INSERT 0 1");
  CHECK_THAT(db.run("ALTER TABLE t DROP CONSTRAINT t_a_not_null"), Contains("42P16"));
  CHECK(db.run("ALTER TABLE t ADD CONSTRAINT later NOT NULL b NOT VALID") == "ALTER TABLE");
  CHECK_THAT(db.run("INSERT INTO t VALUES (2, NULL)"), Contains("23502"));
  // The planner does not rely on it.
  CHECK(db.run("SELECT count(*) FROM t WHERE b IS NULL") == "1 SELECT 1");
  CHECK_THAT(db.run("ALTER TABLE t VALIDATE CONSTRAINT later"), Contains("23502"));
  db.run("UPDATE t SET b = 7");
  CHECK(db.run("ALTER TABLE t VALIDATE CONSTRAINT later") == "ALTER TABLE");
  CHECK(db.run("ALTER TABLE t RENAME CONSTRAINT later TO sooner") == "ALTER TABLE");
  CHECK(db.run("SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'sooner'") ==
        "NOT NULL b SELECT 1");
}

TEST_CASE("Partitions inherit NOT NULL constraints by name", "[sql][session][newer][not-null]") {
  TestDatabase db;
  db.run("CREATE TABLE p (a int NOT NULL, k int) PARTITION BY LIST (k)");
  db.run("CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1)");
  db.run("ALTER TABLE p ADD CONSTRAINT kn NOT NULL k");
  const std::string of_p1 =
      "SELECT conname, conislocal, coninhcount FROM pg_constraint "
      "WHERE conrelid = 'p1'::regclass ORDER BY conname";
  CHECK(db.run(of_p1) == "kn|f|1 p_a_not_null|f|1 SELECT 2");
  CHECK_THAT(db.run("ALTER TABLE p1 DROP CONSTRAINT kn"), Contains("42P16"));
  db.run("ALTER TABLE p DROP CONSTRAINT kn");
  CHECK(db.run(of_p1) == "p_a_not_null|f|1 SELECT 1");
  db.run("ALTER TABLE ONLY p ALTER a DROP NOT NULL");
  CHECK(db.run(of_p1) == "p_a_not_null|t|0 SELECT 1");
  CHECK(db.run("INSERT INTO p VALUES (NULL, 1)").starts_with("23502"));
}

TEST_CASE("COPY takes a column's default for a marker", "[sql][session][newer]") {
  TestDatabase db;
  db.run("CREATE TABLE t (a int, b text DEFAULT 'usual', c serial)");
  db.sink().copy_input = "1\t\\D\t\\D\n2\tx\t9\n3\t\\N\t\\D\n";
  CHECK(db.run("COPY t FROM STDIN (DEFAULT '\\D')") == "COPY 3");
  CHECK(db.run("SELECT * FROM t ORDER BY a") == "1|usual|1 2|x|9 3|NULL|2 SELECT 3");
  db.sink().copy_input = "\\D\n";
  CHECK_THAT(db.run("COPY t (a) FROM STDIN (DEFAULT '\\D')"), Contains("22P04"));
}

TEST_CASE("An interval may be infinite", "[sql][session][newer]") {
  TestDatabase db;
  CHECK(db.run("SELECT interval 'infinity' + '1 day', now() - interval 'infinity', "
               "-interval '-infinity'") == "infinity|-infinity|infinity SELECT 1");
  CHECK_THAT(db.run("SELECT interval 'infinity' - interval 'infinity'"), Contains("22008"));
  // Through an index's key it comes back whole.
  db.run("CREATE TABLE t (i interval PRIMARY KEY)");
  db.run("INSERT INTO t VALUES ('infinity'), ('-infinity'), ('1 day'), ('178000000 years')");
  CHECK(db.run("SELECT i FROM t ORDER BY i") ==
        "-infinity 1 day 178000000 years infinity SELECT 4");
  CHECK(db.run("SELECT sum(i) FROM t WHERE i > '1 day'") == "infinity SELECT 1");
}
