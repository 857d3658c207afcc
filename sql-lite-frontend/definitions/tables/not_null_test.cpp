// NOT NULL constraints of a table that is attached to a partitioned one.
#include "sql-lite-frontend/definitions/tables/not_null.h"

#include <catch2/catch.hpp>

#include "sql-lite-frontend/definitions/partitions/partition_parts.h"
#include "sql-lite-frontend/types/sql_error.h"

using namespace swizzle::sql;

namespace {

Relation with_columns(const std::string& name, const std::vector<std::string>& columns) {
  Relation relation;
  relation.name = name;
  for (const std::string& column : columns) {
    relation.columns.emplace_back().name = column;
    relation.columns.back().type = TypeId::int4;
  }
  return relation;
}

Constraint& add_not_null(Relation& relation, std::int16_t column, std::uint32_t oid) {
  Constraint& made = relation.constraints.emplace_back();
  made.oid = Oid{oid};
  made.name = relation.name + "_not_null";
  made.kind = ConstraintKind::not_null;
  made.columns = {column};
  relation.columns[static_cast<std::size_t>(column - 1)].not_null = true;
  return made;
}

}  // namespace

TEST_CASE("Column numbers are translated by name", "[sql][definitions]") {
  const Relation parent = with_columns("p", {"a", "b", "c"});
  const Relation part = with_columns("q", {"c", "x", "a", "b"});
  CHECK(numbers_in(parent, part, std::vector<std::int16_t>{1, 2, 3}) ==
        std::vector<std::int16_t>{3, 4, 1});
}

TEST_CASE("An attached table's NOT NULL becomes its parent's", "[sql][definitions]") {
  Relation parent = with_columns("p", {"a", "b"});
  add_not_null(parent, 2, 50);
  Relation part = with_columns("q", {"b", "a"});
  add_not_null(part, 1, 60);
  take_not_nulls(parent, part);
  CHECK(part.constraints.front().parent == Oid{50});
  CHECK_FALSE(part.constraints.front().also_local);

  Relation stubborn = with_columns("q", {"b", "a"});
  add_not_null(stubborn, 1, 60).no_inherit = true;
  CHECK_THROWS_WITH(take_not_nulls(parent, stubborn),
                    "constraint \"q_not_null\" conflicts with non-inherited constraint on child "
                    "table \"q\"");
  Relation unproven = with_columns("q", {"b", "a"});
  add_not_null(unproven, 1, 60).validated = false;
  CHECK_THROWS_WITH(take_not_nulls(parent, unproven),
                    "constraint \"q_not_null\" conflicts with NOT VALID constraint on child table "
                    "\"q\"");
  parent.constraints.front().validated = false;
  CHECK_NOTHROW(take_not_nulls(parent, unproven));
}
