#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

/// Trigrams of texts, as in the extension pg_trgm.
namespace swizzle::sql {

using Trigram = std::array<char, 3>;

/// Words consist of ASCII letters and digits, as in a database with the collation "C"; each is
/// padded with two blanks before and one after it.
struct Trigrams {
  std::vector<Trigram> list;             ///< in the order of the text
  std::vector<std::size_t> word_starts;  ///< positions in it
};
Trigrams trigrams_of(std::string_view text);
/// Returns the distinct trigrams, sorted.
std::vector<Trigram> each_once(std::vector<Trigram> list);

/// Returns the distinct trigrams that every text LIKE the pattern contains.
std::vector<Trigram> trigrams_of_pattern(std::string_view pattern);

}  // namespace swizzle::sql
