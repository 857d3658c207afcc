#include <cmath>
#include <limits>
#include <numbers>

#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

[[noreturn]] void overflow() {
  throw SqlError{sqlstate::numeric_value_out_of_range, "value out of range: overflow"};
}
[[noreturn]] void underflow() {
  throw SqlError{sqlstate::numeric_value_out_of_range, "value out of range: underflow"};
}
[[noreturn]] void division_by_zero() {
  throw SqlError{sqlstate::division_by_zero, "division by zero"};
}
[[noreturn]] void input_out_of_range() {
  throw SqlError{sqlstate::numeric_value_out_of_range, "input is out of range"};
}

template <class F>
F get(const Value& value) {
  if constexpr (sizeof(F) == 4)
    return value.as_float4();
  else
    return value.as_float8();
}
template <class F>
Value put(F value) {
  if constexpr (sizeof(F) == 4)
    return Value::from_float4(value);
  else
    return Value::from_float8(value);
}

enum class Operation : std::uint8_t { add, subtract, multiply, divide };

/// Arithmetic of operands of widths L and R; the result has the wider one.
template <Operation op, class L, class R>
Value arithmetic(FunctionContext&, Arguments a) {
  using F = std::common_type_t<L, R>;
  const F left = get<L>(a[0]);
  const F right = get<R>(a[1]);
  F out = 0;
  if constexpr (op == Operation::add) out = left + right;
  if constexpr (op == Operation::subtract) out = left - right;
  if constexpr (op == Operation::multiply) out = left * right;
  if constexpr (op == Operation::divide) {
    if (right == 0 && !std::isnan(left)) division_by_zero();
    out = left / right;
  }
  if (std::isinf(out) && !std::isinf(left) && !std::isinf(right)) overflow();
  if constexpr (op == Operation::multiply)
    if (out == 0 && left != 0 && right != 0) underflow();
  if constexpr (op == Operation::divide)
    if (out == 0 && left != 0 && !std::isinf(right)) underflow();
  return put(out);
}

template <class F>
Value negate(FunctionContext&, Arguments a) {
  return put(-get<F>(a[0]));
}
template <class F>
Value absolute(FunctionContext&, Arguments a) {
  return put(std::fabs(get<F>(a[0])));
}
Value same(FunctionContext&, Arguments a) {
  return a[0];
}

/// A function of one number without errors.
template <double (*F)(double)>
Value plain(FunctionContext&, Arguments a) {
  return Value::from_float8(F(a[0].as_float8()));
}
/// The same, but a result that overflows or underflows is an error.
template <double (*F)(double)>
Value ranged(FunctionContext&, Arguments a) {
  const double x = a[0].as_float8();
  const double out = F(x);
  if (std::isinf(out) && !std::isinf(x)) overflow();
  if (out == 0 && x != 0 && !std::isinf(x)) underflow();
  return Value::from_float8(out);
}
/// A trigonometric function; an infinite argument is an error.
template <double (*F)(double)>
Value of_angle(FunctionContext&, Arguments a) {
  if (std::isinf(a[0].as_float8())) input_out_of_range();
  return Value::from_float8(F(a[0].as_float8()));
}
template <double (*F)(double)>
Value of_unit(FunctionContext&, Arguments a) {
  const double x = a[0].as_float8();
  if (x < -1 || x > 1) input_out_of_range();
  return Value::from_float8(F(x));
}

