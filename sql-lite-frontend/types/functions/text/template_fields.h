#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sql-lite-frontend/types/datetime/time_zone.h"
#include "sql-lite-frontend/types/functions/datetime/datetime_template.h"
#include "sql-lite-frontend/types/functions/text/template_keywords.h"

namespace swizzle::sql {

/// Values of the fields in the text; zero if not given.
struct TemplateFields {
  std::int64_t hour = 0;
  std::int64_t minute = 0;
  std::int64_t second = 0;
  std::int64_t second_of_day = 0;
  std::int64_t millisecond = 0;
  std::int64_t microsecond = 0;
  std::int64_t is_afternoon = 0;
  std::int64_t week_day = 0;  ///< Sunday is 1
  std::int64_t day = 0;
  std::int64_t day_of_year = 0;
  std::int64_t month = 0;
  std::int64_t year = 0;
  std::int64_t is_before_christ = 0;
  std::int64_t week = 0;
  std::int64_t week_of_month = 0;
  std::int64_t century = 0;
  std::int64_t julian = 0;
  std::int64_t zone_sign = 0;
  std::int64_t zone_hours = 0;
  std::int64_t zone_minutes = 0;
  std::optional<ZoneAbbreviation> zone = {};  ///< in place of the three
  int year_digits = 0;
  int precision = -1;
  bool has_twelve_hours = false;
  DateConvention convention = DateConvention::none;
};

/// Parses the fields from a text in the template's order. Throws 22007 if the text does not match.
/// `session` is the session's time zone, whose abbreviations come first.
TemplateFields read_fields(std::string_view text, const TemplateNodes& nodes, TemplateRules rules,
                           const TimeZone& session);

}  // namespace swizzle::sql
