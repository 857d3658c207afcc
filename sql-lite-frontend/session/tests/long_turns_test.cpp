// Time for which a statement blocks its reactor's other fibers, whatever it does: spilling,
// rollback, release of memory. See swizzle_reactor_long_turns_total in docs/metrics.md.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <charconv>
#include <iostream>

#include "base/fibers/fiber_runtime.h"
#include "base/io/posix_file_system.h"
#include "base/sanitizers.h"
#include "sql-lite-frontend/session.h"
#include "sql-lite-frontend/session/tests/test_sink.h"
#include "storage/engine.h"

namespace swizzle::sql {
namespace {

/// Time in which the calling thread was ready and had no processor.
class TimeInLine {
 public:
  TimeInLine() : descriptor_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
  TimeInLine(const TimeInLine&) = delete;
  TimeInLine& operator=(const TimeInLine&) = delete;
  ~TimeInLine() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  /// Returns nothing if the system does not report it.
  [[nodiscard]] Duration now() const {
    std::array<char, 80> text{};
    const auto size = descriptor_ < 0 ? -1 : ::pread(descriptor_, text.data(), text.size(), 0);
    if (size <= 0) return {};
    const std::string_view all{text.data(), static_cast<std::size_t>(size)};
    const std::size_t space = all.find(' ');
    std::int64_t waited = 0;
    std::from_chars(all.data() + space + 1, all.data() + all.size(), waited);
    return Duration{waited};
  }

 private:
  const int descriptor_;
};

/// A fiber that is always ready, and so measures the turns of others.
class Bystander {
 public:
  void run() {
    const TimeInLine in_line;
    while (!is_over_) {
      const TimePoint before = std::chrono::steady_clock::now();
      const Duration in_line_before = in_line.now();
      Runtime::current().yield();
      const Duration waited = std::chrono::steady_clock::now() - before;
      if (waited <= kLong) continue;
      const Duration kept = waited - (in_line.now() - in_line_before);
      if (kept <= kLong) continue;
      ++long_turns_;
      longest_ = std::max(longest_, kept);
    }
  }
  void end() noexcept { is_over_ = true; }
  /// Returns the long turns since the last call.
  std::pair<int, Duration> take() {
    return {std::exchange(long_turns_, 0), std::exchange(longest_, {})};
  }

  static constexpr Duration kLong = std::chrono::milliseconds{2};

 private:
  bool is_over_ = false;
  int long_turns_ = 0;
  Duration longest_{};
};

/// Returns how often this thread has waited for a page of a mapped file, which no count of work
/// foresees.
long waits_for_pages() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_majflt;
}

/// A database on real files with little memory for transactions.
class SmallServer {
 public:
  SmallServer()
      : directory_(std::filesystem::temp_directory_path() /
                   fmt::format("swizzle-turns-{}", ::getpid())) {
    std::filesystem::remove_all(directory_);
    options_.pool_bytes = std::uint64_t{256} << 20U;
    // With fragmented memory the kernel compacts pages before it grants a large allocation, which
    // takes milliseconds and cannot be avoided by a statement.
    options_.pool_prefault = true;
    options_.undo_memory_bytes = std::uint64_t{8} << 20U;
    REQUIRE(Engine::create(files_, directory_, options_));
    engine_ = std::move(Engine::open(files_, directory_, options_).value());
    database_ = std::move(Database::open(*engine_).value());
    session_ = connect(1);
    reader_ = connect(2);
  }
  SmallServer(const SmallServer&) = delete;
  SmallServer& operator=(const SmallServer&) = delete;
  ~SmallServer() {
    reader_.reset();
    session_.reset();
    database_.reset();
    CHECK(engine_->close());
    engine_.reset();
    std::filesystem::remove_all(directory_);
  }
  /// Runs a text; one that begins with "beside: " in another session.
  void run(std::string text) {
    constexpr std::string_view kBeside = "beside: ";
    const bool is_beside = text.starts_with(kBeside);
    if (is_beside) text.erase(0, kBeside.size());
    sink_.clear();
    const Outcome outcome = (is_beside ? reader_ : session_)->simple_query(text, sink_);
    if (!outcome) FAIL_CHECK(text << ": " << outcome.error().message);
  }

