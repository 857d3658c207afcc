#include <algorithm>
#include <cstdlib>

#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/functions/datetime/datetime_template.h"
#include "sql-lite-frontend/types/functions/datetime/zones.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/functions/numbers/number_template.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using i64 = std::int64_t;
using Keyword = TemplateNode::Keyword;
using Letters = TemplateNode::Letters;

/// Input of a template: a timestamp, or an interval's fields.
struct Moment {
  i64 year = 0;
  int month = 0;
  i64 day = 0;
  i64 hour = 0;
  int minute = 0;
  int second = 0;
  int microsecond = 0;
  i64 days = 0;  ///< day number of a timestamp
  bool is_interval = false;
  std::string_view zone_name;
  std::int32_t seconds_east = 0;
};

std::string in_letters(std::string_view text, Letters letters) {
  std::string out{text};
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = letters == Letters::upper || (letters == Letters::capital && i == 0)
                 ? to_upper(out[i])
                 : to_lower(out[i]);
  return out;
}

class Writer {
 public:
  explicit Writer(const Moment& moment) : m_{moment} {}

  std::string write(const TemplateNodes& nodes) {
    for (const TemplateNode& node : nodes) {
      yield_point(50);
      if (node.keyword == Keyword::literal)
        out_ += node.literal;
      else
        show(node);
    }
    return std::move(out_);
  }

 private:
  // An interval's fields may be negative; some fields leave room for the sign, as in PostgreSQL.
  static int signed_width(i64 value, int width) { return value < 0 ? width + 1 : width; }

  void number(const TemplateNode& node, i64 value, int width) {
    const std::string digits = fmt::format("{:0{}}", value, node.filled ? width : 0);
    out_ += digits;
    out_ += ordinal_suffix(digits, node.ordinal);
  }

  void name(const TemplateNode& node, std::string_view text, std::size_t width) {
    std::string shown = in_letters(text, node.letters);
    if (node.filled && !node.translated && shown.size() < width)
      shown.append(width - shown.size(), ' ');
    out_ += shown;
  }

  void only_moments() const {
    if (m_.is_interval)
      throw SqlError{sqlstate::invalid_datetime_format,
                     "invalid format specification for an interval value"}
          .with_hint("Intervals are not tied to specific calendar dates.");
  }

  [[nodiscard]] i64 shown_year() const {
    return m_.is_interval || m_.year > 0 ? m_.year : 1 - m_.year;
  }

  /// Writes the last digits of a year, as many as the field is wide.
  void year(const TemplateNode& node, i64 value) {
    constexpr i64 kCut[] = {1, 10, 100, 1000};
    number(node, node.width < 4 ? value % kCut[node.width] : value,
           signed_width(value, node.width));
  }

  /// Returns a month from 1 to 12. For an interval, whole years give XII, or I if negative, and -1
  /// month gives XII.
  [[nodiscard]] int roman_month() const {
    if (m_.month == 0) return m_.year >= 0 ? 12 : 1;
    return m_.month < 0 ? 13 + m_.month : m_.month;
  }

  void show(const TemplateNode& node) {
    switch (node.keyword) {
      case Keyword::hour_24:
        return number(node, m_.hour, signed_width(m_.hour, 2));
      case Keyword::hour_12:
        return number(node, m_.hour % 12 == 0 ? 12 : m_.hour % 12, signed_width(m_.hour, 2));
      case Keyword::minute:
        return number(node, m_.minute, signed_width(m_.minute, 2));
      case Keyword::second:
        return number(node, m_.second, signed_width(m_.second, 2));
      case Keyword::millisecond:
        return number(node, m_.microsecond / 1000, 3);
      case Keyword::microsecond:
        return number(node, m_.microsecond, 6);
      case Keyword::fraction: {
        int value = m_.microsecond;
        for (int i = node.width; i < 6; ++i) value /= 10;
        return number(node, value, node.width);
      }
      case Keyword::second_of_day:
        return number(node, (m_.hour * 60 + m_.minute) * 60 + m_.second, 0);
      case Keyword::meridiem:
        out_ += in_letters(m_.hour % 24 >= 12 ? "PM" : "AM", node.letters);
        return;
      case Keyword::meridiem_dotted:
        out_ += in_letters(m_.hour % 24 >= 12 ? "P.M." : "A.M.", node.letters);
        return;
      case Keyword::year:
        return year(node, shown_year());
      case Keyword::year_with_comma: {
        const i64 shown = shown_year();
        if (node.filled)
          out_ += fmt::format("{},{:03}", shown / 1000, shown % 1000);
        else
          out_ += fmt::format("{},{:03}", shown / 1000, shown % 1000);
        return;
      }
      case Keyword::month_number:
        return number(node, m_.month, signed_width(m_.month, 2));
      case Keyword::day_of_month:
        return number(node, m_.day, 2);
      case Keyword::quarter:
        if (m_.month != 0) number(node, (m_.month - 1) / 3 + 1, 0);
        return;
      case Keyword::century: {
        if (m_.is_interval) return number(node, m_.year / 100, 2);
        const i64 century = m_.year > 0 ? (m_.year - 1) / 100 + 1 : m_.year / 100 - 1;
        return number(node, century, 2);
      }
      case Keyword::roman_month:
        if (m_.month == 0 && (!m_.is_interval || m_.year == 0)) return;
        return name(node, kRomanMonths[roman_month() - 1], 4);
      case Keyword::day_of_year:
        // Months of an interval have thirty days.
        if (m_.is_interval) return number(node, (m_.year * 12 + m_.month) * 30 + m_.day, 3);
        [[fallthrough]];
      default:
        only_moments();
        return show_calendar(node);
    }
  }

