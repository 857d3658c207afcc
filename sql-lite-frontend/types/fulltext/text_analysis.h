#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "sql-lite-frontend/types/fulltext/text_config.h"
#include "sql-lite-frontend/types/fulltext/text_query.h"
#include "sql-lite-frontend/types/fulltext/text_vector.h"

namespace swizzle::sql {

/// Splits texts into words with positions, numbered across texts. `config` outlives it.
class TextAnalysis {
 public:
  explicit TextAnalysis(const TextConfig& config) noexcept : config_(config) {}

  /// Calls `take(word, place)`; stop words take a position, but are not passed.
  template <class Take>
  void read(std::string_view text, const Take& take) {
    TextParser parser{text};
    while (const auto token = parser.next()) {
      if (token->text.size() >= kWordLimit) continue;
      const TokenMeaning meaning = config_.look_up(*token);
      if (!meaning.is_known) continue;
      ++place_;
      if (meaning.word) take(*meaning.word, place_);
    }
  }
  /// Skips a position, so that the next word is not adjacent to the last one.
  void leave_gap() noexcept { ++place_; }

 private:
  const TextConfig& config_;
  std::uint64_t place_ = 0;
};

/// to_tsvector().
Value text_vector_of(Arena& arena, const TextConfig& config, std::string_view text);
/// Adds a text's words; a gap keeps the next text's words from being adjacent to them.
void add_words(Arena& arena, TextAnalysis& analysis, std::string_view text, WordsMet& words);

/// to_tsquery(), plainto_tsquery(), phraseto_tsquery(), websearch_to_tsquery().
enum class QueryForm : std::uint8_t { operators, plain, phrase, web };
Value text_query_of(Arena& arena, const TextConfig& config, QueryForm form, std::string_view text);

}  // namespace swizzle::sql
