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
  std::uint64_t accesses = 0;
  std::vector<std::string> policies;
  std::uint64_t seed = 1;

  static Result<TracePlan> from(Context& context);
};

/// Adds the hit rates of "trace <policy>" over pool sizes, and, at 0, on a loop a twentieth longer
/// than the pool.
Result<> replay_over_shares(const TracePlan& plan, const std::vector<double>& shares,
                            Report& report);

}  // namespace swizzle::bench
