#include "sql-lite-frontend/catalog/object_codec.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "sql-lite-frontend/catalog/predefined_roles.h"
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
  relation.indexes[0].method = IndexMethod::inverted;
  const Relation back = decode<Relation>(as_bytes(encode(relation)));
  CHECK(back.estimated_pages == 77);
  CHECK(back.indexes[0].estimated_pages == 5);
  CHECK(back.indexes[0].method == IndexMethod::inverted);

  // A column's record has more fields since.
  Relation old = view_without_rows();
  old.columns.clear();
  std::string record = encode(old);
  record[0] = 3;
  // Version 3 ended before the fields of version 4; version 16 lacked two flags and an empty list,
  // version 18's fields of partitions, two of which are absent, and version 26's empty lists of
  // parents and children.
  constexpr std::size_t kOfPartitions = 2 + sizeof(std::uint32_t) + sizeof(Oid);
  constexpr std::size_t kOfHeirs = 2 * sizeof(std::uint32_t);
  record.resize(record.size() - sizeof relation.estimated_pages - 2 - sizeof(std::uint32_t) -
                kOfPartitions - kOfHeirs);
  CHECK_FALSE(decode<Relation>(as_bytes(record)).populated);
  record[0] = 2;
  record.pop_back();  // and version 2 before `populated`
  CHECK(decode<Relation>(as_bytes(record)).populated);
  for (const char version : {'\0', '\1', '\11'}) {
    record[0] = version;
    CHECK_THROWS_AS(decode<Relation>(as_bytes(record)), SqlError);
  }
}

TEST_CASE("A table's triggers are part of its record; before version 8 it has none",
          "[sql][catalog][triggers]") {
  Relation relation;
  relation.oid = 17000;
  relation.name = "t";
  const std::size_t without = encode(relation).size();
  Trigger trigger;
  trigger.oid = 17001;
  trigger.name = "x";
  trigger.time = TriggerTime::after;
  trigger.events = 6;
  trigger.columns = {2};
  trigger.when_sql = "(old.a <> new.a)";
  trigger.arguments = {"", "b"};
  relation.triggers = {trigger};
  std::string record = encode(relation);
  for (std::size_t size = without; size < record.size(); ++size) {
    INFO("bytes: " << size);
    CHECK_THROWS_AS(decode<Relation>(as_bytes(record).first(size)), SqlError);
  }
  const Relation back = decode<Relation>(as_bytes(record));
  REQUIRE(back.triggers.size() == 1);
  CHECK(back.triggers[0].time == TriggerTime::after);
  CHECK(back.triggers[0].fires_on(TriggerEvent::update));
  CHECK_FALSE(back.triggers[0].fires_on(TriggerEvent::insert));
  CHECK(back.triggers[0].arguments == trigger.arguments);
  CHECK(back.triggers[0].when_sql == trigger.when_sql);
  record[0] = 7;
  CHECK(decode<Relation>(as_bytes(record)).triggers.empty());
}

TEST_CASE("A table's policies are part of its record; before version 16 it has none",
          "[sql][catalog][policies]") {
  Relation relation;
  relation.oid = 17000;
  relation.name = "t";
  const std::size_t without = encode(relation).size();
  relation.row_security = true;
  relation.forces_row_security = true;
  Policy policy;
  policy.oid = 17001;
  policy.name = "p";
  policy.command = 'w';
  policy.permissive = false;
  policy.roles = {16400, 16401};
  policy.using_rows = {"SELECT a > 1", {{"s", "t", 17000, {{1, "a"}}}}, {{"", "c", 17002}}, {}};
  policy.check = {"SELECT f(a)", {{"s", "t", 17000, {{1, "a"}}}}, {}, {{"", "f", 17003}}};
  policy.comment = "why";
  relation.policies = {policy};
  std::string record = encode(relation);
  for (std::size_t size = without; size < record.size(); ++size) {
    INFO("bytes: " << size);
    CHECK_THROWS_AS(decode<Relation>(as_bytes(record).first(size)), SqlError);
  }
  const Relation back = decode<Relation>(as_bytes(record));
  CHECK(back.row_security);
  CHECK(back.forces_row_security);
  REQUIRE(back.policies.size() == 1);
  CHECK(back.policies[0].command == 'w');
  CHECK_FALSE(back.policies[0].permissive);
  CHECK(back.policies[0].roles == policy.roles);
  CHECK(back.policies[0].using_rows.sql == policy.using_rows.sql);
  CHECK(back.policies[0].using_rows.names[0].columns[0].name == "a");
  CHECK(back.policies[0].check.routines[0].routine == 17003);
  CHECK(back.policies[0].comment == "why");
  record[0] = 15;
  CHECK(decode<Relation>(as_bytes(record)).policies.empty());
  CHECK_FALSE(decode<Relation>(as_bytes(record)).row_security);
}

