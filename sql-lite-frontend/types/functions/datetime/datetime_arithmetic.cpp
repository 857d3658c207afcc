#include <cmath>

#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/functions/datetime/zones.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using i64 = std::int64_t;

enum class Sign : std::uint8_t { plus, minus };

Interval signed_interval(const Value& value, Sign sign) {
  const Interval interval = value.as_interval();
  return sign == Sign::plus ? interval : negate(interval);
}

template <Sign sign>
Value date_and_days(FunctionContext&, Arguments a) {
  const std::int32_t date = a[0].as_int4();
  if (is_infinite_date(date)) return a[0];
  const i64 days = a[1].as_int4();
  return Value::from_int(checked_date(sign == Sign::plus ? date + days : date - days));
}
Value days_and_date(FunctionContext& context, Arguments a) {
  const Value swapped[2] = {a[1], a[0]};
  return date_and_days<Sign::plus>(context, swapped);
}
Value date_difference(FunctionContext&, Arguments a) {
  if (is_infinite_date(a[0].as_int4()) || is_infinite_date(a[1].as_int4()))
    throw SqlError{sqlstate::datetime_field_overflow, "cannot subtract infinite dates"};
  return Value::from_int(i64{a[0].as_int4()} - a[1].as_int4());
}
template <Sign sign>
Value date_and_interval(FunctionContext&, Arguments a) {
  return Value::from_int(
      add_interval(timestamp_from_date(a[0].as_int4()), signed_interval(a[1], sign)));
}
template <Sign sign>
Value timestamp_and_interval(FunctionContext&, Arguments a) {
  return Value::from_int(add_interval(a[0].as_int8(), signed_interval(a[1], sign)));
}
template <Sign sign>
Value timestamptz_and_interval(FunctionContext& context, Arguments a) {
  return Value::from_int(
      add_interval_in_zone(a[0].as_int8(), signed_interval(a[1], sign), session_zone(context)));
}
/// date_add() and date_subtract(): in the zone that is named.
template <Sign sign>
Value timestamptz_and_interval_in(FunctionContext&, Arguments a) {
  const auto zone = find_zone(a[2].as_text(), {a[0].as_int8()});
  return Value::from_int(add_interval_in_zone(a[0].as_int8(), signed_interval(a[1], sign), *zone));
}
template <ScalarFunction F>
Value swapped(FunctionContext& context, Arguments a) {
  const Value arguments[2] = {a[1], a[0]};
  return F(context, Arguments{arguments, 2});
}

Value date_and_time(FunctionContext&, Arguments a) {
  const i64 day = timestamp_from_date(a[0].as_int4());
  if (is_infinite_timestamp(day)) return Value::from_int(day);
  return Value::from_int(checked_timestamp(day + a[1].as_int8()));
}
Value date_and_timetz(FunctionContext&, Arguments a) {
  const i64 day = timestamp_from_date(a[0].as_int4());
  if (is_infinite_timestamp(day)) return Value::from_int(day);
  const TimeTz time = a[1].as_timetz();
  return Value::from_int(
      checked_timestamp(day + time.microseconds + time.zone_seconds * kMicrosPerSecond));
}

Value date_and_local_time(FunctionContext& context, Arguments a) {
  const Value local = date_and_time(context, a);
  return Value::from_int(local_to_utc(local.as_int8(), session_zone(context)));
}

Value timestamp_difference(FunctionContext& context, Arguments a) {
  return make_interval(context.arena, subtract_timestamps(a[0].as_int8(), a[1].as_int8()));
}
Value time_difference(FunctionContext& context, Arguments a) {
  return make_interval(context.arena, {a[0].as_int8() - a[1].as_int8(), 0, 0});
}
// Times of day go round the clock; days and months of the interval do not count.
template <Sign sign>
void refuse_infinite(const Interval& interval) {
  if (!is_infinite_interval(interval)) return;
  throw SqlError{sqlstate::datetime_field_overflow,
                 sign == Sign::plus ? "cannot add infinite interval to time"
                                    : "cannot subtract infinite interval from time"};
}
template <Sign sign>
Value time_and_interval(FunctionContext&, Arguments a) {
  refuse_infinite<sign>(a[1].as_interval());
  const i64 moved = a[1].as_interval().microseconds % kMicrosPerDay;
  return Value::from_int(
      floor_mod(a[0].as_int8() + (sign == Sign::plus ? moved : -moved), kMicrosPerDay));
}
template <Sign sign>
Value timetz_and_interval(FunctionContext&, Arguments a) {
  refuse_infinite<sign>(a[1].as_interval());
  const i64 moved = a[1].as_interval().microseconds % kMicrosPerDay;
  TimeTz time = a[0].as_timetz();
  time.microseconds =
      floor_mod(time.microseconds + (sign == Sign::plus ? moved : -moved), kMicrosPerDay);
  return Value::from_timetz(time);
}

