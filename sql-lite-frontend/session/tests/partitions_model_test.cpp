// Random trees of partitions under random statements, compared with an ordinary table with the same
// rows: both give the same answers, and every row is in the right partition.
#include <catch2/catch.hpp>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

constexpr std::uint64_t kMostA = 12;
constexpr std::uint64_t kMostB = 6;

/// Defines partitions below "t".
class Forest {
 public:
  Forest(TestDatabase& db, Random& random) : db_(db), random_(random) {}

  void plant() {
    must("CREATE TABLE t (a int, b int, c text, d int DEFAULT 7) " + divide());
    grow("t", strategy_, 0);
    if (random_.one_in(2) && !has_expression_) db_.run("CREATE INDEX ON t (b)");
    if (random_.one_in(3)) db_.run("CREATE INDEX ON t (lower(c), a) WHERE b > 1");
  }
  [[nodiscard]] const std::vector<std::string>& leaves() const { return leaves_; }
  /// A partition with its bound, which can be detached and attached again.
  struct Detachable {
    std::string parent;
    std::string name;
    std::string bound;
  };
  [[nodiscard]] const std::vector<Detachable>& detachable() const { return detachable_; }
  [[nodiscard]] bool has_hash() const { return has_hash_; }

 private:
  enum class Strategy { list_c, list_a, range_a, range_ab, hash_a, expression };

  void must(const std::string& sql) {
    const std::string outcome = db_.run(sql);
    INFO(sql);
    REQUIRE_THAT(outcome, Catch::StartsWith("CREATE TABLE") || Catch::StartsWith("ALTER TABLE"));
  }

  std::string divide() {
    strategy_ = static_cast<Strategy>(random_.below(6));
    has_hash_ = has_hash_ || strategy_ == Strategy::hash_a;
    has_expression_ = has_expression_ || strategy_ == Strategy::expression;
    switch (strategy_) {
      case Strategy::list_c:
        return "PARTITION BY LIST (c)";
      case Strategy::list_a:
        return "PARTITION BY LIST (a)";
      case Strategy::range_a:
        return "PARTITION BY RANGE (a)";
      case Strategy::range_ab:
        return "PARTITION BY RANGE (a, b)";
      case Strategy::hash_a:
        return "PARTITION BY HASH (a)";
      case Strategy::expression:
        break;
    }
    return "PARTITION BY RANGE ((a + b))";
  }

  std::vector<std::string> bounds(Strategy strategy) {
    switch (strategy) {
      case Strategy::list_c:
        return {"FOR VALUES IN ('x', NULL)", "FOR VALUES IN ('y')", "DEFAULT"};
      case Strategy::list_a:
        return {"FOR VALUES IN (0, 1, 2, 3)", "FOR VALUES IN (4, NULL, 6)", "FOR VALUES IN (5)",
                "DEFAULT"};
      case Strategy::range_a:
        return {"FOR VALUES FROM (MINVALUE) TO (4)", "FOR VALUES FROM (4) TO (8)",
                "FOR VALUES FROM (9) TO (MAXVALUE)", "DEFAULT"};
      case Strategy::range_ab:
        return {"FOR VALUES FROM (MINVALUE, MINVALUE) TO (3, 2)",
                "FOR VALUES FROM (3, 2) TO (3, 4)", "FOR VALUES FROM (3, 4) TO (8, MINVALUE)",
                "FOR VALUES FROM (8, 1) TO (20, 0)", "DEFAULT"};
      case Strategy::hash_a:
        return {"FOR VALUES WITH (MODULUS 2, REMAINDER 0)",
                "FOR VALUES WITH (MODULUS 4, REMAINDER 1)",
                "FOR VALUES WITH (MODULUS 4, REMAINDER 3)"};
      case Strategy::expression:
        break;
    }
    return {"FOR VALUES FROM (0) TO (5)", "FOR VALUES FROM (5) TO (11)", "DEFAULT"};
  }

