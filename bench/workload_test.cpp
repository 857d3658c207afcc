#include "bench/workload.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace swizzle;
using namespace swizzle::bench;

TEST_CASE("a permutation reaches every number once", "[bench]") {
  const std::uint64_t count = GENERATE(1U, 2U, 3U, 100U, 4096U, 5000U);
  const Permutation order{count, 7};
  std::vector<bool> seen(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    REQUIRE(order(i) < count);
    REQUIRE_FALSE(seen[order(i)]);
    seen[order(i)] = true;
  }
}

TEST_CASE("keys ascend with their records in both orders", "[bench]") {
  const auto order = GENERATE(KeyOrder::dense, KeyOrder::scattered);
  const KeySpace keys{1000, order};
  for (std::uint64_t i = 1; i < 1000; ++i) {
    REQUIRE(compare(Key{kTwentyAndTwenty, keys(i - 1)}.bytes(),
                    Key{kTwentyAndTwenty, keys(i)}.bytes()) < 0);
  }
}

TEST_CASE("skew concentrates the picks", "[bench]") {
  const auto hottest_share = [](double skew) {
    Picker pick{1000, skew, 3};
    std::vector<int> hits(1000);
    for (int i = 0; i < 20000; ++i) ++hits[pick()];
    return *std::max_element(hits.begin(), hits.end()) / 20000.0;
  };
  CHECK(hottest_share(0) < 0.01);
  CHECK(hottest_share(1) > 0.10);
  CHECK(hottest_share(2) > 0.5);
}

TEST_CASE("a value belongs to its record only", "[bench]") {
  const Value value{kEightAndOneTwenty, 17};
  CHECK(value.bytes().size() == 120);
  CHECK(belongs_to(value.bytes(), 17));
  CHECK_FALSE(belongs_to(value.bytes(), 18));
}
