#include "tpcc/driver.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <atomic>
#include <cmath>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace swizzle::tpcc {
namespace {

double cpu_seconds_of_this_process() noexcept {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Duration to_duration(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

bool heals_when_tried_again(const Error& error) noexcept {
  return error.state() == sqlstate::serialization_failure ||
         error.state() == sqlstate::deadlock_detected ||
         error.state() == sqlstate::lock_not_available;
}

/// What the sessions and the reporter share.
struct Shared {
  std::atomic<bool> measuring{false};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::optional<Error> failure;

  void fail_with(Error error) {
    const std::lock_guard hold(mutex);
    if (!failure) failure = std::move(error);
    stop.store(true);
  }
};

class alignas(128) Terminal {
 public:
  Terminal(Session& session, InputSource source, const RunSettings& settings, Shared& shared)
      : session_(session), source_(source), settings_(settings), shared_(shared) {}

  void run() {
    Runtime& runtime = Runtime::current();
    TimePoint due = runtime.now();
    while (!shared_.stop.load(std::memory_order_relaxed)) {
      const Input input = source_.next();
      const auto kind = static_cast<Kind>(input.index());
      if (settings_.think) runtime.sleep_until(runtime.now() + keying_time(kind));
      if (settings_.rate > 0) {
        due += to_duration(settings_.sessions / settings_.rate);
        runtime.sleep_until(due);
      }
      const TimePoint start = settings_.rate > 0 ? due : runtime.now();
      if (!execute(input, kind, start)) return;
      if (settings_.think) runtime.sleep_until(runtime.now() + think_time(kind));
      if (settings_.yield_between) runtime.yield();
    }
  }

  [[nodiscard]] const std::array<KindResult, kKinds>& results() const noexcept { return kinds_; }
  /// Readable while the terminal runs.
  [[nodiscard]] Second progress() const noexcept {
    return {transactions_.load(std::memory_order_relaxed),
            new_orders_.load(std::memory_order_relaxed)};
  }

 private:
  static constexpr int kMaxTries = 10'000;

  bool execute(const Input& input, Kind kind, TimePoint start) {
    KindResult& result = kinds_[static_cast<std::size_t>(kind)];
    const bool measured = shared_.measuring.load(std::memory_order_relaxed);
    for (int tries = 0; tries < kMaxTries; ++tries) {
      Result<Outcome> outcome = session_.run(input);
      if (outcome) {
        finish(result, kind, *outcome, start, measured);
        return true;
      }
      if (!heals_when_tried_again(outcome.error())) {
        shared_.fail_with(std::move(outcome).error());
        return false;
      }
      if (measured) ++result.retries;
      if (shared_.stop.load(std::memory_order_relaxed)) return false;
    }
    shared_.fail_with(Error{sqlstate::internal_error,
                            fmt::format("{} gave up after {} tries", name_of(kind), kMaxTries)});
    return false;
  }

  void finish(KindResult& result, Kind kind, Outcome outcome, TimePoint start, bool measured) {
    const bool committed = outcome == Outcome::committed;
    count(transactions_);
    if (kind == Kind::new_order && committed) count(new_orders_);
    if (!measured || shared_.stop.load(std::memory_order_relaxed)) return;
    ++(committed ? result.committed : result.rolled_back);
    result.latency.record(static_cast<std::uint64_t>((Runtime::current().now() - start).count()));
  }

  static void count(std::atomic<std::uint64_t>& counter) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  static Duration keying_time(Kind kind) {
    static constexpr std::array<double, kKinds> kSeconds{18, 3, 2, 2, 2};
    return to_duration(kSeconds[static_cast<std::size_t>(kind)]);
  }
  Duration think_time(Kind kind) {
    static constexpr std::array<double, kKinds> kMeanSeconds{12, 12, 10, 5, 5};
    const double mean = kMeanSeconds[static_cast<std::size_t>(kind)];
    return to_duration(std::min(10 * mean, -std::log(1 - source_.random().unit()) * mean));
  }

  Session& session_;
  InputSource source_;
  const RunSettings& settings_;
  Shared& shared_;
  std::array<KindResult, kKinds> kinds_;
  std::atomic<std::uint64_t> transactions_{0};
  std::atomic<std::uint64_t> new_orders_{0};
};

Second total(const std::deque<Terminal>& terminals) {
  Second sum;
  for (const Terminal& terminal : terminals) {
    const Second one = terminal.progress();
    sum.transactions += one.transactions;
    sum.new_orders += one.new_orders;
  }
  return sum;
}

/// Sleeps through the measured time, noting each second.
std::vector<Second> watch(const std::deque<Terminal>& terminals, const RunSettings& settings,
                          const Shared& shared) {
  std::vector<Second> timeline;
  const auto start = std::chrono::steady_clock::now();
  Second before = total(terminals);
  for (double at = 0; at < settings.seconds && !shared.stop.load();) {
    const double step = std::min(1.0, settings.seconds - at);
    at += step;
    std::this_thread::sleep_until(start + to_duration(at));
    const Second after = total(terminals);
    const Second second{after.transactions - before.transactions,
                        after.new_orders - before.new_orders};
    before = after;
    timeline.push_back(second);
    fmt::print(stderr, "  {:5.1f} s  {:8.0f} transactions/s  {:9.0f} tpmC\n", at,
               static_cast<double>(second.transactions) / step,
               static_cast<double>(second.new_orders) * 60 / step);
  }
  return timeline;
}

}  // namespace

std::uint64_t RunResult::transactions() const noexcept {
  std::uint64_t sum = 0;
  for (const KindResult& kind : kinds) sum += kind.committed + kind.rolled_back;
  return sum;
}

double RunResult::per_second() const noexcept {
  return static_cast<double>(transactions()) / seconds;
}

double RunResult::tpm_c() const noexcept {
  return static_cast<double>(kinds[0].committed) * 60 / seconds;
}

Result<RunResult> run_mix(Backend& backend, Runtime& runtime, const RunSettings& settings) {
  ASSIGN_OR_RETURN(const Sizes sizes, backend.sizes());
  Shared shared;
  std::vector<std::unique_ptr<Session>> sessions;
  std::deque<Terminal> terminals;
  for (std::uint32_t i = 0; i < settings.sessions; ++i) {
    ASSIGN_OR_RETURN(auto session, backend.session(i));
    sessions.push_back(std::move(session));
    const std::uint32_t home = settings.affinity ? i % sizes.warehouses + 1 : 0;
    const InputSource source{sizes, settings.seed * 1'000'003 + i, home};
    terminals.emplace_back(*sessions.back(), source, settings, shared);
  }
  std::vector<std::unique_ptr<Task>> tasks;
  for (std::uint32_t i = 0; i < settings.sessions; ++i) {
    Terminal& terminal = terminals[i];
    tasks.push_back(runtime.spawn(fmt::format("terminal {}", i), [&terminal] { terminal.run(); }));
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(settings.warm_up_seconds));

  RunResult result;
  const double client_before = cpu_seconds_of_this_process();
  const double server_before = backend.server_cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  shared.measuring.store(true);
  result.timeline = watch(terminals, settings, shared);
  shared.stop.store(true);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.client_cpu_seconds = cpu_seconds_of_this_process() - client_before;
  result.server_cpu_seconds = backend.server_cpu_seconds() - server_before;
  for (const auto& task : tasks) task->join();
  if (shared.failure) return fail(std::move(*shared.failure));

  for (const Terminal& terminal : terminals) {
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const KindResult& one = terminal.results()[kind];
      result.kinds[kind].committed += one.committed;
      result.kinds[kind].rolled_back += one.rolled_back;
      result.kinds[kind].retries += one.retries;
      result.kinds[kind].latency.add(one.latency);
    }
  }
  return result;
}

}  // namespace swizzle::tpcc
