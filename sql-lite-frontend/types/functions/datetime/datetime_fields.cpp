#include <cmath>
#include <limits>

#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/functions/datetime/datetime_unit.h"
#include "sql-lite-frontend/types/functions/datetime/zones.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/numeric/int128.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using i64 = std::int64_t;

/// A field's value as a decimal, or an infinity (+1, -1), or NULL.
struct Extracted {
  Int128 unscaled = 0;
  int scale = 0;
  int infinite = 0;
  bool is_null = false;
};

// Years, centuries and millennia before 1 are shown from -1.
i64 shown_year(i64 year) {
  return year > 0 ? year : year - 1;
}
i64 decade_of(i64 year) {
  return year >= 0 ? year / 10 : -((8 - (year - 1)) / 10);
}
i64 period_of(i64 year, i64 length) {
  return year > 0 ? (year + length - 1) / length : -((length - 1 - (year - 1)) / length);
}

bool is_monotonic(DateTimeUnit field) {
  switch (field) {
    case DateTimeUnit::year:
    case DateTimeUnit::decade:
    case DateTimeUnit::century:
    case DateTimeUnit::millennium:
    case DateTimeUnit::isoyear:
    case DateTimeUnit::julian:
    case DateTimeUnit::epoch:
      return true;
    default:
      return false;
  }
}

std::optional<Extracted> of_time(DateTimeUnit field, i64 micros) {
  switch (field) {
    case DateTimeUnit::microsecond:
      return Extracted{micros % kMicrosPerMinute, 0};
    case DateTimeUnit::millisecond:
      return Extracted{micros % kMicrosPerMinute, 3};
    case DateTimeUnit::second:
      return Extracted{micros % kMicrosPerMinute, 6};
    case DateTimeUnit::minute:
      return Extracted{micros / kMicrosPerMinute % 60, 0};
    case DateTimeUnit::hour:
      return Extracted{micros / kMicrosPerHour, 0};
    default:
      return std::nullopt;
  }
}

std::optional<Extracted> of_day(DateTimeUnit field, i64 days) {
  const CivilDate d = civil_from_days(days);
  switch (field) {
    case DateTimeUnit::day:
      return Extracted{d.day};
    case DateTimeUnit::month:
      return Extracted{d.month};
    case DateTimeUnit::quarter:
      return Extracted{(d.month - 1) / 3 + 1};
    case DateTimeUnit::week:
      return Extracted{iso_week(days).week};
    case DateTimeUnit::year:
      return Extracted{shown_year(d.year)};
    case DateTimeUnit::decade:
      return Extracted{decade_of(d.year)};
    case DateTimeUnit::century:
      return Extracted{period_of(d.year, 100)};
    case DateTimeUnit::millennium:
      return Extracted{period_of(d.year, 1000)};
    case DateTimeUnit::isoyear:
      return Extracted{shown_year(iso_week(days).year)};
    case DateTimeUnit::dow:
      return Extracted{day_of_week(days)};
    case DateTimeUnit::isodow:
      return Extracted{(day_of_week(days) + 6) % 7 + 1};
    case DateTimeUnit::doy:
      return Extracted{day_of_year(d)};
    default:
      return std::nullopt;
  }
}

