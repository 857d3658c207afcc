#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/io/posix_file_system.h"
#include "base/memory/aligned_buffer.h"
#include "wal/log.h"

using namespace swizzle;
using namespace swizzle::wal;

namespace {

// SWIZZLE_BENCH_DIR names the device to measure, whose speed is most of a commit's latency.
std::filesystem::path bench_directory() {
  const char* where = std::getenv("SWIZZLE_BENCH_DIR");  // NOLINT(concurrency-mt-unsafe)
  return where != nullptr ? std::filesystem::path{where} : std::filesystem::temp_directory_path();
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "swizzle_wal_bench: %s\n", why.c_str());
  std::exit(1);
}

class Bench {
 public:
  explicit Bench(InsertMode mode) {
    std::string name = (bench_directory() / "swizzle-wal-bench-XXXXXX").native();
    if (mkdtemp(name.data()) == nullptr) give_up("no directory can be made at " + name);
    directory_ = name;
    LogOptions options;
    options.directory = directory_;
    options.database_id = 1;
    options.buffer_bytes = std::size_t{64} << 20U;
    options.insert = mode;
    auto created = Log::create(files_, options);
    if (!created) give_up(created.error().message());
    log_ = std::move(*created);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() {
    log_->close();
    log_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  Log& log() { return *log_; }

 private:
  PosixFileSystem files_;
  std::filesystem::path directory_;
  std::unique_ptr<Log> log_;
};

constexpr RecordHeader kUpdate{.kind = RecordKind{17},
                               .txn = TxnId{123'456},
                               .txn_prev = Lsn{8'000'000},
                               .page = PageId{4711},
                               .page_prev = Lsn{9'000'000},
                               .tree = TreeId{12}};

Appended append_one(Log& log, Bytes payload) {
  auto space = log.reserve(payload.size());
  if (!space) give_up(space.error().message());
  return log.append(*space, kUpdate, payload);
}

std::int64_t thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// Measures insertion alone: the ring holds a whole run, so that the writer does nothing, and is
// emptied between runs with the clock stopped.
void insertion(benchmark::State& state) {
  const auto mode = static_cast<InsertMode>(state.range(0));
  const auto threads = static_cast<std::size_t>(state.range(1));
  const std::string payload(static_cast<std::size_t>(state.range(2)), 'x');
  Bench bench{mode};
  Log& log = bench.log();
  const std::size_t per_run = (std::size_t{8} << 20U) / (payload.size() + 48);
  const std::size_t each = per_run / threads;
  std::atomic<std::int64_t> cpu_ns{0};
  for (auto _ : state) {
    std::atomic<std::size_t> ready{0};
    std::atomic<bool> go{false};
    std::vector<std::thread> workers;
    for (std::size_t t = 0; t < threads; ++t) {
      workers.emplace_back([&] {
        ++ready;
        while (!go.load()) std::this_thread::yield();
        const std::int64_t begun = thread_cpu_ns();
        for (std::size_t i = 0; i < each; ++i) append_one(log, as_bytes(payload));
        cpu_ns += thread_cpu_ns() - begun;
      });
    }
    while (ready.load() != threads) std::this_thread::yield();
    const auto start = std::chrono::steady_clock::now();
    go = true;
    for (auto& worker : workers) worker.join();
    state.SetIterationTime(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    log.flush_to(log.tail());
    log.keep_from(log.durable());
  }
  const auto records =
      static_cast<double>(state.iterations()) * static_cast<double>(each * threads);
  // Shows an insertion's cost even if other programs take the processors away.
  state.counters["cpu_ns_per_record"] = static_cast<double>(cpu_ns.load()) / records;
  state.counters["records_per_s"] = benchmark::Counter(records, benchmark::Counter::kIsRate);
}

void insertion_arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"mode", "threads", "payload"});
  for (const auto mode :
       {InsertMode::plain_mutex, InsertMode::consolidation_array, InsertMode::atomic_tail}) {
    for (const int threads : {1, 2, 4, 16, 64}) {
      bench->Args({static_cast<long>(mode), threads, 60});
    }
  }
  bench->Args({static_cast<long>(InsertMode::consolidation_array), 1, 200});
}
BENCHMARK(insertion)->Apply(insertion_arguments)->UseManualTime()->Iterations(30);

void bare_write(benchmark::State& state) {
  const auto path = bench_directory() / "swizzle-wal-bench-bare";
  const auto size = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kFile = std::size_t{16} << 20U;
  AlignedBuffer memory{std::size_t{1} << 20U};
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_DIRECT | O_DSYNC, 0600);
  if (file < 0) give_up("no direct writes at " + path.native());
  for (std::size_t at = 0; at < kFile; at += memory.size()) {
    if (pwrite(file, memory.data(), memory.size(), static_cast<off_t>(at)) < 0)
      give_up("no room for a file");
  }
  std::size_t at = 0;
  for (auto _ : state) {
    if (pwrite(file, memory.data(), size, static_cast<off_t>(at)) < 0)
      give_up("a bare write failed");
    // As a log does with small commits: the same block several times, then the next.
    if (state.iterations() % 16 == 0) at = (at + kWriteUnit) % (kFile - size);
  }
  close(file);
  std::filesystem::remove(path);
}
BENCHMARK(bare_write)->Arg(4096)->UseRealTime()->MinTime(1.0);

// Measures the latency that a single client sees.
void one_committer(benchmark::State& state) {
  Bench bench{InsertMode::consolidation_array};
  const std::string payload(200, 'x');
  for (auto _ : state) bench.log().flush_to(append_one(bench.log(), as_bytes(payload)).end);
  state.counters["writes_per_commit"] = static_cast<double>(bench.log().statistics().writes) /
                                        static_cast<double>(state.iterations());
}
BENCHMARK(one_committer)->UseRealTime()->MinTime(1.0);

void many_committers(benchmark::State& state) {
  const auto threads = static_cast<std::size_t>(state.range(0));
  constexpr std::size_t kEach = 300;
  Bench bench{InsertMode::consolidation_array};
  const std::string payload(200, 'x');
  const std::uint64_t writes_before = bench.log().statistics().writes;
  for (auto _ : state) {
    std::vector<std::thread> committers;
    for (std::size_t t = 0; t < threads; ++t) {
      committers.emplace_back([&] {
        for (std::size_t i = 0; i < kEach; ++i) {
          bench.log().flush_to(append_one(bench.log(), as_bytes(payload)).end);
        }
      });
    }
    for (auto& committer : committers) committer.join();
  }
  const auto commits =
      static_cast<double>(state.iterations()) * static_cast<double>(threads * kEach);
  const auto writes = static_cast<double>(bench.log().statistics().writes - writes_before);
  state.counters["commits_per_s"] = benchmark::Counter(commits, benchmark::Counter::kIsRate);
  state.counters["commits_per_write"] = commits / writes;
}
BENCHMARK(many_committers)->Arg(4)->Arg(64)->UseRealTime()->MinTime(1.0);

}  // namespace

BENCHMARK_MAIN();
