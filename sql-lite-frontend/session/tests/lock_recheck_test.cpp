#include <chrono>
#include <string>

#include "sql-lite-frontend/session/tests/beside.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

/// A row that is changed and committed while a query waits for it.
struct Meeting {
  const char* change;
  const char* query;
  const char* answer;
};

// PostgreSQL 15's answers.
constexpr Meeting kMeetings[] = {
    {"UPDATE la SET b = 3 WHERE id = 1",
     "SELECT la.id, la.b, lb.x FROM la JOIN lb ON la.b = lb.id ORDER BY 1 FOR UPDATE",
     "2|2|20 SELECT 1"},
    {"UPDATE la SET b = 3 WHERE id = 1",
     "SELECT la.id, la.b, lb.x FROM la JOIN lb ON la.b = lb.id AND lb.x < 100 ORDER BY 1 "
     "FOR UPDATE OF la",
     "2|2|20 SELECT 1"},
    {"UPDATE la SET b = 1, n = 'c' WHERE id = 1",
     "SELECT la.id, la.n, lb.x FROM la JOIN lb ON la.b = lb.id ORDER BY 1 FOR UPDATE",
     "1|c|10 2|b|20 SELECT 2"},
    {"UPDATE lb SET id = 9 WHERE id = 1",
     "SELECT la.id, la.b, lb.x FROM la JOIN lb ON la.b = lb.id ORDER BY 1 FOR UPDATE",
     "2|2|20 SELECT 1"},
    {"UPDATE la SET b = 3 WHERE id = 1",
     "SELECT la.id, la.b, lb.x FROM la LEFT JOIN lb ON la.b = lb.id ORDER BY 1 FOR UPDATE OF la",
     "1|3|NULL 2|2|20 SELECT 2"},
    {"UPDATE la SET n = 'q' WHERE id = 1",
     "SELECT la.id, la.n, lb.x FROM la LEFT JOIN lb ON la.b = lb.id ORDER BY 1 FOR UPDATE OF la",
     "1|q|10 2|b|20 SELECT 2"},
    {"UPDATE la SET b = 3 WHERE id = 1",
     "SELECT la.id, la.b, lb.x FROM lb RIGHT JOIN la ON la.b = lb.id ORDER BY 1 FOR UPDATE OF la",
     "1|3|NULL 2|2|20 SELECT 2"},
    {"UPDATE la SET b = 3 WHERE id = 1",
     "SELECT id, b, x FROM la JOIN lb USING (id) ORDER BY 1 FOR UPDATE", "1|3|10 2|2|20 SELECT 2"},
    {"UPDATE la SET b = 3 WHERE id = 1", "SELECT * FROM vj ORDER BY 1 FOR UPDATE",
     "2|2|20|20 SELECT 1"},
    {"UPDATE la SET n = 'zz' WHERE id = 1", "SELECT * FROM vj ORDER BY 1 FOR UPDATE",
     "1|1|10|10 2|2|20|20 SELECT 2"},
    {"UPDATE la SET b = 0 WHERE id = 1", "SELECT * FROM vs ORDER BY 1 FOR UPDATE",
     "2|3|b SELECT 1"},
    {"UPDATE la SET b = 5 WHERE id = 1", "SELECT * FROM vs ORDER BY 1 FOR UPDATE",
     "1|6|a 2|3|b SELECT 2"},
    {"UPDATE la SET b = 5 WHERE id = 1", "SELECT * FROM vv ORDER BY 1 FOR UPDATE",
     "1|12 2|6 SELECT 2"},
    {"UPDATE la SET b = 99 WHERE id = 1", "SELECT * FROM vv ORDER BY 1 FOR UPDATE", "2|6 SELECT 1"},
    {"UPDATE la SET b = 5 WHERE id = 1", "SELECT * FROM vv WHERE b2 < 6 ORDER BY 1 FOR UPDATE",
     "SELECT 0"},
    {"UPDATE la SET b = 5 WHERE id = 1", "SELECT * FROM vv WHERE id = 2 FOR UPDATE",
     "2|6 SELECT 1"},
    {"UPDATE la SET b = 5 WHERE id = 1",
     "SELECT * FROM (SELECT id, b FROM la WHERE b < 5) s ORDER BY 1 FOR UPDATE", "2|2 SELECT 1"},
    {"UPDATE la SET b = 5 WHERE id = 1",
     "SELECT * FROM (SELECT id, b FROM la WHERE b < 5 LIMIT 2) s ORDER BY 1 FOR UPDATE",
     "2|2 SELECT 1"},
    {"UPDATE la SET b = 5 WHERE id = 1",
     "SELECT s.id, s.bb, lb.x FROM (SELECT id, b + 0 AS bb FROM la) s JOIN lb ON lb.id = s.bb "
     "ORDER BY 1 FOR UPDATE OF s",
     "2|2|20 SELECT 1"},
    {"UPDATE la SET b = 3 WHERE id = 1",
     "SELECT s.id, s.bb, lb.x FROM (SELECT id, b + 0 AS bb FROM la) s JOIN lb ON lb.id = s.bb "
     "ORDER BY 1 FOR UPDATE OF s SKIP LOCKED",
     "2|2|20 SELECT 1"},
    {"UPDATE la SET b = 3 WHERE id = 1", "SELECT * FROM vj FOR UPDATE NOWAIT",
     "55P03 could not obtain lock on row in relation \"la\""},
    {"UPDATE la SET b = 3 WHERE id = 1", "SELECT * FROM vl FOR UPDATE",
     "0A000 FOR UPDATE cannot be applied to the nullable side of an outer join"},
    {"UPDATE la SET b = 3 WHERE id = 1", "SELECT * FROM (SELECT DISTINCT b FROM la) s FOR UPDATE",
     "0A000 FOR UPDATE is not allowed with DISTINCT clause"},
    {"UPDATE la SET b = 3 WHERE id = 1",
     "SELECT * FROM (SELECT b FROM la UNION SELECT 1) s FOR UPDATE",
     "0A000 FOR UPDATE is not allowed with UNION/INTERSECT/EXCEPT"},
    {"UPDATE la SET b = 3 WHERE id = 1", "SELECT * FROM (SELECT count(*) FROM la) s FOR UPDATE",
     "0A000 FOR UPDATE is not allowed with aggregate functions"},
    {"UPDATE la SET b = 3 WHERE id = 1", "SELECT * FROM (VALUES (1)) s FOR UPDATE", "1 SELECT 1"},
    {"UPDATE la SET b = 3 WHERE id = 1",
     "SELECT * FROM la, generate_series(1, 1) g FOR UPDATE OF g",
     "0A000 FOR UPDATE cannot be applied to a function"},
    {"UPDATE la SET b = 3 WHERE id = 1", "WITH w AS (SELECT 1) SELECT * FROM la, w FOR UPDATE OF w",
     "0A000 FOR UPDATE cannot be applied to a WITH query"},
    {"UPDATE la SET b = 3 WHERE id = 2",
     "WITH w AS (SELECT * FROM la) SELECT * FROM w ORDER BY 1 FOR UPDATE", "1|1|a 2|2|b SELECT 2"},
};

}  // namespace

