#include "sql-lite-frontend/types/datetime/datetime_format.h"

#include <fmt/format.h>

#include <cstdlib>
#include <iterator>

#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/datetime/time_zone.h"

namespace swizzle::sql {
namespace {

void append_two(std::string& out, int number) {
  out.push_back(static_cast<char>('0' + number / 10));
  out.push_back(static_cast<char>('0' + number % 10));
}

/// Appends ".5" or nothing, without trailing zeros.
void append_fraction(std::string& out, int microsecond) {
  if (microsecond == 0) return;
  char digits[6];
  int size = 6;
  for (int i = 5; i >= 0; --i) {
    digits[i] = static_cast<char>('0' + microsecond % 10);
    microsecond /= 10;
  }
  while (digits[size - 1] == '0') --size;
  out.push_back('.');
  out.append(digits, static_cast<std::size_t>(size));
}

void append_clock(std::string& out, const TimeOfDay& time) {
  append_two(out, time.hour);
  out.push_back(':');
  append_two(out, time.minute);
  out.push_back(':');
  append_two(out, time.second);
  append_fraction(out, time.microsecond);
}

void append_year(std::string& out, std::int64_t year) {
  const std::int64_t shown = year > 0 ? year : 1 - year;
  if (shown > 9999) {
    fmt::format_to(std::back_inserter(out), "{}", shown);
    return;
  }
  append_two(out, static_cast<int>(shown / 100));
  append_two(out, static_cast<int>(shown % 100));
}

void append_parts(std::string& out, int first, char separator, int second, std::int64_t year) {
  append_two(out, first);
  out.push_back(separator);
  append_two(out, second);
  out.push_back(separator);
  append_year(out, year);
}

void append_civil_date(std::string& out, const CivilDate& d, const FormatSettings& format) {
  const bool day_first = format.date_order == DateOrder::dmy;
  switch (format.date_style) {
    case DateStyle::iso:
      append_year(out, d.year);
      out.push_back('-');
      append_two(out, d.month);
      out.push_back('-');
      return append_two(out, d.day);
    case DateStyle::sql:
      return append_parts(out, day_first ? d.day : d.month, '/', day_first ? d.month : d.day,
                          d.year);
    case DateStyle::german:
      return append_parts(out, d.day, '.', d.month, d.year);
    case DateStyle::postgres:
      return append_parts(out, day_first ? d.day : d.month, '-', day_first ? d.month : d.day,
                          d.year);
  }
}

bool append_infinity(std::string& out, bool is_plus, bool is_minus) {
  if (is_plus) out += "infinity";
  if (is_minus) out += "-infinity";
  return is_plus || is_minus;
}

void append_date_and_time(std::string& out, std::int64_t local, const FormatSettings& format,
                          const TimeZone::Offset* zone) {
  const CivilTime civil = civil_from_timestamp(local);
  if (format.date_style == DateStyle::postgres) {
    const auto day = civil.date.day;
    const auto month = month_name(civil.date.month).substr(0, 3);
    out += weekday_name(day_of_week(floor_div(local, kMicrosPerDay))).substr(0, 3);
    if (format.date_order == DateOrder::dmy)
      fmt::format_to(std::back_inserter(out), " {:02} {} ", day, month);
    else
      fmt::format_to(std::back_inserter(out), " {} {:02} ", month, day);
    append_clock(out, civil.time);
    out.push_back(' ');
    append_year(out, civil.date.year);
  } else {
    append_civil_date(out, civil.date, format);
    out.push_back(' ');
    append_clock(out, civil.time);
  }
  if (zone != nullptr) {
    if (format.date_style == DateStyle::iso) {
      append_zone_offset(out, zone->seconds_east);
    } else {
      out.push_back(' ');
      out += zone->abbreviation;
    }
  }
  if (civil.date.year <= 0) out += " BC";
}

}  // namespace

void append_zone_offset(std::string& out, std::int32_t seconds_east) {
  const std::int32_t size = std::abs(seconds_east);
  out.push_back(seconds_east < 0 ? '-' : '+');
  append_two(out, size / 3600);
  if (size % 3600 == 0) return;
  out.push_back(':');
  append_two(out, size / 60 % 60);
  if (size % 60 == 0) return;
  out.push_back(':');
  append_two(out, size % 60);
}

void append_date(std::string& out, std::int32_t date, const FormatSettings& format) {
  if (append_infinity(out, date == kDateInfinity, date == kDateMinusInfinity)) return;
  const CivilDate civil = civil_from_days(date);
  append_civil_date(out, civil, format);
  if (civil.year <= 0) out += " BC";
}

void append_time(std::string& out, std::int64_t micros) {
  append_clock(out, time_from_micros(micros));
}

void append_timetz(std::string& out, const TimeTz& time) {
  append_time(out, time.microseconds);
  append_zone_offset(out, -time.zone_seconds);
}

void append_timestamp(std::string& out, std::int64_t timestamp, const FormatSettings& format) {
  if (append_infinity(out, timestamp == kTimestampInfinity, timestamp == kTimestampMinusInfinity))
    return;
  append_date_and_time(out, timestamp, format, nullptr);
}

void append_timestamptz(std::string& out, std::int64_t timestamp, const FormatSettings& format) {
  if (append_infinity(out, timestamp == kTimestampInfinity, timestamp == kTimestampMinusInfinity))
    return;
  TimeZone::Offset offset{0, false, "UTC"};
  if (format.time_zone) offset = format.time_zone->at_utc(timestamp);
  append_date_and_time(out, timestamp + offset.seconds_east * kMicrosPerSecond, format, &offset);
}

namespace {

struct Parts {
  std::int64_t years, months, days, hours, minutes, seconds, micros;
};

Parts split(const Interval& interval) {
  return {interval.months / 12,
          interval.months % 12,
          interval.days,
          interval.microseconds / kMicrosPerHour,
          interval.microseconds / kMicrosPerMinute % 60,
          interval.microseconds / kMicrosPerSecond % 60,
          interval.microseconds % kMicrosPerSecond};
}

int magnitude(std::int64_t micros) {
  return static_cast<int>(std::llabs(micros));
}

void append_interval_clock(std::string& out, const Parts& p) {
  fmt::format_to(std::back_inserter(out), "{:02}:{:02}:{:02}", std::llabs(p.hours),
                 std::llabs(p.minutes), std::llabs(p.seconds));
  append_fraction(out, magnitude(p.micros));
}

void append_postgres(std::string& out, const Parts& p, bool negative_time) {
  bool before = false;
  bool any = false;
  const auto part = [&](std::int64_t value, std::string_view unit) {
    if (value == 0) return;
    fmt::format_to(std::back_inserter(out), "{}{}{} {}{}", any ? " " : "",
                   before && value > 0 ? "+" : "", value, unit, value != 1 ? "s" : "");
    before = value < 0;
    any = true;
  };
  part(p.years, "year");
  part(p.months, "mon");
  part(p.days, "day");
  if (any && p.hours == 0 && p.minutes == 0 && p.seconds == 0 && p.micros == 0) return;
  if (any) out.push_back(' ');
  if (negative_time)
    out.push_back('-');
  else if (before)
    out.push_back('+');
  append_interval_clock(out, p);
}

void append_verbose(std::string& out, const Parts& p) {
  bool before = false;
  bool any = false;
  out.push_back('@');
  const auto part = [&](std::int64_t value, std::string_view unit) {
    if (value == 0) return;
    // The first part decides the direction; later ones count within it.
    if (!any) before = value < 0;
    if (before) value = -value;
    fmt::format_to(std::back_inserter(out), " {} {}{}", value, unit, value == 1 ? "" : "s");
    any = true;
  };
  part(p.years, "year");
  part(p.months, "mon");
  part(p.days, "day");
  part(p.hours, "hour");
  part(p.minutes, "min");
  if (p.seconds != 0 || p.micros != 0) {
    const bool negative = p.seconds < 0 || p.micros < 0;
    out.push_back(' ');
    if (any ? negative != before : false) out.push_back('-');
    if (!any) before = negative;
    fmt::format_to(std::back_inserter(out), "{}", std::llabs(p.seconds));
    append_fraction(out, magnitude(p.micros));
    out += std::llabs(p.seconds) != 1 || p.micros != 0 ? " secs" : " sec";
    any = true;
  }
  if (!any) out += " 0";
  if (before) out += " ago";
}

void append_iso_8601(std::string& out, const Parts& p) {
  const bool has_time = p.hours != 0 || p.minutes != 0 || p.seconds != 0 || p.micros != 0;
  if (!has_time && p.years == 0 && p.months == 0 && p.days == 0) {
    out += "PT0S";
    return;
  }
  const auto part = [&out](std::int64_t value, char unit) {
    if (value != 0) fmt::format_to(std::back_inserter(out), "{}{}", value, unit);
  };
  out.push_back('P');
  part(p.years, 'Y');
  part(p.months, 'M');
  part(p.days, 'D');
  if (has_time) out.push_back('T');
  part(p.hours, 'H');
  part(p.minutes, 'M');
  if (p.seconds == 0 && p.micros == 0) return;
  if (p.seconds < 0 || p.micros < 0) out.push_back('-');
  fmt::format_to(std::back_inserter(out), "{}", std::llabs(p.seconds));
  append_fraction(out, magnitude(p.micros));
  out.push_back('S');
}

void append_sql_standard(std::string& out, const Parts& p) {
  const bool negative = p.years < 0 || p.months < 0 || p.days < 0 || p.hours < 0 || p.minutes < 0 ||
                        p.seconds < 0 || p.micros < 0;
  const bool positive = p.years > 0 || p.months > 0 || p.days > 0 || p.hours > 0 || p.minutes > 0 ||
                        p.seconds > 0 || p.micros > 0;
  const bool has_year_month = p.years != 0 || p.months != 0;
  const bool has_time = p.hours != 0 || p.minutes != 0 || p.seconds != 0 || p.micros != 0;
  const auto to = std::back_inserter(out);
  const auto clock = [&] {
    fmt::format_to(to, "{}:{:02}:{:02}", std::llabs(p.hours), std::llabs(p.minutes),
                   std::llabs(p.seconds));
    append_fraction(out, magnitude(p.micros));
  };
  if (!negative && !positive) {
    out.push_back('0');
  } else if ((negative && positive) || (has_year_month && (p.days != 0 || has_time))) {
    // Mixed signs, or fields the standard does not put together: every part carries its sign.
    const bool time_negative = p.hours < 0 || p.minutes < 0 || p.seconds < 0 || p.micros < 0;
    fmt::format_to(to, "{}{}-{} {}{} {}", p.years < 0 || p.months < 0 ? '-' : '+',
                   std::llabs(p.years), std::llabs(p.months), p.days < 0 ? '-' : '+',
                   std::llabs(p.days), time_negative ? '-' : '+');
    clock();
  } else {
    if (negative) out.push_back('-');
    if (has_year_month) {
      fmt::format_to(to, "{}-{}", std::llabs(p.years), std::llabs(p.months));
    } else {
      if (p.days != 0) fmt::format_to(to, "{} ", std::llabs(p.days));
      clock();
    }
  }
}

}  // namespace

void append_interval(std::string& out, const Interval& interval, IntervalStyle style) {
  if (append_infinity(out, interval == kIntervalInfinity, interval == kIntervalMinusInfinity))
    return;
  const Parts parts = split(interval);
  switch (style) {
    case IntervalStyle::postgres:
      return append_postgres(out, parts, interval.microseconds < 0);
    case IntervalStyle::postgres_verbose:
      return append_verbose(out, parts);
    case IntervalStyle::sql_standard:
      return append_sql_standard(out, parts);
    case IntervalStyle::iso_8601:
      return append_iso_8601(out, parts);
  }
}

}  // namespace swizzle::sql
