#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace swizzle::sql {

/// Token kinds of PostgreSQL's default parser, with its numbers.
enum class TokenKind : std::uint8_t {
  none = 0,
  asciiword = 1,
  word = 2,
  numword = 3,
  email = 4,
  url = 5,
  host = 6,
  sfloat = 7,
  version = 8,
  hword_numpart = 9,
  hword_part = 10,
  hword_asciipart = 11,
  blank = 12,
  tag = 13,
  protocol = 14,
  numhword = 15,
  asciihword = 16,
  hword = 17,
  url_path = 18,
  file = 19,
  float_ = 20,
  int_ = 21,
  uint = 22,
  entity = 23,
};

struct TokenKindInfo {
  TokenKind kind;
  std::string_view alias;
  std::string_view description;
};
std::span<const TokenKindInfo> token_kinds() noexcept;

struct TextToken {
  TokenKind kind = TokenKind::none;
  std::string_view text = {};
};

/// Splits a text into tokens as PostgreSQL's default parser does. A hyphenated word is returned
/// whole and then in parts, and so is an address with a path.
class TextParser {
 public:
  explicit TextParser(std::string_view text) noexcept : text_(text) {}
  std::optional<TextToken> next();

 private:
  TextToken take(TokenKind kind, std::size_t end);
  std::optional<TextToken> take_special();
  std::optional<TextToken> take_tag();
  std::optional<TextToken> take_entity();
  std::optional<TextToken> take_number(bool is_signed);
  std::optional<TextToken> take_host();
  std::optional<TextToken> take_email();
  std::optional<TextToken> take_protocol();
  std::optional<TextToken> take_file();
  std::optional<TextToken> take_hyphenated();
  TextToken take_hyphenated_part();
  TextToken take_word();
  TextToken take_blank();
  [[nodiscard]] std::optional<std::size_t> bare_name_end() const;
  [[nodiscard]] std::size_t behind_port(std::size_t end) const;
  /// `run_end`: set to the end of all characters examined.
  [[nodiscard]] std::size_t host_end(std::size_t begin, std::size_t& run_end) const;

  [[nodiscard]] char letter(std::size_t at) const noexcept {
    return at < text_.size() ? text_[at] : '\0';
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view hyphenated_;   ///< of a word with hyphens, the parts that are to come
  std::vector<TextToken> parts_;  ///< pending tokens in reverse: parts of an address, …
  // Negative cache: searches that start before these positions find nothing.
  std::size_t no_email_before_ = 0;
  std::size_t no_host_before_ = 0;
  bool no_comment_end_ = false;
};

}  // namespace swizzle::sql
