#include "base/utf8.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdint>

#include "base/bytes.h"

namespace swizzle {
namespace {

/// True if each of the eight bytes is 1 … 127.
bool all_plain_ascii(std::uint64_t eight) noexcept {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  constexpr std::uint64_t kLowBits = 0x0101010101010101U;
  return ((eight | (eight - kLowBits)) & kHighBits) == 0;
}

/// The length of a well-formed character at the front, or 0.
std::size_t well_formed(std::string_view rest) noexcept {
  const auto byte = [rest](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return lead == 0 ? 0 : 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t size = utf8_length(rest[0]);
  if (rest.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if (!is_utf8_continuation(rest[i])) return 0;
  // No overlong forms, no surrogates, nothing above U+10FFFF.
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;
  if (lead == 0xed && byte(1) > 0x9f) return 0;
  if (lead == 0xf0 && byte(1) < 0x90) return 0;
  if (lead == 0xf4 && byte(1) > 0x8f) return 0;
  return size;
}

/// Returns the length that a character's first byte announces.
std::size_t announced_length(char lead) noexcept {
  const auto byte = static_cast<unsigned char>(lead);
  return is_utf8_continuation(lead) || byte >= 0xf8 ? 1 : utf8_length(lead);
}

}  // namespace

std::size_t valid_utf8(std::string_view text) noexcept {
  // The library tells if, not where, a text is invalid; it is not faster for short texts.
  constexpr std::size_t kLong = 128;
  if (text.size() >= kLong && simdjson::validate_utf8(text.data(), text.size()) &&
      text.find('\0') == std::string_view::npos) {
    return text.size();
  }
  std::size_t at = 0;
  while (at < text.size()) {
    if (at + 8 <= text.size() &&
        all_plain_ascii(load<std::uint64_t>(as_bytes(text.substr(at)).data()))) {
      at += 8;
      continue;
    }
    const std::size_t length = well_formed(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

char32_t decode_character(std::string_view text) noexcept {
  const auto bits = [text](std::size_t i, unsigned mask) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[i]) & mask);
  };
  switch (std::min(utf8_length(text[0]), text.size())) {
    case 1:
      return bits(0, 0x7f);
    case 2:
      return bits(0, 0x1f) << 6U | bits(1, 0x3f);
    case 3:
      return bits(0, 0x0f) << 12U | bits(1, 0x3f) << 6U | bits(2, 0x3f);
    default:
      return bits(0, 0x07) << 18U | bits(1, 0x3f) << 12U | bits(2, 0x3f) << 6U | bits(3, 0x3f);
  }
}

void append_character(std::string& out, char32_t c) {
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xc0U | c >> 6U);
  } else if (c < 0x10000) {
    put(0xe0U | c >> 12U);
    put(0x80U | (c >> 6U & 0x3fU));
  } else {
    put(0xf0U | c >> 18U);
    put(0x80U | (c >> 12U & 0x3fU));
    put(0x80U | (c >> 6U & 0x3fU));
  }
  put(0x80U | (c & 0x3fU));
}

std::string invalid_utf8_message(std::string_view rest) {
  std::string bytes;
  for (const char c : rest.substr(0, announced_length(rest.front())))
    bytes += fmt::format(" 0x{:02x}", static_cast<unsigned char>(c));
  return "invalid byte sequence for encoding \"UTF8\":" + bytes;
}

}  // namespace swizzle
