#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "base/random.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

using Catch::Contains;

/// Draws FROM clauses of tables, joins and subqueries within each other. Each relation has the
/// columns k and v.
class FromClauses {
 public:
  FromClauses(Random& random, std::string fence) : random_(random), fence_(std::move(fence)) {}

  /// Appends a relation with the alias to the text. The fence keeps a subquery as it is.
  std::string relation(int depth, const std::string& alias) {
    const std::string table = pick({"few", "mid", "some_rows"});
    if (depth == 0 || random_.below(4) == 0) {
      return fmt::format("{} {}", table, alias);
    }
    const std::string left = fresh();
    const std::string right = fresh();
    std::string from = relation(depth - 1, left);
    if (random_.below(2) == 0) {
      from += pick({" JOIN ", " LEFT JOIN ", " LEFT JOIN ", " CROSS JOIN "});
      const bool is_cross = from.ends_with("CROSS JOIN ");
      from += relation(depth - 1, right);
      if (!is_cross) from += " ON " + condition(left, right);
    } else {
      from += ", " + relation(depth - 1, right);
    }
    const std::string value = pick({"{0}.v", "{1}.v", "{0}.v + {1}.v", "coalesce({1}.v, 7)",
                                    "CASE WHEN {0}.k > 2 THEN {1}.k END", "{0}.v * 2"});
    std::string text = fmt::format("(SELECT {}.k, {} AS v FROM {}", left,
                                   fmt::format(fmt::runtime(value), left, right), from);
    if (random_.below(3) != 0) text += " WHERE " + condition(left, right);
    return fmt::format("{}{}) {}", text, fence_, alias);
  }

  std::string condition(const std::string& left, const std::string& right) {
    const std::string text =
        pick({"{0}.k = {1}.k", "{0}.v = {1}.k", "{0}.k = {1}.v", "{0}.k < 4 AND {1}.k = {0}.k",
              "{1}.v > 2", "{1}.v IS NULL", "({0}.v > 1 OR {1}.v > 1) AND {0}.k = {1}.k",
              "EXISTS (SELECT FROM few e WHERE e.k = {0}.v)", "{0}.v IS NOT NULL"});
    return fmt::format(fmt::runtime(text), left, right);
  }

 private:
  std::string fresh() { return fmt::format("r{}", ++names_); }
  std::string pick(std::initializer_list<const char*> texts) {
    return texts.begin()[random_.below(texts.size())];
  }

  Random& random_;
  std::string fence_;
  int names_ = 0;
};

}  // namespace

TEST_CASE("A subquery of FROM answers the same as one that is planned by itself", "[sql][plan]") {
  TestDatabase db;
  db.run("CREATE TABLE few(k int, v int); CREATE TABLE mid(k int primary key, v int)");
  db.run("CREATE TABLE some_rows(k int, v int); CREATE INDEX ON some_rows(k)");
  db.run("INSERT INTO few VALUES (1, 2), (2, NULL), (2, 3), (NULL, 1)");
  db.run("INSERT INTO mid SELECT i, NULLIF(i % 4, 0) FROM generate_series(1, 6) i");
  db.run(
      "INSERT INTO some_rows SELECT NULLIF(i % 4, 0), NULLIF(i % 3, 1) FROM generate_series(1, 7) "
      "i");
  db.run("ANALYZE");
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    std::vector<std::string> answers[2];
    std::string queries[2];
    for (const int fenced : {0, 1}) {
      Random random{seed};
      FromClauses clauses{random, fenced != 0 ? " OFFSET 0" : ""};
      const std::string left = clauses.relation(2, "x");
      const std::string right = clauses.relation(1, "y");
      queries[fenced] =
          fmt::format("SELECT x.k, x.v, y.k, y.v FROM {}{}{} {} {}", left,
                      random.below(2) == 0 ? " LEFT JOIN " : " JOIN ", right,
                      "ON " + clauses.condition("x", "y"),
                      random.below(2) == 0 ? "" : "WHERE " + clauses.condition("y", "x"));
      answers[fenced] = db.sorted_rows(queries[fenced]);
    }
    INFO("seed " << seed << ": " << queries[0] << "\n" << db.explain(queries[0]));
    CHECK(answers[0] == answers[1]);
  }
}