Value interval_sum(FunctionContext& context, Arguments a) {
  return make_interval(context.arena, add(a[0].as_interval(), a[1].as_interval()));
}
Value interval_difference(FunctionContext& context, Arguments a) {
  return make_interval(context.arena, subtract(a[0].as_interval(), a[1].as_interval()));
}
Value interval_negation(FunctionContext& context, Arguments a) {
  return make_interval(context.arena, negate(a[0].as_interval()));
}
Value interval_product(FunctionContext& context, Arguments a) {
  return make_interval(context.arena, multiply(a[0].as_interval(), a[1].as_float8()));
}
Value interval_quotient(FunctionContext& context, Arguments a) {
  return make_interval(context.arena, divide(a[0].as_interval(), a[1].as_float8()));
}

std::int32_t checked_sum(std::int32_t left, std::int64_t right) {
  std::int32_t sum = 0;
  if (__builtin_add_overflow(left, right, &sum)) {
    throw SqlError{sqlstate::datetime_field_overflow, "interval out of range"};
  }
  return sum;
}
Interval with_whole_days(Interval i) {
  i.days = checked_sum(i.days, i.microseconds / kMicrosPerDay);
  i.microseconds %= kMicrosPerDay;
  return i;
}
Value justify_hours(FunctionContext& context, Arguments a) {
  if (is_infinite_interval(a[0].as_interval())) return a[0];
  Interval i = with_whole_days(a[0].as_interval());
  if (i.days > 0 && i.microseconds < 0) {
    i.microseconds += kMicrosPerDay;
    --i.days;
  } else if (i.days < 0 && i.microseconds > 0) {
    i.microseconds -= kMicrosPerDay;
    ++i.days;
  }
  return make_interval(context.arena, i);
}
Interval with_whole_months(Interval i) {
  i.months = checked_sum(i.months, i.days / 30);
  i.days %= 30;
  return i;
}
Value justify_days(FunctionContext& context, Arguments a) {
  if (is_infinite_interval(a[0].as_interval())) return a[0];
  Interval i = with_whole_months(a[0].as_interval());
  if (i.months > 0 && i.days < 0) {
    i.days += 30;
    --i.months;
  } else if (i.months < 0 && i.days > 0) {
    i.days -= 30;
    ++i.months;
  }
  return make_interval(context.arena, i);
}
Value justify_interval(FunctionContext& context, Arguments a) {
  if (is_infinite_interval(a[0].as_interval())) return a[0];
  Interval i = a[0].as_interval();
  // Days and hours that go the same way may be too many days together, and yet no months too many.
  const bool same_way = (i.days > 0 && i.microseconds > 0) || (i.days < 0 && i.microseconds < 0);
  if (same_way) i = with_whole_months(i);
  i = with_whole_months(with_whole_days(i));
  if (i.months > 0 && (i.days < 0 || (i.days == 0 && i.microseconds < 0))) {
    i.days += 30;
    --i.months;
  } else if (i.months < 0 && (i.days > 0 || (i.days == 0 && i.microseconds > 0))) {
    i.days -= 30;
    ++i.months;
  }
  if (i.days > 0 && i.microseconds < 0) {
    i.microseconds += kMicrosPerDay;
    --i.days;
  } else if (i.days < 0 && i.microseconds > 0) {
    i.microseconds -= kMicrosPerDay;
    ++i.days;
  }
  return make_interval(context.arena, i);
}