 private:
  std::unique_ptr<Session> connect(std::int32_t pid) {
    SessionOptions options;
    options.backend_pid = pid;
    return std::move(database_->connect(options).value());
  }

  PosixFileSystem files_;
  std::filesystem::path directory_;
  EngineOptions options_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Session> reader_;
  TestSink sink_;
};

constexpr const char* kStatements[] = {
    "INSERT INTO t SELECT i, i * 7919 % 200003, repeat('x', 100) FROM generate_series(1, 200000) i",
    "CREATE INDEX t_a ON t (a)",
    "UPDATE t SET a = a + 1",
    "BEGIN; UPDATE t SET a = a + 1; ROLLBACK",
    "BEGIN; UPDATE t SET a = a + 1",
    "beside: SELECT sum(a) FROM t",
    "beside: SELECT sum(x.a) FROM t x, LATERAL (SELECT a FROM t WHERE id = x.id + 1 OFFSET 0) y",
    "ROLLBACK",
    "SET work_mem = '64kB'; SELECT count(*) FROM (SELECT * FROM t ORDER BY b, a OFFSET 1) x",
    "SELECT count(*) FROM t x JOIN t y ON x.a = y.a",
    "CHECKPOINT",
    "DELETE FROM t WHERE id % 2 = 0",
    "DROP TABLE t",
    "CHECKPOINT",
};

struct Turns {
  int over_2_ms = 0;
  Duration longest{};
  long waits_for_pages = 0;

  [[nodiscard]] bool are_short() const noexcept {
    // Helper threads read pages back from the device; some 350 waits occurred when a look-up of a
    // version read them itself. A few turns of some milliseconds are due to the system, which
    // clears pages and moves threads.
    return waits_for_pages < 20 && over_2_ms < 50 && longest < std::chrono::milliseconds{50};
  }
};

/// Runs all statements beside a bystander.
Turns turns_of_statements() {
  Turns turns;
  FiberRuntime runtime{{.reactors = 1}};
  Bystander bystander;
  auto beside = runtime.spawn("bystander", [&] { bystander.run(); });
  runtime
      .spawn("statements",
             [&] {
               SmallServer server;
               server.run("CREATE TABLE t (id int PRIMARY KEY, a int, b text)");
               static_cast<void>(bystander.take());
               for (const char* const statement : kStatements) {
                 const long waits_before = waits_for_pages();
                 server.run(statement);
                 const long waited = waits_for_pages() - waits_before;
                 turns.waits_for_pages += waited;
                 const auto [met, worst] = bystander.take();
                 turns.over_2_ms += met;
                 turns.longest = std::max(turns.longest, worst);
                 if (met != 0 || waited != 0)
                   std::cout << fmt::format(
                       "{} turns of over 2 ms, the longest {} us, {} waits for pages: {}\n", met,
                       worst / std::chrono::microseconds{1}, waited, statement);
               }
               bystander.end();
             })
      ->join();
  beside->join();
  return turns;
}

}  // namespace

// A pool of 4 GB would behave the same: the work in one turn does not depend on the pool's size,
// and the test has no minutes to fill a large one.
TEST_CASE("No statement keeps others waiting, whatever it spills and gives back",
          "[sql][long_turns]") {
  // Under sanitizers, which slow down everything, only the statements' answers count.
  [[maybe_unused]] Turns turns = turns_of_statements();
#if !defined(SWIZZLE_ASAN) && !defined(SWIZZLE_TSAN)
  // A busy machine may delay a turn once; delays of ours recur.
  for (int again = 0; again < 2 && !turns.are_short(); ++again) turns = turns_of_statements();
  INFO(turns.over_2_ms << " turns of over 2 ms, the longest "
                       << turns.longest / std::chrono::microseconds{1} << " us, "
                       << turns.waits_for_pages << " waits for pages");
  CHECK(turns.are_short());
#endif
}

}  // namespace swizzle::sql
