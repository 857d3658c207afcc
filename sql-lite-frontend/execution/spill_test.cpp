#include <algorithm>
#include <catch2/catch.hpp>

#include "base/random.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

using Catch::Contains;

std::vector<std::string> temporary_files(TestDatabase& db) {
  return db.files().list(db.directory() / "temporary").value();
}

/// Inserts 6,000 rows: repeated keys, NULLs, long texts.
void fill_for_spilling(TestDatabase& db) {
  db.run("CREATE TABLE a(id int primary key, k int, t text, n numeric)");
  db.run(
      "INSERT INTO a SELECT i, CASE WHEN i % 17 = 0 THEN NULL ELSE i * 7919 % 1500 END, "
      "CASE WHEN i % 23 = 0 THEN NULL ELSE repeat(chr(97 + i * 31 % 26), i % 60) || i % 3000 END, "
      "(i % 1000) / 8.0 FROM generate_series(1, 6000) i");
  db.run("CREATE TABLE b(id int primary key, k int, t text)");
  db.run(
      "INSERT INTO b SELECT i, CASE WHEN i % 13 = 0 THEN NULL ELSE i * 104729 % 2500 END, "
      "repeat('b', i % 40) FROM generate_series(1, 5000) i");
}

}  // namespace

TEST_CASE("What is spread over files is spread once where its parts fit", "[sql][spill]") {
  TestDatabase db;
  db.run("CREATE TABLE p(a int, b int); CREATE TABLE q(a int, b int)");
  db.run("INSERT INTO p SELECT i, i FROM generate_series(1, 20000) i");
  db.run("INSERT INTO q SELECT i * 2, i FROM generate_series(1, 30000) i");
  db.run("ANALYZE; SET work_mem = '256kB'");
  const auto parts_of = [&](const std::string& query) {
    const std::string plan = db.explain(query, "ANALYZE, COSTS off, TIMING off, SUMMARY off");
    INFO(plan);
    const std::size_t at = plan.find("Batches: ");
    REQUIRE(at != std::string::npos);
    return std::stoul(plan.substr(at + 9));
  };
  for (const char* query :
       {"SELECT count(*) FROM p JOIN q ON p.a = q.a", "SELECT count(*) FROM p JOIN q USING (a, b)",
        "SELECT a, count(*), max(b) FROM q GROUP BY a", "SELECT a, b, sum(a) FROM q GROUP BY a, b",
        "SELECT DISTINCT a, b FROM q"}) {
    INFO(query);
    const unsigned long parts = parts_of(query);
    CHECK(parts > 1);
    CHECK(parts <= 64);
  }
}

