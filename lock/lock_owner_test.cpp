#include "lock/lock_owner.h"

#include <catch2/catch.hpp>
#include <limits>

#include "base/runtime/latch_count.h"
#include "lock/lock_test_support.h"

namespace swizzle::lock {
namespace {}  // namespace

TEST_CASE("locks exclude by mode, and release lets the next one in", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{small_table(variant)};
  LockOwner one{manager};
  LockOwner two{manager};
  CHECK(state_of(one.acquire(key(1), kReadKey)) == "granted");
  CHECK(state_of(two.acquire(key(1), kReadKey, kNoWait)) == "granted");
  CHECK(state_of(two.acquire(key(1), kWriteKey, kNoWait)) == "55P03");
  CHECK(state_of(two.acquire(key(1), kWriteKey, kSkipLocked)) == "skipped");
  CHECK(two.held(key(1)) == kReadKey);
  CHECK(state_of(two.acquire(key(1), kReadGap, kNoWait)) == "granted");
  CHECK(two.held(key(1)) == kReadKeyAndGap);
  CHECK_FALSE(one.try_acquire(key(1), kInsertIntoGap));
  one.release_all(Lsn::none);
  CHECK(state_of(two.acquire(key(1), kWriteKey, kNoWait)) == "granted");
  CHECK(two.held(key(1)) == KeyMode{Access::exclusive, Access::shared});
  CHECK(state_of(one.acquire(key(1), kReadKey, kSkipLocked)) == "skipped");
  two.release_all(Lsn::none);
  CHECK(manager.snapshot().empty());
  CHECK(two.held(key(1)) == KeyMode{});
}

TEST_CASE("the same hash in two trees is two locks", "[lock]") {
  LockManager manager{small_table()};
  LockOwner one{manager};
  LockOwner two{manager};
  CHECK(one.try_acquire({TreeId{1}, 42}, kWriteKey));
  CHECK(two.try_acquire({TreeId{2}, 42}, kWriteKey));
  CHECK_FALSE(two.try_acquire({TreeId{1}, 42}, kReadKey));
  one.release_all(Lsn::none);
  two.release_all(Lsn::none);
}

TEST_CASE("repeated requests are answered privately", "[lock]") {
  LockManager manager{small_table()};
  LockOwner owner{manager};
  CHECK(owner.try_acquire(key(1), kWriteKeyAndGap));
  for (int i = 0; i < 100; ++i) {
    CHECK(owner.try_acquire(key(1), kReadKey));
    CHECK(owner.try_acquire(key(1), kInsertIntoGap));
  }
  CHECK(owner.locks_held() == 1);
  CHECK(manager.snapshot().size() == 1);
  owner.release_all(Lsn::none);
}

TEST_CASE("a conditional request leaves nothing queued when it fails", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{small_table(variant)};
  LockOwner holder{manager};
  LockOwner failing{manager};
  LockOwner reader{manager};
  CHECK(holder.try_acquire(key(1), kReadKey));
  ++latches_held;  // parking is never needed, so a held latch is allowed
  CHECK_FALSE(failing.try_acquire(key(1), kWriteKey));
  --latches_held;
  // If the refused request had stayed in the queue, it would block the reader.
  CHECK(reader.try_acquire(key(1), kReadKey));
  CHECK(manager.snapshot().size() == 2);
  holder.release_all(Lsn::none);
  reader.release_all(Lsn::none);
}

TEST_CASE("checking a gap takes nothing and counts only other owners", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{small_table(variant)};
  LockOwner reader{manager};
  LockOwner inserter{manager};
  CHECK(inserter.gap_is_free(key(1)));
  CHECK(reader.try_acquire(key(1), kReadKeyAndGap));
  CHECK_FALSE(inserter.gap_is_free(key(1)));
  CHECK(inserter.gap_is_free(key(2)));
  CHECK(reader.gap_is_free(key(1)));
  CHECK_FALSE(manager.is_free(key(1), kInsertIntoGap));
  CHECK_FALSE(manager.is_free(key(1), kWriteKeyAndGap));
  CHECK(manager.is_free(key(1), kReadKeyAndGap));
  CHECK(manager.snapshot().size() == 1);
  reader.release_all(Lsn::none);
  CHECK(inserter.gap_is_free(key(1)));
  CHECK(manager.is_free(key(1), kWriteKeyAndGap));
}

TEST_CASE("a waiter for a gap does not make the gap taken", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{small_table(variant)};
  LockOwner writer{manager};
  LockOwner inserter{manager};
  CHECK(writer.try_acquire(key(1), kWriteKey));
  InThread waiting{[&manager] {
    LockOwner reader{manager};
    INVARIANT(state_of(reader.acquire(key(1), kReadKeyAndGap, kPatient)) == "granted");
    reader.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  CHECK(inserter.gap_is_free(key(1)));
  CHECK(writer.gap_is_free(key(1)));
  writer.release_all(Lsn::none);
}

TEST_CASE("marks give up what came after them", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{small_table(variant)};
  LockOwner owner{manager};
  LockOwner other{manager};
  REQUIRE(owner.try_acquire(key(1), kReadKey));
  const LockMark savepoint = owner.mark();
  REQUIRE(owner.try_acquire(key(1), kWriteKey));
  REQUIRE(owner.try_acquire(key(2), kWriteKey));
  const LockMark statement = owner.mark();
  REQUIRE(owner.try_acquire(key(3), kWriteKey));
  owner.release_to(statement);
  CHECK(owner.held(key(3)) == KeyMode{});
  CHECK(owner.held(key(2)) == kWriteKey);
  CHECK(other.try_acquire(key(3), kWriteKey));
  owner.release_to(savepoint);
  CHECK(owner.held(key(1)) == kReadKey);
  CHECK(owner.held(key(2)) == KeyMode{});
  CHECK(other.try_acquire(key(1), kReadKey));
  CHECK_FALSE(other.try_acquire(key(1), kWriteKey));
  owner.release_to(LockMark::start);
  CHECK(owner.locks_held() == 0);
  CHECK(other.try_acquire(key(1), kWriteKey));
  other.release_all(Lsn::none);
  owner.release_all(Lsn::none);
  CHECK(manager.snapshot().empty());
}

TEST_CASE("a waiter is granted when the holder goes", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{small_table(variant)};
  LockOwner holder{manager};
  REQUIRE(holder.try_acquire(key(1), kWriteKey));
  std::atomic<bool> granted{false};
  InThread waiter{[&] {
    LockOwner owner{manager};
    INVARIANT(state_of(owner.acquire(key(1), kWriteKey, kPatient)) == "granted");
    granted = true;
    owner.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  CHECK_FALSE(granted);
  holder.release_all(Lsn::none);
  waiter.join();
  CHECK(granted);
  CHECK(manager.statistics().waits == 1);
}

TEST_CASE("first come, first served: a reader does not overtake a waiting writer", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{small_table(variant)};
  LockOwner holder{manager};
  LockOwner late{manager};
  REQUIRE(holder.try_acquire(key(1), kReadKey));
  InThread writer{[&] {
    LockOwner owner{manager};
    INVARIANT(state_of(owner.acquire(key(1), kWriteKey, kPatient)) == "granted");
    owner.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  CHECK_FALSE(late.try_acquire(key(1), kReadKey));
  holder.release_all(Lsn::none);
}

TEST_CASE("an upgrade overtakes a waiter that waits for the upgrader", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{small_table(variant)};
  LockOwner reader{manager};
  REQUIRE(reader.try_acquire(key(1), kReadKey));
  InThread writer{[&] {
    LockOwner owner{manager};
    INVARIANT(state_of(owner.acquire(key(1), kWriteKey, kPatient)) == "granted");
    owner.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  // Queueing behind the writer would be a needless deadlock.
  CHECK(reader.try_acquire(key(1), kWriteKey));
  reader.release_all(Lsn::none);
}

TEST_CASE("lock_timeout ends a wait with 55P03 and leaves nothing behind", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{small_table(variant)};
  LockOwner holder{manager};
  LockOwner waiter{manager};
  REQUIRE(holder.try_acquire(key(1), kReadKey));
  const auto result = waiter.acquire(key(1), kWriteKey, {.lock_timeout = 20ms});
  CHECK(state_of(result) == "55P03");
  CHECK(manager.snapshot().size() == 1);
  LockOwner reader{manager};
  CHECK(reader.try_acquire(key(1), kReadKey));
  reader.release_all(Lsn::none);
  holder.release_all(Lsn::none);
  CHECK(waiter.try_acquire(key(1), kWriteKey));
  waiter.release_all(Lsn::none);
}

TEST_CASE("cancelling ends a wait with 57014 and lets those behind it in", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{small_table(variant)};
  LockOwner holder{manager};
  LockOwner victim{manager};
  REQUIRE(holder.try_acquire(key(1), kReadKey));
  InThread writer{[&] { INVARIANT(state_of(victim.acquire(key(1), kWriteKey)) == "57014"); }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  InThread reader{[&] {
    LockOwner owner{manager};
    INVARIANT(state_of(owner.acquire(key(1), kReadKey, kPatient)) == "granted");
    owner.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 2; }));
  victim.cancel();
  writer.join();
  reader.join();
  // The owner stays cancelled for the next wait, until it is cleared.
  LockOwner blocker{manager};
  REQUIRE(blocker.try_acquire(key(2), kWriteKey));
  CHECK(state_of(victim.acquire(key(2), kReadKey)) == "57014");
  victim.clear_cancel();
  CHECK(state_of(victim.acquire(key(2), kReadKey, {.lock_timeout = 1ms})) == "55P03");
  blocker.release_all(Lsn::none);
  holder.release_all(Lsn::none);
}

TEST_CASE("waiting until a gap is free keeps nothing", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{small_table(variant)};
  LockOwner scanner{manager};
  LockOwner inserter{manager};
  REQUIRE(scanner.try_acquire(key(1), kReadKeyAndGap));
  CHECK(state_of(inserter.wait_until_free(key(1), kInsertIntoGap, {.lock_timeout = 5ms})) ==
        "55P03");
  InThread waiter{[&] {
    INVARIANT(state_of(inserter.wait_until_free(key(1), kInsertIntoGap, kPatient)) == "granted");
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  scanner.release_all(Lsn::none);
  waiter.join();
  CHECK(manager.snapshot().empty());
  CHECK(inserter.locks_held() == 0);
}

TEST_CASE("P10 whoever comes after a commit carries its LSN", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{small_table(variant)};
  LockOwner writer{manager};
  LockOwner reader{manager};
  REQUIRE(writer.try_acquire(key(1), kWriteKey));
  REQUIRE(writer.try_acquire(key(2), kReadKey));
  writer.release_all(Lsn{500});
  REQUIRE(reader.try_acquire(key(1), kReadKey));
  CHECK(reader.read_watermark() == Lsn{500});
  reader.release_all(Lsn::none);
  CHECK(reader.read_watermark() == Lsn{500});  // until the next transaction begins
  reader.begin(TxnId{2});
  CHECK(reader.read_watermark() == Lsn::none);

  // An older commit does not lower the tag; LSNs of readers and rollbacks do not raise it.
  REQUIRE(writer.try_acquire(key(1), kWriteKey));
  writer.release_all(Lsn{400});
  REQUIRE(writer.try_acquire(key(1), kWriteKey));
  writer.release_all(Lsn::none);
  REQUIRE(writer.try_acquire(key(1), kReadKeyAndGap));
  writer.release_all(Lsn{900});
  REQUIRE(reader.try_acquire(key(1), kReadKey));
  CHECK(reader.read_watermark() == Lsn{500});
  reader.release_all(Lsn::none);
}

TEST_CASE("P10 a waiter carries the LSN of the commit it waited for", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{small_table(variant)};
  LockOwner writer{manager};
  LockOwner reader{manager};
  REQUIRE(writer.try_acquire(key(1), kWriteKey));
  InThread waiter{[&] {
    INVARIANT(state_of(reader.acquire(key(1), kReadKey, kPatient)) == "granted");
    INVARIANT(reader.read_watermark() == Lsn{700});
    reader.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  writer.release_all(Lsn{700});
}

TEST_CASE("the snapshot shows holders, waiters and since when", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{small_table(variant)};
  LockOwner holder{manager};
  holder.begin(TxnId{11});
  LockOwner waiter{manager};
  waiter.begin(TxnId{12});
  REQUIRE(holder.acquire_table(kTree, TableMode::intent_exclusive));
  REQUIRE(holder.try_acquire(key(1), kWriteKeyAndGap));
  InThread waiting{[&] {
    INVARIANT(state_of(waiter.acquire(key(1), kReadKey, kPatient)) == "granted");
    waiter.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  const std::vector<LockRow> rows = manager.snapshot();
  REQUIRE(rows.size() == 3);
  for (const LockRow& row : rows) {
    CHECK(row.tree == kTree);
    if (row.kind == LockRow::Kind::table) {
      CHECK(row.table_mode == TableMode::intent_exclusive);
      CHECK(row.path == LockRow::Path::private_slot);
      CHECK(row.txn == TxnId{11});
      continue;
    }
    CHECK(row.hash == key(1).hash);
    const bool waits = row.state == LockRow::State::waiting;
    CHECK(row.txn == (waits ? TxnId{12} : TxnId{11}));
    CHECK(row.key_mode == (waits ? kReadKey : kWriteKeyAndGap));
    CHECK(row.waiting_since.has_value() == waits);
  }
  holder.release_all(Lsn::none);
}

TEST_CASE("thousands of locks on neighbours and strangers are found again", "[lock]") {
  LockManager manager{LockOptions{}};
  LockOwner owner{manager};
  LockOwner other{manager};
  // Use runs of consecutive numbers, as hashes of keys in order have, from random starts.
  std::vector<LockId> ids;
  for (std::uint64_t run = 0; run < 200; ++run)
    for (std::uint64_t i = 0; i < 1 + run % 97; ++i)
      ids.push_back({TreeId{static_cast<std::uint32_t>(5 + run % 3)},
                     run * 0x9E3779B97F4A7C15ULL * (run % 5) + i + run * 1'000'003});
  const std::size_t half = ids.size() / 2;
  for (std::size_t i = 0; i < half; ++i) REQUIRE(owner.try_acquire(ids[i], kWriteKey));
  const LockMark mark = owner.mark();
  for (std::size_t i = half; i < ids.size(); ++i) REQUIRE(owner.try_acquire(ids[i], kWriteKey));
  for (const LockId id : ids) {
    REQUIRE(owner.held(id) == kWriteKey);
    REQUIRE_FALSE(other.try_acquire(id, kReadKey));
  }
  owner.release_to(mark);
  for (std::size_t i = 0; i < ids.size(); ++i)
    REQUIRE(owner.held(ids[i]) == (i < half ? kWriteKey : KeyMode{}));
  for (std::size_t i = half; i < ids.size(); ++i) REQUIRE(other.try_acquire(ids[i], kReadKey));
  owner.release_all(Lsn{7});
  other.release_all(Lsn::none);
  CHECK(manager.snapshot().empty());
}

TEST_CASE("with locking off everything is granted and nothing is kept", "[lock]") {
  LockManager manager{small_table(LockVariant::off)};
  LockOwner one{manager};
  LockOwner two{manager};
  CHECK(one.try_acquire(key(1), kWriteKey));
  CHECK(state_of(two.acquire(key(1), kWriteKey)) == "granted");
  CHECK(state_of(two.acquire_table(kTree, TableMode::exclusive)) == "granted");
  CHECK(state_of(one.acquire_database(TableMode::exclusive)) == "granted");
  CHECK(state_of(one.wait_until_free(key(1), kInsertIntoGap)) == "granted");
  CHECK(one.gap_is_free(key(1)));
  CHECK(manager.is_free(key(1), kWriteKey));
  CHECK(manager.snapshot().empty());
  one.release_to(LockMark::start);
  one.release_all(Lsn{5});
  two.release_all(Lsn::none);
}

TEST_CASE("a transaction's locks are numbered to the last number, and not from the first again",
          "[lock]") {
  LockManager manager{small_table()};
  LockOwner owner{manager};
  owner.begin(TxnId{1});
  REQUIRE(owner.try_acquire(key(0), kWriteKey));
  owner.number_from(std::numeric_limits<std::uint32_t>::max() - 1);
  const LockMark mark = owner.mark();
  REQUIRE(owner.try_acquire(key(1), kWriteKey));
  REQUIRE(state_of(owner.acquire(key(2), kWriteKey)) == "granted");
  CHECK_FALSE(owner.try_acquire(key(3), kWriteKey));
  const auto refused = owner.acquire(key(3), kWriteKey);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().state() == sqlstate::program_limit_exceeded);
  // It keeps its locks, and may ask for them again.
  CHECK(state_of(owner.acquire(key(2), kWriteKey)) == "granted");
  owner.release_to(mark);
  CHECK(owner.locks_held() == 1);
  owner.release_all(Lsn::none);
  owner.begin(TxnId{2});
  CHECK(owner.try_acquire(key(3), kWriteKey));
  owner.release_all(Lsn::none);
}

}  // namespace swizzle::lock
