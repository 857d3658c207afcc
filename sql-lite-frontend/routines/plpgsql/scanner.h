#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Lexer of PL/pgSQL bodies.
namespace swizzle::sql::plpgsql {

struct Token {
  enum class Kind : unsigned char { end, word, quoted, string, number, parameter, symbol };
  Kind kind = Kind::end;
  /// A word in lower case, a name or string without its quotes, any other token verbatim.
  std::string text;
  std::size_t begin = 0;  ///< in the body
  std::size_t end = 0;
  int line = 1;

  [[nodiscard]] bool is_word(std::string_view word) const noexcept {
    return kind == Kind::word && text == word;
  }
  [[nodiscard]] bool is(std::string_view symbol) const noexcept {
    return kind == Kind::symbol && text == symbol;
  }
  [[nodiscard]] bool is_name() const noexcept { return kind == Kind::word || kind == Kind::quoted; }
};

/// Returns all tokens, the last of kind end. Throws 42601 for an unterminated quoted token.
std::vector<Token> scan(std::string_view body);

/// Returns the line number of an offset, counted from 1.
int line_of(std::string_view body, std::size_t offset);

}  // namespace swizzle::sql::plpgsql