TEST_CASE("What does not fit work_mem gives the same rows from files", "[sql][spill]") {
  TestDatabase db;
  fill_for_spilling(db);
  const bool ordered = true;
  const bool any_order = false;
  const std::vector<std::pair<std::string, bool>> queries{
      {"SELECT id, t FROM a ORDER BY t, id", ordered},
      {"SELECT id, t FROM a ORDER BY t DESC NULLS LAST, n DESC, id", ordered},
      {"SELECT id, k FROM a ORDER BY k", ordered},  // stable: by id within k
      {"SELECT id FROM a ORDER BY n, k NULLS FIRST LIMIT 5000 OFFSET 100", ordered},
      {"SELECT id FROM a ORDER BY n + 1, k LIMIT 10", ordered},
      {"SELECT k, count(*), sum(n), min(t) FROM a GROUP BY k", any_order},
      {"SELECT t, count(DISTINCT k), max(id) FROM a GROUP BY t HAVING count(*) > 1", any_order},
      {"SELECT k, n, grouping(k, n), count(*), sum(id) FROM a GROUP BY CUBE(k, n)", any_order},
      {"SELECT t, k, count(DISTINCT n), min(n) FROM a GROUP BY GROUPING SETS (t, (k, t), (), (k))",
       any_order},
      {"SELECT DISTINCT k, t FROM a", any_order},
      {"SELECT k, t FROM a UNION SELECT k, t FROM b", any_order},
      {"SELECT id, t FROM a EXCEPT SELECT id, t FROM b", any_order},
      {"SELECT k, t FROM a EXCEPT SELECT k, repeat('b', k % 40) FROM b", any_order},
      {"SELECT n, k FROM a EXCEPT ALL SELECT k / 8.0, k FROM b", any_order},
      {"SELECT k FROM a EXCEPT ALL SELECT k FROM b WHERE id % 3 > 0", any_order},
      {"SELECT k, id % 4 FROM a INTERSECT SELECT k, id % 4 FROM b", any_order},
      {"SELECT k, id % 2 FROM a INTERSECT ALL SELECT k, id % 2 FROM b", any_order},
      {"SELECT id FROM a WHERE t NOT IN (SELECT t || id % 7 FROM a x WHERE t > '')", any_order},
      {"SELECT id FROM a WHERE k IN (SELECT id * 3 FROM b) OR id < 9", any_order},
      {"SELECT DISTINCT ON (k) k, id FROM a ORDER BY k, n DESC, id", ordered},
      {"SELECT a.id, b.id FROM a JOIN b ON a.k = b.k", any_order},
      {"SELECT a.id, b.id FROM a LEFT JOIN b ON a.k = b.k AND b.id > a.id", any_order},
      {"SELECT a.id, b.id FROM a RIGHT JOIN b ON a.k = b.k", any_order},
      {"SELECT a.id, b.id FROM a FULL JOIN b ON a.k = b.k", any_order},
      {"SELECT a.id, b.t FROM a JOIN b ON a.k = b.k AND a.t > b.t", any_order},
      {"SELECT id, sum(n) OVER (PARTITION BY k ORDER BY id) FROM a", any_order},
      {"WITH x AS MATERIALIZED (SELECT * FROM a) SELECT x.id, y.t FROM x, x y WHERE x.id = y.id",
       any_order},
  };
  for (const auto& [query, is_ordered] : queries) {
    INFO(query);
    db.run("SET work_mem = '1GB'");
    std::vector<std::string> expected = db.rows(query);
    for (const char* memory : {"64kB", "200kB"}) {
      INFO(memory);
      db.run(std::string{"SET work_mem = '"} + memory + "'");
      std::vector<std::string> found = db.rows(query);
      std::vector<std::string> wanted = expected;
      if (!is_ordered) {
        std::ranges::sort(found);
        std::ranges::sort(wanted);
      }
      CHECK(found.size() == wanted.size());
      CHECK(found == wanted);
    }
    CHECK(temporary_files(db).empty());
  }
}

TEST_CASE("A row that has met another is not shown as alone, too", "[sql][spill]") {
  TestDatabase db;
  db.run("CREATE TABLE x(a int); INSERT INTO x SELECT generate_series(1, 3000)");
  db.run("CREATE TABLE y(a int); INSERT INTO y SELECT generate_series(2001, 5000)");
  for (const char* memory : {"1GB", "64kB"}) {
    INFO(memory);
    db.run(std::string{"SET work_mem = '"} + memory + "'");
    CHECK(db.run("SELECT count(*), count(x.a), count(y.a) FROM x FULL JOIN y ON x.a = y.a") ==
          "5000|3000|3000 SELECT 1");
    CHECK(db.run("SELECT count(*), count(x.a), count(y.a) FROM x RIGHT JOIN y ON x.a = y.a") ==
          "3000|1000|3000 SELECT 1");
  }
}

