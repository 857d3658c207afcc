#include <catch2/catch.hpp>

#include "base/random.h"
#include "base/simulation/seeded_runs.h"
#include "lock/lock_test_support.h"

namespace swizzle::lock {
namespace {

#ifdef SWIZZLE_PAUSE_POINTS
void yield_sometimes(PausePoint /*point*/) {
  static std::atomic<std::uint64_t> threads{0};
  thread_local Random random{test_seed() * 1000 + ++threads};
  if (random.one_in(16)) std::this_thread::yield();
}
#endif

// Runs one thread's transactions. All errors must be expected ones.
void work(int me, LockManager& manager, Oracle& oracle, std::atomic<std::uint64_t>& numbers,
          std::chrono::steady_clock::time_point until) {
  Random random{static_cast<std::uint64_t>(me) * 1000 + test_seed()};
  LockOwner owner{manager};
  while (std::chrono::steady_clock::now() < until) {
    owner.begin(TxnId{++numbers});
    const std::uint64_t kind = random.below(40);
    const TableMode table = kind == 0   ? TableMode::exclusive
                            : kind == 1 ? TableMode::shared
                                        : TableMode::intent_exclusive;
    bool fine = owner.acquire_table(kTree, table).has_value();
    if (fine) oracle.granted_table(me, kTree, table, owner.read_watermark());
    for (std::uint64_t n = random.below(5); fine && n != 0; --n) {
      const LockId id = key(random.below(6));
      const KeyMode mode = table != TableMode::shared && random.one_in(2) ? kWriteKey : kReadKey;
      LockWait wait;
      if (random.one_in(10)) wait.lock_timeout = std::chrono::microseconds{random.below(200) + 1};
      if (random.one_in(10)) wait = kSkipLocked;
      const auto result = owner.acquire(id, mode, wait);
      fine = result.has_value();
      if (fine && *result == Acquired::granted) {
        oracle.granted(me, id, mode, owner.read_watermark());
      }
    }
    const Lsn commit = fine ? Lsn{++numbers} : Lsn::none;
    oracle.releasing(me, commit);
    owner.release_all(commit);
  }
}

}  // namespace

TEST_CASE("threads under contention keep exclusion and order", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
#ifdef SWIZZLE_PAUSE_POINTS
  const PauseHookScope hook{yield_sometimes};
#endif
  LockOptions options = small_table(variant);
  options.entries_per_generation = 3;
  LockManager manager{options};
  Oracle oracle;
  std::atomic<std::uint64_t> numbers{0};
  const auto until = std::chrono::steady_clock::now() + 700ms;
  {
    std::vector<std::unique_ptr<InThread>> threads;
    for (int me = 0; me < 4; ++me) {
      threads.push_back(
          std::make_unique<InThread>([&, me] { work(me, manager, oracle, numbers, until); }));
    }
    // Read the views and cancel waits concurrently.
    while (std::chrono::steady_clock::now() < until) {
      static_cast<void>(manager.snapshot());
      std::this_thread::sleep_for(1ms);
    }
  }
  CHECK(manager.snapshot().empty());
  // The memory that waits for readers depends on how long one slept inside an epoch. When none does
  // any more, the present memory suffices for as much work again.
  const std::size_t bytes = manager.statistics().entry_bytes;
  work(4, manager, oracle, numbers, std::chrono::steady_clock::now() + 300ms);
  CHECK(manager.statistics().entry_bytes <= bytes + 1000 * EntryChunk::kBytes);
}

// Single-threaded, so that the reference is exact: a lock is granted if and only if it is
// compatible with all locks of others.
TEST_CASE("random conditional requests agree with a simple model", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  const std::uint64_t seed = GENERATE(range(std::uint64_t{1}, std::uint64_t{21}));
  CAPTURE(seed);
  Random random{seed};
  constexpr std::size_t kOwners = 5;
  constexpr std::uint64_t kKeys = 40;
  LockOptions options = small_table(variant);
  options.escalation_threshold = 0;
  LockManager manager{options};
  struct Held {
    std::uint64_t key;
    KeyMode mode;
  };
  std::vector<std::unique_ptr<LockOwner>> owners;
  std::vector<std::vector<Held>> model(kOwners);
  std::vector<std::vector<std::pair<LockMark, std::size_t>>> marks(kOwners);
  for (std::size_t i = 0; i < kOwners; ++i) owners.push_back(std::make_unique<LockOwner>(manager));
  const auto combined = [&](std::size_t who, std::uint64_t number) {
    KeyMode all;
    for (const Held& held : model[who]) {
      if (held.key == number) all = combine(all, held.mode);
    }
    return all;
  };
  for (int step = 0; step < 4000; ++step) {
    const std::size_t who = random.below(kOwners);
    const std::uint64_t number = random.below(kKeys);
    const KeyMode mode{Access{static_cast<std::uint8_t>(random.below(3))},
                       Access{static_cast<std::uint8_t>(random.below(3))}};
    bool free = true;
    for (std::size_t other = 0; other < kOwners; ++other) {
      if (other != who) free = free && compatible(combined(other, number), mode);
    }
    const std::uint64_t action = random.below(100);
    if (action < 80) {
      const bool expected = free || implies(combined(who, number), mode);
      if (owners[who]->is_free(key(number), mode) != free) FAIL("is_free");
      if (owners[who]->try_acquire(key(number), mode) != expected) FAIL("try_acquire");
      if (expected) model[who].push_back({number, mode});
    } else if (action < 88) {
      marks[who].emplace_back(owners[who]->mark(), model[who].size());
    } else if (action < 96 && !marks[who].empty()) {
      const auto [mark, size] = marks[who].back();
      marks[who].pop_back();
      owners[who]->release_to(mark);
      model[who].resize(size);
    } else {
      owners[who]->release_all(Lsn::none);
      model[who].clear();
      marks[who].clear();
    }
    if (owners[who]->held(key(number)) != combined(who, number)) FAIL("held");
  }
  for (auto& owner : owners) owner->release_all(Lsn::none);
  CHECK(manager.snapshot().empty());
}

TEST_CASE("P3 churn that never logs reuses its memory, tiny generations", "[lock]") {
  LockOptions options = small_table();
  options.entries_per_generation = 1;
  LockManager manager{options};
  // An open transaction must not keep other owners' memory from being reused.
  LockOwner idle{manager};
  REQUIRE(idle.try_acquire(key(1), kReadKey));
  const auto churn = [&manager] {
    LockOwner owner{manager};
    for (int i = 0; i < 20'000; ++i) {
      INVARIANT(owner.try_acquire(key(static_cast<std::uint64_t>(i % 7)), kReadKey));
      INVARIANT(owner.try_acquire(key(1), kReadKeyAndGap));
      owner.release_all(Lsn::none);
    }
  };
  {
    std::vector<std::unique_ptr<InThread>> threads;
    for (int me = 0; me < 3; ++me) threads.push_back(std::make_unique<InThread>(churn));
  }
  // The backlog that the three leave depends on how long the machine let one of them sleep inside
  // an epoch. No thread sleeps in one now: after one more owner ends, the memory is back.
  churn();
  CHECK(manager.statistics().entry_bytes < 100 * EntryChunk::kBytes);
  idle.release_all(Lsn::none);
}

TEST_CASE("a million locks of one owner fit, and the memory comes back", "[lock][stress]") {
  constexpr std::size_t kLocks = 1'000'000;
  LockOptions options;
  options.escalation_threshold = 0;
  LockManager manager{options};
  LockOwner owner{manager};
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < kLocks; ++i) {
      if (!owner.try_acquire(key(i), kWriteKey)) FAIL("not granted");
    }
    CHECK(owner.locks_held() == kLocks);
    CHECK(manager.statistics().entry_bytes + owner.private_bytes() < 100'000'000);
    owner.release_all(Lsn{static_cast<std::uint64_t>(round) + 1});
    CHECK(manager.statistics().entry_bytes + owner.private_bytes() < 1'000'000);
  }
}

}  // namespace swizzle::lock
