#include <catch2/catch.hpp>

#include "lock/lock_test_support.h"

namespace swizzle::lock {

TEST_CASE("who waits for a transaction goes on when it ends, or takes something back", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{small_table(variant)};
  LockOwner owner{manager};
  LockOwner other{manager};
  owner.begin(TxnId{10});
  other.begin(TxnId{20});
  std::atomic<TransactionLock> published{TransactionLock::none};
  owner.lock_transaction(published);
  const TransactionLock first = published.load();
  CHECK(transaction_of(first) == TxnId{10});
  CHECK(owner.locks_held() == 1);
  CHECK(state_of(other.wait_for_transaction(first, kNoWait)) == "55P03");
  CHECK(state_of(other.wait_for_transaction(first, kSkipLocked)) == "skipped");
  CHECK(state_of(other.wait_for_transaction(first, {.lock_timeout = 1ms})) == "55P03");
  Result<Acquired> waited;
  InThread waiter{[&] { waited = other.wait_for_transaction(first, kPatient); }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  SECTION("ends") {
    owner.release_all(Lsn{77});
    waiter.join();
    CHECK(other.read_watermark() >= Lsn{77});
  }
  SECTION("takes something back") {
    owner.lock_transaction(published);
    waiter.join();
    CHECK(published.load() != first);
    CHECK(state_of(other.wait_for_transaction(published.load(), kNoWait)) == "55P03");
    owner.release_all(Lsn::none);
  }
  CHECK(state_of(waited) == "granted");
  CHECK(state_of(other.wait_for_transaction(published.load(), kNoWait)) == "granted");
  CHECK(other.locks_held() == 0);
  CHECK(manager.snapshot().empty());
}

TEST_CASE("a cycle through a transaction's own lock is a deadlock", "[lock]") {
  LockManager manager{small_table(GENERATE(from_range(kVariants)))};
  LockOwner old{manager};
  LockOwner young{manager};
  old.begin(TxnId{10});
  young.begin(TxnId{20});
  std::atomic<TransactionLock> published{TransactionLock::none};
  old.lock_transaction(published);
  REQUIRE(young.try_acquire(key(1), kWriteKey));
  Result<Acquired> of_young;
  InThread waiter{[&] {
    of_young = young.wait_for_transaction(published.load(), kPatient);
    if (!of_young) young.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  CHECK(state_of(old.acquire(key(1), kWriteKey, kPatient)) == "granted");
  waiter.join();
  REQUIRE(state_of(of_young) == "40P01");
  CHECK(of_young.error().detail().find("ShareLock on transaction 10") != std::string::npos);
  old.release_all(Lsn::none);
}

TEST_CASE("what was acquired last is given up if something else says as much", "[lock]") {
  LockManager manager{small_table(GENERATE(from_range(kVariants)))};
  LockOwner owner{manager};
  LockOwner other{manager};
  owner.begin(TxnId{10});
  other.begin(TxnId{20});
  REQUIRE(owner.try_acquire(key(1), kChangeContent));
  owner.release_last(key(1), kChangeContent);
  CHECK(owner.locks_held() == 0);
  CHECK(other.try_acquire(key(1), kWriteKey));
  other.release_all(Lsn::none);

  // Locks of names, but none older than the mark.
  REQUIRE(owner.try_acquire(key(2), kReadKey));
  REQUIRE(owner.try_acquire(key(3), kChangeContent));
  REQUIRE(owner.try_acquire(key(3), kWriteKey));
  owner.release_last(key(3), kChangeContent);
  CHECK(owner.locks_held() == 3);
  owner.release_last(key(2), kWriteKey);
  CHECK(owner.locks_held() == 3);
  owner.release_last(key(3), kWriteKey);
  CHECK(owner.locks_held() == 1);

  // It may be locked again.
  REQUIRE(owner.try_acquire(key(4), kWriteKey));
  const LockMark savepoint = owner.savepoint();
  owner.release_last(key(4), kWriteKey);
  CHECK(owner.held(key(4)) == kWriteKey);
  REQUIRE(owner.try_acquire(key(5), kWriteKeyAndGap));
  owner.release_last(key(5), kWriteKey);
  CHECK(owner.held(key(5)) == kWriteKeyAndGap);
  owner.release_to(savepoint);
  CHECK(owner.locks_held() == 2);
  owner.release_all(Lsn::none);
  CHECK(manager.snapshot().empty());
}

}  // namespace swizzle::lock