TEST_CASE("EXCEPT and INTERSECT put into files what does not fit, and count it all",
          "[sql][spill]") {
  TestDatabase db;
  db.run("SET work_mem = '64kB'; SET session_memory_limit = '4MB'");
  // Left side: each number up to 100,000 once, up to 60,000 twice. Right side: their thirds, three
  // times each.
  const std::string left =
      "(SELECT i::bigint * 7919 FROM generate_series(1, 100000) i UNION ALL "
      "SELECT i::bigint * 7919 FROM generate_series(1, 60000) i)";
  const std::string right =
      "(SELECT i::bigint * 7919 FROM generate_series(3, 120000, 3) i, generate_series(1, 3) j)";
  const auto count_of = [&](const std::string& operation) {
    return db.run("SELECT count(*) FROM (" + left + " " + operation + " " + right + ") x");
  };
  CHECK(count_of("EXCEPT") == "66667 SELECT 1");
  CHECK(count_of("EXCEPT ALL") == "106667 SELECT 1");
  CHECK(count_of("INTERSECT") == "33333 SELECT 1");
  CHECK(count_of("INTERSECT ALL") == "53333 SELECT 1");
  CHECK(temporary_files(db).empty());
  db.run("BEGIN; DECLARE c CURSOR FOR " + left + " EXCEPT " + right);
  db.run("FETCH 10 FROM c");
  CHECK_FALSE(temporary_files(db).empty());
  // Leave the cursor half-way.
  db.run("COMMIT");
  CHECK(temporary_files(db).empty());
}

TEST_CASE("NOT IN puts into files what does not fit", "[sql][spill]") {
  TestDatabase db;
  db.run("SET work_mem = '64kB'; SET session_memory_limit = '4MB'");
  const auto count = [&](const std::string& condition) {
    return db.run("SELECT count(*) FROM generate_series(1, 3000) i WHERE " + condition);
  };
  // Every key twice, far apart.
  const std::string keys =
      "(SELECT j % 60000 * 21 FROM generate_series(0, 119999) j UNION ALL SELECT -1)";
  CHECK(count("i * 7 NOT IN " + keys) == "2000 SELECT 1");
  CHECK(count("i * 7 IN " + keys + " OR i < 0") == "1000 SELECT 1");
  CHECK(count("i * 7 + 1256997 NOT IN " + keys) == "2858 SELECT 1");
  CHECK(count("(i * 7)::text NOT IN (SELECT x::text FROM " + keys + " y(x))") == "2000 SELECT 1");
  CHECK(count("i * 7 NOT IN (SELECT x FROM " + keys + " y(x) UNION ALL SELECT NULL)") ==
        "0 SELECT 1");
  CHECK(temporary_files(db).empty());
  CHECK_THAT(count("1 / (i - 2999) > 0 OR i NOT IN " + keys), Contains("22012"));
  CHECK(temporary_files(db).empty());
}

TEST_CASE("Random joins, groups and sorts agree whatever work_mem is", "[sql][spill]") {
  TestDatabase db;
  const std::uint64_t seed = GENERATE(1U, 2U);
  INFO("seed " << seed);
  Random random{seed};
  const auto pick = [&](std::initializer_list<const char*> of) {
    return std::string{*(of.begin() + random.below(of.size()))};
  };
  db.run("CREATE TABLE r(a int, b int, c text)");
  const std::string distinct = std::to_string(10 + random.below(4000));
  db.run("INSERT INTO r SELECT i * 48271 % " + distinct +
         ", i % 7, repeat('x', i * 7 % 90) || i % " + distinct +
         " FROM generate_series(1, 6000) i");
  db.run("INSERT INTO r VALUES (NULL, 1, NULL), (NULL, NULL, ''), (1, NULL, 'x')");
  for (int round = 0; round < 20; ++round) {
    std::string query;
    switch (random.below(4)) {
      case 3:
        query = "SELECT a, c FROM r WHERE b < " + std::to_string(random.below(8)) +
                pick({" EXCEPT ", " EXCEPT ALL ", " INTERSECT ", " INTERSECT ALL "}) +
                "SELECT a, c FROM r WHERE b > " + std::to_string(random.below(6));
        break;
      case 0:
        query = "SELECT " + pick({"a", "b", "c"}) + ", " + pick({"count(*)", "sum(a)", "max(c)"}) +
                " FROM r GROUP BY 1";
        break;
      case 1:
        query = "SELECT x.a, y.c FROM r x " +
                pick({"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"}) +
                " (SELECT * FROM r WHERE b < 2) y ON x.a = y.a AND x.c = y.c";
        break;
      default:
        query = "SELECT a, c FROM r ORDER BY " + pick({"a, c", "c DESC, a", "c NULLS FIRST, a"}) +
                " LIMIT " + std::to_string(random.below(7000));
    }
    INFO(query);
    db.run("SET work_mem = '1GB'");
    std::vector<std::string> expected = db.rows(query);
    db.run("SET work_mem = '64kB'");
    std::vector<std::string> found = db.rows(query);
    std::ranges::sort(expected);
    std::ranges::sort(found);
    CHECK(expected == found);
  }
}

