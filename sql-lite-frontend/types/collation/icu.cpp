#include "sql-lite-frontend/types/collation/icu.h"

#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/ucol.h>
#include <unicode/uloc.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include <array>
#include <vector>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kShort = 256;

/// Text in UTF-16, on the stack if short. Never has more units than its UTF-8 has bytes.
class Utf16 {
 public:
  explicit Utf16(std::string_view text) {
    if (text.size() > short_.size()) long_.resize(text.size());
    UChar* const to = long_.empty() ? short_.data() : long_.data();
    UErrorCode status = U_ZERO_ERROR;
    u_strFromUTF8(to, static_cast<std::int32_t>(std::max(text.size(), short_.size())), &size_,
                  text.data(), static_cast<std::int32_t>(text.size()), &status);
    if (U_FAILURE(status)) fail("could not convert text for ICU", status);
    text_ = to;
  }
  Utf16(const Utf16&) = delete;
  Utf16& operator=(const Utf16&) = delete;
  ~Utf16() = default;
  [[nodiscard]] const UChar* data() const noexcept { return text_; }
  [[nodiscard]] std::int32_t size() const noexcept { return size_; }

  [[noreturn]] static void fail(std::string_view what, UErrorCode status) {
    throw_error(sqlstate::internal_error, "{}: {}", what, u_errorName(status));
  }

 private:
  std::array<UChar, kShort> short_;
  std::vector<UChar> long_;
  const UChar* text_ = nullptr;
  std::int32_t size_ = 0;
};

/// ICU counts in 32 bits, and some of its results are several times as long as the text.
void require_icu_length(std::string_view text) {
  constexpr std::size_t kMost = std::size_t{256} << 20U;
  if (text.size() > kMost)
    throw SqlError{sqlstate::program_limit_exceeded, "text is too long for an ICU collation"};
}

/// Long texts are counted as work, so that other sessions run.
void count_text(std::size_t bytes) {
  constexpr std::size_t kLong = 1024;
  if (bytes > kLong) yield_point(bytes);
}

const UCollator* as_collator(const void* collator) {
  return static_cast<const UCollator*>(collator);
}

std::string utf8(const UChar* text, std::int32_t size) {
  constexpr std::size_t kBytesPerUnit = 3;
  std::string out(static_cast<std::size_t>(size) * kBytesPerUnit, '\0');
  UErrorCode status = U_ZERO_ERROR;
  std::int32_t written = 0;
  u_strToUTF8(out.data(), static_cast<std::int32_t>(out.size()), &written, text, size, &status);
  if (U_FAILURE(status)) Utf16::fail("could not convert text from ICU", status);
  out.resize(static_cast<std::size_t>(written));
  return out;
}

}  // namespace

IcuCollator::~IcuCollator() {
  if (collator_ != nullptr) ucol_close(static_cast<UCollator*>(collator_));
}

bool IcuCollator::open(const std::string& locale) noexcept {
  UErrorCode status = U_ZERO_ERROR;
  UCollator* const opened = ucol_open(locale.c_str(), &status);
  if (U_FAILURE(status)) {
    if (opened != nullptr) ucol_close(opened);
    return false;
  }
  collator_ = opened;
  return true;
}

void IcuCollator::check(const std::string& locale) {
  UErrorCode status = U_ZERO_ERROR;
  UCollator* const opened = ucol_open(locale.c_str(), &status);
  if (opened != nullptr) ucol_close(opened);
  if (U_FAILURE(status))
    throw_error(sqlstate::invalid_parameter_value, "could not open collator for locale \"{}\": {}",
                locale, u_errorName(status));
}

int IcuCollator::compare(std::string_view left, std::string_view right) const {
  require_icu_length(left);
  require_icu_length(right);
  count_text(left.size() + right.size());
  UErrorCode status = U_ZERO_ERROR;
  const UCollationResult order =
      ucol_strcollUTF8(as_collator(collator_), left.data(), static_cast<std::int32_t>(left.size()),
                       right.data(), static_cast<std::int32_t>(right.size()), &status);
  if (U_FAILURE(status)) Utf16::fail("collation failed", status);
  return static_cast<int>(order);
}

void IcuCollator::append_sort_key(std::string& key, std::string_view text) const {
  require_icu_length(text);
  count_text(text.size());
  const Utf16 wide{text};
  const std::size_t begin = key.size();
  // Most keys are about as long as the text; a longer one takes a second call.
  key.resize(begin + text.size() * 2 + 32);
  while (true) {
    const std::size_t room = key.size() - begin;
    const auto needed = static_cast<std::size_t>(ucol_getSortKey(
        as_collator(collator_), wide.data(), wide.size(),
        reinterpret_cast<std::uint8_t*>(key.data() + begin), static_cast<std::int32_t>(room)));
    if (needed == 0) throw SqlError{sqlstate::internal_error, "sort key generation failed"};
    key.resize(begin + needed);
    if (needed <= room) return;
  }
}