TEST_CASE("Hints of columns are part of a table's record; before version 24 there are none",
          "[sql][catalog]") {
  Relation relation;
  relation.oid = 16'400;
  relation.name = "hinted";
  relation.columns.resize(1);
  relation.columns[0].statistics_target = std::int16_t{500};
  relation.columns[0].options = {"n_distinct=-0.5"};
  relation.columns[0].storage = 'e';
  relation.indexes.resize(1);
  relation.indexes[0].columns.resize(1);
  relation.indexes[0].columns[0].expression_sql = "a + 1";
  relation.indexes[0].columns[0].statistics_target = std::int16_t{7};
  std::string record = encode(relation);
  const auto back = decode<Relation>(as_bytes(record));
  CHECK(back.columns[0].statistics_target == 500);
  CHECK(back.columns[0].options == std::vector<std::string>{"n_distinct=-0.5"});
  CHECK(back.columns[0].storage == 'e');
  CHECK(back.indexes[0].columns[0].statistics_target == 7);

  relation.indexes.clear();
  relation.columns[0].statistics_target.reset();
  relation.columns[0].options.clear();
  const std::string with_storage = encode(relation);
  relation.columns[0].storage = 0;
  record = encode(relation);
  const auto at = std::ranges::mismatch(record, with_storage).in1 - record.begin();
  // An absent target, an empty list, and the letter; behind it what version 26 has added.
  constexpr std::size_t kOfHints = 1 + sizeof(std::uint32_t) + 1;
  constexpr std::size_t kOfHeirs = sizeof(std::int16_t) + 1;
  record.erase(static_cast<std::size_t>(at) + 1 - kOfHints, kOfHints + kOfHeirs);
  record[0] = 23;
  const auto old = decode<Relation>(as_bytes(record));
  CHECK(old.name == "hinted");
  CHECK(old.columns.size() == 1);
  CHECK_FALSE(old.columns[0].statistics_target);
}

TEST_CASE("Parents and children are part of a table's record; before version 26 there are none",
          "[sql][catalog][inheritance]") {
  Relation relation;
  relation.oid = 17000;
  relation.name = "t";
  relation.columns.resize(1);
  relation.columns[0].name = "a";
  relation.columns[0].inherit_count = 2;
  relation.columns[0].also_local = true;
  relation.constraints.resize(1);
  relation.constraints[0].name = "k";
  relation.constraints[0].inherit_count = 3;
  relation.parents = {17002, 17001};
  relation.children = {17003};
  std::string record = encode(relation);
  for (std::size_t size = 0; size < record.size(); ++size) {
    INFO("bytes: " << size);
    CHECK_THROWS_AS(decode<Relation>(as_bytes(record).first(size)), SqlError);
  }
  const Relation back = decode<Relation>(as_bytes(record));
  CHECK(back.columns[0].inherit_count == 2);
  CHECK(back.columns[0].also_local);
  CHECK(back.constraints[0].inherit_count == 3);
  CHECK(back.parents == relation.parents);
  CHECK(back.children == relation.children);
  // As a server of before wrote it: without the fields at the end of each list.
  relation.columns.clear();
  relation.constraints.clear();
  relation.parents.clear();
  relation.children.clear();
  record = encode(relation);
  record.resize(record.size() - 2 * sizeof(std::uint32_t));
  record[0] = 25;
  const auto old = decode<Relation>(as_bytes(record));
  CHECK(old.parents.empty());
  CHECK(old.children.empty());
}

