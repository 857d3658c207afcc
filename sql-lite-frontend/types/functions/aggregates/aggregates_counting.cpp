#include <algorithm>
#include <cmath>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/compare.h"
#include "sql-lite-frontend/types/datetime/datetime_ops.h"
#include "sql-lite-frontend/types/functions/aggregates/aggregate_state.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/functions/type_functions.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

struct Count {
  std::int64_t rows = 0;
  void step(FunctionContext&, Arena&, Arguments) { ++rows; }
  [[nodiscard]] Value final(FunctionContext&) const { return Value::from_int(rows); }
  void combine(Arena&, const Count& other) { rows += other.rows; }
};

/// Sums of int2 and int4 are int8; 64 bits overflow only after 2^32 rows of the largest int4.
struct SumToInt8 {
  std::int64_t sum = 0;
  bool any = false;
  void add(std::int64_t value) {
    if (__builtin_add_overflow(sum, value, &sum))
      throw SqlError{sqlstate::numeric_value_out_of_range, "bigint out of range"};
    any = true;
  }
  void step(FunctionContext&, Arena&, Arguments a) { add(a[0].as_int8()); }
  [[nodiscard]] Value final(FunctionContext&) const {
    return any ? Value::from_int(sum) : Value::null();
  }
  void combine(Arena&, const SumToInt8& other) {
    if (other.any) add(other.sum);
  }
};

/// Input of the sums over numeric and int8, which use 128 bits as long as they suffice.
enum class Input : std::uint8_t { integer, numeric };
enum class Answer : std::uint8_t { sum, average };
template <Input input, Answer answer>
struct NumericTotal {
  NumericSum sum;
  Value not_finite;  ///< the sum of NaN and infinities so far, or NULL
  std::int64_t rows = 0;

  void step(FunctionContext&, Arena& arena, Arguments a) {
    ++rows;
    if constexpr (input == Input::integer)
      sum.add_integer(a[0].as_int8());
    else
      add(arena, a[0]);
  }
  void add(Arena& arena, const Value& value) {
    if (numeric_is_nan(value) || numeric_is_infinite(value))
      not_finite =
          not_finite.is_null() ? value.copy_to(arena) : numeric_add(arena, not_finite, value);
    else
      sum.add(arena, value);
  }
  [[nodiscard]] Value final(FunctionContext& context) const {
    if (rows == 0) return Value::null();
    if (!not_finite.is_null()) return not_finite;
    const Value total = sum.total(context.arena);
    if (answer == Answer::sum) return total;
    return numeric_divide(context.arena, total, numeric_from_int(rows));
  }
  void combine(Arena& arena, const NumericTotal& other) {
    if (!other.not_finite.is_null()) add(arena, other.not_finite);
    add(arena, other.sum.total(arena));
    rows += other.rows;
  }
};

template <class F>
struct FloatSum {
  F sum = 0;
  bool any = false;
  static F get(const Value& v) {
    if constexpr (sizeof(F) == 4)
      return v.as_float4();
    else
      return v.as_float8();
  }
  void add(F value) {
    const F before = sum;
    sum += value;
    any = true;
    if (std::isinf(sum) && !std::isinf(before) && !std::isinf(value))
      throw SqlError{sqlstate::numeric_value_out_of_range, "value out of range: overflow"};
  }
  void step(FunctionContext&, Arena&, Arguments a) { add(get(a[0])); }
  [[nodiscard]] Value final(FunctionContext&) const {
    if (!any) return Value::null();
    if constexpr (sizeof(F) == 4)
      return Value::from_float4(sum);
    else
      return Value::from_float8(sum);
  }
  void combine(Arena&, const FloatSum& other) {
    if (other.any) add(other.sum);
  }
};

template <Answer answer>
struct IntervalTotal {
  Interval sum;  ///< of the finite ones
  std::int64_t rows = 0;
  std::int64_t plus_infinities = 0;
  std::int64_t minus_infinities = 0;
  void step(FunctionContext&, Arena&, Arguments a) {
    const Interval value = a[0].as_interval();
    ++rows;
    if (value == kIntervalInfinity) {
      ++plus_infinities;
    } else if (value == kIntervalMinusInfinity) {
      ++minus_infinities;
    } else {
      sum = add(sum, value);
    }
  }
  [[nodiscard]] Value final(FunctionContext& context) const {
    if (rows == 0) return Value::null();
    if (plus_infinities > 0 && minus_infinities > 0) {
      throw SqlError{sqlstate::datetime_field_overflow, "interval out of range"};
    }
    if (plus_infinities > 0) return make_interval(context.arena, kIntervalInfinity);
    if (minus_infinities > 0) return make_interval(context.arena, kIntervalMinusInfinity);
    return make_interval(context.arena,
                         answer == Answer::sum ? sum : divide(sum, static_cast<double>(rows)));
  }
  void combine(Arena&, const IntervalTotal& other) {
    sum = add(sum, other.sum);
    rows += other.rows;
    plus_infinities += other.plus_infinities;
    minus_infinities += other.minus_infinities;
  }
};

enum class Logic : std::uint8_t { all, any };
template <Logic logic>
struct Booleans {
  bool value = logic == Logic::all;
  bool seen = false;
  void add(bool b) {
    value = logic == Logic::all ? value && b : value || b;
    seen = true;
  }
  void step(FunctionContext&, Arena&, Arguments a) { add(a[0].as_bool()); }
  [[nodiscard]] Value final(FunctionContext&) const {
    return seen ? Value::from_bool(value) : Value::null();
  }
  void combine(Arena&, const Booleans& other) {
    if (other.seen) add(other.value);
  }
};