std::string icu_rules_of(const std::string& locale) {
  // Keywords and extensions may change the rules in any way.
  if (locale.find("-u-") != std::string::npos || locale.find('@') != std::string::npos)
    return locale;
  std::array<char, ULOC_FULLNAME_CAPACITY> name{};
  std::array<char, ULOC_FULLNAME_CAPACITY> rules{};
  UErrorCode status = U_ZERO_ERROR;
  uloc_forLanguageTag(locale.c_str(), name.data(), name.size(), nullptr, &status);
  if (U_FAILURE(status)) return locale;
  ucol_getFunctionalEquivalent(rules.data(), rules.size(), "collation", name.data(), nullptr,
                               &status);
  if (U_FAILURE(status)) return locale;
  return rules[0] == '\0' ? "root" : rules.data();
}

std::string icu_version(const std::string& locale) {
  UErrorCode status = U_ZERO_ERROR;
  UCollator* const opened = ucol_open(locale.c_str(), &status);
  if (U_FAILURE(status)) return {};
  UVersionInfo version;
  ucol_getVersion(opened, version);
  ucol_close(opened);
  std::array<char, U_MAX_VERSION_STRING_LENGTH> text{};
  u_versionToString(version, text.data());
  return text.data();
}

std::string icu_display_name(const std::string& locale) {
  UErrorCode status = U_ZERO_ERROR;
  std::array<UChar, kShort> name{};
  const std::int32_t size = uloc_getDisplayName(locale.c_str(), "en", name.data(), kShort, &status);
  if (U_FAILURE(status)) return {};
  std::string shown = utf8(name.data(), size);
  for (const char c : shown) {
    if (static_cast<unsigned char>(c) >= 0x80) return {};
  }
  return shown;
}

std::string icu_change_case(const std::string& locale, LetterCase wanted, std::string_view text) {
  require_icu_length(text);
  count_text(text.size());
  const Utf16 from{text};
  std::vector<UChar> to(static_cast<std::size_t>(from.size()) + 16);
  while (true) {
    UErrorCode status = U_ZERO_ERROR;
    const auto room = static_cast<std::int32_t>(to.size());
    std::int32_t size = 0;
    switch (wanted) {
      case LetterCase::lower:
        size = u_strToLower(to.data(), room, from.data(), from.size(), locale.c_str(), &status);
        break;
      case LetterCase::upper:
        size = u_strToUpper(to.data(), room, from.data(), from.size(), locale.c_str(), &status);
        break;
      case LetterCase::initial:
        size = u_strToTitle(to.data(), room, from.data(), from.size(), nullptr, locale.c_str(),
                            &status);
        break;
      case LetterCase::folded: {
        // Turkish and Azerbaijani keep dotted and dotless i apart when folding case.
        const bool has_two_i = locale.starts_with("tr") || locale.starts_with("az");
        size =
            u_strFoldCase(to.data(), room, from.data(), from.size(),
                          has_two_i ? U_FOLD_CASE_EXCLUDE_SPECIAL_I : U_FOLD_CASE_DEFAULT, &status);
        break;
      }
    }
    if (status == U_BUFFER_OVERFLOW_ERROR) {
      to.resize(static_cast<std::size_t>(size));
      continue;
    }
    if (U_FAILURE(status)) Utf16::fail("case conversion failed", status);
    return utf8(to.data(), size);
  }
}

namespace {

/// Calls `visit(character, bytes)` for each character of a text in UTF-8.
template <class Visit>
void for_each_character(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::string_view bytes = text.substr(0, utf8_length(text.front()));
    visit(static_cast<UChar32>(decode_character(text)), bytes);
    text.remove_prefix(bytes.size());
  }
}

bool is_ascii_digit(UChar32 character) noexcept {
  return character >= '0' && character <= '9';
}

/// Changes each character by itself.
std::string change_characters(LetterCase wanted, std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool is_inside = false;
  const auto append = [&](UChar32 character) {
    append_character(out, static_cast<char32_t>(character));
  };
  for_each_character(text, [&](UChar32 character, std::string_view) {
    switch (wanted) {
      case LetterCase::lower:
        return append(u_tolower(character));
      case LetterCase::upper:
        return append(u_toupper(character));
      case LetterCase::folded:
        return append(u_foldCase(character, U_FOLD_CASE_DEFAULT));
      case LetterCase::initial:
        break;
    }
    append(is_inside ? u_tolower(character) : u_toupper(character));
    is_inside = is_ascii_digit(character) || u_isUAlphabetic(character) != 0;
  });
  return out;
}

