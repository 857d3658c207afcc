// date_trunc() and date_bin().
#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/functions/datetime/datetime_unit.h"
#include "sql-lite-frontend/types/functions/datetime/zones.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using i64 = std::int64_t;

/// Returns the microseconds of a unit of time; 0 for a day and longer.
i64 micros_of(DateTimeUnit field) {
  switch (field) {
    case DateTimeUnit::microsecond:
      return 1;
    case DateTimeUnit::millisecond:
      return 1000;
    case DateTimeUnit::second:
      return kMicrosPerSecond;
    case DateTimeUnit::minute:
      return kMicrosPerMinute;
    case DateTimeUnit::hour:
      return kMicrosPerHour;
    default:
      return 0;
  }
}

CivilDate first_of(DateTimeUnit field, CivilDate d, i64 days) {
  const auto start_of_period = [&](i64 length) {
    return d.year > 0 ? (d.year + length - 1) / length * length - (length - 1)
                      : -((length - 1 - (d.year - 1)) / length) * length + 1;
  };
  switch (field) {
    case DateTimeUnit::day:
      return d;
    case DateTimeUnit::week:
      return civil_from_days(days - (day_of_week(days) + 6) % 7);
    case DateTimeUnit::month:
      return {d.year, d.month, 1};
    case DateTimeUnit::quarter:
      return {d.year, (d.month - 1) / 3 * 3 + 1, 1};
    case DateTimeUnit::year:
      return {d.year, 1, 1};
    case DateTimeUnit::decade:
      return {d.year > 0 ? d.year / 10 * 10 : -((8 - (d.year - 1)) / 10) * 10, 1, 1};
    case DateTimeUnit::century:
      return {start_of_period(100), 1, 1};
    default:
      return {start_of_period(1000), 1, 1};
  }
}

bool truncates_dates(DateTimeUnit field) {
  switch (field) {
    case DateTimeUnit::day:
    case DateTimeUnit::week:
    case DateTimeUnit::month:
    case DateTimeUnit::quarter:
    case DateTimeUnit::year:
    case DateTimeUnit::decade:
    case DateTimeUnit::century:
    case DateTimeUnit::millennium:
      return true;
    default:
      return false;
  }
}

// Only zones are known as units here without being one to cut at.
[[noreturn]] void refuse_truncation(std::string_view name, DateTimeUnit field, TypeId type) {
  const bool zone = field == DateTimeUnit::timezone || field == DateTimeUnit::timezone_hour ||
                    field == DateTimeUnit::timezone_minute;
  refuse_datetime_unit(name, zone ? field : DateTimeUnit::unknown, type);
}

i64 truncated(std::string_view name, DateTimeUnit field, i64 local, TypeId type) {
  const i64 unit = micros_of(field);
  if (unit == 0 && !truncates_dates(field)) refuse_truncation(name, field, type);
  if (is_infinite_timestamp(local)) return local;
  if (unit != 0) return local - floor_mod(local, unit);
  const i64 days = floor_div(local, kMicrosPerDay);
  return days_from_civil(first_of(field, civil_from_days(days), days)) * kMicrosPerDay;
}

Value truncate_timestamp(FunctionContext&, Arguments a) {
  const std::string_view name = a[0].as_text();
  return Value::from_int(
      truncated(name, find_datetime_unit(name), a[1].as_int8(), TypeId::timestamp));
}

i64 truncated_in(std::string_view name, i64 timestamp, const TimeZone& zone) {
  const DateTimeUnit field = find_datetime_unit(name);
  if (is_infinite_timestamp(timestamp))
    return truncated(name, field, timestamp, TypeId::timestamptz);
  const i64 offset = zone.at_utc(timestamp).seconds_east * kMicrosPerSecond;
  const i64 local = truncated(name, field, timestamp + offset, TypeId::timestamptz);
  // Truncation within a day keeps the offset; the start of a day or a longer unit may have another
  // one.
  return micros_of(field) != 0 ? local - offset : local_to_utc(local, zone);
}
Value truncate_timestamptz(FunctionContext& context, Arguments a) {
  return Value::from_int(truncated_in(a[0].as_text(), a[1].as_int8(), session_zone(context)));
}
Value truncate_in_zone(FunctionContext&, Arguments a) {
  const auto zone = find_zone(a[2].as_text(), {a[1].as_int8()});
  return Value::from_int(truncated_in(a[0].as_text(), a[1].as_int8(), *zone));
}

