#include <cmath>
#include <limits>

#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/char.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

template <class T>
constexpr std::string_view name_of() {
  if constexpr (sizeof(T) == 2) return "smallint";
  if constexpr (sizeof(T) == 4) return "integer";
  return "bigint";
}
template <class T>
[[noreturn]] void out_of_range() {
  throw_error(sqlstate::numeric_value_out_of_range, "{} out of range", name_of<T>());
}

Value same(FunctionContext&, Arguments a) {
  return a[0];
}

template <class T>
Value integer_to_integer(FunctionContext&, Arguments a) {
  const i64 wide = a[0].as_int8();
  if (wide < std::numeric_limits<T>::min() || wide > std::numeric_limits<T>::max())
    out_of_range<T>();
  return a[0];
}

template <class T, class F>
Value float_to_integer(F number) {
  const double rounded = std::rint(static_cast<double>(number));
  // The maximum of 64 bits is not a double; its successor is.
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::min());
  if (!(rounded >= kLow && rounded < -kLow)) out_of_range<T>();
  return Value::from_int(static_cast<i64>(rounded));
}
template <class T>
Value float8_to_integer(FunctionContext&, Arguments a) {
  return float_to_integer<T>(a[0].as_float8());
}
template <class T>
Value float4_to_integer(FunctionContext&, Arguments a) {
  return float_to_integer<T>(a[0].as_float4());
}
template <class T>
Value numeric_to_integer(FunctionContext&, Arguments a) {
  return Value::from_int(numeric_to_int(a[0], std::numeric_limits<T>::min(),
                                        std::numeric_limits<T>::max(), name_of<T>()));
}
Value to_numeric(FunctionContext&, Arguments a) {
  return numeric_from_int(a[0].as_int8());
}
Value float4_to_numeric(FunctionContext& context, Arguments a) {
  return numeric_from_double(context.arena, static_cast<double>(a[0].as_float4()), 6);
}
Value float8_to_numeric(FunctionContext& context, Arguments a) {
  return numeric_from_double(context.arena, a[0].as_float8(), 15);
}

Value integer_to_float4(FunctionContext&, Arguments a) {
  return Value::from_float4(static_cast<float>(a[0].as_int8()));
}
Value integer_to_float8(FunctionContext&, Arguments a) {
  return Value::from_float8(static_cast<double>(a[0].as_int8()));
}
Value float4_to_float8(FunctionContext&, Arguments a) {
  return Value::from_float8(static_cast<double>(a[0].as_float4()));
}
Value float8_to_float4(FunctionContext&, Arguments a) {
  const double wide = a[0].as_float8();
  const auto narrow = static_cast<float>(wide);
  if (std::isinf(narrow) && !std::isinf(wide))
    throw SqlError{sqlstate::numeric_value_out_of_range, "value out of range: overflow"};
  if (narrow == 0 && wide != 0)
    throw SqlError{sqlstate::numeric_value_out_of_range, "value out of range: underflow"};
  return Value::from_float4(narrow);
}
Value numeric_to_float8(FunctionContext&, Arguments a) {
  return Value::from_float8(numeric_to_double(a[0]));
}
Value numeric_to_float4(FunctionContext& context, Arguments a) {
  std::string text;
  append_numeric(text, a[0]);
  return input_text(context, TypeId::float4, kNoTypmod, text);
}

Value bool_to_integer(FunctionContext&, Arguments a) {
  return Value::from_int(a[0].as_bool());
}
Value integer_to_bool(FunctionContext&, Arguments a) {
  return Value::from_bool(a[0].as_int4() != 0);
}
Value bool_to_text(FunctionContext&, Arguments a) {
  return Value::from_text(a[0].as_bool() ? "true" : "false");
}

Value int8_to_oid(FunctionContext&, Arguments a) {
  const i64 number = a[0].as_int8();
  if (number < 0 || number > std::numeric_limits<std::uint32_t>::max())
    throw SqlError{sqlstate::numeric_value_out_of_range, "OID out of range"};
  return a[0];
}
Value xid8_to_xid(FunctionContext&, Arguments a) {
  return Value::from_oid(static_cast<std::uint32_t>(a[0].as_int8()));
}
Value text_to_regclass(FunctionContext& context, Arguments a) {
  return input_text(context, TypeId::regclass, kNoTypmod, a[0].as_text());
}

