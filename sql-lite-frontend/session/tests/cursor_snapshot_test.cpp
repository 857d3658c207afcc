#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

// P36 for a cursor: a statement that spans many requests.
TEST_CASE("A cursor and a portal show what was there when they began", "[sql][session]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int PRIMARY KEY, v int)");
  db.run("INSERT INTO t SELECT g, g FROM generate_series(1, 6) g");
  const std::string before = "3 4 5 6";
  for (const char* level : {"READ COMMITTED", "REPEATABLE READ"}) {
    INFO(level);
    db.run(std::string{"BEGIN ISOLATION LEVEL "} + level);
    db.run("DECLARE c CURSOR FOR SELECT v FROM t ORDER BY id");
    CHECK(db.run("FETCH 2 FROM c") == "1 2 FETCH 2");
    TestSink sink;
    REQUIRE(db.session().parse("", "SELECT v FROM t ORDER BY id", {}, sink));
    REQUIRE(db.session().bind({"p", "", {}, {}, {}}, sink));
    REQUIRE(db.session().execute("p", 2, sink));
    // Commits of another session, and then the transaction's own changes.
    db.run(*other, "UPDATE t SET v = v + 100 WHERE id = 4");
    db.run(*other, "DELETE FROM t WHERE id = 5");
    db.run("SELECT count(*) FROM t");
    db.run("INSERT INTO t VALUES (7, 7)");
    db.run("DELETE FROM t WHERE id = 3");
    CHECK(db.run("FETCH ALL FROM c") == before + " FETCH 4");
    sink.clear();
    REQUIRE(db.session().execute("p", 3, sink));
    REQUIRE(db.session().execute("p", 0, sink));
    CHECK(sink.rows == std::vector<std::string>{"3", "4", "5", "6"});
    db.run("ROLLBACK");
    db.run(*other, "UPDATE t SET v = id");
    db.run(*other, "INSERT INTO t VALUES (5, 5)");
  }
}

