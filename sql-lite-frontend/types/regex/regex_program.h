#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/regex/regex_tree.h"

namespace swizzle::sql {

/// A part of an expression as steps of a nondeterministic automaton. A reference is a copy of its
/// group without constraints, so the automaton may find more than the expression.
struct RegexProgram {
  struct Step {
    enum class Kind : std::uint8_t { character, any, set, check, look, split, accept };
    Kind kind = Kind::accept;
    RegexNode::Kind checked{};  ///< of a check
    bool is_negative = false;   ///< of a look around
    std::uint32_t next = 0;
    /// The second way of a split, a character, or the place of a set or of the program of a look.
    std::uint32_t operand = 0;
  };
  std::vector<Step> steps;
  std::uint32_t begin = 0;
};

/// Returns where the character before `at` begins. Pre: at > 0.
std::size_t character_before(std::string_view text, std::size_t at) noexcept;

enum class RegexDirection : bool { forward, backward };

/// Makes the programs of one expression. Throws 2201B if they are too large together.
class RegexProgrammer {
 public:
  RegexProgrammer(const RegexTree& tree, std::vector<RegexProgram>& programs)
      : tree_(tree), programs_(programs) {}

  /// Returns the place of the program of parts in a row.
  std::uint32_t program_of(std::span<const std::uint32_t> parts);
  /// Returns that of `least` to `most` times a part.
  std::uint32_t program_of_repeat(std::uint32_t part, std::uint32_t least, std::uint32_t most);

 private:
  using Step = RegexProgram::Step;
  /// Steps of which the last have no next one yet are made from the end to the beginning: each
  /// function returns the first step of a part that goes on at `next`.
  std::uint32_t add(Step step);
  std::uint32_t parts(std::span<const std::uint32_t> parts, std::uint32_t next);
  std::uint32_t node(std::uint32_t node, std::uint32_t next);
  std::uint32_t repeat(std::uint32_t part, std::uint32_t least, std::uint32_t most,
                       std::uint32_t next);
  std::uint32_t look(const RegexNode& node, std::uint32_t next);
  std::uint32_t finish(std::uint32_t begin);

  const RegexTree& tree_;
  std::vector<RegexProgram>& programs_;
  std::vector<Step> steps_;  ///< of the program that is made
  RegexDirection direction_ = RegexDirection::forward;
  bool is_in_reference_ = false;
  std::size_t all_steps_ = 0;
};

/// Runs programs of one expression over one text.
class RegexRun {
 public:
  RegexRun(const RegexTree& tree, std::span<const RegexProgram> programs, std::string_view text);

  /// Returns the end of the longest match that begins at `begin` and ends by `limit`.
  std::optional<std::size_t> longest(std::uint32_t program, std::size_t begin, std::size_t limit);
  /// Returns the end of the shortest match that begins at `begin` and ends between `least` and
  /// `limit`.
  std::optional<std::size_t> shortest(std::uint32_t program, std::size_t begin, std::size_t least,
                                      std::size_t limit);
  /// True if the program matches exactly that.
  bool matches(std::uint32_t program, std::size_t begin, std::size_t end);
  /// Returns for each place from `begin` to `limit` if a match that begins at `begin` ends there.
  std::vector<bool> ends(std::uint32_t program, std::size_t begin, std::size_t limit);

  [[nodiscard]] std::string_view text() const noexcept { return text_; }

 private:
  /// The steps that a program may be at, at one place of the text.
  struct Places {
    std::vector<std::uint32_t> list;
    std::vector<std::uint32_t> noted;  ///< by step: the turn in which it was added last
    std::uint32_t turn = 0;
    bool accepts = false;
  };
  struct Scratch {
    Places now, then;
    std::vector<std::uint32_t> pending;
  };

  /// Calls `found` for each place where a match ends, until it returns false.
  template <class Found>
  void run(std::uint32_t program, std::size_t begin, std::size_t limit, RegexDirection direction,
           Found&& found);
  void add(std::uint32_t program, Scratch& scratch, Places& places, std::uint32_t step,
           std::size_t at);
  bool check(RegexNode::Kind kind, std::size_t at) const;
  bool look(const RegexProgram::Step& step, std::size_t at);
  [[nodiscard]] bool takes(const RegexProgram::Step& step, char32_t character) const;
  [[nodiscard]] bool is_word(char32_t character) const;

  const RegexTree& tree_;
  std::span<const RegexProgram> programs_;
  std::string_view text_;
  std::vector<Scratch> scratch_;  ///< by program
};

}  // namespace swizzle::sql
