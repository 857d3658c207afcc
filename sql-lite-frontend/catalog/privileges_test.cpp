#include "sql-lite-frontend/catalog/privileges.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <random>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr Oid kOwner = 100;
constexpr std::array<Oid, 6> kRoles{kOwner, 101, 102, 103, 104, 105};
constexpr Privileges kAll = privilege::kSelect | privilege::kInsert | privilege::kUpdate;

/// True if each right comes from the owner, directly or through roles with its grant option.
bool comes_from_owner(const AccessList& list) {
  std::array<Privileges, kRoles.size()> may{};
  may[0] = ~Privileges{0};
  const auto index = [](Oid role) {
    return static_cast<std::size_t>(std::ranges::find(kRoles, role) - kRoles.begin());
  };
  for (bool again = true; again;) {
    again = false;
    for (const AccessList::Entry& entry : list.entries()) {
      if (entry.grantee == kPublic) continue;
      const Privileges more =
          entry.options & may[index(entry.grantor)] & ~may[index(entry.grantee)];
      may[index(entry.grantee)] |= more;
      again |= more != 0;
    }
  }
  return std::ranges::all_of(list.entries(), [&](const AccessList::Entry& entry) {
    return (entry.privileges & ~may[index(entry.grantor)]) == 0 &&
           (entry.options & ~entry.privileges) == 0;
  });
}

/// Random grants and revocations, by roles that may make them, on some lists.
class History {
 public:
  explicit History(unsigned seed) : random_(seed) {}

  AccessList list{{}, kOwner, GrantedOn::table};

  /// Discards a list that has refused a change.
  void step() {
    const AccessList before = list;
    try {
      change();
    } catch (const SqlError&) {
      list = before;
      ++refused;
    }
  }
  int refused = 0;

 private:
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>{0, n - 1}(random_);
  }

  void change() {
    using enum AccessList::Dependents;
    const Oid grantee = kRoles[1 + below(kRoles.size() - 1)];
    const Oid roles[] = {kPublic, kRoles[below(kRoles.size())]};
    const Privileges wanted = kAll & static_cast<Privileges>(below(kAll + 1));
    AccessList::Grantor grantor{kOwner, wanted};
    if (roles[1] != kOwner) grantor = list.grantor_for(roles[1], roles, wanted);
    const std::size_t what = below(20);
    if (what < 11) {
      const bool with = what < 7;
      list.grant(with || what < 10 ? grantee : kPublic, grantor.role, grantor.may,
                 with ? AccessList::GrantOption::with : AccessList::GrantOption::without);
    } else if (what < 19) {
      list.revoke(grantee, grantor.role, grantor.may,
                  below(2) == 0 ? AccessList::Revoked::privileges : AccessList::Revoked::option,
                  below(2) == 0 ? refuse : revoke);
    } else {
      const Oid gone[] = {grantee};
      list.forget(gone);
      CHECK(std::ranges::none_of(list.entries(), [&](const AccessList::Entry& entry) {
        return entry.grantee == grantee || entry.grantor == grantee;
      }));
    }
  }

  std::mt19937 random_;
};

TEST_CASE("every right comes from the owner, whatever was granted and taken back") {
  int refused = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    History history{seed};
    for (int i = 0; i < 60; ++i) {
      history.step();
      REQUIRE(comes_from_owner(history.list));
    }
    refused += history.refused;
  }
  // Dependent grants and circles occurred.
  CHECK(refused > 100);
}

TEST_CASE("a right that is passed on with another role's option goes with that option") {
  constexpr Oid kGroup = 101;
  constexpr Oid kMember = 102;
  constexpr Oid kFriend = 103;
  AccessList list{{}, kOwner, GrantedOn::table};
  list.grant(kGroup, kOwner, privilege::kSelect, AccessList::GrantOption::with);
  const Oid member[] = {kPublic, kMember, kGroup};
  const auto grantor = list.grantor_for(kMember, member, kAll);
  CHECK(grantor.role == kGroup);
  CHECK(grantor.may == privilege::kSelect);
  list.grant(kFriend, grantor.role, grantor.may, AccessList::GrantOption::without);
  const auto take = [&](AccessList::Dependents dependents) {
    list.revoke(kGroup, kOwner, kAll, AccessList::Revoked::privileges, dependents);
  };
  CHECK_THROWS_AS(take(AccessList::Dependents::refuse), SqlError);
  AccessList whole{{}, kOwner, GrantedOn::table};
  list = whole;
  list.grant(kGroup, kOwner, privilege::kSelect, AccessList::GrantOption::with);
  list.grant(kFriend, kGroup, privilege::kSelect, AccessList::GrantOption::without);
  take(AccessList::Dependents::revoke);
  const Oid other[] = {kFriend};
  CHECK(list.allowed(other) == 0);
}

TEST_CASE("what thousands have passed on, each to the next, is taken back from all") {
  constexpr Oid kLast = kOwner + 5000;
  AccessList list{{}, kOwner, GrantedOn::table};
  for (Oid role = kOwner; role < kLast; ++role) {
    list.grant(role + 1, role, privilege::kSelect, AccessList::GrantOption::with);
  }
  const Oid last[] = {kLast};
  CHECK(list.allowed(last) == privilege::kSelect);
  list.revoke(kOwner + 1, kOwner, kAll, AccessList::Revoked::option,
              AccessList::Dependents::revoke);
  CHECK(list.allowed(last) == 0);
  CHECK(list.entries().size() == 2);
}

TEST_CASE("nobody keeps a right by having granted it to themselves") {
  AccessList list{{}, kOwner, GrantedOn::table};
  list.grant(101, kOwner, privilege::kSelect, AccessList::GrantOption::with);
  list.grant(101, 101, privilege::kSelect, AccessList::GrantOption::without);
  list.revoke(101, kOwner, kAll, AccessList::Revoked::privileges, AccessList::Dependents::revoke);
  const Oid self[] = {101};
  CHECK(list.allowed(self) == 0);
}

TEST_CASE("options of several roles do not add up") {
  AccessList list{{}, kOwner, GrantedOn::table};
  list.grant(101, kOwner, privilege::kSelect, AccessList::GrantOption::with);
  list.grant(102, kOwner, privilege::kInsert | privilege::kUpdate, AccessList::GrantOption::with);
  const Oid roles[] = {kPublic, 103, 101, 102};
  const auto grantor = list.grantor_for(103, roles, kAll);
  CHECK(grantor.role == 102);
  CHECK(grantor.may == (privilege::kInsert | privilege::kUpdate));
  CHECK(list.grantor_for(103, roles, privilege::kSelect).role == 101);
  const auto none = list.grantor_for(103, roles, privilege::kDelete);
  CHECK(none.role == 103);
  CHECK(none.may == 0);
}

TEST_CASE("what is left when nobody but a dropped role had a right is not what is usual") {
  AccessList list{{}, kOwner, GrantedOn::function, kEveryoneOnFunction};
  using enum AccessList::Dependents;
  list.revoke(kPublic, kOwner, kEveryoneOnFunction, AccessList::Revoked::privileges, revoke);
  list.revoke(kOwner, kOwner, privilege::kExecute, AccessList::Revoked::privileges, revoke);
  list.grant(101, kOwner, privilege::kExecute, AccessList::GrantOption::without);
  const Oid gone[] = {101};
  CHECK(list.forget(gone));
  const AccessList after{list.grants(), kOwner, GrantedOn::function, kEveryoneOnFunction};
  const Oid anybody[] = {kPublic, 104};
  CHECK(after.allowed(anybody) == 0);
}

}  // namespace
}  // namespace swizzle::sql