TEST_CASE("Statements beside a cursor do not read it to its end", "[sql][session]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE SEQUENCE s; CREATE TABLE t(id int PRIMARY KEY, v int)");
  db.run("INSERT INTO t SELECT g, g FROM generate_series(1, 1000) g");
  for (const char* level : {"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}) {
    INFO(level);
    db.run("ALTER SEQUENCE s RESTART");
    db.run(std::string{"BEGIN ISOLATION LEVEL "} + level);
    db.run("DECLARE c CURSOR FOR SELECT v, nextval('s') > 0 FROM t ORDER BY id");
    CHECK(db.run("FETCH 1 FROM c") == "1|t FETCH 1");
    // Several snapshots of different moments at a time.
    for (int i = 0; i < 5; ++i) {
      const std::string name = "c" + std::to_string(i);
      db.run("DECLARE " + name + " CURSOR FOR SELECT count(*), sum(v) FROM t");
      CHECK(db.run("UPDATE t SET v = v + 1 WHERE id = 1000") == "UPDATE 1");
      db.run("SAVEPOINT x; DELETE FROM t WHERE id = 999; ROLLBACK TO x");
    }
    CHECK(db.run("SELECT last_value < 900 FROM s") == "t SELECT 1");
    for (int i = 4; i >= 0; --i) {
      CHECK(db.run("FETCH ALL FROM c" + std::to_string(i)) ==
            "1000|" + std::to_string(500'500 + i) + " FETCH 1");
    }
    if (std::string_view{level} != "SERIALIZABLE") {
      db.run(*other, "UPDATE t SET v = 0 WHERE id = 500");
    }
    CHECK(db.run("MOVE 498 FROM c") == "MOVE 498");
    CHECK(db.run("FETCH 1 FROM c") == "500|t FETCH 1");
    CHECK(db.run("MOVE 499 FROM c") == "MOVE 499");
    CHECK(db.run("FETCH ALL FROM c") == "1000|t FETCH 1");
    db.run("ROLLBACK");
    db.run(*other, "UPDATE t SET v = 500 WHERE id = 500");
  }
  CHECK(db.engine().snapshots().empty());
}

TEST_CASE("What cursors saw is let go with them", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY)");
  db.run("INSERT INTO t SELECT g FROM generate_series(1, 100) g");
  for (const char* end : {"COMMIT", "ROLLBACK"}) {
    INFO(end);
    db.run("BEGIN");
    db.run("DECLARE a CURSOR FOR SELECT id FROM t ORDER BY id");
    db.run("DECLARE b CURSOR WITH HOLD FOR SELECT id FROM t ORDER BY id");
    db.run("SAVEPOINT s; DECLARE d CURSOR FOR SELECT 1 / (id - 1) FROM t ORDER BY id");
    CHECK(db.run("FETCH d").starts_with("22012"));
    db.run("ROLLBACK TO s; CLOSE a");
    CHECK(db.run("FETCH 2 FROM b") == "1 2 FETCH 2");
    db.run("DELETE FROM t WHERE id = 100");
    db.run(end);
    CHECK(db.engine().snapshots().empty());
    CHECK(db.run("FETCH 1 FROM b") ==
          (std::string_view{end} == "COMMIT" ? "3 FETCH 1" : "34000 cursor \"b\" does not exist"));
    db.run("CLOSE ALL; INSERT INTO t VALUES (100) ON CONFLICT DO NOTHING");
  }
}

TEST_CASE("What a transaction changes in front of its cursors is not in them", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, v int, filler text); CREATE INDEX ON t(v)");
  db.run("CREATE TABLE other(id int PRIMARY KEY)");
  db.run("INSERT INTO t SELECT g * 2, g % 7, repeat('x', 100) FROM generate_series(1, 2000) g");
  db.run("INSERT INTO other SELECT g FROM generate_series(1, 5000) g");
  db.run("ANALYZE t; ANALYZE other");
  const std::string queries[] = {
      "SELECT id, v FROM t ORDER BY id",
      "SELECT id, v FROM t ORDER BY id DESC",
      "SELECT id, v FROM t WHERE v = 3 ORDER BY v, id",
      "SELECT t.id, t.v FROM t JOIN other USING (id) ORDER BY id",
      "SELECT v, count(*), sum(id) FROM t GROUP BY v ORDER BY v",
  };
  for (const char* level : {"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}) {
    INFO(level);
    db.run(std::string{"BEGIN ISOLATION LEVEL "} + level);
    std::vector<std::string> expected;
    for (const std::string& query : queries) {
      const std::string name = "c" + std::to_string(expected.size());
      expected.push_back(db.run(query));
      expected.back().resize(expected.back().rfind(" SELECT"));
      REQUIRE(db.run("DECLARE " + name + " CURSOR FOR " + query) == "DECLARE CURSOR");
      expected.back().erase(0, db.run("FETCH 1 FROM " + name).find("FETCH"));
    }
    db.run("UPDATE t SET v = v + 1 WHERE id % 3 = 0");
    db.run("DELETE FROM t WHERE id % 5 = 0");
    db.run("INSERT INTO t SELECT g * 2 + 1, 3, 'new' FROM generate_series(1, 2000) g");
    db.run("UPDATE t SET id = id + 10000 WHERE id % 11 = 0");
    db.run("SAVEPOINT s; DELETE FROM t; DELETE FROM other; ROLLBACK TO s");
    db.run("INSERT INTO t VALUES (100, 3, 'again') ON CONFLICT (id) DO UPDATE SET v = 100");
    for (std::size_t i = 0; i < expected.size(); ++i) {
      INFO(queries[i]);
      const std::string rows = db.run("FETCH ALL FROM c" + std::to_string(i));
      CHECK(rows.substr(0, rows.rfind(" FETCH")) == expected[i]);
    }
    db.run("ROLLBACK");
  }
}

TEST_CASE("A cursor over an empty table does not show what is loaded into it", "[sql][session]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY)");
  for (const char* level : {"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}) {
    INFO(level);
    db.run(std::string{"BEGIN ISOLATION LEVEL "} + level);
    db.run("DECLARE before CURSOR FOR SELECT id FROM t");
    CHECK(db.run("INSERT INTO t SELECT g FROM generate_series(1, 5000) g") == "INSERT 0 5000");
    db.run("DECLARE after CURSOR FOR SELECT id FROM t");
    CHECK(db.run("DELETE FROM t") == "DELETE 5000");
    CHECK(db.run("MOVE ALL FROM before") == "MOVE 0");
    CHECK(db.run("MOVE ALL FROM after") == "MOVE 5000");
    db.run("ROLLBACK");
    db.run(std::string{"BEGIN ISOLATION LEVEL "} + level);
    CHECK(db.run("WITH i AS (INSERT INTO t SELECT g FROM generate_series(1, 5000) g) "
                 "SELECT count(*) FROM t WHERE id > 0") == "0 SELECT 1");
    CHECK(db.run("SELECT count(*) FROM t WHERE id > 0") == "5000 SELECT 1");
    db.run("ROLLBACK");
  }
}
