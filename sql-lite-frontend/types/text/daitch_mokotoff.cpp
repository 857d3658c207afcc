#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/text/phonetics.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kCodeDigits = 6;
/// Nanoseconds for a sound of a code.
constexpr std::size_t kPerSound = 300;
constexpr std::string_view kSilent = "";

enum class SoundPlace : std::uint8_t {
  start,  ///< of a name
  before_vowel,
  elsewhere,
  before_j,  ///< which may be a vowel
};

/// SoundDigits of a sound by its place.
using SoundDigits = std::array<std::string_view, 3>;

/// Letters that are one sound, and the digits of another sound that they may have.
struct Sound {
  std::string_view letters;
  SoundDigits digits;
  std::optional<SoundDigits> other = std::nullopt;
};

constexpr SoundDigits everywhere(std::string_view digits) {
  return {digits, digits, digits};
}
constexpr SoundDigits kOpening{"0", "1", kSilent};
constexpr SoundDigits kVowel{"0", kSilent, kSilent};
constexpr SoundDigits kGlide{"1", kSilent, kSilent};
constexpr SoundDigits kHissing{"2", "4", "4"};
constexpr SoundDigits kHissingStop{"2", "43", "43"};
constexpr SoundDigits kGuttural{"5", "54", "54"};

/// Sorted by the first letter; the longest that fits counts. `[`, `\` and `]` stand for A and E
/// with an ogonek and T with a cedilla or a comma.
constexpr auto kSounds = std::to_array<Sound>({
    {"AI", kOpening},
    {"AJ", kOpening},
    {"AY", kOpening},
    {"AU", {"0", "7", kSilent}},
    {"A", kVowel},
    {"B", everywhere("7")},
    {"CHS", kGuttural},
    {"CH", everywhere("5"), everywhere("4")},
    {"CK", everywhere("5"), everywhere("45")},
    {"CZS", everywhere("4")},
    {"CSZ", everywhere("4")},
    {"CZ", everywhere("4")},
    {"CS", everywhere("4")},
    {"C", everywhere("5"), everywhere("4")},
    {"DRZ", everywhere("4")},
    {"DRS", everywhere("4")},
    {"DSH", everywhere("4")},
    {"DSZ", everywhere("4")},
    {"DZH", everywhere("4")},
    {"DZS", everywhere("4")},
    {"DS", everywhere("4")},
    {"DZ", everywhere("4")},
    {"DT", everywhere("3")},
    {"D", everywhere("3")},
    {"EI", kOpening},
    {"EJ", kOpening},
    {"EY", kOpening},
    {"EU", {"1", "1", kSilent}},
    {"E", kVowel},
    {"FB", everywhere("7")},
    {"F", everywhere("7")},
    {"G", everywhere("5")},
    {"H", {"5", "5", kSilent}},
    {"IA", kGlide},
    {"IE", kGlide},
    {"IO", kGlide},
    {"IU", kGlide},
    {"I", kVowel},
    {"J", kGlide, everywhere("4")},
    {"KS", kGuttural},
    {"KH", everywhere("5")},
    {"K", everywhere("5")},
    {"L", everywhere("8")},
    {"MN", everywhere("66")},
    {"M", everywhere("6")},
    {"NM", everywhere("66")},
    {"N", everywhere("6")},
    {"OI", kOpening},
    {"OJ", kOpening},
    {"OY", kOpening},
    {"O", kVowel},
    {"PF", everywhere("7")},
    {"PH", everywhere("7")},
    {"P", everywhere("7")},
    {"Q", everywhere("5")},
    {"RZ", everywhere("94"), everywhere("4")},
    {"RS", everywhere("94"), everywhere("4")},
    {"R", everywhere("9")},
    {"SCHTSCH", kHissing},
    {"SCHTSH", kHissing},
    {"SCHTCH", kHissing},
    {"SHTCH", kHissing},
    {"SHTSH", kHissing},
    {"STSCH", kHissing},
    {"SHCH", kHissing},
    {"SCHT", kHissingStop},
    {"SCHD", kHissingStop},
    {"STCH", kHissing},
    {"STRZ", kHissing},
    {"STRS", kHissing},
    {"STSH", kHissing},
    {"SZCZ", kHissing},
    {"SZCS", kHissing},
    {"SCH", everywhere("4")},
    {"SHT", kHissingStop},
    {"SZT", kHissingStop},
    {"SHD", kHissingStop},
    {"SZD", kHissingStop},
    {"SH", everywhere("4")},
    {"SC", kHissing},
    {"ST", kHissingStop},
    {"SD", kHissingStop},
    {"SZ", everywhere("4")},
    {"S", everywhere("4")},
    {"TTSCH", everywhere("4")},
    {"TTCH", everywhere("4")},
    {"TSCH", everywhere("4")},
    {"TTSZ", everywhere("4")},
    {"TCH", everywhere("4")},
    {"TRZ", everywhere("4")},
    {"TRS", everywhere("4")},
    {"TSH", everywhere("4")},
    {"TTS", everywhere("4")},
    {"TTZ", everywhere("4")},
    {"TZS", everywhere("4")},
    {"TSZ", everywhere("4")},
    {"TH", everywhere("3")},
    {"TS", everywhere("4")},
    {"TC", everywhere("4")},
    {"TZ", everywhere("4")},
    {"T", everywhere("3")},
    {"UI", kOpening},
    {"UJ", kOpening},
    {"UY", kOpening},
    {"UE", kOpening},
    {"U", kVowel},
    {"V", everywhere("7")},
    {"W", everywhere("7")},
    {"X", kGuttural},
    {"Y", kGlide},
    {"ZHDZH", kHissing},
    {"ZDZH", kHissing},
    {"ZSCH", everywhere("4")},
    {"ZDZ", kHissing},
    {"ZHD", kHissingStop},
    {"ZSH", everywhere("4")},
    {"ZD", kHissingStop},
    {"ZH", everywhere("4")},
    {"ZS", everywhere("4")},
    {"Z", everywhere("4")},
    {"[", {kSilent, kSilent, "6"}, everywhere(kSilent)},
    {"\\", {kSilent, kSilent, "6"}, everywhere(kSilent)},
    {"]", everywhere("3"), everywhere("4")},
});

