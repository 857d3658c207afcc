#include <algorithm>
#include <initializer_list>

#include "sql-lite-frontend/types/text/phonetics.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kCodeLength = 4;

bool is_vowel_or_y(char letter) noexcept {
  return letter != '\0' && std::string_view{"AEIOUY"}.contains(letter);
}

/// Reads a word from its beginning to its end. Each letter has a function, whose rules are tried in
/// order; a rule puts codes and says how many letters it has read.
class DoubleMetaphoneReader {
 public:
  explicit DoubleMetaphoneReader(std::string_view text) : word_(text) {
    std::ranges::transform(word_, word_.begin(), [](char letter) {
      return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
    });
    size_ = static_cast<std::ptrdiff_t>(word_.size());
    is_slavic_ = word_.contains('W') || word_.contains('K') || word_.contains("CZ");
    // The rules look a few letters beyond the end.
    word_ += "     ";
  }

  DoubleMetaphone read() {
    if (has(0, {"GN", "KN", "PN", "WR", "PS"})) at_ = 1;
    if (letter(0) == 'X') put("S", 1);
    while (at_ < size_ &&
           (codes_.primary.size() < kCodeLength || codes_.secondary.size() < kCodeLength)) {
      read_letter(letter(at_));
    }
    codes_.primary.resize(std::min(codes_.primary.size(), kCodeLength));
    codes_.secondary.resize(std::min(codes_.secondary.size(), kCodeLength));
    return std::move(codes_);
  }

 private:
  using Words = std::initializer_list<std::string_view>;

  [[nodiscard]] char letter(std::ptrdiff_t place) const noexcept {
    const auto end = static_cast<std::ptrdiff_t>(word_.size());
    return place >= 0 && place < end ? word_[static_cast<std::size_t>(place)] : '\0';
  }
  [[nodiscard]] char next(std::ptrdiff_t by = 1) const noexcept { return letter(at_ + by); }
  [[nodiscard]] bool has(std::ptrdiff_t place, Words words) const noexcept {
    if (place < 0 || place >= static_cast<std::ptrdiff_t>(word_.size())) return false;
    const std::string_view rest = std::string_view{word_}.substr(static_cast<std::size_t>(place));
    return std::ranges::any_of(words, [&](std::string_view one) { return rest.starts_with(one); });
  }
  [[nodiscard]] bool has_here(Words words) const noexcept { return has(at_, words); }
  [[nodiscard]] bool has_next(Words words) const noexcept { return has(at_ + 1, words); }
  [[nodiscard]] bool has_one(std::ptrdiff_t place, std::string_view letters) const noexcept {
    const char one = letter(place);
    return one != '\0' && letters.contains(one);
  }
  [[nodiscard]] bool vowel(std::ptrdiff_t place) const noexcept {
    return is_vowel_or_y(letter(place));
  }
  [[nodiscard]] std::ptrdiff_t last() const noexcept { return size_ - 1; }
  [[nodiscard]] bool is_germanic() const noexcept { return has(0, {"VAN ", "VON ", "SCH"}); }

  void put(std::string_view code, std::ptrdiff_t read) { put(code, code, read); }
  void put(std::string_view primary, std::string_view secondary, std::ptrdiff_t read) {
    codes_.primary += primary;
    codes_.secondary += secondary;
    at_ += read;
  }
  /// Reads the letter, and the next one if it is among those.
  void put_with(std::string_view code, std::string_view followers) {
    put(code, has_one(at_ + 1, followers) ? 2 : 1);
  }

  void read_letter(char one) {
    constexpr char kCedilla = '\xC7';  // in Latin-1
    constexpr char kTilde = '\xD1';
    switch (one) {
      case 'A':
      case 'E':
      case 'I':
      case 'O':
      case 'U':
      case 'Y':
        return put(at_ == 0 ? "A" : "", 1);
      case 'B':
        return put_with("P", "B");
      case kCedilla:
        return put("S", 1);
      case 'C':
        return read_c();
      case 'D':
        return read_d();
      case 'F':
        return put_with("F", "F");
      case 'G':
        return read_g();
      case 'H':
        return (at_ == 0 || vowel(at_ - 1)) && vowel(at_ + 1) ? put("H", 2) : put("", 1);
      case 'J':
        return read_j();
      case 'K':
        return put_with("K", "K");
      case 'L':
        return read_l();
      case 'M':
        return read_m();
      case 'N':
        return put_with("N", "N");
      case kTilde:
        return put("N", 1);
      case 'P':
        return next() == 'H' ? put("F", 2) : put_with("P", "PB");
      case 'Q':
        return put_with("K", "Q");
      case 'R':
        return read_r();
      case 'S':
        return read_s();
      case 'T':
        return read_t();
      case 'V':
        return put_with("F", "V");
      case 'W':
        return read_w();
      case 'X':
        return read_x();
      case 'Z':
        return read_z();
      default:
        ++at_;
    }
  }

