#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "base/runtime/runtime.h"
#include "lock/lock_owner.h"

namespace swizzle::lock {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr TreeId kTree{7};

LockId key(std::uint64_t number) {
  return {kTree, number * 0x9E3779B97F4A7C15ULL};
}

LockOptions options_of(std::int64_t variant) {
  LockOptions options;
  options.variant = variant == 0 ? LockVariant::raw : LockVariant::latched;
  options.intent_path = variant == 0 ? IntentPath::private_slots : IntentPath::shared_table;
  return options;
}

void name_variant(benchmark::State& state) {
  state.SetLabel(state.range(0) == 0 ? "raw" : "latched");
}

std::unique_ptr<LockManager> shared_manager;

void set_up(const benchmark::State& state) {
  shared_manager = std::make_unique<LockManager>(options_of(state.range(0)));
}
void tear_down(const benchmark::State& /*state*/) {
  shared_manager.reset();
}

// A transaction with one exclusive key lock, and its commit. Budget: 120 ns.
void acquire_and_release(benchmark::State& state) {
  LockOwner owner{*shared_manager};
  const auto thread = static_cast<std::uint64_t>(state.thread_index());
  std::uint64_t n = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(owner.try_acquire(key(thread << 32 | (n & 1023)), kWriteKey));
    owner.release_all(Lsn{++n});
  }
  name_variant(state);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(acquire_and_release)
    ->ArgName("variant")
    ->DenseRange(0, 1)
    ->ThreadRange(1, 2)
    ->UseRealTime()
    ->Setup(set_up)
    ->Teardown(tear_down);

// The same for keys that are not in the processor's caches.
void acquire_and_release_cold(benchmark::State& state) {
  LockOwner owner{*shared_manager};
  std::uint64_t n = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(owner.try_acquire(key(++n), kWriteKey));
    owner.release_all(Lsn{n});
  }
  name_variant(state);
}
BENCHMARK(acquire_and_release_cold)
    ->ArgName("variant")
    ->DenseRange(0, 1)
    ->UseRealTime()
    ->Setup(set_up)
    ->Teardown(tear_down);

