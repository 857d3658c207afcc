#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

namespace swizzle::sql {
namespace {

/// Long names computed by an expression, in a subquery that is not merged into the query.
constexpr const char* kNames = "(SELECT 'the long name ' || i AS w, i FROM u OFFSET 0) s";

void fill_for_held_rows(TestDatabase& db) {
  db.run("CREATE TABLE u(i int, v text)");
  db.run("INSERT INTO u VALUES (1, 'a'), (2, 'b')");
}

}  // namespace

TEST_CASE("A computed row stays as it is while a nested loop meets several others with it",
          "[sql][execute]") {
  TestDatabase db;
  fill_for_held_rows(db);
  CHECK(db.run(std::string{"SELECT w, repeat(v, 20) FROM "} + kNames + ", u WHERE s.i = 1") ==
        "the long name 1|aaaaaaaaaaaaaaaaaaaa the long name 1|bbbbbbbbbbbbbbbbbbbb SELECT 2");
  CHECK(db.run(std::string{"SELECT w, x FROM "} + kNames +
               ", LATERAL regexp_split_to_table(w, ' ') x WHERE s.i = 2") ==
        "the long name 2|the the long name 2|long the long name 2|name the long name 2|2 SELECT 4");
}

TEST_CASE("A computed row stays as it is when a condition above the join drops its first match",
          "[sql][execute]") {
  TestDatabase db;
  fill_for_held_rows(db);
  CHECK(db.run(std::string{"SELECT w, v FROM "} + kNames +
               " LEFT JOIN u ON true WHERE s.i = 1 AND repeat(v, 20) <> repeat('a', 20)") ==
        "the long name 1|b SELECT 1");
}

TEST_CASE("A computed row stays as it is while a hash join meets several others with it",
          "[sql][execute]") {
  TestDatabase db;
  fill_for_held_rows(db);
  db.run("INSERT INTO u VALUES (1, 'c'), (1, 'd')");
  db.run("SET enable_nestloop = off");
  // Enough rows that the other side is hashed.
  const std::string found = db.run(
      "SELECT w, repeat(v, 20) FROM (SELECT 'the long name ' || g AS w, g AS i "
      "FROM generate_series(1, 10000) g OFFSET 0) s LEFT JOIN u USING (i) ORDER BY 2 LIMIT 4");
  CHECK(found ==
        "the long name 1|aaaaaaaaaaaaaaaaaaaa the long name 2|bbbbbbbbbbbbbbbbbbbb "
        "the long name 1|cccccccccccccccccccc the long name 1|dddddddddddddddddddd SELECT 4");
}

TEST_CASE("What a function returns in several rows is kept while each row is worked on",
          "[sql][execute]") {
  TestDatabase db;
  CHECK(db.run("SELECT jsonb_object_keys('{\"first key\":1,\"second key\":2,\"third key\":3}'), "
               "repeat('x', 30)") ==
        "first key|xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx third key|xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx "
        "second key|xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx SELECT 3");
  CHECK(
      db.run(
          "SELECT json_array_elements_text('[\"one\\u0041\",\"two\\u0042\"]'), repeat('x', 30)") ==
      "oneA|xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx twoB|xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx SELECT 2");
}

TEST_CASE("A computed row stays as it is while functions return several rows for it",
          "[sql][execute]") {
  TestDatabase db;
  fill_for_held_rows(db);
  CHECK(db.run(std::string{"SELECT w, regexp_matches(w, '[a-z]+', 'g') FROM "} + kNames +
               " WHERE s.i = 1") ==
        "the long name 1|{the} the long name 1|{long} the long name 1|{name} SELECT 3");
}

}  // namespace swizzle::sql
