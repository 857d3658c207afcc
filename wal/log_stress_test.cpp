#include <atomic>
#include <thread>

#include "base/fibers/fiber_runtime.h"
#include "base/runtime/spin.h"
#include "wal/internal/consolidation_array.h"
#include "wal/test_support.h"

using namespace swizzle;
using namespace swizzle::wal;
using namespace swizzle::wal::test;

TEST_CASE("P11 one active slot, many threads: ranges neither overlap nor leave gaps",
          "[log][stress]") {
  constexpr std::size_t kThreads = 64;
  constexpr std::size_t kEach = 3000;
  ConsolidationArray array{1};
  std::atomic<std::uint64_t> tail{0};
  std::vector<std::vector<std::pair<std::uint64_t, std::uint64_t>>> ranges(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Random random{t + 1};
      for (std::size_t i = 0; i < kEach; ++i) {
        const std::size_t bytes = 8 * (1 + random() % 1000);
        ranges[t].emplace_back(array.allot(tail, bytes), bytes);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
  for (const auto& some : ranges) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  std::uint64_t expected = 0;
  for (const auto& [start, bytes] : all) {
    REQUIRE(start == expected);
    expected += bytes;
  }
  REQUIRE(tail == expected);
}

namespace {

// Returns the payload of a record, derived from its thread's number and count.
std::string payload_of(std::uint64_t thread, std::uint64_t count, std::size_t longest) {
  Random random{thread * 1'000'003 + count};
  return random_payload(random, random() % 50 == 0 ? longest : 200);
}

}  // namespace

TEST_CASE("P11 P12 P30 sixty-four threads, a tiny ring, tiny segments: the whole log, gap-free",
          "[log][stress]") {
  const auto mode =
      GENERATE(InsertMode::plain_mutex, InsertMode::consolidation_array, InsertMode::atomic_tail);
  constexpr std::uint64_t kThreads = 64;
  constexpr std::uint64_t kEach = 150;
  constexpr std::size_t kLongest = 20'000;
  PosixFileSystem files;
  TemporaryDirectory directory;
  LogOptions options = small_options(directory.path());
  options.insert = mode;
  options.consolidation_slots = 1;
  auto log = Log::create(files, options).value();
  std::atomic<bool> ordered{true};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 1; t <= kThreads; ++t) {
    threads.emplace_back([&, t] {
      Lsn previous = Lsn::none;
      for (std::uint64_t i = 0; i < kEach; ++i) {
        const std::string payload = payload_of(t, i, kLongest);
        auto space = log->reserve(payload.size());
        const RecordHeader header{.kind = kUpdate, .txn = TxnId{t}, .txn_prev = previous};
        const auto at = log->append(*space, header, as_bytes(payload));
        if (at.lsn <= previous) ordered = false;
        previous = at.lsn;
        space = Reservation{};
        if (i % 16 == t % 16) log->flush_to(at.end);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  REQUIRE(ordered);
  log->close();

  std::vector<std::uint64_t> counts(kThreads + 1, 0);
  std::vector<Lsn> last(kThreads + 1, Lsn::none);
  bool as_expected = true;
  for (const Written& record : read_forward(log->reader(), log->begin())) {
    const std::uint64_t t = raw(record.header.txn);
    as_expected &= record.header.txn_prev == last[t];
    as_expected &= record.payload == payload_of(t, counts[t], kLongest);
    last[t] = record.lsn;
    ++counts[t];
  }
  REQUIRE(as_expected);
  for (std::uint64_t t = 1; t <= kThreads; ++t) REQUIRE(counts[t] == kEach);
}

TEST_CASE("P13 closing with everything in memory makes it durable", "[log][stress]") {
  for (int round = 0; round < 20; ++round) {
    PosixFileSystem files;
    TemporaryDirectory directory;
    LogOptions options = small_options(directory.path());
    options.lazy_flush_delay = std::chrono::hours{1};
    std::vector<std::vector<Written>> written(4);
    Lsn first = Lsn::none;
    {
      auto log = Log::create(files, options).value();
      first = log->begin();
      std::vector<std::thread> threads;
      for (auto& mine : written) {
        threads.emplace_back([&] {
          Random random{static_cast<std::uint64_t>(round)};
          for (int i = 0; i < 300; ++i) {
            const std::string payload = random_payload(random, 300);
            auto space = log->reserve(payload.size());
            const auto [lsn, end] = log->append(*space, {.kind = kUpdate}, as_bytes(payload));
            mine.push_back({lsn, end, {.kind = kUpdate}, payload});
            log->flush_soon(end);
          }
        });
      }
      for (auto& thread : threads) thread.join();
      log->close();
    }
    std::vector<Written> all;
    for (const auto& some : written) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.lsn < b.lsn; });
    auto log = Log::open(files, options, first).value();
    REQUIRE(same(read_forward(log->reader(), first), all));
  }
}

TEST_CASE("P1 P13 committers that come and go never miss their wake", "[log][stress]") {
  PosixFileSystem files;
  TemporaryDirectory directory;
  auto log = Log::create(files, small_options(directory.path())).value();
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        auto space = log->reserve(50);
        const auto at = log->append(*space, {.kind = kUpdate}, as_bytes("commit"));
        space = Reservation{};
        log->flush_to(at.end);
        if (log->durable() < at.end) std::abort();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  log->close();
  REQUIRE(read_forward(log->reader(), log->begin()).size() == 16 * 300);
}

TEST_CASE("fibers that are busy on one thread commit with few writes", "[log][stress]") {
  PosixFileSystem files;
  TemporaryDirectory directory;
  auto log = Log::create(files, small_options(directory.path())).value();
  constexpr std::uint64_t kFibers = 32;
  constexpr std::uint64_t kEach = 40;
  const std::uint64_t before = log->statistics().flushes;
  {
    FiberRuntime runtime{{.reactors = 1}};
    std::vector<std::unique_ptr<Task>> fibers;
    for (std::uint64_t f = 0; f < kFibers; ++f) {
      fibers.push_back(runtime.spawn("committer", [&] {
        for (std::uint64_t i = 0; i < kEach; ++i) {
          // A write takes about as long as this work: without coordination among the fibers there
          // would be one for every commit or two.
          const TimePoint until = runtime.now() + std::chrono::microseconds{100};
          while (runtime.now() < until) continue;
          auto space = log->reserve(50);
          const auto at = log->append(*space, {.kind = kUpdate}, as_bytes("commit"));
          space = Reservation{};
          log->flush_to(at.end);
          if (log->durable() < at.end) std::abort();
        }
      }));
    }
  }
  REQUIRE(log->statistics().flushes - before < kFibers * kEach / 5);
  log->close();
  REQUIRE(read_forward(log->reader(), log->begin()).size() == kFibers * kEach);
}
