// Thousands of interleavings of the whole protocol, determined by seeds: at every pause point and
// every park the simulation chooses the next task. A lost wake-up or an undetected deadlock leaves
// all tasks parked, which the simulation reports; broken exclusion is found by the Oracle.
//
// SWIZZLE_SEED=n replays one seed, SWIZZLE_SCHEDULES=n runs that many per scenario.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/random.h"
#include "base/simulation/simulation.h"
#include "lock/lock_test_support.h"

#if defined(SWIZZLE_PAUSE_POINTS) && !defined(__SANITIZE_THREAD__)

namespace swizzle::lock {
namespace {

struct Scenario {
  const char* name;
  int tasks = 3;
  std::uint64_t keys = 2;
  int transactions = 4;
  std::uint64_t locks = 2;  // at most, per transaction
  bool ordered = false;     // keys in ascending order and no upgrades: deadlock is impossible
  bool tables = false;      // strong locks on the table between the transactions
  bool relations = false;   // before that, locks on a relation
  bool impatient = false;   // timeouts and cancellations
  std::uint64_t read_odds = 2;
};

/// A run of a scenario. All tasks are on the simulation's thread.
class Run {
 public:
  Run(const Scenario& scenario, LockVariant variant, std::uint64_t seed)
      : scenario_(scenario), random_(seed * 7919 + 17), manager_(options(variant)) {}

  void operator()() {
    std::vector<std::unique_ptr<LockOwner>> owners;
    for (int i = 0; i < scenario_.tasks; ++i) {
      owners.push_back(std::make_unique<LockOwner>(manager_));
    }
    {
      std::vector<std::unique_ptr<Task>> tasks;
      for (int i = 0; i < scenario_.tasks; ++i) {
        tasks.push_back(Runtime::current().spawn(
            "owner", [this, i, &owner = *owners[static_cast<std::size_t>(i)],
                      random = random_.split()]() mutable { work(i, owner, random); }));
      }
      if (scenario_.impatient) cancel_some(owners);
      for (auto& task : tasks) task->join();
    }
    check_all_free(*owners.front());
  }

  [[nodiscard]] LockStatistics statistics() const { return manager_.statistics(); }

 private:
  LockOptions options(LockVariant variant) {
    LockOptions chosen;
    chosen.variant = variant;
    chosen.buckets = 1;
    chosen.entries_per_generation = 2;
    chosen.victim = random_.one_in(4) ? DeadlockVictim::requester : DeadlockVictim::youngest;
    chosen.intent_path = random_.one_in(4) ? IntentPath::shared_table : IntentPath::private_slots;
    return chosen;
  }

  void cancel_some(std::vector<std::unique_ptr<LockOwner>>& owners) {
    for (int i = 0; i < 5; ++i) {
      Runtime::current().sleep_until(Runtime::current().now() + Duration{random_.below(3000)});
      owners[random_.below(owners.size())]->cancel();
    }
  }

  KeyMode some_mode(Random& random) const {
    if (random.below(scenario_.read_odds) != 0) return random.one_in(3) ? kReadKeyAndGap : kReadKey;
    return random.one_in(4) ? kWriteKeyAndGap : kWriteKey;
  }

