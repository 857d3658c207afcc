#include "tpcc/driver.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
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

/// State shared by the sessions and the reporter.
struct Shared {
  std::atomic<bool> measuring{false};
  std::atomic<bool> stop{false};
  /// Set when the server's processor time has been read: until then sessions that have finished
  /// wait, since a connection that is gone is not counted.
  std::atomic<bool> measured{false};
  /// Sessions that still have transactions to run.
  std::atomic<std::uint32_t> running{0};
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
  Terminal(std::unique_ptr<Work> work, std::span<const KindInfo> info, std::uint64_t seed,
           const RunSettings& settings, Shared& shared)
      : work_(std::move(work)),
        info_(info),
        random_(seed),
        settings_(settings),
        shared_(shared),
        kinds_(info.size()) {}

  void run() {
    run_transactions();
    Runtime& runtime = Runtime::current();
    while (!shared_.measured.load(std::memory_order_relaxed)) {
      runtime.sleep_until(runtime.now() + std::chrono::milliseconds{5});
    }
    // Close the connection in the fiber that has used it.
    work_.reset();
  }

  [[nodiscard]] const std::vector<KindResult>& results() const noexcept { return kinds_; }
  /// Counts so far; may be read while the terminal runs.
  [[nodiscard]] Second progress() const noexcept {
    return {transactions_.load(std::memory_order_relaxed),
            first_kind_.load(std::memory_order_relaxed)};
  }

 private:
  static constexpr int kMaxTries = 10'000;

  void run_transactions() {
    Runtime& runtime = Runtime::current();
    TimePoint due = runtime.now();
    std::uint64_t left = settings_.transactions;
    while (!shared_.stop.load(std::memory_order_relaxed)) {
      if (settings_.transactions != 0 && left-- == 0) break;
      const std::size_t kind = work_->choose();
      if (settings_.think) {
        runtime.sleep_until(runtime.now() + to_duration(info_[kind].keying_seconds));
      }
      if (settings_.rate > 0) {
        due += to_duration(settings_.sessions / settings_.rate);
        runtime.sleep_until(due);
      }
      const TimePoint start = settings_.rate > 0 ? due : runtime.now();
      if (!execute(kind, start)) return;
      if (settings_.think) runtime.sleep_until(runtime.now() + think_time(kind));
      if (settings_.yield_between) runtime.yield();
    }
    shared_.running.fetch_sub(1, std::memory_order_relaxed);
  }

  bool execute(std::size_t kind, TimePoint start) {
    KindResult& result = kinds_[kind];
    const bool measured = shared_.measuring.load(std::memory_order_relaxed);
    for (int tries = 0; tries < kMaxTries; ++tries) {
      Result<Outcome> outcome = work_->attempt();
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
                            fmt::format("{} gave up after {} tries", info_[kind].name, kMaxTries)});
    return false;
  }

  void finish(KindResult& result, std::size_t kind, Outcome outcome, TimePoint start,
              bool measured) {
    const bool committed = outcome == Outcome::committed;
    count(transactions_);
    if (kind == 0 && committed) count(first_kind_);
    if (!measured || shared_.stop.load(std::memory_order_relaxed)) return;
    ++(committed ? result.committed : result.rolled_back);
    result.latency.record(static_cast<std::uint64_t>((Runtime::current().now() - start).count()));
  }

  static void count(std::atomic<std::uint64_t>& counter) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  Duration think_time(std::size_t kind) {
    const double mean = info_[kind].mean_think_seconds;
    return to_duration(std::min(10 * mean, -std::log(1 - random_.unit()) * mean));
  }

  std::unique_ptr<Work> work_;
  std::span<const KindInfo> info_;
  Random random_;
  const RunSettings& settings_;
  Shared& shared_;
  std::vector<KindResult> kinds_;
  std::atomic<std::uint64_t> transactions_{0};
  std::atomic<std::uint64_t> first_kind_{0};
};

Second total(const std::deque<Terminal>& terminals) {
  Second sum;
  for (const Terminal& terminal : terminals) {
    const Second one = terminal.progress();
    sum.transactions += one.transactions;
    sum.first_kind += one.first_kind;
  }
  return sum;
}

/// Sleeps until `until`, or until no session has transactions left.
void sleep_until(std::chrono::steady_clock::time_point until, const Shared& shared) {
  while (std::chrono::steady_clock::now() < until &&
         shared.running.load(std::memory_order_relaxed) != 0) {
    std::this_thread::sleep_until(
        std::min(until, std::chrono::steady_clock::now() + std::chrono::milliseconds{50}));
  }
}

