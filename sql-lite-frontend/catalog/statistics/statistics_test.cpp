#include <catch2/catch.hpp>
#include <cmath>

#include "sql-lite-frontend/catalog/statistics/sample.h"
#include "sql-lite-frontend/session/auto_analyze.h"
#include "sql-lite-frontend/session/shared/database_shared.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

using Catch::Contains;

/// Returns "rows=" of the plan's first line.
double expected_rows(TestDatabase& db, const std::string& query) {
  const std::string plan = db.explain(query, "COSTS on");
  INFO(plan);
  const auto at = plan.find("rows=");
  REQUIRE(at != std::string::npos);
  return std::stod(plan.substr(at + 5));
}

void fill_for_statistics(TestDatabase& db) {
  db.run("CREATE TABLE t(id int primary key, k int, many int, s text, f bool)");
  db.run(
      "INSERT INTO t SELECT i, CASE WHEN i % 10 = 0 THEN NULL WHEN i % 2 = 0 THEN 7 ELSE i % 400 "
      "END, i * 7919 % 3000, chr(97 + i % 20) || i, i % 4 = 0 FROM generate_series(1, 10000) i");
}

}  // namespace

TEST_CASE("A sample is fair, ordered and bounded", "[sql][statistics]") {
  RowSample sample{7};
  const std::uint64_t rows = 200'000;
  for (std::uint64_t i = 0; i < rows; ++i) {
    sample.add(as_bytes(std::string_view{reinterpret_cast<const char*>(&i), sizeof i}));
  }
  sample.sort();
  REQUIRE(sample.size() == RowSample::kMostRows);
  CHECK(sample.rows_seen() == rows);
  double sum = 0;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const auto value = load<std::uint64_t>(sample.row(i).data());
    if (i > 0) REQUIRE(value > before);
    before = value;
    sum += static_cast<double>(value);
  }
  const double mean = sum / static_cast<double>(sample.size());
  CHECK(std::abs(mean - rows / 2.0) < rows * 0.01);
}

TEST_CASE("ANALYZE finds nulls, distinct values, common values and bounds", "[sql][statistics]") {
  TestDatabase db;
  fill_for_statistics(db);
  CHECK(db.run("SELECT count(*) FROM pg_stats WHERE tablename = 't'") == "0 SELECT 1");
  CHECK(db.run("ANALYZE t") == "ANALYZE");
  CHECK(db.run("SELECT attname, null_frac, n_distinct FROM pg_stats WHERE tablename = 't' ORDER BY "
               "attname") == "f|0|2 id|0|-1 k|0.1|200 many|0|-0.3 s|0|-1 SELECT 5");
  CHECK_THAT(
      db.run("SELECT most_common_vals FROM pg_stats WHERE tablename = 't' AND attname = 'k'"),
      Contains("{7}"));
  CHECK_THAT(db.run("SELECT histogram_bounds FROM pg_stats WHERE tablename = 't' AND attname = "
                    "'id'"),
             Contains("{1,") && Contains(",10000}"));
  CHECK(db.run("SELECT reltuples FROM pg_class WHERE relname = 't'") == "10000 SELECT 1");
}

TEST_CASE("Expected rows come from statistics", "[sql][statistics]") {
  TestDatabase db;
  fill_for_statistics(db);
  db.run("ANALYZE t");
  const auto close_to = [](double found, double wanted) {
    INFO(found << " expected, " << wanted << " are there");
    CHECK(found >= wanted / 1.5 - 2);
    CHECK(found <= wanted * 1.5 + 2);
  };
  close_to(expected_rows(db, "SELECT * FROM t"), 10000);
  close_to(expected_rows(db, "SELECT * FROM t WHERE k = 7"), 4000 + 12);
  close_to(expected_rows(db, "SELECT * FROM t WHERE k = 9"), 25);
  close_to(expected_rows(db, "SELECT * FROM t WHERE k IS NULL"), 1000);
  close_to(expected_rows(db, "SELECT * FROM t WHERE k IS NOT NULL"), 9000);
  close_to(expected_rows(db, "SELECT * FROM t WHERE id < 1500"), 1500);
  close_to(expected_rows(db, "SELECT * FROM t WHERE id > 2000 AND id <= 2400"), 400);
  close_to(expected_rows(db, "SELECT * FROM t WHERE many >= 2700"), 1000);
  close_to(expected_rows(db, "SELECT * FROM t WHERE many IN (1, 5, 77)"), 10);
  close_to(expected_rows(db, "SELECT * FROM t WHERE s LIKE 'c%'"), 500);
  close_to(expected_rows(db, "SELECT * FROM t WHERE f"), 2500);
  close_to(expected_rows(db, "SELECT * FROM t WHERE NOT f"), 7500);
  close_to(expected_rows(db, "SELECT * FROM t WHERE k = 7 OR id <= 1000"), 4600);
  close_to(expected_rows(db, "SELECT * FROM t a JOIN t b ON a.id = b.many"), 10000);
  close_to(expected_rows(db, "SELECT many, count(*) FROM t GROUP BY many"), 3000);
  // Without ANALYZE the counters continue.
  db.run("INSERT INTO t SELECT i, 1, 1, 'x', true FROM generate_series(10001, 15000) i");
  close_to(expected_rows(db, "SELECT * FROM t"), 15000);
  db.run("DELETE FROM t WHERE id <= 9000");
  close_to(expected_rows(db, "SELECT * FROM t"), 6000);
}

