#include <algorithm>
#include <cstdlib>
#include <limits>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/datetime/datetime_format.h"
#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/datetime/interval_fields.h"
#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/numeric/int128.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

[[noreturn]] void out_of_range(std::string_view what, std::string_view text) {
  throw_error(sqlstate::datetime_field_overflow, "{} out of range: \"{}\"", what, text);
}

std::int64_t to_timestamp(const ParsedDateTime& parsed, std::string_view text) {
  const auto local = timestamp_from_civil({parsed.date, parsed.time});
  if (!local || !is_valid_timestamp(*local)) out_of_range("timestamp", text);
  return *local;
}

}  // namespace

std::int64_t read_timestamp(FunctionContext& context, std::string_view text) {
  const ParsedDateTime parsed = parse_date_time(context, text, "timestamp");
  switch (parsed.kind) {
    case ParsedDateTime::Kind::infinity:
      return kTimestampInfinity;
    case ParsedDateTime::Kind::minus_infinity:
      return kTimestampMinusInfinity;
    case ParsedDateTime::Kind::epoch:
      return -kUnixEpochSeconds * kMicrosPerSecond;
    case ParsedDateTime::Kind::fields:
      break;
  }
  return to_timestamp(parsed, text);
}

std::int64_t read_timestamptz(FunctionContext& context, std::string_view text) {
  const ParsedDateTime parsed = parse_date_time(context, text, "timestamp with time zone");
  switch (parsed.kind) {
    case ParsedDateTime::Kind::infinity:
      return kTimestampInfinity;
    case ParsedDateTime::Kind::minus_infinity:
      return kTimestampMinusInfinity;
    case ParsedDateTime::Kind::epoch:
      return -kUnixEpochSeconds * kMicrosPerSecond;
    case ParsedDateTime::Kind::fields:
      break;
  }
  // The local time may be out of range although its UTC timestamp is not.
  const auto civil = timestamp_from_civil({parsed.date, parsed.time});
  if (!civil) out_of_range("timestamp", text);
  const std::int64_t local = *civil;
  std::int32_t east = 0;
  if (parsed.abbreviation)
    east = parsed.abbreviation->at_local(local);
  else if (parsed.seconds_east)
    east = *parsed.seconds_east;
  else if (parsed.zone)
    east = parsed.zone->at_local(local).seconds_east;
  else
    east = session_zone(context).at_local(local).seconds_east;
  std::int64_t out = 0;
  if (__builtin_sub_overflow(local, east * kMicrosPerSecond, &out) || !is_valid_timestamp(out))
    out_of_range("timestamp", text);
  return out;
}

std::int32_t read_date(FunctionContext& context, std::string_view text) {
  const ParsedDateTime parsed = parse_date_time(context, text, "date");
  switch (parsed.kind) {
    case ParsedDateTime::Kind::infinity:
      return kDateInfinity;
    case ParsedDateTime::Kind::minus_infinity:
      return kDateMinusInfinity;
    case ParsedDateTime::Kind::epoch:
      return static_cast<std::int32_t>(-kUnixEpochDays);
    case ParsedDateTime::Kind::fields:
      break;
  }
  const std::int64_t days = days_from_civil(parsed.date);
  if (!is_valid_date(days)) out_of_range("date", text);
  return static_cast<std::int32_t>(days);
}

constexpr TypeCodec kDateCodec{
    [](FunctionContext& context, TypeId, std::int32_t, std::string_view text) {
      return Value::from_int(read_date(context, text));
    },
    [](FunctionContext& context, TypeId, const Value& value, std::string& out) {
      append_date(out, value.as_int4(), context.session.format);
    },
    [](FunctionContext&, TypeId, std::int32_t, Bytes bytes) {
      BinaryReader reader{bytes};
      const auto days = reader.take<std::int32_t>();
      reader.finish();
      if (!is_infinite_date(days) && !is_valid_date(days))
        throw SqlError{sqlstate::datetime_field_overflow, "date out of range"};
      return Value::from_int(days);
    },
    [](FunctionContext&, TypeId, const Value& value, std::string& out) {
      append_big_endian(out, value.as_int4());
    }};

