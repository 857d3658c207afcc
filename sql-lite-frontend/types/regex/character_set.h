#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql-lite-frontend/types/regex/regex_options.h"

namespace swizzle::sql {

/// Classes of characters: [:alpha:] and the like, `\w`.
enum class CharacterClass : std::uint8_t {
  alnum,
  alpha,
  blank,
  cntrl,
  digit,
  graph,
  lower,
  print,
  punct,
  space,
  upper,
  xdigit,
  word,
};
/// Returns nothing for an unknown name.
std::optional<CharacterClass> character_class(std::string_view name) noexcept;
bool is_in_class(CharacterClass wanted, Letters letters, char32_t character) noexcept;

/// True if the options make no difference between the two characters.
bool same_character(const RegexOptions& options, char32_t a, char32_t b) noexcept;

/// A set of characters: a bracket expression, or an escape like `\d`.
struct CharacterSet {
  struct Member {
    CharacterClass kind;
    bool is_complement = false;  ///< the characters outside of the class
  };
  std::vector<std::pair<char32_t, char32_t>> ranges;  ///< both ends belong to it
  std::vector<Member> classes;
  bool is_complement = false;
  /// A complement that does not contain a newline.
  bool stops_at_newline = false;

  /// Adds a class as the options mean it: without case there are only letters.
  void add(CharacterClass added, bool complement, const RegexOptions& options);
  [[nodiscard]] bool contains(const RegexOptions& options, char32_t character) const;
  /// Returns the set in RE2's form; nothing if RE2 cannot say it.
  [[nodiscard]] std::optional<std::string> re2_form(const RegexOptions& options) const;

 private:
  [[nodiscard]] bool has_member(const RegexOptions& options, char32_t character) const;
};

/// Appends a character in RE2's form.
void append_re2_character(std::string& out, const RegexOptions& options, char32_t character);

/// Returns the character of a collating element's name (`[.hyphen.]`), or nothing.
std::optional<char32_t> collating_element(std::string_view name) noexcept;

}  // namespace swizzle::sql
