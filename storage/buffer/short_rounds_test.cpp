// Making room in the pool occupies the thread, so it must be short.
#include <catch2/catch.hpp>
#include <deque>

#include "storage/testing/tree_harness.h"

namespace swizzle {

TEMPLATE_TEST_CASE("F10 a round of making room looks at a bounded number of pages",
                   "[storage][buffer]", SwizzlingPool, TraditionalPool) {
  constexpr std::uint32_t kFrames = 6000;
  // Four records to a leaf.
  constexpr int kManyRecords = 28'000;
  constexpr int kHot = 18'000;
  testing::TreeHarness<TestType> tree(kFrames);
  const auto key = [](int number) { return std::to_string(1'000'000 + number); };
  const std::string value(1900, 'v');
  for (int i = 0; i < kManyRecords; ++i) REQUIRE(tree.insert(key(i), value));
  tree.store.clean();
  // All resident pages have been used so often that the first round evicts none.
  for (int round = 0; round < 5; ++round)
    for (int i = 0; i < kHot; i += 4) REQUIRE(tree.get(key(i)));
  for (int i = kHot; i < kManyRecords; i += 4) REQUIRE(tree.get(key(i)));
  const std::uint64_t steps = tree.pool->counters().most_steps.load();
  CHECK(steps > 0);
  // A millisecond's work, and the children of one more branch.
  CHECK(steps < 4096 + kPageBytes / 16);
  if constexpr (std::is_same_v<TestType, SwizzlingPool>) CHECK(tree.pool->audit().empty());
}

TEST_CASE("F10 a round of making room passes few of 300,000 trees that nobody uses",
          "[storage][buffer]") {
  constexpr std::uint32_t kFrames = 300;
  constexpr std::uint32_t kTrees = 300'000;
  testing::TreeHarness<SwizzlingPool> tree(kFrames);
  std::deque<RootHolder> idle;
  for (std::uint32_t i = 0; i < kTrees; ++i) {
    idle.emplace_back(TreeId{1000 + i}, PageId{1'000'000'000 + i});
    tree.pool->register_root(idle.back());
  }
  const std::string value(1900, 'v');
  for (int i = 0; i < 2000; ++i) {
    if (i % 50 == 0) tree.store.clean();
    REQUIRE(tree.insert(std::to_string(1'000'000 + i), value));
  }
  const auto& counters = tree.pool->counters();
  const std::uint64_t sweeps = counters.sweeps.load();
  REQUIRE(sweeps > 10);
  INFO(sweeps << " rounds, " << counters.evicting_ns.load() / sweeps << " ns each");
  // A round over all of them would take tens of milliseconds.
  CHECK(counters.evicting_ns.load() / sweeps < 5'000'000);
  CHECK(counters.most_steps.load() < 4096 + kPageBytes / 16);
}

}  // namespace swizzle
