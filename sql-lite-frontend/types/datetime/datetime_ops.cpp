#include "sql-lite-frontend/types/datetime/datetime_ops.h"

#include <algorithm>
#include <cmath>

#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/datetime/interval_fields.h"
#include "sql-lite-frontend/types/numeric/int128.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

[[noreturn]] void timestamp_out_of_range() {
  throw SqlError{sqlstate::datetime_field_overflow, "timestamp out of range"};
}
[[noreturn]] void interval_out_of_range() {
  throw SqlError{sqlstate::datetime_field_overflow, "interval out of range"};
}

/// The same day of another month, or its last day.
CivilDate add_months(CivilDate date, std::int32_t months) {
  const std::int64_t month = date.year * 12 + (date.month - 1) + months;
  date.year = floor_div(month, 12);
  date.month = static_cast<int>(floor_mod(month, 12)) + 1;
  date.day = std::min(date.day, days_in_month(date.year, date.month));
  return date;
}

std::int64_t add_months_and_days(std::int64_t local, const Interval& interval) {
  if (interval.months == 0 && interval.days == 0) return local;
  const std::int64_t day = floor_div(local, kMicrosPerDay);
  const std::int64_t time = local - day * kMicrosPerDay;
  std::int64_t moved = day;
  if (interval.months != 0)
    moved = days_from_civil(add_months(civil_from_days(day), interval.months));
  moved += interval.days;
  const std::optional<std::int64_t> out = timestamp_of(moved, time);
  if (!out) timestamp_out_of_range();
  return *out;
}

}  // namespace

Interval fit_interval(const Interval& interval, std::int32_t typmod) {
  if (typmod < 0 || is_infinite_interval(interval)) return interval;
  Interval out = interval;
  const unsigned fields = interval_fields(typmod);
  const auto truncate = [&out](std::int64_t unit) {
    out.microseconds = out.microseconds / unit * unit;
  };
  // The lowest declared field decides; smaller units are dropped.
  if (fields == kAllIntervalFields || (fields & kSecondField) != 0) {
  } else if ((fields & kMinuteField) != 0) {
    truncate(kMicrosPerMinute);
  } else if ((fields & kHourField) != 0) {
    truncate(kMicrosPerHour);
  } else {
    out.microseconds = 0;
    if ((fields & kDayField) == 0) {
      out.days = 0;
      if ((fields & kMonthField) == 0) out.months = out.months / 12 * 12;
    }
  }
  const unsigned precision = interval_precision(typmod);
  if (precision < 6) {
    std::int64_t half = 5;
    for (unsigned digit = precision; digit < 5; ++digit) half *= 10;
    std::int64_t moved = 0;
    if (__builtin_add_overflow(out.microseconds, out.microseconds < 0 ? -half : half, &moved))
      interval_out_of_range();
    out.microseconds = round_micros(out.microseconds, static_cast<int>(precision));
  }
  return out;
}

std::int64_t checked_timestamp(std::int64_t timestamp) {
  if (!is_valid_timestamp(timestamp)) timestamp_out_of_range();
  return timestamp;
}

std::int32_t checked_date(std::int64_t days) {
  if (!is_valid_date(days)) throw SqlError{sqlstate::datetime_field_overflow, "date out of range"};
  return static_cast<std::int32_t>(days);
}

std::int64_t timestamp_from_date(std::int32_t date) {
  if (date == kDateInfinity) return kTimestampInfinity;
  if (date == kDateMinusInfinity) return kTimestampMinusInfinity;
  std::int64_t out = 0;
  if (__builtin_mul_overflow(std::int64_t{date}, kMicrosPerDay, &out) || !is_valid_timestamp(out))
    throw SqlError{sqlstate::datetime_field_overflow, "date out of range for timestamp"};
  return out;
}

