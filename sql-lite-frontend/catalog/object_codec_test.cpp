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

TEST_CASE("Records of versions before are read; unknown ones are refused", "[sql][catalog]") {
  Relation relation = view_without_rows();
  relation.estimated_pages = 77;
  relation.indexes.resize(1);
  relation.indexes[0].name = "kept_id";
  relation.indexes[0].estimated_pages = 5;
  const Relation back = decode<Relation>(as_bytes(encode(relation)));
  CHECK(back.estimated_pages == 77);
  CHECK(back.indexes[0].estimated_pages == 5);

  std::string record = encode(view_without_rows());
  record[0] = 3;
  record.resize(record.size() - sizeof relation.estimated_pages);  // version 3 ended there
  CHECK_FALSE(decode<Relation>(as_bytes(record)).populated);
  record[0] = 2;
  record.pop_back();  // and version 2 before `populated`
  CHECK(decode<Relation>(as_bytes(record)).populated);
  for (const char version : {'\0', '\1', '\5'}) {
    record[0] = version;
    CHECK_THROWS_AS(decode<Relation>(as_bytes(record)), SqlError);
  }
}

}  // namespace
}  // namespace swizzle::sql
