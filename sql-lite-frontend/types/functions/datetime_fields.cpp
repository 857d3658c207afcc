#include <cmath>
#include <limits>

#include "sql-lite-frontend/types/datetime_ops.h"
#include "sql-lite-frontend/types/datetime_parse.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/functions/zones.h"
#include "sql-lite-frontend/types/int128.h"
#include "sql-lite-frontend/types/interval_fields.h"
#include "sql-lite-frontend/types/numeric.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text_scan.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using i64 = std::int64_t;

enum class Field : std::uint8_t {
  microsecond,
  millisecond,
  second,
  minute,
  hour,
  day,
  week,
  month,
  quarter,
  year,
  decade,
  century,
  millennium,
  isoyear,
  dow,
  isodow,
  doy,
  julian,
  epoch,
  timezone,
  timezone_hour,
  timezone_minute,
  unknown,
};

std::string lower_case(std::string_view text) {
  std::string out{text};
  for (char& c : out) c = to_lower(c);
  return out;
}

Field find_field(std::string_view spelled) {
  const std::string name = lower_case(spelled);
  switch (find_interval_unit(name)) {
    case IntervalUnit::microsecond:
      return Field::microsecond;
    case IntervalUnit::millisecond:
      return Field::millisecond;
    case IntervalUnit::second:
      return Field::second;
    case IntervalUnit::minute:
      return Field::minute;
    case IntervalUnit::hour:
      return Field::hour;
    case IntervalUnit::day:
      return Field::day;
    case IntervalUnit::week:
      return Field::week;
    case IntervalUnit::month:
      return Field::month;
    case IntervalUnit::quarter:
      return Field::quarter;
    case IntervalUnit::year:
      return Field::year;
    case IntervalUnit::decade:
      return Field::decade;
    case IntervalUnit::century:
      return Field::century;
    case IntervalUnit::millennium:
      return Field::millennium;
    case IntervalUnit::none:
      break;
  }
  constexpr std::pair<std::string_view, Field> kNames[] = {
      {"isoyear", Field::isoyear},
      {"dow", Field::dow},
      {"isodow", Field::isodow},
      {"doy", Field::doy},
      {"julian", Field::julian},
      {"jd", Field::julian},
      {"j", Field::julian},
      {"epoch", Field::epoch},
      {"timezone", Field::timezone},
      {"timezone_hour", Field::timezone_hour},
      {"timezone_h", Field::timezone_hour},
      {"timezone_minute", Field::timezone_minute},
      {"timezone_m", Field::timezone_minute}};
  for (const auto& [text, field] : kNames)
    if (text == name) return field;
  return Field::unknown;
}

[[noreturn]] void refuse(std::string_view name, Field field, TypeId type) {
  const std::string lower = lower_case(name);
  if (field == Field::unknown)
    throw_error(sqlstate::invalid_parameter_value, "unit \"{}\" not recognized for type {}", lower,
                format_type(type));
  throw_error(sqlstate::feature_not_supported, "unit \"{}\" not supported for type {}", lower,
              format_type(type));
}

/// A field's value as a decimal, or an infinity (+1, -1), or NULL.
struct Extracted {
  Int128 unscaled = 0;
  int scale = 0;
  int infinite = 0;
  bool is_null = false;
};

// Years before 1 count from -1, centuries and millennia too.
i64 shown_year(i64 year) {
  return year > 0 ? year : year - 1;
}
i64 decade_of(i64 year) {
  return year >= 0 ? year / 10 : -((8 - (year - 1)) / 10);
}
i64 period_of(i64 year, i64 length) {
  return year > 0 ? (year + length - 1) / length : -((length - 1 - (year - 1)) / length);
}

bool is_monotonic(Field field) {
  switch (field) {
    case Field::year:
    case Field::decade:
    case Field::century:
    case Field::millennium:
    case Field::isoyear:
    case Field::julian:
    case Field::epoch:
      return true;
    default:
      return false;
  }
}

