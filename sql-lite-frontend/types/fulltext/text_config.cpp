#include "sql-lite-frontend/types/fulltext/text_config.h"

#include <libstemmer.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <vector>

#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/unaccent.h"

namespace swizzle::sql {
namespace {

constexpr std::uint32_t kSimple = 3765;

constexpr TextDictionaryInfo snowball(std::uint32_t oid, std::string_view name,
                                      std::string_view options, std::string_view language) {
  return {oid, name, kSnowballTextTemplate, options, language};
}
/// The dictionary's oid precedes the configuration's. `ascii_words`: another language's dictionary
/// for ASCII words, if the configuration has one.
constexpr TextConfigInfo snowball_config(std::uint32_t oid, std::string_view name,
                                         std::uint32_t ascii_words = 0) {
  return {oid, name, oid - 1, ascii_words != 0 ? ascii_words : oid - 1};
}

constexpr TextConfigInfo kConfigs[] = {
    {3748, "simple", kSimple, kSimple},       snowball_config(13152, "arabic"),
    snowball_config(13154, "armenian"),       snowball_config(13156, "basque"),
    snowball_config(13158, "catalan"),        snowball_config(13160, "danish"),
    snowball_config(13162, "dutch"),          snowball_config(13164, "english"),
    snowball_config(13166, "finnish"),        snowball_config(13168, "french"),
    snowball_config(13170, "german"),         snowball_config(13172, "greek"),
    snowball_config(13174, "hindi", 13163),   snowball_config(13176, "hungarian"),
    snowball_config(13178, "indonesian"),     snowball_config(13180, "irish"),
    snowball_config(13182, "italian"),        snowball_config(13184, "lithuanian"),
    snowball_config(13186, "nepali"),         snowball_config(13188, "norwegian"),
    snowball_config(13190, "portuguese"),     snowball_config(13192, "romanian"),
    snowball_config(13194, "russian", 13163), snowball_config(13196, "serbian"),
    snowball_config(13198, "spanish"),        snowball_config(13200, "swedish"),
    snowball_config(13202, "tamil"),          snowball_config(13204, "turkish"),
    snowball_config(13206, "yiddish"),
};
constexpr TextDictionaryInfo kDictionaries[] = {
    {kSimple, "simple", kSimpleTextTemplate, "", ""},
    snowball(13151, "arabic_stem", "language = 'arabic'", "arabic"),
    snowball(13153, "armenian_stem", "language = 'armenian'", "armenian"),
    snowball(13155, "basque_stem", "language = 'basque'", "basque"),
    snowball(13157, "catalan_stem", "language = 'catalan'", "catalan"),
    snowball(13159, "danish_stem", "language = 'danish', stopwords = 'danish'", "danish"),
    snowball(13161, "dutch_stem", "language = 'dutch', stopwords = 'dutch'", "dutch"),
    snowball(13163, "english_stem", "language = 'english', stopwords = 'english'", "english"),
    snowball(13165, "finnish_stem", "language = 'finnish', stopwords = 'finnish'", "finnish"),
    snowball(13167, "french_stem", "language = 'french', stopwords = 'french'", "french"),
    snowball(13169, "german_stem", "language = 'german', stopwords = 'german'", "german"),
    snowball(13171, "greek_stem", "language = 'greek'", "greek"),
    snowball(13173, "hindi_stem", "language = 'hindi'", "hindi"),
    snowball(13175, "hungarian_stem", "language = 'hungarian', stopwords = 'hungarian'",
             "hungarian"),
    snowball(13177, "indonesian_stem", "language = 'indonesian'", "indonesian"),
    snowball(13179, "irish_stem", "language = 'irish'", "irish"),
    snowball(13181, "italian_stem", "language = 'italian', stopwords = 'italian'", "italian"),
    snowball(13183, "lithuanian_stem", "language = 'lithuanian'", "lithuanian"),
    snowball(13185, "nepali_stem", "language = 'nepali', stopwords = 'nepali'", "nepali"),
    snowball(13187, "norwegian_stem", "language = 'norwegian', stopwords = 'norwegian'",
             "norwegian"),
    snowball(13189, "portuguese_stem", "language = 'portuguese', stopwords = 'portuguese'",
             "portuguese"),
    snowball(13191, "romanian_stem", "language = 'romanian'", "romanian"),
    snowball(13193, "russian_stem", "language = 'russian', stopwords = 'russian'", "russian"),
    snowball(13195, "serbian_stem", "language = 'serbian'", "serbian"),
    snowball(13197, "spanish_stem", "language = 'spanish', stopwords = 'spanish'", "spanish"),
    snowball(13199, "swedish_stem", "language = 'swedish', stopwords = 'swedish'", "swedish"),
    snowball(13201, "tamil_stem", "language = 'tamil'", "tamil"),
    snowball(13203, "turkish_stem", "language = 'turkish', stopwords = 'turkish'", "turkish"),
    snowball(13205, "yiddish_stem", "language = 'yiddish'", "yiddish"),
};
static_assert(std::size(kConfigs) == std::size(kDictionaries));
constexpr TextTemplateInfo kTemplates[] = {
    {kSimpleTextTemplate, "simple"},
    {kSnowballTextTemplate, "snowball"},
};

constexpr std::string_view kLanguages[] = {
    "arabic",    "armenian",   "basque",     "catalan",  "danish",     "dutch",
    "english",   "finnish",    "french",     "german",   "greek",      "hindi",
    "hungarian", "indonesian", "irish",      "italian",  "lithuanian", "nepali",
    "norwegian", "porter",     "portuguese", "romanian", "russian",    "serbian",
    "spanish",   "swedish",    "tamil",      "turkish",  "yiddish",
};
static_assert(std::ranges::is_sorted(kLanguages));

/// Leaves letters beyond ASCII alone, as everywhere under the collation "C".
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

/// Each thread has its own stemmers, because a stemmer keeps the word being processed.
sb_stemmer* stemmer_of(std::uint8_t language) {
  using Stemmer = std::unique_ptr<sb_stemmer, StemmerDeleter>;
  thread_local std::array<Stemmer, std::size(kLanguages)> stemmers;
  Stemmer& stemmer = stemmers[language];
  if (stemmer == nullptr) {
    const std::string name{kLanguages[language]};
    stemmer.reset(sb_stemmer_new(name.c_str(), "UTF_8"));
    if (stemmer == nullptr) throw std::bad_alloc{};
  }
  return stemmer.get();
}

std::string stemmed(std::uint8_t language, const std::string& word) {
  constexpr std::size_t kLongest = 1000;
  if (word.size() > kLongest) return word;
  sb_stemmer* const stemmer = stemmer_of(language);
  const sb_symbol* const stem = sb_stemmer_stem(
      stemmer, reinterpret_cast<const sb_symbol*>(word.data()), static_cast<int>(word.size()));
  if (stem == nullptr) throw std::bad_alloc{};
  return {reinterpret_cast<const char*>(stem),
          static_cast<std::size_t>(sb_stemmer_length(stemmer))};
}

template <class Info, class Key>
const Info* find_in(std::span<const Info> list, const Key& key, Key Info::* member) noexcept {
  const auto found = std::ranges::find(list, key, member);
  return found == list.end() ? nullptr : &*found;
}

constexpr bool needs_stop_words(const TextDictionaryInfo& info) noexcept {
  return info.options.contains("stopwords");
}

TextDictionaryPtr make_dictionary(const TextDictionaryInfo& info) {
  auto made = std::make_shared<TextDictionary>();
  made->oid = info.oid;
  if (!info.language.empty()) {
    made->language = static_cast<std::uint8_t>(std::ranges::lower_bound(kLanguages, info.language) -
                                               std::begin(kLanguages));
  }
  if (needs_stop_words(info)) made->stop_words = stop_words(info.language);
  return made;
}

/// In the order of text_dictionaries().
const std::vector<TextDictionaryPtr>& all_dictionaries() {
  static const auto made = [] {
    std::vector<TextDictionaryPtr> list;
    for (const TextDictionaryInfo& info : text_dictionaries())
      list.push_back(make_dictionary(info));
    return list;
  }();
  return made;
}

TextConfigPtr make_config(const TextConfigInfo& info) {
  auto made = std::make_shared<TextConfig>();
  made->oid = info.oid;
  for (const TokenKindInfo& kind : token_kinds()) {
    if (auto dictionary = builtin_text_dictionary(dictionary_of(info, kind.kind)))
      made->dictionaries[static_cast<std::size_t>(kind.kind)].push_back(std::move(dictionary));
  }
  return made;
}

/// In the order of text_configs().
const std::vector<TextConfigPtr>& all_configs() {
  static const auto made = [] {
    std::vector<TextConfigPtr> list;
    for (const TextConfigInfo& info : text_configs()) list.push_back(make_config(info));
    return list;
  }();
  return made;
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
  return find_in(text_configs(), name, &TextConfigInfo::name);
}
const TextConfigInfo* find_text_config(std::uint32_t oid) noexcept {
  return find_in(text_configs(), oid, &TextConfigInfo::oid);
}
const TextDictionaryInfo* find_text_dictionary(std::string_view name) noexcept {
  return find_in(text_dictionaries(), name, &TextDictionaryInfo::name);
}
const TextDictionaryInfo* find_text_dictionary(std::uint32_t oid) noexcept {
  return find_in(text_dictionaries(), oid, &TextDictionaryInfo::oid);
}
TextConfigPtr builtin_text_config(std::uint32_t oid) {
  const TextConfigInfo* const info = find_text_config(oid);
  return info == nullptr ? nullptr
                         : all_configs()[static_cast<std::size_t>(info - text_configs().data())];
}
TextDictionaryPtr builtin_text_dictionary(std::uint32_t oid) {
  const TextDictionaryInfo* const info = find_text_dictionary(oid);
  return info == nullptr
             ? nullptr
             : all_dictionaries()[static_cast<std::size_t>(info - text_dictionaries().data())];
}

std::span<const std::string_view> snowball_languages() noexcept {
  return kLanguages;
}

void throw_no_text_search(std::string_view kind, std::string_view name) {
  throw_error(sqlstate::undefined_object, "text search {} \"{}\" does not exist", kind, name);
}

std::uint32_t dictionary_of(const TextConfigInfo& config, TokenKind kind) noexcept {
  switch (kind) {
    case TokenKind::none:
    case TokenKind::blank:
    case TokenKind::tag:
    case TokenKind::protocol:
    case TokenKind::entity:
      return 0;
    case TokenKind::asciiword:
    case TokenKind::asciihword:
    case TokenKind::hword_asciipart:
      return config.ascii_words;
    case TokenKind::word:
    case TokenKind::hword:
    case TokenKind::hword_part:
      return config.words;
    default:
      return kSimple;
  }
}

TokenMeaning TextDictionary::look_up(std::string_view token) const {
  if (removes_marks) {
    std::string plain = without_marks(token);
    if (plain == token) return {};
    return {true, std::move(plain), true};
  }
  std::string word = lowered(token);
  const bool is_stop_word =
      (language && word.empty()) || (stop_words && stop_words->contains(word));
  if (is_stop_word) return {true, std::nullopt};
  if (language) return {true, stemmed(*language, word)};
  if (!accepts_unlisted) return {};
  return {true, std::move(word)};
}

TokenMeaning TextConfig::look_up(const TextToken& token) const {
  std::string filtered;
  std::string_view text = token.text;
  for (const TextDictionaryPtr& dictionary : of(token.kind)) {
    TokenMeaning meaning = dictionary->look_up(text);
    if (!meaning.is_known) continue;
    if (!meaning.is_filtered) return meaning;
    filtered = *std::move(meaning.word);
    text = filtered;
  }
  return {};
}

}  // namespace swizzle::sql
