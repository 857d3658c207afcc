#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/random.h"
#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {
namespace {

using Catch::Contains;

void fill_for_disjunctions(TestDatabase& db) {
  db.run("CREATE TABLE part(id int primary key, brand int, size int)");
  db.run("CREATE TABLE item(id int primary key, part int, number int, mode text)");
  db.run("INSERT INTO part SELECT i, NULLIF(i % 7, 6), i % 11 FROM generate_series(1, 300) i");
  db.run(
      "INSERT INTO item SELECT i, i * 31 % 320, NULLIF(i % 13, 5), 'm' || i % 5 FROM "
      "generate_series(1, 900) i");
  db.run("CREATE INDEX item_part ON item(part); ANALYZE");
}

}  // namespace

TEST_CASE("What all branches of an OR ask is asked by itself", "[sql][plan]") {
  TestDatabase db;
  fill_for_disjunctions(db);
  const std::string query =
      "SELECT i.id FROM item i, part p WHERE (p.id = i.part AND p.brand = 1 AND i.number < 5) OR "
      "(i.number > 9 AND p.id = i.part AND p.brand = 3)";
  const std::string plan = db.explain(query);
  INFO(plan);
  CHECK((plan.contains("Hash Cond: ") || plan.contains("Index Cond: ")));
  CHECK_THAT(plan, Contains("Filter: ((brand = 1) OR (brand = 3))") ||
                       Contains("Filter: ((p.brand = 1) OR (p.brand = 3))"));
  CHECK_THAT(
      db.explain("SELECT * FROM item WHERE (id = 7 AND number = 1) OR (mode = 'm1' AND id = 7)"),
      Contains("Index Cond: (id = 7)"));
  CHECK_THAT(db.explain("SELECT * FROM item WHERE id = 7 OR (id = 7 AND mode = 'm1')"),
             Contains("Index Cond: (id = 7)") && !Contains("Filter"));
  // The condition is evaluated anew for each row.
  CHECK_THAT(
      db.explain("SELECT * FROM item WHERE (random() < 0.5 AND id = 7) OR (random() < 0.5 AND "
                 "mode = 'm1')"),
      Contains("Filter: (((random()"));
}

TEST_CASE("An OR finds the same rows taken apart and whole", "[sql][plan]") {
  TestDatabase db;
  fill_for_disjunctions(db);
  Random random{20261122};
  const auto pick = [&](std::initializer_list<std::string> of) {
    return *(of.begin() + random.below(of.size()));
  };
  const auto number = [&](std::uint64_t below) { return std::to_string(random.below(below)); };
  const auto part = [&] {
    return pick({"p.id = i.part", "p.id = i.part", "p.brand = " + number(4),
                 "p.size < " + number(6), "i.number = " + number(6),
                 "i.mode = 'm" + number(5) + "'", "p.brand IS NULL", "i.number > p.size",
                 "NOT (p.size = " + number(4) + ")", "i.id < 200"});
  };
  for (int round = 0; round < 80; ++round) {
    std::string either;
    const std::uint64_t branches = random.between(2, 3);
    for (std::uint64_t b = 0; b < branches; ++b) {
      std::string branch = pick({"p.id = i.part", part()});
      for (std::uint64_t more = random.below(3); more > 0; --more) branch += " AND " + part();
      either += (b > 0 ? " OR (" : "(") + branch + ")";
    }
    const std::string from =
        "SELECT i.id, p.id FROM item i, part p WHERE i.id < 400 AND p.id < 90 AND ";
    INFO(either);
    CHECK(db.sorted_rows(from + "(" + either + ")") ==
          db.sorted_rows(from + "(" + either + ") IS TRUE"));
  }
}

}  // namespace swizzle::sql
