#include <catch2/catch.hpp>

#include "base/simulation/simulation.h"
#include "lock/lock_test_support.h"

namespace swizzle::lock {
namespace {

LockOptions with_victim(LockVariant variant, DeadlockVictim victim) {
  LockOptions options = small_table(variant);
  options.victim = victim;
  return options;
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace

TEST_CASE("a deadlock of two is found at once, and the youngest gives up", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{with_victim(variant, DeadlockVictim::youngest)};
  LockOwner old{manager};
  LockOwner young{manager};
  old.begin(TxnId{10});
  young.begin(TxnId{20});
  REQUIRE(old.try_acquire(key(1), kWriteKey));
  REQUIRE(young.try_acquire(key(2), kWriteKey));
  const bool old_closes_it = GENERATE(true, false);
  LockOwner& first = old_closes_it ? young : old;
  LockOwner& second = old_closes_it ? old : young;
  Result<Acquired> of_first;
  InThread waiter{[&] {
    of_first = first.acquire(key(old_closes_it ? 1 : 2), kWriteKey);
    if (!of_first) first.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  const Result<Acquired> of_second = second.acquire(key(old_closes_it ? 2 : 1), kWriteKey);
  if (!of_second) second.release_all(Lsn::none);
  waiter.join();
  const Result<Acquired>& of_young = old_closes_it ? of_first : of_second;
  CHECK(state_of(old_closes_it ? of_second : of_first) == "granted");
  REQUIRE(state_of(of_young) == "40P01");
  CHECK(of_young.error().message() == "deadlock detected");
  const std::string& detail = of_young.error().detail();
  CHECK(detail.find("Transaction 20 waits for key X on key") != std::string::npos);
  CHECK(detail.find("Transaction 10 waits for key X on key") != std::string::npos);
  CHECK(detail.find("blocked by transaction 10.") != std::string::npos);
  CHECK(detail.find("blocked by transaction 20.") != std::string::npos);
  CHECK(manager.statistics().deadlocks == 1);
  old.release_all(Lsn::none);
  young.release_all(Lsn::none);
}

TEST_CASE("the requester gives up where that is chosen, and the report says what they did",
          "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{with_victim(variant, DeadlockVictim::requester)};
  LockOwner old{manager};
  LockOwner young{manager};
  const std::string of_old = "UPDATE a";
  const std::string of_young = "UPDATE b";
  old.work_for(71, &of_old);
  young.work_for(72, &of_young);
  old.begin(TxnId{10});
  young.begin(TxnId{20});
  REQUIRE(old.try_acquire(key(1), kWriteKey));
  REQUIRE(young.try_acquire(key(2), kWriteKey));
  InThread waiter{[&] {
    INVARIANT(state_of(young.acquire(key(1), kReadKey, kPatient)) == "granted");
    young.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  const auto result = old.acquire(key(2), kReadKey);
  REQUIRE(state_of(result) == "40P01");
  const std::string& detail = result.error().detail();
  CHECK(detail.find("Process 71 waits for key S on key") != std::string::npos);
  CHECK(detail.find("blocked by process 72.") != std::string::npos);
  CHECK(detail.find("Process 71: UPDATE a") != std::string::npos);
  CHECK(detail.find("Process 72: UPDATE b") != std::string::npos);
  old.release_all(Lsn::none);
}

TEST_CASE("two readers that both upgrade deadlock; one of them survives", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{with_victim(variant, DeadlockVictim::youngest)};
  LockOwner old{manager};
  LockOwner young{manager};
  old.begin(TxnId{1});
  young.begin(TxnId{2});
  REQUIRE(old.try_acquire(key(1), kReadKey));
  REQUIRE(young.try_acquire(key(1), kReadKey));
  InThread upgrade{
      [&] { INVARIANT(state_of(old.acquire(key(1), kWriteKey, kPatient)) == "granted"); }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  CHECK(state_of(young.acquire(key(1), kWriteKey)) == "40P01");
  young.release_all(Lsn::none);
  upgrade.join();
  old.release_all(Lsn::none);
}

TEST_CASE("a deadlock through table intents in private slots is found", "[lock]") {
  LockManager manager{small_table()};
  LockOwner old{manager};
  LockOwner young{manager};
  old.begin(TxnId{1});
  young.begin(TxnId{2});
  REQUIRE(old.acquire_table(TreeId{1}, TableMode::intent_exclusive));
  REQUIRE(young.acquire_table(TreeId{2}, TableMode::intent_exclusive));
  InThread ddl{[&] {
    INVARIANT(state_of(old.acquire_table(TreeId{2}, TableMode::exclusive, kPatient)) == "granted");
    old.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  const auto result = young.acquire_table(TreeId{1}, TableMode::shared);
  REQUIRE(state_of(result) == "40P01");
  CHECK(result.error().detail().find("waits for S on tree 1") != std::string::npos);
  young.release_all(Lsn::none);
}

TEST_CASE("P2 a blocker that left does not hide the one that stayed", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{with_victim(variant, DeadlockVictim::youngest)};
  LockOwner a{manager};
  LockOwner b{manager};
  LockOwner c{manager};
  a.begin(TxnId{1});
  b.begin(TxnId{2});
  c.begin(TxnId{3});
  REQUIRE(a.try_acquire(key(9), kWriteKey));
  // Either blocker of A may come first.
  const bool b_first = GENERATE(true, false);
  REQUIRE((b_first ? b : c).try_acquire(key(1), kReadKey));
  REQUIRE((b_first ? c : b).try_acquire(key(1), kReadKey));
  InThread waiter{[&] {
    INVARIANT(state_of(a.acquire(key(1), kWriteKey, kPatient)) == "granted");
    a.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  b.release_all(Lsn::none);
  std::this_thread::sleep_for(5ms);
  CHECK(waiting_now(manager) == 1);
  const auto start = std::chrono::steady_clock::now();
  CHECK(state_of(c.acquire(key(9), kReadKey, {.lock_timeout = 5s})) == "40P01");
  CHECK(milliseconds_since(start) < 100);
  c.release_all(Lsn::none);
  waiter.join();
}

TEST_CASE("P2 a chain of waits without a cycle aborts nobody", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{with_victim(variant, DeadlockVictim::youngest)};
  constexpr std::uint64_t kLength = 40;  // longer than any fixed search depth
  std::vector<std::unique_ptr<LockOwner>> owners;
  for (std::uint64_t i = 0; i < kLength; ++i) {
    owners.push_back(std::make_unique<LockOwner>(manager));
    owners.back()->begin(TxnId{i + 1});
    REQUIRE(owners.back()->try_acquire(key(i), kWriteKey));
  }
  std::vector<std::unique_ptr<InThread>> threads;
  for (std::uint64_t i = 1; i < kLength; ++i) {
    threads.push_back(std::make_unique<InThread>([&owners, i] {
      INVARIANT(state_of(owners[i]->acquire(key(i - 1), kReadKey, kPatient)) == "granted");
      owners[i]->release_all(Lsn::none);
    }));
  }
  REQUIRE(eventually([&] { return waiting_now(manager) == kLength - 1; }));
  owners[0]->release_all(Lsn::none);
  for (auto& thread : threads) thread->join();
  CHECK(manager.statistics().deadlocks == 0);
}

TEST_CASE("a long cycle is found and broken once", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{with_victim(variant, DeadlockVictim::youngest)};
  constexpr std::uint64_t kLength = 30;
  std::vector<std::unique_ptr<LockOwner>> owners;
  for (std::uint64_t i = 0; i < kLength; ++i) {
    owners.push_back(std::make_unique<LockOwner>(manager));
    owners.back()->begin(TxnId{i + 1});
    REQUIRE(owners.back()->try_acquire(key(i), kWriteKey));
  }
  std::atomic<int> victims{0};
  std::vector<std::unique_ptr<InThread>> threads;
  for (std::uint64_t i = 0; i < kLength; ++i) {
    threads.push_back(std::make_unique<InThread>([&, i] {
      const auto result = owners[i]->acquire(key((i + 1) % kLength), kWriteKey);
      if (!result) {
        INVARIANT(result.error().state() == sqlstate::deadlock_detected);
        ++victims;
      }
      owners[i]->release_all(Lsn::none);
    }));
  }
  for (auto& thread : threads) thread->join();
  CHECK(victims == 1);
}

TEST_CASE("deadlock_timeout delays the search", "[lock]") {
  LockManager manager{with_victim(LockVariant::raw, DeadlockVictim::youngest)};
  LockOwner old{manager};
  LockOwner young{manager};
  old.begin(TxnId{1});
  young.begin(TxnId{2});
  old.set_deadlock_timeout(10s);
  young.set_deadlock_timeout(30ms);
  REQUIRE(old.try_acquire(key(1), kWriteKey));
  REQUIRE(young.try_acquire(key(2), kWriteKey));
  InThread waiter{[&] {
    INVARIANT(state_of(old.acquire(key(2), kWriteKey, kPatient)) == "granted");
    old.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  const auto start = std::chrono::steady_clock::now();
  CHECK(state_of(young.acquire(key(1), kWriteKey)) == "40P01");
  CHECK(milliseconds_since(start) >= 30);
  young.release_all(Lsn::none);
}

TEST_CASE("4000 waiters of one key search for deadlocks in time that grows with their number",
          "[lock]") {
#ifdef SWIZZLE_SLOW_INVARIANTS
  constexpr std::uint32_t kWaiters = 400;  // the invariants walk the queue
  constexpr int kMostMilliseconds = 60'000;
#else
  constexpr std::uint32_t kWaiters = 4000;
  constexpr int kMostMilliseconds = 10'000;
#endif
  LockManager manager{LockOptions{}};
  Simulation simulation{1};
  const auto began = std::chrono::steady_clock::now();
  std::uint32_t granted = 0;
  simulation.run([&] {
    LockOwner holder{manager};
    holder.begin(TxnId{1});
    REQUIRE(holder.try_acquire(key(0), kWriteKey));
    std::vector<std::unique_ptr<Task>> tasks;
    for (std::uint32_t i = 1; i <= kWaiters; ++i)
      tasks.push_back(Runtime::current().spawn("waiter", [&, i] {
        LockOwner owner{manager};
        owner.set_deadlock_timeout(1s);
        owner.begin(TxnId{1 + i});
        // Some only read, and do not block each other.
        REQUIRE(state_of(owner.acquire(key(0), i % 7 == 0 ? kReadKey : kWriteKey)) == "granted");
        ++granted;
        owner.release_all(Lsn::none);
      }));
    // Wait until all of them have searched for a deadlock.
    Runtime::current().sleep_until(Runtime::current().now() + 5s);
    holder.release_all(Lsn::none);
    for (const auto& task : tasks) task->join();
  });
  CHECK(granted == kWaiters);
  CHECK(manager.statistics().deadlocks == 0);
  INFO(milliseconds_since(began) << " ms");
  CHECK(milliseconds_since(began) < kMostMilliseconds);
}

TEST_CASE("a deadlock through a queue of 500 is found, and through a reader among writers",
          "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  const bool upgrades = GENERATE(false, true);
  LockManager manager{with_victim(variant, DeadlockVictim::requester)};
  Simulation simulation{1};
  simulation.run([&] {
    constexpr std::uint32_t kQueue = 500;
    LockOwner first{manager};
    first.begin(TxnId{1});
    REQUIRE(first.try_acquire(key(0), upgrades ? kReadKey : kWriteKey));
    std::vector<std::unique_ptr<Task>> tasks;
    for (std::uint32_t i = 1; i <= kQueue; ++i)
      tasks.push_back(Runtime::current().spawn("waiter", [&, i] {
        LockOwner owner{manager};
        owner.begin(TxnId{1 + i});
        if (i == kQueue / 2) REQUIRE(owner.try_acquire(key(1), kWriteKey));
        REQUIRE(state_of(owner.acquire(key(0), !upgrades && i % 3 == 0 ? kReadKey : kWriteKey)) ==
                "granted");
        owner.release_all(Lsn::none);
      }));
    Runtime::current().sleep_until(Runtime::current().now() + 1s);
    // The holder of the lock that the first now wants is in the middle of those that wait for the
    // first.
    REQUIRE(state_of(first.acquire(key(1), kWriteKey)) == "40P01");
    first.release_all(Lsn::none);
    for (const auto& task : tasks) task->join();
  });
}

TEST_CASE("a cycle that only the order of a queue closes costs nobody a transaction", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  LockManager manager{with_victim(variant, DeadlockVictim::youngest)};
  LockOwner reader{manager};
  LockOwner other{manager};
  LockOwner writer{manager};
  reader.begin(TxnId{1});
  other.begin(TxnId{2});
  writer.begin(TxnId{3});
  // The writer waits for a reader of the first key, and so do the readers that come later.
  REQUIRE(reader.try_acquire(key(1), kReadKey));
  REQUIRE(other.try_acquire(key(2), kWriteKey));
  InThread writing{[&] {
    INVARIANT(state_of(writer.acquire(key(1), kWriteKey, kPatient)) == "granted");
    writer.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  std::atomic<bool> has_read{false};
  InThread reading{[&] {
    INVARIANT(state_of(other.acquire(key(1), kReadKey, kPatient)) == "granted");
    has_read = true;
    other.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 2; }));
  CHECK_FALSE(has_read);
  // Close the cycle: wait for the second reader, which waits behind the writer.
  CHECK(state_of(reader.acquire(key(2), kReadKey, {.lock_timeout = 10s})) == "granted");
  CHECK(has_read);
  reading.join();
  reader.release_all(Lsn::none);
  writing.join();
  CHECK(manager.statistics().deadlocks == 0);
}

TEST_CASE("the order of a queue is turned for locks on relations, past two that wait ahead",
          "[lock]") {
  LockManager manager{small_table()};
  constexpr RelationId kFirst{1};
  constexpr RelationId kSecond{2};
  LockOwner a{manager};
  LockOwner b{manager};
  LockOwner c{manager};
  LockOwner d{manager};
  std::uint64_t number = 0;
  for (LockOwner* owner : {&a, &b, &c, &d}) owner->begin(TxnId{++number});
  const auto lock = [](LockOwner& owner, RelationId relation, RelationMode mode) {
    INVARIANT(state_of(owner.acquire_relation(relation, mode, kPatient)) == "granted");
  };
  lock(a, kFirst, RelationMode::share_update_exclusive);
  lock(b, kSecond, RelationMode::access_share);
  InThread second{[&] {
    lock(b, kFirst, RelationMode::share_update_exclusive);
    b.release_all(Lsn::none);
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  std::atomic<int> dropped{0};
  const auto drop = [&](LockOwner& owner, int turn) {
    lock(owner, kSecond, RelationMode::access_exclusive);
    INVARIANT(++dropped == turn);
    owner.release_all(Lsn::none);
  };
  InThread third{[&] { drop(c, 1); }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 2; }));
  InThread fourth{[&] { drop(d, 2); }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 3; }));
  lock(a, kSecond, RelationMode::share_update_exclusive);
  // The two that gave way are in the queue again, behind it.
  CHECK(eventually([&] { return waiting_now(manager) == 3; }));
  a.release_all(Lsn::none);
  second.join();
  third.join();
  fourth.join();
  CHECK(manager.statistics().deadlocks == 0);
}

}  // namespace swizzle::lock
