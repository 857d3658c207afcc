#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sql-lite-frontend/session/shared/database_shared.h"
#include "sql-lite-frontend/session/tests/test_database.h"

/// Memory of statements is released at their end, however they end.
namespace swizzle::sql {
namespace {

/// Limit of the memory that a session keeps for its known statements, and one grant.
constexpr std::size_t kKeptBytes = std::size_t{1} << 20U;
/// Locks of a transaction that has changed many rows, row_lock_limit of them.
constexpr std::size_t kLockBytes = std::size_t{12'000} * 128;

/// Returns literals of many rows, which the table has already.
std::string many_rows() {
  std::string rows = "(1, 'x')";
  for (int i = 2; i <= 20'000; ++i) rows += ", (" + std::to_string(i) + ", 'some text')";
  return rows;
}

/// Statements that use much memory, in every way there is.
const std::vector<std::string>& hungry_statements() {
  static const std::string rows = "generate_series(1, 60000) i";
  static const std::vector<std::string> list{
      "SELECT array_agg(i) IS NULL FROM " + rows,
      "SELECT length(string_agg(repeat('x', 100), ',')) FROM " + rows,
      "SELECT length(string_agg(i::text, ',' ORDER BY i DESC)) FROM " + rows,
      "SELECT length(json_agg(i)::text) FROM " + rows,
      "SELECT length(jsonb_object_agg(i, i)::text) FROM " + rows,
      "SELECT count(DISTINCT repeat('x', 50) || i) FROM " + rows,
      "SELECT sum(DISTINCT i) FROM " + rows + " GROUP BY i % 1000",
      "SELECT count(*) FROM (SELECT i, count(*) FROM " + rows + " GROUP BY CUBE(i, i % 7)) x",
      "SELECT length(json_arrayagg(i NULL ON NULL RETURNING jsonb)::text) FROM " + rows,
      "SELECT length(json_objectagg(i : i WITH UNIQUE KEYS)::text) FROM " + rows,
      "SELECT count(*) FROM json_table((SELECT jsonb_agg(i) FROM " + rows +
          "), '$[*]' COLUMNS (v int PATH '$'))",
      "SELECT ('[' || repeat('{\"a\":1},', 50000) || '1]') IS JSON WITH UNIQUE KEYS",
      "SELECT mode() WITHIN GROUP (ORDER BY i) FROM " + rows,
      "SELECT cardinality(ARRAY(SELECT i FROM " + rows + "))",
      "SELECT cardinality(array_fill(7, ARRAY[500000]))",
      "SELECT cardinality(string_to_array(repeat('a,', 300000), ','))",
      "SELECT cardinality(('{' || repeat('1,', 300000) || '1}')::int[])",
      "SELECT length(jsonb_pretty(('[' || repeat('1,', 100000) || '1]')::jsonb))",
      "SELECT length(format('%5000000s', 'x')), length(repeat('x', 5000000))",
      "SELECT length(to_char(1, repeat('9', 500000)))",
      "SELECT length(to_char(now(), repeat('YYYY', 500000)))",
      "SELECT length((('$' || repeat('.a', 20000))::jsonpath)::text)",
      "SELECT jsonb_path_exists('1', ('$' || repeat('.a', 20000))::jsonpath)",
      "SELECT length(to_tsvector('simple', repeat('aa-', 20000) || 'b')::text)",
      "SELECT length(repeat('x', i * 20000)) FROM generate_series(1, 100) i",
      "SELECT i FROM " + rows + " ORDER BY -i",
      "SELECT count(*) FROM (SELECT DISTINCT i FROM " + rows + ") x",
      "SELECT count(*) FROM (SELECT i, count(*) FROM " + rows + " GROUP BY i) x",
      "SELECT count(*) FROM (SELECT i FROM " + rows + " EXCEPT SELECT i + 5 FROM " + rows + ") x",
      "SELECT count(*) FROM (SELECT i FROM " + rows + " INTERSECT ALL SELECT 7 FROM " + rows +
          ") x",
      "SELECT count(*) FROM big WHERE a NOT IN (SELECT i FROM " + rows + ")",
      "SELECT count(*) FROM big WHERE a = ANY (ARRAY(SELECT i FROM " + rows + "))",
      "SELECT count(*) FROM big x JOIN big y ON x.a = y.a",
      "SELECT count(*) FROM big x FULL JOIN big y ON x.a = y.a + 5",
      "SELECT count(*) FROM big x LEFT JOIN big y ON x.t = y.t AND x.a < y.a WHERE x.a < 3",
      "SELECT count(*) FROM (SELECT row_number() OVER (PARTITION BY a % 3 ORDER BY t) FROM big) x",
      "SELECT count(*) FROM (SELECT sum(a) OVER (ORDER BY a RANGE 5 PRECEDING) FROM big) x",
      "SELECT length(string_agg(t, '') OVER (ORDER BY a)) FROM big WHERE a < 500",
      "WITH x AS MATERIALIZED (SELECT * FROM big) SELECT count(*) FROM x, x y WHERE x.a = y.a",
      "WITH RECURSIVE t AS (SELECT 1 n UNION SELECT n+1 FROM t WHERE n < 40000) SELECT 1 FROM t",
      "SELECT count(*) FROM regexp_split_to_table(repeat('a,', 50000), ',')",
      "SELECT count(*) FROM jsonb_array_elements(('[' || repeat('1,', 50000) || '1]')::jsonb)",
      "INSERT INTO child SELECT i, i FROM generate_series(1, 20000) i",
      "UPDATE child SET p = p + 1 WHERE p < 20000",
      "DELETE FROM child",
      "UPDATE big SET t = t || 'x' RETURNING *",
      "INSERT INTO big SELECT a, t FROM big ON CONFLICT (a) DO UPDATE SET t = excluded.t || 'y'",
      "INSERT INTO big VALUES " + many_rows() + " ON CONFLICT DO NOTHING",
      "UPDATE big SET t = 'z' FROM big other WHERE other.a > big.a AND big.a > 19990",
      "MERGE INTO big USING child ON a = id WHEN MATCHED THEN UPDATE SET t = t || 'm' "
      "WHEN NOT MATCHED THEN INSERT VALUES (id, 'n') RETURNING *",
      "DOES_NOT_PARSE",
  };
  return list;
}

void fill(TestDatabase& db) {
  db.run("CREATE TABLE big(a int PRIMARY KEY, t text)");
  db.run("INSERT INTO big SELECT i, 'text ' || i FROM generate_series(1, 20000) i");
  db.run("CREATE TABLE parent(id int PRIMARY KEY)");
  db.run("INSERT INTO parent SELECT generate_series(1, 20001)");
  db.run(
      "CREATE TABLE child(id int PRIMARY KEY, p int REFERENCES parent DEFERRABLE INITIALLY "
      "DEFERRED)");
}

}  // namespace

TEST_CASE("What a statement kept is given back at its end", "[session][memory]") {
  TestDatabase db;
  fill(db);
  MemoryTotal& total = db.database().shared().memory;
  // The session that filled the tables still exists and has a part of its grants.
  const std::size_t others = total.used_bytes();
  std::unique_ptr<Session> session = db.connect();
  for (const std::string work_mem : {"64kB", "1GB"}) {
    db.run(*session, "SET work_mem = '" + work_mem + "'");
    for (const std::string& sql : hungry_statements()) {
      INFO(work_mem << ": " << sql.substr(0, 200));
      const std::string outcome = db.run(*session, sql);
      if (!sql.starts_with("DOES")) {
        CHECK_FALSE(outcome.starts_with("53200"));
        CHECK_FALSE(outcome.starts_with("42"));
      }
      CHECK(total.used_bytes() < kKeptBytes);
    }
  }
  session.reset();
  CHECK(total.used_bytes() == others);
}

TEST_CASE("What a statement kept that failed for want of memory is given back",
          "[session][memory]") {
  TestDatabase db;
  fill(db);
  MemoryTotal& total = db.database().shared().memory;
  // The session that filled the tables still exists and has a part of its grants.
  const std::size_t others = total.used_bytes();
  std::unique_ptr<Session> session = db.connect();
  std::size_t refused = 0;
  for (const std::size_t limit_kb : {200U, 700U, 2000U, 5000U}) {
    total.set_limit(limit_kb << 10U);
    for (const char* work_mem : {"64kB", "1GB"}) {
      db.run(*session, std::string{"SET work_mem = '"} + work_mem + "'");
      for (const std::string& sql : hungry_statements()) {
        INFO(limit_kb << " kB, work_mem " << work_mem << ": " << sql.substr(0, 200));
        const std::string outcome = db.run(*session, sql);
        if (outcome.starts_with("53200")) {
          ++refused;
          CHECK(outcome == "53200 out of memory");
        }
        CHECK(total.used_bytes() < kKeptBytes);
        CHECK(db.run(*session, "SELECT 1") == "1 SELECT 1");
      }
    }
  }
  CHECK(refused > 100);
  // Nor does the refusal affect anything in a block.
  CHECK(db.run(*session, "BEGIN; SAVEPOINT s") == "BEGIN SAVEPOINT");
  CHECK(db.run(*session, "SELECT length(repeat('x', 50000000))") == "53200 out of memory");
  CHECK(db.run(*session, "ROLLBACK TO s; SELECT 1; COMMIT") == "1 ROLLBACK SELECT 1 COMMIT");
  session.reset();
  CHECK(total.used_bytes() == others);
}

TEST_CASE("What an expression makes on the way to its value counts as well", "[session][memory]") {
  TestDatabase db;
  // The result alone would fit; the pieces from which it is assembled are counted besides.
  db.database().shared().memory.set_limit(std::size_t{40} << 20U);
  for (const std::string value :
       {"jsonb_build_array(x, x, x, x)::text", "json_build_array(x, x, x, x)::text",
        "jsonb_build_object('a', x, 'b', x, 'c', x, 'd', x)::text",
        "to_jsonb(ARRAY[x, x, x])::text", "array_to_json(ARRAY[x, x, x, x])::text",
        "row_to_json(row(x, x, x, x))::text", "row_to_json(row(x, x, x, x), true)::text",
        "concat(x, x, x, x)", "concat_ws(',', x, x, x, x)", "row(x, x, x, x)::text",
        "ARRAY[x, x, x, x]::text", "xmlelement(name a, x, x, x, x)::text",
        "xmlforest(x AS a, x AS b, x AS c, x AS d)::text"}) {
    INFO(value);
    const std::string from = " FROM (SELECT repeat('x', $) AS x OFFSET 0) y";
    const auto run = [&](const std::string& bytes) {
      std::string sql = "SELECT length(" + value + ") > 0" + from;
      sql.replace(sql.find('$'), 1, bytes);
      return db.run(sql);
    };
    CHECK(run("1000000") == "t SELECT 1");
    CHECK(run("6000000") == "53200 out of memory");
  }
}

TEST_CASE("What several portals and cursors keep counts until they are closed",
          "[session][memory]") {
  TestDatabase db;
  fill(db);
  MemoryTotal& total = db.database().shared().memory;
  db.run("SET work_mem = '1GB'; BEGIN");
  std::size_t before = total.used_bytes();
  for (int i = 0; i < 4; ++i) {
    const std::string name = "c" + std::to_string(i);
    db.run("DECLARE " + name + " CURSOR FOR SELECT t FROM big ORDER BY t DESC; FETCH 1 FROM " +
           name);
    CHECK(total.used_bytes() > before + 500'000);
    before = total.used_bytes();
  }
  db.run("CLOSE ALL");
  CHECK(total.used_bytes() < kKeptBytes);
  db.run("COMMIT");
}

TEST_CASE("Checks that are put off take little, and go to files", "[session][memory]") {
  TestDatabase db;
  fill(db);
  MemoryTotal& total = db.database().shared().memory;
  db.run("SET work_mem = '64kB'");
  db.run("BEGIN");
  CHECK(db.run("INSERT INTO child SELECT i, i FROM generate_series(1, 20000) i") ==
        "INSERT 0 20000");
  CHECK(total.used_bytes() < kKeptBytes + kLockBytes);
  CHECK(db.run("DROP TABLE child") ==
        "55006 cannot DROP TABLE \"child\" because it has pending trigger events");
  db.run("ROLLBACK");
  db.run("SET work_mem = '1GB'");
  db.run("BEGIN");
  CHECK(db.run("INSERT INTO child SELECT i, i FROM generate_series(1, 20000) i") ==
        "INSERT 0 20000");
  // 24 bytes a row, in memory that grows by doubling.
  CHECK(total.used_bytes() < kKeptBytes + kLockBytes + 2 * 20'000 * 24);
  CHECK(total.used_bytes() > 20'000 * 16);
  CHECK(db.run("COMMIT") == "COMMIT");
  CHECK(db.run("SELECT count(*) FROM child") == "20000 SELECT 1");
  CHECK(total.used_bytes() < kKeptBytes);
}

TEST_CASE("Savepoints take back checks, and what has passed them", "[session][memory]") {
  TestDatabase db;
  fill(db);
  for (const char* work_mem : {"64kB", "1GB"}) {
    INFO(work_mem);
    db.run(std::string{"SET work_mem = '"} + work_mem + "'; DELETE FROM child");
    db.run("BEGIN");
    db.run("INSERT INTO child SELECT i, i FROM generate_series(1, 5000) i; SAVEPOINT a");
    db.run("INSERT INTO child SELECT i, i + 100000 FROM generate_series(5001, 10000) i");
    CHECK(db.run("SAVEPOINT b; SET CONSTRAINTS ALL IMMEDIATE")
              .find("23503 insert or update on table \"child\"") != std::string::npos);
    db.run("ROLLBACK TO a");
    CHECK(db.run("SET CONSTRAINTS ALL IMMEDIATE") == "SET CONSTRAINTS");
    // The rollback also reverts the changes that let the checks pass.
    db.run("ROLLBACK TO a; DELETE FROM parent WHERE id = 77");
    CHECK(db.run("COMMIT").starts_with("23503"));
    db.run("BEGIN; INSERT INTO child VALUES (1, 200000); SAVEPOINT a");
    CHECK(db.run("UPDATE child SET p = 5") == "UPDATE 1");
    CHECK(db.run("COMMIT") == "COMMIT");
  }
}

}  // namespace swizzle::sql
