#include "sql-lite-frontend/catalog/object_codec.h"

#include <catch2/catch.hpp>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

Relation view_without_rows() {
  Relation relation;
  relation.oid = 17000;
  relation.name = "kept";
  relation.kind = RelationKind::materialized;
  relation.columns.resize(2);
  relation.columns[0].name = "id";
  relation.columns[1].name = "name";
  relation.view_sql = "SELECT id, name FROM t";
  relation.populated = false;
  return relation;
}

TEST_CASE("A relation's record is cut short at any byte: an error, nothing else",
          "[sql][catalog]") {
  const std::string record = encode(view_without_rows());
  for (std::size_t size = 0; size < record.size(); ++size) {
    INFO("bytes: " << size);
    CHECK_THROWS_AS(decode<Relation>(as_bytes(record).first(size)), SqlError);
  }
  const Relation back = decode<Relation>(as_bytes(record));
  CHECK(back.name == "kept");
  CHECK(back.columns.size() == 2);
  CHECK_FALSE(back.populated);
}

TEST_CASE("Records of the version before are read; unknown ones are refused", "[sql][catalog]") {
  std::string record = encode(view_without_rows());
  record[0] = 2;
  record.pop_back();  // version 2 ended before `populated`
  CHECK(decode<Relation>(as_bytes(record)).populated);
  for (const char version : {'\0', '\1', '\4'}) {
    record[0] = version;
    CHECK_THROWS_AS(decode<Relation>(as_bytes(record)), SqlError);
  }
}

}  // namespace
}  // namespace swizzle::sql
