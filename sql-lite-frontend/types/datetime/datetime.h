#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

/// Calendar arithmetic. Dates count days, timestamps microseconds, both from 2000-01-01 in the
/// proleptic Gregorian calendar. The extreme values are -infinity and infinity.
namespace swizzle::sql {

inline constexpr std::int64_t kMicrosPerSecond = 1'000'000;
inline constexpr std::int64_t kMicrosPerMinute = 60 * kMicrosPerSecond;
inline constexpr std::int64_t kMicrosPerHour = 60 * kMicrosPerMinute;
inline constexpr std::int64_t kMicrosPerDay = 24 * kMicrosPerHour;
inline constexpr std::int64_t kSecondsPerDay = 86400;
/// Distance from 1970-01-01 to 2000-01-01.
inline constexpr std::int64_t kUnixEpochDays = 10957;
inline constexpr std::int64_t kUnixEpochSeconds = kUnixEpochDays * kSecondsPerDay;
/// Julian day number of 2000-01-01.
inline constexpr std::int32_t kJulianEpoch = 2451545;

inline constexpr std::int32_t kDateInfinity = INT32_MAX;
inline constexpr std::int32_t kDateMinusInfinity = INT32_MIN;
inline constexpr std::int64_t kTimestampInfinity = INT64_MAX;
inline constexpr std::int64_t kTimestampMinusInfinity = INT64_MIN;

inline constexpr std::int64_t kMinTimestamp = -211813488000000000;  // 4714-11-24 BC
inline constexpr std::int64_t kEndTimestamp = 9223371331200000000;  // 294277-01-01, excluded
inline constexpr std::int32_t kMinDate = -kJulianEpoch;
inline constexpr std::int32_t kEndDate = 2147483494 - kJulianEpoch;  // 5874898-01-01, excluded

constexpr bool is_infinite_date(std::int32_t d) noexcept {
  return d == kDateInfinity || d == kDateMinusInfinity;
}
constexpr bool is_infinite_timestamp(std::int64_t t) noexcept {
  return t == kTimestampInfinity || t == kTimestampMinusInfinity;
}
constexpr bool is_valid_date(std::int64_t d) noexcept {
  return d >= kMinDate && d < kEndDate;
}
constexpr bool is_valid_timestamp(std::int64_t t) noexcept {
  return t >= kMinTimestamp && t < kEndTimestamp;
}

/// Year 0 is 1 BC.
struct CivilDate {
  std::int64_t year = 0;
  int month = 1;
  int day = 1;
};

struct TimeOfDay {
  int hour = 0;
  int minute = 0;
  int second = 0;
  int microsecond = 0;
};

struct CivilTime {
  CivilDate date;
  TimeOfDay time;
};

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept {
  const std::int64_t q = a / b;
  return q - static_cast<std::int64_t>((a % b != 0) && ((a < 0) != (b < 0)));
}
constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) noexcept {
  return a - floor_div(a, b) * b;
}

std::int64_t days_from_civil(const CivilDate& date) noexcept;
CivilDate civil_from_days(std::int64_t days) noexcept;
bool is_leap_year(std::int64_t year) noexcept;
int days_in_month(std::int64_t year, int month) noexcept;

std::int64_t micros_from_time(const TimeOfDay& time) noexcept;
/// Pre: 0 <= micros <= 24 hours.
TimeOfDay time_from_micros(std::int64_t micros) noexcept;
CivilTime civil_from_timestamp(std::int64_t timestamp) noexcept;
/// Nothing on 64-bit overflow. The result may be out of range: see is_valid_timestamp.
std::optional<std::int64_t> timestamp_of(std::int64_t days, std::int64_t micros) noexcept;
std::optional<std::int64_t> timestamp_from_civil(const CivilTime& civil) noexcept;

int day_of_week(std::int64_t days) noexcept;      ///< 0 is Sunday
int day_of_year(const CivilDate& date) noexcept;  ///< from 1
struct IsoWeek {
  std::int64_t year = 0;
  int week = 1;
};
IsoWeek iso_week(std::int64_t days) noexcept;
/// Returns the Monday of the ISO week.
std::int64_t days_from_iso_week(std::int64_t year, int week) noexcept;

/// Rounds microseconds to 0 … 6 decimals of a second, half away from zero.
std::int64_t round_micros(std::int64_t micros, int precision) noexcept;

std::string_view month_name(int month);  ///< "January"; from 1
std::string_view weekday_name(int day);  ///< "Sunday"; from 0

}  // namespace swizzle::sql