/// The difference in years, months, days and time, as one counts ages.
Interval age_between(i64 later, i64 earlier) {
  if (const auto infinite = infinite_difference(later, earlier)) return *infinite;
  const bool negative = later < earlier;
  if (negative) std::swap(later, earlier);
  const CivilTime a = civil_from_timestamp(later);
  const CivilTime b = civil_from_timestamp(earlier);
  i64 micros = micros_from_time(a.time) - micros_from_time(b.time);
  int days = a.date.day - b.date.day;
  i64 months = (a.date.year - b.date.year) * 12 + a.date.month - b.date.month;
  if (micros < 0) {
    micros += kMicrosPerDay;
    --days;
  }
  if (days < 0) {
    // Borrow the month in which the counting starts.
    const CivilDate& from = b.date;
    days += days_in_month(from.year, from.month);
    --months;
  }
  const Interval out{micros, days, static_cast<std::int32_t>(months)};
  return negative ? negate(out) : out;
}
Value age(FunctionContext& context, Arguments a) {
  return make_interval(context.arena, age_between(a[0].as_int8(), a[1].as_int8()));
}
Value age_in_zone(FunctionContext& context, Arguments a) {
  const TimeZone& zone = session_zone(context);
  return make_interval(context.arena, age_between(utc_to_local(a[0].as_int8(), zone),
                                                  utc_to_local(a[1].as_int8(), zone)));
}
i64 today(FunctionContext& context) {
  return floor_div(local_transaction_time(context), kMicrosPerDay) * kMicrosPerDay;
}
Value age_today(FunctionContext& context, Arguments a) {
  return make_interval(context.arena, age_between(today(context), a[0].as_int8()));
}
Value age_today_in_zone(FunctionContext& context, Arguments a) {
  return make_interval(
      context.arena,
      age_between(today(context), utc_to_local(a[0].as_int8(), session_zone(context))));
}

/// Returns true if two periods share a moment; NULL if that depends on a bound that is NULL.
Value periods_overlap(Value start_1, Value end_1, Value start_2, Value end_2,
                      int (*compare)(const Value&, const Value&)) {
  const auto arrange = [compare](Value& start, Value& end) {
    if (start.is_null()) std::swap(start, end);
    if (!start.is_null() && !end.is_null() && compare(start, end) > 0) std::swap(start, end);
    return !start.is_null();
  };
  if (!arrange(start_1, end_1) || !arrange(start_2, end_2)) return Value::null();
  const int order = compare(start_1, start_2);
  if (order > 0) {
    std::swap(start_1, start_2);
    std::swap(end_1, end_2);
  }
  if (order != 0) {
    if (end_1.is_null()) return Value::null();
    if (compare(start_2, end_1) < 0) return Value::from_bool(true);
    return end_2.is_null() ? Value::null() : Value::from_bool(false);
  }
  if (end_1.is_null() || end_2.is_null()) return Value::null();
  return Value::from_bool(true);
}
int by_number(const Value& a, const Value& b) {
  return static_cast<int>(a.as_int8() > b.as_int8()) - static_cast<int>(a.as_int8() < b.as_int8());
}
int by_instant(const Value& a, const Value& b) {
  const auto instant = [](const Value& v) {
    return Value::from_int(v.as_timetz().microseconds +
                           v.as_timetz().zone_seconds * kMicrosPerSecond);
  };
  return by_number(instant(a), instant(b));
}
Value overlaps(FunctionContext&, Arguments a) {
  return periods_overlap(a[0], a[1], a[2], a[3], by_number);
}
Value overlaps_timetz(FunctionContext&, Arguments a) {
  return periods_overlap(a[0], a[1], a[2], a[3], by_instant);
}
/// The second of a pair may be how long the period is.
template <ScalarFunction Add, bool First, bool Second>
Value overlaps_lengths(FunctionContext& context, Arguments a) {
  Value bounds[4] = {a[0], a[1], a[2], a[3]};
  const auto extend = [&](std::size_t start) {
    const Value pair[2] = {a[start], a[start + 1]};
    bounds[start + 1] =
        pair[0].is_null() || pair[1].is_null() ? Value::null() : Add(context, Arguments{pair, 2});
  };
  if (First) extend(0);
  if (Second) extend(2);
  return overlaps(context, bounds);
}