  void grow(const std::string& parent, Strategy strategy, int depth) {
    for (const std::string& bound : bounds(strategy)) {
      // Leave some values without a partition.
      if (random_.one_in(8)) continue;
      const std::string name = "t" + std::to_string(++count_);
      const bool divides = depth < 2 && random_.one_in(4);
      const std::string by = divides ? " " + divide() : "";
      const Strategy below = strategy_;
      switch (random_.below(3)) {
        case 0:
          must("CREATE TABLE " + name + " (gone int, c text, d int DEFAULT 7, b int, a int)" + by);
          must("ALTER TABLE " + name + " DROP COLUMN gone");
          must("ALTER TABLE " + parent + " ATTACH PARTITION " + name + " " + bound);
          break;
        default:
          must("CREATE TABLE " + name + " PARTITION OF " + parent + " " + bound + by);
      }
      if (!divides) leaves_.push_back(name);
      if (bound != "DEFAULT") detachable_.push_back({parent, name, bound});
      if (divides) grow(name, below, depth + 1);
    }
  }

  TestDatabase& db_;
  Random& random_;
  Strategy strategy_ = Strategy::list_a;
  bool has_hash_ = false;
  bool has_expression_ = false;
  int count_ = 0;
  std::vector<std::string> leaves_;
  std::vector<Detachable> detachable_;
};

class Model {
 public:
  Model(TestDatabase& db, std::uint64_t seed) : db_(db), random_(seed), forest_(db, random_) {}

  void run(int statements) {
    forest_.plant();
    db_.run("CREATE TABLE plain (a int, b int, c text, d int DEFAULT 7)");
    for (int i = 0; i < statements; ++i) step();
    compare_rows();
    check_places();
  }

 private:
  std::string a() { return random_.one_in(12) ? "NULL" : std::to_string(random_.below(kMostA)); }
  std::string b() { return random_.one_in(12) ? "NULL" : std::to_string(random_.below(kMostB)); }
  std::string c() {
    const char* const all[] = {"'x'", "'y'", "'z'", "NULL"};
    return all[random_.below(4)];
  }

  std::string condition() {
    switch (random_.below(12)) {
      case 0:
        return "a = " + a();
      case 1:
        return "a > " + a() + " AND a <= " + a();
      case 2:
        return "c = " + c();
      case 3:
        return "c IS NULL";
      case 4:
        return "a IN (" + a() + ", " + a() + ")";
      case 5:
        return "a = " + a() + " AND b = " + b();
      case 6:
        return "a = " + a() + " OR c = " + c();
      case 7:
        return "b = " + b();
      case 8:
        return "a + b = " + a();
      case 9:
        return "a + b BETWEEN " + a() + " AND " + a();
      case 10:
        return "a IS NOT NULL AND a < " + a();
      default:
        return "a = 3 AND b >= " + b();
    }
  }

  std::string row() { return "(" + a() + ", " + b() + ", " + c() + ")"; }

  /// Returns a statement with "@" for the table.
  std::string statement() {
    switch (random_.below(14)) {
      case 0:
      case 1:
      case 2:
        return "INSERT INTO @ (a, b, c) VALUES " + row() + " RETURNING a, b, c, d";
      case 3:
        return "INSERT INTO @ (c, b, a) SELECT 'x', g % 4, g FROM generate_series(0, " +
               std::to_string(random_.below(8)) + ") g RETURNING *";
      case 4:
        return "UPDATE @ SET a = " + a() + " WHERE " + condition() + " RETURNING *";
      case 5:
        return "UPDATE @ SET a = a + 1, d = d + 1 WHERE " + condition() + " RETURNING a, d";
      case 6:
        return "UPDATE @ SET b = " + b() + ", c = " + c() + " WHERE " + condition();
      case 7:
        return "DELETE FROM @ WHERE " + condition() + " AND d > 7 RETURNING *";
      case 8:
        return "DELETE FROM @ WHERE a = " + a() + " AND b = " + b();
      case 9:
        return "UPDATE @ SET b = s.x FROM (VALUES (1, 2), (3, 4)) s (y, x) WHERE @.a = s.y "
               "RETURNING @.a, s.x";
      case 10:
        return "WITH w AS (DELETE FROM @ WHERE " + condition() +
               " RETURNING *) INSERT INTO @ SELECT b, a, c, d FROM w RETURNING *";
      default:
        return question();
    }
  }

