#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace swizzle::sql {

/// XXH3 over bytes, and a cheap mixer for one word. Not for stored data.
std::uint64_t hash_bytes(Bytes bytes, std::uint64_t seed) noexcept;

inline std::uint64_t hash_integer(std::uint64_t value, std::uint64_t seed) noexcept {
  std::uint64_t h = value ^ (seed * 0x9e3779b97f4a7c15U + 0x2545f4914f6cdd1dU);
  h = (h ^ h >> 32U) * 0xd6e8feb86659fd93U;
  h = (h ^ h >> 32U) * 0xd6e8feb86659fd93U;
  return h ^ h >> 32U;
}

}  // namespace swizzle::sql
