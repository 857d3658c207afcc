#include <functional>

#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/datetime/datetime_parse.h"
#include "sql-lite-frontend/types/equality.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

template <class T>
int order(T a, T b) noexcept {
  return static_cast<int>(a > b) - static_cast<int>(a < b);
}

// Compares two integers of any widths: a Value holds all of them in 64 bits.
int integers(FunctionContext&, Arguments a) {
  return order(a[0].as_int8(), a[1].as_int8());
}
int texts(FunctionContext&, Arguments a) {
  return swizzle::compare(a[0].as_bytes(), a[1].as_bytes());
}

template <TypeId Type>
int values(FunctionContext&, Arguments a) {
  static const CompareFunction function = compare_function(Type);
  return function(a[0], a[1]);
}

double number(TypeId type, const Value& value) {
  return type == TypeId::float4 ? static_cast<double>(value.as_float4()) : value.as_float8();
}
template <TypeId Left, TypeId Right>
int floats(FunctionContext&, Arguments a) {
  const double left = number(Left, a[0]);
  const double right = number(Right, a[1]);
  return compare_values(TypeId::float8, Value::from_float8(left), Value::from_float8(right));
}

/// A point in time that may lie beyond the range of timestamps; it still sorts between the
/// infinities.
struct Moment {
  enum class Rank : std::int8_t { minus_infinity, before_all, in_range, behind_all, infinity };
  Rank rank = Rank::in_range;
  std::int64_t timestamp = 0;
  friend auto operator<=>(const Moment&, const Moment&) = default;
};

Moment moment(std::int64_t timestamp) {
  if (timestamp == kTimestampInfinity) return {Moment::Rank::infinity};
  if (timestamp == kTimestampMinusInfinity) return {Moment::Rank::minus_infinity};
  return {Moment::Rank::in_range, timestamp};
}

Moment moment(TypeId type, const Value& value) {
  if (type != TypeId::date) return moment(value.as_int8());
  const std::int32_t date = value.as_int4();
  if (!is_infinite_date(date) && std::int64_t{date} >= kEndTimestamp / kMicrosPerDay)
    return {Moment::Rank::behind_all};
  return moment(timestamp_from_date(date));
}

/// Compared with a timestamptz, a date or timestamp is read in the session's zone.
Moment in_session_zone(FunctionContext& context, const Moment& local) {
  if (local.rank != Moment::Rank::in_range) return local;
  const std::int64_t east = session_zone(context).at_local(local.timestamp).seconds_east;
  const std::int64_t timestamp = local.timestamp - east * kMicrosPerSecond;
  if (is_valid_timestamp(timestamp)) return moment(timestamp);
  return {timestamp < 0 ? Moment::Rank::before_all : Moment::Rank::behind_all};
}

template <TypeId Left, TypeId Right>
int times(FunctionContext& context, Arguments a) {
  Moment left = moment(Left, a[0]);
  Moment right = moment(Right, a[1]);
  if (Left == TypeId::timestamptz && Right != TypeId::timestamptz)
    right = in_session_zone(context, right);
  if (Right == TypeId::timestamptz && Left != TypeId::timestamptz)
    left = in_session_zone(context, left);
  return order(left, right);
}

/// NULL fields compare as equal to each other, so the result is never NULL.
int records(FunctionContext&, Arguments a) {
  return compare_values(TypeId::record, a[0], a[1]);
}
int arrays(FunctionContext&, Arguments a) {
  return compare_values(TypeId::int4_array, a[0], a[1]);
}

Value arrays_equal(FunctionContext&, Arguments a) {
  return Value::from_bool(equal_arrays(a[0], a[1]));
}
Value arrays_differ(FunctionContext&, Arguments a) {
  return Value::from_bool(!equal_arrays(a[0], a[1]));
}

template <int (*Compare)(FunctionContext&, Arguments), class Test>
Value test(FunctionContext& context, Arguments a) {
  return Value::from_bool(Test{}(Compare(context, a), 0));
}

bool same_bytes(const Value& a, const Value& b) {
  const Bytes left = a.as_bytes();
  const Bytes right = b.as_bytes();
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size()) == 0);
}
Value text_equal(FunctionContext&, Arguments a) {
  return Value::from_bool(same_bytes(a[0], a[1]));
}
Value text_differs(FunctionContext&, Arguments a) {
  return Value::from_bool(!same_bytes(a[0], a[1]));
}

#define SWIZZLE_ORDER(types, compare)                       \
  {"<(" types ")", &test<compare, std::less<>>},            \
      {"<=(" types ")", &test<compare, std::less_equal<>>}, \
      {">(" types ")", &test<compare, std::greater<>>}, {   \
    ">=(" types ")", &test<compare, std::greater_equal<>>   \
  }
#define SWIZZLE_COMPARE(types, compare)              \
  {"=(" types ")", &test<compare, std::equal_to<>>}, \
      {"<>(" types ")", &test<compare, std::not_equal_to<>>}, SWIZZLE_ORDER(types, compare)