TEST_CASE("Statistics are as transactional as rows, and survive a restart", "[sql][statistics]") {
  TestDatabase db;
  fill_for_statistics(db);
  db.run("BEGIN");
  db.run("ANALYZE t");
  CHECK(db.run("SELECT count(*) FROM pg_stats WHERE tablename = 't'") == "5 SELECT 1");
  db.run("ROLLBACK");
  CHECK(db.run("SELECT count(*) FROM pg_stats WHERE tablename = 't'") == "0 SELECT 1");
  db.run("ANALYZE t");
  db.close();
  db.open();
  CHECK(db.run("SELECT count(*) FROM pg_stats WHERE tablename = 't'") == "5 SELECT 1");
  CHECK(expected_rows(db, "SELECT * FROM t WHERE k IS NULL") == Approx(1000).margin(50));
  db.run("DROP TABLE t");
  CHECK(db.run("SELECT count(*) FROM pg_stats WHERE tablename = 't'") == "0 SELECT 1");
}

TEST_CASE("Tables that changed much are analyzed in the background", "[sql][statistics]") {
  TestDatabase db;
  fill_for_statistics(db);
  AutoAnalyze& background = *db.database().shared().auto_analyze;
  CHECK(background.run_once() == 1);
  CHECK(db.run("SELECT count(*) FROM pg_stats WHERE tablename = 't'") == "5 SELECT 1");
  CHECK(background.run_once() == 0);
  db.run("UPDATE t SET k = 1 WHERE id <= 900");
  CHECK(background.run_once() == 0);
  db.run("UPDATE t SET k = 1 WHERE id <= 900");
  CHECK(background.run_once() == 1);
}

TEST_CASE("Scans and changes of tables and indexes are counted", "[sql][statistics]") {
  TestDatabase db;
  db.run("CREATE TABLE c(id int primary key, v int)");
  db.run("INSERT INTO c SELECT i, i FROM generate_series(1, 100) i");
  db.run("CREATE INDEX c_v ON c(v)");
  db.run("SELECT * FROM c");
  db.run("SELECT * FROM c WHERE id = 5");
  db.run("UPDATE c SET v = 0 WHERE id <= 10");
  db.run("DELETE FROM c WHERE id = 1");
  CHECK(db.run("SELECT seq_scan, seq_tup_read, idx_scan > 2, n_tup_ins, n_tup_upd, n_tup_del, "
               "n_live_tup FROM pg_stat_user_tables WHERE relname = 'c'") ==
        "1|100|t|100|10|1|99 SELECT 1");
  CHECK(db.run("SELECT indexrelname, idx_scan > 0 FROM pg_stat_user_indexes WHERE relname = 'c' "
               "ORDER BY 1") == "c_pkey|t c_v|f SELECT 2");
}

