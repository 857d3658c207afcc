#include "sql-lite-frontend/types/fulltext/text_config.h"

#include <libstemmer.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::uint32_t kSimpleTemplate = 3727;
constexpr std::uint32_t kSnowballTemplate = 13150;

constexpr TextDictionaryInfo snowball(int number, std::uint32_t oid, std::string_view name,
                                      std::string_view options, std::string_view language) {
  return {TextDictionary(number), oid, name, kSnowballTemplate, options, language};
}
/// `ascii_words`: the number of another language's dictionary, where it has them.
constexpr TextConfigInfo snowball_config(int number, std::uint32_t oid, std::string_view name,
                                         int ascii_words = 0) {
  return {TextConfig(number), oid, name, TextDictionary(number),
          TextDictionary(ascii_words != 0 ? ascii_words : number)};
}

constexpr TextConfigInfo kConfigs[] = {
    {TextConfig::simple, 3748, "simple", TextDictionary::simple, TextDictionary::simple},
    snowball_config(1, 13152, "arabic"),
    snowball_config(2, 13154, "armenian"),
    snowball_config(3, 13156, "basque"),
    snowball_config(4, 13158, "catalan"),
    snowball_config(5, 13164, "english"),
    snowball_config(6, 13172, "greek"),
    snowball_config(7, 13174, "hindi", 5),
    snowball_config(8, 13178, "indonesian"),
    snowball_config(9, 13180, "irish"),
    snowball_config(10, 13184, "lithuanian"),
    snowball_config(11, 13192, "romanian"),
    snowball_config(12, 13196, "serbian"),
    snowball_config(13, 13202, "tamil"),
    snowball_config(14, 13206, "yiddish"),
};
constexpr TextDictionaryInfo kDictionaries[] = {
    {TextDictionary::simple, 3765, "simple", kSimpleTemplate, "", ""},
    snowball(1, 13151, "arabic_stem", "language = 'arabic'", "arabic"),
    snowball(2, 13153, "armenian_stem", "language = 'armenian'", "armenian"),
    snowball(3, 13155, "basque_stem", "language = 'basque'", "basque"),
    snowball(4, 13157, "catalan_stem", "language = 'catalan'", "catalan"),
    snowball(5, 13163, "english_stem", "language = 'english', stopwords = 'english'", "english"),
    snowball(6, 13171, "greek_stem", "language = 'greek'", "greek"),
    snowball(7, 13173, "hindi_stem", "language = 'hindi'", "hindi"),
    snowball(8, 13177, "indonesian_stem", "language = 'indonesian'", "indonesian"),
    snowball(9, 13179, "irish_stem", "language = 'irish'", "irish"),
    snowball(10, 13183, "lithuanian_stem", "language = 'lithuanian'", "lithuanian"),
    snowball(11, 13191, "romanian_stem", "language = 'romanian'", "romanian"),
    snowball(12, 13195, "serbian_stem", "language = 'serbian'", "serbian"),
    snowball(13, 13201, "tamil_stem", "language = 'tamil'", "tamil"),
    snowball(14, 13205, "yiddish_stem", "language = 'yiddish'", "yiddish"),
};
static_assert(std::size(kConfigs) == std::size(kDictionaries));
constexpr TextTemplateInfo kTemplates[] = {
    {kSimpleTemplate, "simple"},
    {kSnowballTemplate, "snowball"},
};

