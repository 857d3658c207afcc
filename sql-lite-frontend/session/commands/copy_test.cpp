#include <algorithm>
#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/commands/copy_format.h"
#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {

TEST_CASE("Errors keep their position when a COPY has read over the message", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int)");
  std::string message = "COPY t FROM STDIN; SELECT 'é', missing";
  db.sink().copy_input = "1\n";
  // Overwrite the message: in the server COPY's data reuse its memory.
  db.sink().before_copy_input = [&] { std::ranges::fill(message, '\x80'); };
  const Outcome outcome = db.session().simple_query(message, db.sink());
  REQUIRE_FALSE(outcome);
  CHECK(outcome.error().state.code() == "42703");
  CHECK(outcome.error().position == 32);
}

namespace {

/// Rows of (id, id % 7, 'row id') as COPY reads them.
std::string rows_between(int first, int last) {
  std::string rows;
  for (int i = first; i <= last; ++i) {
    rows += std::to_string(i) + "\t" + std::to_string(i % 7) + "\trow " + std::to_string(i) + "\n";
  }
  return rows;
}

constexpr const char* kTable =
    "CREATE TABLE t(id int PRIMARY KEY, part int, what text); CREATE INDEX t_part ON t(part);"
    "CREATE UNIQUE INDEX t_what ON t(what)";

}  // namespace

TEST_CASE("COPY into an empty table fills its tree and its indexes", "[sql][copy]") {
  TestDatabase db;
  db.run(kTable);
  // Inserted one by one, or bulk loaded into a table that the transaction has emptied; the last
  // rows are unordered.
  const int rows = GENERATE(3, 1000, 20'000);
  const std::string own = GENERATE("BEGIN; TRUNCATE t; ", "");
  db.sink().copy_input = rows_between(3, rows) + rows_between(1, 2);
  CHECK(db.run(own + "COPY t FROM STDIN").ends_with("COPY " + std::to_string(rows)));
  db.run("COMMIT");
  CHECK(db.run("SELECT count(*), min(id), max(id) FROM t") ==
        std::to_string(rows) + "|1|" + std::to_string(rows) + " SELECT 1");
  db.run("SET enable_seqscan = off");
  CHECK(db.run("SELECT count(*) FROM t WHERE part = 3") ==
        std::to_string((rows + 4) / 7) + " SELECT 1");
  CHECK(db.run("SELECT id FROM t WHERE what = 'row 2'") == "2 SELECT 1");
  CHECK(db.run("INSERT INTO t VALUES (1, 0, 'x')").starts_with("23505"));
  CHECK(db.run("INSERT INTO t VALUES (-1, 0, 'row 1')").starts_with("23505"));
  CHECK(db.engine().verify().value() == std::vector<std::string>{});
}

TEST_CASE("COPY says in which line a duplicate is, loaded or not", "[sql][copy]") {
  TestDatabase db;
  db.run(kTable);
  const int rows = GENERATE(5, 3000);
  const bool is_loaded = GENERATE(true, false);
  const auto error_of = [&](const std::string& input) {
    db.run("ROLLBACK");
    if (is_loaded) db.run("BEGIN; TRUNCATE t; SAVEPOINT s");
    db.sink().clear();
    db.sink().copy_input = input;
    const Outcome outcome = db.session().simple_query("COPY t FROM STDIN", db.sink());
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().state.code() == "23505");
    const std::string where = outcome.error().where;
    db.run("ROLLBACK TO s");
    CHECK(db.run("SELECT count(*) FROM t") == "0 SELECT 1");
    return where;
  };
  const std::string line = "COPY t, line " + std::to_string(rows + 1);
  CHECK(error_of(rows_between(1, rows) + "2\t0\tother\n" + rows_between(rows + 1, rows + 3)) ==
        line);
  CHECK(error_of(rows_between(1, rows) + "0\t0\trow 4\n" + rows_between(rows + 1, rows + 3)) ==
        line);
  CHECK(error_of(rows_between(1, rows) + "2\t0\tother\n\\.\n") == line);
}