// Measures how much a second processor of the machine speeds up work that shares nothing: dependent
// arithmetic, and atomic operations on a thread's own cache lines, of which a lock and its release
// have three. Locks on disjoint keys cannot scale better.
void reference_arithmetic(benchmark::State& state) {
  std::uint64_t x = static_cast<std::uint64_t>(state.thread_index()) + 1;
  for (auto _ : state) {
    for (int i = 0; i < 16; ++i) x = x * 0x5851F42D4C957F2DULL + 1;
    benchmark::DoNotOptimize(x);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(reference_arithmetic)->ThreadRange(1, 2)->UseRealTime();

void reference_private_atomics(benchmark::State& state) {
  struct alignas(64) Line {
    std::atomic<std::uint64_t> word{0};
  };
  std::vector<Line> lines(1024);
  std::uint64_t n = 0;
  for (auto _ : state) {
    for (int i = 0; i < 3; ++i) lines[++n & 1023].word.fetch_add(1, std::memory_order_seq_cst);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(reference_private_atomics)->ThreadRange(1, 2)->UseRealTime();

// A small transaction: an intent and ten key locks, each requested twice.
void transaction_of_ten(benchmark::State& state) {
  LockOwner owner{*shared_manager};
  const auto thread = static_cast<std::uint64_t>(state.thread_index());
  std::uint64_t n = 0;
  for (auto _ : state) {
    owner.begin(TxnId{++n});
    benchmark::DoNotOptimize(owner.acquire_table(kTree, TableMode::intent_exclusive));
    for (std::uint64_t i = 0; i < 10; ++i) {
      const LockId id = key(thread << 32 | ((n * 10 + i) & 0xFFFF));
      benchmark::DoNotOptimize(owner.acquire(id, kReadKey));
      benchmark::DoNotOptimize(owner.acquire(id, kReadKey));
    }
    owner.release_all(Lsn{n});
  }
  name_variant(state);
  state.SetItemsProcessed(state.iterations() * 10);
}
BENCHMARK(transaction_of_ten)
    ->ArgName("variant")
    ->DenseRange(0, 1)
    ->ThreadRange(1, 2)
    ->UseRealTime()
    ->Setup(set_up)
    ->Teardown(tear_down);

// All threads read the same few keys: shared locks that meet in the same lists.
void read_hot_keys(benchmark::State& state) {
  LockOwner owner{*shared_manager};
  std::uint64_t n = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(owner.try_acquire(key(++n & 3), kReadKey));
    owner.release_all(Lsn::none);
  }
  name_variant(state);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(read_hot_keys)
    ->ArgName("variant")
    ->DenseRange(0, 1)
    ->ThreadRange(1, 2)
    ->UseRealTime()
    ->Setup(set_up)
    ->Teardown(tear_down);

void check_gap(benchmark::State& state) {
  LockOwner owner{*shared_manager};
  std::uint64_t n = 0;
  for (auto _ : state) benchmark::DoNotOptimize(owner.gap_is_free(key(++n & 1023)));
  name_variant(state);
}
BENCHMARK(check_gap)->ArgName("variant")->DenseRange(0, 1)->Setup(set_up)->Teardown(tear_down);

// Returns the resident memory of the process, as the system counts it.
double resident_mb() {
  std::ifstream statm{"/proc/self/statm"};
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident) * 4096 / 1e6;
}

void million_locks(benchmark::State& state) {
  constexpr std::uint64_t kLocks = 1'000'000;
  LockOptions options = options_of(state.range(0));
  options.escalation_threshold = 0;
  LockManager manager{options};
  std::size_t bytes = 0;
  const double resident_before = resident_mb();
  double resident_full = 0;
  for (auto _ : state) {
    LockOwner owner{manager};
    for (std::uint64_t i = 0; i < kLocks; ++i) {
      benchmark::DoNotOptimize(owner.try_acquire(key(i), kWriteKey));
    }
    bytes = manager.statistics().entry_bytes + owner.private_bytes();
    resident_full = resident_mb();
    owner.release_all(Lsn{1});
  }
  name_variant(state);
  state.counters["resident_before"] = resident_before;
  state.counters["resident_full"] = resident_full;
  state.counters["resident_after"] = resident_mb();
  state.counters["MB"] = static_cast<double>(bytes) / 1e6;
  state.counters["MB_after"] = static_cast<double>(manager.statistics().entry_bytes) / 1e6;
}
BENCHMARK(million_locks)->ArgName("variant")->DenseRange(0, 1)->Unit(benchmark::kMillisecond);

std::size_t waiting_now(const LockManager& manager) {
  return static_cast<std::size_t>(
      std::ranges::count(manager.snapshot(), LockRow::State::waiting, &LockRow::state));
}

// From the release until the waiting thread runs with the lock: mostly the kernel's futex.
void wake_a_waiter(benchmark::State& state) {
  LockOptions options = options_of(state.range(0));
  options.buckets = 64;
  LockManager manager{options};
  LockOwner holder{manager};
  std::vector<double> microseconds;
  for (auto _ : state) {
    benchmark::DoNotOptimize(holder.try_acquire(key(1), kWriteKey));
    Clock::time_point woken;
    auto waiter = Runtime::current().spawn("waiter", [&manager, &woken] {
      LockOwner owner{manager};
      benchmark::DoNotOptimize(owner.acquire(key(1), kWriteKey));
      woken = Clock::now();
      owner.release_all(Lsn::none);
    });
    while (waiting_now(manager) == 0) std::this_thread::sleep_for(20us);
    std::this_thread::sleep_for(100us);
    const Clock::time_point released = Clock::now();
    holder.release_all(Lsn::none);
    waiter->join();
    const std::chrono::duration<double> took = woken - released;
    state.SetIterationTime(took.count());
    microseconds.push_back(took.count() * 1e6);
  }
  std::ranges::sort(microseconds);
  state.counters["median_us"] = microseconds[microseconds.size() / 2];
  state.counters["p90_us"] = microseconds[microseconds.size() * 9 / 10];
  name_variant(state);
}
BENCHMARK(wake_a_waiter)
    ->ArgName("variant")
    ->DenseRange(0, 1)
    ->UseManualTime()
    ->Iterations(300)
    ->Unit(benchmark::kMicrosecond);

// From the request that closes the cycle until the victim has its error. Argument: number of
// waiters.
void report_a_deadlock(benchmark::State& state) {
  LockOptions options = options_of(state.range(0));
  options.buckets = 64;
  LockManager manager{options};
  const auto length = static_cast<std::uint64_t>(state.range(1));
  std::vector<double> microseconds;
  for (auto _ : state) {
    std::vector<std::unique_ptr<LockOwner>> owners;
    for (std::uint64_t i = 0; i < length; ++i) {
      owners.push_back(std::make_unique<LockOwner>(manager));
      owners.back()->begin(TxnId{i + 1});
      benchmark::DoNotOptimize(owners.back()->try_acquire(key(i), kWriteKey));
    }
    std::vector<std::unique_ptr<Task>> tasks;
    for (std::uint64_t i = 0; i + 1 < length; ++i) {
      tasks.push_back(Runtime::current().spawn("waiter", [&owners, i] {
        benchmark::DoNotOptimize(owners[i]->acquire(key(i + 1), kWriteKey));
        owners[i]->release_all(Lsn::none);
      }));
    }
    while (waiting_now(manager) != length - 1) std::this_thread::sleep_for(20us);
    const Clock::time_point start = Clock::now();
    const auto result = owners.back()->acquire(key(0), kWriteKey);
    const std::chrono::duration<double> took = Clock::now() - start;
    if (result) state.SkipWithError("no deadlock was reported");
    owners.back()->release_all(Lsn::none);
    tasks.clear();
    state.SetIterationTime(took.count());
    microseconds.push_back(took.count() * 1e6);
  }
  std::ranges::sort(microseconds);
  state.counters["median_us"] = microseconds[microseconds.size() / 2];
  state.counters["p90_us"] = microseconds[microseconds.size() * 9 / 10];
  name_variant(state);
}
BENCHMARK(report_a_deadlock)
    ->ArgNames({"variant", "cycle"})
    ->ArgsProduct({{0, 1}, {2, 10}})
    ->UseManualTime()
    ->Iterations(100)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace swizzle::lock

BENCHMARK_MAIN();