TEST_CASE("EXPLAIN ANALYZE tells what went to files", "[sql][spill]") {
  TestDatabase db;
  fill_for_spilling(db);
  db.run("SET work_mem = '64kB'");
  CHECK_THAT(db.explain("SELECT * FROM a ORDER BY t", "ANALYZE, COSTS off"),
             Contains("Sort Method: external merge  Disk: "));
  CHECK_THAT(db.explain("SELECT * FROM a ORDER BY t LIMIT 3", "ANALYZE, COSTS off"),
             Contains("Sort Method: top-N heapsort  Memory: "));
  CHECK_THAT(db.explain("SELECT t, count(*) FROM a GROUP BY t", "ANALYZE, COSTS off"),
             Contains("Disk Usage: "));
  CHECK_THAT(db.explain("SELECT * FROM a JOIN b ON a.k = b.k", "ANALYZE, COSTS off"),
             !Contains("Batches: 1 "));
  db.run("SET work_mem = '1GB'");
  CHECK_THAT(db.explain("SELECT * FROM a ORDER BY t", "ANALYZE, COSTS off"),
             Contains("Sort Method: quicksort  Memory: "));
  CHECK_THAT(db.explain("SELECT * FROM a JOIN b ON a.k = b.k", "ANALYZE, COSTS off"),
             Contains("Batches: 1 "));
}

TEST_CASE("Temporary files go when a statement ends, fails or is left half-way", "[sql][spill]") {
  TestDatabase db;
  fill_for_spilling(db);
  db.run("SET work_mem = '64kB'");
  CHECK_THAT(db.run("SELECT 1 / (id - 5999) FROM (SELECT id FROM a ORDER BY t OFFSET 1) x"),
             Contains("22012"));
  CHECK(temporary_files(db).empty());
  db.run("BEGIN");
  db.run("DECLARE c CURSOR FOR SELECT t FROM a ORDER BY t");
  db.run("FETCH 10 FROM c");
  CHECK_FALSE(temporary_files(db).empty());
  db.run("CLOSE c");
  CHECK(temporary_files(db).empty());
  db.run("DECLARE c SCROLL CURSOR FOR SELECT id, t FROM a");
  db.run("MOVE ALL FROM c");
  CHECK(db.run("FETCH ABSOLUTE 5777 FROM c").starts_with("5777|"));
  CHECK(db.run("FETCH ABSOLUTE 3 FROM c").starts_with("3|"));
  db.run("ROLLBACK");
  CHECK(temporary_files(db).empty());
}

TEST_CASE("Temporary files of an earlier run are gone after the start", "[sql][spill]") {
  TestDatabase db;
  const std::filesystem::path left = db.directory() / "temporary" / "123";
  REQUIRE(db.files().open(left, OpenMode::create_new, {}));
  db.close();
  db.open();
  CHECK(temporary_files(db).empty());
}

TEST_CASE("A full disk under temporary files is 53100, and the session goes on", "[sql][spill]") {
  SimulatedDisk disk;
  TestDatabase db{disk};
  fill_for_spilling(db);
  db.run("SET work_mem = '64kB'");
  for (const char* query : {"SELECT t FROM a ORDER BY t", "SELECT t, count(*) FROM a GROUP BY t",
                            "SELECT count(*) FROM a JOIN b ON a.k = b.k"}) {
    INFO(query);
    disk.inject({.operation = DiskOperation::write,
                 .nth = 3,
                 .times = 1000,
                 .path_contains = "temporary",
                 .error = ENOSPC});
    CHECK_THAT(db.run(query), Contains("53100"));
    CHECK(temporary_files(db).empty());
    disk.clear_faults();
    CHECK_THAT(db.run(query), Contains("SELECT "));
  }
}
