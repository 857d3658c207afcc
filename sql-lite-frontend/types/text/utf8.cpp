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

}  // namespace swizzle::sql
