#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/encodings/encoding.h"

/// Codes of characters as numbers: the bytes of a character, the last one lowest, and dense keys
/// for tables.
namespace swizzle {

/// Mark of a table's value that is an index of a pair of code points.
inline constexpr std::uint32_t kPair = std::uint32_t{1} << 31U;

inline constexpr std::uint32_t kFirstSupplementary = 0x10000;
/// Keys of characters with more than two bytes begin here.
inline constexpr std::uint32_t kFirstLongKey = 0x10000;
/// GB18030: number of the four-byte code of U+10000, from which on they follow each other.
inline constexpr std::uint32_t kFourByteSupplementary = 189000;
inline constexpr std::uint32_t kFirstSupplementaryKey = kFirstLongKey + kFourByteSupplementary;
/// GB18030: number of four-byte codes for the first 65,536 code points.
inline constexpr std::uint32_t kFourByteCodes = 39420;

[[nodiscard]] constexpr std::uint32_t code_of(std::string_view character) noexcept {
  std::uint32_t code = 0;
  for (const char c : character) code = code << 8U | static_cast<unsigned char>(c);
  return code;
}

[[nodiscard]] constexpr std::size_t bytes_of_code(std::uint32_t code) noexcept {
  return code > 0xffffffU ? 4 : code > 0xffffU ? 3 : code > 0xffU ? 2 : 1;
}

/// Returns the number of GB18030's code of four bytes among these.
[[nodiscard]] constexpr std::uint32_t four_byte_number(std::uint32_t code) noexcept {
  const std::uint32_t first = (code >> 24U) - 0x81;
  const std::uint32_t second = (code >> 16U & 0xffU) - 0x30;
  const std::uint32_t third = (code >> 8U & 0xffU) - 0x81;
  const std::uint32_t fourth = (code & 0xffU) - 0x30;
  return ((first * 10 + second) * 126 + third) * 10 + fourth;
}
[[nodiscard]] constexpr std::uint32_t four_byte_code(std::uint32_t number) noexcept {
  const std::uint32_t fourth = number % 10 + 0x30;
  const std::uint32_t third = number / 10 % 126 + 0x81;
  const std::uint32_t second = number / 1260 % 10 + 0x30;
  const std::uint32_t first = number / 12600 + 0x81;
  return first << 24U | second << 16U | third << 8U | fourth;
}

/// Pre: the bytes are a character of the encoding.
[[nodiscard]] constexpr std::uint32_t key_of(Encoding encoding, std::uint32_t code,
                                             std::size_t length) noexcept {
  if (length <= 2) return code;
  if (encoding == Encoding::gb18030) return kFirstLongKey + four_byte_number(code);
  // EUC: three bytes are one set of characters, four are one of seven planes.
  constexpr std::uint32_t kBeforeFirstPlane = 0xa0;
  const std::uint32_t plane = length == 3 ? 1 : (code >> 16U & 0xffU) - kBeforeFirstPlane;
  return plane << 16U | (code & 0xffffU);
}

/// Returns GB18030's code point for a key from kFirstSupplementaryKey on, 0 beyond Unicode.
[[nodiscard]] constexpr std::uint32_t supplementary_code_point(std::uint32_t key) noexcept {
  constexpr std::uint32_t kLast = 0x10ffff;
  const std::uint32_t code_point = key - kFirstSupplementaryKey + kFirstSupplementary;
  return code_point <= kLast ? code_point : 0;
}
[[nodiscard]] constexpr std::uint32_t code_of_supplementary(std::uint32_t code_point) noexcept {
  return four_byte_code(code_point - kFirstSupplementary + kFourByteSupplementary);
}

}  // namespace swizzle
