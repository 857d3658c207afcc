#pragma once

#include <cctype>

namespace swizzle::sql {

/// Character classes of SQL's words, for functions that scan a statement without parsing it.
inline bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}
inline bool is_word_start(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return std::isalpha(byte) != 0 || letter == '_' || byte >= 0x80;
}
inline bool is_word_part(char letter) {
  return is_word_start(letter) || is_digit(letter) || letter == '$';
}

}  // namespace swizzle::sql
