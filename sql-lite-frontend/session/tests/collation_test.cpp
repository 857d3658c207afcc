// Indexes under collations: compared with the same queries without indexes, and across a restart.
// Answers of single statements are in the corpus.
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/simulation/seeded_runs.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/state/session_state.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

using Catch::Contains;
using Catch::StartsWith;

void make_collations(TestDatabase& db) {
  REQUIRE(db.run("CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', "
                 "deterministic = false)") == "CREATE COLLATION");
  REQUIRE(db.run("CREATE COLLATION num (provider = icu, locale = 'sv-u-kn-true')") ==
          "CREATE COLLATION");
}

std::string random_word(std::mt19937_64& random) {
  static const std::vector<std::string> letters{"a", "A", "b", "B", "ä", "Å", "ö",
                                                "z", "Z", "1", "2", "é", "ß", " "};
  std::string word;
  for (std::size_t i = 1 + random() % 3; i > 0; --i) word += letters[random() % letters.size()];
  return word;
}

void compare_with_reading_all(std::uint64_t seed) {
  std::mt19937_64 random{seed};
  TestDatabase db;
  make_collations(db);
  db.run(
      "CREATE TABLE t (id int PRIMARY KEY, c text COLLATE ci, n text COLLATE num, "
      "s varchar(9) COLLATE \"sv-x-icu\", p char(4) COLLATE \"de-x-icu\", plain text)");
  for (int id = 0; id < 1500; ++id) {
    const std::string word = random_word(random);
    const std::string other = random_word(random);
    db.run("INSERT INTO t VALUES (" + std::to_string(id) + ", '" + word + "', '" + word + "', '" +
           other + "', '" + other + "', '" + word + "')");
  }
  for (const char* index : {"(c)", "(n DESC)", "(s, id)", "(p)", "(plain COLLATE num)",
                            "(lower(c))", "(s COLLATE \"C\")", "((plain COLLATE ci), n)"}) {
    INFO(index);
    REQUIRE(db.run(std::string{"CREATE INDEX ON t "} + index) == "CREATE INDEX");
  }
  db.run("ANALYZE t");
  const std::vector<std::string> columns{
      "c", "n", "s", "p", "plain COLLATE num", "lower(c)", "s COLLATE \"C\"", "plain COLLATE ci"};
  const std::vector<std::string> operators{"=", "<", "<=", ">", ">="};
  for (int i = 0; i < 300; ++i) {
    const std::string& column = columns[random() % columns.size()];
    std::string where = "(" + column + ") ";
    if (random() % 5 == 0) {
      where += "IN ('" + random_word(random) + "', '" + random_word(random) + "')";
    } else {
      where += operators[random() % operators.size()] + " '" + random_word(random) + "'";
    }
    const std::string query = "SELECT id, c, n, s, p FROM t WHERE " + where;
    // The order of equal keys is undefined.
    const std::string order = " ORDER BY (" + column + ")" + (random() % 2 ? "" : " DESC");
    const std::string whole = "SELECT * FROM (" + query + order + ") x ORDER BY id";
    const std::string keys = "SELECT string_agg(k, '|') FROM (SELECT " + column +
                             " AS k FROM t WHERE " + where + order + ", (" + column +
                             ") COLLATE \"C\") x";
    INFO(whole);
    db.run("SET enable_indexscan = on; SET enable_indexonlyscan = on; SET enable_seqscan = off");
    const std::string with_index = db.run(whole) + db.run(keys);
    db.run("SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_seqscan = on");
    REQUIRE(with_index == db.run(whole) + db.run(keys));
  }
}

}  // namespace

TEST_CASE("An index under a collation answers as reading all rows does", "[sql][collation]") {
  for_seeds(2, [](std::uint64_t seed) { compare_with_reading_all(seed); });
}

TEST_CASE("Only the index of the collation that is asked for is read", "[sql][collation]") {
  TestDatabase db;
  make_collations(db);
  db.run("CREATE TABLE t (id int PRIMARY KEY, s text COLLATE \"sv-x-icu\", plain text)");
  db.run(
      "INSERT INTO t SELECT g, chr(97 + g % 26) || g, chr(97 + g % 26) || g "
      "FROM generate_series(1, 5000) g");
  db.run("CREATE INDEX by_sv ON t (s)");
  db.run("CREATE INDEX by_c ON t (s COLLATE \"C\")");
  db.run("CREATE INDEX by_plain ON t (plain)");
  db.run("ANALYZE t");
  const auto plan = [&](const std::string& rest) {
    return db.run("EXPLAIN SELECT id FROM t " + rest);
  };
  CHECK_THAT(plan("WHERE s = 'b1'"), Contains("by_sv"));
  CHECK_THAT(plan("WHERE s COLLATE \"C\" = 'b1'"), Contains("by_c"));
  CHECK_THAT(plan("WHERE s = 'b1' COLLATE \"sv-x-icu\""), Contains("by_sv"));
  CHECK_THAT(plan("WHERE s COLLATE \"de-x-icu\" = 'b1'"), !Contains("by_"));
  CHECK_THAT(plan("WHERE plain = 'b1'"), Contains("by_plain"));
  CHECK_THAT(plan("WHERE plain COLLATE \"C\" = 'b1'"), Contains("by_plain"));
  CHECK_THAT(plan("WHERE plain COLLATE \"POSIX\" > 'zz'"), Contains("by_plain"));
  CHECK_THAT(plan("WHERE plain COLLATE \"sv-x-icu\" = 'b1'"), !Contains("by_"));
  CHECK_THAT(plan("ORDER BY s LIMIT 1"), Contains("by_sv"));
  CHECK_THAT(plan("ORDER BY s COLLATE \"C\" LIMIT 1"), Contains("by_c"));
  CHECK_THAT(plan("ORDER BY s COLLATE \"de-x-icu\" LIMIT 1"), !Contains("by_"));
  // A prefix is a key range only in bytewise order.
  CHECK_THAT(plan("WHERE s LIKE 'b12%'"), Contains("by_c") && !Contains("by_sv"));
  db.run("DROP INDEX by_c");
  CHECK_THAT(plan("WHERE s LIKE 'b12%'"), !Contains("by_sv"));
}

