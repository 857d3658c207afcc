#include "sql-lite-frontend/types/hash.h"

#include "base/checksum.h"

namespace swizzle::sql {

std::uint64_t hash_bytes(Bytes bytes, std::uint64_t seed) noexcept {
  return checksum(bytes, seed);
}

}  // namespace swizzle::sql