namespace {

std::int64_t checked_time_of_day(std::int64_t micros) {
  if (micros < 0 || micros > kMicrosPerDay)
    throw SqlError{sqlstate::datetime_field_overflow, "time out of range"};
  return micros;
}

TimeTz read_timetz(FunctionContext& context, std::string_view text) {
  const ParsedDateTime parsed = parse_time(context, text, "time with time zone");
  if (parsed.kind != ParsedDateTime::Kind::fields || (parsed.zone && !parsed.has_date))
    throw_date_time_error(DateTimeFault::bad_format, text, "time with time zone");
  std::int32_t east = 0;
  const std::int64_t micros = micros_from_time(parsed.time);
  if (parsed.seconds_east && !parsed.abbreviation) {
    east = *parsed.seconds_east;
  } else {
    // Without a date, the session zone's offset of the current date is used; for dates outside of
    // the timestamp range, UTC.
    constexpr std::int64_t kMostDays = std::numeric_limits<std::int64_t>::max() / kMicrosPerDay - 1;
    const std::int64_t day = parsed.has_date
                                 ? days_from_civil(parsed.date)
                                 : floor_div(local_transaction_time(context), kMicrosPerDay);
    const TimeZone& zone = parsed.zone ? *parsed.zone : session_zone(context);
    if (std::abs(day) <= kMostDays) {
      const std::int64_t local = day * kMicrosPerDay + micros;
      east = parsed.abbreviation ? parsed.abbreviation->at_local(local)
                                 : zone.at_local(local).seconds_east;
    }
  }
  return {micros, -east};
}

}  // namespace

constexpr TypeCodec kTimeCodec{
    [](FunctionContext& context, TypeId, std::int32_t typmod, std::string_view text) {
      const ParsedDateTime parsed = parse_time(context, text, "time");
      if (parsed.kind != ParsedDateTime::Kind::fields || (parsed.zone && !parsed.has_date))
        throw_date_time_error(DateTimeFault::bad_format, text, "time");
      return Value::from_int(round_micros(micros_from_time(parsed.time), typmod));
    },
    [](FunctionContext&, TypeId, const Value& value, std::string& out) {
      append_time(out, value.as_int8());
    },
    [](FunctionContext&, TypeId, std::int32_t typmod, Bytes bytes) {
      BinaryReader reader{bytes};
      const std::int64_t micros = checked_time_of_day(reader.take<std::int64_t>());
      reader.finish();
      return Value::from_int(round_micros(micros, typmod));
    },
    [](FunctionContext&, TypeId, const Value& value, std::string& out) {
      append_big_endian(out, value.as_int8());
    }};

constexpr TypeCodec kTimetzCodec{
    [](FunctionContext& context, TypeId, std::int32_t typmod, std::string_view text) {
      TimeTz time = read_timetz(context, text);
      time.microseconds = round_micros(time.microseconds, typmod);
      return Value::from_timetz(time);
    },
    [](FunctionContext&, TypeId, const Value& value, std::string& out) {
      append_timetz(out, value.as_timetz());
    },
    [](FunctionContext&, TypeId, std::int32_t typmod, Bytes bytes) {
      BinaryReader reader{bytes};
      const std::int64_t micros = checked_time_of_day(reader.take<std::int64_t>());
      const auto zone = reader.take<std::int32_t>();
      reader.finish();
      if (zone <= -16 * 3600 || zone >= 16 * 3600)
        throw SqlError{sqlstate::invalid_time_zone_displacement,
                       "time zone displacement out of range"};
      return Value::from_timetz({round_micros(micros, typmod), zone});
    },
    [](FunctionContext&, TypeId, const Value& value, std::string& out) {
      append_big_endian(out, value.as_timetz().microseconds);
      append_big_endian(out, value.as_timetz().zone_seconds);
    }};

std::int64_t fit_timestamp(std::int64_t timestamp, std::int32_t typmod) {
  if (is_infinite_timestamp(timestamp)) return timestamp;
  return round_micros(timestamp, typmod);
}