TEST_CASE("COPY that is rolled back leaves an empty table that can be loaded again",
          "[sql][copy]") {
  TestDatabase db;
  db.run(kTable);
  db.sink().copy_input = rows_between(1, 5000);
  CHECK(db.run("BEGIN; COPY t FROM STDIN; ROLLBACK") == "BEGIN COPY 5000 ROLLBACK");
  CHECK(db.run("SELECT count(*) FROM t") == "0 SELECT 1");
  CHECK(db.run("BEGIN; SAVEPOINT s; COPY t FROM STDIN") == "BEGIN SAVEPOINT COPY 5000");
  CHECK(db.run("SELECT count(*) FROM t WHERE part = 0") == "714 SELECT 1");
  CHECK(db.run("ROLLBACK TO s") == "ROLLBACK");
  CHECK(db.run("SELECT count(*) FROM t") == "0 SELECT 1");
  CHECK(db.run("COPY t FROM STDIN; COMMIT") == "COPY 5000 COMMIT");
  CHECK(db.run("SELECT count(*) FROM t WHERE part = 0") == "714 SELECT 1");
}

TEST_CASE("An INSERT of many rows into another's empty table keeps nobody out", "[sql][copy]") {
  TestDatabase db;
  db.run(kTable);
  const auto other = db.connect();
  db.run(*other, "SET lock_timeout = 100");
  const char* const kFill =
      "INSERT INTO t SELECT i, i % 7, repeat('x', 200) || i FROM generate_series(1, 5000) i";
  db.sink().copy_input = rows_between(1, 5000);
  for (const std::string fill : {kFill, "COPY t FROM STDIN"}) {
    INFO(fill);
    CHECK(db.run("BEGIN; " + fill).ends_with(" 5000"));
    CHECK(db.run(*other, "INSERT INTO t VALUES (9000, 1, 'x')") == "INSERT 0 1");
    CHECK(db.run(*other, "SELECT id FROM t FOR UPDATE") == "9000 SELECT 1");
    CHECK(db.run(*other, "DELETE FROM t") == "DELETE 1");
    db.run("ROLLBACK");
  }
  // A table that the transaction itself has emptied is bulk loaded.
  db.run(kFill);
  CHECK(db.run(std::string{"BEGIN; TRUNCATE t; "} + kFill) == "BEGIN TRUNCATE TABLE INSERT 0 5000");
  CHECK(db.run("ROLLBACK; SELECT count(*) FROM t") == "5000 ROLLBACK SELECT 1");
}

TEST_CASE("While a COPY fills an empty table others read and write it", "[sql][copy]") {
  TestDatabase db;
  db.run(kTable);
  const auto other = db.connect();
  db.run(*other, "SET lock_timeout = 100; BEGIN ISOLATION LEVEL REPEATABLE READ");
  CHECK(db.run(*other, "SELECT count(*) FROM t") == "0 SELECT 1");
  db.sink().copy_input = rows_between(1, 5000);
  CHECK(db.run("BEGIN; COPY t FROM STDIN") == "BEGIN COPY 5000");
  const auto third = db.connect();
  db.run(*third, "SET lock_timeout = 100");
  CHECK(db.run(*third, "SELECT count(*) FROM t") == "0 SELECT 1");
  CHECK(db.run(*third, "INSERT INTO t VALUES (9000, 1, 'x')") == "INSERT 0 1");
  db.run("COMMIT");
  // An older snapshot has its own rows.
  CHECK(db.run(*other, "SELECT count(*) FROM t") == "0 SELECT 1");
  CHECK(db.run(*other, "INSERT INTO t VALUES (9001, 1, 'y')") == "INSERT 0 1");
  CHECK(db.run(*other, "SELECT * FROM t") == "9001|1|y SELECT 1");
  CHECK(db.run(*other, "COMMIT; SELECT count(*) FROM t") == "5002 COMMIT SELECT 1");
}

