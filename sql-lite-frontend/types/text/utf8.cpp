#include "sql-lite-frontend/types/text/utf8.h"

#include <algorithm>
#include <cstring>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

[[noreturn]] void invalid_utf8(std::string_view rest) {
  std::string bytes;
  const std::size_t shown = std::min(rest.size(), utf8_length(rest.front()));
  for (const char c : rest.substr(0, shown))
    bytes += fmt::format("{}0x{:02x}", bytes.empty() ? "" : " ", static_cast<unsigned char>(c));
  throw_error(sqlstate::character_not_in_repertoire,
              "invalid byte sequence for encoding \"UTF8\": {}", bytes);
}

/// The length of a well-formed character of several bytes at the front, or 0.
std::size_t well_formed(std::string_view rest) noexcept {
  const auto byte = [rest](std::size_t i) { return static_cast<unsigned char>(rest[i]); };
  const unsigned lead = byte(0);
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

}  // namespace

void verify_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    // Eight ASCII bytes without a zero at a time.
    while (at + 8 <= text.size()) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + at, 8);
      constexpr std::uint64_t kHigh = 0x8080808080808080U;
      if ((word & kHigh) != 0 || ((word - 0x0101010101010101U) & ~word & kHigh) != 0) break;
      at += 8;
    }
    if (at == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == 0) invalid_utf8(text.substr(at));
    const std::size_t size = byte < 0x80 ? 1 : well_formed(text.substr(at));
    if (size == 0) invalid_utf8(text.substr(at));
    at += size;
  }
}

std::size_t count_characters(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !is_utf8_continuation(c); }));
}

std::size_t bytes_of_characters(std::string_view text, std::size_t count) noexcept {
  std::size_t at = 0;
  for (; count > 0 && at < text.size(); --count) at += utf8_length(text[at]);
  return std::min(at, text.size());
}

std::string_view clip_bytes(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit) return text;
  while (limit > 0 && is_utf8_continuation(text[limit])) --limit;
  return text.substr(0, limit);
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

}  // namespace swizzle::sql
