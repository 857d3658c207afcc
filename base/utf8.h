#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// UTF-8 as Unicode defines it: no overlong forms, surrogates or code points beyond U+10FFFF. A
/// zero byte, which PostgreSQL's text cannot hold, is no part of a text either.
namespace swizzle {

/// Bytes of the character that starts with `lead`. Pre: valid UTF-8.
constexpr std::size_t utf8_length(char lead) noexcept {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
constexpr bool is_utf8_continuation(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

/// Returns the first character. Pre: valid UTF-8, not empty.
[[nodiscard]] char32_t decode_character(std::string_view text) noexcept;
void append_character(std::string& out, char32_t character);

/// Returns the number of bytes of `text` before the first that is no UTF-8.
[[nodiscard]] std::size_t valid_utf8(std::string_view text) noexcept;

/// Returns PostgreSQL's message about the invalid character at the front. Pre: not empty.
[[nodiscard]] std::string invalid_utf8_message(std::string_view rest);

}  // namespace swizzle
