#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

// Locks of a transaction after a failed statement: none, or those of its last savepoint.

TEST_CASE("A failed transaction holds nothing up", "[sql][session][locks]") {
  for (const char* level : {"READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"}) {
    INFO(level);
    TestDatabase db;
    db.run("CREATE TABLE t(id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1), (2, 2)");
    db.run("CREATE TABLE u(a int)");
    const auto other = db.connect();
    db.run(*other, "SET lock_timeout = 100");
    const std::string begin = std::string{"BEGIN ISOLATION LEVEL "} + level + "; ";
    // In one message, and in several.
    for (const char* error : {"; SELECT 1/0", ""}) {
      db.run(begin +
             "SELECT * FROM t; UPDATE t SET v = 3 WHERE id = 1; INSERT INTO t VALUES (7, 7); "
             "LOCK TABLE u; SELECT pg_advisory_xact_lock(1), pg_advisory_lock(2); "
             "CREATE TABLE w(a int); DECLARE c CURSOR FOR SELECT * FROM t" +
             error);
      if (*error == '\0') CHECK(db.run("SELECT 1/0").starts_with("22012"));
      CHECK(db.session().transaction_status() == TransactionStatus::failed);
      CHECK(db.run(*other, "UPDATE t SET v = v + 10 WHERE id = 1 RETURNING v") ==
            (*error == '\0' ? "21 UPDATE 1" : "11 UPDATE 1"));
      CHECK(db.run(*other, "INSERT INTO t VALUES (7, 8); DELETE FROM t WHERE id = 7") ==
            "INSERT 0 1 DELETE 1");
      CHECK(db.run(*other, "SELECT count(*) FROM u") == "0 SELECT 1");
      CHECK(db.run(*other, "CREATE TABLE w(a int); DROP TABLE w") == "CREATE TABLE DROP TABLE");
      CHECK(db.run(*other,
                   "SELECT pg_try_advisory_lock(1), pg_advisory_unlock(1), "
                   "pg_try_advisory_lock(2)") == "t|t|f SELECT 1");
      CHECK(db.run(*other, "SELECT count(*) FROM pg_locks WHERE pid = 1") == "1 SELECT 1");
      CHECK(db.run("SELECT 1").starts_with("25P02"));
      CHECK(db.run("ROLLBACK TO s").starts_with("3B001"));
      CHECK(db.run("COMMIT") == "ROLLBACK");
      CHECK(db.run("SELECT count(*), pg_advisory_unlock(2) FROM t") == "2|t SELECT 1");
    }
  }
}

TEST_CASE("A failed transaction has what it had at its last savepoint", "[sql][session][locks]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)");
  db.run("CREATE TABLE u(a int); CREATE TABLE w(a int)");
  const auto other = db.connect();
  db.run(*other, "SET lock_timeout = 100");
  db.run("BEGIN; UPDATE t SET v = 10 WHERE id = 1; LOCK TABLE u; SELECT pg_advisory_xact_lock(1)");
  db.run("SAVEPOINT a; UPDATE t SET v = 20 WHERE id = 2; SELECT pg_advisory_xact_lock(2)");
  db.run(
      "SAVEPOINT b; UPDATE t SET v = 30 WHERE id = 3; LOCK TABLE w; "
      "SELECT pg_advisory_xact_lock(3), pg_advisory_xact_lock(2)");
  CHECK(db.run("SELECT 1/0").starts_with("22012"));
  const auto update = [&](int row) {
    const std::string answer =
        db.run(*other, "UPDATE t SET v = v WHERE id = " + std::to_string(row));
    return answer.substr(0, 5);
  };
  const auto try_lock = [&](int key) {
    const std::string number = std::to_string(key);
    return db.run(*other, "SELECT pg_try_advisory_xact_lock(" + number + ")");
  };
  CHECK(update(3) == "UPDAT");
  CHECK(update(2) == "55P03");
  CHECK(db.run(*other, "SELECT * FROM w") == "SELECT 0");
  CHECK(db.run(*other, "SELECT * FROM u").starts_with("55P03"));
  CHECK(try_lock(3) == "t SELECT 1");
  CHECK(try_lock(2) == "f SELECT 1");
  CHECK(db.run("ROLLBACK TO a") == "ROLLBACK");
  CHECK(update(2) == "UPDAT");
  CHECK(update(1) == "55P03");
  CHECK(try_lock(2) == "t SELECT 1");
  CHECK(try_lock(1) == "f SELECT 1");
  CHECK(db.run("UPDATE t SET v = 21 WHERE id = 2; COMMIT") == "UPDATE 1 COMMIT");
  CHECK(try_lock(1) == "t SELECT 1");
  CHECK(db.run(*other, "SELECT v FROM t ORDER BY id") == "10 21 3 SELECT 3");
}
