#include "sql-lite-frontend/statement/log_class.h"

#include <catch2/catch.hpp>
#include <string>

#include "sql-lite-frontend/query/parse/parser.h"

namespace swizzle::sql {
namespace {

LogClass class_of(std::string_view script) {
  Arena arena;
  const auto prepared = parse_script(arena, "DELETE FROM t; EXECUTE itself");
  return log_class_of(script, [&](std::string_view name) -> const ast::Node* {
    if (name == "itself") return prepared[1]->stmt;
    return name == "deletes" ? prepared[0]->stmt : nullptr;
  });
}

}  // namespace

TEST_CASE("log_statement asks every statement of a text", "[sql][parse][log_class]") {
  for (const char* script :
       {"SELECT 1; DROP TABLE t", "SELECT 1 INTO t", "SELECT 1 INTO t UNION SELECT 2",
        "/* SELECT */ CREATE TABLE t (a int)", "REFRESH MATERIALIZED VIEW m",
        "(TABLE a); DROP VIEW v", "CREATE TABLE t AS SELECT 1", "GRANT SELECT ON t TO r",
        "ALTER SYSTEM SET work_mem = 1", "EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1",
        "PREPARE p AS SELECT 1; COMMENT ON TABLE t IS 'x'", "REASSIGN OWNED BY a TO b",
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'", "SELECT 1;DROP TABLE t;",
        "begin; drop table t", "INSERT INTO t VALUES (1); DROP TABLE t", "CLUSTER t"}) {
    CAPTURE(script);
    CHECK(class_of(script) == LogClass::definition);
  }
  for (const char* script :
       {"INSERT INTO t VALUES (1)", "update t set a = 1", "DELETE FROM t;", "TRUNCATE t",
        "COPY t FROM STDIN", "WITH w AS (DELETE FROM t RETURNING a) SELECT * FROM w",
        "WITH w AS (SELECT 1) INSERT INTO t SELECT * FROM w", "EXECUTE deletes",
        "PREPARE p AS DELETE FROM t", "EXPLAIN (ANALYZE, COSTS off) DELETE FROM t",
        "SELECT 1; UPDATE t SET a = 1; SELECT 2",
        "MERGE INTO t USING s ON true WHEN MATCHED THEN DELETE", "/**/ INSERT INTO t SELECT 1"}) {
    CAPTURE(script);
    CHECK(class_of(script) == LogClass::change);
  }
  for (const char* script : {"SELECT 'DROP TABLE t; DELETE FROM t'",
                             "SELECT 1",
                             "select into_t FROM t",
                             "",
                             ";;",
                             "-- DROP",
                             "COPY t TO STDOUT",
                             "EXPLAIN DELETE FROM t",
                             "EXPLAIN (ANALYZE off) DELETE FROM t",
                             "DO $$BEGIN DROP TABLE t; END$$",
                             "CALL p()",
                             "EXECUTE nothing",
                             "EXECUTE itself",
                             "WITH w AS (SELECT 1) SELECT * FROM w",
                             "DECLARE c CURSOR FOR SELECT 1",
                             "VACUUM t",
                             "REINDEX TABLE t",
                             "LOCK t",
                             "SET a.b = 'DROP'",
                             "BEGIN",
                             "not SQL at all; DROP TABLE t",
                             "DEALLOCATE p",
                             "VALUES (1)",
                             "TABLE t",
                             "CHECKPOINT",
                             "NOTIFY a",
                             "SELECT 1;"}) {
    CAPTURE(script);
    CHECK(class_of(script) == LogClass::other);
  }
}

}  // namespace swizzle::sql
