#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/experiment.h"
#include "bench/report.h"

namespace swizzle::bench {

/// Page traces of Zipf lookups (exponent 1) and of a loop, for replaying policies without a pool.
struct TracePlan {
  std::uint32_t pages = 0;
  std::uint64_t records_on_page = 55;
  std::uint64_t accesses = 0;
  std::vector<std::string> policies;
  std::uint64_t seed = 1;

  static Result<TracePlan> from(Context& context);
  /// Adapts the traces to a tree with so many leaves and records, so that OPT's hit rate bounds
  /// that of a pool over this tree.
  void fit(std::uint64_t leaves, std::uint64_t records) noexcept {
    pages = static_cast<std::uint32_t>(leaves);
    records_on_page = records / leaves;
  }
};

/// Reports the hit rates of "trace <policy>" over pool sizes, and at share 0 on a loop over 105 %
/// of the pool.
Result<> replay_over_shares(const TracePlan& plan, const std::vector<double>& shares,
                            Report& report);

}  // namespace swizzle::bench