double round_even(double x) {
  return std::rint(x);
}
double sign(double x) {
  return x > 0 ? 1 : x < 0 ? -1 : 0;
}
double ceiling(double x) {
  return std::ceil(x);
}
double floor_of(double x) {
  return std::floor(x);
}
double truncate(double x) {
  return std::trunc(x);
}
double cube_root(double x) {
  return std::cbrt(x);
}
double sine(double x) {
  return std::sin(x);
}
double cosine(double x) {
  return std::cos(x);
}
double tangent(double x) {
  return std::tan(x);
}
double cotangent(double x) {
  return 1.0 / std::tan(x);
}
double arc_sine(double x) {
  return std::asin(x);
}
double arc_cosine(double x) {
  return std::acos(x);
}
double arc_tangent(double x) {
  return std::atan(x);
}
double hyperbolic_sine(double x) {
  return std::sinh(x);
}
double hyperbolic_cosine(double x) {
  return std::cosh(x);
}
double hyperbolic_tangent(double x) {
  return std::tanh(x);
}
double area_sine(double x) {
  return std::asinh(x);
}
double to_degrees(double x) {
  return x / (std::numbers::pi / 180);
}
double to_radians(double x) {
  return x * (std::numbers::pi / 180);
}

// Known angles in degrees have exact results.
double sine_degrees(double x) {
  x = std::fmod(x, 360);
  double factor = 1;
  if (x < 0) {
    x = -x;
    factor = -1;
  }
  if (x > 180) {
    x = 360 - x;
    factor = -factor;
  }
  if (x > 90) x = 180 - x;
  if (x == 0) return 0;
  if (x == 30) return factor * 0.5;
  if (x == 90) return factor;
  return factor * std::sin(to_radians(x));
}
double cosine_degrees(double x) {
  x = std::fabs(std::fmod(x, 360));
  if (x > 180) x = 360 - x;
  double factor = 1;
  if (x > 90) {
    x = 180 - x;
    factor = -1;
  }
  if (x == 60) return factor * 0.5;
  if (x == 90) return 0;
  if (x == 0) return factor;
  return factor * std::cos(to_radians(x));
}
double tangent_degrees(double x) {
  x = std::fmod(x, 360);
  double factor = 1;
  if (x < 0) {
    x = -x;
    factor = -1;
  }
  if (x > 180) {
    x = 360 - x;
    factor = -factor;
  }
  if (x > 90) {
    x = 180 - x;
    factor = -factor;
  }
  if (x == 0) return 0;
  if (x == 45) return factor;
  if (x == 90) return factor * std::numeric_limits<double>::infinity();
  return factor * std::tan(to_radians(x));
}
double cotangent_degrees(double x) {
  const double tangent = tangent_degrees(x);
  if (std::isinf(tangent)) return 0;
  if (tangent != 0) return 1 / tangent;
  // At 0 degrees infinity has the angle's sign, at 180 degrees the opposite one.
  const double angle = std::fmod(x, 360);
  return (angle == 180    ? -1
          : angle == -180 ? 1
                          : std::copysign(1.0, angle)) *
         std::numeric_limits<double>::infinity();
}
double arc_sine_degrees(double x) {
  if (x == 0.5) return 30;
  if (x == -0.5) return -30;
  if (std::fabs(x) == 1) return x * 90;
  return to_degrees(std::asin(x));
}
double arc_cosine_degrees(double x) {
  if (x == 0.5) return 60;
  if (x == -0.5) return 120;
  if (x == 0) return 90;
  return to_degrees(std::acos(x));
}
double arc_tangent_degrees(double x) {
  if (std::fabs(x) == 1) return x * 45;
  return to_degrees(std::atan(x));
}

Value arc_tangent_two(FunctionContext&, Arguments a) {
  return Value::from_float8(std::atan2(a[0].as_float8(), a[1].as_float8()));
}
Value arc_tangent_two_degrees(FunctionContext&, Arguments a) {
  return Value::from_float8(to_degrees(std::atan2(a[0].as_float8(), a[1].as_float8())));
}
Value area_cosine(FunctionContext&, Arguments a) {
  if (a[0].as_float8() < 1) input_out_of_range();
  return Value::from_float8(std::acosh(a[0].as_float8()));
}
Value area_tangent(FunctionContext&, Arguments a) {
  const double x = a[0].as_float8();
  if (x < -1 || x > 1) input_out_of_range();
  return Value::from_float8(std::atanh(x));
}

Value square_root(FunctionContext&, Arguments a) {
  if (a[0].as_float8() < 0)
    throw SqlError{sqlstate::invalid_argument_for_power,
                   "cannot take square root of a negative number"};
  return Value::from_float8(std::sqrt(a[0].as_float8()));
}

