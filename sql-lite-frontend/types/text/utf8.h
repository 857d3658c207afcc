#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/utf8.h"

/// UTF-8. Texts inside the server are valid: verify_utf8 checks all input.
namespace swizzle::sql {

/// Throws 22021 "invalid byte sequence for encoding \"UTF8\": 0x…" (zero bytes too).
void verify_utf8(std::string_view text);

std::size_t count_characters(std::string_view text) noexcept;
/// Returns the size of the first `count` characters, or of all if there are fewer.
std::size_t bytes_of_characters(std::string_view text, std::size_t count) noexcept;
/// Returns `text` cut to at most `limit` bytes at a character boundary.
std::string_view clip_bytes(std::string_view text, std::size_t limit) noexcept;

}  // namespace swizzle::sql