#define SWIZZLE_OVERLAPS(type, add)                                                             \
  {"overlaps(" type "," type "," type "," type ")", &overlaps},                                 \
      {"overlaps(" type ",interval," type ",interval)", &overlaps_lengths<add, true, true>},    \
      {"overlaps(" type ",interval," type "," type ")", &overlaps_lengths<add, true, false>}, { \
    "overlaps(" type "," type "," type ",interval)", &overlaps_lengths<add, false, true>        \
  }

constexpr ScalarEntry kDatetimeArithmeticEntries[] = {
    {"+(date,int4)", &date_and_days<Sign::plus>},
    {"-(date,int4)", &date_and_days<Sign::minus>},
    {"+(int4,date)", &days_and_date},
    {"-(date,date)", &date_difference},
    {"+(date,interval)", &date_and_interval<Sign::plus>},
    {"-(date,interval)", &date_and_interval<Sign::minus>},
    {"+(interval,date)", &swapped<date_and_interval<Sign::plus>>},
    {"+(timestamp,interval)", &timestamp_and_interval<Sign::plus>},
    {"-(timestamp,interval)", &timestamp_and_interval<Sign::minus>},
    {"+(interval,timestamp)", &swapped<timestamp_and_interval<Sign::plus>>},
    {"+(timestamptz,interval)", &timestamptz_and_interval<Sign::plus>},
    {"-(timestamptz,interval)", &timestamptz_and_interval<Sign::minus>},
    {"date_add(timestamptz,interval)", &timestamptz_and_interval<Sign::plus>},
    {"date_add(timestamptz,interval,text)", &timestamptz_and_interval_in<Sign::plus>},
    {"date_subtract(timestamptz,interval)", &timestamptz_and_interval<Sign::minus>},
    {"date_subtract(timestamptz,interval,text)", &timestamptz_and_interval_in<Sign::minus>},
    {"+(interval,timestamptz)", &swapped<timestamptz_and_interval<Sign::plus>>},
    {"+(date,time)", &date_and_time},
    {"+(time,date)", &swapped<date_and_time>},
    {"timestamp(date,time)", &date_and_time},
    {"+(date,timetz)", &date_and_timetz},
    {"+(timetz,date)", &swapped<date_and_timetz>},
    {"timestamptz(date,time)", &date_and_local_time},
    {"timestamptz(date,timetz)", &date_and_timetz},
    {"-(timestamp,timestamp)", &timestamp_difference},
    {"-(timestamptz,timestamptz)", &timestamp_difference},
    {"-(time,time)", &time_difference},
    {"+(time,interval)", &time_and_interval<Sign::plus>},
    {"-(time,interval)", &time_and_interval<Sign::minus>},
    {"+(interval,time)", &swapped<time_and_interval<Sign::plus>>},
    {"+(timetz,interval)", &timetz_and_interval<Sign::plus>},
    {"-(timetz,interval)", &timetz_and_interval<Sign::minus>},
    {"+(interval,timetz)", &swapped<timetz_and_interval<Sign::plus>>},
    {"+(interval,interval)", &interval_sum},
    {"-(interval,interval)", &interval_difference},
    {"-(interval)", &interval_negation},
    {"*(interval,float8)", &interval_product},
    {"*(float8,interval)", &swapped<interval_product>},
    {"/(interval,float8)", &interval_quotient},
    {"justify_hours(interval)", &justify_hours},
    {"justify_days(interval)", &justify_days},
    {"justify_interval(interval)", &justify_interval},
    {"age(timestamp,timestamp)", &age},
    {"age(timestamptz,timestamptz)", &age_in_zone},
    {"age(timestamp)", &age_today},
    {"age(timestamptz)", &age_today_in_zone},
    SWIZZLE_OVERLAPS("timestamp", timestamp_and_interval<Sign::plus>),
    SWIZZLE_OVERLAPS("timestamptz", timestamptz_and_interval<Sign::plus>),
    SWIZZLE_OVERLAPS("time", time_and_interval<Sign::plus>),
    {"overlaps(timetz,timetz,timetz,timetz)", &overlaps_timetz},
};

}  // namespace

std::span<const ScalarEntry> datetime_arithmetic_functions() {
  return kDatetimeArithmeticEntries;
}

}  // namespace swizzle::sql