constexpr TypeCodec kTimestampCodec{
    [](FunctionContext& context, TypeId type, std::int32_t typmod, std::string_view text) {
      const std::int64_t timestamp = type == TypeId::timestamptz ? read_timestamptz(context, text)
                                                                 : read_timestamp(context, text);
      return Value::from_int(fit_timestamp(timestamp, typmod));
    },
    [](FunctionContext& context, TypeId type, const Value& value, std::string& out) {
      if (type == TypeId::timestamptz)
        append_timestamptz(out, value.as_int8(), context.session.format);
      else
        append_timestamp(out, value.as_int8(), context.session.format);
    },
    [](FunctionContext&, TypeId, std::int32_t typmod, Bytes bytes) {
      BinaryReader reader{bytes};
      const auto timestamp = reader.take<std::int64_t>();
      reader.finish();
      if (!is_infinite_timestamp(timestamp) && !is_valid_timestamp(timestamp))
        throw SqlError{sqlstate::datetime_field_overflow, "timestamp out of range"};
      return Value::from_int(fit_timestamp(timestamp, typmod));
    },
    [](FunctionContext&, TypeId, const Value& value, std::string& out) {
      append_big_endian(out, value.as_int8());
    }};

constexpr TypeCodec kIntervalCodec{
    [](FunctionContext& context, TypeId, std::int32_t typmod, std::string_view text) {
      return make_interval(context.arena,
                           fit_interval(parse_interval(context, text, typmod), typmod));
    },
    [](FunctionContext& context, TypeId, const Value& value, std::string& out) {
      append_interval(out, value.as_interval(), context.session.format.interval_style);
    },
    [](FunctionContext& context, TypeId, std::int32_t typmod, Bytes bytes) {
      BinaryReader reader{bytes};
      Interval interval;
      interval.microseconds = reader.take<std::int64_t>();
      interval.days = reader.take<std::int32_t>();
      interval.months = reader.take<std::int32_t>();
      reader.finish();
      return make_interval(context.arena, fit_interval(interval, typmod));
    },
    [](FunctionContext&, TypeId, const Value& value, std::string& out) {
      const Interval interval = value.as_interval();
      append_big_endian(out, interval.microseconds);
      append_big_endian(out, interval.days);
      append_big_endian(out, interval.months);
    }};

