#pragma once

#include <string_view>

#include "sql-lite-frontend/types/datetime/datetime.h"
#include "sql-lite-frontend/types/datetime/time_zone.h"
#include "sql-lite-frontend/types/datum.h"
#include "sql-lite-frontend/types/function_context.h"

/// SQL's operations on dates, times and intervals. All throw SqlError 22008 out of range.
namespace swizzle::sql {

std::int32_t read_date(FunctionContext& context, std::string_view text);
std::int64_t read_timestamp(FunctionContext& context, std::string_view text);
std::int64_t read_timestamptz(FunctionContext& context, std::string_view text);

std::int64_t fit_timestamp(std::int64_t timestamp, std::int32_t typmod);
/// Drops the fields below the declared ones and rounds seconds.
Interval fit_interval(const Interval& interval, std::int32_t typmod);

std::int64_t checked_timestamp(std::int64_t timestamp);
std::int32_t checked_date(std::int64_t days);

std::int64_t timestamp_from_date(std::int32_t date);
std::int32_t date_from_timestamp(std::int64_t timestamp);
/// A local time read in a zone, and back.
std::int64_t local_to_utc(std::int64_t local, const TimeZone& zone);
std::int64_t utc_to_local(std::int64_t timestamp, const TimeZone& zone);

std::int64_t add_interval(std::int64_t timestamp, const Interval& interval);
std::int64_t add_interval_in_zone(std::int64_t timestamp, const Interval& interval,
                                  const TimeZone& zone);
/// Days and a time of day, never months.
Interval subtract_timestamps(std::int64_t left, std::int64_t right);

Interval add(const Interval& left, const Interval& right);
Interval subtract(const Interval& left, const Interval& right);
Interval negate(const Interval& interval);
Interval multiply(const Interval& interval, double factor);
Interval divide(const Interval& interval, double divisor);

/// Months count 30 days and days 24 hours, in comparisons.
int compare_intervals(const Interval& left, const Interval& right) noexcept;

}  // namespace swizzle::sql