  void show_calendar(const TemplateNode& node) {
    const CivilDate date{m_.year, m_.month, static_cast<int>(m_.day)};
    const IsoWeek week = iso_week(m_.days);
    switch (node.keyword) {
      case Keyword::era:
        out_ += in_letters(m_.year <= 0 ? "BC" : "AD", node.letters);
        return;
      case Keyword::era_dotted:
        out_ += in_letters(m_.year <= 0 ? "B.C." : "A.D.", node.letters);
        return;
      case Keyword::month_name:
        return name(node, month_name(m_.month), 9);
      case Keyword::month_abbreviation:
        return name(node, month_name(m_.month).substr(0, 3), 3);
      case Keyword::day_name:
        return name(node, weekday_name(day_of_week(m_.days)), 9);
      case Keyword::day_abbreviation:
        return name(node, weekday_name(day_of_week(m_.days)).substr(0, 3), 3);
      case Keyword::day_of_year:
        return number(node, day_of_year(date), 3);
      case Keyword::day_of_week:
        return number(node, day_of_week(m_.days) + 1, 0);
      case Keyword::iso_day_of_year:
        return number(node, m_.days - days_from_iso_week(week.year, 1) + 1, 3);
      case Keyword::iso_day_of_week:
        return number(node, (day_of_week(m_.days) + 6) % 7 + 1, 0);
      case Keyword::iso_week:
        return number(node, week.week, 2);
      case Keyword::iso_year:
        return year(node, week.year > 0 ? week.year : 1 - week.year);
      case Keyword::week_of_year:
        return number(node, (day_of_year(date) - 1) / 7 + 1, 2);
      case Keyword::week_of_month:
        return number(node, (m_.day - 1) / 7 + 1, 0);
      case Keyword::julian:
        return number(node, m_.days + kJulianEpoch, 0);
      case Keyword::zone_name:
        out_ += node.letters == Letters::lower ? in_letters(m_.zone_name, Letters::lower)
                                               : std::string{m_.zone_name};
        return;
      case Keyword::zone_hours:
        out_ += fmt::format("{}{:02}", m_.seconds_east < 0 ? '-' : '+',
                            std::abs(m_.seconds_east) / 3600);
        return;
      case Keyword::zone_minutes:
        out_ += fmt::format("{:02}", std::abs(m_.seconds_east) / 60 % 60);
        return;
      case Keyword::zone_offset:
        out_ += fmt::format("{}{:02}", m_.seconds_east < 0 ? '-' : '+',
                            std::abs(m_.seconds_east) / 3600);
        if (m_.seconds_east % 3600 != 0)
          out_ += fmt::format(":{:02}", std::abs(m_.seconds_east) / 60 % 60);
        return;
      default:
        return;
    }
  }

  Moment m_;
  std::string out_;
};

Moment moment_of(i64 local) {
  const CivilTime civil = civil_from_timestamp(local);
  Moment m;
  m.year = civil.date.year;
  m.month = civil.date.month;
  m.day = civil.date.day;
  m.hour = civil.time.hour;
  m.minute = civil.time.minute;
  m.second = civil.time.second;
  m.microsecond = civil.time.microsecond;
  m.days = floor_div(local, kMicrosPerDay);
  return m;
}

Value show(FunctionContext& context, const Moment& moment, const Value& format) {
  const auto nodes = datetime_template(format.as_text(), context.arena.account());
  return make_text(context.arena, Writer{moment}.write(*nodes));
}

Value timestamp_to_char(FunctionContext& context, Arguments a) {
  if (a[1].as_text().empty() || is_infinite_timestamp(a[0].as_int8())) return Value::null();
  return show(context, moment_of(a[0].as_int8()), a[1]);
}
Value timestamptz_to_char(FunctionContext& context, Arguments a) {
  if (a[1].as_text().empty() || is_infinite_timestamp(a[0].as_int8())) return Value::null();
  const auto offset = session_zone(context).at_utc(a[0].as_int8());
  Moment m = moment_of(a[0].as_int8() + offset.seconds_east * kMicrosPerSecond);
  m.zone_name = offset.abbreviation;
  m.seconds_east = offset.seconds_east;
  return show(context, m, a[1]);
}
Value interval_to_char(FunctionContext& context, Arguments a) {
  if (a[1].as_text().empty()) return Value::null();
  const Interval i = a[0].as_interval();
  if (is_infinite_interval(i)) return Value::null();
  Moment m;
  m.is_interval = true;
  m.year = i.months / 12;
  m.month = i.months % 12;
  m.day = i.days;
  m.hour = i.microseconds / kMicrosPerHour;
  m.minute = static_cast<int>(i.microseconds / kMicrosPerMinute % 60);
  m.second = static_cast<int>(i.microseconds / kMicrosPerSecond % 60);
  m.microsecond = static_cast<int>(i.microseconds % kMicrosPerSecond);
  return show(context, m, a[1]);
}

constexpr ScalarEntry kFormattingEntries[] = {
    {"to_char(timestamp,text)", &timestamp_to_char},
    {"to_char(timestamptz,text)", &timestamptz_to_char},
    {"to_char(interval,text)", &interval_to_char},
    {"to_char(int4,text)", &integer_to_char},
    {"to_char(int8,text)", &integer_to_char},
    {"to_char(numeric,text)", &numeric_to_char},
    {"to_char(float4,text)", &float4_to_char},
    {"to_char(float8,text)", &float8_to_char},
    {"to_number(text,text)", &text_to_number},
};

}  // namespace

std::span<const ScalarEntry> formatting_functions() {
  return kFormattingEntries;
}

}  // namespace swizzle::sql
