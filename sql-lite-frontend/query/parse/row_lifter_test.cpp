#include "sql-lite-frontend/query/parse/row_lifter.h"

#include <catch2/catch.hpp>
#include <string>

#include "sql-lite-frontend/query/parse/literal_lifter.h"

using namespace swizzle::sql;

TEST_CASE("Inserts that differ in their rows, or in how many, have one shape", "[sql][parse]") {
  const auto two = lift_rows("INSERT INTO t (a, \"B c\") VALUES (1, 'x'), (-2, NULL)", nullptr);
  REQUIRE(two);
  CHECK(two->shape == "INSERT INTO t (a, \"B c\") VALUES ($1, $2) ");
  CHECK(two->types == std::vector{TypeId::int4, TypeId::unknown});
  REQUIRE(two->literals.size() == 4);
  CHECK(two->literals[2].text == "-2");
  CHECK(two->literals[3].is_null);
  const auto three =
      lift_rows("INSERT INTO t (a, \"B c\") VALUES(5,'it''s'),\n(6,'y') , (7, 'z');", nullptr);
  REQUIRE(three);
  CHECK(three->shape == "INSERT INTO t (a, \"B c\") VALUES ($1, $2) ;");
  CHECK(three->literals[1].text == "it''s");
  CHECK(three->literals[1].has_quotes);
}

TEST_CASE("A column is what its literals have in common", "[sql][parse]") {
  const auto lifted = lift_rows(
      "insert into s.t values (1, 3000000000, 1, true, null), (2, 1, 1.50, FALSE, null) returning "
      "a",
      nullptr);
  REQUIRE(lifted);
  CHECK(lifted->types ==
        std::vector{TypeId::int4, TypeId::int8, TypeId::numeric, TypeId::bool_, TypeId::unknown});
  CHECK(lifted->shape == "insert into s.t values ($1, $2, $3, $4, $5) returning a");
  CHECK(lift_rows("insert into t values (1), (2) on conflict (a) do update set b = excluded.b + 1",
                  nullptr));
}

TEST_CASE("Rows of anything but literals stay", "[sql][parse]") {
  for (const char* text : {"insert into t values (1)",
                           "insert into t values (1), ('a')",
                           "insert into t values (1), (2, 3)",
                           "insert into t values (1, 2), (3)",
                           "insert into t values (1), (default)",
                           "insert into t values (1), (now())",
                           "insert into t values (1), (2) union select 3",
                           "insert into t values (1), (2) limit 1",
                           "insert into t values (1), (2); select 1",
                           "insert into t values (1), (2) -- x",
                           "insert into t values ('a'), ('b' 'c')",
                           "insert into t values ('a'), (E'b')",
                           "insert into t values ('a'), ($1)",
                           "insert into t values (1), (2) returning $1",
                           "insert into t values (1), (2::int)",
                           "insert into t values (1), (1e5)",
                           "insert into t values (1), (007)",
                           "insert into t values (1), (2a)",
                           "insert into t values (1), (true)",
                           "insert into t select 1 from values (1), (2)",
                           "insert into t default values",
                           "insert into t values (1), (2",
                           "insert into t values (1), ('",
                           "insert into \"t values (1), (2)",
                           "select * from (values (1), (2)) v",
                           "insert into t values (1), (- 1)",
                           "insert into t values (1), (1.), (2)",
                           "insert into t values",
                           "insert"}) {
    INFO(text);
    CHECK_FALSE(lift_rows(text, nullptr));
  }
}