  LockWait some_wait(Random& random) const {
    if (!scenario_.impatient) return {};
    switch (random.below(4)) {
      case 0:
        return kNoWait;
      case 1:
        return kSkipLocked;
      case 2:
        return {.lock_timeout = Duration{1 + random.below(20'000)}};
      default:
        return {};
    }
  }

  /// Holds locks for a while.
  static void linger(Random& random) {
    for (std::uint64_t n = random.below(5); n != 0; --n) Runtime::current().yield();
  }

  void work(int me, LockOwner& owner, Random random) {
    for (int i = 0; i < scenario_.transactions; ++i) {
      owner.begin(TxnId{++transactions_});
      const bool fine = scenario_.tables ? table_transaction(me, owner, random)
                                         : key_transaction(me, owner, random);
      linger(random);
      const Lsn commit = fine && random.below(4) != 0 ? Lsn{++log_} : Lsn::none;
      oracle_.releasing(me, commit);
      owner.release_all(commit);
      owner.clear_cancel();
    }
  }

  bool note(const Result<Acquired>& result) {
    if (result) return true;
    const SqlState state = result.error().state();
    if (state == sqlstate::deadlock_detected && scenario_.ordered) {
      throw std::logic_error{"P2: a deadlock was reported where none is possible: " +
                             result.error().detail()};
    }
    const bool expected = state == sqlstate::deadlock_detected || scenario_.impatient;
    if (!expected) throw std::logic_error{"unexpected: " + result.error().message()};
    return false;
  }

  bool key_transaction(int me, LockOwner& owner, Random& random) {
    std::uint64_t next = 0;
    LockMark mark = owner.mark();
    std::size_t marked = 0;
    for (std::uint64_t n = 1 + random.below(scenario_.locks); n != 0; --n) {
      const std::uint64_t number = scenario_.ordered ? next : random.below(scenario_.keys);
      if (number >= scenario_.keys) break;
      linger(random);
      next = number + 1 + random.below(2);
      const LockId id = key(number);
      const KeyMode mode = some_mode(random);
      if (!scenario_.ordered && random.one_in(8)) {
        static_cast<void>(owner.gap_is_free(id));
        const auto waited = owner.wait_until_free(id, kInsertIntoGap, some_wait(random));
        if (!note(waited)) return false;
      }
      if (random.one_in(5)) {
        if (owner.try_acquire(id, mode)) oracle_.granted(me, id, mode, owner.read_watermark());
        continue;
      }
      const auto result = owner.acquire(id, mode, some_wait(random));
      if (!note(result)) return false;
      if (*result == Acquired::granted) oracle_.granted(me, id, mode, owner.read_watermark());
      if (random.one_in(4)) {
        mark = owner.mark();
        marked = oracle_.keys_of(me);
      } else if (random.one_in(6) && !scenario_.ordered) {
        oracle_.releasing_since(me, marked);
        owner.release_to(mark);
      }
    }
    return true;
  }

  bool table_transaction(int me, LockOwner& owner, Random& random) {
    constexpr TableMode modes[] = {TableMode::intent_shared,    TableMode::intent_exclusive,
                                   TableMode::intent_exclusive, TableMode::shared,
                                   TableMode::exclusive,        TableMode::shared_intent_exclusive};
    const TableMode mode = modes[random.below(std::size(modes))];
    if (scenario_.relations && !acquire_relation(me, owner, random)) return false;
    if (!acquire_table(me, owner, mode, random)) return false;
    if (!scenario_.ordered && random.one_in(3) &&
        !acquire_table(me, owner, modes[random.below(std::size(modes))], random)) {
      return false;
    }
    linger(random);
    const LockId id = key(random.below(scenario_.keys));
    const KeyMode key_mode = implies(owner.held_table(kTree), TableMode::intent_exclusive)
                                 ? some_mode(random)
                                 : kReadKey;
    const auto result = owner.acquire(id, key_mode, some_wait(random));
    if (!note(result)) return false;
    if (*result == Acquired::granted) oracle_.granted(me, id, key_mode, owner.read_watermark());
    return true;
  }

  /// Locks a relation, which has no keys, as a short reader or a definition.
  bool acquire_relation(int me, LockOwner& owner, Random& random) {
    constexpr RelationId relation{9};
    if (random.below(3) != 0) {
      if (owner.try_share_relation(relation)) {
        oracle_.granted_table(me, TreeId{9}, TableMode::intent_shared, owner.read_watermark());
        return true;
      }
    }
    const bool defines = random.one_in(3);
    const auto result = owner.acquire_relation(
        relation, defines ? RelationMode::access_exclusive : RelationMode::row_exclusive,
        some_wait(random));
    if (!note(result)) return false;
    if (*result != Acquired::granted) return false;
    oracle_.granted_table(me, TreeId{9},
                          defines ? TableMode::exclusive : TableMode::intent_exclusive,
                          owner.read_watermark());
    return true;
  }

  bool acquire_table(int me, LockOwner& owner, TableMode mode, Random& random) {
    const auto result = owner.acquire_table(kTree, mode, some_wait(random));
    if (!note(result)) return false;
    if (*result == Acquired::granted) {
      oracle_.granted_table(me, kTree, mode, owner.read_watermark());
    }
    return *result == Acquired::granted;
  }

  void check_all_free(LockOwner& owner) {
    if (!manager_.snapshot().empty()) throw std::logic_error{"something is left in the table"};
    for (std::uint64_t number = 0; number < scenario_.keys; ++number) {
      if (!owner.try_acquire(key(number), kWriteKeyAndGap)) {
        throw std::logic_error{"a key stayed locked"};
      }
    }
    if (!owner.acquire_table(kTree, TableMode::exclusive, kNoWait)) {
      throw std::logic_error{"the table stayed locked"};
    }
    owner.release_all(Lsn::none);
    if (manager_.statistics().entry_bytes > 64 * EntryChunk::kBytes) {
      throw std::logic_error{"P3: memory grows"};
    }
  }

  const Scenario& scenario_;
  Random random_;
  LockManager manager_;
  Oracle oracle_;
  std::uint64_t transactions_ = 0;
  std::uint64_t log_ = 0;
};

void yield_there(PausePoint /*point*/) {
  if (Simulation::running() != nullptr) Runtime::current().yield();
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void explore(const Scenario& scenario, LockVariant variant) {
  const PauseHookScope hook{yield_there};
  const std::uint64_t only = number_from("SWIZZLE_SEED", 0);
  const std::uint64_t first = only != 0 ? only : 1;
  const std::uint64_t count = only != 0 ? 1 : number_from("SWIZZLE_SCHEDULES", 500);
  LockStatistics all;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    // No spurious wake-ups: they would hide lost ones.
    Simulation simulation{{.seed = seed, .stack_bytes = 256 << 10, .spurious_odds = 0}};
    auto run = std::make_unique<Run>(scenario, variant, seed);
    try {
      simulation.run([&run] { (*run)(); });
    } catch (const std::exception& error) {
      static_cast<void>(run.release());  // tasks that were stopped still hold locks
      FAIL(scenario.name << ", seed " << seed << ": " << error.what());
    }
    const LockStatistics one = run->statistics();
    all.waits += one.waits;
    all.deadlocks += one.deadlocks;
    all.timeouts += one.timeouts;
    all.cancellations += one.cancellations;
  }
  // Check that the scenario has exercised its subject.
  INFO(scenario.name);
  if (only != 0) return;
  CHECK(all.waits > count);
  if (scenario.impatient) {
    CHECK((all.timeouts > 0 && all.cancellations > 0));
  } else {
    CHECK((all.deadlocks > 0) == !scenario.ordered);
  }
}

const std::vector<Scenario> kScenarios{
    {.name = "P1 one key, writers only",
     .tasks = 3,
     .keys = 1,
     .locks = 1,
     .ordered = true,
     .read_odds = 1},
    {.name = "P1 one key, readers and writers", .tasks = 4, .keys = 1, .locks = 1, .ordered = true},
    {.name = "P2 ordered keys, no deadlock possible",
     .tasks = 4,
     .keys = 3,
     .locks = 3,
     .ordered = true},
    {.name = "deadlocks and upgrades", .tasks = 3, .keys = 2, .locks = 3},
    {.name = "many deadlocks", .tasks = 5, .keys = 3, .transactions = 3, .locks = 4},
    {.name = "timeouts and cancellations", .tasks = 4, .keys = 2, .locks = 3, .impatient = true},
    {.name = "tables, no deadlock possible", .tasks = 4, .ordered = true, .tables = true},
    {.name = "tables with upgrades", .tasks = 4, .tables = true},
    {.name = "P6 tables, impatient", .tasks = 4, .tables = true, .impatient = true},
    {.name = "relations, no deadlock possible",
     .tasks = 4,
     .ordered = true,
     .tables = true,
     .relations = true},
    {.name = "relations and tables, impatient",
     .tasks = 4,
     .tables = true,
     .relations = true,
     .impatient = true},
};

}  // namespace

TEST_CASE("seeded schedules of the RAW table", "[lock][simulation]") {
  const std::size_t index = GENERATE(range(std::size_t{0}, kScenarios.size()));
  explore(kScenarios[index], LockVariant::raw);
}

TEST_CASE("seeded schedules of the latched table", "[lock][simulation]") {
  const std::size_t index = GENERATE(range(std::size_t{0}, kScenarios.size()));
  explore(kScenarios[index], LockVariant::latched);
}

TEST_CASE("one upgrader among writers never deadlocks", "[lock][simulation]") {
  const PauseHookScope hook{yield_there};
  for (std::uint64_t seed = 1; seed <= number_from("SWIZZLE_SCHEDULES", 500); ++seed) {
    Simulation simulation{{.seed = seed, .stack_bytes = 256 << 10, .spurious_odds = 0}};
    LockManager manager{small_table()};
    simulation.run([&manager] {
      std::vector<std::unique_ptr<Task>> tasks;
      for (int i = 0; i < 3; ++i) {
        tasks.push_back(Runtime::current().spawn("owner", [&manager, i] {
          LockOwner owner{manager};
          if (i == 0) {
            INVARIANT(owner.acquire(key(1), kReadKey).has_value());
          }
          INVARIANT(owner.acquire(key(1), kWriteKey).has_value());
          owner.release_all(Lsn::none);
        }));
      }
      for (auto& task : tasks) task->join();
    });
    CHECK(manager.statistics().deadlocks == 0);
  }
}

// The parker of a task dies with the task. A waker that still uses it is a use after free.
TEST_CASE("P4 a waiter that ends at once is not touched any more", "[lock][simulation]") {
  const LockVariant variant = GENERATE(LockVariant::raw, LockVariant::latched);
  const PauseHookScope hook{yield_there};
  for (std::uint64_t seed = 1; seed <= number_from("SWIZZLE_SCHEDULES", 500); ++seed) {
    Simulation simulation{{.seed = seed, .stack_bytes = 256 << 10, .spurious_odds = 0}};
    LockManager manager{small_table(variant)};
    simulation.run([&manager] {
      for (int round = 0; round < 3; ++round) {
        std::vector<std::unique_ptr<Task>> tasks;
        for (int i = 0; i < 4; ++i) {
          tasks.push_back(Runtime::current().spawn("owner", [&manager] {
            LockOwner owner{manager};
            INVARIANT(owner.acquire(key(1), kWriteKey).has_value());
            owner.release_all(Lsn::none);
          }));
        }
        tasks.clear();
      }
    });
  }
}

}  // namespace swizzle::lock

#endif
