#pragma once

#include <cstdlib>

namespace swizzle::clients::testing {

/// Returns a random test's seed: SWIZZLE_SEED, or 1. The same seed repeats a run.
inline unsigned seed() {
  const char* const given = std::getenv("SWIZZLE_SEED");  // NOLINT(concurrency-mt-unsafe)
  return given == nullptr ? 1U : static_cast<unsigned>(std::strtoul(given, nullptr, 10));
}

}  // namespace swizzle::clients::testing