TEST_CASE("Tables of views and subqueries are found by their indexes", "[sql][plan]") {
  TestDatabase db;
  db.run(
      "CREATE TABLE t(id int primary key, b int, c text); CREATE TABLE u(id int primary key, t "
      "int)");
  db.run("INSERT INTO t SELECT i, i, 'x' FROM generate_series(1, 5000) i");
  db.run("INSERT INTO u SELECT i, i * 2 FROM generate_series(1, 2000) i; ANALYZE");
  db.run("CREATE VIEW v AS SELECT id, b, b / (b - b) AS never FROM t WHERE b > 0");
  for (const std::string joined :
       {"JOIN v ON v.id = u.t", "LEFT JOIN v ON v.id = u.t",
        "JOIN (SELECT id, b + 1 AS more FROM t) s ON s.id = u.t",
        "JOIN (SELECT id, b FROM v WHERE b > 1) w ON w.id = u.t",
        ", LATERAL (SELECT b FROM v WHERE v.id = u.t) w",
        "LEFT JOIN LATERAL (SELECT * FROM t WHERE t.id = u.t) w ON true"}) {
    const std::string query = "SELECT u.id FROM u " + joined + " WHERE u.id = 7";
    INFO(query);
    CHECK_THAT(db.explain(query), Contains("Index Scan using t_pkey"));
    CHECK(db.sorted_rows(query) == std::vector<std::string>{"7"});
  }
  // A column that is not read is not computed, and a condition on one is asked of what it is
  // computed from.
  CHECK(db.sorted_rows("SELECT count(*) FROM v") == std::vector<std::string>{"5000"});
  CHECK_THAT(db.run("SELECT never FROM v"), Contains("division by zero"));
  CHECK(db.sorted_rows("SELECT more FROM (SELECT b + 1 AS more FROM t) s WHERE more = 3") ==
        std::vector<std::string>{"3"});
}

TEST_CASE("Expressions that nested subqueries double stay where they are", "[sql][plan]") {
  TestDatabase db;
  db.run("CREATE TABLE t(a numeric); INSERT INTO t VALUES (1), (0)");
  constexpr int kLevels = 60;
  std::string from = "t";
  for (int i = 0; i < kLevels; ++i) from = "(SELECT a + a AS a FROM " + from + ") s";
  CHECK(db.sorted_rows("SELECT a FROM " + from + " WHERE a > 0") ==
        std::vector<std::string>{"1152921504606846976"});
  CHECK(db.sorted_rows("SELECT count(*) FROM t x LEFT JOIN " + from + " ON s.a > x.a") ==
        std::vector<std::string>{"2"});
}

TEST_CASE("A subquery's conditions are asked before those on its rows", "[sql][plan]") {
  TestDatabase db;
  db.run("CREATE TABLE t(a text); INSERT INTO t VALUES ('x'), ('7'); CREATE TABLE u(id int)");
  db.run("INSERT INTO u VALUES (1), (7)");
  const std::string digits = "(SELECT a FROM t WHERE a ~ '^[0-9]+$') s";
  for (const std::string join : {"JOIN", "LEFT JOIN"}) {
    const bool keeps = join == "LEFT JOIN";
    CHECK(db.sorted_rows("SELECT id, a FROM u " + join + " " + digits + " ON s.a::int > 5") ==
          std::vector<std::string>{"1|7", "7|7"});
    CHECK(db.sorted_rows("SELECT id, a FROM u " + join + " " + digits + " ON s.a::int = id") ==
          (keeps ? std::vector<std::string>{"1|NULL", "7|7"} : std::vector<std::string>{"7|7"}));
  }
  // Once for each row of the subquery, whatever it is joined with.
  db.run("CREATE SEQUENCE asked");
  db.run("SELECT count(*) FROM u, (SELECT a FROM t WHERE nextval('asked') > 0) s");
  CHECK(db.sorted_rows("SELECT last_value FROM asked") == std::vector<std::string>{"2"});
}
