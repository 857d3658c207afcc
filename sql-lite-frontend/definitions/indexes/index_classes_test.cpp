#include "sql-lite-frontend/definitions/indexes/index_classes.h"

#include <catch2/catch.hpp>

#include "sql-lite-frontend/types/sql_error.h"

using namespace swizzle::sql;

TEST_CASE("An operator class fits its type, or is an error", "[sql][definitions]") {
  const auto answer = [](std::string_view name, TypeId type) -> std::string {
    try {
      require_btree_class(name, type);
    } catch (const SqlError& error) {
      return std::string{error.state().code()} + " " + error.what();
    }
    return "fits";
  };
  CHECK(answer("int4_ops", TypeId::int4) == "fits");
  CHECK(answer("text_pattern_ops", TypeId::text) == "fits");
  CHECK(answer("varchar_pattern_ops", TypeId::varchar) == "fits");
  CHECK(answer("text_ops", TypeId::varchar) == "fits");
  CHECK(answer("int4_ops", TypeId::int8) ==
        "42804 operator class \"int4_ops\" does not accept data type bigint");
  CHECK(answer("none_ops", TypeId::int4) ==
        "42704 operator class \"none_ops\" does not exist for access method \"btree\"");
}
