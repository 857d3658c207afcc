#include "sql-lite-frontend/definitions/types/type_definition.h"

#include <catch2/catch.hpp>

#include "sql-lite-frontend/query/parse/parser.h"
#include "sql-lite-frontend/types/sql_error.h"

using namespace swizzle::sql;

TEST_CASE("A type's name has its schema before it, if any", "[sql][definitions]") {
  Arena arena;
  const auto statements =
      parse_script(arena, "CREATE TYPE s.t AS ENUM (); CREATE TYPE t AS ENUM ()");
  const TypeName full = type_named(ast::as<ast::CreateEnumStmt>(statements[0]->stmt).type_name);
  CHECK(full.schema == "s");
  CHECK(full.name == "t");
  CHECK(written(full) == "s.t");
  const TypeName plain = type_named(ast::as<ast::CreateEnumStmt>(statements[1]->stmt).type_name);
  CHECK(plain.schema.empty());
  CHECK(written(plain) == "t");
}

TEST_CASE("Built-in types are found on the search path and in pg_catalog", "[sql][definitions]") {
  REQUIRE(builtin_named({{}, "int4"}) != nullptr);
  CHECK(builtin_named({{}, "int4"})->id == TypeId::int4);
  CHECK(builtin_named({"pg_catalog", "text"}) != nullptr);
  CHECK(builtin_named({"public", "int4"}) == nullptr);
  CHECK(builtin_named({{}, "none"}) == nullptr);
}

TEST_CASE("A shell type is only a name", "[sql][definitions]") {
  UserType shell;
  shell.oid = Oid{20'000};
  CHECK(shell.is_shell());
  CHECK_THROWS_AS(refuse_shell(shell, "t"), SqlError);
}
