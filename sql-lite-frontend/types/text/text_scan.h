#pragma once

#include <string_view>

/// Predicates on ASCII characters, independent of any locale.
namespace swizzle::sql {

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_lower(char c) noexcept {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_upper(char c) noexcept {
  return c >= 'A' && c <= 'Z';
}
constexpr bool is_alpha(char c) noexcept {
  return is_lower(c) || is_upper(c);
}
constexpr bool is_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}
constexpr char to_lower(char c) noexcept {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}
constexpr char to_upper(char c) noexcept {
  return is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c;
}

constexpr std::string_view trim_space(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

constexpr bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (to_lower(a[i]) != to_lower(b[i])) return false;
  return true;
}

/// True if `text` is a non-empty prefix of `word`, ignoring case.
constexpr bool is_prefix_ignoring_case(std::string_view text, std::string_view word) noexcept {
  return !text.empty() && text.size() <= word.size() &&
         equals_ignoring_case(text, word.substr(0, text.size()));
}

}  // namespace swizzle::sql
