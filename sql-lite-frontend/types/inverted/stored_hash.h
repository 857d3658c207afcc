#pragma once

#include <cstdint>
#include <string_view>

namespace swizzle::sql {

/// Hash that is part of stored keys, so it must never change: FNV-1a over the bytes, with a start
/// value from `seed` and the bits mixed at the end.
constexpr std::uint64_t stored_hash(std::string_view bytes, std::uint64_t seed) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U ^ (seed * 0x9e3779b97f4a7c15U);
  for (const char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  hash = (hash ^ hash >> 32U) * 0xd6e8feb86659fd93U;
  hash = (hash ^ hash >> 32U) * 0xd6e8feb86659fd93U;
  return hash ^ hash >> 32U;
}

}  // namespace swizzle::sql