TEST_CASE("What is locked is asked again: joins, views, subqueries", "[sql][session][locks]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE la(id int PRIMARY KEY, b int, n text)");
  db.run("CREATE TABLE lb(id int PRIMARY KEY, x int, n text)");
  db.run(
      "CREATE VIEW vj AS SELECT la.id, la.b, lb.x, la.b * 10 AS ten FROM la JOIN lb ON la.b = "
      "lb.id");
  db.run("CREATE VIEW vs AS SELECT id, b + 1 AS b1, n FROM la WHERE b > 0");
  db.run("CREATE VIEW vv AS SELECT id, b1 * 2 AS b2 FROM vs WHERE b1 < 100");
  db.run("CREATE VIEW vl AS SELECT la.id, la.b, lb.x FROM la LEFT JOIN lb ON lb.id = la.b");
  for (const char* join : {"enable_hashjoin", "enable_nestloop"}) {
    for (const Meeting& meeting : kMeetings) {
      INFO(meeting.change << "; " << meeting.query << "; without " << join);
      db.run("TRUNCATE la, lb");
      db.run("INSERT INTO la VALUES (1, 1, 'a'), (2, 2, 'b')");
      db.run("INSERT INTO lb VALUES (1, 10, 'x'), (2, 20, 'y'), (3, 30, 'z')");
      db.run(*other, std::string{"SET "} + join + " = off");
      db.run("BEGIN");
      REQUIRE(db.run(meeting.change) == "UPDATE 1");
      CHECK(answer_beside(db, *other, meeting.query) == meeting.answer);
      db.run(*other, "RESET ALL");
    }
  }
}

