#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace swizzle {

/// XXH3, 64 bits. `seed` is where the bytes belong (page id, LSN), so that bytes that were written
/// to the wrong place do not pass.
std::uint64_t checksum(Bytes bytes, std::uint64_t seed) noexcept;

}  // namespace swizzle
