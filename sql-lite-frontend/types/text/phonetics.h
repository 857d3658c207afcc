#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Codes of English words by their sound. Letters are ASCII's; others end or separate words.
namespace swizzle::sql {

/// Returns the first letter and three digits; empty for a text without letters.
std::string soundex(std::string_view text);
/// Returns Lawrence Philips' code of 1990, at most `most` letters.
std::string metaphone(std::string_view text, std::size_t most);

/// Philips' code of 2000: two pronunciations of at most four letters each.
struct DoubleMetaphone {
  std::string primary;
  std::string secondary;
};
DoubleMetaphone double_metaphone(std::string_view text);

/// Returns the codes of Daitch and Mokotoff, six digits each: several where letters have several
/// sounds, none for a text without letters.
std::vector<std::string> daitch_mokotoff(std::string_view text);

}  // namespace swizzle::sql
