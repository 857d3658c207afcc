#pragma once

#include <string_view>

/// What stands beside \m and \M, the beginning and the end of a word. The library knows only \b,
/// which is either: it is the same where a word's letter is sure to stand on the right side.
namespace swizzle::sql {

/// Whether all that the pattern matches begins with a letter of a word.
bool begins_with_word(std::string_view pattern);
/// The same of the end. The pattern may be a part of one: groups may still be open.
bool ends_with_word(std::string_view pattern);

}  // namespace swizzle::sql
