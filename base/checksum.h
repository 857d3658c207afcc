#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace swizzle {

/// XXH3, 64 bits. `seed` is the place of the bytes (page id, LSN), so that bytes written to the
/// wrong place do not pass.
std::uint64_t checksum(Bytes bytes, std::uint64_t seed) noexcept;

}  // namespace swizzle
