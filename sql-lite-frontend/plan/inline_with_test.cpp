#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "base/random.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

using Catch::Contains;

/// Draws statements with WITH queries `a` and `b`, which each reader may name or not. All relations
/// have the columns k and v.
class WithStatements {
 public:
  WithStatements(Random& random, std::string as) : random_(random), as_(std::move(as)) {}

  std::string statement() {
    // One after the other, since each consumes random numbers.
    const std::string a = body(pick({"few", "mid", "some_rows"}), "few");
    const std::string b = body(pick({"a", "mid", "some_rows"}), pick({"few", "a", "mid"}));
    const std::string with = fmt::format("WITH a AS{} ({}), b AS{} ({}) ", as_, a, as_, b);
    switch (random_.below(5)) {
      case 0:
        // Which of several partners a row takes is open.
        return with + fmt::format(
                          "UPDATE target SET v = x.v FROM (SELECT k, max(v) AS v FROM {} r "
                          "GROUP BY k) x WHERE target.k = x.k AND {}",
                          reader(), condition());
      case 1:
        return with + fmt::format("DELETE FROM target x WHERE {}", condition());
      case 2:
        return with + fmt::format("INSERT INTO target SELECT x.k, x.v FROM {} x WHERE {}", reader(),
                                  condition());
      default:
        break;
    }
    const std::string join = pick({", ", " JOIN ", " LEFT JOIN "});
    std::string from = fmt::format("{} x{}{} y", reader(), join, reader());
    if (join != ", ") from += " ON " + pick({"x.k = y.k", "x.k = y.v", "y.v > 1"});
    return with +
           fmt::format("SELECT x.k, x.v, y.k, {} FROM {} WHERE {}", value(), from, condition());
  }

 private:
  std::string body(const std::string& left, const std::string& right) {
    const std::string from = fmt::format("FROM {} l JOIN {} r ON l.k = r.k", left, right);
    switch (random_.below(6)) {
      case 0:
        return fmt::format("SELECT l.k, l.v FROM {} l WHERE l.k > 1", left);
      case 1:
        return fmt::format("SELECT l.k, l.v + r.v AS v {}", from);
      case 2:
        return fmt::format("SELECT l.k, max(r.v) AS v {} GROUP BY l.k", from);
      case 3:
        return fmt::format("SELECT DISTINCT r.k, l.v {}", from);
      case 4:
        return fmt::format("SELECT l.k, l.v FROM {} l UNION ALL SELECT r.v, r.k FROM {} r", left,
                           right);
      default:
        return fmt::format("SELECT l.k, l.v FROM {} l ORDER BY k, v LIMIT 3", left);
    }
  }

  std::string reader() {
    switch (random_.below(6)) {
      case 0:
        return "(SELECT k, v FROM a WHERE v IS NOT NULL)";
      case 1:
        return "(SELECT b.k, few.v FROM b LEFT JOIN few ON few.k = b.k)";
      case 2:
        return fmt::format("(WITH c AS{} (SELECT k, v FROM b) SELECT k, v FROM c)", as_);
      default:
        return pick({"a", "b", "few"});
    }
  }

  /// `{}` is AS MATERIALIZED, or nothing; the condition reads a relation x.
  std::string condition() {
    constexpr const char* kReadsTwo =
        "(WITH c AS{} (SELECT * FROM b), d AS{} (SELECT * FROM c WHERE v > x.k) "
        "SELECT count(*) FROM d) > 0";
    const std::string text = pick(
        {"x.k > 1", "x.v IS NOT NULL", "x.k IN (SELECT k FROM b)", "x.k NOT IN (SELECT v FROM a)",
         "EXISTS (SELECT FROM b WHERE b.k = x.k)", "NOT EXISTS (SELECT FROM a WHERE a.k > x.k)",
         "x.k > (SELECT count(*) FROM a)", "x.v = (SELECT max(v) FROM b WHERE b.k <= x.k)",
         "EXISTS (WITH c AS{} (SELECT * FROM mid WHERE mid.k >= x.k) SELECT FROM c WHERE c.v > 1)",
         "(WITH c AS{} (SELECT * FROM mid) SELECT count(*) FROM c WHERE c.k = x.k) = 1",
         kReadsTwo});
    return fmt::format(fmt::runtime(text), as_, as_);
  }

  std::string value() {
    constexpr const char* kLateral =
        "(SELECT m FROM (VALUES (1)) o, LATERAL (SELECT max(b.v) AS m FROM b WHERE b.k = x.k) l)";
    return pick({"x.v", "y.v", "(SELECT count(*) FROM b WHERE b.k < x.k)", kLateral,
                 "ARRAY(SELECT k FROM a ORDER BY k)"});
  }

  std::string pick(std::initializer_list<const char*> texts) {
    return texts.begin()[random_.below(texts.size())];
  }

  Random& random_;
  std::string as_;
};

