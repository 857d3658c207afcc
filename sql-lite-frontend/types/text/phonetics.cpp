#include "sql-lite-frontend/types/text/phonetics.h"

#include <algorithm>
#include <array>

namespace swizzle::sql {
namespace {

bool is_english_letter(char letter) noexcept {
  return (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z');
}

char ascii_upper(char letter) noexcept {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

bool is_among(char letter, std::string_view letters) noexcept {
  return letter != '\0' && letters.contains(letter);
}

bool is_vowel(char letter) noexcept {
  return is_among(letter, "AEIOU");
}

/// Returns the class of a letter's sound, '0' for vowels and H, W and Y; another character itself.
char sound_class(char letter) noexcept {
  constexpr std::string_view kClasses = "01230120022455012623010202";
  const char upper = ascii_upper(letter);
  return is_english_letter(letter) ? kClasses[static_cast<std::size_t>(upper - 'A')] : upper;
}

/// A word in upper case, with no character before its beginning and after its end.
class LettersOfWord {
 public:
  explicit LettersOfWord(std::string_view text) : letters_(text) {
    std::ranges::transform(letters_, letters_.begin(), ascii_upper);
  }
  [[nodiscard]] std::ptrdiff_t size() const noexcept {
    return static_cast<std::ptrdiff_t>(letters_.size());
  }
  [[nodiscard]] char at(std::ptrdiff_t place) const noexcept {
    return place >= 0 && place < size() ? letters_[static_cast<std::size_t>(place)] : '\0';
  }

 private:
  std::string letters_;
};

/// Reads a word from its beginning to its end, a letter and what it changes at a time.
class MetaphoneReader {
 public:
  MetaphoneReader(std::string_view text, std::size_t most) : word_(text), most_(most) {}

  std::string read() {
    while (at_ < word_.size() && !is_english_letter(word_.at(at_))) ++at_;
    if (at_ == word_.size()) return {};
    read_beginning();
    for (; at_ < word_.size() && code_.size() < most_; ++at_) {
      const char letter = word_.at(at_);
      if (!is_english_letter(letter)) continue;
      if (letter == before() && letter != 'C') continue;
      read_letter(letter);
    }
    code_.resize(std::min(code_.size(), most_));
    return std::move(code_);
  }

 private:
  [[nodiscard]] char before(std::ptrdiff_t by = 1) const noexcept { return word_.at(at_ - by); }
  [[nodiscard]] char next(std::ptrdiff_t by = 1) const noexcept { return word_.at(at_ + by); }
  [[nodiscard]] bool is_softened() const noexcept { return is_among(next(), "EIY"); }

  void read_beginning() {
    const char first = word_.at(at_);
    if (first == 'A' && next() == 'E') {
      put("E", 2);
    } else if (is_vowel(first)) {
      put(std::string_view{&first, 1}, 1);
    } else if (is_among(first, "GKP") && next() == 'N') {
      put("N", 2);
    } else if (first == 'X') {
      put("S", 1);
    } else if (first == 'W' && is_among(next(), "RH")) {
      put(next() == 'R' ? "R" : "H", 2);
    } else if (first == 'W' && is_vowel(next())) {
      put("W", 2);
    }
  }

  void put(std::string_view code, std::ptrdiff_t read) {
    code_ += code;
    at_ += read;
  }
  /// Puts a code for the letter and the next one.
  void put_pair(std::string_view code) { put(code, 1); }

  void read_letter(char letter) {
    switch (letter) {
      case 'B':
        if (before() != 'M') code_ += 'B';
        return;
      case 'C':
        return read_c();
      case 'D':
        return next() == 'G' && is_among(next(2), "EIY") ? put_pair("J") : put("T", 0);
      case 'G':
        return read_g();
      case 'H':
        if (is_vowel(next()) && !is_among(before(), "CGPST")) code_ += 'H';
        return;
      case 'K':
        if (before() != 'C') code_ += 'K';
        return;
      case 'P':
        code_ += next() == 'H' ? 'F' : 'P';
        return;
      case 'S':
        return read_s();
      case 'T':
        return read_t();
      case 'W':
      case 'Y':
        if (is_vowel(next())) code_ += letter;
        return;
      default:
        return read_plain(letter);
    }
  }

  void read_plain(char letter) {
    constexpr std::string_view kLetters = "FJLMNRQVXZ";
    constexpr std::array<std::string_view, kLetters.size()> kCodes{"F", "J", "L", "M",  "N",
                                                                   "R", "K", "F", "KS", "S"};
    if (const std::size_t found = kLetters.find(letter); found != std::string_view::npos)
      code_ += kCodes[found];
  }

  void read_c() {
    if (is_softened()) {
      if (next() == 'I' && next(2) == 'A') {
        code_ += 'X';
      } else if (before() != 'S') {
        code_ += 'S';
      }
    } else if (next() == 'H') {
      put_pair(next(2) == 'R' || before() == 'S' ? "K" : "X");
    } else {
      code_ += 'K';
    }
  }

  void read_g() {
    if (next() == 'H') {
      if (!is_among(before(3), "BDH") && before(4) != 'H') put_pair("F");
    } else if (next() == 'N') {
      const bool is_silent = !is_english_letter(next(2)) || (next(2) == 'E' && next(3) == 'D');
      if (!is_silent) code_ += 'K';
    } else {
      code_ += is_softened() && before() != 'G' ? 'J' : 'K';
    }
  }

  void read_s() {
    if (next() == 'I' && is_among(next(2), "AO")) {
      code_ += 'X';
    } else if (next() == 'H') {
      put_pair("X");
    } else if (next() == 'C' && next(2) == 'H' && next(3) == 'W') {
      put("X", 2);
    } else {
      code_ += 'S';
    }
  }

  void read_t() {
    if (next() == 'I' && is_among(next(2), "AO")) {
      code_ += 'X';
    } else if (next() == 'H') {
      put_pair("0");
    } else {
      code_ += 'T';
    }
  }

  LettersOfWord word_;
  std::size_t most_;
  std::ptrdiff_t at_ = 0;
  std::string code_;
};

}  // namespace

std::string soundex(std::string_view text) {
  constexpr std::size_t kLength = 4;
  const auto first = std::ranges::find_if(text, is_english_letter);
  if (first == text.end()) return {};
  std::string code(1, ascii_upper(*first));
  for (auto at = first + 1; at != text.end() && code.size() < kLength; ++at) {
    const char sound = sound_class(*at);
    if (is_english_letter(*at) && sound != sound_class(*(at - 1)) && sound != '0') code += sound;
  }
  code.resize(kLength, '0');
  return code;
}

std::string metaphone(std::string_view text, std::size_t most) {
  return MetaphoneReader{text, most}.read();
}

}  // namespace swizzle::sql
