// Real threads, stopped at each step of the protocol.
#include <catch2/catch.hpp>

#include "base/random.h"
#include "lock/lock_test_support.h"

#ifdef SWIZZLE_PAUSE_POINTS

namespace swizzle::lock {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<int> chosen_point{-1};
std::atomic<std::uint64_t> pauses{0};

void sleep_at_chosen_point(PausePoint point) {
  if (static_cast<int>(point) != chosen_point.load(std::memory_order_relaxed)) return;
  pauses.fetch_add(1, std::memory_order_relaxed);
  std::this_thread::sleep_for(1ms);
}

/// Stops a thread that has asked for it at one pause point, until it is released.
class Gate {
 public:
  static void hook(PausePoint point) {
    if (!mine || static_cast<int>(point) != chosen_point.load()) return;
    arrived = true;
    while (!open) std::this_thread::sleep_for(50us);
  }
  static void prepare(PausePoint point) {
    chosen_point = static_cast<int>(point);
    arrived = false;
    open = false;
  }
  static inline thread_local bool mine = false;
  static inline std::atomic<bool> arrived{false};
  static inline std::atomic<bool> open{false};
};

}  // namespace

TEST_CASE("P1 a release between the last look and the sleep still wakes", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  const PausePoint point = GENERATE(PausePoint::after_publish, PausePoint::before_sleep);
  const PauseHookScope hook{Gate::hook};
  double best_ms = 1e9;
  // The machine may be busy, so the best of a few rounds counts.
  for (int round = 0; round < 5; ++round) {
    LockManager manager{small_table(variant)};
    LockOwner holder{manager};
    REQUIRE(holder.try_acquire(key(1), kWriteKey));
    Gate::prepare(point);
    std::atomic<Clock::time_point> granted{};
    InThread waiter{[&] {
      Gate::mine = true;
      LockOwner owner{manager};
      INVARIANT(state_of(owner.acquire(key(1), kWriteKey, {.lock_timeout = 5s})) == "granted");
      granted = Clock::now();
      Gate::mine = false;
      owner.release_all(Lsn::none);
    }};
    REQUIRE(eventually([] { return Gate::arrived.load(); }));
    holder.release_all(Lsn::none);
    const Clock::time_point let_go = Clock::now();
    Gate::open = true;
    waiter.join();
    best_ms = std::min(best_ms,
                       std::chrono::duration<double, std::milli>(granted.load() - let_go).count());
  }
  CHECK(best_ms < 10);
}

TEST_CASE("P4 a waker that is stopped before it wakes does no harm to who has gone on", "[lock]") {
  const PauseHookScope hook{Gate::hook};
  LockManager manager{small_table()};
  LockOwner holder{manager};
  LockOwner waiting{manager};
  REQUIRE(holder.try_acquire(key(1), kWriteKey));
  std::atomic<bool> ended{false};
  InThread waiter{[&] {
    INVARIANT(state_of(waiting.acquire(key(1), kWriteKey, kPatient)) == "granted");
    waiting.release_all(Lsn::none);
    ended = true;
  }};
  REQUIRE(eventually([&] { return waiting_now(manager) == 1; }));
  Gate::prepare(PausePoint::before_unpark);
  InThread releaser{[&] {
    Gate::mine = true;
    holder.release_all(Lsn::none);
    Gate::mine = false;
  }};
  REQUIRE(eventually([] { return Gate::arrived.load(); }));
  // Another wake-up makes the waiter look: the lock is free, while another thread still has its
  // parker.
  waiting.cancel();
  waiter.join();
  CHECK(ended);
  Gate::open = true;
  releaser.join();
  CHECK(waiting.try_acquire(key(1), kWriteKey));
  waiting.release_all(Lsn::none);
}

