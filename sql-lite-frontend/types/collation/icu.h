#pragma once

#include <string>
#include <string_view>

/// Interface to ICU, whose headers are included in icu.cpp alone.
namespace swizzle::sql {

/// Orders text by a locale's rules. Any number of threads may use one at once.
class IcuCollator {
 public:
  IcuCollator() = default;
  IcuCollator(const IcuCollator&) = delete;
  IcuCollator& operator=(const IcuCollator&) = delete;
  ~IcuCollator();

  /// Throws SqlError 22023 where ICU does not open one for the locale.
  static void check(const std::string& locale);
  /// False where it does not.
  bool open(const std::string& locale) noexcept;

  [[nodiscard]] int compare(std::string_view left, std::string_view right) const;
  /// Appends bytes without a zero that memcmp orders as compare() does, and a zero behind them.
  void append_sort_key(std::string& key, std::string_view text) const;

 private:
  void* collator_ = nullptr;
};

/// Returns the locale with the rules of `locale`'s collator: many locales are ordered as the root
/// is.
std::string icu_rules_of(const std::string& locale);
/// pg_collation.collversion.
std::string icu_version(const std::string& locale);
/// "Swedish (Sweden)".
std::string icu_display_name(const std::string& locale);

enum class LetterCase : unsigned char { lower, upper, initial, folded };
/// lower(), upper(), initcap(), casefold().
std::string icu_change_case(const std::string& locale, LetterCase wanted, std::string_view text);

}  // namespace swizzle::sql
