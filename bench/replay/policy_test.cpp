#include "bench/replay/policy.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"

using namespace swizzle;
using namespace swizzle::bench;

namespace {

std::vector<std::uint32_t> zipf_trace(std::uint32_t pages, std::size_t length) {
  const Zipf zipf{pages, 1.0};
  Random random{4};
  std::vector<std::uint32_t> trace(length);
  for (std::uint32_t& page : trace) page = static_cast<std::uint32_t>(zipf(random));
  return trace;
}

double hit_rate(const std::string& name, const PolicyTask& task) {
  const auto policy = make_policy(name, task);
  std::size_t hits = 0;
  for (const std::uint32_t page : *task.trace) hits += policy->access(page) ? 1U : 0U;
  return static_cast<double>(hits) / static_cast<double>(task.trace->size());
}

const std::vector<std::string> kPolicies{"random", "fifo",    "lru",      "gclock:3", "car",
                                         "2q",     "lean:10", "sweep:10", "opt"};

}  // namespace

TEST_CASE("what fits is read once under every policy", "[replay]") {
  const std::string name = GENERATE(from_range(kPolicies));
  const auto trace = zipf_trace(500, 20'000);
  const double distinct = static_cast<double>(std::set(trace.begin(), trace.end()).size());
  CAPTURE(name);
  CHECK(hit_rate(name, {.frames = 600, .pages = 600, .trace = &trace}) ==
        Approx(1 - distinct / 20'000));
}

TEST_CASE("no policy beats OPT, and those that watch usage beat random", "[replay]") {
  const auto trace = zipf_trace(5'000, 200'000);
  const PolicyTask task{.frames = 1'000, .pages = 5'000, .trace = &trace};
  const double best = hit_rate("opt", task);
  const double random = hit_rate("random", task);
  for (const std::string& name : kPolicies) {
    CAPTURE(name);
    CHECK(hit_rate(name, task) <= best);
    CHECK(hit_rate(name, task) > 0.6);
  }
  for (const char* name : {"lru", "gclock:3", "car", "2q", "lean:10", "sweep:10"}) {
    CAPTURE(name);
    CHECK(hit_rate(name, task) > random);
  }
}

TEST_CASE("a loop slightly longer than the pool defeats FIFO and LRU", "[replay]") {
  std::vector<std::uint32_t> trace;
  for (int round = 0; round < 50; ++round) {
    for (std::uint32_t page = 0; page < 110; ++page) trace.push_back(page);
  }
  const PolicyTask task{.frames = 100, .pages = 110, .trace = &trace};
  CHECK(hit_rate("lru", task) == 0);
  CHECK(hit_rate("fifo", task) == 0);
  CHECK(hit_rate("random", task) > 0.5);
  CHECK(hit_rate("opt", task) > 0.85);
}