/// Implements initcap() with mappings to several characters: words are runs of letters and digits.
std::string title_words(std::string_view text) {
  const std::string no_locale;
  std::string out;
  std::string word;
  std::string first;
  const auto end_word = [&] {
    if (word.empty()) return;
    // A letter's lower case may depend on those before it.
    const std::string lower = icu_change_case(no_locale, LetterCase::lower, word);
    const std::string lower_first = icu_change_case(no_locale, LetterCase::lower, first);
    out += icu_change_case(no_locale, LetterCase::initial, first);
    if (lower.starts_with(lower_first)) out += lower.substr(lower_first.size());
    word.clear();
  };
  for_each_character(text, [&](UChar32 character, std::string_view bytes) {
    const bool is_of_word = u_isUAlphabetic(character) != 0 || u_isdigit(character) != 0;
    if (!is_of_word) {
      end_word();
      out += icu_change_case(no_locale, LetterCase::lower, bytes);
      return;
    }
    if (word.empty()) first = bytes;
    word += bytes;
  });
  end_word();
  return out;
}

}  // namespace

std::string unicode_change_case(Letters letters, LetterCase wanted, std::string_view text) {
  require_icu_length(text);
  count_text(text.size());
  if (letters == Letters::c_utf8) return change_characters(wanted, text);
  return wanted == LetterCase::initial ? title_words(text) : icu_change_case({}, wanted, text);
}

namespace {

const UNormalizer2* normalizer(NormalForm form) {
  UErrorCode status = U_ZERO_ERROR;
  const UNormalizer2* const found = [&] {
    switch (form) {
      case NormalForm::nfc:
        return unorm2_getNFCInstance(&status);
      case NormalForm::nfd:
        return unorm2_getNFDInstance(&status);
      case NormalForm::nfkc:
        return unorm2_getNFKCInstance(&status);
      default:
        return unorm2_getNFKDInstance(&status);
    }
  }();
  if (U_FAILURE(status)) Utf16::fail("could not open a normalizer", status);
  return found;
}

}  // namespace

std::string in_normal_form(NormalForm form, std::string_view text) {
  require_icu_length(text);
  count_text(text.size());
  const Utf16 from{text};
  const UNormalizer2* const normal = normalizer(form);
  std::vector<UChar> to(static_cast<std::size_t>(from.size()) + 16);
  // One character can become 18: the second turn has the size that the first asks for.
  for (;;) {
    UErrorCode status = U_ZERO_ERROR;
    const std::int32_t size = unorm2_normalize(normal, from.data(), from.size(), to.data(),
                                               static_cast<std::int32_t>(to.size()), &status);
    if (status == U_BUFFER_OVERFLOW_ERROR) {
      to.resize(static_cast<std::size_t>(size));
      continue;
    }
    if (U_FAILURE(status)) Utf16::fail("normalization failed", status);
    return utf8(to.data(), size);
  }
}

bool is_in_normal_form(NormalForm form, std::string_view text) {
  require_icu_length(text);
  count_text(text.size());
  const Utf16 from{text};
  UErrorCode status = U_ZERO_ERROR;
  const bool is_normal =
      unorm2_isNormalized(normalizer(form), from.data(), from.size(), &status) != 0;
  if (U_FAILURE(status)) Utf16::fail("normalization failed", status);
  return is_normal;
}

std::string icu_unicode_version() {
  UVersionInfo version{};
  u_getUnicodeVersion(version);
  return std::to_string(version[0]) + "." + std::to_string(version[1]);
}

std::string_view unicode_category(char32_t character) noexcept {
  constexpr std::string_view kNames =
      "CnLuLlLtLmLoMnMeMcNdNlNoZsZlZpCcCfCoCsPdPsPePcPoSmScSkSoPiPf";
  return kNames.substr(2 * static_cast<std::size_t>(u_charType(static_cast<UChar32>(character))),
                       2);
}

char32_t unicode_fold(char32_t character) noexcept {
  return static_cast<char32_t>(u_foldCase(static_cast<UChar32>(character), U_FOLD_CASE_DEFAULT));
}

std::array<char32_t, 3> unicode_cases(char32_t character) noexcept {
  const auto code = static_cast<UChar32>(character);
  return {static_cast<char32_t>(u_tolower(code)), static_cast<char32_t>(u_toupper(code)),
          unicode_fold(character)};
}

std::optional<std::string> icu_unknown_language(const std::string& locale) {
  std::array<char, ULOC_LANG_CAPACITY> language{};
  UErrorCode status = U_ZERO_ERROR;
  uloc_getLanguage(locale.c_str(), language.data(), language.size(), &status);
  if (U_FAILURE(status) || status == U_STRING_NOT_TERMINATED_WARNING) {
    return "could not get language from ICU locale \"" + locale + "\": " + u_errorName(status);
  }
  const std::string_view name = language.data();
  if (name.empty() || name == "und" || name == "root") return std::nullopt;
  for (std::int32_t i = 0; i < uloc_countAvailable(); ++i) {
    std::array<char, ULOC_LANG_CAPACITY> known{};
    status = U_ZERO_ERROR;
    uloc_getLanguage(uloc_getAvailable(i), known.data(), known.size(), &status);
    if (U_SUCCESS(status) && name == known.data()) return std::nullopt;
  }
  return "ICU locale \"" + locale + "\" has unknown language \"" + std::string{name} + "\"";
}

}  // namespace swizzle::sql