// "char" counts as a signed byte among integers.
Value char_to_integer(FunctionContext&, Arguments a) {
  return Value::from_int(static_cast<signed char>(a[0].as_int4()));
}
Value integer_to_char(FunctionContext&, Arguments a) {
  if (a[0].as_int4() < -128 || a[0].as_int4() > 127)
    throw SqlError{sqlstate::numeric_value_out_of_range, "\"char\" out of range"};
  return Value::from_int(static_cast<unsigned char>(a[0].as_int4()));
}
Value char_to_text(FunctionContext& context, Arguments a) {
  std::string text;
  append_char(static_cast<unsigned char>(a[0].as_int4()), text);
  return make_text(context.arena, text);
}
Value text_to_char(FunctionContext&, Arguments a) {
  return Value::from_int(char_of_text(a[0].as_text()));
}
Value text_to_name(FunctionContext&, Arguments a) {
  return Value::from_text(clip_bytes(a[0].as_text(), 63));
}
Value without_blanks(FunctionContext&, Arguments a) {
  const std::string_view text = a[0].as_text();
  return Value::from_text(text.substr(0, text.find_last_not_of(' ') + 1));
}
Value blank_padded_to_name(FunctionContext&, Arguments a) {
  const std::string_view text = clip_bytes(a[0].as_text(), 63);
  return Value::from_text(text.substr(0, text.find_last_not_of(' ') + 1));
}

/// Length coercions as functions of the value, the typmod and, for strings, an explicit flag.
template <TypeId Type>
Value fit(FunctionContext& context, Arguments a) {
  const bool is_explicit = a.size() > 2 && a[2].as_bool();
  return coerce_length(context, Type, a[1].as_int4(), a[0],
                       is_explicit ? Coercion::explicit_cast : Coercion::assignment);
}

Value date_to_timestamp(FunctionContext&, Arguments a) {
  return Value::from_int(timestamp_from_date(a[0].as_int4()));
}
Value date_to_timestamptz(FunctionContext& context, Arguments a) {
  return Value::from_int(local_to_utc(timestamp_from_date(a[0].as_int4()), session_zone(context)));
}
Value timestamp_to_date(FunctionContext&, Arguments a) {
  return Value::from_int(date_from_timestamp(a[0].as_int8()));
}
Value timestamptz_to_date(FunctionContext& context, Arguments a) {
  return Value::from_int(date_from_timestamp(utc_to_local(a[0].as_int8(), session_zone(context))));
}
Value timestamp_to_timestamptz(FunctionContext& context, Arguments a) {
  return Value::from_int(local_to_utc(a[0].as_int8(), session_zone(context)));
}
Value timestamptz_to_timestamp(FunctionContext& context, Arguments a) {
  return Value::from_int(utc_to_local(a[0].as_int8(), session_zone(context)));
}
Value timestamp_to_time(FunctionContext&, Arguments a) {
  if (is_infinite_timestamp(a[0].as_int8())) return Value::null();
  return Value::from_int(floor_mod(a[0].as_int8(), kMicrosPerDay));
}
Value timestamptz_to_time(FunctionContext& context, Arguments a) {
  if (is_infinite_timestamp(a[0].as_int8())) return Value::null();
  return Value::from_int(
      floor_mod(utc_to_local(a[0].as_int8(), session_zone(context)), kMicrosPerDay));
}
Value timestamptz_to_timetz(FunctionContext& context, Arguments a) {
  if (is_infinite_timestamp(a[0].as_int8())) return Value::null();
  const i32 east = session_zone(context).at_utc(a[0].as_int8()).seconds_east;
  const i64 local = a[0].as_int8() + east * kMicrosPerSecond;
  return Value::from_timetz({floor_mod(local, kMicrosPerDay), -east});
}
Value interval_to_time(FunctionContext&, Arguments a) {
  if (is_infinite_interval(a[0].as_interval())) {
    throw SqlError{sqlstate::datetime_field_overflow, "cannot convert infinite interval to time"};
  }
  return Value::from_int(floor_mod(a[0].as_interval().microseconds, kMicrosPerDay));
}
Value time_to_interval(FunctionContext& context, Arguments a) {
  return make_interval(context.arena, {a[0].as_int8(), 0, 0});
}
Value timetz_to_time(FunctionContext&, Arguments a) {
  return Value::from_int(a[0].as_timetz().microseconds);
}
Value time_to_timetz(FunctionContext& context, Arguments a) {
  const i64 today = floor_div(local_transaction_time(context), kMicrosPerDay) * kMicrosPerDay;
  const i32 east = session_zone(context).at_local(today + a[0].as_int8()).seconds_east;
  return Value::from_timetz({a[0].as_int8(), -east});
}

