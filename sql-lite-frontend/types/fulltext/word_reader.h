#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/fulltext/text_vector.h"

namespace swizzle::sql {

/// Parses words of tsvector and tsquery: bare or in quotes, with escapes.
class WordReader {
 public:
  enum class Of : std::uint8_t { vector, query };
  WordReader(std::string_view text, Of what) noexcept : text_(text), what_(what) {}

  /// Reads the next word into word(), and its positions in a vector; false at the end.
  bool next(WordsMet* places);
  [[nodiscard]] const std::string& word() const noexcept { return word_; }

  [[nodiscard]] std::size_t at() const noexcept { return at_; }
  void move_to(std::size_t at) noexcept { at_ = at; }
  [[nodiscard]] bool at_end() const noexcept { return at_ >= text_.size(); }
  void skip_blanks() noexcept;
  [[noreturn]] void fail() const;

 private:
  void take_escaped();
  void read_bare();
  void read_quoted();
  void read_places(WordsMet& places);
  unsigned read_place();
  unsigned read_weight();

  std::string_view text_;
  Of what_;
  std::size_t at_ = 0;
  std::string word_;
};

/// True for the characters of C's isspace, which separate words.
constexpr bool is_blank(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

}  // namespace swizzle::sql