std::optional<Extracted> of_time(Field field, i64 micros) {
  switch (field) {
    case Field::microsecond:
      return Extracted{micros % kMicrosPerMinute, 0};
    case Field::millisecond:
      return Extracted{micros % kMicrosPerMinute, 3};
    case Field::second:
      return Extracted{micros % kMicrosPerMinute, 6};
    case Field::minute:
      return Extracted{micros / kMicrosPerMinute % 60, 0};
    case Field::hour:
      return Extracted{micros / kMicrosPerHour, 0};
    default:
      return std::nullopt;
  }
}

std::optional<Extracted> of_day(Field field, i64 days) {
  const CivilDate d = civil_from_days(days);
  switch (field) {
    case Field::day:
      return Extracted{d.day};
    case Field::month:
      return Extracted{d.month};
    case Field::quarter:
      return Extracted{(d.month - 1) / 3 + 1};
    case Field::week:
      return Extracted{iso_week(days).week};
    case Field::year:
      return Extracted{shown_year(d.year)};
    case Field::decade:
      return Extracted{decade_of(d.year)};
    case Field::century:
      return Extracted{period_of(d.year, 100)};
    case Field::millennium:
      return Extracted{period_of(d.year, 1000)};
    case Field::isoyear:
      return Extracted{shown_year(iso_week(days).year)};
    case Field::dow:
      return Extracted{day_of_week(days)};
    case Field::isodow:
      return Extracted{(day_of_week(days) + 6) % 7 + 1};
    case Field::doy:
      return Extracted{day_of_year(d)};
    default:
      return std::nullopt;
  }
}

Extracted from_timestamp(std::string_view name, i64 timestamp, i64 local, TypeId type,
                         std::optional<std::int32_t> east) {
  const Field field = find_field(name);
  const bool zone_field =
      field == Field::timezone || field == Field::timezone_hour || field == Field::timezone_minute;
  if (field == Field::unknown || (zone_field && !east)) refuse(name, field, type);
  if (is_infinite_timestamp(timestamp)) {
    if (is_monotonic(field)) return {0, 0, timestamp > 0 ? 1 : -1};
    return {0, 0, 0, true};
  }
  if (zone_field) {
    if (field == Field::timezone) return {*east};
    if (field == Field::timezone_hour) return {*east / 3600};
    return {*east / 60 % 60};
  }
  const i64 days = floor_div(local, kMicrosPerDay);
  const i64 micros = local - days * kMicrosPerDay;
  if (field == Field::epoch)
    return {Int128{timestamp} + Int128{kUnixEpochSeconds} * kMicrosPerSecond, 6};
  if (const auto out = of_time(field, micros)) return *out;
  if (const auto out = of_day(field, days)) return *out;
  // julian: the day and the fraction of it that has passed, to 20 decimals
  constexpr Int128 kTenDecimals = 10'000'000'000;
  const Int128 fraction =
      (Int128{micros} * kTenDecimals / kMicrosPerDay * kTenDecimals) +
      (Int128{micros} * kTenDecimals % kMicrosPerDay * kTenDecimals + kMicrosPerDay / 2) /
          kMicrosPerDay;
  return {Int128{days + kJulianEpoch} * kTenDecimals * kTenDecimals + fraction, 20};
}

Extracted from_date(std::string_view name, std::int32_t date) {
  const Field field = find_field(name);
  const auto out = of_day(field, is_infinite_date(date) ? 0 : date);
  const bool allowed = out || field == Field::epoch || field == Field::julian;
  if (!allowed) refuse(name, field, TypeId::date);
  if (is_infinite_date(date)) {
    if (is_monotonic(field)) return {0, 0, date > 0 ? 1 : -1};
    return {0, 0, 0, true};
  }
  if (field == Field::epoch) return {(i64{date} + kUnixEpochDays) * kSecondsPerDay};
  if (field == Field::julian) return {i64{date} + kJulianEpoch};
  return *out;
}