  void read_c() {
    // Bacher, Macher, Acherman; not Bacci.
    if (at_ > 1 && !vowel(at_ - 2) && has(at_ - 1, {"ACH"}) && next(2) != 'I' &&
        (next(2) != 'E' || has(at_ - 2, {"BACHER", "MACHER"}))) {
      return put("K", 2);
    }
    if (at_ == 0 && has_here({"CAESAR"})) return put("S", 2);
    if (has_here({"CHIA"})) return put("K", 2);
    if (has_here({"CH"})) return read_ch();
    if (has_here({"CZ"}) && !has(at_ - 2, {"WICZ"})) return put("S", "X", 2);
    if (has_next({"CIA"})) return put("X", 3);
    if (has_here({"CC"}) && !(at_ == 1 && letter(0) == 'M')) {
      if (!has_one(at_ + 2, "IEH") || has(at_ + 2, {"HU"})) return put("K", 2);
      const bool is_hard = (at_ == 1 && letter(0) == 'A') || has(at_ - 1, {"UCCEE", "UCCES"});
      return put(is_hard ? "KS" : "X", 3);
    }
    if (has_here({"CK", "CG", "CQ"})) return put("K", 2);
    if (has_here({"CI", "CE", "CY"}))
      return has_here({"CIO", "CIE", "CIA"}) ? put("S", "X", 2) : put("S", 2);
    if (has_next({" C", " Q", " G"})) return put("K", 3);
    return put("K", has_one(at_ + 1, "CKQ") && !has_next({"CE", "CI"}) ? 2 : 1);
  }

  void read_ch() {
    if (at_ > 0 && has_here({"CHAE"})) return put("K", "X", 2);
    const bool is_greek =
        at_ == 0 && has(1, {"HARAC", "HARIS", "HOR", "HYM", "HIA", "HEM"}) && !has(0, {"CHORE"});
    if (is_greek) return put("K", 2);
    const bool is_hard = is_germanic() || has(at_ - 2, {"ORCHES", "ARCHIT", "ORCHID"}) ||
                         has_one(at_ + 2, "TS") ||
                         ((at_ == 0 || has_one(at_ - 1, "AOUE")) && has_one(at_ + 2, "LRNMBHFVW "));
    if (is_hard) return put("K", 2);
    if (at_ == 0) return put("X", 2);
    return has(0, {"MC"}) ? put("K", 2) : put("X", "K", 2);
  }

  void read_d() {
    if (has_here({"DG"})) return has_one(at_ + 2, "IEY") ? put("J", 3) : put("TK", 2);
    return put_with("T", "TD");
  }

  void read_g() {
    if (next() == 'H') return read_gh();
    if (next() == 'N') return read_gn();
    if (has_next({"LI"}) && !is_slavic_) return put("KL", "L", 2);
    if (at_ == 0 && (next() == 'Y' || has_next({"ES", "EP", "EB", "EL", "EY", "IB", "IL", "IN",
                                                "IE", "EI", "ER"}))) {
      return put("K", "J", 2);
    }
    if ((has_next({"ER"}) || next() == 'Y') && !has(0, {"DANGER", "RANGER", "MANGER"}) &&
        !has_one(at_ - 1, "EI") && !has(at_ - 1, {"RGY", "OGY"})) {
      return put("K", "J", 2);
    }
    if (has_one(at_ + 1, "EIY") || has(at_ - 1, {"AGGI", "OGGI"})) {
      if (is_germanic() || has_next({"ET"})) return put("K", 2);
      return has_next({"IER "}) ? put("J", 2) : put("J", "K", 2);
    }
    return put_with("K", "G");
  }

  void read_gh() {
    if (at_ > 0 && !vowel(at_ - 1)) return put("K", 2);
    if (at_ == 0) return put(next(2) == 'I' ? "J" : "K", 2);
    const bool is_silent = (at_ > 1 && has_one(at_ - 2, "BHD")) ||
                           (at_ > 2 && has_one(at_ - 3, "BHD")) ||
                           (at_ > 3 && has_one(at_ - 4, "BH"));
    if (is_silent) return put("", 2);
    if (at_ > 2 && letter(at_ - 1) == 'U' && has_one(at_ - 3, "CGLRT")) return put("F", 2);
    return put(letter(at_ - 1) != 'I' ? "K" : "", 2);
  }

  void read_gn() {
    if (at_ == 1 && vowel(0) && !is_slavic_) return put("KN", "N", 2);
    const bool is_nasal = !has(at_ + 2, {"EY"}) && next() != 'Y' && !is_slavic_;
    return is_nasal ? put("N", "KN", 2) : put("KN", 2);
  }