Extracted from_timestamp(std::string_view name, i64 timestamp, i64 local, TypeId type,
                         std::optional<std::int32_t> east) {
  const DateTimeUnit field = find_datetime_unit(name);
  const bool zone_field = field == DateTimeUnit::timezone || field == DateTimeUnit::timezone_hour ||
                          field == DateTimeUnit::timezone_minute;
  if (field == DateTimeUnit::unknown || (zone_field && !east))
    refuse_datetime_unit(name, field, type);
  if (is_infinite_timestamp(timestamp)) {
    if (is_monotonic(field)) return {0, 0, timestamp > 0 ? 1 : -1};
    return {0, 0, 0, true};
  }
  if (zone_field) {
    if (field == DateTimeUnit::timezone) return {*east};
    if (field == DateTimeUnit::timezone_hour) return {*east / 3600};
    return {*east / 60 % 60};
  }
  const i64 days = floor_div(local, kMicrosPerDay);
  const i64 micros = local - days * kMicrosPerDay;
  if (field == DateTimeUnit::epoch)
    return {Int128{timestamp} + Int128{kUnixEpochSeconds} * kMicrosPerSecond, 6};
  if (const auto out = of_time(field, micros)) return *out;
  if (const auto out = of_day(field, days)) return *out;
  // julian: the day and its elapsed fraction, with 20 decimals
  constexpr Int128 kTenDecimals = 10'000'000'000;
  const Int128 fraction =
      (Int128{micros} * kTenDecimals / kMicrosPerDay * kTenDecimals) +
      (Int128{micros} * kTenDecimals % kMicrosPerDay * kTenDecimals + kMicrosPerDay / 2) /
          kMicrosPerDay;
  return {Int128{days + kJulianEpoch} * kTenDecimals * kTenDecimals + fraction, 20};
}

Extracted from_date(std::string_view name, std::int32_t date) {
  const DateTimeUnit field = find_datetime_unit(name);
  const auto out = of_day(field, is_infinite_date(date) ? 0 : date);
  const bool allowed = out || field == DateTimeUnit::epoch || field == DateTimeUnit::julian;
  if (!allowed) refuse_datetime_unit(name, field, TypeId::date);
  if (is_infinite_date(date)) {
    if (is_monotonic(field)) return {0, 0, date > 0 ? 1 : -1};
    return {0, 0, 0, true};
  }
  if (field == DateTimeUnit::epoch) return {(i64{date} + kUnixEpochDays) * kSecondsPerDay};
  if (field == DateTimeUnit::julian) return {i64{date} + kJulianEpoch};
  return *out;
}

/// The field of an infinite interval: infinite itself where fields only grow, else NULL.
std::optional<Extracted> of_infinite_interval(DateTimeUnit field, const Interval& interval) {
  if (!is_infinite_interval(interval)) return std::nullopt;
  using enum DateTimeUnit;
  switch (field) {
    case hour:
    case day:
    case year:
    case decade:
    case century:
    case millennium:
    case epoch:
      return Extracted{0, 0, interval == kIntervalInfinity ? 1 : -1};
    case microsecond:
    case millisecond:
    case second:
    case minute:
    case week:
    case month:
    case quarter:
      return Extracted{0, 0, 0, true};
    default:
      return std::nullopt;
  }
}

Extracted from_interval(std::string_view name, const Interval& i) {
  const DateTimeUnit field = find_datetime_unit(name);
  if (const auto infinite = of_infinite_interval(field, i)) return *infinite;
  const i64 years = i.months / 12;
  switch (field) {
    case DateTimeUnit::day:
      return {i.days};
    case DateTimeUnit::month:
      return {i.months % 12};
    case DateTimeUnit::quarter:
      return {i.months < 0 ? i.months % 12 / 3 - 1 : i.months % 12 / 3 + 1};
    case DateTimeUnit::week:
      return {i.days / 7};
    case DateTimeUnit::year:
      return {years};
    case DateTimeUnit::decade:
      return {years / 10};
    case DateTimeUnit::century:
      return {years / 100};
    case DateTimeUnit::millennium:
      return {years / 1000};
    case DateTimeUnit::epoch: {
      // A year counts as 365.25 days here, a month as 30.
      const Int128 days = Int128{years} * 36525 + (Int128{i.months % 12} * 30 + i.days) * 100;
      return {days * (kMicrosPerDay / 100) + i.microseconds, 6};
    }
    default:
      break;
  }
  if (const auto out = of_time(field, i.microseconds)) return *out;
  refuse_datetime_unit(name, field, TypeId::interval);
}

