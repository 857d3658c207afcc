#include <limits>

#include "sql-lite-frontend/types/datetime_format.h"
#include "sql-lite-frontend/types/datetime_ops.h"
#include "sql-lite-frontend/types/datetime_parse.h"
#include "sql-lite-frontend/types/type_codec.h"

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
  const std::int64_t local = to_timestamp(parsed, text);
  std::int32_t east = 0;
  if (parsed.seconds_east)
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

const TypeCodec& date_codec() noexcept {
  static constexpr TypeCodec codec{
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
  return codec;
}

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
  if (parsed.seconds_east) {
    east = *parsed.seconds_east;
  } else {
    // Without a date, the session's offset of today is meant.
    const std::int64_t today =
        floor_div(local_transaction_time(context), kMicrosPerDay) * kMicrosPerDay;
    const std::int64_t local =
        (parsed.has_date ? days_from_civil(parsed.date) * kMicrosPerDay : today) + micros;
    const TimeZone& zone = parsed.zone ? *parsed.zone : session_zone(context);
    east = zone.at_local(local).seconds_east;
  }
  return {micros, -east};
}

}  // namespace

const TypeCodec& time_codec() noexcept {
  static constexpr TypeCodec codec{
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
  return codec;
}

const TypeCodec& timetz_codec() noexcept {
  static constexpr TypeCodec codec{
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
  return codec;
}

std::int64_t fit_timestamp(std::int64_t timestamp, std::int32_t typmod) {
  if (is_infinite_timestamp(timestamp)) return timestamp;
  return round_micros(timestamp, typmod);
}

const TypeCodec& timestamp_codec() noexcept {
  static constexpr TypeCodec codec{
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
  return codec;
}

const TypeCodec& interval_codec() noexcept {
  static constexpr TypeCodec codec{
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
  return codec;
}

}  // namespace swizzle::sql
