#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {
namespace {

struct SortedColumn {
  std::string type;
  std::string value;  ///< of row i
  std::vector<std::string> more;
};

}  // namespace

TEST_CASE("Values of every type are sorted as they compare", "[sql][execute]") {
  TestDatabase db;
  const std::vector<SortedColumn> columns{
      {"numeric",
       "(i * 7919 % 1009 - 500) / 8.0",
       {"'NaN'", "'Infinity'", "'-Infinity'", "1e40", "-1e40", "0.000", "-0.5", "-0.50",
        "123456789012345678901234567890.5", "0.00000000000000000000001", "999999999999999999",
        "999999999999999999.5", "9999", "10000", "-9999.9999", "-10000"}},
      {"float8",
       "(i * 7919 % 1009 - 500) / 8.0",
       {"'NaN'", "'Infinity'", "'-Infinity'", "'-0'", "0", "1e-300", "-1e-300"}},
      {"float4", "(i * 7919 % 1009 - 500) / 8.0", {"'NaN'", "'Infinity'", "'-0'", "0"}},
      {"interval",
       "(i * 7919 % 1009 - 500) * interval '7 hours'",
       {"'1 month'", "'30 days'", "'29 days 24 hours'", "'-1 month'"}},
      {"char(4)", "i * 7919 % 1009", {"''", "'  '", "'a'", "'a   '", "E'a\\t'"}},
      {"text", "'common beginning ' || i * 7919 % 1009", {"''", "'common'", "'common beginning'"}},
      {"bytea",
       "decode(lpad(to_hex(i * 7919 % 1009), 4, '0'), 'hex')",
       {"''", "'\\x00'", "'\\x0000'"}},
      {"timetz",
       "time '00:00' + i * 7919 % 1009 * interval '1 minute'",
       {"'01:00+02'", "'23:00-11'", "'00:00+00'"}},
      {"int[]", "ARRAY[i % 7, i * 7919 % 1009]", {"'{}'", "'{1}'", "'{NULL}'", "'{1,NULL}'"}},
      {"uuid", "md5(i::text)::uuid", {}},
      {"bool", "i % 3 = 0", {}},
      {"date", "date '2000-01-01' + (i * 7919 % 1009)::int", {"'infinity'", "'-infinity'"}},
  };
  for (const SortedColumn& column : columns) {
    INFO(column.type);
    db.run("DROP TABLE IF EXISTS s; CREATE TABLE s(id int, x " + column.type + ")");
    CHECK(db.run("INSERT INTO s SELECT i, " + column.value + " FROM generate_series(1, 600) i") ==
          "INSERT 0 600");
    for (const std::string& value : column.more) {
      CHECK(db.run("INSERT INTO s SELECT 1000 + i, CAST(" + value + " AS " + column.type +
                   ") FROM generate_series(1, 2) i") == "INSERT 0 2");
    }
    db.run("INSERT INTO s VALUES (2000, NULL), (2001, NULL)");
    for (const std::string direction : {"", " DESC"}) {
      const std::string order = "(ORDER BY x" + direction + ", id)";
      const std::string wrong = direction.empty() ? "p > x" : "p < x";
      // Neighbours are compared by the type's operators, independently of the sorting.
      CHECK(db.run("SELECT count(*) FROM (SELECT id, x, lag(x) OVER " + order +
                   " p, lag(id) OVER " + order + " was FROM s) q WHERE " + wrong +
                   " OR p = x AND was > id") == "0 SELECT 1");
      CHECK(db.run("SELECT count(*) FROM (SELECT x, lag(x) OVER " + order +
                   " p FROM s) q WHERE x IS NULL AND p IS NOT NULL") ==
            (direction.empty() ? "1 SELECT 1" : "0 SELECT 1"));
      // LIMIT keeps the first rows in a heap.
      db.run("SELECT id FROM s ORDER BY x" + direction + ", id LIMIT 40");
      const std::vector<std::string> few = db.sink().rows;
      db.run("SELECT id FROM s ORDER BY x" + direction + ", id");
      CHECK(few.size() == 40);
      CHECK(std::equal(few.begin(), few.end(), db.sink().rows.begin()));
    }
  }
}

TEST_CASE("Two short keys are sorted as they compare", "[sql][execute]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, a int, b int, c smallint, d date, e boolean)");
  db.run(
      "INSERT INTO t SELECT i, i * 7919 % 41 - 20, i * 104729 % 1009 - 500, i % 7 - 3, "
      "date '2000-01-01' + (i * 31 % 97), i % 3 = 0 FROM generate_series(1, 3000) i");
  db.run(
      "INSERT INTO t SELECT 10000 + 1000 * p + 100 * q + r, x, y, NULL, NULL, NULL FROM "
      "unnest('{-2147483648,-2147483647,-1,0,1,2147483646,2147483647,NULL}'::int[]) WITH "
      "ORDINALITY "
      "AS l(x, p), unnest('{-2147483648,-2147483647,-1,0,1,2147483646,2147483647,NULL}'::int[]) "
      "WITH ORDINALITY AS m(y, q), generate_series(1, 2) r");
  const std::vector<std::string> orders{"ASC NULLS FIRST", "ASC NULLS LAST", "DESC NULLS FIRST",
                                        "DESC NULLS LAST"};
  // The same numbers as text with all digits are sorted by another algorithm.
  const auto wide = [](const std::string& column) {
    return "to_char(" + column + "::bigint + 3000000000, 'FM0000000000')";
  };
  for (const std::string memory : {"64MB", "64kB"}) {
    db.run("SET work_mem = '" + memory + "'");
    for (const std::string& first : orders) {
      for (const std::string& second : orders) {
        const auto sorted = [&](const std::string& a, const std::string& b) {
          return db.run("SELECT md5(string_agg(id::text, ',')) FROM (SELECT id FROM t ORDER BY " +
                        a + " " + first + ", " + b + " " + second + ", id OFFSET 0) s");
        };
        INFO(memory << ": a " << first << ", b " << second);
        CHECK(sorted("a", "b") == sorted(wide("a"), wide("b")));
        CHECK(sorted("c", "a") == sorted(wide("c"), wide("a")));
        CHECK(sorted("e", "d") == sorted("e::text", "d::text"));
      }
    }
  }
}

}  // namespace swizzle::sql
