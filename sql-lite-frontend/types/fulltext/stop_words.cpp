#include "sql-lite-frontend/types/fulltext/stop_words.h"

#include <algorithm>
#include <map>

#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

struct BuiltinList {
  std::string_view language;
  std::string_view words;  ///< each followed by a blank
};

constexpr BuiltinList kBuiltinLists[] = {
#include "sql-lite-frontend/types/fulltext/stop_word_lists.inc"
};

StopWordsPtr builtin_list(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return std::make_shared<const StopWords>(std::move(words));
}

using Lists = std::map<std::string, StopWordsPtr, std::less<>>;

Lists& lists() {
  static Lists all = [] {
    Lists builtin;
    for (const BuiltinList& list : kBuiltinLists)
      builtin.emplace(list.language, builtin_list(list.words));
    return builtin;
  }();
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
  lists().insert_or_assign(name, std::make_shared<const StopWords>(std::move(words)));
  return {};
}

}  // namespace swizzle::sql