TEST_CASE("Pages that are asked for count for their table or index", "[sql][statistics]") {
  TestDatabase db;
  db.run("CREATE TABLE p(id int primary key, v int, s text)");
  db.run("CREATE TABLE bare(a int)");
  db.run("INSERT INTO p SELECT i, i, repeat('s', 100) FROM generate_series(1, 5000) i");
  db.run("CREATE INDEX p_v ON p(v); ANALYZE p");
  /// Counts the accesses of the table and of its index by one statement.
  const auto asked_by = [&](const std::string& statement) {
    db.run("SELECT pg_stat_reset()");
    CHECK(db.run("SELECT heap_blks_read, heap_blks_hit, idx_blks_read, idx_blks_hit "
                 "FROM pg_statio_user_tables WHERE relname = 'p'") == "0|0|0|0 SELECT 1");
    db.run(statement);
    return db.run(
        "SELECT heap_blks_read + heap_blks_hit, idx_blks_read + idx_blks_hit "
        "FROM pg_statio_user_tables WHERE relname = 'p'");
  };
  CHECK(asked_by("SELECT s FROM p WHERE id = 5") == "1|0 SELECT 1");
  CHECK(asked_by("SELECT s FROM p WHERE id = 0") == "1|0 SELECT 1");
  CHECK(asked_by("SELECT s FROM p WHERE v = 5") == "1|1 SELECT 1");
  CHECK(asked_by("SELECT v FROM p WHERE v = 5") == "0|1 SELECT 1");
  CHECK(asked_by("SELECT s FROM p WHERE v BETWEEN 1 AND 10") == "10|1 SELECT 1");
  CHECK(asked_by("INSERT INTO p VALUES (0, 0, 's')") == "1|1 SELECT 1");
  // Found, locked, written.
  CHECK(asked_by("UPDATE p SET s = 't' WHERE id = 0") == "3|0 SELECT 1");
  CHECK(asked_by("UPDATE p SET v = -1 WHERE id = 0") == "3|2 SELECT 1");
  CHECK(asked_by("DELETE FROM p WHERE id = 0") == "2|1 SELECT 1");
  CHECK(db.run("SELECT heap_blks_hit > 60 FROM pg_statio_user_tables WHERE relname = 'p'") ==
        "f SELECT 1");
  db.run("SELECT sum(length(s)) FROM p");
  CHECK(db.run("SELECT heap_blks_hit > 60 FROM pg_statio_user_tables WHERE relname = 'p'") ==
        "t SELECT 1");
  CHECK(db.run("SELECT heap_blks_hit = pg_stat_get_blocks_hit(relid), heap_blks_read + "
               "heap_blks_hit = pg_stat_get_blocks_fetched(relid) FROM pg_statio_all_tables "
               "WHERE relname = 'p'") == "t|t SELECT 1");
  CHECK(db.run("SELECT indexrelname, idx_blks_hit = pg_stat_get_blocks_hit(indexrelid), "
               "idx_blks_hit > 0 FROM pg_statio_user_indexes WHERE relname = 'p' ORDER BY 1") ==
        "p_pkey|t|f p_v|t|t SELECT 2");
  // After a restart pages are read from the file.
  db.close();
  db.open();
  // The tidier looks at leaves that had removed entries, too.
  db.run("SELECT sum(length(s)) FROM p");
  CHECK(db.run("SELECT heap_blks_read > 60, heap_blks_hit <= 4, idx_blks_read <= 4 FROM "
               "pg_statio_user_tables WHERE relname = 'p'") == "t|t|t SELECT 1");
  // As in PostgreSQL: NULL for a missing index or TOAST table.
  CHECK(db.run("SELECT heap_blks_read, heap_blks_hit, idx_blks_read, idx_blks_hit, toast_blks_hit "
               "FROM pg_statio_user_tables WHERE relname = 'bare'") ==
        "0|0|NULL|NULL|NULL SELECT 1");
}

TEST_CASE("Pages of a replaced tree stay counted", "[sql][statistics]") {
  PageReads reads;
  CHECK(reads.since_reset(TreeId{5}, 3) == 3);
  CHECK(reads.since_reset(TreeId{5}, 7) == 7);
  // TRUNCATE.
  CHECK(reads.since_reset(TreeId{9}, 0) == 7);
  CHECK(reads.since_reset(TreeId{9}, 2) == 9);
  reads.reset(TreeId{9}, 3);
  CHECK(reads.since_reset(TreeId{9}, 5) == 2);
}

TEST_CASE("Statements are counted by shape", "[sql][statistics]") {
  TestDatabase db;
  db.run("CREATE TABLE s(id int primary key)");
  db.run("INSERT INTO s SELECT i FROM generate_series(1, 10) i");
  for (int i = 1; i <= 4; ++i) db.run("SELECT * FROM s WHERE id <= " + std::to_string(i));
  CHECK(db.run("SELECT calls, rows, total_exec_time > 0 FROM pg_stat_statements WHERE query LIKE "
               "'SELECT * FROM s%'") == "4|10|t SELECT 1");
}

