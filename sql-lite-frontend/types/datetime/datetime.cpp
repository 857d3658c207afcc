#include "sql-lite-frontend/types/datetime/datetime.h"

#include "sql-lite-frontend/types/statement_invariant.h"

namespace swizzle::sql {

// Counts years from March, so that the leap day is the last of a year; an era is 400 years.
std::int64_t days_from_civil(const CivilDate& date) noexcept {
  const std::int64_t year = date.year - (date.month <= 2 ? 1 : 0);
  const std::int64_t era = floor_div(year, 400);
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t month_from_march = (date.month + 9) % 12;
  const std::int64_t day_of_this_year = (153 * month_from_march + 2) / 5 + date.day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_this_year;
  constexpr std::int64_t kEraDays = 146097;
  constexpr std::int64_t kMarchOfYearZero = 730425;  // from 0000-03-01 to 2000-01-01
  return era * kEraDays + day_of_era - kMarchOfYearZero;
}

CivilDate civil_from_days(std::int64_t days) noexcept {
  constexpr std::int64_t kEraDays = 146097;
  const std::int64_t shifted = days + 730425;
  const std::int64_t era = floor_div(shifted, kEraDays);
  const std::int64_t day_of_era = shifted - era * kEraDays;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_this_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_from_march = (5 * day_of_this_year + 2) / 153;
  CivilDate out;
  out.day = static_cast<int>(day_of_this_year - (153 * month_from_march + 2) / 5 + 1);
  out.month = static_cast<int>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  out.year = year_of_era + era * 400 + (out.month <= 2 ? 1 : 0);
  return out;
}

bool is_leap_year(std::int64_t year) noexcept {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int days_in_month(std::int64_t year, int month) noexcept {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap_year(year) ? 29 : kDays[month - 1];
}

std::int64_t micros_from_time(const TimeOfDay& time) noexcept {
  return ((time.hour * std::int64_t{60} + time.minute) * 60 + time.second) * kMicrosPerSecond +
         time.microsecond;
}

TimeOfDay time_from_micros(std::int64_t micros) noexcept {
  TimeOfDay out;
  out.hour = static_cast<int>(micros / kMicrosPerHour);
  out.minute = static_cast<int>(micros / kMicrosPerMinute % 60);
  out.second = static_cast<int>(micros / kMicrosPerSecond % 60);
  out.microsecond = static_cast<int>(micros % kMicrosPerSecond);
  return out;
}

CivilTime civil_from_timestamp(std::int64_t timestamp) noexcept {
  const std::int64_t days = floor_div(timestamp, kMicrosPerDay);
  return {civil_from_days(days), time_from_micros(timestamp - days * kMicrosPerDay)};
}

std::optional<std::int64_t> timestamp_of(std::int64_t days, std::int64_t micros) noexcept {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(days, kMicrosPerDay, &out) ||
      __builtin_add_overflow(out, micros, &out))
    return std::nullopt;
  return out;
}

std::optional<std::int64_t> timestamp_from_civil(const CivilTime& civil) noexcept {
  return timestamp_of(days_from_civil(civil.date), micros_from_time(civil.time));
}

int day_of_week(std::int64_t days) noexcept {
  return static_cast<int>(floor_mod(days + 6, 7));  // 2000-01-01 was a Saturday
}

int day_of_year(const CivilDate& date) noexcept {
  return static_cast<int>(days_from_civil(date) - days_from_civil({date.year, 1, 1})) + 1;
}

std::int64_t days_from_iso_week(std::int64_t year, int week) noexcept {
  // 4 January is always in week 1.
  const std::int64_t fourth = days_from_civil({year, 1, 4});
  return fourth - (day_of_week(fourth) + 6) % 7 + (week - 1) * 7;
}

IsoWeek iso_week(std::int64_t days) noexcept {
  const std::int64_t thursday = days - (day_of_week(days) + 6) % 7 + 3;
  const std::int64_t year = civil_from_days(thursday).year;
  return {year, static_cast<int>((thursday - days_from_civil({year, 1, 1})) / 7) + 1};
}

std::int64_t round_micros(std::int64_t micros, int precision) noexcept {
  constexpr std::int64_t kUnits[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
  if (precision < 0 || precision >= 6) return micros;
  const std::int64_t unit = kUnits[precision];
  const std::int64_t half = unit / 2;
  return micros >= 0 ? (micros + half) / unit * unit : -((half - micros) / unit * unit);
}

std::string_view month_name(int month) {
  constexpr std::string_view kNames[] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};
  STATEMENT_INVARIANT(month >= 1 && month <= 12);
  return kNames[month - 1];
}

std::string_view weekday_name(int day) {
  constexpr std::string_view kNames[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                         "Thursday", "Friday", "Saturday"};
  STATEMENT_INVARIANT(day >= 0 && day <= 6);
  return kNames[day];
}

}  // namespace swizzle::sql