namespace {

std::int32_t read_precision(std::span<const std::int32_t> modifiers, std::string_view name,
                            std::string_view tail) {
  if (modifiers.size() != 1)
    throw SqlError{sqlstate::invalid_parameter_value, "invalid type modifier"};
  if (modifiers[0] < 0)
    throw_error(sqlstate::invalid_parameter_value, "{}({}){} precision must not be negative", name,
                modifiers[0], tail);
  return std::min(modifiers[0], 6);
}

/// "time without time zone" becomes "time(3) without time zone".
std::string show_precision(std::string_view name, std::int32_t typmod) {
  const std::size_t word = name.find(' ');
  return fmt::format("{}({}){}", name.substr(0, word), typmod, name.substr(word));
}

constexpr std::string_view kWithZone = " WITH TIME ZONE";

constexpr TypeModifier kTimeModifier{
    .read = [](std::span<const std::int32_t> given) { return read_precision(given, "TIME", ""); },
    .show = &show_precision,
    .fit = [](FunctionContext&, std::int32_t typmod, const Value& value,
              Coercion) { return Value::from_int(round_micros(value.as_int8(), typmod)); }};
constexpr TypeModifier kTimetzModifier{
    .read =
        [](std::span<const std::int32_t> given) {
          return read_precision(given, "TIME", kWithZone);
        },
    .show = &show_precision,
    .fit =
        [](FunctionContext&, std::int32_t typmod, const Value& value, Coercion) {
          TimeTz time = value.as_timetz();
          time.microseconds = round_micros(time.microseconds, typmod);
          return Value::from_timetz(time);
        }};
Value fit_moment(FunctionContext&, std::int32_t typmod, const Value& value, Coercion) {
  return Value::from_int(fit_timestamp(value.as_int8(), typmod));
}
constexpr TypeModifier kTimestampModifier{
    .read =
        [](std::span<const std::int32_t> given) { return read_precision(given, "TIMESTAMP", ""); },
    .show = &show_precision,
    .fit = &fit_moment};
constexpr TypeModifier kTimestamptzModifier{.read =
                                                [](std::span<const std::int32_t> given) {
                                                  return read_precision(given, "TIMESTAMP",
                                                                        kWithZone);
                                                },
                                            .show = &show_precision,
                                            .fit = &fit_moment};

std::int32_t read_interval_modifier(std::span<const std::int32_t> modifiers) {
  if (modifiers.empty() || modifiers.size() > 2)
    throw SqlError{sqlstate::invalid_parameter_value, "invalid INTERVAL type modifier"};
  std::int32_t precision = static_cast<std::int32_t>(kFullIntervalPrecision);
  if (modifiers.size() == 2) precision = read_precision(modifiers.subspan(1), "INTERVAL", "");
  // A modifier that restricts nothing is none.
  if (modifiers.size() == 1 && static_cast<unsigned>(modifiers[0]) == kAllIntervalFields)
    return kNoTypmod;
  return modifiers[0] << 16 | precision;
}
std::string show_interval(std::string_view name, std::int32_t typmod) {
  std::string out{name};
  for (const IntervalFieldNames& names : kIntervalFieldNames)
    if (names.fields == interval_fields(typmod)) out += fmt::format(" {}", names.text);
  if (interval_precision(typmod) != kFullIntervalPrecision)
    out += fmt::format("({})", interval_precision(typmod));
  return out;
}
constexpr TypeModifier kIntervalModifier{
    .read = &read_interval_modifier,
    .show = &show_interval,
    .fit = [](FunctionContext& context, std::int32_t typmod, const Value& value, Coercion) {
      return make_interval(context.arena, fit_interval(value.as_interval(), typmod));
    }};

// Ordered by the instant, then the zone: 12:00+00 and 13:00+01 are the same instant but not equal.
std::int64_t instant_of(const TimeTz& time) noexcept {
  return time.microseconds + time.zone_seconds * kMicrosPerSecond;
}
int compare_timetz(const Value& a, const Value& b) {
  const int by_instant = order_of(instant_of(a.as_timetz()), instant_of(b.as_timetz()));
  return by_instant != 0 ? by_instant
                         : order_of(a.as_timetz().zone_seconds, b.as_timetz().zone_seconds);
}
std::uint64_t hash_timetz(const Value& value, std::uint64_t seed) {
  const TimeTz time = value.as_timetz();
  return hash_integer(static_cast<std::uint64_t>(time.microseconds),
                      hash_integer(static_cast<std::uint32_t>(time.zone_seconds), seed));
}
void put_timetz(std::string& key, const Value& value) {
  keys::put_signed64(key, instant_of(value.as_timetz()));
  keys::put_signed32(key, value.as_timetz().zone_seconds);
}
Value take_timetz(Bytes& key, TypeId, Arena&) {
  const std::int64_t instant = keys::take_signed64(key);
  const std::int32_t zone = keys::take_signed32(key);
  return Value::from_timetz({instant - zone * kMicrosPerSecond, zone});
}

std::uint64_t hash_interval(const Value& value, std::uint64_t seed) {
  const Interval i = value.as_interval();
  // Equal intervals have equal totals; the low 64 bits of the total are enough for a hash.
  const std::int64_t days = std::int64_t{i.months} * 30 + i.days;
  return hash_integer(static_cast<std::uint64_t>(days) * static_cast<std::uint64_t>(kMicrosPerDay) +
                          static_cast<std::uint64_t>(i.microseconds),
                      seed);
}
Int128 total_of(const Interval& interval) {
  return (Int128{interval.months} * 30 + interval.days) * kMicrosPerDay + interval.microseconds;
}
void put_interval(std::string& key, const Value& value) {
  const Int128 total = total_of(value.as_interval());
  const auto bits = static_cast<UInt128>(total);
  keys::put(key, static_cast<std::uint64_t>(bits >> 64) ^ 1ULL << 63);
  keys::put(key, static_cast<std::uint64_t>(bits));
}
/// An interval equal to the one that went in, though perhaps divided otherwise.
Value take_interval(Bytes& key, TypeId, Arena& arena) {
  const auto high = keys::take<std::uint64_t>(key) ^ 1ULL << 63;
  const auto bits = static_cast<UInt128>(high) << 64 | keys::take<std::uint64_t>(key);
  const auto total = static_cast<Int128>(bits);
  if (total == total_of(kIntervalInfinity)) return make_interval(arena, kIntervalInfinity);
  if (total == total_of(kIntervalMinusInfinity))
    return make_interval(arena, kIntervalMinusInfinity);
  // Months and days have limits: what is beyond goes to the smaller unit.
  const auto limited = [](Int128 value) {
    return static_cast<std::int32_t>(std::clamp(value, Int128{INT32_MIN}, Int128{INT32_MAX}));
  };
  Interval out;
  out.months = limited(total / kMicrosPerDay / 30);
  Int128 rest = total - Int128{out.months} * 30 * kMicrosPerDay;
  out.days = limited(rest / kMicrosPerDay);
  rest -= Int128{out.days} * kMicrosPerDay;
  out.microseconds = static_cast<std::int64_t>(rest);
  return make_interval(arena, out);
}

constexpr std::int32_t kFullPrecision = 6;
TypeMeasures fraction_measures(std::int32_t typmod) {
  return {.fraction = typmod < 0 ? kFullPrecision : typmod};
}
TypeMeasures interval_measures(std::int32_t typmod) {
  const unsigned precision = interval_precision(typmod);
  return {.fraction = precision == kFullIntervalPrecision ? kFullPrecision
                                                          : static_cast<std::int32_t>(precision)};
}

constexpr Type time_type(TypeId id, TypeId array, std::string_view name, std::string_view sql_name,
                         TypeCodec io) {
  return {.id = id,
          .array = array,
          .name = name,
          .sql_name = sql_name,
          .length = 8,
          .by_value = true,
          .category = 'D',
          .alignment = 'd',
          .storage = 'p',
          .in_btree_gist = true,
          .shape = Shape::int64,
          .io = io,
          .order = kInt64Order,
          .measures = &fraction_measures};
}
constexpr Type date_type() {
  Type type = time_type(TypeId::date, TypeId::date_array, "date", "date", kDateCodec);
  type.length = 4;
  type.alignment = 'i';
  type.shape = Shape::int32;
  type.order = kInt32Order;
  type.family = TypeId::timestamp;
  type.measures = [](std::int32_t) { return TypeMeasures{.fraction = 0}; };
  return type;
}
constexpr Type plain_time_type() {
  Type type =
      time_type(TypeId::time, TypeId::time_array, "time", "time without time zone", kTimeCodec);
  type.modifier = &kTimeModifier;
  return type;
}
constexpr Type timetz_type() {
  Type type = time_type(TypeId::timetz, TypeId::timetz_array, "timetz", "time with time zone",
                        kTimetzCodec);
  type.length = 12;
  type.by_value = false;
  type.shape = Shape::timetz;
  type.order = {.compare = &compare_timetz,
                .hash = &hash_timetz,
                .put_key = &put_timetz,
                .take_key = &take_timetz,
                .key_width = 12,
                .key_keeps_value = true};
  type.modifier = &kTimetzModifier;
  return type;
}
constexpr Type timestamp_type() {
  Type type = time_type(TypeId::timestamp, TypeId::timestamp_array, "timestamp",
                        "timestamp without time zone", kTimestampCodec);
  type.modifier = &kTimestampModifier;
  type.family = TypeId::timestamp;
  return type;
}
constexpr Type timestamptz_type() {
  Type type = time_type(TypeId::timestamptz, TypeId::timestamptz_array, "timestamptz",
                        "timestamp with time zone", kTimestampCodec);
  type.preferred = true;
  type.modifier = &kTimestamptzModifier;
  type.family = TypeId::timestamp;
  return type;
}
constexpr Type interval_type() {
  Type type =
      time_type(TypeId::interval, TypeId::interval_array, "interval", "interval", kIntervalCodec);
  type.length = 16;
  type.by_value = false;
  type.category = 'T';
  type.preferred = true;
  type.shape = Shape::interval;
  type.order = {
      .compare = [](const Value& a,
                    const Value& b) { return compare_intervals(a.as_interval(), b.as_interval()); },
      .hash = &hash_interval,
      .put_key = &put_interval,
      .take_key = &take_interval,
      .key_width = 16};
  type.modifier = &kIntervalModifier;
  type.measures = &interval_measures;
  return type;
}

}  // namespace

constinit const Type builtin::date = date_type();
constinit const Type builtin::time = plain_time_type();
constinit const Type builtin::timetz = timetz_type();
constinit const Type builtin::timestamp = timestamp_type();
constinit const Type builtin::timestamptz = timestamptz_type();
constinit const Type builtin::interval = interval_type();

}  // namespace swizzle::sql
