#pragma once

#include <cstdint>
#include <string_view>

/// Translation of \m and \M, the beginning and end of a word. RE2 has only \b, which matches both.
/// They are equivalent if the character on one side is known to be a word character, or known not
/// to be one.
namespace swizzle::sql {

enum class Beside : std::uint8_t {
  word,   ///< a letter of a word
  other,  ///< another character, or the end of the text or of a line
};
/// True if every match of the pattern begins with such a character.
bool begins_with(Beside what, std::string_view pattern);
/// True if every match ends with one. The pattern may be a prefix of a pattern, with open groups.
bool ends_with(Beside what, std::string_view pattern);

/// True if the character at `place` is a word character.
bool is_word_at(std::string_view text, std::size_t place) noexcept;

}  // namespace swizzle::sql
