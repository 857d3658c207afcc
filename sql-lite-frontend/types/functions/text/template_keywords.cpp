#include "sql-lite-frontend/types/functions/text/template_keywords.h"

namespace swizzle::sql {

KeywordTraits traits_of(TemplateNode::Keyword keyword) noexcept {
  using Word = TemplateNode::Keyword;
  using Part = MomentPart;
  using enum DateConvention;
  switch (keyword) {
    case Word::literal:
      return {Part::none, false};
    case Word::meridiem:
    case Word::meridiem_dotted:
      return {Part::time, false};
    case Word::era:
    case Word::era_dotted:
    case Word::day_name:
    case Word::day_abbreviation:
      return {Part::date, false};
    case Word::month_name:
    case Word::month_abbreviation:
    case Word::roman_month:
      return {Part::date, false, gregorian};
    case Word::century:
    case Word::julian:
    case Word::quarter:
      return {Part::date, true};
    case Word::day_of_year:
    case Word::day_of_month:
    case Word::day_of_week:
    case Word::month_number:
    case Word::week_of_year:
    case Word::week_of_month:
    case Word::year_with_comma:
    case Word::year:
      return {Part::date, true, gregorian};
    case Word::iso_day_of_year:
    case Word::iso_day_of_week:
    case Word::iso_year:
      return {Part::date, true, iso_week};
    // PostgreSQL does not count the ISO week among the fields that make a date.
    case Word::iso_week:
      return {Part::none, true, iso_week};
    case Word::fraction:
    case Word::hour_24:
    case Word::hour_12:
    case Word::minute:
    case Word::millisecond:
    case Word::microsecond:
    case Word::second:
    case Word::second_of_day:
      return {Part::time, true};
    case Word::zone_minutes:
      return {Part::zone, true};
    case Word::zone_offset:
    case Word::zone_hours:
    case Word::zone_name:
      return {Part::zone, false};
  }
  return {Part::none, false};
}

}  // namespace swizzle::sql