TEST_CASE("Transactions, rows and temporary files count in their database", "[sql][statistics]") {
  TestDatabase db;
  db.run("CREATE DATABASE other");
  SessionOptions options;
  options.database = "other";
  options.backend_pid = 77;
  auto other = db.database().connect(options).value();
  const auto counted = [&](const std::string& columns) {
    return db.run("SELECT " + columns + " FROM pg_stat_database WHERE datname = 'other'");
  };
  CHECK(db.run("SELECT pg_stat_reset()") == " SELECT 1");
  db.run(*other, "SELECT pg_stat_reset()");

  CHECK(counted("xact_commit, xact_rollback") == "1|0 SELECT 1");
  db.run(*other, "CREATE TABLE t(id int PRIMARY KEY, v int)");
  db.run(*other, "INSERT INTO t SELECT i, i FROM generate_series(1, 10) i");
  db.run(*other, "UPDATE t SET v = 0 WHERE id <= 3; DELETE FROM t WHERE id > 8");
  db.run(*other, "SELECT 1");
  CHECK(counted("xact_commit, xact_rollback") == "5|0 SELECT 1");
  db.run(*other, "SELECT 1/0");
  db.run(*other, "BEGIN");
  db.run(*other, "SELECT 1/0");
  db.run(*other, "COMMIT");
  db.run(*other, "BEGIN");
  db.run(*other, "ROLLBACK");
  CHECK(counted("xact_commit, xact_rollback") == "5|3 SELECT 1");
  CHECK(counted("tup_inserted, tup_updated, tup_deleted, tup_fetched >= 5, tup_returned >= 5") ==
        "10|3|2|t|t SELECT 1");
  // Rows counted for a dropped table stay counted.
  db.run(*other, "DROP TABLE t");
  CHECK(counted("tup_inserted, tup_updated, tup_deleted") == "10|3|2 SELECT 1");

  CHECK(counted("temp_files, temp_bytes") == "0|0 SELECT 1");
  db.run(*other, "SET work_mem = '64kB'");
  CHECK(db.run(*other,
               "SELECT count(*) FROM (SELECT i FROM generate_series(1, 50000) i "
               "ORDER BY i DESC OFFSET 1) s") == "49999 SELECT 1");
  CHECK(counted("temp_files > 0, temp_bytes > 50000 * 4") == "t|t SELECT 1");
  const std::string files = counted("temp_files, temp_bytes");
  // Sessions from before pg_stat_reset() are not counted.
  CHECK(counted("sessions, numbackends") == "0|1 SELECT 1");
  // After its end, its usage stays counted.
  other.reset();
  CHECK(counted("temp_files, temp_bytes") == files);
  CHECK(counted("sessions, numbackends") == "0|0 SELECT 1");
  CHECK(db.run("SELECT sum(temp_files), sum(tup_inserted) FROM pg_stat_database "
               "WHERE datname <> 'other'") == "0|0 SELECT 1");

  other = db.database().connect(options).value();
  db.run(*other, "SELECT pg_stat_reset()");
  CHECK(counted("temp_files, xact_commit, xact_rollback, tup_inserted, sessions, "
                "stats_reset > pg_postmaster_start_time()") == "0|1|0|0|0|t SELECT 1");
  other.reset();
  CHECK(db.run("DROP DATABASE other") == "DROP DATABASE");
  CHECK(counted("temp_files") == "SELECT 0");
}

TEST_CASE("Statistics of one database are not another's, and go with it", "[sql][statistics]") {
  TestDatabase db;
  db.run("CREATE DATABASE other");
  SessionOptions options;
  options.database = "other";
  options.backend_pid = 77;
  auto other = db.database().connect(options).value();
  db.run(
      "CREATE TABLE s(id int, same int); INSERT INTO s SELECT i, 1 FROM generate_series(1, 10) i");
  db.run(
      *other,
      "CREATE TABLE s(id int, same int); INSERT INTO s SELECT 5, i FROM generate_series(1, 900) i");
  db.run("ANALYZE s");
  db.run(*other, "ANALYZE s");
  db.run(*other, "SELECT * FROM s WHERE id = 3");
  const std::string distinct =
      "SELECT n_distinct FROM pg_stats WHERE tablename = 's' ORDER BY attname";
  CHECK(db.run(distinct) == "-1 1 SELECT 2");
  CHECK(db.run(*other, distinct) == "1 -1 SELECT 2");
  db.run("SELECT * FROM s WHERE id = 3");
  db.run("SELECT * FROM s WHERE id = 4");
  CHECK(
      db.run("SELECT datname, calls FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid "
             "WHERE query LIKE 'SELECT * FROM s%' ORDER BY 1") == "other|1 postgres|2 SELECT 2");
  other.reset();
  const auto records = [&] {
    std::size_t count = 0;
    const auto transaction = db.engine().begin();
    // The tree of statistics is the first one after the catalog's.
    Cursor cursor = db.engine().tree(TreeId{3}).value().scan(*transaction, {}).value();
    while (cursor.next().value()) ++count;
    return count;
  };
  CHECK(records() == 6);
  CHECK(db.run("DROP DATABASE other") == "DROP DATABASE");
  CHECK(records() == 3);
}
