#include "sql-lite-frontend/types/fulltext/stop_words.h"

#include <algorithm>
#include <map>

#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

/// English words that do not indicate a text's subject; ascending.
constexpr std::string_view kEnglish[] = {
    "a",      "about",  "above", "after", "again",   "against",   "all",        "am",
    "an",     "and",    "any",   "are",   "as",      "at",        "be",         "because",
    "been",   "before", "being", "below", "between", "both",      "but",        "by",
    "can",    "did",    "do",    "does",  "doing",   "don",       "down",       "during",
    "each",   "few",    "for",   "from",  "further", "had",       "has",        "have",
    "having", "he",     "her",   "here",  "hers",    "herself",   "him",        "himself",
    "his",    "how",    "i",     "if",    "in",      "into",      "is",         "it",
    "its",    "itself", "just",  "me",    "more",    "most",      "my",         "myself",
    "no",     "nor",    "not",   "now",   "of",      "off",       "on",         "once",
    "only",   "or",     "other", "our",   "ours",    "ourselves", "out",        "over",
    "own",    "s",      "same",  "she",   "should",  "so",        "some",       "such",
    "t",      "than",   "that",  "the",   "their",   "theirs",    "them",       "themselves",
    "then",   "there",  "these", "they",  "this",    "those",     "through",    "to",
    "too",    "under",  "until", "up",    "very",    "was",       "we",         "were",
    "what",   "when",   "where", "which", "while",   "who",       "whom",       "why",
    "will",   "with",   "you",   "your",  "yours",   "yourself",  "yourselves",
};
static_assert(std::ranges::is_sorted(kEnglish));

using Lists = std::map<std::string, StopWordsPtr, std::less<>>;

Lists& lists() {
  static Lists all{{"english", std::make_shared<const StopWords>(std::vector<std::string>(
                                   std::begin(kEnglish), std::end(kEnglish)))}};
  return all;
}

/// Returns the line up to its first blank, in the form of look-ups.
std::string word_of(std::string_view line) {
  std::string word{line.begin(), std::ranges::find_if(line, is_space)};
  std::ranges::transform(word, word.begin(), to_lower);
  return word;
}

}  // namespace

StopWords::StopWords(std::vector<std::string> words) : words_(std::move(words)) {
  std::ranges::sort(words_);
}

bool StopWords::contains(std::string_view word) const {
  return std::ranges::binary_search(words_, word);
}

StopWordsPtr stop_words(std::string_view name) {
  const auto found = lists().find(name);
  return found == lists().end() ? nullptr : found->second;
}

Result<> add_stop_words(const std::string& name, std::string_view text) {
  try {
    verify_utf8(text);
  } catch (SqlError& error) {
    return fail(std::move(error).take_error());
  }
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (std::string word = word_of(text.substr(0, end)); !word.empty())
      words.push_back(std::move(word));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  lists().emplace(name, std::make_shared<const StopWords>(std::move(words)));
  return {};
}

}  // namespace swizzle::sql