enum class Bits : std::uint8_t { both, either, one };
template <Bits bits>
struct BitCollector {
  std::int64_t value = bits == Bits::both ? -1 : 0;
  bool seen = false;
  void add(std::int64_t other) {
    if (bits == Bits::both) value &= other;
    if (bits == Bits::either) value |= other;
    if (bits == Bits::one) value ^= other;
    seen = true;
  }
  void step(FunctionContext&, Arena&, Arguments a) { add(a[0].as_int8()); }
  [[nodiscard]] Value final(FunctionContext&) const {
    return seen ? Value::from_int(value) : Value::null();
  }
  void combine(Arena&, const BitCollector& other) {
    if (other.seen) add(other.value);
  }
};

template <TypeId type>
int order(const Value& a, const Value& b) {
  static const CompareFunction compare = compare_function(type);
  return compare(a, b);
}

// Keeps the later of equal values, except for bpchar, as PostgreSQL does.
template <TypeId type, Wanted wanted>
using ExtremeOf =
    Extreme<&order<type>, wanted, type == TypeId::bpchar ? Equals::first : Equals::later>;

#define SWIZZLE_EXTREMES(name, type)                                   \
  {"min(" name ")", aggregate_of<ExtremeOf<type, Wanted::least>>()}, { \
    "max(" name ")", aggregate_of<ExtremeOf<type, Wanted::greatest>>() \
  }
#define SWIZZLE_BITS(name)                                                \
  {"bit_and(" name ")", aggregate_of<BitCollector<Bits::both>>()},        \
      {"bit_or(" name ")", aggregate_of<BitCollector<Bits::either>>()}, { \
    "bit_xor(" name ")", aggregate_of<BitCollector<Bits::one>>()          \
  }

constexpr AggregateEntry kAggregatesCountingEntries[] = {
    {"count()", aggregate_of<Count>(Nulls::taken)},
    {"count(any)", aggregate_of<Count>()},
    {"sum(int2)", aggregate_of<SumToInt8>()},
    {"sum(int4)", aggregate_of<SumToInt8>()},
    {"sum(int8)", aggregate_of<NumericTotal<Input::integer, Answer::sum>>()},
    {"sum(numeric)", aggregate_of<NumericTotal<Input::numeric, Answer::sum>>()},
    {"sum(float4)", aggregate_of<FloatSum<float>>()},
    {"sum(float8)", aggregate_of<FloatSum<double>>()},
    {"sum(interval)", aggregate_of<IntervalTotal<Answer::sum>>()},
    {"avg(int2)", aggregate_of<NumericTotal<Input::integer, Answer::average>>()},
    {"avg(int4)", aggregate_of<NumericTotal<Input::integer, Answer::average>>()},
    {"avg(int8)", aggregate_of<NumericTotal<Input::integer, Answer::average>>()},
    {"avg(numeric)", aggregate_of<NumericTotal<Input::numeric, Answer::average>>()},
    {"avg(interval)", aggregate_of<IntervalTotal<Answer::average>>()},
    SWIZZLE_EXTREMES("int2", TypeId::int2),
    SWIZZLE_EXTREMES("int4", TypeId::int4),
    SWIZZLE_EXTREMES("int8", TypeId::int8),
    SWIZZLE_EXTREMES("oid", TypeId::oid),
    SWIZZLE_EXTREMES("float4", TypeId::float4),
    SWIZZLE_EXTREMES("float8", TypeId::float8),
    SWIZZLE_EXTREMES("numeric", TypeId::numeric),
    SWIZZLE_EXTREMES("text", TypeId::text),
    SWIZZLE_EXTREMES("bpchar", TypeId::bpchar),
    SWIZZLE_EXTREMES("date", TypeId::date),
    SWIZZLE_EXTREMES("time", TypeId::time),
    SWIZZLE_EXTREMES("timetz", TypeId::timetz),
    SWIZZLE_EXTREMES("timestamp", TypeId::timestamp),
    SWIZZLE_EXTREMES("timestamptz", TypeId::timestamptz),
    SWIZZLE_EXTREMES("interval", TypeId::interval),
    SWIZZLE_EXTREMES("inet", TypeId::inet),
    SWIZZLE_EXTREMES("tid", TypeId::tid),
    SWIZZLE_EXTREMES("bytea", TypeId::bytea),
    SWIZZLE_EXTREMES("record", TypeId::record),
    SWIZZLE_EXTREMES("xid8", TypeId::xid8),
    SWIZZLE_EXTREMES("anyarray", TypeId::int4_array),
    SWIZZLE_EXTREMES("anyenum", TypeId::int8),
    {"bool_and(bool)", aggregate_of<Booleans<Logic::all>>()},
    {"every(bool)", aggregate_of<Booleans<Logic::all>>()},
    {"bool_or(bool)", aggregate_of<Booleans<Logic::any>>()},
    SWIZZLE_BITS("int2"),
    SWIZZLE_BITS("int4"),
    SWIZZLE_BITS("int8"),
};

}  // namespace

std::span<const AggregateEntry> counting_aggregates() {
  return kAggregatesCountingEntries;
}

}  // namespace swizzle::sql
