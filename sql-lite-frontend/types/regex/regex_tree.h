#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/regex/character_set.h"

namespace swizzle::sql {

/// Traits of a part of an expression. A part prefers the longest match, the shortest,
/// or has no preference; the first part with one decides for the sequence.
struct RegexTraits {
  bool prefers_longest = false;
  bool prefers_shortest = false;
  bool is_mixed = false;        ///< parts of it prefer otherwise
  bool has_groups = false;      ///< whose places a match tells
  bool has_references = false;  ///< to groups

  [[nodiscard]] bool has_preference() const noexcept { return prefers_longest || prefers_shortest; }
  /// True if the places of its parts matter, or how they are found.
  [[nodiscard]] bool is_compound() const noexcept {
    return is_mixed || has_groups || has_references;
  }
};
/// Returns the traits of two parts of which the first has the first say.
RegexTraits combine(RegexTraits first, RegexTraits second) noexcept;
/// Returns the traits of both; a preference of both kinds makes it mixed.
RegexTraits unite(RegexTraits first, RegexTraits second) noexcept;

/// A part of a regular expression.
struct RegexNode {
  enum class Kind : std::uint8_t {
    empty,
    character,
    any,  ///< `.`
    set,
    line_begin,  ///< `^`
    line_end,    ///< `$`
    text_begin,
    text_end,
    word_begin,
    word_end,
    word_edge,
    no_word_edge,
    look_ahead,
    look_behind,
    reference,  ///< to a group before it
    group,
    sequence,
    choice,
    repeat,
  };
  static constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

  Kind kind = Kind::empty;
  bool is_negative = false;  ///< of a look around
  /// Of a repeat: its quantifier asks for that. None: it passes on what its part prefers.
  bool wants_longest = false;
  bool wants_shortest = false;
  RegexTraits traits{};
  char32_t character = 0;
  std::uint32_t number = 0;            ///< of a group or reference; the place of a set
  std::uint32_t least = 0;             ///< of a repeat
  std::uint32_t most = 0;              ///< of a repeat
  std::vector<std::uint32_t> parts{};  ///< places in the tree

  /// Of a repeat: it says the same as its part alone.
  [[nodiscard]] bool is_vacuous(const RegexNode& part) const noexcept;
};

struct RegexTree {
  RegexOptions options;
  std::vector<RegexNode> nodes;
  std::vector<CharacterSet> sets;
  std::vector<std::uint32_t> groups;  ///< nodes of the groups, by number less one
  std::uint32_t root = 0;

  [[nodiscard]] const RegexNode& operator[](std::uint32_t node) const { return nodes[node]; }
  [[nodiscard]] const RegexNode& whole() const { return nodes[root]; }
};

/// Reads one of PostgreSQL's regular expressions. Throws 2201B for a malformed one.
RegexTree parse_regex(std::string_view pattern, const RegexOptions& options);

}  // namespace swizzle::sql
