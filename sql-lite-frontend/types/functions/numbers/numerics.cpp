#include <algorithm>

#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

template <Value (*F)(Arena&, const Value&)>
Value unary(FunctionContext& context, Arguments a) {
  return F(context.arena, a[0]);
}
template <Value (*F)(Arena&, const Value&, const Value&)>
Value binary(FunctionContext& context, Arguments a) {
  return F(context.arena, a[0], a[1]);
}
Value same(FunctionContext&, Arguments a) {
  return a[0];
}

/// Clamps a digit's position to those that a numeric can have.
int clamped_place(const Value& place) {
  constexpr int kMostBefore = 131'073;
  constexpr int kMostAfter = 16'383;
  return std::clamp(place.as_int4(), -kMostBefore, kMostAfter);
}
Value round_to(FunctionContext& context, Arguments a) {
  return numeric_round(context.arena, a[0], clamped_place(a[1]));
}
Value round_whole(FunctionContext& context, Arguments a) {
  return numeric_round(context.arena, a[0], 0);
}
Value truncate_to(FunctionContext& context, Arguments a) {
  return numeric_truncate(context.arena, a[0], clamped_place(a[1]));
}
Value truncate_whole(FunctionContext& context, Arguments a) {
  return numeric_truncate(context.arena, a[0], 0);
}
Value sign(FunctionContext&, Arguments a) {
  if (numeric_is_nan(a[0])) return a[0];
  return numeric_from_int(numeric_sign(a[0]));
}
Value decimal_logarithm(FunctionContext& context, Arguments a) {
  return numeric_logarithm(context.arena, numeric_from_int(10), a[0]);
}
Value scale(FunctionContext&, Arguments a) {
  if (numeric_is_nan(a[0]) || numeric_is_infinite(a[0])) return Value::null();
  return Value::from_int(numeric_scale(a[0]));
}
Value minimum_scale(FunctionContext&, Arguments a) {
  if (numeric_is_nan(a[0]) || numeric_is_infinite(a[0])) return Value::null();
  return Value::from_int(numeric_minimum_scale(a[0]));
}

Value increment(FunctionContext& context, Arguments a) {
  return numeric_add(context.arena, a[0], numeric_from_int(1));
}

Value width_bucket(FunctionContext& context, Arguments a) {
  const auto fail = [](std::string_view why) {
    throw SqlError{sqlstate::invalid_argument_for_width_bucket, std::string{why}};
  };
  const std::int32_t count = a[3].as_int4();
  if (count <= 0) fail("count must be greater than zero");
  if (numeric_is_nan(a[0]) || numeric_is_nan(a[1]) || numeric_is_nan(a[2]))
    fail("operand, lower bound, and upper bound cannot be NaN");
  if (numeric_is_infinite(a[1]) || numeric_is_infinite(a[2]))
    fail("lower and upper bounds must be finite");
  const int direction = numeric_compare(a[1], a[2]);
  if (direction == 0) fail("lower bound cannot equal upper bound");
  const bool up = direction < 0;
  const int below = numeric_compare(a[0], a[1]);
  const int above = numeric_compare(a[0], a[2]);
  if (up ? below < 0 : below > 0) return Value::from_int(0);
  if (up ? above >= 0 : above <= 0) {
    if (count == INT32_MAX)
      throw SqlError{sqlstate::numeric_value_out_of_range, "integer out of range"};
    return Value::from_int(count + 1);
  }
  Arena& arena = context.arena;
  const Value distance = numeric_subtract(arena, a[0], a[1]);
  const Value width = numeric_subtract(arena, a[2], a[1]);
  const Value place = numeric_divide_truncated(
      arena, numeric_multiply(arena, distance, numeric_from_int(count)), width);
  return Value::from_int(numeric_to_int(place, 0, INT32_MAX, "integer") + 1);
}

constexpr ScalarEntry kNumericsEntries[] = {
    {"+(numeric,numeric)", &binary<numeric_add>},
    {"-(numeric,numeric)", &binary<numeric_subtract>},
    {"*(numeric,numeric)", &binary<numeric_multiply>},
    {"/(numeric,numeric)", &binary<numeric_divide>},
    {"%(numeric,numeric)", &binary<numeric_modulo>},
    {"^(numeric,numeric)", &binary<numeric_power>},
    {"-(numeric)", &unary<numeric_negate>},
    {"+(numeric)", &same},
    {"@(numeric)", &unary<numeric_absolute>},
    {"abs(numeric)", &unary<numeric_absolute>},
    {"mod(numeric,numeric)", &binary<numeric_modulo>},
    {"div(numeric,numeric)", &binary<numeric_divide_truncated>},
    {"power(numeric,numeric)", &binary<numeric_power>},
    {"pow(numeric,numeric)", &binary<numeric_power>},
    {"sqrt(numeric)", &unary<numeric_square_root>},
    {"exp(numeric)", &unary<numeric_exponential>},
    {"ln(numeric)", &unary<numeric_natural_logarithm>},
    {"log(numeric)", &decimal_logarithm},
    {"log10(numeric)", &decimal_logarithm},
    {"log(numeric,numeric)", &binary<numeric_logarithm>},
    {"ceil(numeric)", &unary<numeric_ceiling>},
    {"ceiling(numeric)", &unary<numeric_ceiling>},
    {"floor(numeric)", &unary<numeric_floor>},
    {"round(numeric)", &round_whole},
    {"round(numeric,int4)", &round_to},
    {"trunc(numeric)", &truncate_whole},
    {"trunc(numeric,int4)", &truncate_to},
    {"sign(numeric)", &sign},
    {"scale(numeric)", &scale},
    {"min_scale(numeric)", &minimum_scale},
    {"trim_scale(numeric)", &unary<numeric_trim_scale>},
    {"gcd(numeric,numeric)", &binary<numeric_gcd>},
    {"lcm(numeric,numeric)", &binary<numeric_lcm>},
    {"numeric_inc(numeric)", &increment},
    {"width_bucket(numeric,numeric,numeric,int4)", &width_bucket},
};

}  // namespace

std::span<const ScalarEntry> numeric_functions() {
  return kNumericsEntries;
}

}  // namespace swizzle::sql
