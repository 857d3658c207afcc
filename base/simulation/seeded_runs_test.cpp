#include "base/simulation/seeded_runs.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/invariant.h"

using namespace swizzle;
using namespace std::chrono_literals;
using Catch::Contains;

TEST_CASE("every seed runs once, and a failure stops", "[seeds]") {
  std::vector<std::uint64_t> seen;
  for_seeds(3, [&](std::uint64_t seed) { seen.push_back(seed); });
  REQUIRE(seen == std::vector<std::uint64_t>{1, 2, 3});
  seen.clear();
  REQUIRE_THROWS_WITH(for_seeds(3,
                                [&](std::uint64_t seed) {
                                  seen.push_back(seed);
                                  if (seed == 2) throw std::runtime_error{"two"};
                                }),
                      "two");
  REQUIRE(seen.size() == 2);
}

TEST_CASE("what seeds count in child processes comes back, and so does a failure", "[seeds]") {
  struct Totals {
    std::uint64_t seeds;
    std::uint64_t sum;
  };
  const pid_t here = getpid();
  const auto totals = for_seeds_apart<Totals>(7, 3, [&](std::uint64_t seed, Totals& total) {
    if (getpid() == here) throw std::runtime_error{"not in a child"};
    ++total.seeds;
    total.sum += seed;
  });
  CHECK(totals.seeds == 7);
  CHECK(totals.sum == 28);
  REQUIRE_THROWS_WITH(for_seeds_apart<Totals>(7, 3,
                                              [](std::uint64_t seed, Totals& /*total*/) {
                                                if (seed == 5) throw std::runtime_error{"five"};
                                              }),
                      Contains("five") && Contains("seed 5 failed"));
}

TEST_CASE("a child's success, exception, abort and hang are told apart", "[seeds]") {
  const auto fine = run_in_child([] { std::puts("hello"); });
  REQUIRE(fine.succeeded);
  REQUIRE(fine.output == "hello\n");
  const auto thrown = run_in_child([] { throw std::runtime_error{"reason"}; });
  REQUIRE_FALSE(thrown.succeeded);
  REQUIRE_THAT(thrown.output, Contains("reason"));
  const auto aborted = run_in_child([] { INVARIANT(1 + 1 == 3); });
  REQUIRE_FALSE(aborted.succeeded);
  REQUIRE_THAT(aborted.output, Contains("invariant violated: 1 + 1 == 3"));
  const auto hung = run_in_child([] { std::this_thread::sleep_for(60s); }, 50ms);
  REQUIRE_FALSE(hung.succeeded);
  REQUIRE_THAT(hung.output, Contains("killed after 50 ms"));
}
