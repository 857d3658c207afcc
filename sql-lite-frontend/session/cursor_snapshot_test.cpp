#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

// P36 at the level of a cursor: a statement of its own that goes on over many requests.
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
    // Another's commits, and then the transaction's own changes.
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
