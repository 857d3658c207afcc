#include <catch2/catch.hpp>

#include "sql-lite-frontend/session/tests/test_database.h"

using namespace swizzle;
using namespace swizzle::sql;

namespace {

using Catch::Contains;

/// psql's queries for \d: a partition's parent, and a table's partitions.
constexpr const char* kParent =
    "SELECT c.oid::regclass FROM pg_class c, pg_inherits i WHERE c.oid = i.inhparent AND "
    "i.inhrelid = 'p1'::regclass AND c.relkind = 'p'";
constexpr const char* kPartitions =
    "SELECT c.oid::regclass, pg_get_expr(c.relpartbound, c.oid) FROM pg_class c, pg_inherits i "
    "WHERE c.oid = i.inhrelid AND i.inhparent = 'p'::regclass ORDER BY 1";

}  // namespace

TEST_CASE("A system catalog is asked by the key that another relation's row gives", "[sql][plan]") {
  TestDatabase db;
  db.run("CREATE TABLE p(a int, b text) PARTITION BY RANGE (a)");
  db.run("CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10)");
  db.run("CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20)");
  CHECK(db.run(kParent) == "p SELECT 1");
  CHECK(db.run(kPartitions) ==
        "p1|FOR VALUES FROM (0) TO (10) p2|FOR VALUES FROM (10) TO (20) SELECT 2");
  for (const char* const query : {kParent, kPartitions}) {
    const std::string plan = db.run(std::string{"EXPLAIN (COSTS OFF) "} + query);
    INFO(plan);
    CHECK_THAT(plan, Contains("Nested Loop") && !Contains("Hash"));
  }
  // Each outer row has its own key, which may be missing.
  CHECK(db.run("SELECT v.n, c.relname FROM (VALUES ('p'), ('p2'), (NULL), ('p')) v(n) LEFT JOIN "
               "pg_class c ON c.oid = v.n::regclass") == "p|p p2|p2 NULL|NULL p|p SELECT 4");
  CHECK(db.run("SELECT attname, (SELECT typname FROM pg_type WHERE oid = atttypid) FROM "
               "pg_attribute WHERE attrelid = 'p'::regclass AND attnum > 0 ORDER BY attnum") ==
        "a|int4 b|text SELECT 2");
  CHECK(db.run("SELECT relname FROM pg_class c WHERE oid IN ('p'::regclass, 'p1'::regclass) AND "
               "EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid)") == "p1 SELECT 1");
}
