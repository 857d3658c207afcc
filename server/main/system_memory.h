#pragma once

#include <cstdint>

namespace swizzle::server {

/// What the machine has, or the control group that the process is in where that is less.
std::uint64_t system_memory_bytes();

}  // namespace swizzle::server
