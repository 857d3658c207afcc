#include "base/checksum.h"

// Inlined, because log records and keys are short: a call of the library costs as much as their
// bytes.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace swizzle {

std::uint64_t checksum(Bytes bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace swizzle
