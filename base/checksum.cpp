#include "base/checksum.h"

#include <xxhash.h>

namespace swizzle {

std::uint64_t checksum(Bytes bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace swizzle
