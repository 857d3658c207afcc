#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {
using Rows = std::vector<std::string>;
}  // namespace

TEST_CASE("A path within JSON_TABLE begins anew with each item around it", "[sql][json]") {
  TestDatabase db;
  CHECK(db.rows("SELECT * FROM JSON_TABLE('[{\"a\": 1, \"n\": [5, 6]}, {\"a\": 2, \"n\": [7]}, "
                "{\"a\": 3}]', '$[*]' COLUMNS (a int, NESTED PATH '$.n[*]' "
                "COLUMNS (m FOR ORDINALITY, v int PATH '$')))") ==
        Rows{"1|1|5", "1|2|6", "2|1|7", "3|NULL|NULL"});
}

TEST_CASE("A column of JSON_TABLE that is an error is one whatever is read", "[sql][json]") {
  TestDatabase db;
  const std::string table =
      "JSON_TABLE('[\"x\", 1]', '$[*]' COLUMNS (a int PATH '$' ERROR ON ERROR, b text PATH '$')) j";
  CHECK(db.run("SELECT count(*) FROM " + table).starts_with("22P02"));
  CHECK(db.run("SELECT b FROM " + table + " WHERE b = '1'").starts_with("22P02"));
  CHECK(db.run("SELECT 1 WHERE EXISTS (SELECT FROM " + table + ")").starts_with("22P02"));
}

TEST_CASE("Views with SQL/JSON are made again of their text", "[sql][json]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int, d jsonb, s text, n int)");
  const char* const queries[] = {
      "SELECT JSON_ARRAY(n, s FORMAT JSON NULL ON NULL RETURNING text) AS a, JSON_OBJECT('k' : n, "
      "s : d ABSENT ON NULL WITH UNIQUE KEYS) AS b, JSON(s WITH UNIQUE KEYS) AS c, JSON_SCALAR(n) "
      "AS e, JSON_SERIALIZE(s RETURNING bytea) AS f FROM t",
      "SELECT s IS JSON ARRAY WITH UNIQUE KEYS AS a, s IS NOT JSON AS b, JSON_EXISTS(d, '$.a' "
      "PASSING "
      "n AS x TRUE ON ERROR) AS c, JSON_VALUE(d, '$.a' RETURNING int DEFAULT 1 ON EMPTY ERROR ON "
      "ERROR) AS e, JSON_QUERY(d, '$' WITH WRAPPER) AS f, JSON_QUERY(d, '$' RETURNING text OMIT "
      "QUOTES EMPTY ARRAY ON EMPTY) AS g FROM t",
      "SELECT JSON_ARRAYAGG(n ORDER BY id NULL ON NULL RETURNING jsonb) AS a, JSON_OBJECTAGG(id : "
      "n "
      "ABSENT ON NULL WITH UNIQUE KEYS) FILTER (WHERE n > 0) AS b, JSON_ARRAY(SELECT n FROM t) AS "
      "c "
      "FROM t",
      "SELECT j.* FROM t, JSON_TABLE(d, '$[*]' AS p PASSING n AS \"N\" COLUMNS (o FOR ORDINALITY, "
      "a "
      "int PATH '$.a' DEFAULT 3 ON ERROR, e bool EXISTS PATH '$.e', x text FORMAT JSON PATH '$' "
      "WITH "
      "WRAPPER, NESTED PATH '$.m[*]' COLUMNS (v int PATH '$ + $N')) ERROR ON ERROR) AS j",
  };
  for (const char* query : queries) {
    INFO(query);
    REQUIRE(db.run("CREATE VIEW v AS " + std::string{query}) == "CREATE VIEW");
    const std::string text = db.rows("SELECT pg_get_viewdef('v')").at(0);
    REQUIRE(db.run("CREATE VIEW w AS " + text) == "CREATE VIEW");
    CHECK(db.rows("SELECT pg_get_viewdef('w')").at(0) == text);
    CHECK(db.run("DROP VIEW v, w") == "DROP VIEW");
  }
}

TEST_CASE("ON EMPTY is asked before ON ERROR, and an error there is an error", "[sql][json]") {
  TestDatabase db;
  CHECK(db.run("SELECT JSON_VALUE('{}', '$.a' DEFAULT 'e' ON EMPTY DEFAULT 'f' ON ERROR)") ==
        "e SELECT 1");
  CHECK(db.run("SELECT JSON_VALUE('{}', '$.a' ERROR ON EMPTY DEFAULT 'f' ON ERROR)")
            .starts_with("22035"));
  CHECK(db.run("SELECT JSON_VALUE('{}', 'strict $.a' DEFAULT 'e' ON EMPTY DEFAULT 'f' ON ERROR)") ==
        "f SELECT 1");
}

TEST_CASE("A key that JSON_OBJECT has twice is an error also beside NULL", "[sql][json]") {
  TestDatabase db;
  CHECK(db.run("SELECT JSON_OBJECT('a': NULL, 'a': 1 ABSENT ON NULL WITH UNIQUE KEYS)")
            .starts_with("22030"));
  CHECK(db.run("SELECT JSON_OBJECT('a': NULL, 'b': 1 ABSENT ON NULL WITH UNIQUE KEYS)") ==
        "{\"b\" : 1} SELECT 1");
}

TEST_CASE("SQL/JSON takes deep and long documents", "[sql][json]") {
  TestDatabase db;
  const std::string deep = "(repeat('[', 100000) || repeat(']', 100000))";
  CHECK(db.run("SELECT " + deep + " IS JSON").starts_with("54001"));
  CHECK(db.run("SELECT JSON_QUERY(" + deep + ", '$')").starts_with("54001"));
  CHECK(db.run("SELECT * FROM JSON_TABLE(" + deep + ", '$' COLUMNS (a int))").starts_with("54001"));
  const std::string list = "('[' || repeat('1,', 20000) || '1]')";
  CHECK(db.run("SELECT count(*), sum(v) FROM JSON_TABLE(" + list +
               ", '$[*]' COLUMNS (v int PATH '$'))") == "20001|20001 SELECT 1");
  std::atomic<bool> done{false};
  std::thread cancels{[&] {
    // Repeat: a cancel before the statement begins has no effect.
    while (!done) {
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
      db.session().cancel();
    }
  }};
  CHECK(db.run("SELECT count(*) FROM JSON_TABLE(" + list +
               ", '$[*]' COLUMNS (NESTED PATH '$' COLUMNS (v int PATH '$ + 1'))) a, "
               "JSON_TABLE(" +
               list + ", '$[*]' COLUMNS (v int PATH '$')) b")
            .starts_with("57014"));
  done = true;
  cancels.join();
}
