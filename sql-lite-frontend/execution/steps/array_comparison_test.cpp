#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {
namespace {

/// Returns the equivalent of x IN (…) by single comparisons.
std::string one_by_one(const std::string& column, const std::vector<std::string>& list,
                       const std::string& op, const std::string& word) {
  std::string text = "(";
  for (const std::string& element : list) {
    if (text.size() > 1) text += " " + word + " ";
    text += column + " " + op + " " + element;
  }
  return text + ")";
}

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& element : list) text += (text.empty() ? "" : ", ") + element;
  return text;
}

}  // namespace

TEST_CASE("Long lists are asked by hash and mean what short ones do", "[sql][execute]") {
  TestDatabase db;
  db.run("CREATE TABLE t(i int, b bigint, x text, n numeric, f float8, d date, c char(5))");
  db.run(
      "INSERT INTO t SELECT i % 40, i, 'x' || i % 40, (i % 40) / 2.0, i % 40, date '2020-01-01' + "
      "i "
      "% 40, i % 40 FROM generate_series(1, 200) i");
  db.run(
      "INSERT INTO t VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL), (0, 0, '', 0.000, '-0', "
      "'infinity', ''), (1, 1, 'x1', 'NaN', 'NaN', '2020-01-02', '1  ')");
  struct Kind {
    std::string name;
    std::vector<std::string> values;
  };
  std::vector<Kind> columns{{"i", {}}, {"b", {}}, {"x", {}}, {"n", {}},
                            {"f", {}}, {"d", {}}, {"c", {}}};
  for (int i = 0; i < 24; i += 2) {
    const std::string number = std::to_string(i);
    columns[0].values.push_back(number);
    columns[1].values.push_back(number);
    columns[2].values.push_back("'x" + number + "'");
    columns[3].values.push_back(number + ".50");
    columns[4].values.push_back(number);
    columns[5].values.push_back("date '2020-01-01' + " + number);
    columns[6].values.push_back("'" + number + "   '");
  }
  columns[3].values.emplace_back("'NaN'");
  columns[4].values.emplace_back("'NaN'");
  for (Kind& column : columns) {
    for (const bool has_null : {false, true}) {
      if (has_null) column.values.emplace_back("NULL");
      for (const bool is_negated : {false, true}) {
        const std::string each = one_by_one(column.name, column.values, is_negated ? "<>" : "=",
                                            is_negated ? "AND" : "OR");
        const std::string in =
            column.name + (is_negated ? " NOT IN (" : " IN (") + joined(column.values) + ")";
        CHECK(db.rows("SELECT b, " + in + " FROM t ORDER BY b") ==
              db.rows("SELECT b, " + each + " FROM t ORDER BY b"));
        CHECK(db.rows("SELECT count(*) FROM t WHERE " + in) ==
              db.rows("SELECT count(*) FROM t WHERE " + each));
      }
    }
  }
}

TEST_CASE("A list of parameters is that of its own run", "[sql][execute]") {
  TestDatabase db;
  db.run("CREATE TABLE t(i int)");
  db.run("INSERT INTO t SELECT generate_series(1, 100)");
  db.run(
      "PREPARE p(int, int[]) AS SELECT count(*) FROM t WHERE i IN ($1, 2, 3, 4, 5, 6, 7, 8, 9, "
      "10, 11) AND i = ANY ($2) AND i <> ALL ($2[2:3])");
  CHECK(db.rows("EXECUTE p(1, '{1,2,3,4,5,6,7,8,9,10}')") == std::vector<std::string>{"8"});
  CHECK(db.rows("EXECUTE p(50, '{50,2,3,60,61,62,63,64,65,66}')") == std::vector<std::string>{"1"});
  CHECK(db.rows("EXECUTE p(50, NULL)") == std::vector<std::string>{"0"});
  CHECK(db.rows("EXECUTE p(50, '{}')") == std::vector<std::string>{"0"});
  CHECK(db.rows("SELECT g.n, (SELECT count(*) FROM t WHERE i = ANY (ARRAY[g.n, g.n + 1, 3, 4, "
                "5, 6, 7, 8, 9, 10])) FROM generate_series(9, 11) g(n)") ==
        std::vector<std::string>{"9|8", "10|9", "11|10"});
}

}  // namespace swizzle::sql