TEST_CASE("How a table is divided is part of its record; before version 18 none is",
          "[sql][catalog][partitions]") {
  Relation relation;
  relation.oid = 17000;
  relation.name = "t";
  relation.columns.resize(1);
  relation.columns[0].name = "a";
  relation.columns[0].inherited = true;
  relation.columns[0].is_virtual = true;
  relation.partitions = {17001, 17002};
  relation.partition_key = PartitionKey{PartitionStrategy::list, {{1, {}, TypeId::text, 100, "x"}}};
  relation.partition_of = 17003;
  PartitionBound bound;
  bound.values = {{PartitionDatum::Kind::value, "abc"}, {PartitionDatum::Kind::null, {}}};
  bound.from = {{PartitionDatum::Kind::minimum, {}}};
  bound.to = {{PartitionDatum::Kind::maximum, {}}};
  bound.modulus = 4;
  bound.remainder = 3;
  relation.partition_bound = bound;
  std::string record = encode(relation);
  for (std::size_t size = 0; size < record.size(); ++size) {
    INFO("bytes: " << size);
    CHECK_THROWS_AS(decode<Relation>(as_bytes(record).first(size)), SqlError);
  }
  const Relation back = decode<Relation>(as_bytes(record));
  CHECK(back.columns[0].inherited);
  CHECK(back.columns[0].is_virtual);
  CHECK(back.partitions == relation.partitions);
  REQUIRE(back.partition_key);
  CHECK(back.partition_key->strategy == PartitionStrategy::list);
  CHECK(back.partition_key->columns[0].operator_class == "x");
  CHECK(back.partition_of == 17003);
  REQUIRE(back.partition_bound);
  CHECK(back.partition_bound->values == bound.values);
  CHECK(back.partition_bound->from == bound.from);
  CHECK(back.partition_bound->to == bound.to);
  CHECK(back.partition_bound->remainder == 3);
}

TEST_CASE(
    "What a query's record says of operators, casts and constants is told from routines' names",
    "[sql][catalog]") {
  Relation relation;
  relation.oid = 17000;
  relation.name = "v";
  relation.view_routines = {{"", "operator +", 17001},   {"", "cast 23 25", 17002},
                            {"", "regclass t", 17003},   {"", "f", 17004},
                            {"", "operators of", 17005}, {"", "regular t", 17006}};
  std::string record = encode(relation);
  const auto names_of = [&] {
    std::vector<std::string> names;
    for (const ViewRoutine& named : decode<Relation>(as_bytes(record)).view_routines) {
      names.push_back(named.name);
    }
    return names;
  };
  CHECK(names_of() == std::vector<std::string>{"operator +", "cast 23 25", "regclass t", "f",
                                               "operators of", "regular t"});
  // Before version 17 the first word marked such records.
  record[0] = 16;
  CHECK(names_of() == std::vector<std::string>{operator_record("+"),
                                               cast_record(TypeId::int4, TypeId::text),
                                               constant_record(TypeId::regclass, "t"), "f",
                                               "operators of", "regular t"});
  CHECK(constant_of_record(names_of()[2]) == TypeId::regclass);
  CHECK(constant_of_record("regclass t") == TypeId::none);
}

