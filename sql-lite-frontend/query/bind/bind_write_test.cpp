// INSERT, UPDATE, DELETE and MERGE: columns, defaults, conflicts, and the rights that they need.
#include <catch2/catch.hpp>

#include "sql-lite-frontend/query/bind/testing/fixed_names.h"

using namespace swizzle::sql;

namespace {

struct Written : TestBinding {
  Written() {
    names.add_table("t",
                    {{"id", TypeId::int4},
                     {"a", TypeId::int4, kNoOid, 0, false, "7"},
                     {"g", TypeId::int4, kNoOid, 0, true, "(a + 1)"},
                     {"i", TypeId::int8, kNoOid, 'a'}},
                    {0});
    names.add_table("u", {{"id", TypeId::int4}, {"b", TypeId::text}});
  }
};

}  // namespace

TEST_CASE_METHOD(Written, "INSERT fills the columns that it names, and defaults the others",
                 "[sql][bind]") {
  const auto all = write("INSERT INTO u VALUES (1, 'x')");
  CHECK(all->insert.columns == std::vector<std::size_t>{0, 1});
  CHECK(all->insert.defaults.empty());
  const auto one = write("INSERT INTO u (b) SELECT 'x'");
  CHECK(one->insert.columns == std::vector<std::size_t>{1});
  CHECK(error("INSERT INTO u VALUES (1, 'x', 2)") ==
        "42601 INSERT has more expressions than target columns");
  CHECK(error("INSERT INTO u (id, b) VALUES (1)") ==
        "42601 INSERT has more target columns than expressions");
  CHECK(error("INSERT INTO u (id, id) VALUES (1, 2)") ==
        "42701 column \"id\" specified more than once");
  CHECK(error("INSERT INTO u (x) VALUES (1)") ==
        "42703 column \"x\" of relation \"u\" does not exist");
  CHECK(error("INSERT INTO u VALUES (true, 'x')").substr(0, 76) ==
        "42804 column \"id\" is of type integer but expression is of type boolean\nYou w");
}

TEST_CASE_METHOD(Written, "Generated and identity columns take DEFAULT alone", "[sql][bind]") {
  CHECK(error("INSERT INTO t (id, g) VALUES (1, 2)").substr(0, 5) == "428C9");
  CHECK(error("INSERT INTO t (id, g) VALUES (1, DEFAULT)") == "bound");
  CHECK(error("INSERT INTO t (id, i) VALUES (1, 2)").substr(0, 5) == "428C9");
  CHECK(error("INSERT INTO t (id, i) OVERRIDING SYSTEM VALUE VALUES (1, 2)") == "bound");
  CHECK(error("UPDATE t SET g = 1") == "428C9 column \"g\" can only be updated to DEFAULT");
  CHECK(error("UPDATE t SET i = 1") == "428C9 column \"i\" can only be updated to DEFAULT");
  CHECK(write("UPDATE t SET a = 1")->generated.size() == 1);
  const auto one = write("INSERT INTO t (id) VALUES (1)");
  REQUIRE_FALSE(one->insert.defaults.empty());
  CHECK(one->insert.defaults.front().position == 1);
}

TEST_CASE_METHOD(Written, "ON CONFLICT infers the key that it names", "[sql][bind]") {
  const auto update =
      write("INSERT INTO t (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET a = excluded.a");
  REQUIRE(update->insert.conflict.index != nullptr);
  CHECK(update->insert.conflict.index->name == "t_pkey");
  CHECK(update->changes().updates);
  CHECK(write("INSERT INTO t (id) VALUES (1) ON CONFLICT DO NOTHING")->insert.conflict.index ==
        nullptr);
  CHECK(error("INSERT INTO t (id) VALUES (1) ON CONFLICT (a) DO NOTHING") ==
        "42P10 there is no unique or exclusion constraint matching the ON CONFLICT specification");
  CHECK(error("INSERT INTO t (id) VALUES (1) ON CONFLICT DO UPDATE SET a = 1").substr(0, 5) ==
        "42601");
}

TEST_CASE_METHOD(Written, "UPDATE sets each column once", "[sql][bind]") {
  CHECK(write("UPDATE u SET b = 'x', id = id + 1")->assignments.size() == 2);
  CHECK(write("UPDATE u SET (id, b) = (SELECT id, 'y' FROM t LIMIT 1)")->assignments.size() == 2);
  CHECK(error("UPDATE u SET b = 'x', b = 'y'") ==
        "42601 multiple assignments to same column \"b\"");
  CHECK(error("UPDATE u SET u.b = 'x'").substr(0, 5) == "42703");
  CHECK(error("UPDATE u SET (id, b) = (1, 'x', 2)") ==
        "42601 number of columns does not match number of values");
}

TEST_CASE_METHOD(Written, "The rights that a write needs are noted by column", "[sql][bind]") {
  write("UPDATE u SET b = 'x' WHERE id = 1");
  auto accesses = binder().accesses();
  REQUIRE(accesses.size() == 1);
  CHECK(accesses.front().updated == std::vector<std::size_t>{1});
  CHECK(accesses.front().read == std::vector<std::size_t>{0});
  write("INSERT INTO u (b) SELECT v FROM (VALUES ('x')) s (v)");
  accesses = binder().accesses();
  REQUIRE(accesses.size() == 1);
  CHECK(accesses.front().inserted == std::vector<std::size_t>{1});
  CHECK(accesses.front().read.empty());
}

TEST_CASE_METHOD(Written, "RETURNING knows the old and the new row", "[sql][bind]") {
  CHECK(write("UPDATE u SET b = 'x' RETURNING old.b, new.b, id")->returning.size() == 3);
  CHECK(write("INSERT INTO t (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET a = 1 RETURNING old.a")
            ->insert.returns_old);
  CHECK_FALSE(write("INSERT INTO t (id) VALUES (1) RETURNING a")->insert.returns_old);
  CHECK(error("DELETE FROM u RETURNING nothing") == "42703 column \"nothing\" does not exist");
}

TEST_CASE_METHOD(Written, "MERGE's actions are bound one by one", "[sql][bind]") {
  const auto merge = write(
      "MERGE INTO u USING t ON t.id = u.id WHEN MATCHED AND t.a > 1 THEN UPDATE SET b = 'm' "
      "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (t.id, 'n')");
  REQUIRE(merge->merge.has_value());
  CHECK(merge->merge->actions.size() == 3);
  CHECK(merge->changes().inserts);
  CHECK(merge->changes().removes);
  CHECK(error("MERGE INTO u USING t ON true WHEN NOT MATCHED THEN INSERT VALUES (u.id, 'x')")
            .substr(0, 5) == "42P01");
  CHECK(error("MERGE INTO u USING t ON true WHEN MATCHED THEN DELETE WHEN MATCHED THEN DELETE") ==
        "42601 unreachable WHEN clause specified after unconditional WHEN clause");
}