TEST_CASE("Who has an uncommitted row in an empty table keeps a COPY from loading it",
          "[sql][copy]") {
  TestDatabase db;
  db.run(kTable);
  const auto other = db.connect();
  db.run(*other, "BEGIN; INSERT INTO t VALUES (9000, 1, 'x')");
  db.sink().copy_input = rows_between(1, 5000);
  CHECK(db.run("COPY t FROM STDIN") == "COPY 5000");
  CHECK(db.run("SELECT count(*) FROM t") == "5000 SELECT 1");
  db.run(*other, "COMMIT");
  CHECK(db.run("SELECT count(*) FROM t") == "5001 SELECT 1");
}

TEST_CASE("An index that is younger than a snapshot hides no rows from it", "[sql][copy]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, a int)");
  db.run("INSERT INTO t SELECT i, i % 100 FROM generate_series(1, 1000) i");
  const auto other = db.connect();
  db.run(*other, "SET enable_seqscan = off; BEGIN ISOLATION LEVEL REPEATABLE READ");
  const std::string query = "SELECT count(*) FROM t WHERE a = 5";
  CHECK(db.run(*other, query) == "10 SELECT 1");
  db.run("CREATE INDEX t_a ON t(a); INSERT INTO t VALUES (2000, 5)");
  CHECK(db.run(*other, query) == "10 SELECT 1");
  CHECK(db.run(*other, "COMMIT; " + query) == "11 COMMIT SELECT 1");
}

TEST_CASE("An index is built within maintenance_work_mem, whatever order its rows have",
          "[sql][copy]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int, word text); SET maintenance_work_mem = '1MB'");
  db.run("INSERT INTO t SELECT i * 7919 % 60000, md5(i::text) FROM generate_series(1, 60000) i");
  CHECK(db.run("CREATE INDEX t_word ON t(word)") == "CREATE INDEX");
  CHECK(db.run("ALTER TABLE t ADD PRIMARY KEY (id)") == "ALTER TABLE");
  db.run("SET enable_seqscan = off");
  CHECK(db.run("SELECT word = md5('1') FROM t WHERE id = 7919") == "t SELECT 1");
  CHECK(db.run("SELECT id FROM t WHERE word = md5('3')") == "23757 SELECT 1");
  CHECK(db.run("SELECT count(*) FROM (SELECT word FROM t ORDER BY word) s") == "60000 SELECT 1");
  CHECK(db.engine().verify().value() == std::vector<std::string>{});
  db.run("INSERT INTO t VALUES (-1, md5('5'))");
  CHECK(db.run("CREATE UNIQUE INDEX ON t(word)").starts_with("23505 could not create"));
  db.run("ALTER TABLE t DROP CONSTRAINT t_pkey; INSERT INTO t VALUES (17, 'x')");
  CHECK(db.run("ALTER TABLE t ADD PRIMARY KEY (id)").starts_with("23505 could not create"));
}

TEST_CASE("COPY's text goes on behind an escaped line end, however it arrives", "[sql][copy]") {
  const std::string input = "1\ta\\\nb\n2\tc\\\\\n3\td\\\\\\\ne\\\rx\n4\t\\\n\n5\t\\\\\\\\\n";
  const std::vector<std::string> rows{"1|a\nb", "2|c\\", "3|d\\\ne\rx", "4|\n", "5|\\\\"};
  const CopyOptions options;
  for (std::size_t piece = 1; piece <= input.size(); ++piece) {
    CopyReader reader{options};
    std::vector<std::string> read;
    const auto take = [&] {
      while (const auto fields = reader.next()) {
        std::string row;
        for (const CopyReader::Field& field : *fields) {
          row += (row.empty() ? "" : "|") + std::string{field.text};
        }
        read.push_back(row);
      }
    };
    for (std::size_t at = 0; at < input.size(); at += piece) {
      reader.add(std::string_view{input}.substr(at, piece));
      take();
    }
    reader.finish();
    take();
    CHECK(read == rows);
  }
  TestDatabase db;
  db.run("CREATE TABLE t(id int, what text)");
  db.sink().copy_input = input;
  CHECK(db.run("COPY t FROM STDIN") == "COPY 5");
  CHECK(db.run("SELECT replace(what, E'\\n', '<n>') FROM t WHERE id = 1") == "a<n>b SELECT 1");
}

}  // namespace swizzle::sql
