#pragma once

#include <cstdint>
#include <string_view>

#include "sql-lite-frontend/types/regex/character_set.h"

namespace swizzle::sql {

struct RegexToken {
  enum class Kind : std::uint8_t {
    end,
    character,
    any,
    class_of_characters,
    bracket,  ///< the rest begins with what stands in it
    open,
    close,
    bar,
    star,
    plus,
    question,
    bound,  ///< the rest begins with its first number
    line_begin,
    line_end,
    text_begin,
    text_end,
    word_begin,
    word_end,
    word_edge,
    no_word_edge,
    look_ahead,
    look_behind,
    reference,
  };
  Kind kind = Kind::end;
  bool is_lazy = false;      ///< of a quantifier
  bool is_negative = false;  ///< of a look around
  bool is_complement = false;
  bool is_capturing = false;  ///< of an opening parenthesis
  CharacterClass of_class{};
  char32_t character = 0;
  std::uint32_t number = 0;  ///< of a reference
};

/// A token between brackets.
struct BracketToken {
  enum class Kind : std::uint8_t { close, character, dash, element, equivalence, of_class };
  Kind kind = Kind::close;
  bool is_complement = false;
  CharacterClass of_class{};
  char32_t character = 0;
};

/// Bounds of a quantifier in braces.
struct RegexBound {
  std::uint32_t least = 0;
  std::uint32_t most = 0;
  bool is_range = false;  ///< with a comma
  bool is_lazy = false;
};

/// Splits a regular expression into what its grammar knows. All functions throw 2201B.
class RegexLexer {
 public:
  RegexLexer(std::string_view pattern, const RegexOptions& options)
      : rest_(pattern), options_(options) {}

  /// Takes the next token. `groups` is how many groups have begun: a number may refer to one.
  RegexToken next(std::uint32_t groups);
  /// Takes the rest of a bound.
  RegexBound bound();
  /// Takes a token of a bracket. `is_first`: nothing but "^" stands before it.
  BracketToken bracket(bool is_first);
  /// Takes the "^" of a bracket, if there is one.
  bool take_complement();

 private:
  [[nodiscard]] bool is_advanced() const { return options_.grammar == RegexGrammar::advanced; }
  [[nodiscard]] bool takes_after(char c);
  void skip_blanks();
  char32_t take_character();
  RegexToken of_character(char32_t character);
  RegexToken quantifier(RegexToken::Kind kind);
  RegexToken open_bracket();
  RegexToken open();
  RegexToken extended(std::uint32_t groups);
  RegexToken basic();
  RegexToken basic_escape();
  RegexToken escape(std::uint32_t groups);
  RegexToken escaped_number(std::uint32_t groups);
  char32_t take_code(std::size_t least, std::size_t most, int base);
  std::uint32_t take_count();
  BracketToken element(char kind);

  std::string_view rest_;
  const RegexOptions& options_;
  RegexToken::Kind last_ = RegexToken::Kind::end;
  bool is_at_begin_ = true;
};

}  // namespace swizzle::sql
