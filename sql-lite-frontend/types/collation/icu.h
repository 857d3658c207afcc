#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/collation/letters.h"

/// Interface to ICU, whose headers only icu.cpp includes.
namespace swizzle::sql {

/// Collator: orders text by a locale's rules. Thread-safe.
class IcuCollator {
 public:
  IcuCollator() = default;
  IcuCollator(const IcuCollator&) = delete;
  IcuCollator& operator=(const IcuCollator&) = delete;
  ~IcuCollator();

  /// Throws SqlError 22023 if ICU cannot open a collator for the locale.
  static void check(const std::string& locale);
  /// Returns false if ICU cannot open a collator for the locale.
  bool open(const std::string& locale) noexcept;

  [[nodiscard]] int compare(std::string_view left, std::string_view right) const;
  /// Appends bytes without zeros, which memcmp orders as compare() does, and then a zero.
  void append_sort_key(std::string& key, std::string_view text) const;

 private:
  void* collator_ = nullptr;
};

/// Returns the locale whose rules `locale`'s collator uses: many locales share the root's.
std::string icu_rules_of(const std::string& locale);
/// Returns pg_collation.collversion.
std::string icu_version(const std::string& locale);
/// Returns a name such as "Swedish (Sweden)".
std::string icu_display_name(const std::string& locale);

enum class LetterCase : unsigned char { lower, upper, initial, folded };
/// Implements lower(), upper(), initcap() and casefold().
std::string icu_change_case(const std::string& locale, LetterCase wanted, std::string_view text);
/// The same without a locale, under the collations of the provider builtin.
std::string unicode_change_case(Letters letters, LetterCase wanted, std::string_view text);

enum class NormalForm : unsigned char { nfc, nfd, nfkc, nfkd };
std::string in_normal_form(NormalForm form, std::string_view text);
bool is_in_normal_form(NormalForm form, std::string_view text);
/// Returns the version of Unicode whose characters ICU knows, such as "15.0".
std::string icu_unicode_version();

/// Returns the two letters of a character's general category, such as "Lu".
std::string_view unicode_category(char32_t character) noexcept;
/// Returns one character for all that differ in case alone.
char32_t unicode_fold(char32_t character) noexcept;
/// Returns the small, the capital and the folded letter.
std::array<char32_t, 3> unicode_cases(char32_t character) noexcept;

/// Returns what is wrong with the language of a locale's name, as validation tells it.
std::optional<std::string> icu_unknown_language(const std::string& locale);

}  // namespace swizzle::sql
