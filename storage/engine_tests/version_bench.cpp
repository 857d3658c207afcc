// swizzle-version-bench DIRECTORY [reads|fibers|held|updates …]: the cost of snapshots and
// versions, on a fresh database in DIRECTORY, which is removed. docs/results/isolation.md has a
// run.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "base/fibers/fiber_runtime.h"
#include "base/io/posix_file_system.h"
#include "base/programs/program_words.h"
#include "base/random.h"
#include "storage/engine.h"
#include "storage/statistics.h"
#include "storage/txn/transaction_access.h"

namespace swizzle {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRows = 100'000;
constexpr std::size_t kValueBytes = 100;
constexpr std::uint64_t kBound = std::uint64_t{512} << 20U;

template <class T>
T need(Result<T> result) {
  if (!result) {
    fmt::print(stderr, "{} {}\n", result.error().state().code(), result.error().message());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

struct Key {
  explicit Key(std::uint64_t number) { store_big_endian(bytes.data(), number); }
  operator Bytes() const { return bytes; }  // NOLINT(google-explicit-constructor)
  std::array<std::byte, 8> bytes;
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Resident memory of this process.
double megabytes_resident() {
  std::ifstream file{"/proc/self/statm"};
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  file >> total >> resident;
  return static_cast<double>(resident) * 4096 / 1e6;
}

class Bench {
 public:
  explicit Bench(std::filesystem::path directory) : directory_(std::move(directory)) {
    EngineOptions options;
    options.pool_bytes = std::uint64_t{256} << 20U;
    options.version_store_bytes = kBound;
    need(Engine::create(files_, directory_, options));
    engine = need(Engine::open(files_, directory_, options));
    const auto transaction = engine->begin();
    tree = need(engine->create_tree(*transaction));
    Tree t = need(engine->tree(tree));
    const std::vector<std::byte> value(kValueBytes);
    for (std::uint64_t i = 0; i < kRows; ++i) need(t.insert(*transaction, Key{i}, value));
    need(transaction->commit());
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() {
    need(engine->close());
    engine.reset();
    std::filesystem::remove_all(directory_);
  }

  void update(std::uint64_t key, Transaction::Durability durability) {
    std::array<std::byte, kValueBytes> value{};
    std::memcpy(value.data(), &++counter, sizeof counter);
    const auto transaction = engine->begin();
    Tree t = need(engine->tree(tree));
    need(t.update(*transaction, Key{key}, value));
    need(transaction->commit(durability));
  }
  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
  [[nodiscard]] std::uintmax_t data_bytes() const {
    return std::filesystem::file_size(directory_ / "data");
  }

  std::unique_ptr<Engine> engine;
  TreeId tree{};

 private:
  PosixFileSystem files_;
  std::filesystem::path directory_;
  static inline thread_local std::uint64_t counter = 0;
};

/// Reads one record without any transaction: a descent and a copy.
class PlainRead final : public LeafVisitor {
 public:
  explicit PlainRead(ValueBuffer& into) : into_(into) {}
  void visit(const Node& leaf, Node::Position at) noexcept override {
    const Bytes value = leaf.value(at.index);
    const MutableBytes to = into_.prepare(value.size());
    std::memcpy(to.data(), value.data(), value.size());
  }

 private:
  ValueBuffer& into_;
};

/// The best of several rounds, in ns per read.
double ns_per_read(const std::vector<std::uint64_t>& keys,
                   const std::function<void(std::uint64_t)>& read) {
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    const auto start = Clock::now();
    for (const std::uint64_t key : keys) read(key);
    best = std::min(best, seconds_since(start) * 1e9 / static_cast<double>(keys.size()));
  }
  return best;
}

void reads(Bench& bench) {
  Random random{1};
  // Few leaves, so that memory accesses do not dominate.
  std::vector<std::uint64_t> keys(200'000);
  for (std::uint64_t& key : keys) key = random.below(2000);
  ValueBuffer value;
  AnyTree& tree = *TransactionAccess::any_tree(need(bench.engine->tree(bench.tree)));
  Tree handle = need(bench.engine->tree(bench.tree));
  const double plain = ns_per_read(keys, [&](std::uint64_t key) {
    PlainRead read(value);
    need(tree.read(Key{key}, read));
  });
  const auto get = [&](Transaction& transaction) {
    return ns_per_read(keys,
                       [&](std::uint64_t key) { need(handle.get(transaction, Key{key}, value)); });
  };
  const auto quiet = bench.engine->begin(Isolation::repeatable_read);
  const double by_snapshot = get(*quiet);
  fmt::print(
      "point read: without transactions {:.0f} ns, by snapshot on quiet leaves {:.0f} ns "
      "({:+.0f})\n",
      plain, by_snapshot, by_snapshot - plain);
  // Every record changed once since the snapshot: each read finds an older version.
  for (std::uint64_t key = 0; key < 2000; ++key)
    bench.update(key, Transaction::Durability::asynchronous);
  const double older = get(*quiet);
  const auto fresh = bench.engine->begin(Isolation::repeatable_read);
  const auto writer = bench.engine->begin();
  // Another transaction writes elsewhere in each leaf: versions are looked up, and the leaf has the
  // right one.
  for (std::uint64_t key = 0; key < 2000; key += 20) {
    const std::vector<std::byte> other(kValueBytes);
    need(handle.update(*writer, Key{key}, other));
  }
  const double looked_up = get(*fresh);
  fmt::print(
      "on leaves with live versions: an older version {:.0f} ns ({:+.0f}), the newest "
      "{:.0f} ns ({:+.0f})\n",
      older, older - plain, looked_up, looked_up - plain);
}

struct FiberRun {
  double seconds = 0;
  double reads = 0;
  double writes = 0;
  /// Of processor time: the thread that runs the readers, and the whole process.
  double reader_seconds = 0;
  double all_seconds = 0;

  [[nodiscard]] double reads_per_second() const { return reads / seconds; }
  [[nodiscard]] double reads_per_own_second() const { return reads / reader_seconds; }
};

double used_seconds(clockid_t clock) {
  timespec used{};
  ::clock_gettime(clock, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

/// Sessions that change rows while others read.
struct Updaters {
  Bench* bench = nullptr;
  int count = 0;
  /// Each one's pause between two updates; 0: none but the wait for the log.
  std::chrono::microseconds pause{0};
};

/// Counted by one reactor each, so not in one cache line.
struct alignas(64) Count {
  std::atomic<std::uint64_t> value{0};
};

/// Readers on one reactor, updaters on another, until the time is over.
FiberRun run_fibers(Bench& bench, int readers, const Updaters& updaters, double seconds) {
  alignas(64) std::atomic<bool> stop{false};
  Count read_count;
  Count write_count;
  FiberRun run;
  const double before = used_seconds(CLOCK_PROCESS_CPUTIME_ID);
  const auto start = Clock::now();
  {
    FiberRuntime runtime{{.reactors = 2}};
    std::vector<std::unique_ptr<Task>> tasks;
    for (int i = 0; i < readers; ++i)
      tasks.push_back(runtime.spawn_on(0, "reader", [&, i] {
        Random random{static_cast<std::uint64_t>(i)};
        ValueBuffer value;
        Tree tree = need(bench.engine->tree(bench.tree));
        while (!stop.load(std::memory_order_relaxed)) {
          const auto transaction =
              bench.engine->begin(Isolation::read_committed, Access::read_only);
          transaction->begin_statement();
          for (int n = 0; n < 10; ++n)
            need(tree.get(*transaction, Key{random.below(kRows)}, value));
          need(transaction->commit());
          read_count.value.fetch_add(1, std::memory_order_relaxed);
          Runtime::current().yield();
        }
      }));
    for (int i = 0; i < updaters.count; ++i)
      tasks.push_back(runtime.spawn_on(1, "updater", [&, i] {
        Random random{static_cast<std::uint64_t>(1000 + i)};
        Runtime& here = Runtime::current();
        while (!stop.load(std::memory_order_relaxed)) {
          updaters.bench->update(random.below(kRows), Transaction::Durability::synchronous);
          write_count.value.fetch_add(1, std::memory_order_relaxed);
          if (updaters.pause.count() != 0) here.sleep_until(here.now() + updaters.pause);
        }
      }));
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    stop = true;
    for (const auto& task : tasks) task->join();
    runtime
        .spawn_on(0, "clock",
                  [&run] { run.reader_seconds = used_seconds(CLOCK_THREAD_CPUTIME_ID); })
        ->join();
  }
  run.seconds = seconds_since(start);
  run.all_seconds = used_seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
  run.reads = static_cast<double>(read_count.value);
  run.writes = static_cast<double>(write_count.value);
  return run;
}

std::string median_and_range(std::vector<double> values, std::string_view unit) {
  std::ranges::sort(values);
  return fmt::format("{:.1f} {} ({:.1f} to {:.1f})", values[values.size() / 2], unit,
                     values.front(), values.back());
}

/// Readers beside updaters against readers alone, in turn, since the machine drifts.
void read_beside(Bench& bench, const Updaters& updaters, std::string_view name) {
  constexpr int kReaders = 64;
  constexpr int kRounds = 12;
  constexpr double kSeconds = 0.5;
  std::vector<double> rates;
  std::vector<double> writes;
  std::vector<double> shares;
  std::vector<double> shares_of_own_time;
  std::vector<double> other_processors;
  for (int round = 0; round < kRounds; ++round) {
    const FiberRun alone = run_fibers(bench, kReaders, {}, kSeconds);
    const FiberRun beside = run_fibers(bench, kReaders, updaters, kSeconds);
    rates.push_back(alone.reads_per_second() / 1000);
    writes.push_back(beside.writes / beside.seconds / 1000);
    shares.push_back(100 * beside.reads_per_second() / alone.reads_per_second());
    shares_of_own_time.push_back(100 * beside.reads_per_own_second() /
                                 alone.reads_per_own_second());
    other_processors.push_back((beside.all_seconds - beside.reader_seconds) / beside.seconds);
  }
  fmt::print(
      "64 fibers of read-only transactions alone {}, beside {} that make {}: {} of that; per "
      "second "
      "of their own processor time {}; the others use {}\n",
      median_and_range(rates, "K/s"), name, median_and_range(writes, "K/s"),
      median_and_range(shares, "%"), median_and_range(shares_of_own_time, "%"),
      median_and_range(other_processors, "processors"));
}

/// Beside updaters of the same rows, and, to see what sharing the machine costs by itself, beside
/// updaters of another database; and beside such as leave the processors alone.
void fibers(Bench& bench) {
  Bench other{bench.directory().string() + "-other"};
  read_beside(bench, {&bench, 2}, "2 updaters");
  read_beside(bench, {&other, 2}, "2 updaters of another database");
  constexpr std::chrono::milliseconds kPause{1};
  read_beside(bench, {&bench, 2, kPause}, "2 updaters that pause for 1 ms");
  read_beside(bench, {&other, 2, kPause}, "2 such updaters of another database");
}

/// Updates per second of two threads.
double update_for(Bench& bench, double seconds, Transaction::Durability durability) {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> count{0};
  std::vector<std::thread> threads;
  const auto start = Clock::now();
  for (unsigned i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      Random random{i};
      std::uint64_t done = 0;
      while (!stop) {
        bench.update(random.below(kRows), durability);
        ++done;
      }
      count += done;
    });
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return static_cast<double>(count) / seconds_since(start);
}

/// Measures the cost of a snapshot for writers: rounds with and without one in turn, since disks
/// drift.
void hold_in_turn(Bench& bench, double seconds, Transaction::Durability durability,
                  std::string_view name) {
  constexpr int kRounds = 6;
  std::vector<double> losses;
  double free_rate = 0;
  double held_rate = 0;
  std::uint64_t kept = 0;
  Tree tree = need(bench.engine->tree(bench.tree));
  for (int round = 0; round < kRounds; ++round) {
    const double free = update_for(bench, seconds, durability);
    const auto reader = bench.engine->begin(Isolation::repeatable_read);
    ValueBuffer value;
    need(tree.get(*reader, Key{0}, value));
    const double held = update_for(bench, seconds, durability);
    kept = std::max(kept, bench.engine->statistics().version_bytes);
    need(tree.get(*reader, Key{0}, value));
    reader->rollback();
    losses.push_back(100 * (1 - held / free));
    free_rate += free / kRounds;
    held_rate += held / kRounds;
  }
  std::ranges::sort(losses);
  fmt::print(
      "2 {} writers: {:.0f}/s, beside a snapshot {:.0f}/s; they lose {:.1f} % (median of {} rounds "
      "of "
      "{} s; {:.1f} to {:.1f}); {:.0f} MB kept at most\n",
      name, free_rate, held_rate, losses[kRounds / 2], kRounds, seconds, losses.front(),
      losses.back(), static_cast<double>(kept) / 1e6);
}

void held(Bench& bench) {
  hold_in_turn(bench, 3, Transaction::Durability::synchronous, "durable");
  hold_in_turn(bench, 1, Transaction::Durability::asynchronous, "asynchronous");
}

void updates(Bench& bench) {
  constexpr std::uint64_t kUpdates = 10'000'000;
  const auto before = bench.data_bytes();
  const double resident = megabytes_resident();
  const auto reader = bench.engine->begin(Isolation::repeatable_read);
  ValueBuffer value;
  need(need(bench.engine->tree(bench.tree)).get(*reader, Key{0}, value));
  std::uint64_t peak = 0;
  Random random{3};
  const auto start = Clock::now();
  for (std::uint64_t i = 0; i < kUpdates; ++i) {
    bench.update(random.below(kRows), Transaction::Durability::asynchronous);
    if (i % 1000 == 0) peak = std::max(peak, bench.engine->statistics().version_bytes);
  }
  const double taken = seconds_since(start);
  const double grown = megabytes_resident();
  const auto read = need(bench.engine->tree(bench.tree)).get(*reader, Key{0}, value);
  reader->rollback();
  std::this_thread::sleep_for(std::chrono::seconds{2});
  fmt::print(
      "{} updates beside an open snapshot in {:.1f} s: {:.0f} MB of versions at most (bound "
      "{:.0f} MB), resident {:.0f} -> {:.0f} MB; the snapshot: {}; afterwards {} bytes kept; "
      "data file {} -> {} bytes\n",
      kUpdates, taken, static_cast<double>(peak) / 1e6, static_cast<double>(kBound) / 1e6, resident,
      grown, read ? "still reads" : read.error().message(),
      bench.engine->statistics().version_bytes, before, bench.data_bytes());
}

int run(int count, char** words) {
  const std::map<std::string_view, void (*)(Bench&)> all{
      {"reads", reads}, {"fibers", fibers}, {"held", held}, {"updates", updates}};
  constexpr std::string_view kName = "swizzle-version-bench";
  if (answers_program_words(count, words, kName,
                            "swizzle-version-bench DIRECTORY [reads|fibers|held|updates ...]\n")) {
    return 0;
  }
  if (count < 3) return refuse_program_words(kName, "a directory and what to measure are needed");
  for (int i = 2; i < count; ++i) {
    const auto chosen = all.find(words[i]);
    if (chosen == all.end()) {
      fmt::print(stderr, "there is no \"{}\"\n", words[i]);
      return 2;
    }
    Bench bench{words[1]};
    chosen->second(bench);
  }
  return 0;
}

}  // namespace
}  // namespace swizzle

int main(int count, char** words) {
  return swizzle::run(count, words);
}