std::int32_t date_from_timestamp(std::int64_t timestamp) {
  if (timestamp == kTimestampInfinity) return kDateInfinity;
  if (timestamp == kTimestampMinusInfinity) return kDateMinusInfinity;
  return static_cast<std::int32_t>(floor_div(timestamp, kMicrosPerDay));
}

std::int64_t local_to_utc(std::int64_t local, const TimeZone& zone) {
  if (is_infinite_timestamp(local)) return local;
  std::int64_t out = 0;
  if (__builtin_sub_overflow(local, zone.at_local(local).seconds_east * kMicrosPerSecond, &out))
    timestamp_out_of_range();
  return checked_timestamp(out);
}

std::int64_t utc_to_local(std::int64_t timestamp, const TimeZone& zone) {
  if (is_infinite_timestamp(timestamp)) return timestamp;
  return timestamp + zone.at_utc(timestamp).seconds_east * kMicrosPerSecond;
}

namespace {

/// The sum if a part of it is infinite; two infinities may not be opposite.
std::optional<std::int64_t> infinite_sum(std::int64_t timestamp, const Interval& interval) {
  const bool is_plus = interval == kIntervalInfinity;
  if (!is_plus && interval != kIntervalMinusInfinity) {
    return is_infinite_timestamp(timestamp) ? std::optional{timestamp} : std::nullopt;
  }
  if (timestamp == (is_plus ? kTimestampMinusInfinity : kTimestampInfinity)) {
    timestamp_out_of_range();
  }
  return is_plus ? kTimestampInfinity : kTimestampMinusInfinity;
}

}  // namespace

std::int64_t add_interval(std::int64_t timestamp, const Interval& interval) {
  if (const auto infinite = infinite_sum(timestamp, interval)) return *infinite;
  std::int64_t out = add_months_and_days(timestamp, interval);
  if (__builtin_add_overflow(out, interval.microseconds, &out)) timestamp_out_of_range();
  return checked_timestamp(out);
}

std::int64_t add_interval_in_zone(std::int64_t timestamp, const Interval& interval,
                                  const TimeZone& zone) {
  if (const auto infinite = infinite_sum(timestamp, interval)) return *infinite;
  std::int64_t out = timestamp;
  // Months, then days: each step lands on a local time of its own.
  if (interval.months != 0)
    out = local_to_utc(add_months_and_days(utc_to_local(out, zone), {0, 0, interval.months}), zone);
  if (interval.days != 0)
    out = local_to_utc(add_months_and_days(utc_to_local(out, zone), {0, interval.days, 0}), zone);
  if (__builtin_add_overflow(out, interval.microseconds, &out)) timestamp_out_of_range();
  return checked_timestamp(out);
}

Interval subtract_timestamps(std::int64_t left, std::int64_t right) {
  if (const auto infinite = infinite_difference(left, right)) return *infinite;
  std::int64_t difference = 0;
  if (__builtin_sub_overflow(left, right, &difference)) interval_out_of_range();
  return {difference % kMicrosPerDay, static_cast<std::int32_t>(difference / kMicrosPerDay), 0};
}

std::optional<Interval> infinite_difference(std::int64_t left, std::int64_t right) {
  if (!is_infinite_timestamp(left) && !is_infinite_timestamp(right)) return std::nullopt;
  if (left == right) interval_out_of_range();
  const bool is_plus = left == kTimestampInfinity || right == kTimestampMinusInfinity;
  return is_plus ? kIntervalInfinity : kIntervalMinusInfinity;
}

namespace {

Interval finite(const Interval& interval) {
  if (is_infinite_interval(interval)) interval_out_of_range();
  return interval;
}

Interval opposite(const Interval& infinite) noexcept {
  return infinite == kIntervalInfinity ? kIntervalMinusInfinity : kIntervalInfinity;
}

}  // namespace