TEST_CASE("A DELETE of many rows asks those again that others have changed",
          "[sql][session][locks]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int PRIMARY KEY, a int, n text); CREATE INDEX ON t(a)");
  db.run("INSERT INTO t SELECT g, 1, 'n' FROM generate_series(1, 300) g");
  db.run("BEGIN; UPDATE t SET a = 9 WHERE id = 100; UPDATE t SET n = 'o' WHERE id = 150");
  db.run("DELETE FROM t WHERE id = 200; UPDATE t SET id = 1250 WHERE id = 250");
  CHECK(answer_beside(db, *other, "DELETE FROM t WHERE a < 5") == "DELETE 298");
  CHECK(db.run("SELECT id FROM t") == "100 SELECT 1");
  db.run("SET enable_seqscan = off");
  CHECK(db.run("SELECT id FROM t WHERE a > 0") == "100 SELECT 1");
}

TEST_CASE("Two that change one publication at once lose neither change", "[sql][session][locks]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t (a int); CREATE TABLE u (a int); CREATE PUBLICATION p");
  REQUIRE(db.run("BEGIN; ALTER PUBLICATION p ADD TABLE t") == "BEGIN ALTER PUBLICATION");
  CHECK(answer_beside(db, *other, "ALTER PUBLICATION p ADD TABLE u") == "ALTER PUBLICATION");
  CHECK(db.run("SELECT tablename FROM pg_publication_tables ORDER BY 1") == "t u SELECT 2");
}

TEST_CASE("What was prepared for a table that is dropped meanwhile can be run again",
          "[sql][session][locks]") {
  for (const char* next : {"CREATE TABLE t (a int PRIMARY KEY, b text)", "SELECT 1"}) {
    TestDatabase db;
    const auto other = db.connect();
    for (const char* call : {"EXECUTE q", "EXECUTE w(1)", "SELECT f()", "SELECT g()", "CALL h()",
                             "FETCH ALL FROM k", "SELECT * FROM v", "INSERT INTO x VALUES (1)"}) {
      INFO(call << " beside DROP TABLE t; " << next);
      db.run("DROP TABLE IF EXISTS t CASCADE");
      db.run("DROP TABLE IF EXISTS x CASCADE");
      REQUIRE(db.run("CREATE TABLE t (a int); CREATE TABLE x (a int); CREATE VIEW v AS TABLE x") ==
              "CREATE TABLE CREATE TABLE CREATE VIEW");
      db.run(
          "CREATE OR REPLACE FUNCTION f() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM t';"
          "CREATE OR REPLACE FUNCTION g() RETURNS bigint LANGUAGE plpgsql AS "
          "'BEGIN INSERT INTO t VALUES (1); RETURN (SELECT count(*) FROM t); END';"
          "CREATE OR REPLACE PROCEDURE h() LANGUAGE plpgsql AS 'BEGIN DELETE FROM t; END';"
          "CREATE OR REPLACE FUNCTION i() RETURNS trigger LANGUAGE plpgsql AS "
          "'BEGIN INSERT INTO t VALUES (NEW.a); RETURN NEW; END';"
          "CREATE TRIGGER i BEFORE INSERT ON x FOR EACH ROW EXECUTE FUNCTION i()");
      db.run(*other, "DEALLOCATE ALL");
      db.run(*other, "PREPARE q AS SELECT a FROM t");
      db.run(*other, "PREPARE w(int) AS INSERT INTO t VALUES ($1)");
      for (const char* known :
           {"EXECUTE q", "EXECUTE w(1)", "SELECT f()", "SELECT g()", "CALL h()"})
        db.run(*other, known);
      db.run("BEGIN; DROP TABLE t");
      db.run(next);
      CHECK_FALSE(answer_beside(db, *other, call).starts_with("XX000"));
      for (int again = 0; again < 2; ++again) {
        for (const char* same : {call, "EXECUTE q", "EXECUTE w(1)",
                                 "SELECT count(*) FROM pg_prepared_statements", "SELECT f()"})
          CHECK_FALSE(db.run(*other, same).starts_with("XX000"));
      }
    }
  }
}

