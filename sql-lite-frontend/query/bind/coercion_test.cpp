// Types of expressions: literals, parameters, conversions, and what several values have in common.
#include <catch2/catch.hpp>

#include "sql-lite-frontend/query/bind/testing/fixed_names.h"
#include "sql-lite-frontend/types/sql_error.h"

using namespace swizzle::sql;

namespace {

struct Typed : TestBinding {
  Typed() {
    names.add_table("t", {{"id", TypeId::int4}, {"n", TypeId::numeric}, {"v", TypeId::text}}, {0});
  }
};

}  // namespace

TEST_CASE_METHOD(Typed, "A literal takes its type from where it stands", "[sql][bind]") {
  CHECK(targets("SELECT '1' + id AS x FROM t") == "x integer");
  CHECK(targets("SELECT '2024-01-01' AS x") == "x text");
  CHECK(targets("SELECT id = '5' AS x FROM t") == "x boolean");
  CHECK(targets("SELECT CASE WHEN true THEN '1' ELSE id END AS x FROM t") == "x integer");
  CHECK(targets("SELECT coalesce(NULL, '2', n) AS x FROM t") == "x numeric");
  CHECK(error("SELECT id = 'x' FROM t") == "22P02 invalid input syntax for type integer: \"x\"");
  CHECK(targets("SELECT 2147483647 AS a, 2147483648 AS b, 9223372036854775808 AS c, 1e3 AS d") ==
        "a integer, b bigint, c numeric, d numeric");
}

TEST_CASE_METHOD(Typed, "Parameters take the types of their uses", "[sql][bind]") {
  CHECK(parameters("SELECT $1 + 1") == std::vector{TypeId::int4});
  CHECK(parameters("SELECT * FROM t WHERE n = $1 AND v LIKE $2") ==
        std::vector{TypeId::numeric, TypeId::text});
  CHECK(parameters("SELECT $1::date, $2") == std::vector{TypeId::date, TypeId::text});
  CHECK(parameters("SELECT $1 + 1", {TypeId::int8}) == std::vector{TypeId::int8});
  CHECK(parameters("SELECT 1 LIMIT $1") == std::vector{TypeId::int8});
  const auto state_of = [&](const std::string& text) {
    try {
      parameters(text);
    } catch (const SqlError& failed) {
      return std::string{failed.state().code()};
    }
    return std::string{"bound"};
  };
  CHECK(state_of("SELECT $2 + 1") == "42P18");
  CHECK(state_of("SELECT $1::int, $1::text") == "bound");
  // The first use took any type, and the second wants one.
  CHECK(state_of("SELECT $1 IS NULL, $1 + 1") == "42P08");
}

TEST_CASE_METHOD(Typed, "Several values have PostgreSQL's common type", "[sql][bind]") {
  CHECK(targets("SELECT 1 AS x UNION SELECT 2.5") == "x numeric");
  CHECK(targets("SELECT greatest(1, 2::bigint, 3.0) AS x") == "x numeric");
  CHECK(targets("SELECT ARRAY[1, 2.5] AS x") == "x numeric[]");
  CHECK(targets("VALUES (1, 'a'), (2.5, 'b')") == "column1 numeric, column2 text");
  CHECK(targets("SELECT NULL AS x UNION SELECT 1") == "x integer");
  CHECK(error("SELECT 1 UNION SELECT 'a'::text") ==
        "42804 UNION types integer and text cannot be matched");
  CHECK(error("SELECT CASE WHEN true THEN 1 ELSE v END FROM t") ==
        "42804 CASE types text and integer cannot be matched");
  CHECK(error("SELECT ARRAY[1, true]") ==
        "42804 ARRAY types integer and boolean cannot be matched");
}

TEST_CASE_METHOD(Typed, "Conversions are implicit, of assignments, or explicit", "[sql][bind]") {
  using enum ExpressionBinder::Implicitness;
  const auto converts = [&](const std::string& text, TypeId type,
                            ExpressionBinder::Implicitness how) {
    auto bound = query("SELECT " + text);
    ExprPtr expr = std::move(bound->targets.front().expr);
    return static_cast<bool>(binder().try_coerce(expr, type, kNoTypmod, how));
  };
  CHECK(converts("1", TypeId::int8, implicit));
  CHECK_FALSE(converts("1::int8", TypeId::int4, implicit));
  CHECK(converts("1::int8", TypeId::int4, assignment));
  CHECK_FALSE(converts("'1'::text", TypeId::int4, assignment));
  CHECK(converts("'1'::text", TypeId::int4, explicit_cast));
  CHECK(converts("1", TypeId::text, assignment));
  CHECK_FALSE(converts("1", TypeId::text, implicit));
  CHECK_FALSE(converts("true", TypeId::date, explicit_cast));
  CHECK(error("SELECT true::date") == "42846 cannot cast type boolean to date");
  CHECK(error("SELECT 1 WHERE 1") ==
        "42804 argument of WHERE must be type boolean, not type integer");
}

TEST_CASE_METHOD(Typed, "A call names its routine by the types of its arguments", "[sql][bind]") {
  CHECK(targets("SELECT abs(-1) AS a, abs(-1.5) AS b, round(2.5, 1) AS c") ==
        "a integer, b numeric, c numeric");
  CHECK(error("SELECT abs(v) FROM t") ==
        "42883 function abs(text) does not exist\n"
        "No function matches the given name and argument types. You might need to add explicit "
        "type casts.");
  CHECK(error("SELECT v + 1 FROM t") ==
        "42883 operator does not exist: text + integer\n"
        "No operator matches the given name and argument types. You might need to add explicit "
        "type casts.");
  CHECK(error("SELECT nothing(1)").substr(0, 47) ==
        "42883 function nothing(integer) does not exist\n");
}
