#include "sql-lite-frontend/execution/access/key_batch.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {

TEST_CASE("Keys come back in order, in growing batches", "[sql][execute]") {
  KeyBatch batch;
  CHECK(!batch.finish());
  CHECK(!batch.next());
  std::size_t largest = 0;
  for (const int scans : {1, 2}) {
    std::size_t before = 0;
    for (int round = 0; round < 3; ++round) {
      std::size_t keys = 0;
      for (; !batch.is_full(); ++keys) batch.add(std::to_string(keys * 7919 % 10007));
      REQUIRE(batch.finish());
      std::string last;
      std::size_t seen = 0;
      while (const auto key = batch.next()) {
        CHECK(last < *key);
        last = *key;
        ++seen;
      }
      CHECK(seen == keys);
      CHECK(keys > before);
      before = keys;
    }
    if (scans == 1) largest = before;
    CHECK(before == largest);
    batch.restart();
  }
}

TEST_CASE("An index whose order nobody wants finds rows in the table's", "[sql][execute]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int primary key, a int, u int UNIQUE, c text)");
  db.run(
      "INSERT INTO t SELECT i, i * 7919 % 10007, i * 31 % 20011, 'row ' || i "
      "FROM generate_series(1, 20000) i");
  db.run("CREATE INDEX t_a ON t(a); ANALYZE");
  const auto ids = [&](const std::string& query) {
    const std::string outcome = db.run(query);
    INFO(outcome.substr(0, 100));
    CHECK(outcome.contains("SELECT "));
    return db.sink().rows;
  };
  for (const char* condition : {"a BETWEEN 100 AND 700", "u BETWEEN 5 AND 900",
                                "a BETWEEN 20 AND 30 OR a BETWEEN 700 AND 720"}) {
    INFO(condition);
    const std::string query = std::string{"SELECT id, c FROM t WHERE "} + condition;
    db.run("SET enable_seqscan = off");
    CHECK(db.explain(query).contains("Index Scan using t_"));
    std::vector<std::string> found = ids(query);
    // In the first batch, after the rows that are looked up one by one, ids ascend.
    const std::size_t few = std::min<std::size_t>(found.size(), 20);
    const auto id_of = [&](std::size_t row) { return std::stoi(found[row]); };
    for (std::size_t i = 10; i < few; ++i) CHECK(id_of(i - 1) < id_of(i));
    std::ranges::sort(found);
    db.run("RESET enable_seqscan; SET enable_indexscan = off");
    std::vector<std::string> wanted = ids(query);
    std::ranges::sort(wanted);
    CHECK(found == wanted);
    db.run("RESET enable_indexscan");
    CHECK(ids(query + " LIMIT 11").size() == 11);
    // The order is kept if the query needs it.
    const std::vector<std::string> ordered =
        ids("SELECT a FROM t WHERE a BETWEEN 100 AND 700 ORDER BY a");
    CHECK(
        std::ranges::is_sorted(ordered, {}, [](const std::string& row) { return std::stoi(row); }));
  }
  CHECK(db.run("UPDATE t SET a = a + 1 WHERE a BETWEEN 100 AND 700") == "UPDATE 1201");
  CHECK(db.run("SELECT count(*), sum(a) FROM t WHERE a BETWEEN 101 AND 701 AND c > ''") ==
        db.run("SELECT count(*), sum(a) FROM t WHERE a + 0 BETWEEN 101 AND 701"));
  CHECK(db.run("DELETE FROM t WHERE a BETWEEN 101 AND 701 AND c > ''").starts_with("DELETE 12"));
  CHECK(db.run("SELECT count(*) FROM t WHERE a BETWEEN 101 AND 701 AND c > ''") == "0 SELECT 1");
}

}  // namespace swizzle::sql
