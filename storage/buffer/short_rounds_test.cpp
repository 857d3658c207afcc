// Making room in the pool occupies the thread, so it must never take long.
#include <catch2/catch.hpp>

#include "storage/testing/tree_harness.h"

namespace swizzle {

TEMPLATE_TEST_CASE("F10 a round of making room looks at a bounded number of pages",
                   "[storage][buffer]", SwizzlingPool, TraditionalPool) {
  constexpr std::uint32_t kFrames = 6000;
  // Four to a leaf.
  constexpr int kRecords = 28'000;
  constexpr int kHot = 18'000;
  testing::TreeHarness<TestType> tree(kFrames);
  const auto key = [](int number) { return std::to_string(1'000'000 + number); };
  const std::string value(1900, 'v');
  for (int i = 0; i < kRecords; ++i) REQUIRE(tree.insert(key(i), value));
  tree.store.clean();
  // All that are there have been used so often that none may go at the first look.
  for (int round = 0; round < 5; ++round)
    for (int i = 0; i < kHot; i += 4) REQUIRE(tree.get(key(i)));
  for (int i = kHot; i < kRecords; i += 4) REQUIRE(tree.get(key(i)));
  const std::uint64_t steps = tree.pool->counters().most_steps.load();
  CHECK(steps > 0);
  // A millisecond's work, and the children of one more branch.
  CHECK(steps < 4096 + kPageBytes / 16);
  if constexpr (std::is_same_v<TestType, SwizzlingPool>) CHECK(tree.pool->audit().empty());
}

}  // namespace swizzle