Extracted from_interval(std::string_view name, const Interval& i) {
  const Field field = find_field(name);
  const i64 years = i.months / 12;
  switch (field) {
    case Field::day:
      return {i.days};
    case Field::month:
      return {i.months % 12};
    case Field::quarter:
      return {i.months % 12 / 3 + 1};
    case Field::year:
      return {years};
    case Field::decade:
      return {years / 10};
    case Field::century:
      return {years / 100};
    case Field::millennium:
      return {years / 1000};
    case Field::epoch: {
      // A year has 365.25 days here, a month 30.
      const Int128 days = Int128{years} * 36525 + (Int128{i.months % 12} * 30 + i.days) * 100;
      return {days * (kMicrosPerDay / 100) + i.microseconds, 6};
    }
    default:
      break;
  }
  if (const auto out = of_time(field, i.microseconds)) return *out;
  refuse(name, field, TypeId::interval);
}

Extracted from_time(std::string_view name, i64 micros, TypeId type, std::optional<TimeTz> zoned) {
  const Field field = find_field(name);
  if (const auto out = of_time(field, micros)) return *out;
  if (zoned) {
    const std::int32_t east = -zoned->zone_seconds;
    if (field == Field::timezone) return {east};
    if (field == Field::timezone_hour) return {east / 3600};
    if (field == Field::timezone_minute) return {east / 60 % 60};
  }
  if (field == Field::epoch)
    return {micros + (zoned ? zoned->zone_seconds * kMicrosPerSecond : 0), 6};
  refuse(name, field, type);
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
  // A day and its fraction: added as doubles, or the last digit would differ.
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
// date_part over a date goes through timestamp, so the time fields are there (as zeros).
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

/// What a unit of time cuts off; 0 for a day and longer.
i64 micros_of(Field field) {
  switch (field) {
    case Field::microsecond:
      return 1;
    case Field::millisecond:
      return 1000;
    case Field::second:
      return kMicrosPerSecond;
    case Field::minute:
      return kMicrosPerMinute;
    case Field::hour:
      return kMicrosPerHour;
    default:
      return 0;
  }
}

CivilDate first_of(Field field, CivilDate d, i64 days) {
  const auto start_of_period = [&](i64 length) {
    return d.year > 0 ? (d.year + length - 1) / length * length - (length - 1)
                      : -((length - 1 - (d.year - 1)) / length) * length + 1;
  };
  switch (field) {
    case Field::day:
      return d;
    case Field::week:
      return civil_from_days(days - (day_of_week(days) + 6) % 7);
    case Field::month:
      return {d.year, d.month, 1};
    case Field::quarter:
      return {d.year, (d.month - 1) / 3 * 3 + 1, 1};
    case Field::year:
      return {d.year, 1, 1};
    case Field::decade:
      return {d.year > 0 ? d.year / 10 * 10 : -((8 - (d.year - 1)) / 10) * 10, 1, 1};
    case Field::century:
      return {start_of_period(100), 1, 1};
    default:
      return {start_of_period(1000), 1, 1};
  }
}

bool truncates_dates(Field field) {
  switch (field) {
    case Field::day:
    case Field::week:
    case Field::month:
    case Field::quarter:
    case Field::year:
    case Field::decade:
    case Field::century:
    case Field::millennium:
      return true;
    default:
      return false;
  }
}

// Only zones are known as units here without being one to cut at.
[[noreturn]] void refuse_truncation(std::string_view name, Field field, TypeId type) {
  const bool zone =
      field == Field::timezone || field == Field::timezone_hour || field == Field::timezone_minute;
  refuse(name, zone ? field : Field::unknown, type);
}

i64 truncated(std::string_view name, Field field, i64 local, TypeId type) {
  const i64 unit = micros_of(field);
  if (unit == 0 && !truncates_dates(field)) refuse_truncation(name, field, type);
  if (is_infinite_timestamp(local)) return local;
  if (unit != 0) return local - floor_mod(local, unit);
  const i64 days = floor_div(local, kMicrosPerDay);
  return days_from_civil(first_of(field, civil_from_days(days), days)) * kMicrosPerDay;
}

Value truncate_timestamp(FunctionContext&, Arguments a) {
  const std::string_view name = a[0].as_text();
  return Value::from_int(truncated(name, find_field(name), a[1].as_int8(), TypeId::timestamp));
}

i64 truncated_in(std::string_view name, i64 timestamp, const TimeZone& zone) {
  const Field field = find_field(name);
  if (is_infinite_timestamp(timestamp))
    return truncated(name, field, timestamp, TypeId::timestamptz);
  const i64 offset = zone.at_utc(timestamp).seconds_east * kMicrosPerSecond;
  const i64 local = truncated(name, field, timestamp + offset, TypeId::timestamptz);
  // Within a day the offset stays; the start of a day or longer may have another one.
  return micros_of(field) != 0 ? local - offset : local_to_utc(local, zone);
}
Value truncate_timestamptz(FunctionContext& context, Arguments a) {
  return Value::from_int(truncated_in(a[0].as_text(), a[1].as_int8(), session_zone(context)));
}
Value truncate_in_zone(FunctionContext&, Arguments a) {
  const auto zone = find_zone(a[2].as_text());
  return Value::from_int(truncated_in(a[0].as_text(), a[1].as_int8(), *zone));
}

Value truncate_interval(FunctionContext& context, Arguments a) {
  const std::string_view name = a[0].as_text();
  const Field field = find_field(name);
  Interval i = a[1].as_interval();
  if (const i64 unit = micros_of(field); unit != 0) {
    i.microseconds -= i.microseconds % unit;
    return make_interval(context.arena, i);
  }
  if (field == Field::week)
    throw SqlError{sqlstate::feature_not_supported, "unit \"week\" not supported for type interval"}
        .with_detail("Months usually have fractional weeks.");
  if (!truncates_dates(field)) refuse_truncation(name, field, TypeId::interval);
  i.microseconds = 0;
  if (field != Field::day) i.days = 0;
  const auto months = [&i](std::int32_t unit) { i.months = i.months / unit * unit; };
  switch (field) {
    case Field::quarter:
      months(3);
      break;
    case Field::year:
      months(12);
      break;
    case Field::decade:
      months(120);
      break;
    case Field::century:
      months(1200);
      break;
    case Field::millennium:
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
  if (stride.months != 0)
    throw SqlError{sqlstate::feature_not_supported,
                   "timestamps cannot be binned into intervals containing months or years"};
  const i64 width = i64{stride.days} * kMicrosPerDay + stride.microseconds;
  if (width <= 0)
    throw SqlError{sqlstate::datetime_field_overflow, "stride must be greater than zero"};
  return Value::from_int(checked_timestamp(origin + floor_div(source - origin, width) * width));
}

#define SWIZZLE_FIELD(type, function)                  \
  {"extract(text," type ")", &function<as_numeric>}, { \
    "date_part(text," type ")", &function<as_double>   \
  }

constexpr ScalarEntry kEntries[] = {
    SWIZZLE_FIELD("timestamp", timestamp_field),
    SWIZZLE_FIELD("timestamptz", timestamptz_field),
    SWIZZLE_FIELD("interval", interval_field),
    SWIZZLE_FIELD("time", time_field),
    SWIZZLE_FIELD("timetz", timetz_field),
    {"extract(text,date)", &date_field<as_numeric>},
    {"date_part(text,date)", &date_part_of_date},
    {"date_trunc(text,timestamp)", &truncate_timestamp},
    {"date_trunc(text,timestamptz)", &truncate_timestamptz},
    {"date_trunc(text,timestamptz,text)", &truncate_in_zone},
    {"date_trunc(text,interval)", &truncate_interval},
    {"date_bin(interval,timestamp,timestamp)", &date_bin},
    {"date_bin(interval,timestamptz,timestamptz)", &date_bin},
};

}  // namespace

std::span<const ScalarEntry> datetime_field_functions() {
  return kEntries;
}

}  // namespace swizzle::sql
