#include "sql-lite-frontend/catalog/not_null_constraints.h"

#include <catch2/catch.hpp>

#include "sql-lite-frontend/catalog/object_codec.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

Relation table_of(std::initializer_list<const char*> names) {
  Relation relation;
  relation.oid = 17000;
  relation.name = "t";
  for (const char* name : names) {
    Column column;
    column.name = name;
    column.type = TypeId::int4;
    column.not_null = true;
    relation.columns.push_back(std::move(column));
  }
  return relation;
}

/// Removes the bytes in which the two records differ, which are fields of a newer format, and
/// `behind` bytes behind each, which are fields of an even newer one.
std::string without_differences(const std::string& one, const std::string& other,
                                std::size_t behind = 0) {
  REQUIRE(one.size() == other.size());
  std::string rest;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] == other[i])
      rest += one[i];
    else
      i += behind;
  }
  return rest;
}

TEST_CASE("Every NOT NULL column of a table has a constraint, and no other column",
          "[sql][catalog][not-null]") {
  Relation relation = table_of({"a", "b", "c"});
  Oid next = 20000;
  const auto allocate = [&] { return next++; };
  relation.columns[1].not_null = false;
  complete_not_nulls(relation, allocate);
  REQUIRE(relation.constraints.size() == 2);
  CHECK(relation.constraints[0].name == "t_a_not_null");
  CHECK(relation.constraints[0].kind == ConstraintKind::not_null);
  CHECK(relation.constraints[1].columns == std::vector<std::int16_t>{3});
  CHECK(not_null_of(relation, 1) == nullptr);

  SECTION("a second time nothing changes") {
    complete_not_nulls(relation, allocate);
    CHECK(relation.constraints.size() == 2);
    CHECK(next == 20002);
  }
  SECTION("a column that may be NULL again loses it") {
    relation.columns[0].not_null = false;
    complete_not_nulls(relation, allocate);
    REQUIRE(relation.constraints.size() == 1);
    CHECK(relation.constraints[0].name == "t_c_not_null");
  }
  SECTION("so does a dropped one") {
    relation.columns[2].dropped = true;
    complete_not_nulls(relation, allocate);
    CHECK(relation.constraints.size() == 1);
  }
  SECTION("a name that is taken gets a number") {
    relation.columns[1].not_null = true;
    relation.constraints[0].name = "t_b_not_null";
    complete_not_nulls(relation, allocate);
    CHECK(not_null_of(relation, 1)->name == "t_b_not_null1");
  }
  SECTION("rows may have NULL while it is not valid") {
    not_null_of(relation, 0)->validated = false;
    complete_not_nulls(relation, allocate);
    CHECK(relation.columns[0].not_null);
    CHECK_FALSE(relation.columns[0].never_null());
    CHECK(relation.columns[2].never_null());
  }
  SECTION("views have none") {
    relation.constraints.clear();
    relation.kind = RelationKind::view;
    complete_not_nulls(relation, allocate);
    CHECK(relation.constraints.empty());
  }
}

TEST_CASE("Default names are cut, the longer part first", "[sql][catalog][not-null]") {
  const std::string longest(63, 'x');
  const ObjectName name = object_name(longest, longest, "not_null");
  CHECK(name.numbered(0).size() == 63);
  CHECK(name.numbered(12).ends_with("_not_null12"));
  CHECK(name.numbered(12).size() == 63);
  CHECK(object_name("t", "a", "key").numbered(0) == "t_a_key");
  CHECK(object_name("t", "", "pkey").numbered(2) == "t_pkey2");
}

