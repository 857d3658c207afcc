#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

/// The groups of three characters in texts, as the extension pg_trgm takes them.
namespace swizzle::sql {

using Trigram = std::array<char, 3>;

/// Words are ASCII letters and digits, as in a database with the collation "C"; each stands between
/// two blanks and one.
struct Trigrams {
  std::vector<Trigram> list;             ///< in the order of the text
  std::vector<std::size_t> word_starts;  ///< positions in it
};
Trigrams trigrams_of(std::string_view text);
/// Sorted.
std::vector<Trigram> each_once(std::vector<Trigram> list);

/// Returns the trigrams of every text that is LIKE the pattern, each once.
std::vector<Trigram> trigrams_of_pattern(std::string_view pattern);

}  // namespace swizzle::sql