/// Sleeps for the measured time and records each second.
std::vector<Second> watch(const std::deque<Terminal>& terminals, const RunSettings& settings,
                          const Shared& shared) {
  std::vector<Second> timeline;
  const auto start = std::chrono::steady_clock::now();
  Second before = total(terminals);
  for (double at = 0; at < settings.seconds && !shared.stop.load() && shared.running.load() != 0;) {
    const double step = std::min(1.0, settings.seconds - at);
    at += step;
    sleep_until(start + to_duration(at), shared);
    const Second after = total(terminals);
    const Second second{after.transactions - before.transactions,
                        after.first_kind - before.first_kind};
    before = after;
    timeline.push_back(second);
    fmt::print(stderr, "  {:5.1f} s  {:8.0f} transactions/s\n", at,
               static_cast<double>(second.transactions) / step);
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

double RunResult::first_kind_per_minute() const noexcept {
  return static_cast<double>(kinds[0].committed) * 60 / seconds;
}

namespace {

/// Keying and think times of clause 5.2.5.7.
constexpr std::array<KindInfo, kKinds> kTpccKinds{{{"new_order", 18, 12},
                                                   {"payment", 3, 12},
                                                   {"order_status", 2, 10},
                                                   {"delivery", 2, 5},
                                                   {"stock_level", 2, 5}}};

class TpccWork final : public Work {
 public:
  TpccWork(std::unique_ptr<Session> session, InputSource source, std::optional<std::size_t> only)
      : session_(std::move(session)), source_(source), only_(only) {}
  std::size_t choose() override {
    do input_ = source_.next();
    while (only_ && input_.index() != *only_);
    return input_.index();
  }
  Result<Outcome> attempt() override { return session_->run(input_); }

 private:
  std::unique_ptr<Session> session_;
  InputSource source_;
  std::optional<std::size_t> only_;
  Input input_;
};

/// Returns the index of the only kind to run; nothing: the mix. 22023 for an unknown name.
Result<std::optional<std::size_t>> only_kind(const std::string& name) {
  if (name.empty()) return std::optional<std::size_t>{};
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    if (name == kTpccKinds[kind].name) return std::optional{kind};
  }
  return fail(sqlstate::invalid_parameter_value, "--only: no transaction is called " + name);
}

std::uint64_t seed_of(const RunSettings& settings, std::uint32_t session) {
  return settings.seed * 1'000'003 + session;
}

}  // namespace

Result<Workload> tpcc_workload(Backend& backend, const RunSettings& settings) {
  ASSIGN_OR_RETURN(const Sizes sizes, backend.sizes());
  ASSIGN_OR_RETURN(const std::optional<std::size_t> only, only_kind(settings.only));
  const auto make = [&backend, &settings, sizes,
                     only](std::uint32_t number) -> Result<std::unique_ptr<Work>> {
    ASSIGN_OR_RETURN(auto session, backend.session(number));
    const std::uint32_t home = settings.affinity ? number % sizes.warehouses + 1 : 0;
    const InputSource source{sizes, seed_of(settings, number), home, settings.reach};
    return std::make_unique<TpccWork>(std::move(session), source, only);
  };
  return Workload{kTpccKinds, make, [&backend] { return backend.server_cpu_seconds(); }};
}

Result<RunResult> run_workload(const Workload& workload, Runtime& runtime,
                               const RunSettings& settings) {
  Shared shared;
  std::deque<Terminal> terminals;
  for (std::uint32_t i = 0; i < settings.sessions; ++i) {
    ASSIGN_OR_RETURN(auto work, workload.make_work(i));
    terminals.emplace_back(std::move(work), workload.kinds, seed_of(settings, i), settings, shared);
  }
  shared.running.store(settings.sessions);
  std::vector<std::unique_ptr<Task>> tasks;
  for (Terminal& terminal : terminals) {
    tasks.push_back(runtime.spawn("terminal", [&terminal] { terminal.run(); }));
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(settings.warm_up_seconds));

  RunResult result;
  result.info = workload.kinds;
  result.kinds.resize(workload.kinds.size());
  const double client_before = cpu_seconds_of_this_process();
  const double server_before = workload.server_cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  shared.measuring.store(true);
  result.timeline = watch(terminals, settings, shared);
  shared.stop.store(true);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.client_cpu_seconds = cpu_seconds_of_this_process() - client_before;
  result.server_cpu_seconds = workload.server_cpu_seconds() - server_before;
  shared.measured.store(true);
  for (const auto& task : tasks) task->join();
  if (shared.failure) return fail(std::move(*shared.failure));

  for (const Terminal& terminal : terminals) {
    for (std::size_t kind = 0; kind < result.kinds.size(); ++kind) {
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