void fill(TestDatabase& db) {
  db.run("CREATE TABLE few(k int, v int); CREATE TABLE mid(k int primary key, v int)");
  db.run("CREATE TABLE some_rows(k int, v int); CREATE INDEX ON some_rows(k)");
  db.run("CREATE TABLE target(k int, v int)");
  db.run("INSERT INTO few VALUES (1, 2), (2, NULL), (2, 3), (NULL, 1)");
  db.run("INSERT INTO mid SELECT i, NULLIF(i % 4, 0) FROM generate_series(1, 6) i");
  db.run(
      "INSERT INTO some_rows SELECT NULLIF(i % 4, 0), NULLIF(i % 3, 1) FROM "
      "generate_series(1, 7) i");
  db.run("INSERT INTO target SELECT i, 0 FROM generate_series(1, 6) i; ANALYZE");
}

}  // namespace

TEST_CASE("A WITH query answers the same whether its rows are kept or not", "[sql][plan]") {
  TestDatabase db;
  fill(db);
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    std::vector<std::string> answers[2];
    std::string statements[2];
    for (const int keeps : {0, 1}) {
      Random random{seed};
      WithStatements draw{random, keeps != 0 ? " MATERIALIZED" : ""};
      statements[keeps] = draw.statement();
      db.run("BEGIN");
      if (statements[keeps].contains(" target")) {
        answers[keeps].push_back(db.run(statements[keeps]));
        for (std::string& row : db.sorted_rows("SELECT * FROM target")) {
          answers[keeps].push_back(std::move(row));
        }
      } else {
        answers[keeps] = db.sorted_rows(statements[keeps]);
      }
      db.run("ROLLBACK");
    }
    INFO("seed " << seed << ": " << statements[0] << "\n" << db.explain(statements[0]));
    CHECK(answers[0] == answers[1]);
  }
}

TEST_CASE("A WITH query that is read once is a part of its reader", "[sql][plan]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int primary key, b int); CREATE TABLE u(id int primary key, t int)");
  db.run("INSERT INTO t SELECT i, i FROM generate_series(1, 5000) i");
  db.run("INSERT INTO u SELECT i, i FROM generate_series(1, 50) i; ANALYZE");
  for (const std::string query :
       {"WITH c AS (SELECT * FROM t) SELECT b FROM c WHERE id = 7",
        "WITH c AS NOT MATERIALIZED (SELECT * FROM t) SELECT b FROM c WHERE id = 7",
        "WITH c(x, y) AS (SELECT id, b FROM t) SELECT y FROM c AS d(p, y) WHERE p = 7",
        "WITH c AS (SELECT * FROM t), d AS (SELECT * FROM c WHERE b > 1) SELECT b FROM d "
        "WHERE id = 7",
        "WITH c AS (SELECT id, sum(b) AS b FROM t GROUP BY id) SELECT b FROM c WHERE id = 7",
        "WITH c AS (SELECT * FROM t) SELECT c.b FROM u JOIN c ON c.id = u.t WHERE u.id = 7",
        "WITH c AS (SELECT * FROM t) SELECT c.b FROM u LEFT JOIN c ON c.id = u.t WHERE u.id = 7",
        "SELECT (WITH c AS (SELECT * FROM t) SELECT b FROM c WHERE c.id = u.t) FROM u "
        "WHERE id = 7",
        "WITH one AS (SELECT * FROM u WHERE id = 7) SELECT b FROM t "
        "WHERE id IN (SELECT t FROM one)"}) {
    INFO(query << "\n" << db.explain(query));
    CHECK_THAT(db.explain(query), Contains("using t_pkey"));
    CHECK_THAT(db.explain(query), !Contains("CTE"));
    CHECK(db.rows(query) == std::vector<std::string>{"7"});
  }
}

TEST_CASE("The rows of other WITH queries are kept", "[sql][plan]") {
  TestDatabase db;
  db.run("CREATE TABLE t(id int primary key, b int); CREATE SEQUENCE asked");
  db.run("INSERT INTO t SELECT i, i FROM generate_series(1, 500) i; ANALYZE");
  constexpr const char* kOfEachRow =
      "WITH c AS (SELECT id, sum(b) AS b FROM t GROUP BY id) "
      "SELECT (SELECT b FROM c WHERE c.id <= t.id AND c.id = 7) FROM t WHERE id = 9";
  for (const std::string query :
       {"WITH c AS MATERIALIZED (SELECT * FROM t) SELECT b FROM c WHERE id = 7",
        "WITH c AS (SELECT * FROM t) SELECT c.b FROM c JOIN c d ON c.id = d.id WHERE c.id = 7",
        "WITH c AS (SELECT *, random() AS r FROM t) SELECT b FROM c WHERE id = 7",
        "WITH c AS (SELECT * FROM t WHERE (SELECT random()) >= 0) SELECT b FROM c WHERE id = 7",
        "WITH c AS (SELECT * FROM t FOR UPDATE) SELECT b FROM c WHERE id = 7",
        // The locks are not for the rows of a WITH query.
        "WITH c AS (SELECT * FROM t) SELECT b FROM (SELECT * FROM c) s WHERE id = 7 FOR UPDATE",
        // Its rows would be computed again for each row of the table.
        kOfEachRow}) {
    INFO(query);
    CHECK_THAT(db.explain(query), Contains("CTE Scan on c"));
    CHECK(db.rows(query) == std::vector<std::string>{"7"});
  }
  db.run("WITH c AS (SELECT nextval('asked') AS n FROM t) SELECT n FROM c WHERE n = 7");
  CHECK(db.rows("SELECT last_value FROM asked") == std::vector<std::string>{"500"});
}
