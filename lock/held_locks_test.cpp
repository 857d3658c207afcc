#include <catch2/catch.hpp>

#include "lock/lock_test_support.h"

namespace swizzle::lock {
namespace {

/// Returns the requests that another owner is refused while the owner holds its locks.
std::vector<std::string> refusals(LockManager& manager) {
  std::vector<std::string> refused;
  LockOwner other{manager};
  const auto ask = [&](const std::string& what, const auto& result) {
    if (!result) refused.push_back(what);
  };
  for (std::uint8_t mode = 1; mode <= kRelationModes; ++mode)
    for (std::uint32_t relation = 1; relation <= 3; ++relation)
      ask("relation " + std::to_string(relation) + " " + std::to_string(mode),
          other.acquire_relation(RelationId{relation}, RelationMode{mode}, kNoWait));
  other.release_all(Lsn::none);
  for (std::uint8_t mode = 1; mode < kTableModes; ++mode)
    for (const TreeId tree : {kTree, TreeId{8}, TreeId{9}})
      ask("table " + std::to_string(raw(tree)) + " " + std::to_string(mode),
          other.acquire_table(tree, TableMode{mode}, kNoWait));
  other.release_all(Lsn::none);
  for (std::uint64_t number = 0; number < 4; ++number)
    for (const KeyMode mode : {kKeepKey, kReadKey, kChangeContent, kWriteKey, kInsertIntoGap})
      ask("key " + std::to_string(number) + " " + std::to_string(std::to_underlying(mode.key)),
          other.acquire(key(number), mode, kNoWait));
  other.release_all(Lsn::none);
  return refused;
}

}  // namespace

TEST_CASE("what is written down of an owner's locks, and taken again, refuses others the same",
          "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{small_table(variant)};
  LockOwner one{manager};
  REQUIRE(one.try_share_relation(RelationId{1}));
  REQUIRE(one.acquire_relation(RelationId{2}, RelationMode::share_update_exclusive));
  REQUIRE(one.acquire_relation(RelationId{3}, RelationMode::row_share));
  REQUIRE(one.acquire_table(kTree, TableMode::intent_exclusive));
  REQUIRE(one.acquire_table(TreeId{8}, TableMode::shared));
  REQUIRE(one.acquire_table(TreeId{9}, TableMode::intent_shared));
  REQUIRE(one.acquire(key(0), kKeepKey));
  REQUIRE(one.acquire(key(1), kReadKey));
  REQUIRE(one.acquire(key(1), kWriteKey));
  REQUIRE(one.acquire(key(2), kChangeContent));
  REQUIRE(one.acquire(key(3), kReadKeyAndGap));
  const std::vector<std::string> before = refusals(manager);
  REQUIRE(before.size() > 10);
  const std::vector<HeldLock> held = one.held_locks();
  one.release_all(Lsn::none);
  REQUIRE(refusals(manager).empty());

  LockOwner two{manager};
  two.begin(TxnId{5});
  for (const HeldLock& lock : held) REQUIRE(two.retake(lock));
  CHECK(refusals(manager) == before);
  CHECK(two.held_locks().size() == held.size());
  LockOwner three{manager};
  CHECK(three
            .retake({.kind = LockRow::Kind::key,
                     .place = raw(kTree),
                     .hash = key(1).hash,
                     .key_mode = kReadKey,
                     .table_mode = TableMode::none})
            .error()
            .state() == sqlstate::lock_not_available);
  two.release_all(Lsn::none);
  three.release_all(Lsn::none);
  CHECK(manager.snapshot().empty());
}

}  // namespace swizzle::lock