Interval add(const Interval& left, const Interval& right) {
  if (is_infinite_interval(left)) {
    if (right == opposite(left)) interval_out_of_range();
    return left;
  }
  if (is_infinite_interval(right)) return right;
  Interval out;
  if (__builtin_add_overflow(left.months, right.months, &out.months) ||
      __builtin_add_overflow(left.days, right.days, &out.days) ||
      __builtin_add_overflow(left.microseconds, right.microseconds, &out.microseconds))
    interval_out_of_range();
  return finite(out);
}

Interval subtract(const Interval& left, const Interval& right) {
  if (is_infinite_interval(left)) {
    if (right == left) interval_out_of_range();
    return left;
  }
  if (is_infinite_interval(right)) return opposite(right);
  Interval out;
  if (__builtin_sub_overflow(left.months, right.months, &out.months) ||
      __builtin_sub_overflow(left.days, right.days, &out.days) ||
      __builtin_sub_overflow(left.microseconds, right.microseconds, &out.microseconds))
    interval_out_of_range();
  return finite(out);
}

Interval negate(const Interval& interval) {
  if (is_infinite_interval(interval)) return opposite(interval);
  return subtract(Interval{}, interval);
}

namespace {

double round_to_micro(double value) {
  return std::rint(value * 1e6) / 1e6;
}

std::int32_t whole_part(double value) {
  if (std::isnan(value) || value > INT32_MAX || value < INT32_MIN) interval_out_of_range();
  return static_cast<std::int32_t>(value);
}

/// Fractions of months spill into days of 30, fractions of days into seconds.
template <class Scale>
Interval scaled(const Interval& interval, Scale scale) {
  const double months = scale(static_cast<double>(interval.months));
  const double days = scale(static_cast<double>(interval.days));
  Interval out;
  out.months = whole_part(months);
  out.days = whole_part(days);
  const double month_days = round_to_micro((months - out.months) * 30);
  const double spilled_days = std::trunc(month_days);
  double seconds = round_to_micro((days - out.days + month_days - spilled_days) * 86400);
  if (std::fabs(seconds) >= 86400) {
    const double whole_days = std::trunc(seconds / 86400);
    out.days = whole_part(out.days + whole_days);
    seconds -= whole_days * 86400;
  }
  out.days = whole_part(out.days + spilled_days);
  const double micros =
      std::rint(scale(static_cast<double>(interval.microseconds)) + seconds * 1e6);
  if (std::isnan(micros) || micros >= 9223372036854775808.0 || micros < -9223372036854775808.0)
    interval_out_of_range();
  out.microseconds = static_cast<std::int64_t>(micros);
  return out;
}

}  // namespace

Interval multiply(const Interval& interval, double factor) {
  if (std::isnan(factor)) interval_out_of_range();
  if (is_infinite_interval(interval)) {
    if (factor == 0) interval_out_of_range();
    return factor < 0 ? opposite(interval) : interval;
  }
  if (std::isinf(factor)) {
    const int sign = compare_intervals(interval, {});
    if (sign == 0) interval_out_of_range();
    return (factor < 0) == (sign < 0) ? kIntervalInfinity : kIntervalMinusInfinity;
  }
  return finite(scaled(interval, [factor](double part) { return part * factor; }));
}

Interval divide(const Interval& interval, double divisor) {
  if (divisor == 0) throw SqlError{sqlstate::division_by_zero, "division by zero"};
  if (std::isnan(divisor)) interval_out_of_range();
  if (is_infinite_interval(interval)) {
    if (std::isinf(divisor)) interval_out_of_range();
    return divisor < 0 ? opposite(interval) : interval;
  }
  return finite(scaled(interval, [divisor](double part) { return part / divisor; }));
}

int compare_intervals(const Interval& left, const Interval& right) noexcept {
  const auto total = [](const Interval& i) {
    return (Int128{i.months} * 30 + i.days) * kMicrosPerDay + i.microseconds;
  };
  const Int128 a = total(left);
  const Int128 b = total(right);
  return static_cast<int>(a > b) - static_cast<int>(a < b);
}

}  // namespace swizzle::sql