  void read_j() {
    if (has_here({"JOSE"}) || has(0, {"SAN "})) {
      const bool is_spanish = (at_ == 0 && letter(4) == ' ') || has(0, {"SAN "});
      return is_spanish ? put("H", 1) : put("J", "H", 1);
    }
    if (at_ == 0) {
      put("J", "A", 0);
    } else if (vowel(at_ - 1) && !is_slavic_ && has_one(at_ + 1, "AO")) {
      put("J", "H", 0);
    } else if (at_ == last()) {
      put("J", "", 0);
    } else if (!has_one(at_ + 1, "LTKSNMBZ") && !has_one(at_ - 1, "SKL")) {
      put("J", 0);
    }
    at_ += next() == 'J' ? 2 : 1;
  }

  void read_l() {
    if (next() != 'L') return put("L", 1);
    const bool is_spanish =
        (at_ == size_ - 3 && has(at_ - 1, {"ILLO", "ILLA", "ALLE"})) ||
        ((has(last() - 1, {"AS", "OS"}) || has_one(last(), "AO")) && has(at_ - 1, {"ALLE"}));
    return is_spanish ? put("L", "", 2) : put("L", 2);
  }

  void read_m() {
    const bool is_dumb = has(at_ - 1, {"UMB"}) && (at_ + 1 == last() || has(at_ + 2, {"ER"}));
    return put("M", is_dumb || next() == 'M' ? 2 : 1);
  }

  void read_r() {
    const bool is_french =
        at_ == last() && !is_slavic_ && has(at_ - 2, {"IE"}) && !has(at_ - 4, {"ME", "MA"});
    return put(is_french ? "" : "R", "R", next() == 'R' ? 2 : 1);
  }

  void read_s() {
    if (has(at_ - 1, {"ISL", "YSL"})) return put("", 1);
    if (at_ == 0 && has_here({"SUGAR"})) return put("X", "S", 1);
    if (has_here({"SH"})) return put(has_next({"HEIM", "HOEK", "HOLM", "HOLZ"}) ? "S" : "X", 2);
    if (has_here({"SIO", "SIA"})) return is_slavic_ ? put("S", 3) : put("S", "X", 3);
    if ((at_ == 0 && has_one(1, "MNLW")) || next() == 'Z')
      return put("S", "X", next() == 'Z' ? 2 : 1);
    if (has_here({"SC"})) return read_sc();
    const bool is_french = at_ == last() && has(at_ - 2, {"AI", "OI"});
    return put(is_french ? "" : "S", "S", has_one(at_ + 1, "SZ") ? 2 : 1);
  }

  void read_sc() {
    if (next(2) != 'H') return put(has_one(at_ + 2, "IEY") ? "S" : "SK", 3);
    if (has(at_ + 3, {"ER", "EN"})) return put("X", "SK", 3);
    if (has(at_ + 3, {"OO", "UY", "ED", "EM"})) return put("SK", 3);
    return at_ == 0 && !vowel(3) && letter(3) != 'W' ? put("X", "S", 3) : put("X", 3);
  }

  void read_t() {
    if (has_here({"TION", "TIA", "TCH"})) return put("X", 3);
    if (has_here({"TH", "TTH"})) {
      const bool is_hard = has(at_ + 2, {"OM", "AM"}) || is_germanic();
      return is_hard ? put("T", 2) : put("0", "T", 2);
    }
    return put_with("T", "TD");
  }

  void read_w() {
    if (has_here({"WR"})) return put("R", 2);
    if (at_ == 0 && (vowel(1) || has_here({"WH"}))) put("A", vowel(1) ? "F" : "A", 0);
    const bool is_arnow = (at_ == last() && vowel(at_ - 1)) ||
                          has(at_ - 1, {"EWSKI", "EWSKY", "OWSKI", "OWSKY"}) || has(0, {"SCH"});
    if (is_arnow) return put("", "F", 1);
    return has_here({"WICZ", "WITZ"}) ? put("TS", "FX", 4) : put("", 1);
  }

  void read_x() {
    const bool is_silent =
        at_ == last() && (has(at_ - 3, {"IAU", "EAU"}) || has(at_ - 2, {"AU", "OU"}));
    return put_with(is_silent ? "" : "KS", "CX");
  }

  void read_z() {
    if (next() == 'H') return put("J", 2);
    const bool is_affricate =
        has_next({"ZO", "ZI", "ZA"}) || (is_slavic_ && at_ > 0 && letter(at_ - 1) != 'T');
    return put("S", is_affricate ? "TS" : "S", next() == 'Z' ? 2 : 1);
  }

  std::string word_;
  std::ptrdiff_t size_ = 0;
  bool is_slavic_ = false;
  std::ptrdiff_t at_ = 0;
  DoubleMetaphone codes_;
};

}  // namespace

DoubleMetaphone double_metaphone(std::string_view text) {
  return DoubleMetaphoneReader{text}.read();
}

}  // namespace swizzle::sql
