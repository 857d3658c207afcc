#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/runtime.h"
#include "tpcc/backend.h"
#include "tpcc/latency_histogram.h"

namespace swizzle::tpcc {

struct RunSettings {
  std::uint32_t sessions = 1;
  double seconds = 10;
  double warm_up_seconds = 2;
  /// Transactions per second over all sessions; 0 as fast as they can. Latency then counts from the
  /// time a transaction was due, so a server that stalls cannot hide it.
  double rate = 0;
  /// Keying and think times of clause 5.2.5.7. Off by default, as everybody measures; such results
  /// are not comparable with published tpmC, and the report says so.
  bool think = false;
  /// Session i stays with warehouse i modulo their number, instead of a random one each time.
  bool affinity = false;
  /// Fibers of one thread must be given the chance to run where nothing parks.
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
  std::uint64_t new_orders = 0;
};

struct RunResult {
  double seconds = 0;
  std::array<KindResult, kKinds> kinds;
  std::vector<Second> timeline;
  double client_cpu_seconds = 0;
  double server_cpu_seconds = 0;

  [[nodiscard]] std::uint64_t transactions() const noexcept;
  [[nodiscard]] double per_second() const noexcept;
  /// Committed new orders per minute.
  [[nodiscard]] double tpm_c() const noexcept;
};

/// Runs the mix with `settings.sessions` sessions spawned on `runtime`. Shows a line per second on
/// standard error. Fails with the first error that is not healed by trying again.
Result<RunResult> run_mix(Backend& backend, Runtime& runtime, const RunSettings& settings);

}  // namespace swizzle::tpcc
