#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/runtime/runtime.h"
#include "tpcc/backend.h"
#include "tpcc/latency_histogram.h"

namespace swizzle::tpcc {

/// A kind of transaction. A workload's first kind is the one that its figure counts: TPC-C's new
/// orders per minute.
struct KindInfo {
  const char* name;
  double keying_seconds = 0;
  double mean_think_seconds = 0;
};

/// A session's part of a workload: chooses a transaction and runs it, again with the same input
/// after an error that a retry may resolve.
class Work {
 public:
  Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual ~Work() = default;
  /// Returns the kind of the transaction that attempt() will run.
  virtual std::size_t choose() = 0;
  virtual Result<Outcome> attempt() = 0;
};

struct Workload {
  std::span<const KindInfo> kinds;
  std::function<Result<std::unique_ptr<Work>>(std::uint32_t session)> make_work;
  /// CPU seconds of the server if it is another process, else 0.
  std::function<double()> server_cpu_seconds = [] { return 0.0; };
};

struct RunSettings {
  std::uint32_t sessions = 1;
  double seconds = 10;
  double warm_up_seconds = 2;
  /// Transactions per second over all sessions; 0: no limit. With a limit, latency counts from the
  /// time at which a transaction was due, so a stalled server cannot hide it.
  double rate = 0;
  /// Transactions after which each session ends; 0: until the time is up.
  std::uint64_t transactions = 0;
  /// Runs only this kind, instead of the mix; such results are for profiles.
  std::string only = {};
  /// Keying and think times of clause 5.2.5.7. Off by default, as in most unaudited measurements;
  /// results without them are not comparable with published tpmC, and the report says so.
  bool think = false;
  /// Session i uses warehouse i modulo their number, instead of a random one each time.
  bool affinity = false;
  Reach reach = Reach::all_warehouses;
  /// Yield between transactions: needed by fibers of one thread if nothing parks.
  bool yield_between = false;
  std::uint64_t seed = 1;
};

struct KindResult {
  std::uint64_t committed = 0;
  std::uint64_t rolled_back = 0;
  std::uint64_t retries = 0;
  LatencyHistogram latency;
};

struct Second {
  std::uint64_t transactions = 0;
  /// Committed transactions of the first kind.
  std::uint64_t first_kind = 0;
};

struct RunResult {
  double seconds = 0;
  std::span<const KindInfo> info;
  std::vector<KindResult> kinds;
  std::vector<Second> timeline;
  double client_cpu_seconds = 0;
  double server_cpu_seconds = 0;

  [[nodiscard]] std::uint64_t transactions() const noexcept;
  [[nodiscard]] double per_second() const noexcept;
  /// Committed transactions of the first kind per minute: tpmC of TPC-C.
  [[nodiscard]] double first_kind_per_minute() const noexcept;
};

/// Returns TPC-C's mix over a backend. Pre: backend and settings outlive the workload.
Result<Workload> tpcc_workload(Backend& backend, const RunSettings& settings);

/// Runs a workload in `settings.sessions` sessions on `runtime`. Prints a line per second to
/// standard error. Fails with the first error that is not retried.
Result<RunResult> run_workload(const Workload& workload, Runtime& runtime,
                               const RunSettings& settings);

}  // namespace swizzle::tpcc
