#include "base/random.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

using namespace swizzle;

TEST_CASE("the generator's numbers are fixed for a seed", "[random]") {
  // Recorded values: seeds in issues and tests must stay reproducible.
  Random random{42};
  const std::array<std::uint64_t, 3> first{random(), random(), random()};
  Random again{42};
  for (const auto number : first) REQUIRE(again() == number);
  REQUIRE(first == std::array<std::uint64_t, 3>{1546998764402558742U, 6990951692964543102U,
                                                12544586762248559009U});
}

TEST_CASE("below and between stay inside and reach every value evenly", "[random]") {
  Random random{7};
  std::array<int, 10> hits{};
  for (int i = 0; i < 100'000; ++i) ++hits[random.below(10)];
  for (const int hit : hits) REQUIRE(std::abs(hit - 10'000) < 500);
  for (int i = 0; i < 1000; ++i) {
    const auto value = random.between(5, 7);
    REQUIRE((value >= 5 && value <= 7));
  }
  REQUIRE(random.between(9, 9) == 9);
  random.between(0, UINT64_MAX);
  for (int i = 0; i < 1000; ++i) {
    const double value = random.unit();
    REQUIRE((value >= 0 && value < 1));
  }
}

TEST_CASE("Zipf ranks come with the frequencies of the distribution", "[random]") {
  for (const double exponent : {0.5, 0.99, 1.0, 1.5}) {
    CAPTURE(exponent);
    constexpr std::uint64_t kCount = 1000;
    constexpr int kDraws = 200'000;
    const Zipf zipf{kCount, exponent};
    Random random{11};
    std::vector<int> hits(kCount);
    for (int i = 0; i < kDraws; ++i) ++hits.at(zipf(random));
    double sum = 0;
    for (std::uint64_t rank = 1; rank <= kCount; ++rank) {
      sum += std::pow(static_cast<double>(rank), -exponent);
    }
    for (const std::size_t rank : {0U, 1U, 9U}) {
      const double expected = kDraws * std::pow(static_cast<double>(rank + 1), -exponent) / sum;
      CAPTURE(rank, expected, hits[rank]);
      REQUIRE(std::abs(hits[rank] - expected) < 5 * std::sqrt(expected) + 1);
    }
  }
  Random random{1};
  REQUIRE(Zipf{1, 0.9}(random) == 0);
}
