#include "sql-lite-frontend/types/fulltext/text_config.h"

#include <libstemmer.h>

#include <algorithm>
#include <memory>
#include <new>

namespace swizzle::sql {
namespace {

constexpr TextConfigInfo kConfigs[] = {
    {TextConfig::simple, 3748, "simple"},
    {TextConfig::english, 13164, "english"},
};
constexpr TextDictionaryInfo kDictionaries[] = {
    {TextDictionary::simple, 3765, "simple", 3727, ""},
    {TextDictionary::english_stem, 13163, "english_stem", 13150,
     "language = 'english', stopwords = 'english'"},
};

/// English words that say nothing about what a text is about; ascending.
constexpr std::string_view kEnglishStopWords[] = {
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
static_assert(std::ranges::is_sorted(kEnglishStopWords));

/// Letters beyond ASCII stay as they are, as everywhere with the collation "C".
std::string lowered(std::string_view token) {
  std::string word{token};
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return word;
}

struct StemmerDeleter {
  void operator()(sb_stemmer* stemmer) const noexcept { sb_stemmer_delete(stemmer); }
};

/// A stemmer keeps the word that it works at, so each thread has its own.
std::string stemmed(const std::string& word) {
  constexpr std::size_t kLongest = 1000;
  if (word.size() > kLongest) return word;
  thread_local const std::unique_ptr<sb_stemmer, StemmerDeleter> stemmer{
      sb_stemmer_new("english", "UTF_8")};
  if (stemmer == nullptr) throw std::bad_alloc{};
  const sb_symbol* const stem =
      sb_stemmer_stem(stemmer.get(), reinterpret_cast<const sb_symbol*>(word.data()),
                      static_cast<int>(word.size()));
  if (stem == nullptr) throw std::bad_alloc{};
  return {reinterpret_cast<const char*>(stem),
          static_cast<std::size_t>(sb_stemmer_length(stemmer.get()))};
}

template <class Info>
const Info* find_named(std::span<const Info> list, std::string_view name) noexcept {
  constexpr std::string_view kSchema = "pg_catalog.";
  if (name.starts_with(kSchema)) name.remove_prefix(kSchema.size());
  const auto found = std::ranges::find(list, name, &Info::name);
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

std::span<const TextConfigInfo> text_configs() noexcept {
  return kConfigs;
}
std::span<const TextDictionaryInfo> text_dictionaries() noexcept {
  return kDictionaries;
}
const TextConfigInfo* find_text_config(std::string_view name) noexcept {
  return find_named(text_configs(), name);
}
const TextDictionaryInfo* find_text_dictionary(std::string_view name) noexcept {
  return find_named(text_dictionaries(), name);
}

std::optional<TextDictionary> dictionary_of(TextConfig config, TokenKind kind) noexcept {
  switch (kind) {
    case TokenKind::none:
    case TokenKind::blank:
    case TokenKind::tag:
    case TokenKind::protocol:
    case TokenKind::entity:
      return std::nullopt;
    case TokenKind::asciiword:
    case TokenKind::word:
    case TokenKind::asciihword:
    case TokenKind::hword:
    case TokenKind::hword_asciipart:
    case TokenKind::hword_part:
      return config == TextConfig::english ? TextDictionary::english_stem : TextDictionary::simple;
    default:
      return TextDictionary::simple;
  }
}

std::optional<std::string> normalize(TextDictionary dictionary, std::string_view token) {
  std::string word = lowered(token);
  if (dictionary == TextDictionary::simple) return word;
  if (std::ranges::binary_search(kEnglishStopWords, word)) return std::nullopt;
  return stemmed(word);
}

}  // namespace swizzle::sql
