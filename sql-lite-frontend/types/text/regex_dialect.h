#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace swizzle::sql {

/// Options given by the letters behind a regular expression, or at its front.
struct RegexOptions {
  bool ignore_case = false;
  bool newline_stops_dot = false;
  bool newline_anchors = false;
  bool expanded = false;
  bool literal = false;
};
/// Throws 22023 for an unknown letter.
void apply_regex_flag(RegexOptions& options, char flag);

/// A regular expression of PostgreSQL's as RE2 reads it. PostgreSQL settles first the length of the
/// whole match, and then the extent of each part.
struct TranslatedRegex {
  std::string text;       ///< each part as long, or as short, as it wants to be
  std::string shortest;   ///< finds the shortest whole; empty unless `is_short`
  bool is_lazy = false;   ///< some part wants to be short
  bool is_short = false;  ///< the whole wants to be short
  /// Edge of a word at which a match must begin; `text` does not express it, so that the caller
  /// checks it.
  enum class Edge : std::uint8_t { none, beginning, end } edge = Edge::none;
};
/// Throws 2201B for a malformed pattern, 0A000 for features that RE2 lacks.
TranslatedRegex translate_regex(std::string_view pattern, const RegexOptions& options);

/// Returns the depth of nested parentheses; brackets' and quoted ones count as well.
std::size_t regex_nesting(std::string_view pattern) noexcept;

[[noreturn]] void invalid_regex(std::string_view why);

}  // namespace swizzle::sql
