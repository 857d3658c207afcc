#include <cmath>
#include <cstdlib>

#include "sql-lite-frontend/types/datetime/datetime_format.h"
#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/functions/datetime/zones.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"

namespace swizzle::sql {

std::shared_ptr<const TimeZone> find_zone(std::string_view name, ZoneTime at) {
  if (const ZoneAbbreviation* found = find_zone_abbreviation(name)) {
    return TimeZone::fixed(at.clock == ZoneTime::Clock::utc ? found->at_utc(at.timestamp)
                                                            : found->at_local(at.timestamp));
  }
  auto zone = TimeZone::find(name);
  if (!zone)
    throw_error(sqlstate::invalid_parameter_value, "time zone \"{}\" not recognized", name);
  return zone;
}

namespace {

using Arguments = std::span<const Value>;
using i64 = std::int64_t;

Value transaction_time(FunctionContext& context, Arguments) {
  return Value::from_int(context.session.transaction_timestamp);
}
Value statement_time(FunctionContext& context, Arguments) {
  return Value::from_int(context.session.statement_timestamp);
}
Value clock_time(FunctionContext& context, Arguments) {
  return Value::from_int(context.session.clock());
}
Value time_of_day(FunctionContext& context, Arguments) {
  const i64 now = context.session.clock();
  const auto offset = session_zone(context).at_utc(now);
  const CivilTime civil = civil_from_timestamp(now + offset.seconds_east * kMicrosPerSecond);
  const i64 day = days_from_civil(civil.date);
  return make_text(context.arena,
                   fmt::format("{} {} {:02} {:02}:{:02}:{:02}.{:06} {} {}",
                               weekday_name(day_of_week(day)).substr(0, 3),
                               month_name(civil.date.month).substr(0, 3), civil.date.day,
                               civil.time.hour, civil.time.minute, civil.time.second,
                               civil.time.microsecond, civil.date.year, offset.abbreviation));
}

Value is_finite_date(FunctionContext&, Arguments a) {
  return Value::from_bool(!is_infinite_date(a[0].as_int4()));
}
Value is_finite_timestamp(FunctionContext&, Arguments a) {
  return Value::from_bool(!is_infinite_timestamp(a[0].as_int8()));
}
Value is_finite_interval(FunctionContext&, Arguments a) {
  return Value::from_bool(!is_infinite_interval(a[0].as_interval()));
}

std::int64_t checked_civil_days(i64 year, int month, int day) {
  const i64 astronomical = year < 0 ? year + 1 : year;
  const bool good = year != 0 && month >= 1 && month <= 12 && day >= 1 &&
                    day <= days_in_month(astronomical, month);
  const i64 days = good ? days_from_civil({astronomical, month, day}) : 0;
  if (!good || !is_valid_date(days))
    throw_error(sqlstate::datetime_field_overflow, "date field value out of range: {}-{:02}-{:02}",
                year, month, day);
  return days;
}
Value make_date(FunctionContext&, Arguments a) {
  return Value::from_int(checked_civil_days(a[0].as_int4(), a[1].as_int4(), a[2].as_int4()));
}

i64 checked_clock(int hour, int minute, double second) {
  const bool good = hour >= 0 && hour <= 24 && minute >= 0 && minute < 60 && !std::isnan(second) &&
                    second >= 0 && second <= 60 && (hour < 24 || (minute == 0 && second == 0));
  if (!good)
    throw SqlError{
        sqlstate::datetime_field_overflow,
        fmt::format("time field value out of range: {}:{:02}:{:02g}", hour, minute, second)};
  return (hour * i64{60} + minute) * kMicrosPerMinute + static_cast<i64>(std::rint(second * 1e6));
}
Value make_time(FunctionContext&, Arguments a) {
  return Value::from_int(checked_clock(a[0].as_int4(), a[1].as_int4(), a[2].as_float8()));
}
i64 local_from_parts(Arguments a) {
  const i64 days = checked_civil_days(a[0].as_int4(), a[1].as_int4(), a[2].as_int4());
  return checked_timestamp(days * kMicrosPerDay +
                           checked_clock(a[3].as_int4(), a[4].as_int4(), a[5].as_float8()));
}
Value make_timestamp(FunctionContext&, Arguments a) {
  return Value::from_int(local_from_parts(a));
}
Value make_timestamptz(FunctionContext& context, Arguments a) {
  return Value::from_int(local_to_utc(local_from_parts(a), session_zone(context)));
}
Value make_timestamptz_in(FunctionContext&, Arguments a) {
  const i64 local = local_from_parts(a);
  const std::string_view name = a[6].as_text();
  if (!name.empty() && is_digit(name.front())) {
    throw sql_error(sqlstate::invalid_parameter_value,
                    "invalid input syntax for type numeric time zone: \"{}\"", name)
        .with_hint("Numeric time zones must have \"-\" or \"+\" as first character.");
  }
  const auto east = parse_zone_offset(name);
  constexpr std::int32_t kOutOfRange = 16 * 3600;
  if (east && std::abs(*east) >= kOutOfRange) {
    throw_error(sqlstate::invalid_parameter_value, "numeric time zone \"{}\" out of range", name);
  }
  if (east) return Value::from_int(checked_timestamp(local - *east * kMicrosPerSecond));
  return Value::from_int(local_to_utc(local, *find_zone(name, {local, ZoneTime::Clock::local})));
}
Value make_interval_of(FunctionContext& context, Arguments a) {
  const double seconds = a[6].as_float8();
  if (!std::isfinite(seconds))
    throw SqlError{sqlstate::datetime_field_overflow, "interval out of range"};
  const i64 months = i64{a[0].as_int4()} * 12 + a[1].as_int4();
  const i64 days = i64{a[2].as_int4()} * 7 + a[3].as_int4();
  if (months != static_cast<std::int32_t>(months) || days != static_cast<std::int32_t>(days))
    throw SqlError{sqlstate::datetime_field_overflow, "interval out of range"};
  // The first double that is no 64-bit number any more.
  constexpr double kEnd = 9223372036854775808.0;
  const double fraction = std::rint(seconds * 1e6);
  Interval out{a[4].as_int4() * kMicrosPerHour + a[5].as_int4() * kMicrosPerMinute,
               static_cast<std::int32_t>(days), static_cast<std::int32_t>(months)};
  const bool fits =
      fraction >= -kEnd && fraction < kEnd &&
      !__builtin_add_overflow(out.microseconds, static_cast<i64>(fraction), &out.microseconds);
  if (!fits || is_infinite_interval(out))
    throw SqlError{sqlstate::datetime_field_overflow, "interval out of range"};
  return make_interval(context.arena, out);
}

Value timestamp_from_unix(FunctionContext&, Arguments a) {
  const double seconds = a[0].as_float8();
  if (std::isnan(seconds))
    throw SqlError{sqlstate::datetime_field_overflow, "timestamp cannot be NaN"};
  if (std::isinf(seconds))
    return Value::from_int(seconds > 0 ? kTimestampInfinity : kTimestampMinusInfinity);
  const double micros = std::rint((seconds - static_cast<double>(kUnixEpochSeconds)) * 1e6);
  if (!(micros >= static_cast<double>(kMinTimestamp) &&
        micros < static_cast<double>(kEndTimestamp)))
    throw_error(sqlstate::datetime_field_overflow, "timestamp out of range: \"{:g}\"", seconds);
  return Value::from_int(static_cast<i64>(micros));
}

// AT TIME ZONE
Value to_zone(FunctionContext&, Arguments a) {
  return Value::from_int(
      utc_to_local(a[1].as_int8(), *find_zone(a[0].as_text(), {a[1].as_int8()})));
}
Value from_zone(FunctionContext&, Arguments a) {
  return Value::from_int(local_to_utc(
      a[1].as_int8(), *find_zone(a[0].as_text(), {a[1].as_int8(), ZoneTime::Clock::local})));
}
TimeTz moved_to(const TimeTz& time, std::int32_t zone_seconds) {
  const i64 utc = time.microseconds + time.zone_seconds * kMicrosPerSecond;
  return {floor_mod(utc - zone_seconds * kMicrosPerSecond, kMicrosPerDay), zone_seconds};
}
Value timetz_to_zone(FunctionContext& context, Arguments a) {
  const std::int64_t now = context.session.transaction_timestamp;
  const std::int32_t east = find_zone(a[0].as_text(), {now})->at_utc(now).seconds_east;
  return Value::from_timetz(moved_to(a[1].as_timetz(), -east));
}
std::int32_t zone_interval(FunctionContext& context, const Value& value) {
  const Interval i = value.as_interval();
  if (i.months != 0 || i.days != 0) {
    std::string shown;
    append_interval(shown, i, context.session.format.interval_style);
    if (is_infinite_interval(i)) {
      throw_error(sqlstate::invalid_parameter_value, "interval time zone \"{}\" must be finite",
                  shown);
    }
    throw_error(sqlstate::invalid_parameter_value,
                "interval time zone \"{}\" must not include months or days", shown);
  }
  return static_cast<std::int32_t>(i.microseconds / kMicrosPerSecond);
}
Value to_zone_interval(FunctionContext& context, Arguments a) {
  const i64 offset = zone_interval(context, a[0]) * kMicrosPerSecond;
  if (is_infinite_timestamp(a[1].as_int8())) return a[1];
  return Value::from_int(checked_timestamp(a[1].as_int8() + offset));
}
Value from_zone_interval(FunctionContext& context, Arguments a) {
  const i64 offset = zone_interval(context, a[0]) * kMicrosPerSecond;
  if (is_infinite_timestamp(a[1].as_int8())) return a[1];
  return Value::from_int(checked_timestamp(a[1].as_int8() - offset));
}
Value timetz_to_zone_interval(FunctionContext& context, Arguments a) {
  return Value::from_timetz(moved_to(a[1].as_timetz(), -zone_interval(context, a[0])));
}

/// AT LOCAL
Value to_session_zone(FunctionContext& context, Arguments a) {
  return Value::from_int(utc_to_local(a[0].as_int8(), session_zone(context)));
}
Value from_session_zone(FunctionContext& context, Arguments a) {
  return Value::from_int(local_to_utc(a[0].as_int8(), session_zone(context)));
}
Value timetz_to_session_zone(FunctionContext& context, Arguments a) {
  const std::int64_t now = context.session.transaction_timestamp;
  const std::int32_t east = session_zone(context).at_utc(now).seconds_east;
  return Value::from_timetz(moved_to(a[0].as_timetz(), -east));
}

constexpr ScalarEntry kDatetimesEntries[] = {
    {"now()", &transaction_time},
    {"transaction_timestamp()", &transaction_time},
    {"statement_timestamp()", &statement_time},
    {"clock_timestamp()", &clock_time},
    {"timeofday()", &time_of_day},
    {"isfinite(date)", &is_finite_date},
    {"isfinite(timestamp)", &is_finite_timestamp},
    {"isfinite(timestamptz)", &is_finite_timestamp},
    {"isfinite(interval)", &is_finite_interval},
    {"make_date(int4,int4,int4)", &make_date},
    {"make_time(int4,int4,float8)", &make_time},
    {"make_timestamp(int4,int4,int4,int4,int4,float8)", &make_timestamp},
    {"make_timestamptz(int4,int4,int4,int4,int4,float8)", &make_timestamptz},
    {"make_timestamptz(int4,int4,int4,int4,int4,float8,text)", &make_timestamptz_in},
    {"make_interval(int4,int4,int4,int4,int4,int4,float8)", &make_interval_of},
    {"to_timestamp(float8)", &timestamp_from_unix},
    {"timezone(timestamptz)", &to_session_zone},
    {"timezone(timestamp)", &from_session_zone},
    {"timezone(timetz)", &timetz_to_session_zone},
    {"timezone(text,timestamptz)", &to_zone},
    {"timezone(text,timestamp)", &from_zone},
    {"timezone(text,timetz)", &timetz_to_zone},
    {"timezone(interval,timestamptz)", &to_zone_interval},
    {"timezone(interval,timestamp)", &from_zone_interval},
    {"timezone(interval,timetz)", &timetz_to_zone_interval},
};

}  // namespace

std::span<const ScalarEntry> datetime_functions() {
  return kDatetimesEntries;
}

}  // namespace swizzle::sql