TEST_CASE("Rows that views and subqueries pass on are locked, and no others",
          "[sql][session][locks]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int PRIMARY KEY, b int)");
  db.run("INSERT INTO t SELECT g, g FROM generate_series(1, 5) g");
  db.run("CREATE VIEW v AS SELECT id AS number, b + 1 AS more FROM t");
  db.run("CREATE VIEW w AS SELECT * FROM v WHERE more > 1");
  const auto free_rows = [&] {
    return db.run(*other, "SELECT id FROM t ORDER BY id FOR UPDATE SKIP LOCKED");
  };
  const std::pair<const char*, const char*> kCases[] = {
      {"SELECT * FROM v WHERE number = 2 FOR UPDATE", "1 3 4 5 SELECT 4"},
      {"SELECT * FROM w WHERE more > 4 FOR UPDATE", "1 2 3 SELECT 3"},
      {"SELECT * FROM (SELECT * FROM t WHERE id < 3) s FOR SHARE", "3 4 5 SELECT 3"},
      {"SELECT * FROM (SELECT * FROM t ORDER BY id LIMIT 2) s FOR UPDATE", "3 4 5 SELECT 3"},
      {"SELECT * FROM t a, v WHERE a.id = 1 AND v.number = 2 FOR UPDATE OF v", "1 3 4 5 SELECT 4"},
      {"SELECT * FROM t a, v WHERE a.id = 1 AND v.number = 2 FOR UPDATE OF a", "2 3 4 5 SELECT 4"},
      {"SELECT * FROM (SELECT id FROM t WHERE id = 1 UNION ALL SELECT 2) s", "1 2 3 4 5 SELECT 5"}};
  for (const auto& [query, free] : kCases) {
    INFO(query);
    db.run("BEGIN");
    db.run(query);
    CHECK(free_rows() == free);
    db.run("ROLLBACK");
  }
}

TEST_CASE("Locking through a view takes the right to update it", "[sql][session][locks]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int); CREATE VIEW v AS SELECT * FROM t");
  db.run("CREATE ROLE reader; GRANT SELECT ON v TO reader");
  db.run("SET ROLE reader");
  CHECK(db.run("SELECT * FROM v") == "SELECT 0");
  CHECK(db.run("SELECT * FROM v FOR UPDATE") == "42501 permission denied for view v");
  db.run("RESET ROLE; GRANT UPDATE ON v TO reader; SET ROLE reader");
  CHECK(db.run("SELECT * FROM v FOR UPDATE") == "SELECT 0");
}

