// A primary, two standbys and an arbiter over a network that delays, drops and reorders.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>

#include "base/simulation/seeded_runs.h"
#include "base/simulation/simulation.h"
#include "sql-lite-frontend/session/tests/cluster/history.h"

namespace swizzle::sql::cluster {
namespace {

void print(const Totals& totals) {
  fmt::print(
      "{} histories: {} commits acknowledged, {} not confirmed; {} promotions, {} primaries that "
      "came back, {} kills; {} partings, {} rewinds and {} cut short; {} looks on standbys, {} "
      "times a standby followed a standby\n",
      totals.histories, totals.acknowledged, totals.unconfirmed, totals.promotions,
      totals.restarts_as_primary, totals.kills, totals.partings, totals.rewinds,
      totals.rewinds_cut_short, totals.looks, totals.chained);
}

}  // namespace

TEST_CASE("no acknowledged commit is lost or doubled, whichever machines and links fail",
          "[cluster]") {
  Beginning beginning;
  Totals totals;
  for_seeds(150, [&](std::uint64_t seed) {
    // Outlives the simulation, as its disks have to.
    History history{beginning, seed, totals};
    Simulation simulation{seed};
    std::string broken;
    simulation.run([&] { broken = history.run(); });
    if (!broken.empty()) FAIL("history " << seed << ": " << broken);
  });
  if (std::getenv("SWIZZLE_SEEDS") != nullptr) print(totals);
  if (totals.histories < 100) return;
  CHECK(totals.acknowledged > 20 * totals.histories);
  CHECK(totals.unconfirmed > totals.histories / 10);
  CHECK(totals.promotions > totals.histories / 4);
  CHECK(totals.restarts_as_primary > 0);
  CHECK(totals.partings > 0);
  CHECK(totals.rewinds > 0);
  CHECK(totals.rewinds_cut_short > 0);
  CHECK(totals.looks > totals.histories);
  CHECK(totals.chained > 0);
}

}  // namespace swizzle::sql::cluster
