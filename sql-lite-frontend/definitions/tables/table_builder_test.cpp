#include "sql-lite-frontend/definitions/tables/table_builder.h"

#include <catch2/catch.hpp>

#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type.h"

using namespace swizzle::sql;

namespace {

template <class Call>
std::string state_of(const Call& call) {
  try {
    call();
  } catch (const SqlError& error) {
    return std::string{error.state().code()};
  }
  return "";
}

}  // namespace

TEST_CASE("Names of columns are joined, repeated ones by numbers", "[sql][definitions]") {
  CHECK(joined_once({}).empty());
  CHECK(joined_once({"a", "b"}) == "a_b");
  CHECK(joined_once({"a", "a", "a"}) == "a_a1_a2");
  CHECK(joined_once({"a", "a1", "a"}) == "a_a1_a2");
}

TEST_CASE("A sequence has its type's limits", "[sql][definitions]") {
  CHECK(is_sequence_type(TypeId::int2));
  CHECK(is_sequence_type(TypeId::int8));
  CHECK_FALSE(is_sequence_type(TypeId::numeric));
  CHECK(sequence_of(TypeId::int2).maximum == INT16_MAX);
  CHECK(sequence_of(TypeId::int4).maximum == INT32_MAX);
  CHECK(sequence_of(TypeId::int8).maximum == INT64_MAX);
  CHECK(sequence_of(TypeId::int4).minimum == 1);
  CHECK_FALSE(sequence_of(TypeId::int4).cycle);
}

TEST_CASE("System columns and system schemas keep their names", "[sql][definitions]") {
  for (const char* name : {"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"}) {
    CHECK(is_system_column(name));
    CHECK(state_of([&] { refuse_system_column(name); }) == "42701");
    CHECK(state_of([&] { refuse_to_change_system_column("rename", name); }) == "0A000");
  }
  CHECK_FALSE(is_system_column("oid"));
  CHECK(state_of([] { refuse_system_column("oid"); }).empty());
  CHECK(state_of([] { require_schema_name("pg_mine"); }) == "42939");
  CHECK(state_of([] { require_schema_name("pgmine"); }).empty());
}

TEST_CASE("Tables and indexes have PostgreSQL's most columns", "[sql][definitions]") {
  CHECK(state_of([] { refuse_more_columns(kMostTableColumns); }).empty());
  CHECK(state_of([] { refuse_more_columns(kMostTableColumns + 1); }) == "54011");
  CHECK(state_of([] { refuse_more_index_columns(kMostIndexColumns); }).empty());
  CHECK(state_of([] { refuse_more_index_columns(kMostIndexColumns + 1); }) == "54011");
}

TEST_CASE("A key WITHOUT OVERLAPS ends with a range", "[sql][definitions]") {
  Column column;
  column.name = "during";
  for (const char* fit : {"int4range", "tstzrange", "datemultirange"}) {
    column.type = find_built_in_type(fit)->id;
    CHECK(state_of([&] { require_period_type(column); }).empty());
  }
  column.type = TypeId::int4;
  CHECK(state_of([&] { require_period_type(column); }) == "42804");
}

TEST_CASE("Operator families have the names of PostgreSQL's messages", "[sql][definitions]") {
  CHECK(operator_family("btree", TypeId::int4) == "integer_ops");
  CHECK(operator_family("btree", TypeId::int8) == "integer_ops");
  CHECK(operator_family("btree", TypeId::text) == "text_ops");
  CHECK(operator_family("btree", TypeId::timestamptz) == "datetime_ops");
  CHECK(operator_family("gist", find_built_in_type("int4range")->id) == "range_ops");
}
