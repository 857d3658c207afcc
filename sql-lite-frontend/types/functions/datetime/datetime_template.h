#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sql-lite-frontend/types/memory_account.h"

namespace swizzle::sql {

inline constexpr std::string_view kRomanMonths[] = {"I",   "II",   "III", "IV", "V",  "VI",
                                                    "VII", "VIII", "IX",  "X",  "XI", "XII"};

/// Matching of separators and literals in a template: any character, as in to_timestamp(), or
/// exactly, as in SQL/JSON.
enum class TemplateRules : std::uint8_t { lenient, standard };

/// A node of a to_char or to_timestamp template.
struct TemplateNode {
  enum class Keyword : std::uint8_t {
    literal,
    meridiem,
    meridiem_dotted,
    era,
    era_dotted,
    century,
    day_name,
    day_abbreviation,
    day_of_year,
    day_of_month,
    day_of_week,
    fraction,
    hour_24,
    hour_12,
    iso_day_of_year,
    iso_day_of_week,
    iso_week,
    iso_year,
    julian,
    minute,
    month_number,
    month_name,
    month_abbreviation,
    millisecond,
    zone_offset,
    quarter,
    roman_month,
    second_of_day,
    second,
    zone_hours,
    zone_minutes,
    zone_name,
    microsecond,
    week_of_year,
    week_of_month,
    year_with_comma,
    year,
  };
  enum class Letters : std::uint8_t { upper, capital, lower };
  enum class Ordinal : std::uint8_t { none, upper, lower };

  Keyword keyword = Keyword::literal;
  Letters letters = Letters::upper;
  int width = 0;            ///< digits of year, iso_year and fraction
  bool filled = true;       ///< padded; FM switches it off
  bool translated = false;  ///< TM: a name is not padded
  Ordinal ordinal = Ordinal::none;
  std::string literal;
  bool quoted = false;          ///< a literal in quotes
  bool fixed = false;           ///< FX stood before it
  std::string_view spelling{};  ///< the keyword, in capitals

  /// Returns the keyword as written in the template.
  [[nodiscard]] std::string name() const;
};

using TemplateNodes = CountedVector<TemplateNode>;
/// Parses a template, charged to the account. With the standard's rules, throws 22007 if there is
/// anything but its separators between fields.
TemplateNodes parse_datetime_template(std::string_view text, MemoryAccount* account,
                                      TemplateRules rules = TemplateRules::lenient);

/// The same, cached per thread, since consecutive rows usually have the same template.
std::shared_ptr<const TemplateNodes> datetime_template(std::string_view text,
                                                       MemoryAccount* account);

/// Returns "st", "nd", "rd" or "th" in upper or lower case.
std::string ordinal_suffix(std::string_view digits, TemplateNode::Ordinal ordinal);

}  // namespace swizzle::sql