TEST_CASE("At SERIALIZABLE, too, NOWAIT does not wait and SKIP LOCKED skips",
          "[sql][session][locks]") {
  TestDatabase db;
  const auto other = db.connect();
  db.run("CREATE TABLE t(id int PRIMARY KEY, code int UNIQUE, b int)");
  db.run("CREATE INDEX ON t(b)");
  db.run("INSERT INTO t SELECT g, g * 10, g * 100 FROM generate_series(1, 20) g");
  db.run("ANALYZE t");
  const std::string method = GENERATE("snapshot", "locking");
  db.run(*other, "SET lock_timeout = '20s'");
  const auto ask = [&](const std::string& query) {
    db.run(*other, "SET serializable_method = " + method);
    db.run(*other, "BEGIN ISOLATION LEVEL SERIALIZABLE");
    const auto began = std::chrono::steady_clock::now();
    std::string answer = db.run(*other, query);
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{10});
    db.run(*other, "ROLLBACK");
    return answer;
  };
  for (const char* change :
       {"UPDATE t SET b = 0 WHERE id = 3", "UPDATE t SET code = 0 WHERE id = 3",
        "DELETE FROM t WHERE id = 3", "SELECT FROM t WHERE id = 3 FOR UPDATE"}) {
    for (const char* access : {"enable_seqscan", "enable_indexscan"}) {
      INFO(change << ", without " << access);
      db.run(*other, std::string{"SET "} + access + " = off");
      db.run("BEGIN");
      db.run(change);
      const char* kRefused = "55P03 could not obtain lock on row in relation \"t\"";
      CHECK(ask("SELECT id FROM t WHERE id = 3 FOR UPDATE NOWAIT") == kRefused);
      CHECK(ask("SELECT id FROM t WHERE id IN (2, 3, 4) ORDER BY id FOR UPDATE NOWAIT") ==
            kRefused);
      CHECK(ask("SELECT id FROM t WHERE id = 3 FOR UPDATE SKIP LOCKED") == "SELECT 0");
      CHECK(ask("SELECT id FROM t WHERE id IN (2, 3, 4) ORDER BY id FOR UPDATE SKIP LOCKED") ==
            "2 4 SELECT 2");
      CHECK(ask("SELECT id FROM t WHERE b < 500 ORDER BY id FOR SHARE SKIP LOCKED") ==
            "1 2 4 SELECT 3");
      CHECK(ask("SELECT id FROM t ORDER BY id LIMIT 4 FOR UPDATE SKIP LOCKED") ==
            "1 2 4 5 SELECT 4");
      CHECK(ask("SELECT id FROM t WHERE id = 2 FOR UPDATE NOWAIT") == "2 SELECT 1");
      db.run("ROLLBACK");
      db.run(*other, "RESET ALL");
      db.run(*other, "SET lock_timeout = '20s'");
    }
  }
}

TEST_CASE("A SERIALIZABLE insert into a table without rows or key keeps nobody out",
          "[sql][session][locks]") {
  TestDatabase db;
  auto other = db.connect();
  db.run(*other, "SET lock_timeout = '50ms'");
  db.run("CREATE TABLE t(a int)");
  db.run("BEGIN ISOLATION LEVEL SERIALIZABLE");
  CHECK(db.run("INSERT INTO t VALUES (1)") == "INSERT 0 1");
  CHECK(db.run(*other, "INSERT INTO t VALUES (2)") == "INSERT 0 1");
  db.run(*other, "BEGIN ISOLATION LEVEL SERIALIZABLE");
  CHECK(db.run(*other, "INSERT INTO t VALUES (3)") == "INSERT 0 1");
  CHECK(db.run(*other, "COMMIT") == "COMMIT");
  CHECK(db.run("COMMIT") == "COMMIT");
  CHECK(db.run("SELECT a FROM t ORDER BY a") == "1 2 3 SELECT 3");
  // Numbers of rows continue after a restart.
  other.reset();
  db.close();
  db.open();
  db.run("BEGIN ISOLATION LEVEL SERIALIZABLE");
  CHECK(db.run("INSERT INTO t VALUES (4)") == "INSERT 0 1");
  const auto third = db.connect();
  db.run(*third, "SET lock_timeout = '50ms'");
  CHECK(db.run(*third, "INSERT INTO t VALUES (5)") == "INSERT 0 1");
  CHECK(db.run("COMMIT") == "COMMIT");
  CHECK(db.run("SELECT a FROM t ORDER BY a") == "1 2 3 4 5 SELECT 5");
}

