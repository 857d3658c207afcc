#pragma once

#include <cstdint>
#include <string_view>

/// Translation of \m and \M, the beginning and the end of a word. The library knows only \b, which
/// is either. They mean the same if the character on one side is known to be a letter of a word, or
/// known not to be one.
namespace swizzle::sql {

enum class Beside : std::uint8_t {
  word,   ///< a letter of a word
  other,  ///< another character, or the end of the text or of a line
};
/// True if everything that the pattern matches begins with such a character.
bool begins_with(Beside what, std::string_view pattern);
/// The same of the end. The pattern may be a part of one: groups may still be open.
bool ends_with(Beside what, std::string_view pattern);

/// True if the character at `place` is a letter of a word.
bool is_word_at(std::string_view text, std::size_t place) noexcept;

}  // namespace swizzle::sql