// The reader may be about to check the leaf's version; only after that the request looks granted.
TEST_CASE("L9 a gap check sees a request whose fate is open", "[lock]") {
  const PauseHookScope hook{Gate::hook};
  LockOptions options = small_table();
  options.buckets = 1;  // Another lock is in the list already, so the request starts as an attempt.
  LockManager manager{options};
  LockOwner other{manager};
  LockOwner inserter{manager};
  REQUIRE(other.try_acquire(key(2), kWriteKey));
  Gate::prepare(PausePoint::after_append);
  InThread reader{[&manager] {
    Gate::mine = true;
    LockOwner owner{manager};
    INVARIANT(owner.try_acquire(key(1), kReadGap));
    Gate::mine = false;
    owner.release_all(Lsn::none);
  }};
  REQUIRE(eventually([] { return Gate::arrived.load(); }));
  CHECK_FALSE(inserter.gap_is_free(key(1)));
  CHECK_FALSE(manager.is_free(key(1), kInsertIntoGap));
  Gate::open = true;
  reader.join();
  CHECK(inserter.gap_is_free(key(1)));
  other.release_all(Lsn::none);
}

// Linking or unlinking after an entry that is being removed must fail; otherwise both come back:
// the removed entry is the head of the list again, and once its memory is reused, the entries
// after it are lost.
TEST_CASE("L7 of two neighbours that are released at once none comes back", "[lock]") {
  const PauseHookScope hook{Gate::hook};
  LockOptions options = small_table();
  options.buckets = 2;
  options.entries_per_generation = 2;
  LockManager manager{options};
  // The lowest bits of a hash choose the bucket: key()'s share one.
  const auto elsewhere = [](std::uint64_t number) { return LockId{kTree, number << 3}; };
  LockOwner oldest{manager};
  LockOwner middle{manager};
  LockOwner newest{manager};
  REQUIRE(oldest.try_acquire(key(1), kWriteKey));
  REQUIRE(middle.try_acquire(key(2), kWriteKey));
  REQUIRE(newest.try_acquire(key(3), kWriteKey));
  Gate::prepare(PausePoint::after_mark);
  InThread releaser{[&] {
    Gate::mine = true;
    newest.release_all(Lsn::none);
    Gate::mine = false;
  }};
  REQUIRE(eventually([] { return Gate::arrived.load(); }));
  middle.release_all(Lsn::none);
  Gate::open = true;
  releaser.join();
  for (std::uint64_t number = 1; number <= 50; ++number) {
    REQUIRE(middle.try_acquire(elsewhere(number), kWriteKey));
    middle.release_all(Lsn::none);
    CHECK_FALSE(newest.try_acquire(key(1), kWriteKey));
  }
  oldest.release_all(Lsn::none);
}

TEST_CASE("contended work survives a pause at every step", "[lock]") {
  const LockVariant variant = GENERATE(from_range(kVariants));
  const int point = GENERATE(range(0, kPausePoints));
  const PauseHookScope hook{sleep_at_chosen_point};
  chosen_point = point;
  LockOptions options = small_table(variant);
  options.entries_per_generation = 2;
  LockManager manager{options};
  Oracle oracle;
  std::atomic<std::uint64_t> numbers{0};
  std::vector<std::unique_ptr<InThread>> threads;
  for (int me = 0; me < 3; ++me) {
    threads.push_back(std::make_unique<InThread>([&, me] {
      Random random{static_cast<std::uint64_t>(me + 1)};
      LockOwner owner{manager};
      for (int i = 0; i < 4; ++i) {
        owner.begin(TxnId{++numbers});
        bool fine = owner
                        .acquire_table(kTree, i == 3 && me == 0 ? TableMode::exclusive
                                                                : TableMode::intent_exclusive)
                        .has_value();
        for (int n = 0; fine && n < 2; ++n) {
          const LockId id = key(random.below(2));
          const KeyMode mode = random.one_in(2) ? kWriteKey : kReadKey;
          fine = owner.acquire(id, mode).has_value();
          if (fine) oracle.granted(me, id, mode, owner.read_watermark());
        }
        const Lsn commit = fine ? Lsn{++numbers} : Lsn::none;
        oracle.releasing(me, commit);
        owner.release_all(commit);
      }
    }));
  }
  for (auto& thread : threads) thread->join();
  CHECK(manager.snapshot().empty());
}

}  // namespace swizzle::lock

#endif
