// L7: hit rates of replacement policies on a recorded trace of Zipf lookups (exponent 1) on five
// times the pool, at page level, and what each costs; and the traces of E3.
//
// Parameters: --pages (of the data), --accesses, --policies, --seed, --skew, --share (of the data
// that fits)
#include <chrono>
#include <memory>

#include "bench/experiments/all.h"
#include "bench/experiments/traces.h"
#include "bench/replay/policy.h"
#include "bench/report.h"
#include "bench/workload.h"

namespace swizzle::bench {
namespace {

using Trace = std::vector<std::uint32_t>;

constexpr const char* kPolicies = "random,fifo,lru,gclock:3,gclock:8,2q,car,lean:10,sweep:10,opt";

/// Returns the leaf pages of Zipf lookups; hot records are spread over all pages.
Trace zipf_trace(std::uint32_t pages, std::uint64_t records_on_page, std::size_t length,
                 double skew, std::uint64_t seed) {
  Picker pick{pages * records_on_page, skew, seed};
  Trace trace(length);
  for (std::uint32_t& page : trace) page = static_cast<std::uint32_t>(pick() / records_on_page);
  return trace;
}

Trace loop_trace(std::uint32_t pages, std::size_t length) {
  Trace trace(length);
  for (std::size_t i = 0; i < length; ++i) trace[i] = static_cast<std::uint32_t>(i % pages);
  return trace;
}

/// Replays a trace; its first half warms up.
Result<> replay(const std::string& name, const PolicyTask& task, double x,
                const std::string& shown_as, Report& report) {
  const auto policy = make_policy(name, task);
  if (policy == nullptr) return fail(sqlstate::invalid_parameter_value, "no such policy: " + name);
  const Trace& trace = *task.trace;
  const std::size_t half = trace.size() / 2;
  for (std::size_t i = 0; i < half; ++i) policy->access(trace[i]);
  std::uint64_t hits = 0;
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = half; i < trace.size(); ++i) hits += policy->access(trace[i]) ? 1U : 0U;
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  const auto accesses = static_cast<double>(trace.size() - half);
  report.add({shown_as, x, 1, 0, "hit_rate_percent", 100 * static_cast<double>(hits) / accesses});
  report.add({shown_as, x, 1, 0, "bookkeeping_ns_per_access", took.count() / accesses});
  return {};
}

}  // namespace

Result<> run_l7(Context& context) {
  CommandLine& options = context.options();
  const auto pages = static_cast<std::uint32_t>(
      options.number("pages", context.by_scale<std::uint64_t>(640'000, 100'000, 1'000)));
  const std::uint64_t accesses =
      options.number("accesses", context.by_scale<std::uint64_t>(40'000'000, 4'000'000, 20'000));
  const double skew = options.real("skew", 1.0);
  const double share = options.real("share", 0.2);
  const auto policies = options.list("policies", kPolicies);
  const std::uint64_t seed = options.number("seed", 1);
  RETURN_IF_ERROR(options.finish());

  Report report{"L7", "pool_share", context.csv()};
  report.note("skew", skew);
  const Trace trace = zipf_trace(pages, 55, accesses, skew, seed);
  const PolicyTask task{.frames = static_cast<std::uint32_t>(share * pages),
                        .pages = pages,
                        .trace = &trace,
                        .seed = seed};
  for (const std::string& policy : policies)
    RETURN_IF_ERROR(replay(policy, task, share, policy, report));
  report.print_summary();
  return report.write();
}

Result<TracePlan> TracePlan::from(Context& context) {
  CommandLine& options = context.options();
  TracePlan plan;
  plan.pages = static_cast<std::uint32_t>(options.number("pages", 0));
  plan.accesses =
      options.number("accesses", context.by_scale<std::uint64_t>(10'000'000, 2'000'000, 20'000));
  plan.policies = options.list("policies", "random,lru,gclock:8,car,lean:10,sweep:10,opt");
  plan.seed = options.number("seed", 1);
  return plan;
}

Result<> replay_over_shares(const TracePlan& plan, const std::vector<double>& shares,
                            Report& report) {
  const auto replay_one = [&](const std::string& policy, const Trace& trace, std::uint32_t pages,
                              std::uint32_t frames, double x) -> Result<> {
    return replay(policy, {.frames = frames, .pages = pages, .trace = &trace, .seed = plan.seed}, x,
                  "trace " + policy, report);
  };
  const Trace zipf = zipf_trace(plan.pages, plan.records_on_page, plan.accesses, 1.0, plan.seed);
  const std::uint32_t looped = std::max(20U, plan.pages / 10);
  const Trace loop = loop_trace(looped, plan.accesses / 4);
  for (const std::string& policy : plan.policies) {
    for (const double share : shares)
      RETURN_IF_ERROR(replay_one(policy, zipf, plan.pages,
                                 static_cast<std::uint32_t>(share * plan.pages), share));
    RETURN_IF_ERROR(replay_one(policy, loop, looped, looped * 20 / 21, 0));
  }
  return {};
}

}  // namespace swizzle::bench
