#pragma once

#include <cstdlib>

namespace swizzle::clients::testing {

/// A random test's seed: SWIZZLE_SEED, or 1, so that a red run can be repeated.
inline unsigned seed() {
  const char* const given = std::getenv("SWIZZLE_SEED");  // NOLINT(concurrency-mt-unsafe)
  return given == nullptr ? 1U : static_cast<unsigned>(std::strtoul(given, nullptr, 10));
}

}  // namespace swizzle::clients::testing
