#pragma once

#include <optional>
#include <string_view>

#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/datetime/time_zone.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"

/// Operations on dates, times and intervals. All throw SqlError 22008 if the result is out of
/// range.
namespace swizzle::sql {

inline constexpr Interval kIntervalInfinity{INT64_MAX, INT32_MAX, INT32_MAX};
inline constexpr Interval kIntervalMinusInfinity{INT64_MIN, INT32_MIN, INT32_MIN};
constexpr bool is_infinite_interval(const Interval& interval) noexcept {
  return interval == kIntervalInfinity || interval == kIntervalMinusInfinity;
}

std::int32_t read_date(FunctionContext& context, std::string_view text);
std::int64_t read_timestamp(FunctionContext& context, std::string_view text);
std::int64_t read_timestamptz(FunctionContext& context, std::string_view text);

std::int64_t fit_timestamp(std::int64_t timestamp, std::int32_t typmod);
/// Removes fields below the declared ones and rounds seconds.
Interval fit_interval(const Interval& interval, std::int32_t typmod);

std::int64_t checked_timestamp(std::int64_t timestamp);
std::int32_t checked_date(std::int64_t days);

std::int64_t timestamp_from_date(std::int32_t date);
std::int32_t date_from_timestamp(std::int64_t timestamp);
/// Converts a local time in a zone to UTC, and back.
std::int64_t local_to_utc(std::int64_t local, const TimeZone& zone);
std::int64_t utc_to_local(std::int64_t timestamp, const TimeZone& zone);

std::int64_t add_interval(std::int64_t timestamp, const Interval& interval);
std::int64_t add_interval_in_zone(std::int64_t timestamp, const Interval& interval,
                                  const TimeZone& zone);
/// The difference if a part of it is infinite.
std::optional<Interval> infinite_difference(std::int64_t left, std::int64_t right);
/// The result has days and a time of day, but no months.
Interval subtract_timestamps(std::int64_t left, std::int64_t right);

Interval add(const Interval& left, const Interval& right);
Interval subtract(const Interval& left, const Interval& right);
Interval negate(const Interval& interval);
Interval multiply(const Interval& interval, double factor);
Interval divide(const Interval& interval, double divisor);

/// For comparison, a month counts as 30 days and a day as 24 hours.
int compare_intervals(const Interval& left, const Interval& right) noexcept;

}  // namespace swizzle::sql