#define SWIZZLE_COMPARE_TEXT(types) \
  {"=(" types ")", &text_equal}, {"<>(" types ")", &text_differs}, SWIZZLE_ORDER(types, texts)

constexpr ScalarEntry kComparisonEntries[] = {
    SWIZZLE_COMPARE("bool,bool", integers),
    SWIZZLE_COMPARE("char,char", integers),
    SWIZZLE_COMPARE("int2,int2", integers),
    SWIZZLE_COMPARE("int2,int4", integers),
    SWIZZLE_COMPARE("int2,int8", integers),
    SWIZZLE_COMPARE("int4,int2", integers),
    SWIZZLE_COMPARE("int4,int4", integers),
    SWIZZLE_COMPARE("int4,int8", integers),
    SWIZZLE_COMPARE("int8,int2", integers),
    SWIZZLE_COMPARE("int8,int4", integers),
    SWIZZLE_COMPARE("int8,int8", integers),
    SWIZZLE_COMPARE("oid,oid", integers),
    SWIZZLE_COMPARE("date,date", integers),
    SWIZZLE_COMPARE("time,time", integers),
    SWIZZLE_COMPARE("timestamp,timestamp", integers),
    SWIZZLE_COMPARE("timestamptz,timestamptz", integers),
    SWIZZLE_COMPARE("tid,tid", integers),
    SWIZZLE_COMPARE("xid8,xid8", values<TypeId::xid8>),
    {"=(xid,xid)", &test<integers, std::equal_to<>>},
    {"<>(xid,xid)", &test<integers, std::not_equal_to<>>},
    {"=(xid,int4)", &test<integers, std::equal_to<>>},
    {"<>(xid,int4)", &test<integers, std::not_equal_to<>>},
    {"=(cid,cid)", &test<integers, std::equal_to<>>},
    SWIZZLE_COMPARE("float4,float4", (floats<TypeId::float4, TypeId::float4>)),
    SWIZZLE_COMPARE("float4,float8", (floats<TypeId::float4, TypeId::float8>)),
    SWIZZLE_COMPARE("float8,float4", (floats<TypeId::float8, TypeId::float4>)),
    SWIZZLE_COMPARE("float8,float8", (floats<TypeId::float8, TypeId::float8>)),
    SWIZZLE_COMPARE("numeric,numeric", values<TypeId::numeric>),
    SWIZZLE_COMPARE_TEXT("text,text"),
    SWIZZLE_COMPARE_TEXT("name,name"),
    SWIZZLE_COMPARE_TEXT("name,text"),
    SWIZZLE_COMPARE_TEXT("text,name"),
    SWIZZLE_COMPARE_TEXT("bytea,bytea"),
    SWIZZLE_COMPARE_TEXT("uuid,uuid"),
    SWIZZLE_COMPARE_TEXT("inet,inet"),
    SWIZZLE_COMPARE("bpchar,bpchar", values<TypeId::bpchar>),
    SWIZZLE_COMPARE("timetz,timetz", values<TypeId::timetz>),
    SWIZZLE_COMPARE("interval,interval", values<TypeId::interval>),
    SWIZZLE_COMPARE("date,timestamp", (times<TypeId::date, TypeId::timestamp>)),
    SWIZZLE_COMPARE("date,timestamptz", (times<TypeId::date, TypeId::timestamptz>)),
    SWIZZLE_COMPARE("timestamp,date", (times<TypeId::timestamp, TypeId::date>)),
    SWIZZLE_COMPARE("timestamptz,date", (times<TypeId::timestamptz, TypeId::date>)),
    SWIZZLE_COMPARE("timestamp,timestamptz", (times<TypeId::timestamp, TypeId::timestamptz>)),
    SWIZZLE_COMPARE("timestamptz,timestamp", (times<TypeId::timestamptz, TypeId::timestamp>)),
    {"=(anyarray,anyarray)", &arrays_equal},
    {"<>(anyarray,anyarray)", &arrays_differ},
    SWIZZLE_ORDER("anyarray,anyarray", arrays),
    SWIZZLE_COMPARE("anyenum,anyenum", integers),
    SWIZZLE_COMPARE("oidvector,oidvector", arrays),
    SWIZZLE_COMPARE("record,record", records),
    {"~<~(text,text)", &test<texts, std::less<>>},
    {"~<=~(text,text)", &test<texts, std::less_equal<>>},
    {"~>=~(text,text)", &test<texts, std::greater_equal<>>},
    {"~>~(text,text)", &test<texts, std::greater<>>},
    {"~<~(bpchar,bpchar)", &test<values<TypeId::bpchar>, std::less<>>},
    {"~<=~(bpchar,bpchar)", &test<values<TypeId::bpchar>, std::less_equal<>>},
    {"~>=~(bpchar,bpchar)", &test<values<TypeId::bpchar>, std::greater_equal<>>},
    {"~>~(bpchar,bpchar)", &test<values<TypeId::bpchar>, std::greater<>>},
};

}  // namespace

std::span<const ScalarEntry> comparison_functions() {
  return kComparisonEntries;
}

}  // namespace swizzle::sql