/// Returns the letter that stands for a character; 0 if it is passed over.
char plain_letter(char32_t character) noexcept {
  constexpr char32_t kLatin1 = 0xC0;
  constexpr std::string_view kLatin1Letters =
      "AAAAAAECEEEEIIIIDNOOOOO*OUUUUYDSAAAAAAECEEEEIIIIDNOOOOO/OUUUUYDY";
  if (character >= 'a' && character <= 'z') return static_cast<char>(character - 'a' + 'A');
  if (character >= 'A' && character <= 'Z') return static_cast<char>(character);
  if (character >= kLatin1 && character < kLatin1 + kLatin1Letters.size()) {
    const char letter = kLatin1Letters[character - kLatin1];
    return letter >= 'A' ? letter : '\0';
  }
  switch (character) {
    case 0x0104:
    case 0x0105:
      return '[';
    case 0x0118:
    case 0x0119:
      return '\\';
    case 0x0162:
    case 0x0163:
    case 0x021A:
    case 0x021B:
      return ']';
    default:
      return '\0';
  }
}

std::string plain_letters(std::string_view text) {
  std::string letters;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = std::min(utf8_length(text[at]), text.size() - at);
    if (const char letter = plain_letter(decode_character(text.substr(at)))) letters += letter;
    at += size;
  }
  return letters;
}

/// Returns the longest sound at the beginning.
const Sound& first_sound(std::string_view letters) {
  const Sound* longest = nullptr;
  for (const Sound& sound : kSounds) {
    const bool is_longer = longest == nullptr || sound.letters.size() > longest->letters.size();
    if (is_longer && letters.starts_with(sound.letters)) longest = &sound;
  }
  return *longest;
}

