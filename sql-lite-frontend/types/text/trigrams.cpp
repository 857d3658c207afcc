#include "sql-lite-frontend/types/text/trigrams.h"

#include <algorithm>
#include <string>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {
namespace {

bool is_word_letter(char letter) noexcept {
  return is_alpha(letter) || is_digit(letter);
}

void take_trigrams(std::string_view padded, std::vector<Trigram>& list) {
  constexpr std::size_t kWorkOfLetter = 8;
  yield_point(padded.size() * kWorkOfLetter);
  for (std::size_t i = 0; i + 3 <= padded.size(); ++i) {
    list.push_back({padded[i], padded[i + 1], padded[i + 2]});
  }
}

/// Collector of the trigrams between the wildcards of a pattern. If a word begins or ends at a
/// wildcard, the letter before or after it is unknown.
class PatternWords {
 public:
  std::vector<Trigram> list() && { return std::move(list_); }

  void letter(char letter) {
    if (word_.empty() && !is_cut_) word_ = "  ";
    word_ += to_lower(letter);
    is_cut_ = true;
  }
  void boundary() {
    if (!word_.empty()) word_ += ' ';
    end();
    is_cut_ = false;
  }
  void wildcard() {
    end();
    is_cut_ = true;
  }

 private:
  void end() {
    take_trigrams(word_, list_);
    word_.clear();
  }

  std::vector<Trigram> list_;
  std::string word_;
  bool is_cut_ = false;
};

}  // namespace

Trigrams trigrams_of(std::string_view text) {
  Trigrams all;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word_letter(text[at])) {
      ++at;
      continue;
    }
    std::string word = "  ";
    for (; at < text.size() && is_word_letter(text[at]); ++at) word += to_lower(text[at]);
    word += ' ';
    all.word_starts.push_back(all.list.size());
    take_trigrams(word, all.list);
  }
  return all;
}

std::vector<Trigram> each_once(std::vector<Trigram> list) {
  std::ranges::sort(list);
  const auto repeated = std::ranges::unique(list);
  list.erase(repeated.begin(), repeated.end());
  return list;
}

std::vector<Trigram> trigrams_of_pattern(std::string_view pattern) {
  PatternWords words;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '%' || pattern[i] == '_') {
      words.wildcard();
      continue;
    }
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    if (is_word_letter(pattern[i])) {
      words.letter(pattern[i]);
    } else {
      words.boundary();
    }
  }
  words.boundary();
  return each_once(std::move(words).list());
}

}  // namespace swizzle::sql