Value truncate_interval(FunctionContext& context, Arguments a) {
  const std::string_view name = a[0].as_text();
  const DateTimeUnit field = find_datetime_unit(name);
  Interval i = a[1].as_interval();
  if (const i64 unit = micros_of(field); unit != 0) {
    if (is_infinite_interval(i)) return a[1];
    i.microseconds -= i.microseconds % unit;
    return make_interval(context.arena, i);
  }
  if (field == DateTimeUnit::week)
    throw SqlError{sqlstate::feature_not_supported, "unit \"week\" not supported for type interval"}
        .with_detail("Months usually have fractional weeks.");
  if (!truncates_dates(field)) refuse_truncation(name, field, TypeId::interval);
  if (is_infinite_interval(i)) return a[1];
  i.microseconds = 0;
  if (field != DateTimeUnit::day) i.days = 0;
  const auto months = [&i](std::int32_t unit) { i.months = i.months / unit * unit; };
  switch (field) {
    case DateTimeUnit::quarter:
      months(3);
      break;
    case DateTimeUnit::year:
      months(12);
      break;
    case DateTimeUnit::decade:
      months(120);
      break;
    case DateTimeUnit::century:
      months(1200);
      break;
    case DateTimeUnit::millennium:
      months(12000);
      break;
    default:
      break;
  }
  return make_interval(context.arena, i);
}

Value date_bin(FunctionContext&, Arguments a) {
  const Interval stride = a[0].as_interval();
  const i64 source = a[1].as_int8();
  const i64 origin = a[2].as_int8();
  if (is_infinite_timestamp(source)) return a[1];
  if (is_infinite_timestamp(origin))
    throw SqlError{sqlstate::datetime_field_overflow, "origin out of range"};
  if (is_infinite_interval(stride)) {
    throw SqlError{sqlstate::datetime_field_overflow,
                   "timestamps cannot be binned into infinite intervals"};
  }
  if (stride.months != 0)
    throw SqlError{sqlstate::feature_not_supported,
                   "timestamps cannot be binned into intervals containing months or years"};
  const auto out_of_range = [] {
    throw SqlError{sqlstate::datetime_field_overflow, "interval out of range"};
  };
  i64 width = 0;
  if (__builtin_mul_overflow(i64{stride.days}, kMicrosPerDay, &width) ||
      __builtin_add_overflow(width, stride.microseconds, &width)) {
    out_of_range();
  }
  if (width <= 0)
    throw SqlError{sqlstate::datetime_field_overflow, "stride must be greater than zero"};
  i64 distance = 0;
  if (__builtin_sub_overflow(source, origin, &distance)) out_of_range();
  // A wide bin before `origin` may begin before the first timestamp.
  i64 begin = origin + distance / width * width;
  if (distance % width < 0 && __builtin_sub_overflow(begin, width, &begin)) {
    throw SqlError{sqlstate::datetime_field_overflow, "timestamp out of range"};
  }
  return Value::from_int(checked_timestamp(begin));
}

constexpr ScalarEntry kDatetimeTruncationEntries[] = {
    {"date_trunc(text,timestamp)", &truncate_timestamp},
    {"date_trunc(text,timestamptz)", &truncate_timestamptz},
    {"date_trunc(text,timestamptz,text)", &truncate_in_zone},
    {"date_trunc(text,interval)", &truncate_interval},
    {"date_bin(interval,timestamp,timestamp)", &date_bin},
    {"date_bin(interval,timestamptz,timestamptz)", &date_bin},
};

}  // namespace

std::span<const ScalarEntry> datetime_truncation_functions() {
  return kDatetimeTruncationEntries;
}

}  // namespace swizzle::sql
