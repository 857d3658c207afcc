#include "sql-lite-frontend/types/text/utf8.h"

#include <algorithm>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
void verify_utf8(std::string_view text) {
  const std::size_t valid = valid_utf8(text);
  if (valid == text.size()) return;
  throw SqlError{sqlstate::character_not_in_repertoire, invalid_utf8_message(text.substr(valid))};
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
