#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/fulltext/text_parser.h"

namespace swizzle::sql {

/// A text search configuration: which dictionary makes words of which tokens. A number into
/// text_configs().
enum class TextConfig : std::uint8_t { simple };
/// A number into text_dictionaries().
enum class TextDictionary : std::uint8_t { simple };

struct TextConfigInfo {
  TextConfig config;
  std::uint32_t oid;
  std::string_view name;
  TextDictionary words;        ///< of words in general
  TextDictionary ascii_words;  ///< of those of the letters a to z
};
struct TextDictionaryInfo {
  TextDictionary dictionary;
  std::uint32_t oid;
  std::string_view name;
  std::uint32_t template_oid;
  std::string_view options;   ///< empty: none
  std::string_view language;  ///< whose endings it takes off; empty: none
};
struct TextTemplateInfo {
  std::uint32_t oid;
  std::string_view name;
};
std::span<const TextConfigInfo> text_configs() noexcept;
std::span<const TextDictionaryInfo> text_dictionaries() noexcept;
std::span<const TextTemplateInfo> text_templates() noexcept;
/// As default_text_search_config and regconfig name it, perhaps with pg_catalog before it.
const TextConfigInfo* find_text_config(std::string_view name) noexcept;
const TextDictionaryInfo* find_text_dictionary(std::string_view name) noexcept;
/// 0A000 for what PostgreSQL has by that name and we have not; else 42704. `kind`: "configuration",
/// "dictionary".
[[noreturn]] void throw_no_text_search(std::string_view kind, std::string_view name);

/// What a session says of text search. A session's names (function_context.h) implement it.
class TextSearchSettings {
 public:
  TextSearchSettings() = default;
  TextSearchSettings(const TextSearchSettings&) = delete;
  TextSearchSettings& operator=(const TextSearchSettings&) = delete;
  virtual ~TextSearchSettings() = default;
  [[nodiscard]] virtual TextConfig text_config() const = 0;
};

/// Nothing: tokens of the kind are passed over.
std::optional<TextDictionary> dictionary_of(TextConfig config, TokenKind kind) noexcept;

/// What a dictionary makes of a token: a word, or nothing where it is a stop word.
std::optional<std::string> normalize(TextDictionary dictionary, std::string_view token);

}  // namespace swizzle::sql
