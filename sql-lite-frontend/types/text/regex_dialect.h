#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/collation/letters.h"

namespace swizzle::sql {

/// Options from the flags argument, or from embedded options at the front of the pattern.
struct RegexOptions {
  bool ignore_case = false;
  bool newline_stops_dot = false;
  bool newline_anchors = false;
  bool expanded = false;
  bool literal = false;
  Letters letters = Letters::ascii;  ///< of the classes
  bool ascii_case = false;           ///< `ignore_case` concerns ASCII's letters alone
};
/// Returns the flag by which a function tells the letters of its collation; users cannot write it.
std::string_view regex_flag_of(Letters letters) noexcept;
/// Returns a regular expression for RE2 that matches the quoted text, its ASCII letters in either
/// case.
std::string fold_ascii_letters(std::string_view quoted);
/// Throws 22023 for an unknown letter.
void apply_regex_flag(RegexOptions& options, char flag);

/// PostgreSQL's regular expression translated for RE2. PostgreSQL determines the length of the
/// whole match first, and then those of its parts.
struct TranslatedRegex {
  std::string text;       ///< each part greedy or not, as written
  std::string shortest;   ///< finds the shortest whole; empty unless `is_short`
  bool is_lazy = false;   ///< some part is non-greedy
  bool is_short = false;  ///< the whole expression is non-greedy
  /// Word boundary at the beginning of the match; `text` does not contain it, so the caller must
  /// check it.
  enum class Edge : std::uint8_t { none, beginning, end } edge = Edge::none;
};
/// Throws 2201B for a malformed pattern, 0A000 for features that RE2 lacks.
TranslatedRegex translate_regex(std::string_view pattern, const RegexOptions& options);

/// Returns the nesting depth of parentheses, including those in brackets and escaped ones.
std::size_t regex_nesting(std::string_view pattern) noexcept;

[[noreturn]] void invalid_regex(std::string_view why);

}  // namespace swizzle::sql