// The snapshot has never shown the row under that key; the action's own statement has.
TEST_CASE("At REPEATABLE READ an action fails for a row that leaves the key it has come to since",
          "[sql][session][locks][foreign_keys]") {
  TestDatabase db;
  const auto other = db.connect();
  for (const char* rule :
       {"", "ON DELETE CASCADE", "ON DELETE SET NULL", "ON DELETE SET DEFAULT"}) {
    for (const bool is_indexed : {false, true}) {
      INFO(rule << (is_indexed ? ", by index" : ""));
      db.run("CREATE TABLE p(id int PRIMARY KEY); INSERT INTO p VALUES (1), (4)");
      db.run("CREATE TABLE c(id int PRIMARY KEY, p int DEFAULT 1 REFERENCES p " +
             std::string{rule} + "); INSERT INTO c VALUES (4, 4)");
      if (is_indexed) db.run("CREATE INDEX ON c(p)");
      db.run(*other, "BEGIN ISOLATION LEVEL REPEATABLE READ");
      REQUIRE(db.run(*other, "SELECT id FROM c") == "4 SELECT 1");
      REQUIRE(db.run("UPDATE c SET id = 7") == "UPDATE 1");
      db.run("BEGIN");
      REQUIRE(db.run("UPDATE c SET id = 10") == "UPDATE 1");
      const std::string answer = answer_beside(db, *other, "DELETE FROM p WHERE id = 4");
      CHECK((answer.starts_with("40001") || answer.starts_with("23503")));
      db.run(*other, "COMMIT");
      CHECK(db.run("SELECT c.p, p.id FROM c LEFT JOIN p ON p.id = c.p") == "4|4 SELECT 1");
      db.run("DROP TABLE c, p");
    }
  }
}

// Otherwise the snapshot's index entries would lead from the old row's values to the new row.
TEST_CASE("At REPEATABLE READ nobody writes over a row that others have removed since",
          "[sql][session][locks]") {
  TestDatabase db;
  const auto other = db.connect();
  for (const char* write :
       {"UPDATE p SET id = 4 WHERE id = 2", "INSERT INTO p VALUES (4, 9)",
        "INSERT INTO p VALUES (9, 4)", "INSERT INTO p VALUES (4, 9) ON CONFLICT DO NOTHING",
        "INSERT INTO p VALUES (9, 4) ON CONFLICT (u) DO UPDATE SET u = 7"}) {
    INFO(write);
    db.run("CREATE TABLE p(id int PRIMARY KEY, u int UNIQUE); INSERT INTO p VALUES (2, 2), (4, 4)");
    for (const char* level : {"READ COMMITTED", "REPEATABLE READ"}) {
      INFO(level);
      const bool is_late = level == std::string{"REPEATABLE READ"};
      db.run(*other, std::string{"BEGIN ISOLATION LEVEL "} + level);
      REQUIRE(db.run(*other, "SELECT count(*) FROM p") == "2 SELECT 1");
      REQUIRE(db.run("DELETE FROM p WHERE id = 4") == "DELETE 1");
      const std::string answer = db.run(*other, write);
      CHECK((answer == "40001 could not serialize access due to concurrent delete") == is_late);
      CHECK(db.run(*other, "ROLLBACK") == "ROLLBACK");
      REQUIRE(db.run("INSERT INTO p VALUES (4, 4)") == "INSERT 0 1");
    }
    // A row that was inserted and removed after the snapshot is not visible to it.
    db.run(*other, "BEGIN ISOLATION LEVEL REPEATABLE READ");
    REQUIRE(db.run(*other, "SELECT count(*) FROM p") == "2 SELECT 1");
    db.run("INSERT INTO p VALUES (8, 8); DELETE FROM p WHERE id = 8");
    CHECK(db.run(*other, "INSERT INTO p VALUES (8, 8)") == "INSERT 0 1");
    CHECK(db.run(*other, "DELETE FROM p WHERE id = 4") == "DELETE 1");
    CHECK(db.run(*other, "INSERT INTO p VALUES (4, 4)") == "INSERT 0 1");
    CHECK(db.run(*other, "COMMIT") == "COMMIT");
    db.run("DROP TABLE p");
  }
}