constexpr ScalarEntry kCastsEntries[] = {
    {"int2(int4)", &integer_to_integer<i16>},
    {"int2(int8)", &integer_to_integer<i16>},
    {"int4(int2)", &same},
    {"int4(int8)", &integer_to_integer<i32>},
    {"int8(int2)", &same},
    {"int8(int4)", &same},
    {"int8(oid)", &same},
    {"oid(int8)", &int8_to_oid},
    {"xid(xid8)", &xid8_to_xid},
    {"regclass(text)", &text_to_regclass},
    {"int2(float4)", &float4_to_integer<i16>},
    {"int2(float8)", &float8_to_integer<i16>},
    {"int4(float4)", &float4_to_integer<i32>},
    {"int4(float8)", &float8_to_integer<i32>},
    {"int8(float4)", &float4_to_integer<i64>},
    {"int8(float8)", &float8_to_integer<i64>},
    {"int2(numeric)", &numeric_to_integer<i16>},
    {"int4(numeric)", &numeric_to_integer<i32>},
    {"int8(numeric)", &numeric_to_integer<i64>},
    {"numeric(int2)", &to_numeric},
    {"numeric(int4)", &to_numeric},
    {"numeric(int8)", &to_numeric},
    {"numeric(float4)", &float4_to_numeric},
    {"numeric(float8)", &float8_to_numeric},
    {"numeric(numeric,int4)", &fit<TypeId::numeric>},
    {"float4(int2)", &integer_to_float4},
    {"float4(int4)", &integer_to_float4},
    {"float4(int8)", &integer_to_float4},
    {"float4(float8)", &float8_to_float4},
    {"float4(numeric)", &numeric_to_float4},
    {"float8(int2)", &integer_to_float8},
    {"float8(int4)", &integer_to_float8},
    {"float8(int8)", &integer_to_float8},
    {"float8(float4)", &float4_to_float8},
    {"float8(numeric)", &numeric_to_float8},
    {"int4(bool)", &bool_to_integer},
    {"bool(int4)", &integer_to_bool},
    {"text(bool)", &bool_to_text},
    {"int4(char)", &char_to_integer},
    {"char(int4)", &integer_to_char},
    {"char(text)", &text_to_char},
    {"text(char)", &char_to_text},
    {"bpchar(char)", &char_to_text},
    {"text(bpchar)", &without_blanks},
    {"text(name)", &same},
    {"varchar(name)", &same},
    {"bpchar(name)", &same},
    {"name(text)", &text_to_name},
    {"name(varchar)", &text_to_name},
    {"name(bpchar)", &blank_padded_to_name},
    {"varchar(varchar,int4,bool)", &fit<TypeId::varchar>},
    {"bpchar(bpchar,int4,bool)", &fit<TypeId::bpchar>},
    {"interval(interval,int4)", &fit<TypeId::interval>},
    {"time(time,int4)", &fit<TypeId::time>},
    {"timetz(timetz,int4)", &fit<TypeId::timetz>},
    {"timestamp(timestamp,int4)", &fit<TypeId::timestamp>},
    {"timestamptz(timestamptz,int4)", &fit<TypeId::timestamptz>},
    {"timestamp(date)", &date_to_timestamp},
    {"timestamptz(date)", &date_to_timestamptz},
    {"date(timestamp)", &timestamp_to_date},
    {"date(timestamptz)", &timestamptz_to_date},
    {"timestamptz(timestamp)", &timestamp_to_timestamptz},
    {"timestamp(timestamptz)", &timestamptz_to_timestamp},
    {"time(timestamp)", &timestamp_to_time},
    {"time(timestamptz)", &timestamptz_to_time},
    {"timetz(timestamptz)", &timestamptz_to_timetz},
    {"time(interval)", &interval_to_time},
    {"interval(time)", &time_to_interval},
    {"time(timetz)", &timetz_to_time},
    {"timetz(time)", &time_to_timetz},
};

}  // namespace

std::span<const ScalarEntry> cast_functions() {
  return kCastsEntries;
}

}  // namespace swizzle::sql