TEST_CASE("A routine's record is read back, and cut short at any byte is an error",
          "[sql][catalog]") {
  Routine routine;
  routine.oid = 17000;
  routine.name = "f";
  routine.language = "sql";
  routine.parameters = {{"a", ParameterMode::in, TypeId::int4, {}},
                        {"b", ParameterMode::variadic, TypeId::text, "'x'::text"}};
  routine.result = TypeId::record;
  routine.settings = {"work_mem=1MB"};
  routine.body = "SELECT 1";
  routine.body_names = {{"s", "t", 16400, {{1, "id"}}}};
  routine.body_routines = {{"", "g", 16401}};
  routine.grants = {{kNoOid, kBootstrapRole, "X"}};
  const std::string record = encode(routine);
  for (std::size_t size = 0; size < record.size(); ++size) {
    INFO("bytes: " << size);
    CHECK_THROWS_AS(decode<Routine>(as_bytes(record).first(size)), SqlError);
  }
  const Routine back = decode<Routine>(as_bytes(record));
  CHECK(back.parameters[1].mode == ParameterMode::variadic);
  CHECK(back.parameters[1].default_sql == "'x'::text");
  CHECK(back.settings == routine.settings);
  CHECK(back.body_names[0].columns[0].name == "id");
  CHECK(back.body_routines[0].routine == 16401);
  CHECK(back.cost == routine.cost);
}

TEST_CASE("A domain's record is read back; before version 9 a type is an enum",
          "[sql][catalog][domains]") {
  UserType type;
  type.oid = kFirstDomain + 17000;
  type.name = "d";
  const std::size_t common = encode(type).size();
  type.base = TypeId::varchar;
  type.base_typmod = 9;
  type.not_null = true;
  type.default_sql = "'x'::text";
  type.checks = {{17001, "c", "(VALUE > 0)", false, "why"}};
  std::string record = encode(type);
  for (std::size_t size = 0; size < record.size(); ++size) {
    INFO("bytes: " << size);
    CHECK_THROWS_AS(decode<UserType>(as_bytes(record).first(size)), SqlError);
  }
  CHECK(common < record.size());
  const UserType back = decode<UserType>(as_bytes(record));
  CHECK(back.base == TypeId::varchar);
  CHECK(back.base_typmod == 9);
  CHECK(back.not_null);
  CHECK(back.default_sql == type.default_sql);
  REQUIRE(back.checks.size() == 1);
  CHECK(back.checks[0].sql == "(VALUE > 0)");
  CHECK_FALSE(back.checks[0].validated);
  record[0] = 8;
  const UserType old = decode<UserType>(as_bytes(record));
  CHECK(old.name == "d");
  CHECK(old.base == TypeId::none);
  CHECK(old.checks.empty());
}

TEST_CASE("A role's record of version 5 has members without ADMIN OPTION", "[sql][catalog]") {
  Role role;
  role.oid = 17000;
  role.name = "r";
  role.settings = {"work_mem=1MB"};
  std::string record = encode(role);
  constexpr std::size_t kMembers = 1 + 4 + (4 + 1) + 7 + 4 + 4 + 4;
  record[0] = 5;
  record[kMembers] = 2;
  const Oid groups[] = {16500, kMonitorRole};
  record.insert(kMembers + 4, reinterpret_cast<const char*>(groups), sizeof groups);
  Role back = decode<Role>(as_bytes(record));
  REQUIRE(back.member_of.size() == 2);
  for (const Oid group : groups) {
    const Membership* membership = back.membership_in(group);
    REQUIRE(membership != nullptr);
    CHECK(membership->grantor == kBootstrapRole);
    CHECK_FALSE(membership->admin_option);
  }
  CHECK(back.settings == role.settings);

  back.member_of[0] = {16500, 16501, true};
  const Role again = decode<Role>(as_bytes(encode(back)));
  CHECK(again.membership_in(16500)->grantor == 16501);
  CHECK(again.membership_in(16500)->admin_option);
  CHECK_FALSE(again.membership_in(kMonitorRole)->admin_option);
  CHECK(again.membership_in(16501) == nullptr);
}

}  // namespace
}  // namespace swizzle::sql