Value exponential(FunctionContext&, Arguments a) {
  const double x = a[0].as_float8();
  const double out = std::exp(x);
  if (std::isinf(out) && !std::isinf(x)) overflow();
  if (out == 0 && !std::isinf(x)) underflow();
  return Value::from_float8(out);
}

template <double (*F)(double)>
Value logarithm(FunctionContext&, Arguments a) {
  const double x = a[0].as_float8();
  if (x == 0)
    throw SqlError{sqlstate::invalid_argument_for_logarithm, "cannot take logarithm of zero"};
  if (x < 0)
    throw SqlError{sqlstate::invalid_argument_for_logarithm,
                   "cannot take logarithm of a negative number"};
  return Value::from_float8(F(x));
}
double natural(double x) {
  return std::log(x);
}
double decimal(double x) {
  return std::log10(x);
}

Value power(FunctionContext&, Arguments a) {
  const double base = a[0].as_float8();
  const double exponent = a[1].as_float8();
  if (base == 0 && exponent < 0)
    throw SqlError{sqlstate::invalid_argument_for_power,
                   "zero raised to a negative power is undefined"};
  if (base < 0 && std::isfinite(exponent) && std::floor(exponent) != exponent)
    throw SqlError{sqlstate::invalid_argument_for_power,
                   "a negative number raised to a non-integer power yields a complex result"};
  const double out = std::pow(base, exponent);
  if (std::isfinite(base) && std::isfinite(exponent)) {
    if (std::isinf(out)) overflow();
    if (out == 0 && base != 0) underflow();
  }
  return Value::from_float8(out);
}

Value pi(FunctionContext&, Arguments) {
  return Value::from_float8(std::numbers::pi);
}

Value width_bucket(FunctionContext&, Arguments a) {
  const double x = a[0].as_float8();
  const double low = a[1].as_float8();
  const double high = a[2].as_float8();
  const std::int32_t count = a[3].as_int4();
  const auto fail = [](std::string_view why) {
    throw SqlError{sqlstate::invalid_argument_for_width_bucket, std::string{why}};
  };
  if (count <= 0) fail("count must be greater than zero");
  if (std::isnan(x) || std::isnan(low) || std::isnan(high))
    fail("operand, lower bound, and upper bound cannot be NaN");
  if (std::isinf(low) || std::isinf(high)) fail("lower and upper bounds must be finite");
  if (low == high) fail("lower bound cannot equal upper bound");
  const bool up = low < high;
  if (up ? x < low : x > low) return Value::from_int(0);
  if (up ? x >= high : x <= high) {
    if (count == INT32_MAX)
      throw SqlError{sqlstate::numeric_value_out_of_range, "integer out of range"};
    return Value::from_int(count + 1);
  }
  // Half of each number, where a difference is beyond the range of float8.
  const double scale = std::isinf(high - low) ? 0.5 : 1;
  const double width = high * scale - low * scale;
  const double place = (x * scale - low * scale) / width;
  const auto bucket = static_cast<std::int32_t>(count * place);
  return Value::from_int(std::min(bucket, count - 1) + 1);
}

double error_function(double x) {
  return std::erf(x);
}
double complementary_error_function(double x) {
  return std::erfc(x);
}
/// Zero and negative integers are poles.
Value gamma_of(FunctionContext&, Arguments a) {
  const double x = a[0].as_float8();
  if (std::isnan(x)) return a[0];
  if (std::isinf(x)) {
    if (x < 0) overflow();
    return a[0];
  }
  const double out = std::tgamma(x);
  if (std::isinf(out) || std::isnan(out)) overflow();
  if (out == 0) underflow();
  return Value::from_float8(out);
}
Value log_gamma_of(FunctionContext&, Arguments a) {
  const double x = a[0].as_float8();
  // lgamma_r instead of std::lgamma, which stores the sign in a variable shared by all threads.
  int sign = 0;
  const double out = lgamma_r(x, &sign);
  if (std::isinf(out) && !std::isinf(x)) overflow();
  return Value::from_float8(out);
}