TEST_CASE("Indexes of varchar columns are read under a collation, too", "[sql][collation]") {
  TestDatabase db;
  make_collations(db);
  db.run(
      "CREATE TABLE t (id int PRIMARY KEY, v varchar(9) COLLATE \"sv-x-icu\", "
      "p varchar COLLATE \"sv-x-icu\")");
  db.run(
      "INSERT INTO t SELECT g, chr(97 + g % 26) || g, chr(97 + g % 26) || g "
      "FROM generate_series(1, 5000) g");
  db.run("CREATE INDEX by_v ON t (v)");
  db.run("CREATE INDEX by_pattern ON t (p varchar_pattern_ops)");
  db.run("ANALYZE t");
  const auto plan = [&](const std::string& rest) {
    return db.run("EXPLAIN SELECT id FROM t " + rest);
  };
  CHECK_THAT(plan("WHERE v = 'b1'"), Contains("by_v"));
  CHECK_THAT(plan("WHERE v > 'zz'"), Contains("by_v") && Contains("rows=1 "));
  CHECK_THAT(plan("WHERE v BETWEEN 'b1' AND 'b12'"), Contains("by_v"));
  CHECK_THAT(plan("WHERE v > 'N'"), Contains("rows=24"));
  CHECK_THAT(plan("WHERE p = 'b1'"), Contains("rows=1 "));
  CHECK_THAT(plan("WHERE v IN ('b1', 'c2')"), Contains("by_v"));
  CHECK_THAT(plan("WHERE v COLLATE \"de-x-icu\" = 'b1'"), !Contains("by_"));
  CHECK_THAT(plan("WHERE v = 'b1' COLLATE \"C\""), !Contains("by_"));
  CHECK_THAT(plan("WHERE v LIKE 'b12%'"), !Contains("by_"));
  CHECK_THAT(plan("WHERE p LIKE 'b12%'"), Contains("by_pattern"));
  CHECK_THAT(plan("WHERE p > 'zz'"), !Contains("by_"));
  CHECK(db.run("SELECT count(*) FROM t WHERE p LIKE 'b12%'") ==
        db.run("SELECT count(*) FROM t WHERE p || '' LIKE 'b12%'"));
}

TEST_CASE("Collations and what is ordered by them are there after a restart", "[sql][collation]") {
  TestDatabase db;
  make_collations(db);
  db.run("CREATE TABLE t (c text COLLATE ci PRIMARY KEY, n text COLLATE num UNIQUE)");
  db.run("CREATE DOMAIN word AS text COLLATE ci");
  db.run("CREATE TABLE d (w word UNIQUE)");
  REQUIRE(db.run("INSERT INTO t VALUES ('abc', 'a10'), ('b', 'a9')") == "INSERT 0 2");
  REQUIRE(db.run("INSERT INTO d VALUES ('abc')") == "INSERT 0 1");
  const std::string before = db.run("SELECT c, n FROM t ORDER BY n");
  for (int i = 0; i < 2; ++i) {
    CHECK(db.run("SELECT c, n FROM t ORDER BY n") == before);
    CHECK_THAT(db.run("INSERT INTO t VALUES ('ABC', 'x')"), StartsWith("23505"));
    CHECK_THAT(db.run("INSERT INTO d VALUES ('aBc')"), StartsWith("23505"));
    CHECK_THAT(db.run("SELECT n FROM t WHERE c = 'ABC'"), Contains("a10"));
    CHECK_THAT(db.run("SELECT w FROM d WHERE w = 'ABC'"), Contains("abc"));
    db.close();
    db.open();
  }
  CHECK_THAT(db.run("DROP COLLATION ci"), StartsWith("2BP01"));
  db.run("DROP TABLE t, d; DROP DOMAIN word");
  CHECK(db.run("DROP COLLATION ci") == "DROP COLLATION");
}

TEST_CASE("Whoever uses a collation and whoever drops it wait for each other", "[sql][collation]") {
  TestDatabase db;
  make_collations(db);
  const auto other = db.connect();
  db.run(*other, "SET lock_timeout = '30ms'");
  db.run("BEGIN; CREATE TABLE t (c text COLLATE ci)");
  CHECK_THAT(db.run(*other, "DROP COLLATION ci"), StartsWith("55P03"));
  db.run("COMMIT");
  CHECK_THAT(db.run(*other, "DROP COLLATION ci"), StartsWith("2BP01"));
  db.run("BEGIN; DROP COLLATION num");
  CHECK_THAT(db.run(*other, "CREATE TABLE u (c text COLLATE num)"), StartsWith("55P03"));
  db.run("COMMIT");
  CHECK_THAT(db.run(*other, "CREATE TABLE u (c text COLLATE num)"), StartsWith("42704"));
}
