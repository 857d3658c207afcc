#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace swizzle::sql {

struct PathToken {
  enum class Kind : std::uint8_t {
    end,
    symbol,  ///< one of ( ) [ ] { } . , * + - / % ? ! < > @ $ or == != <> <= >= && ||  **
    name,
    string,
    number,  ///< with a point or an exponent
    integer,
    variable,
  };
  Kind kind = Kind::end;
  std::string text;
  std::string_view written;  ///< as written in the path

  [[nodiscard]] bool is(std::string_view symbol) const noexcept {
    return kind == Kind::symbol && text == symbol;
  }
};

/// Lexer of jsonpath.
class PathScanner {
 public:
  explicit PathScanner(std::string_view text) noexcept : text_(text) {}
  PathToken next();
  [[noreturn]] static void fail(std::string_view what, std::string_view at);

 private:
  void skip_blanks();
  PathToken read_string(PathToken::Kind kind);
  PathToken read_number();
  PathToken junk_or_name(std::size_t begin, std::size_t end);
  void skip_digits(int base);
  /// Returns the length of the name that would begin there.
  [[nodiscard]] std::size_t word_size(std::size_t begin) const;
  PathToken read_name(PathToken::Kind kind);
  void read_escape(std::string& out);
  void read_code_point(std::string& out);
  std::uint32_t read_hexadecimal(std::size_t digits);

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace swizzle::sql