/// PostgreSQL's configurations whose lists of stop words we have not: without these a text would
/// have other words than there.
constexpr std::string_view kWithoutStopWords[] = {
    "danish", "dutch",     "finnish",    "french",  "german",  "hungarian", "italian",
    "nepali", "norwegian", "portuguese", "russian", "spanish", "swedish",   "turkish",
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
sb_stemmer* stemmer_of(TextDictionary dictionary) {
  using Stemmer = std::unique_ptr<sb_stemmer, StemmerDeleter>;
  thread_local std::array<Stemmer, std::size(kDictionaries)> stemmers;
  const auto number = static_cast<std::size_t>(dictionary);
  Stemmer& stemmer = stemmers[number];
  if (stemmer == nullptr) {
    const std::string language{kDictionaries[number].language};
    stemmer.reset(sb_stemmer_new(language.c_str(), "UTF_8"));
    if (stemmer == nullptr) throw std::bad_alloc{};
  }
  return stemmer.get();
}

std::string stemmed(TextDictionary dictionary, const std::string& word) {
  constexpr std::size_t kLongest = 1000;
  if (word.size() > kLongest) return word;
  sb_stemmer* const stemmer = stemmer_of(dictionary);
  const sb_symbol* const stem = sb_stemmer_stem(
      stemmer, reinterpret_cast<const sb_symbol*>(word.data()), static_cast<int>(word.size()));
  if (stem == nullptr) throw std::bad_alloc{};
  return {reinterpret_cast<const char*>(stem),
          static_cast<std::size_t>(sb_stemmer_length(stemmer))};
}

constexpr std::string_view without_schema(std::string_view name) noexcept {
  constexpr std::string_view kSchema = "pg_catalog.";
  if (name.starts_with(kSchema)) name.remove_prefix(kSchema.size());
  return name;
}

template <class Info>
const Info* find_named(std::span<const Info> list, std::string_view name) noexcept {
  const auto found = std::ranges::find(list, without_schema(name), &Info::name);
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

std::span<const TextConfigInfo> text_configs() noexcept {
  return kConfigs;
}
std::span<const TextDictionaryInfo> text_dictionaries() noexcept {
  return kDictionaries;
}
std::span<const TextTemplateInfo> text_templates() noexcept {
  return kTemplates;
}
const TextConfigInfo* find_text_config(std::string_view name) noexcept {
  return find_named(text_configs(), name);
}
const TextDictionaryInfo* find_text_dictionary(std::string_view name) noexcept {
  return find_named(text_dictionaries(), name);
}

void throw_no_text_search(std::string_view kind, std::string_view name) {
  constexpr std::string_view kStem = "_stem";
  std::string_view language = without_schema(name);
  if (kind == "dictionary" && language.ends_with(kStem)) language.remove_suffix(kStem.size());
  if (std::ranges::find(kWithoutStopWords, language) != std::end(kWithoutStopWords)) {
    throw sql_error(sqlstate::feature_not_supported, "text search {} \"{}\" is not supported", kind,
                    name)
        .with_detail("Its list of stop words is not part of this server.");
  }
  throw_error(sqlstate::undefined_object, "text search {} \"{}\" does not exist", kind, name);
}

std::optional<TextDictionary> dictionary_of(TextConfig config, TokenKind kind) noexcept {
  const TextConfigInfo& info = kConfigs[static_cast<std::size_t>(config)];
  switch (kind) {
    case TokenKind::none:
    case TokenKind::blank:
    case TokenKind::tag:
    case TokenKind::protocol:
    case TokenKind::entity:
      return std::nullopt;
    case TokenKind::asciiword:
    case TokenKind::asciihword:
    case TokenKind::hword_asciipart:
      return info.ascii_words;
    case TokenKind::word:
    case TokenKind::hword:
    case TokenKind::hword_part:
      return info.words;
    default:
      return TextDictionary::simple;
  }
}

std::optional<std::string> normalize(TextDictionary dictionary, std::string_view token) {
  std::string word = lowered(token);
  if (dictionary == TextDictionary::simple) return word;
  const std::string_view language = kDictionaries[static_cast<std::size_t>(dictionary)].language;
  const bool is_stop_word = word.empty() || (language == "english" &&
                                             std::ranges::binary_search(kEnglishStopWords, word));
  if (is_stop_word) return std::nullopt;
  return stemmed(dictionary, word);
}

}  // namespace swizzle::sql
