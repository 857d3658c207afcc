#pragma once

#include <cstdint>

namespace swizzle::server {

/// Addresses from which users may log in to the console of the metrics port.
enum class ConsoleLogin : std::uint8_t { off, loopback, on };

}  // namespace swizzle::server