SoundPlace place_before(char letter) noexcept {
  if (letter == 'J') return SoundPlace::before_j;
  const bool is_vowel = letter != '\0' && std::string_view{"AEIOUY"}.contains(letter);
  return is_vowel ? SoundPlace::before_vowel : SoundPlace::elsewhere;
}

/// A code as far as it has been read.
struct PartialCode {
  std::string digits;
  /// SoundDigits that the sound before may have; 0 for one that has none.
  std::string last{'\0'};
  /// Meanings that a J behind it may have: a vowel, a consonant.
  std::array<bool, 2> next{true, true};

  /// Returns the code with the sound behind it. Adjacent sounds of one digit are one.
  [[nodiscard]] PartialCode with(std::string_view sound, bool is_joined) const {
    PartialCode longer{.digits = digits,
                       .last = std::string(1, sound.empty() ? '\0' : sound.back())};
    if (is_joined) sound.remove_prefix(1);
    longer.digits.append(sound.substr(0, kCodeDigits - digits.size()));
    return longer;
  }
};

void add_once(std::vector<PartialCode>& to, PartialCode code) {
  const auto known = std::ranges::find(to, code.digits, &PartialCode::digits);
  if (known == to.end()) return to.push_back(std::move(code));
  if (!known->last.contains(code.last)) known->last += code.last;
  for (std::size_t i = 0; i < code.next.size(); ++i) known->next[i] |= code.next[i];
}

void add_once(std::vector<std::string>& to, std::string code) {
  if (std::ranges::find(to, code) == to.end()) to.push_back(std::move(code));
}

/// Codes of a text, which may have several sounds.
class CodeTree {
 public:
  void add(const Sound& sound, SoundPlace place) {
    for (const PartialCode& code : open_) {
      if (code.next[0] || !sound.other) add(code, sound.digits, place);
      if (code.next[1] && sound.other) add(code, *sound.other, place);
    }
    open_ = std::exchange(longer_, {});
  }
  [[nodiscard]] std::size_t open() const noexcept { return open_.size(); }
  std::vector<std::string> end() {
    for (PartialCode& code : open_) {
      code.digits.resize(kCodeDigits, '0');
      add_once(found_, std::move(code.digits));
    }
    return std::move(found_);
  }

 private:
  void add(const PartialCode& code, const SoundDigits& digits, SoundPlace place) {
    if (place != SoundPlace::before_j)
      return add(code, digits[std::to_underlying(place)], {true, true});
    add(code, digits[std::to_underlying(SoundPlace::before_vowel)], {true, false});
    add(code, digits[std::to_underlying(SoundPlace::elsewhere)], {false, true});
  }
  void add(const PartialCode& code, std::string_view digits, std::array<bool, 2> next) {
    const bool may_join = !digits.empty() && code.last.contains(digits.front());
    if (!may_join) return keep(code.with(digits, false), next);
    keep(code.with(digits, true), next);
    // As PostgreSQL does it: of two digits only the first.
    if (code.last.size() > 1) keep(code.with(digits.substr(0, 1), false), next);
  }
  void keep(PartialCode code, std::array<bool, 2> next) {
    code.next = next;
    if (code.digits.size() == kCodeDigits) {
      add_once(found_, std::move(code.digits));
    } else {
      add_once(longer_, std::move(code));
    }
  }

  std::vector<std::string> found_;
  std::vector<PartialCode> open_{{}};
  std::vector<PartialCode> longer_;
};

}  // namespace

std::vector<std::string> daitch_mokotoff(std::string_view text) {
  const std::string letters = plain_letters(text);
  if (letters.empty()) return {};
  CodeTree codes;
  for (std::size_t at = 0; at < letters.size() && codes.open() != 0;) {
    yield_point(kPerSound * codes.open());
    const Sound& sound = first_sound(std::string_view{letters}.substr(at));
    const std::size_t end = at + sound.letters.size();
    codes.add(sound, at == 0 ? SoundPlace::start
                             : place_before(end < letters.size() ? letters[end] : '\0'));
    at = end;
  }
  return codes.end();
}

}  // namespace swizzle::sql