Extracted from_time(std::string_view name, i64 micros, TypeId type, std::optional<TimeTz> zoned) {
  const DateTimeUnit field = find_datetime_unit(name);
  if (const auto out = of_time(field, micros)) return *out;
  if (zoned) {
    const std::int32_t east = -zoned->zone_seconds;
    if (field == DateTimeUnit::timezone) return {east};
    if (field == DateTimeUnit::timezone_hour) return {east / 3600};
    if (field == DateTimeUnit::timezone_minute) return {east / 60 % 60};
  }
  if (field == DateTimeUnit::epoch)
    return {micros + (zoned ? zoned->zone_seconds * kMicrosPerSecond : 0), 6};
  refuse_datetime_unit(name, field, type);
}

Value as_numeric(FunctionContext& context, const Extracted& e) {
  if (e.is_null) return Value::null();
  if (e.infinite != 0) return numeric_infinity(context.arena, e.infinite);
  return numeric_from_int128(context.arena, e.unscaled, e.scale);
}
Value as_double(FunctionContext&, const Extracted& e) {
  if (e.is_null) return Value::null();
  if (e.infinite != 0)
    return Value::from_float8(e.infinite * std::numeric_limits<double>::infinity());
  if (e.scale <= 6)
    return Value::from_float8(static_cast<double>(e.unscaled) / std::pow(10.0, e.scale));
  // The day and its fraction are added as doubles; otherwise the last digit would differ.
  const Int128 unit = Int128{10'000'000'000} * 10'000'000'000;
  return Value::from_float8(static_cast<double>(e.unscaled / unit) +
                            static_cast<double>(e.unscaled % unit) / 1e20);
}

using Convert = Value (*)(FunctionContext&, const Extracted&);
template <Convert convert>
Value timestamp_field(FunctionContext& context, Arguments a) {
  return convert(context, from_timestamp(a[0].as_text(), a[1].as_int8(), a[1].as_int8(),
                                         TypeId::timestamp, std::nullopt));
}
template <Convert convert>
Value timestamptz_field(FunctionContext& context, Arguments a) {
  const i64 t = a[1].as_int8();
  const std::int32_t east =
      is_infinite_timestamp(t) ? 0 : session_zone(context).at_utc(t).seconds_east;
  const i64 local = is_infinite_timestamp(t) ? t : t + east * kMicrosPerSecond;
  return convert(context, from_timestamp(a[0].as_text(), t, local, TypeId::timestamptz, east));
}
template <Convert convert>
Value date_field(FunctionContext& context, Arguments a) {
  return convert(context, from_date(a[0].as_text(), a[1].as_int4()));
}
// date_part of a date converts it to a timestamp, so that time fields exist (as zeros).
Value date_part_of_date(FunctionContext& context, Arguments a) {
  const i64 t = timestamp_from_date(a[1].as_int4());
  return as_double(context, from_timestamp(a[0].as_text(), t, t, TypeId::timestamp, std::nullopt));
}
template <Convert convert>
Value interval_field(FunctionContext& context, Arguments a) {
  return convert(context, from_interval(a[0].as_text(), a[1].as_interval()));
}
template <Convert convert>
Value time_field(FunctionContext& context, Arguments a) {
  return convert(context, from_time(a[0].as_text(), a[1].as_int8(), TypeId::time, std::nullopt));
}
template <Convert convert>
Value timetz_field(FunctionContext& context, Arguments a) {
  const TimeTz time = a[1].as_timetz();
  return convert(context, from_time(a[0].as_text(), time.microseconds, TypeId::timetz, time));
}

#define SWIZZLE_FIELD(type, function)                  \
  {"extract(text," type ")", &function<as_numeric>}, { \
    "date_part(text," type ")", &function<as_double>   \
  }

constexpr ScalarEntry kDatetimeFieldsEntries[] = {
    SWIZZLE_FIELD("timestamp", timestamp_field),  SWIZZLE_FIELD("timestamptz", timestamptz_field),
    SWIZZLE_FIELD("interval", interval_field),    SWIZZLE_FIELD("time", time_field),
    SWIZZLE_FIELD("timetz", timetz_field),        {"extract(text,date)", &date_field<as_numeric>},
    {"date_part(text,date)", &date_part_of_date},
};

}  // namespace

std::span<const ScalarEntry> datetime_field_functions() {
  return kDatetimeFieldsEntries;
}

}  // namespace swizzle::sql
