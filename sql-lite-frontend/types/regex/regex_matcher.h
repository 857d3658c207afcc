#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/regex/regex_program.h"
#include "sql-lite-frontend/types/regex/regex_tree.h"

namespace swizzle::sql {

struct RegexRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool matched = false;
};
/// The whole match, then each group.
using RegexMatch = std::vector<RegexRange>;

/// Matches an expression by PostgreSQL's rules: the length of the whole is determined first, then
/// that of each part from left to right, each as long or as short as it prefers and as the rest
/// allows. Needs time proportional to the text and the expression for each part whose place must be
/// found, and more for each reference to a group; every few microseconds it asks if it is to end.
class RegexMatcher {
 public:
  /// Throws 2201B for an expression that is too large.
  explicit RegexMatcher(const RegexTree& tree);

  /// Returns the match that begins at `begin`, if there is one. `end`: where it ends, if that is
  /// known.
  [[nodiscard]] std::optional<RegexMatch> match(std::string_view text, std::size_t begin,
                                                std::optional<std::size_t> end) const;

 private:
  friend class RegexDissection;
  static constexpr std::uint32_t kNone = RegexNode::kUnlimited;

  /// A part whose place within a match, or that of whose groups, must be found.
  struct Part {
    enum class Kind : std::uint8_t { plain, group, reference, choice, pair, repeat };
    Kind kind = Kind::plain;
    bool prefers_shortest = false;
    std::uint32_t program = kNone;
    std::uint32_t number = 0;  ///< of a group or reference
    std::uint32_t least = 0;   ///< of a repeat or a reference
    std::uint32_t most = 0;
    std::vector<std::uint32_t> parts{};  ///< two of a pair
  };

  std::uint32_t add(Part&& part);
  std::uint32_t plain(std::uint32_t program, RegexTraits traits);
  std::uint32_t part_of(RegexProgrammer& programmer, std::uint32_t node);
  std::uint32_t part_of_sequence(RegexProgrammer& programmer, std::span<const std::uint32_t> nodes);
  std::uint32_t part_of_repeat(RegexProgrammer& programmer, std::uint32_t node);

  const RegexTree& tree_;
  std::vector<RegexProgram> programs_;
  std::vector<Part> parts_;
  std::uint32_t whole_ = 0;
};

}  // namespace swizzle::sql
