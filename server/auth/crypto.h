#pragma once

#include <array>
#include <string_view>

#include "base/bytes.h"

namespace swizzle::server {

// The few primitives that authentication needs, over OpenSSL.

/// A SHA-256 digest, or a key of that size.
using Digest = std::array<std::byte, 32>;

[[nodiscard]] Digest sha256(Bytes data);
[[nodiscard]] Digest hmac_sha256(Bytes key, Bytes data);
/// Costs milliseconds: not for a reactor.
[[nodiscard]] Digest pbkdf2_sha256(std::string_view password, Bytes salt, std::uint32_t iterations);
/// Takes a time that depends only on the sizes.
[[nodiscard]] bool equal_in_constant_time(Bytes a, Bytes b) noexcept;
/// Fills the bytes from the operating system's generator.
void fill_random(MutableBytes bytes);

}  // namespace swizzle::server
