#include <cmath>

#include "sql-lite-frontend/types/functions/aggregates/aggregate_state.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/numeric/numeric_decimal.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

enum class Statistic : std::uint8_t { average, variance, deviation };
enum class Population : std::uint8_t { whole, sample };
enum class Sample : std::uint8_t { integer, numeric, float4, float8 };

/// Variance by exact sums of values and of squares.
template <Sample input, Statistic answer, Population population>
struct NumericSpread {
  NumericSum sum;
  NumericSum squares;
  std::int64_t rows = 0;
  bool not_finite = false;

  void step(FunctionContext& context, Arena& arena, Arguments a) {
    ++rows;
    const Value x = input == Sample::integer ? numeric_from_int(a[0].as_int8()) : a[0];
    if (numeric_is_nan(x) || numeric_is_infinite(x)) {
      not_finite = true;
      return;
    }
    sum.add(arena, x);
    squares.add(arena, numeric_multiply(context.arena, x, x));
  }
  [[nodiscard]] Value final(FunctionContext& context) const {
    Arena& arena = context.arena;
    if (rows == 0 || (population == Population::sample && rows == 1)) return Value::null();
    if (not_finite) return numeric_nan(arena);
    const Value n = numeric_from_int(rows);
    const Value total = sum.total(arena);
    const Value spread = numeric_subtract(arena, numeric_multiply(arena, n, squares.total(arena)),
                                          numeric_multiply(arena, total, total));
    if (numeric_sign(spread) <= 0) return numeric_from_int(0);
    const Value divisor = numeric_multiply(
        arena, n, numeric_from_int(population == Population::sample ? rows - 1 : rows));
    const Value variance = numeric_divide(arena, spread, divisor);
    if (answer == Statistic::variance) return variance;
    return from_decimal(arena, square_root(to_decimal(variance), numeric_scale(variance)));
  }
  void combine(Arena& arena, const NumericSpread& other) {
    sum.add(arena, other.sum.total(arena));
    squares.add(arena, other.squares.total(arena));
    rows += other.rows;
    not_finite = not_finite || other.not_finite;
  }
};

[[noreturn]] void overflow() {
  throw SqlError{sqlstate::numeric_value_out_of_range, "value out of range: overflow"};
}

/// Variance by the recurrence of Youngs and Cramer: one pass, without cancellation.
template <Sample input, Statistic answer, Population population>
struct FloatSpread {
  double n = 0;
  double sum = 0;
  double spread = 0;

  void step(FunctionContext&, Arena&, Arguments a) {
    const double x =
        input == Sample::float4 ? static_cast<double>(a[0].as_float4()) : a[0].as_float8();
    const double before = n;
    const double sum_before = sum;
    n += 1;
    sum += x;
    if (before > 0) {
      const double t = x * n - sum;
      spread += t * t / (n * before);
      if (std::isinf(sum) || std::isinf(spread)) {
        if (std::isfinite(x) && std::isfinite(sum_before)) overflow();
        spread = std::nan("");
      }
    } else if (!std::isfinite(x)) {
      spread = std::nan("");
    }
  }
  [[nodiscard]] Value final(FunctionContext&) const {
    if (n == 0) return Value::null();
    if (answer == Statistic::average) return Value::from_float8(sum / n);
    if (population == Population::sample && n <= 1) return Value::null();
    const double variance = spread / (population == Population::sample ? n - 1 : n);
    return Value::from_float8(answer == Statistic::variance ? variance : std::sqrt(variance));
  }
  void combine(Arena&, const FloatSpread& other) {
    if (other.n == 0) return;
    if (n == 0) {
      *this = other;
      return;
    }
    const double t = sum / n - other.sum / other.n;
    spread += other.spread + n * other.n * t * t / (n + other.n);
    n += other.n;
    sum += other.sum;
  }
};

/// Aggregates over pairs (y, x), in the standard's order of arguments.
enum class Relation : std::uint8_t {
  count,
  sum_xx,
  sum_yy,
  sum_xy,
  average_x,
  average_y,
  r2,
  slope,
  intercept,
  covariance_pop,
  covariance_samp,
  correlation,
};
template <Relation relation>
struct Regression {
  double n = 0, sum_x = 0, spread_x = 0, sum_y = 0, spread_y = 0, spread_xy = 0;