  std::string question() {
    switch (random_.below(7)) {
      case 0:
        return "SELECT count(*), sum(a), min(b), max(c) FROM @ WHERE " + condition();
      case 1:
        return "SELECT x.a, y.b FROM @ x JOIN @ y ON x.a = y.a AND x.b < y.b WHERE x." +
               std::string{"a = "} + a();
      case 2:
        return "SELECT a FROM @ WHERE a IN (SELECT b FROM @) AND " + condition();
      case 3:
        return "SELECT x.a, y.c FROM @ x LEFT JOIN @ y ON y.a = x.b AND y.c = 'x'";
      case 4:
        return "SELECT c, count(*) FROM @ WHERE " + condition() + " GROUP BY c";
      case 5:
        return "SELECT a, b FROM @ WHERE " + condition() + " ORDER BY a, b, c, d LIMIT 3";
      default:
        return "SELECT * FROM @ WHERE " + condition() + " FOR UPDATE";
    }
  }

  static std::string on(std::string statement, const std::string& table) {
    for (std::size_t at = 0; (at = statement.find('@', at)) != std::string::npos;) {
      statement.replace(at, 1, table);
      at += table.size();
    }
    return statement;
  }

  std::vector<std::string> answer(const std::string& sql) {
    std::string outcome = db_.run(sql);
    std::vector<std::string> rows = db_.sink().rows;
    std::ranges::sort(rows);
    rows.insert(rows.end(), db_.sink().tags.begin(), db_.sink().tags.end());
    if (rows.empty()) rows.push_back(outcome.substr(0, 5));
    return rows;
  }

  void step() {
    if (random_.one_in(10)) return change_tree();
    const std::string sql = statement();
    INFO(sql);
    const std::vector<std::string> divided = answer(on(sql, "t"));
    // The row has no partition, so the statement must have had no effect.
    if (divided.front() == "23514") return;
    CHECK(answer(on(sql, "plain")) == divided);
  }

  void change_tree() {
    if (forest_.detachable().empty()) return;
    const auto& one = forest_.detachable()[random_.below(forest_.detachable().size())];
    INFO(one.name << " " << one.bound);
    REQUIRE(db_.run("ALTER TABLE " + one.parent + " DETACH PARTITION " + one.name) ==
            "ALTER TABLE");
    REQUIRE(db_.run("ALTER TABLE " + one.parent + " ATTACH PARTITION " + one.name + " " +
                    one.bound) == "ALTER TABLE");
  }

  void compare_rows() {
    CHECK(db_.rows("SELECT * FROM t ORDER BY a, b, c, d") ==
          db_.rows("SELECT * FROM plain ORDER BY a, b, c, d"));
  }

  /// Checks that each row satisfies its partition's constraint in the catalog and is in one
  /// partition.
  void check_places() {
    for (const std::string& leaf : forest_.leaves()) {
      const std::string constraint =
          db_.rows("SELECT pg_get_partition_constraintdef('" + leaf + "'::regclass)").at(0);
      INFO(leaf << ": " << constraint);
      if (constraint == "NULL" || constraint.find("satisfies_hash") != std::string::npos) continue;
      CHECK(db_.rows("SELECT count(*) FROM " + leaf + " WHERE NOT coalesce(" + constraint +
                     ", true)") == std::vector<std::string>{"0"});
      CHECK(db_.rows("SELECT count(*) FROM " + leaf) ==
            db_.rows("SELECT count(*) FROM t WHERE tableoid = '" + leaf + "'::regclass"));
    }
  }

  TestDatabase& db_;
  Random random_;
  Forest forest_;
};

}  // namespace

TEST_CASE("A partitioned table answers as one that is not, whatever its tree",
          "[sql][session][partitions]") {
  for_seeds(40, [](std::uint64_t seed) {
    TestDatabase db;
    Model{db, seed}.run(60);
  });
}
