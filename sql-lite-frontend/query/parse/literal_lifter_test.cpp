#include "sql-lite-frontend/query/parse/literal_lifter.h"

#include <catch2/catch.hpp>

using namespace swizzle::sql;

TEST_CASE("Statements that differ in their literals have one shape", "[sql][parse]") {
  const auto first = lift_literals("UPDATE a SET b = b + -4118 WHERE c = 26995;");
  REQUIRE(first);
  CHECK(first->shape == "UPDATE a SET b = b + -$1 WHERE c = $2");
  REQUIRE(first->literals.size() == 2);
  CHECK(first->literals[0].text == "4118");
  CHECK(first->literals[1].type == TypeId::int4);
  const auto insert = lift_literals("insert into t (a, b) values (1, 'it''s')");
  REQUIRE(insert);
  CHECK(insert->shape == "insert into t (a, b) values ($1, $2)");
  CHECK(insert->literals[1].text == "it's");
}

TEST_CASE("Literals that mean more than their value stay", "[sql][parse]") {
  for (const char* text :
       {"select a from t order by 1", "select a from t limit 10", "select date '2020-01-01'",
        "select 1.5", "select 'a' 'b'", "select E'a'", "select $1", "select 1 -- one",
        "select 1; select 2", "select 5::int", "select 2147483648", "select a 1", "begin",
        "select cast(1 as int)", "select $$x$$ = 1", "select numeric(1)",
        "select distinct on (1) a from t"}) {
    INFO(text);
    CHECK_FALSE(lift_literals(text));
  }
}
