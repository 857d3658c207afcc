#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

/// Definitions and EXECUTE that name objects of another kind. scripts/sql-rights tests all kinds.
namespace swizzle::sql {

TEST_CASE("a definition names its kind", "[sql][ddl]") {
  TestDatabase db;
  db.run(
      "CREATE TABLE t (a int PRIMARY KEY, b int); CREATE VIEW v AS SELECT a FROM t;"
      "CREATE SEQUENCE s; CREATE INDEX i ON t (b); CREATE MATERIALIZED VIEW m AS SELECT 1 AS a");
  CHECK(db.run("ALTER INDEX pg_class RENAME TO x") ==
        "42501 permission denied: \"pg_class\" is a system catalog");
  CHECK(db.run("ALTER INDEX v SET (fillfactor = 50)") == "42809 \"v\" is not an index");
  CHECK(db.run("ALTER VIEW t RENAME TO x") == "42809 \"t\" is not a view");
  CHECK(db.run("ALTER VIEW i SET SCHEMA public") == "42809 \"i\" is not a view");
  CHECK(db.run("ALTER SEQUENCE v RESTART") == "42809 \"v\" is not a sequence");
  CHECK(db.run("ALTER TABLE i SET SCHEMA public") == "42809 cannot change schema of index \"i\"");
  CHECK(db.run("REINDEX INDEX v") == "42809 \"v\" is not an index");
  for (const std::string name : {"v", "s", "i", "m"}) {
    for (const auto& [action, called] :
         {std::pair<std::string, std::string>{"ADD COLUMN z int DEFAULT 1", "ADD COLUMN"},
          {"ALTER COLUMN a TYPE bigint", "ALTER COLUMN ... SET DATA TYPE"},
          {"ALTER COLUMN a SET NOT NULL", "ALTER COLUMN ... SET NOT NULL"},
          {"ADD PRIMARY KEY (a)", "ADD CONSTRAINT"},
          {"ADD CHECK (a > 0)", "ADD CONSTRAINT"}}) {
      CHECK(db.run("ALTER TABLE " + name + " " + action) ==
            "42809 ALTER action " + called + " cannot be performed on relation \"" + name + "\"");
    }
  }
  CHECK(db.run("ALTER INDEX i RENAME TO j") == "ALTER INDEX");
  CHECK(db.run("ALTER TABLE j RENAME TO i") == "ALTER TABLE");
  CHECK(db.run("ALTER INDEX v RENAME TO vv") == "ALTER INDEX");
  CHECK(db.run("SELECT * FROM vv") == "SELECT 0");
}

TEST_CASE("several types are changed at once", "[sql][ddl]") {
  TestDatabase db;
  db.run(
      "CREATE TABLE t (a int PRIMARY KEY, b int, c text); CREATE INDEX ON t (b);"
      "INSERT INTO t VALUES (1, 2, 'x')");
  CHECK(db.run("ALTER TABLE t ALTER a TYPE bigint, ALTER b TYPE text, ALTER c TYPE varchar(9)") ==
        "ALTER TABLE");
  CHECK(db.run("ALTER TABLE t ALTER a TYPE int, ALTER a TYPE text") ==
        "0A000 cannot alter type of column \"a\" twice");
  CHECK(db.run("SELECT a, b, c FROM t") == "1|2|x SELECT 1");
  CHECK(db.run("ALTER TABLE t ADD g int GENERATED ALWAYS AS (NULL) STORED") == "ALTER TABLE");
  CHECK(db.run("CREATE TABLE u (g int GENERATED ALWAYS AS (NULL) STORED)") == "CREATE TABLE");
  CHECK(db.run("SELECT g FROM t") == "NULL SELECT 1");
}

TEST_CASE("views make no circle", "[sql][ddl]") {
  TestDatabase db;
  db.run(
      "CREATE VIEW a AS SELECT 1 AS n; CREATE VIEW b AS SELECT n FROM a;"
      "CREATE VIEW c AS SELECT n FROM b");
  for (const std::string below : {"a", "b", "c"}) {
    CHECK(db.run("CREATE OR REPLACE VIEW a AS SELECT n FROM " + below) ==
          "42P17 infinite recursion detected in rules for relation \"a\"");
  }
  CHECK(db.run("CREATE OR REPLACE VIEW a AS SELECT 2 AS n") == "CREATE VIEW");
  CHECK(db.run("SELECT n FROM c") == "2 SELECT 1");
  CHECK(db.run("DROP VIEW a CASCADE") == "DROP VIEW");
}

TEST_CASE("EXECUTE runs what Parse has prepared, whatever it is", "[sql][session]") {
  TestDatabase db;
  const auto prepare = [&](const std::string& name, const std::string& text) {
    REQUIRE(db.session().parse(name, text, {}, db.sink()));
    REQUIRE(db.session().sync(db.sink()));
  };
  prepare("show", "SHOW work_mem");
  prepare("nothing", "");
  prepare("begin", "BEGIN");
  prepare("explain", "EXPLAIN SELECT 1");
  prepare("itself", "EXECUTE itself");
  prepare("made", "SELECT 1 AS a INTO x");
  CHECK(db.run("EXECUTE show") == "4MB SHOW");
  CHECK(db.run("EXECUTE nothing") == "EXECUTE");
  CHECK(db.run("EXECUTE explain").ends_with("EXPLAIN"));
  CHECK(db.run("EXECUTE itself").starts_with("54001"));
  CHECK(db.run("EXECUTE made") == "SELECT 1");
  CHECK(db.run("EXECUTE made").starts_with("42P07"));
  CHECK(db.run("EXECUTE show(1)").starts_with("42601"));
  CHECK(db.run("EXPLAIN EXECUTE show").starts_with("0A000"));
  CHECK(db.run("CREATE TABLE y AS EXECUTE show").starts_with("0A000"));
  CHECK(db.run("EXECUTE begin") == "BEGIN");
  CHECK(db.run("ROLLBACK") == "ROLLBACK");
}

TEST_CASE("COPY takes queries alone", "[sql][copy]") {
  TestDatabase db;
  db.run("CREATE TABLE t (a int)");
  CHECK(db.run("COPY (SELECT 1 AS a INTO TEMP x) TO STDOUT") ==
        "0A000 COPY (SELECT INTO) is not supported");
  CHECK(db.run("COPY (INSERT INTO t VALUES (1)) TO STDOUT") ==
        "0A000 COPY query must have a RETURNING clause");
  CHECK(db.run("COPY (MERGE INTO t USING t s ON false WHEN MATCHED THEN DELETE) TO STDOUT") ==
        "0A000 COPY query must have a RETURNING clause");
}

}  // namespace swizzle::sql