#define SWIZZLE_FLOATS(types, L, R)                               \
  {"+(" types ")", &arithmetic<Operation::add, L, R>},            \
      {"-(" types ")", &arithmetic<Operation::subtract, L, R>},   \
      {"*(" types ")", &arithmetic<Operation::multiply, L, R>}, { \
    "/(" types ")", &arithmetic<Operation::divide, L, R>          \
  }

constexpr ScalarEntry kFloatsEntries[] = {
    SWIZZLE_FLOATS("float4,float4", float, float),
    SWIZZLE_FLOATS("float4,float8", float, double),
    SWIZZLE_FLOATS("float8,float4", double, float),
    SWIZZLE_FLOATS("float8,float8", double, double),
    {"-(float4)", &negate<float>},
    {"-(float8)", &negate<double>},
    {"+(float4)", &same},
    {"+(float8)", &same},
    {"@(float4)", &absolute<float>},
    {"@(float8)", &absolute<double>},
    {"abs(float4)", &absolute<float>},
    {"abs(float8)", &absolute<double>},
    {"|/(float8)", &square_root},
    {"sqrt(float8)", &square_root},
    {"||/(float8)", &plain<cube_root>},
    {"cbrt(float8)", &plain<cube_root>},
    {"^(float8,float8)", &power},
    {"power(float8,float8)", &power},
    {"pow(float8,float8)", &power},
    {"exp(float8)", &exponential},
    {"ln(float8)", &logarithm<natural>},
    {"log(float8)", &logarithm<decimal>},
    {"log10(float8)", &logarithm<decimal>},
    {"ceil(float8)", &plain<ceiling>},
    {"ceiling(float8)", &plain<ceiling>},
    {"floor(float8)", &plain<floor_of>},
    {"round(float8)", &plain<round_even>},
    {"trunc(float8)", &plain<truncate>},
    {"sign(float8)", &plain<sign>},
    {"pi()", &pi},
    {"sin(float8)", &of_angle<sine>},
    {"cos(float8)", &of_angle<cosine>},
    {"tan(float8)", &of_angle<tangent>},
    {"cot(float8)", &of_angle<cotangent>},
    {"asin(float8)", &of_unit<arc_sine>},
    {"acos(float8)", &of_unit<arc_cosine>},
    {"atan(float8)", &plain<arc_tangent>},
    {"atan2(float8,float8)", &arc_tangent_two},
    {"sind(float8)", &of_angle<sine_degrees>},
    {"cosd(float8)", &of_angle<cosine_degrees>},
    {"cotd(float8)", &of_angle<cotangent_degrees>},
    {"tand(float8)", &of_angle<tangent_degrees>},
    {"asind(float8)", &of_unit<arc_sine_degrees>},
    {"acosd(float8)", &of_unit<arc_cosine_degrees>},
    {"atand(float8)", &plain<arc_tangent_degrees>},
    {"atan2d(float8,float8)", &arc_tangent_two_degrees},
    {"erf(float8)", &plain<error_function>},
    {"erfc(float8)", &plain<complementary_error_function>},
    {"gamma(float8)", &gamma_of},
    {"lgamma(float8)", &log_gamma_of},
    {"sinh(float8)", &plain<hyperbolic_sine>},
    {"cosh(float8)", &plain<hyperbolic_cosine>},
    {"tanh(float8)", &plain<hyperbolic_tangent>},
    {"asinh(float8)", &plain<area_sine>},
    {"acosh(float8)", &area_cosine},
    {"atanh(float8)", &area_tangent},
    {"degrees(float8)", &ranged<to_degrees>},
    {"radians(float8)", &ranged<to_radians>},
    {"width_bucket(float8,float8,float8,int4)", &width_bucket},
};

}  // namespace

std::span<const ScalarEntry> float_functions() {
  return kFloatsEntries;
}

}  // namespace swizzle::sql
