#include "sql-lite-frontend/types/functions/text/template_keywords.h"

namespace swizzle::sql {

KeywordTraits traits_of(TemplateNode::Keyword keyword) noexcept {
  using Keyword = TemplateNode::Keyword;
  using Part = MomentPart;
  using enum DateConvention;
  switch (keyword) {
    case Keyword::literal:
      return {Part::none, false};
    case Keyword::meridiem:
    case Keyword::meridiem_dotted:
      return {Part::time, false};
    case Keyword::era:
    case Keyword::era_dotted:
    case Keyword::day_name:
    case Keyword::day_abbreviation:
      return {Part::date, false};
    case Keyword::month_name:
    case Keyword::month_abbreviation:
    case Keyword::roman_month:
      return {Part::date, false, gregorian};
    case Keyword::century:
    case Keyword::julian:
    case Keyword::quarter:
      return {Part::date, true};
    case Keyword::day_of_year:
    case Keyword::day_of_month:
    case Keyword::day_of_week:
    case Keyword::month_number:
    case Keyword::week_of_year:
    case Keyword::week_of_month:
    case Keyword::year_with_comma:
    case Keyword::year:
      return {Part::date, true, gregorian};
    case Keyword::iso_day_of_year:
    case Keyword::iso_day_of_week:
    case Keyword::iso_year:
      return {Part::date, true, iso_week};
    // PostgreSQL does not count the ISO week among the fields that make a date.
    case Keyword::iso_week:
      return {Part::none, true, iso_week};
    case Keyword::fraction:
    case Keyword::hour_24:
    case Keyword::hour_12:
    case Keyword::minute:
    case Keyword::millisecond:
    case Keyword::microsecond:
    case Keyword::second:
    case Keyword::second_of_day:
      return {Part::time, true};
    case Keyword::zone_minutes:
      return {Part::zone, true};
    case Keyword::zone_offset:
    case Keyword::zone_hours:
    case Keyword::zone_name:
      return {Part::zone, false};
  }
  return {Part::none, false};
}

}  // namespace swizzle::sql
