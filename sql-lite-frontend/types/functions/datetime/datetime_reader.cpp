#include "sql-lite-frontend/types/functions/datetime/datetime_reader.h"

#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/functions/text/template_fields.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using i64 = std::int64_t;

/// Combines template fields into a day and a time.
class MomentMaker {
 public:
  MomentMaker(const TemplateFields& fields, std::string_view text) : f_{fields}, text_{text} {}

  void make(ReadMoment& moment) {
    read_time();
    read_date();
    const i64 micros = f_.millisecond * 1000 + f_.microsecond;
    const auto is_below = [](i64 value, i64 end) { return value >= 0 && value < end; };
    if (!is_below(hour_, 24) || !is_below(minute_, 60) || !is_below(second_, 60) ||
        !is_below(micros, kMicrosPerSecond)) {
      out_of_range();
    }
    moment.time = ((hour_ * 60 + minute_) * 60 + second_) * kMicrosPerSecond + micros;
    moment.days = days_from_civil({year_, static_cast<int>(month_), 1}) + day_ - 1;
    moment.precision = f_.precision;
    if (f_.zone) {
      const auto local = moment.timestamp();
      moment.seconds_east = local ? f_.zone->at_local(*local) : f_.zone->seconds_east;
      return;
    }
    if (f_.zone_sign == 0) return;
    constexpr i64 kMostHours = 16;
    if (!is_below(f_.zone_hours, kMostHours) || !is_below(f_.zone_minutes, 60)) {
      throw_error(sqlstate::invalid_time_zone_displacement,
                  "time zone displacement out of range: \"{}\"", text_);
    }
    moment.seconds_east =
        static_cast<std::int32_t>(f_.zone_sign * (f_.zone_hours * 3600 + f_.zone_minutes * 60));
  }

 private:
  [[noreturn]] void out_of_range() const {
    throw_error(sqlstate::datetime_field_overflow, "date/time field value out of range: \"{}\"",
                text_);
  }

  void read_time() {
    hour_ = f_.second_of_day / 3600;
    minute_ = f_.second_of_day % 3600 / 60;
    second_ = f_.second_of_day % 60;
    if (f_.second != 0) second_ = f_.second;
    if (f_.minute != 0) minute_ = f_.minute;
    if (f_.hour != 0) hour_ = f_.hour;
    if (!f_.has_twelve_hours) return;
    constexpr i64 kNoon = 12;
    if (hour_ < 1 || hour_ > kNoon) {
      throw sql_error(sqlstate::invalid_datetime_format,
                      "hour \"{}\" is invalid for the 12-hour clock", hour_)
          .with_hint("Use the 24-hour clock, or give an hour between 1 and 12.");
    }
    hour_ = hour_ % kNoon + (f_.is_afternoon != 0 ? kNoon : 0);
  }

  void read_year() {
    const i64 century = f_.is_before_christ != 0 ? -f_.century : f_.century;
    if (f_.year != 0 && century != 0 && f_.year_digits <= 2) {
      // Last digits of a year in the given century. A century ends with its year 00.
      const i64 digits = f_.year % 100;
      if (digits == 0) {
        year_ = century * 100 + (century >= 0 ? 0 : 1);
      } else {
        year_ = century >= 0 ? (century - 1) * 100 + digits : (century + 1) * 100 - digits + 1;
      }
    } else if (f_.year != 0) {
      year_ = f_.is_before_christ != 0 ? -f_.year : f_.year;
      if (year_ < 0) ++year_;
    } else if (century != 0) {
      year_ = century >= 0 ? (century - 1) * 100 + 1 : century * 100 + 1;
    } else {
      return;
    }
    has_year_ = true;
  }
  void set_date(i64 days) {
    const CivilDate date = civil_from_days(days);
    year_ = date.year;
    month_ = date.month;
    day_ = date.day;
    has_year_ = has_month_ = has_day_ = true;
  }

  void read_date() {
    read_year();
    if (f_.julian != 0) set_date(f_.julian - kJulianEpoch);
    if (f_.week != 0) {
      if (f_.convention == DateConvention::iso_week) {
        const i64 monday = days_from_iso_week(year_, 1) + (f_.week - 1) * 7;
        // The first day of the week if no day is given.
        const i64 day = f_.week_day == 0 ? 0 : f_.week_day > 1 ? f_.week_day - 2 : 6;
        set_date(monday + day);
      } else {
        f_.day_of_year = (f_.week - 1) * 7 + 1;
      }
    }
    if (f_.week_of_month != 0) f_.day = (f_.week_of_month - 1) * 7 + 1;
    if (f_.day != 0) {
      day_ = f_.day;
      has_day_ = true;
    }
    if (f_.month != 0) {
      month_ = f_.month;
      has_month_ = true;
    }
    if (f_.day_of_year != 0 && (month_ <= 1 || day_ <= 1)) read_day_of_year();
    if (has_month_ && (month_ < 1 || month_ > 12)) out_of_range();
    if (has_day_ && (day_ < 1 || day_ > 31)) out_of_range();
    if (has_year_ && has_month_ && has_day_ &&
        day_ > days_in_month(year_, static_cast<int>(month_))) {
      out_of_range();
    }
  }
  void read_day_of_year() {
    if (year_ == 0 && f_.is_before_christ == 0)
      throw sql_error(sqlstate::invalid_datetime_format,
                      "cannot calculate day of year without year information");
    if (f_.convention == DateConvention::iso_week)
      return set_date(days_from_iso_week(year_, 1) + f_.day_of_year - 1);
    i64 rest = f_.day_of_year;
    i64 month = 1;
    for (; month <= 12; ++month) {
      const int days = days_in_month(year_, static_cast<int>(month));
      if (rest <= days) break;
      rest -= days;
    }
    if (month_ <= 1) month_ = month;
    if (day_ <= 1) day_ = rest;
    has_month_ = has_day_ = true;
  }

  TemplateFields f_;
  std::string_view text_;
  i64 year_ = 0;
  i64 month_ = 1;
  i64 day_ = 1;
  bool has_year_ = false;
  bool has_month_ = false;
  bool has_day_ = false;
  i64 hour_ = 0;
  i64 minute_ = 0;
  i64 second_ = 0;
};

}  // namespace

std::optional<i64> ReadMoment::timestamp() const noexcept {
  return timestamp_of(days, time);
}

ReadMoment read_by_template(std::string_view text, const TemplateNodes& nodes, TemplateRules rules,
                            const TimeZone& session) {
  ReadMoment moment;
  // An empty template reads nothing.
  const TemplateFields fields =
      nodes.empty() ? TemplateFields{} : read_fields(text, nodes, rules, session);
  MomentMaker{fields, text}.make(moment);
  for (const TemplateNode& node : nodes) {
    const MomentPart part = traits_of(node.keyword).part;
    moment.has_date |= part == MomentPart::date;
    moment.has_time |= part == MomentPart::time;
    moment.has_zone |= part == MomentPart::zone;
  }
  return moment;
}

}  // namespace swizzle::sql