  void step(FunctionContext&, Arena&, Arguments a) {
    const double y = a[0].as_float8();
    const double x = a[1].as_float8();
    const double before = n;
    n += 1;
    sum_x += x;
    sum_y += y;
    if (before == 0) {
      if (!std::isfinite(x)) spread_x = spread_xy = std::nan("");
      if (!std::isfinite(y)) spread_y = spread_xy = std::nan("");
      return;
    }
    const double tx = x * n - sum_x;
    const double ty = y * n - sum_y;
    const double scale = 1.0 / (n * before);
    spread_x += tx * tx * scale;
    spread_y += ty * ty * scale;
    spread_xy += tx * ty * scale;
  }
  [[nodiscard]] Value final(FunctionContext&) const {
    if (relation == Relation::count) return Value::from_int(static_cast<std::int64_t>(n));
    if (n < 1) return Value::null();
    const auto number = [](double d) { return Value::from_float8(d); };
    switch (relation) {
      case Relation::sum_xx:
        return number(spread_x);
      case Relation::sum_yy:
        return number(spread_y);
      case Relation::sum_xy:
        return number(spread_xy);
      case Relation::average_x:
        return number(sum_x / n);
      case Relation::average_y:
        return number(sum_y / n);
      case Relation::covariance_pop:
        return number(spread_xy / n);
      case Relation::covariance_samp:
        return n < 2 ? Value::null() : number(spread_xy / (n - 1));
      case Relation::correlation:
        return spread_x == 0 || spread_y == 0 ? Value::null()
                                              : number(spread_xy / std::sqrt(spread_x * spread_y));
      case Relation::r2:
        if (spread_x == 0) return Value::null();
        return spread_y == 0 ? number(1.0) : number(spread_xy * spread_xy / (spread_x * spread_y));
      case Relation::slope:
        return spread_x == 0 ? Value::null() : number(spread_xy / spread_x);
      case Relation::intercept:
        return spread_x == 0 ? Value::null() : number((sum_y - sum_x * spread_xy / spread_x) / n);
      default:
        return Value::null();
    }
  }
};

#define SWIZZLE_SPREAD(type, State, input)                                                         \
  {"variance(" type ")", aggregate_of<State<input, Statistic::variance, Population::sample>>()},   \
      {"var_samp(" type ")",                                                                       \
       aggregate_of<State<input, Statistic::variance, Population::sample>>()},                     \
      {"var_pop(" type ")", aggregate_of<State<input, Statistic::variance, Population::whole>>()}, \
      {"stddev(" type ")",                                                                         \
       aggregate_of<State<input, Statistic::deviation, Population::sample>>()},                    \
      {"stddev_samp(" type ")",                                                                    \
       aggregate_of<State<input, Statistic::deviation, Population::sample>>()},                    \
  {                                                                                                \
    "stddev_pop(" type ")", aggregate_of<State<input, Statistic::deviation, Population::whole>>()  \
  }
#define SWIZZLE_REGRESSION(name, relation) \
  {name "(float8,float8)", aggregate_of<Regression<Relation::relation>>()}

constexpr AggregateEntry kAggregatesStatisticsEntries[] = {
    SWIZZLE_SPREAD("int2", NumericSpread, Sample::integer),
    SWIZZLE_SPREAD("int4", NumericSpread, Sample::integer),
    SWIZZLE_SPREAD("int8", NumericSpread, Sample::integer),
    SWIZZLE_SPREAD("numeric", NumericSpread, Sample::numeric),
    SWIZZLE_SPREAD("float4", FloatSpread, Sample::float4),
    SWIZZLE_SPREAD("float8", FloatSpread, Sample::float8),
    {"avg(float4)",
     aggregate_of<FloatSpread<Sample::float4, Statistic::average, Population::whole>>()},
    {"avg(float8)",
     aggregate_of<FloatSpread<Sample::float8, Statistic::average, Population::whole>>()},
    SWIZZLE_REGRESSION("regr_count", count),
    SWIZZLE_REGRESSION("regr_sxx", sum_xx),
    SWIZZLE_REGRESSION("regr_syy", sum_yy),
    SWIZZLE_REGRESSION("regr_sxy", sum_xy),
    SWIZZLE_REGRESSION("regr_avgx", average_x),
    SWIZZLE_REGRESSION("regr_avgy", average_y),
    SWIZZLE_REGRESSION("regr_r2", r2),
    SWIZZLE_REGRESSION("regr_slope", slope),
    SWIZZLE_REGRESSION("regr_intercept", intercept),
    SWIZZLE_REGRESSION("covar_pop", covariance_pop),
    SWIZZLE_REGRESSION("covar_samp", covariance_samp),
    SWIZZLE_REGRESSION("corr", correlation),
};

}  // namespace

std::span<const AggregateEntry> statistics_aggregates() {
  return kAggregatesStatisticsEntries;
}

}  // namespace swizzle::sql
