#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql-lite-frontend/types/checked_pointers.h"
#include "sql-lite-frontend/types/fulltext/stop_words.h"
#include "sql-lite-frontend/types/fulltext/text_parser.h"

/// Text search configurations and dictionaries: built-in ones, and user-defined ones in the form
/// that functions need.
namespace swizzle::sql {

/// A dictionary's result for a token.
struct TokenMeaning {
  bool is_known = false;            ///< false: ask the next dictionary
  std::optional<std::string> word;  ///< none: a stop word
  bool is_filtered = false;         ///< true: ask the next dictionary about `word`
};

/// Dictionary: turns tokens into words (lexemes).
struct TextDictionary {
  std::uint32_t oid = 0;
  /// Language of the stemmer, an index into snowball_languages(); none: words are not stemmed.
  std::optional<std::uint8_t> language;
  StopWordsPtr stop_words;       ///< null: no word is a stop word
  bool accepts_unlisted = true;  ///< false: knows its stop words only
  bool removes_marks = false;    ///< true: a filter that removes diacritics and passes the word on

  [[nodiscard]] TokenMeaning look_up(std::string_view token) const;
};
using TextDictionaryPtr = CheckedShared<const TextDictionary>;

/// Configuration: the dictionaries to ask for each kind of token.
struct TextConfig {
  static constexpr std::size_t kKinds = 24;
  std::uint32_t oid = 0;
  std::array<std::vector<TextDictionaryPtr>, kKinds> dictionaries;  ///< by kind of token, in order

  [[nodiscard]] std::span<const TextDictionaryPtr> of(TokenKind kind) const noexcept {
    return dictionaries[static_cast<std::size_t>(kind)];
  }
  /// Returns the result of the first dictionary that knows the token.
  [[nodiscard]] TokenMeaning look_up(const TextToken& token) const;
};
using TextConfigPtr = CheckedShared<const TextConfig>;

/// Built-in configuration.
struct TextConfigInfo {
  std::uint32_t oid;
  std::string_view name;
  std::uint32_t words;        ///< dictionary of words in general
  std::uint32_t ascii_words;  ///< dictionary of words of the letters a to z
};
struct TextDictionaryInfo {
  std::uint32_t oid;
  std::string_view name;
  std::uint32_t template_oid;
  std::string_view options;   ///< empty: none
  std::string_view language;  ///< empty: words are not stemmed
};
struct TextTemplateInfo {
  std::uint32_t oid;
  std::string_view name;
};
inline constexpr std::uint32_t kSimpleTextTemplate = 3727;
inline constexpr std::uint32_t kSnowballTextTemplate = 13150;
/// Exists if the extension unaccent is installed, in its schema.
inline constexpr std::uint32_t kUnaccentTextTemplate = 13149;
inline constexpr std::uint32_t kDefaultTextParser = 3722;

std::span<const TextConfigInfo> text_configs() noexcept;
std::span<const TextDictionaryInfo> text_dictionaries() noexcept;
std::span<const TextTemplateInfo> text_templates() noexcept;
/// Find a configuration by its unqualified name, or by its oid; null if it is not built in.
const TextConfigInfo* find_text_config(std::string_view name) noexcept;
const TextConfigInfo* find_text_config(std::uint32_t oid) noexcept;
const TextDictionaryInfo* find_text_dictionary(std::string_view name) noexcept;
const TextDictionaryInfo* find_text_dictionary(std::uint32_t oid) noexcept;
TextConfigPtr builtin_text_config(std::uint32_t oid);
TextDictionaryPtr builtin_text_dictionary(std::uint32_t oid);
/// Returns the dictionary that a configuration asks for tokens of a kind; 0 if they are ignored.
std::uint32_t dictionary_of(const TextConfigInfo& config, TokenKind kind) noexcept;

/// Returns the languages that have a stemmer, in lower case, ascending.
std::span<const std::string_view> snowball_languages() noexcept;

/// Throws 42704. `kind`: "configuration", "dictionary".
[[noreturn]] void throw_no_text_search(std::string_view kind, std::string_view name);

/// Text search objects visible to a session, which the session's names (function_context.h)
/// implement.
class TextSearchObjects {
 public:
  TextSearchObjects() = default;
  TextSearchObjects(const TextSearchObjects&) = delete;
  TextSearchObjects& operator=(const TextSearchObjects&) = delete;
  virtual ~TextSearchObjects() = default;
  /// Returns default_text_search_config; throws 42704 if that configuration no longer exists.
  virtual TextConfigPtr default_text_config() = 0;
  /// Returns null if there is none.
  virtual TextConfigPtr text_config(std::uint32_t oid) = 0;
  virtual TextDictionaryPtr text_dictionary(std::uint32_t oid) = 0;
};

}  // namespace swizzle::sql