TEST_CASE("A record of before format 21 gets the constraints of its NOT NULL columns",
          "[sql][catalog][not-null]") {
  Relation relation = table_of({"id", "name"});
  relation.columns[1].not_null = false;
  const std::string record = encode(relation);
  for (Column& column : relation.columns) column.not_null_unproven = true;
  // No statistics target, no options, and a letter, since version 24; a number and a flag of
  // inherited columns, since version 26.
  constexpr std::size_t kSince = 1 + sizeof(std::uint32_t) + 1 + sizeof(std::int16_t) + 1;
  std::string old = without_differences(record, encode(relation), kSince);
  REQUIRE(old.size() == record.size() - 2 * (1 + kSince));
  old[0] = 20;
  const Relation back = decode<Relation>(as_bytes(old));
  REQUIRE(back.constraints.size() == 1);
  CHECK(back.constraints[0].name == "t_id_not_null");
  CHECK(back.constraints[0].oid >= 0xC0000000U);
  CHECK(back.constraints[0].validated);
  CHECK(back.columns[0].never_null());
  // Every reader finds the same number, and another table's is another.
  CHECK(decode<Relation>(as_bytes(old)).constraints[0].oid == back.constraints[0].oid);
  Relation other = back;
  other.oid = 17001;
  other.constraints.clear();
  name_old_not_nulls(other);
  CHECK(other.constraints[0].oid != back.constraints[0].oid);
  // Written again, it keeps them.
  const Relation again = decode<Relation>(as_bytes(encode(back)));
  REQUIRE(again.constraints.size() == 1);
  CHECK(again.constraints[0].oid == back.constraints[0].oid);
}

TEST_CASE("The record of a NOT NULL domain of before format 22 gets its constraint",
          "[sql][catalog][not-null]") {
  UserType domain;
  domain.oid = kFirstDomain + 17;
  domain.name = "d";
  domain.base = TypeId::int4;
  domain.not_null = true;
  domain.checks = {{17001, "d_check", "(VALUE > 0)", true, {}, false}};
  const std::string record = encode(domain);
  domain.checks[0].is_not_null = true;
  std::string old = without_differences(record, encode(domain));
  REQUIRE(old.size() == record.size() - 1);
  old[0] = 21;
  const UserType back = decode<UserType>(as_bytes(old));
  REQUIRE(back.checks.size() == 2);
  CHECK_FALSE(back.checks[0].is_not_null);
  CHECK(back.checks[1].is_not_null);
  CHECK(back.checks[1].name == "d_not_null");
  CHECK(back.checks[1].oid >= 0xC0000000U);
  // Written again, it keeps it.
  const UserType again = decode<UserType>(as_bytes(encode(back)));
  REQUIRE(again.checks.size() == 2);
  CHECK(again.checks[1].oid == back.checks[1].oid);
  // A domain that may be NULL gets none.
  domain.not_null = false;
  domain.checks.clear();
  std::string nullable = encode(domain);
  nullable[0] = 21;
  CHECK(decode<UserType>(as_bytes(nullable)).checks.empty());
}

TEST_CASE("A membership of before format 21 has the inheritance of its role",
          "[sql][catalog][privileges]") {
  const bool inherits = GENERATE(true, false);
  Role role;
  role.oid = 17000;
  role.name = "r";
  role.inherit = inherits;
  Membership membership;
  membership.group = 17001;
  membership.grantor = 17002;
  membership.admin_option = true;
  role.member_of = {membership};
  const std::string record = encode(role);
  role.member_of[0].oid = 0xFFFFFFFFU;
  role.member_of[0].inherit_option = role.member_of[0].set_option = false;
  std::string old = without_differences(record, encode(role));
  REQUIRE(old.size() == record.size() - sizeof(Oid) - 2);
  old[0] = 20;
  const Role back = decode<Role>(as_bytes(old));
  REQUIRE(back.member_of.size() == 1);
  CHECK(back.member_of[0].group == 17001);
  CHECK(back.member_of[0].admin_option);
  CHECK(back.member_of[0].inherit_option == inherits);
  CHECK(back.member_of[0].set_option);
  // No grant of before depends on its grantor's option.
  CHECK(back.member_of[0].grantor == kBootstrapRole);
}

TEST_CASE("The owner of a table of before has MAINTAIN with the other rights",
          "[sql][catalog][privileges]") {
  Relation relation = table_of({});
  relation.owner = 17005;
  relation.grants = {{17005, 17005, "arwdDxt"}, {17006, 17005, "arwdDxt"}};
  std::string record = encode(relation);
  record[0] = 20;
  const Relation back = decode<Relation>(as_bytes(record));
  CHECK(back.grants[0].privileges == "arwdDxtm");
  CHECK(back.grants[1].privileges == "arwdDxt");
}

}  // namespace
}  // namespace swizzle::sql
