#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/experiment.h"
#include "bench/report.h"

namespace swizzle::bench {

/// Zipf lookups (exponent 1) and a loop as page traces, for replaying policies without a pool.
struct TracePlan {
  std::uint32_t pages = 0;
  std::uint64_t records_on_page = 55;
  std::uint64_t accesses = 0;
  std::vector<std::string> policies;
  std::uint64_t seed = 1;

  static Result<TracePlan> from(Context& context);
  /// The traces are of a tree of so many leaves and records, so that what OPT keeps of them bounds
  /// what a pool over that tree can.
  void fit(std::uint64_t leaves, std::uint64_t records) noexcept {
    pages = static_cast<std::uint32_t>(leaves);
    records_on_page = records / leaves;
  }
};

/// Adds the hit rates of "trace <policy>" over pool sizes, and, at 0, on a loop a twentieth longer
/// than the pool.
Result<> replay_over_shares(const TracePlan& plan, const std::vector<double>& shares,
                            Report& report);

}  // namespace swizzle::bench
