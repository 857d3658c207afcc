#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/encodings/encoding.h"

/// Lengths of characters by their first bytes. An encoding's characters may lack a code point; the
/// rules here say which bytes are characters at all.
namespace swizzle {

/// Returns the length that the first bytes announce, at least 1. Pre: not empty.
[[nodiscard]] std::size_t announced_length(Encoding encoding, std::string_view rest) noexcept;

/// Returns the length of the character at the front, or 0 if its bytes are none or too few.
/// Pre: not empty, and the first byte is not ASCII.
[[nodiscard]] std::size_t character_length(Encoding encoding, std::string_view rest) noexcept;

/// Calls `visit(code, length)` for the code of every possible character beyond ASCII; for GB18030
/// without those of four bytes. A code has the character's bytes, the last one lowest.
template <class Visit>
void for_each_code(Encoding encoding, const Visit& visit) {
  const auto try_code = [&](std::uint32_t code, std::size_t length) {
    char bytes[4];
    for (std::size_t i = 0; i < length; ++i)
      bytes[i] = static_cast<char>(code >> (8U * (length - 1 - i)) & 0xffU);
    if (character_length(encoding, {bytes, length}) == length) visit(code, length);
  };
  for (std::uint32_t code = 0x80; code <= 0xff; ++code) try_code(code, 1);
  if (max_character_bytes(encoding) == 1) return;
  for (std::uint32_t code = 0x8000; code <= 0xffff; ++code) try_code(code, 2);
  constexpr std::uint32_t kSingleShift2 = 0x8e;
  constexpr std::uint32_t kSingleShift3 = 0x8f;
  if (max_character_bytes(encoding) >= 3 && encoding != Encoding::gb18030) {
    for (std::uint32_t low = 0x8080; low <= 0xffff; ++low) try_code(kSingleShift3 << 16U | low, 3);
  }
  if (encoding != Encoding::euc_tw) return;
  for (std::uint32_t plane = 0xa1; plane <= 0xa7; ++plane) {
    for (std::uint32_t low = 0x8080; low <= 0xffff; ++low)
      try_code(kSingleShift2 << 24U | plane << 16U | low, 4);
  }
}

}  // namespace swizzle
